//! The arguments for the output of rewritten documents.
//!
//! ```text
//! --in-place --backup .orig  -->  WrittenTo::InPlace(InPlace { backup: Some(.orig), … })
//! ```
//!
//! Deliberately absent: checks of the output, which the commands make.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::files::write::{InPlace, Suffix};
use baselink_text::error::{Error, Result};
use baselink_text::format::Format;
use clap::{Args, ValueEnum};

use crate::cli::request::{Documents, Rewrite, WrittenTo, is_standard_input};

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TypedInPlace {
    Files,
    BreakLinks,
}

/// The output of rewritten documents.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct TypedOutput {
    /// The file for the result, or the folder for the results of folders, archives and several files
    ///
    /// An existing file is replaced whole or not at all. The result of a folder contains all selected files, even those
    /// that do not change. Several inputs keep their names in the folder. Documents of an archive become HOST/PATH, which
    /// `--layout host` reads.
    #[arg(short, long, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,
    /// Rewrite the files themselves; each is replaced whole or not at all
    ///
    /// A file with several names (hard links) is skipped and reported; `--in-place=break-links` replaces it, and its other
    /// names keep the old bytes.
    #[arg(short, long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "files", hide_possible_values = true)]
    in_place: Option<TypedInPlace>,
    /// With --in-place, keep a backup of each changed file, named after the file with this suffix
    ///
    /// An existing backup is never overwritten, and backups in folders are not rewritten.
    #[arg(long, value_name = "SUFFIX")]
    backup: Option<OsString>,
    /// Keep the times of changed files
    #[arg(long)]
    preserve_times: bool,
    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    pub(super) diff: bool,
    /// Write nothing; only report the results
    #[arg(long)]
    dry_run: bool,
    /// Prove that nothing but the reported URLs changed, or exit with 1 and write nothing
    #[arg(long)]
    pub(super) verify: bool,
}

impl TypedOutput {
    pub(super) fn into_request(
        self,
        mut documents: Documents,
        json: bool,
        strict: bool,
    ) -> Result<Rewrite> {
        // An output folder gets empty folders, too, unless --include selects files.
        documents.selection.folders =
            self.output.is_some() && documents.selection.include.is_empty();
        let number = documents.paths.len();
        let refused = |why: &str| Err(Error::new(why));
        let (output, in_place) = (self.output, self.in_place);
        if in_place.is_none() && self.backup.is_some() {
            return refused(
                "--backup requires --in-place; with -o the original files do not change",
            );
        }
        if output.is_none() && in_place.is_none() && self.preserve_times {
            return refused("--preserve-times requires -o or --in-place");
        }
        let backup = self.backup.as_deref().map(backup_suffix).transpose()?;
        if in_place.is_some() && documents.selection.follow {
            return refused(
                "--follow cannot be used with --in-place, which never writes through a symbolic link; use -o DIR",
            );
        }
        let destination = match (output.filter(|path| !is_standard_input(path)), in_place) {
            (Some(_), Some(_)) => {
                return refused("-o and --in-place cannot be used together; choose one");
            }
            (_, Some(_)) if documents.paths.iter().any(|path| is_standard_input(path)) => {
                return refused("standard input cannot be rewritten in place; name files");
            }
            // Even with --in-place, these options only preview the result.
            _ if self.diff => WrittenTo::Diff,
            _ if self.dry_run => WrittenTo::Nowhere,
            (Some(path), None) => WrittenTo::Path {
                path,
                preserve_times: self.preserve_times,
            },
            (None, Some(how)) => WrittenTo::InPlace(InPlace {
                break_links: matches!(how, TypedInPlace::BreakLinks),
                preserve_times: self.preserve_times,
                backup: backup.clone(),
            }),
            (None, None) if number > 1 => {
                return Err(Error::new(format!(
                    "{number} files cannot be written to standard output together; use -o DIR or --in-place, or preview with \
                     --diff or --dry-run"
                )));
            }
            (None, None) => WrittenTo::Standard,
        };
        if json && matches!(destination, WrittenTo::Standard | WrittenTo::Diff) {
            return refused(
                "--json needs standard output for itself; use it with -o, --in-place or --dry-run, \
                 and without --diff",
            );
        }
        Ok(Rewrite {
            documents,
            destination,
            backup,
            json,
            strict,
            verify: self.verify,
        })
    }
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
