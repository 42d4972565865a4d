//! The arguments for the output of rewritten documents.
//!
//! ```text
//! --in-place --backup .orig  -->  Rewrite::in_place: InPlace { backup: Some(.orig), … }
//! ```
//!
//! Deliberately absent: checks of the output, which the commands make.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use baselink_text::{Error, Format, Result};
use clap::Args;
use tempfile::TempDir;

use super::help::REWRITE_AFTER;
use baselink_files::write::{InPlace, Suffix};
use baselink_site::collection::capture::DateRange;

use crate::cli::request::{Archives, Documents, Policy, is_standard_input};

/// The options of every command that changes files: a preview, a backup and a proof.
#[derive(Args, Default)]
#[command(next_help_heading = "Where to write")]
pub struct Changes {
    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    pub diff: bool,
    /// Write nothing; only report the results
    #[arg(long)]
    dry_run: bool,
    /// Keep a backup of each file that is changed in place, named after the file with this suffix
    ///
    /// An existing backup is never overwritten, and backups in folders are not rewritten.
    #[arg(long, value_name = "SUFFIX")]
    backup: Option<OsString>,
    /// Prove that nothing but the reported URLs changed, or exit with 1 and write nothing
    #[arg(long, help_heading = "What to report")]
    pub verify: bool,
}

/// The request of `baselink rewrite`, and that part of `localize` and `move`. Each option is a field.
#[derive(Args, Default)]
#[command(next_help_heading = "Where to write")]
pub struct Rewrite {
    /// The file for the result, or the folder for the results of folders, archives and several files
    ///
    /// An existing file is replaced whole or not at all. The result of a folder contains all selected files, even those
    /// that do not change. Several inputs keep their names in the folder. Documents of an archive become HOST/PATH, which
    /// `--layout host` reads.
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Rewrite the files themselves; each is replaced whole or not at all
    ///
    /// A file with several names (hard links) is skipped and reported; `--in-place=break-links` replaces it, and its other
    /// names keep the old bytes.
    #[arg(short, long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "files", value_parser = ["files", "break-links"])]
    pub in_place: Option<String>,
    #[command(flatten)]
    pub changes: Changes,
    /// Keep the times of changed files; programs that compare sizes and times, such as rsync, may then miss changes
    #[arg(long)]
    pub preserve_times: bool,
    /// Print a JSON object for each file; requires -o, -i or --dry-run
    ///
    /// Its keys are path, format, output (null if nothing was written), the numbers of links by
    /// outcome (rewritten, absolute, no-base, left, not-editable), verified (the number of edits that --verify proved), and diagnostics (an array of code,
    /// line, column, start, end, message).
    #[arg(long, help_heading = "What to report")]
    pub json: bool,
    #[command(flatten)]
    pub documents: Documents,
    /// Exit with 1 if a relative link cannot be made absolute
    ///
    /// Links that are left for one of these reasons are accepted: id-reference, empty, placeholder, fragment,
    /// base-element, local-copy, dkim.
    #[arg(long, help_heading = "What to report")]
    pub strict: bool,
    /// Report how each base was found, and which links were not made absolute
    #[arg(
        short,
        long,
        overrides_with = "verbose",
        help_heading = "What to report"
    )]
    pub verbose: bool,
    /// The suffix of backups; files with this suffix are skipped.
    #[arg(skip)]
    pub suffix: Option<Suffix>,
    /// The only page that is kept of the output.
    #[arg(skip)]
    pub page: Option<OnePageFile>,
}

/// A file for one page of a temporary folder.
pub struct OnePageFile {
    pub to: PathBuf,
    /// The URL of the page, if there are several.
    pub entry: Option<String>,
    _folder: TempDir,
}

impl Rewrite {
    /// True if the result is only previewed, even with --in-place.
    pub fn is_preview(&self) -> bool {
        self.changes.diff || self.changes.dry_run
    }

    /// The file or folder that is written.
    pub fn out(&self) -> Option<&Path> {
        self.planned_out().filter(|_| !self.is_preview())
    }

    /// Takes an output named like a page as the file for one page, unless a folder has that name.
    pub fn takes_one_page(&mut self, entry: &Option<String>) -> Result<()> {
        let named = self.output.take_if(|out| {
            Format::detect(Some(&out.to_string_lossy()), b"").is_page() && !out.is_dir()
        });
        if let Some(to) = named {
            let folder = TempDir::with_prefix("baselink-").map_err(Error::io(&to))?;
            self.output = Some(folder.path().to_owned());
            self.page = Some(OnePageFile {
                to,
                entry: entry.clone(),
                _folder: folder,
            });
        }
        Ok(())
    }

    /// The file or folder that is written, or would be.
    pub fn planned_out(&self) -> Option<&Path> {
        let out = self.output.as_deref();
        out.filter(|path| !is_standard_input(path))
    }

    /// The settings for replacing the inputs, even if the result is only previewed.
    pub fn in_place(&self) -> Option<InPlace> {
        Some(InPlace {
            break_links: self.in_place.as_ref()? == "break-links",
            preserve_times: self.preserve_times,
            backup: self.suffix.clone(),
        })
    }

    /// True if the result is written to standard output.
    pub fn is_printed(&self) -> bool {
        !self.is_preview() && self.in_place.is_none() && self.planned_out().is_none()
    }

    /// Checks the options of the output together, and computes the destination.
    pub fn complete(&mut self) -> Result<()> {
        let documents = &mut self.documents;
        // The proof needs every link.
        documents.reading.options.counts_kept = !self.changes.verify;
        // An output folder gets empty folders, too, unless --include selects files.
        documents.selection.folders =
            self.output.is_some() && documents.selection.include.is_empty();
        let refused = |why: &str| Err(Error::new(why));
        if self.in_place.is_none() && self.changes.backup.is_some() {
            return refused(
                "--backup requires --in-place; with -o the original files do not change",
            );
        }
        if self.output.is_none() && self.in_place.is_none() && self.preserve_times {
            return refused("--preserve-times requires -o or --in-place");
        }
        self.suffix = self
            .changes
            .backup
            .as_deref()
            .map(backup_suffix)
            .transpose()?;
        if self.in_place.is_some() && documents.selection.follow {
            return refused(
                "--follow cannot be used with --in-place, which never writes through a symbolic link; use -o DIR",
            );
        }
        let is_standard = |path: &PathBuf| is_standard_input(path);
        if self.in_place.is_some() {
            if self.output.as_ref().is_some_and(|path| !is_standard(path)) {
                return refused("-o and --in-place cannot be used together; choose one");
            }
            if documents.paths.iter().any(is_standard) {
                return refused("standard input cannot be rewritten in place; name files");
            }
        }
        if self.page.is_some() && self.json {
            return refused("--json lists the files of a folder; name a folder with -o");
        }
        let number = documents.paths.len();
        if number > 1 && self.is_printed() {
            return Err(self.documents.output_among_inputs().unwrap_or_else(|| {
                Error::new(format!(
                    "{number} files cannot be written to standard output together; use -o DIR or --in-place, or preview with \
                     --diff or --dry-run"
                ))
            }));
        }
        if self.json && (self.changes.diff || self.is_printed()) {
            return refused(
                "--json needs standard output for itself; use it with -o, --in-place or --dry-run, \
                 and without --diff",
            );
        }
        Ok(())
    }
}

/// The request of `baselink rewrite`.
#[derive(Args)]
#[command(after_help = REWRITE_AFTER)]
pub struct RewriteDocuments {
    #[command(flatten)]
    pub rewrite: Rewrite,
    #[command(flatten)]
    policy: Policy,
}

impl RewriteDocuments {
    /// Computes the options for reading, and checks the arguments together.
    pub fn complete(&mut self) -> Result<()> {
        self.rewrite.documents.archives = Archives::Named;
        self.policy
            .apply(&mut self.rewrite.documents.reading.options);
        self.rewrite.complete()
    }
}

/// The options for turning archives into a folder, and the list of missing URLs.
#[derive(Args)]
#[command(next_help_heading = "Where to write")]
pub struct Extraction {
    /// List the URLs that belong to the folder or archive but have no file, one per line, as `wget -i` reads them; `-` is
    /// standard output
    ///
    /// The list is also written with --dry-run, and must be outside the folders.
    #[arg(long, value_name = "FILE", help_heading = "What to report")]
    pub missing: Option<PathBuf>,
    /// If a URL has several captures, take the one nearest to WHEN: 2024, 2024-05-31 or 20240531102030
    ///
    /// Without it, the latest capture is taken. A captured error never replaces a page.
    #[arg(long = "date", value_name = "WHEN")]
    pub near: Option<DateRange>,
    /// In a folder, also make the changes to documents that copies out of an archive get, so that more loads from disk
    ///
    /// `integrity` and `crossorigin` are removed from elements with local targets, a Content-Security-Policy that blocks files is
    /// disabled, and an image candidate without a file gets the descriptor of the one that replaces it.
    #[arg(long = "adapt", conflicts_with = "is_exact")]
    pub adapts: bool,
    /// Change nothing but URLs in the documents of an archive, even if the copies then do not open from disk
    ///
    /// Without it, `localize` adds the charset that only the HTTP heading declared, removes `integrity` and `crossorigin`,
    /// and disables a Content-Security-Policy, where these would keep local files from loading. Pages of MHTML and mails get a policy
    /// against scripts and the network, and their shadow roots open. An image candidate without a capture gets the descriptor of
    /// the one that replaces it.
    #[arg(long = "exact")]
    pub is_exact: bool,
    /// Of several pages, the URL of the one that becomes the file of `-o`
    #[arg(long, value_name = "URL", requires = "output")]
    pub entry: Option<String>,
}

/// The suffix of the names of backups.
fn backup_suffix(typed: &OsStr) -> Result<Suffix> {
    let refused = |why: &dyn std::fmt::Display| Error::new(format!("--backup: {why}"));
    let suffix = Suffix::new(typed).map_err(|error| refused(&error))?;
    if Format::detect(Some(&format!("a{}", typed.to_string_lossy())), b"").is_read() {
        return Err(refused(
            &"documents with this suffix would be skipped as backups; use another suffix, such as .orig",
        ));
    }
    Ok(suffix)
}

/// Checks the file for the list of missing URLs; of the options in `printing`, the given ones use standard output.
pub fn check_list_of_missing(path: Option<&Path>, printing: &[(&str, bool)]) -> Result<()> {
    match (path, printing.iter().find(|(_, is_given)| *is_given)) {
        (Some(path), Some((option, _))) if is_standard_input(path) => Err(Error::new(format!(
            "--missing - and {option} both write to standard output; give --missing a file"
        ))),
        _ => Ok(()),
    }
}
