//! The arguments of `baselink localize`.
//!
//! ```text
//! localize --date 2024 a.warc -o mirror  -->  Localize { extraction: Extraction { near: 2024, … }, … }
//! ```
//!
//! Deliberately absent: checks that the inputs exist.

use std::{
    iter,
    path::{Path, PathBuf},
};

use baselink_text::{Error, Format, Result};
use clap::{Arg, Args};

use super::{
    documents::SameUrls,
    help::{LOCALIZE_AFTER, for_folders, with_help},
    output::{Rewrite, check_list_of_missing},
};
use baselink_files::walk::Globs;
use baselink_site::{
    collection::{capture::DateRange, companion},
    reading::enter_unpacked,
};

use crate::cli::request::{Archives, folder_of};

/// The arguments of `localize` that differ from those of `rewrite`.
fn of_localize(mut arg: Arg) -> Arg {
    let paths = "A folder, archives (WARC, WACZ, HAR, MHTML, .webarchive), or a saved page";
    let help = match arg.get_id().as_str() {
        "output" => {
            arg = arg.value_name("DIR");
            "The folder for the mirror\n\nEach file is replaced whole or not at all. The mirror of a folder contains all \
             selected files, even those that do not change. For an archive, the folder must be new, empty, or the result of \
             an earlier run."
        }
        "strict" => {
            "Exit with 1 if a link can be made neither local nor absolute, or if a record of an archive causes a warning\n\n\
             Links that are left for one of these reasons are accepted: id-reference, empty, placeholder, fragment, \
             base-element, local-copy, kept."
        }
        "json" => {
            "Print a JSON object for each file; requires -o, -i or --dry-run\n\nIts keys are path, format, output (null if \
             nothing was written), the numbers of links by result (made-local, local, made-absolute, absolute, base-emptied, \
             nowhere, no-base, left, not-editable), and diagnostics (an array of code, line, column, start, end, message)."
        }
        "verbose" => "Report how each base was found, and the missing URLs with the most links",
        _ => return for_folders(arg, "PATH", paths),
    };
    with_help(arg, help)
}

/// The request of `baselink localize`.
#[derive(Args)]
#[command(after_help = LOCALIZE_AFTER, mut_args(of_localize))]
pub struct Localize {
    #[command(flatten)]
    pub rewrite: Rewrite,
    #[command(flatten)]
    pub extraction: Extraction,
    #[command(flatten)]
    same: SameUrls,
}

/// The options for turning archives into a folder, and the list of missing URLs.
#[derive(Args)]
#[command(next_help_heading = "Archives")]
pub struct Extraction {
    /// List the URLs that belong to the folder or archive but have no file, one per line, as `wget -i` reads them; `-` is
    /// standard output
    ///
    /// The list is also written with --dry-run, and must be outside the folders.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
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
    #[arg(long = "adapt", conflicts_with = "is_exact", help_heading = "Output")]
    pub adapts: bool,
    /// Change nothing but URLs in the documents of an archive, even if the copies then do not open from disk
    ///
    /// Without it, `localize` adds the charset that only the HTTP heading declared, removes `integrity` and `crossorigin`,
    /// and disables a Content-Security-Policy, where these would keep local files from loading. It opens the shadow roots of MHTML,
    /// and gives an image candidate without a capture the descriptor of the one that replaces it.
    #[arg(long = "exact")]
    pub is_exact: bool,
}

impl Localize {
    /// True if the mirror is another folder.
    pub fn is_elsewhere(&self) -> bool {
        self.rewrite.output.is_some()
    }

    /// Selects a page with its saved files, and checks the arguments together.
    pub fn complete(&mut self) -> Result<()> {
        let documents = &mut self.rewrite.documents.inputs;
        documents.archives = Archives::Site;
        enter_unpacked(documents);
        self.same.apply(&mut documents.reading);
        documents.reading.options.scan.probe();
        let is_mailbox =
            |path: &&PathBuf| documents.format_of(path).is_some_and(Format::holds_many);
        if let Some(mailbox) = documents.paths.iter().find(is_mailbox) {
            let why = "a mailbox; localize makes a folder of one message; to make links absolute, use rewrite";
            return Err(Error::file(mailbox, why));
        }
        if let [page] = documents.paths.as_slice()
            && documents.is_page(page)
        {
            let (parts, include) = page_and_companions(page)?;
            let folder = folder_of(page).to_owned();
            match documents.below_settings.remove(page) {
                // The URL in the settings is that of a folder.
                Some(mut way) => {
                    way.pop();
                    documents.below_settings.insert(folder.clone(), way);
                }
                None => {
                    let own_name = page.file_name().unwrap_or_default().to_owned();
                    let origins = &mut documents.reading.origins;
                    origins.root_url = origins.root_url.take().map(|url| url.of_page(own_name));
                }
            }
            documents.selection.include = include;
            (documents.paths, documents.parts) = (vec![folder], parts);
        }
        if documents.has_folder() {
            let folder = documents.paths[0].clone();
            documents.reading.origins.assume_site(&folder);
        }
        self.rewrite.complete()?;
        let printed = match (self.rewrite.json, self.rewrite.diff) {
            (true, _) => Some("--json"),
            (false, true) => Some("--diff"),
            (false, false) => None,
        };
        check_list_of_missing(self.extraction.missing.as_deref(), printed)
    }
}

/// A page and the folders that a browser saved with it, and the patterns for them below its folder.
fn page_and_companions(page: &Path) -> Result<(Vec<PathBuf>, Globs)> {
    let own = page.file_name().unwrap_or_default().to_owned();
    let (mut parts, mut patterns) = (Vec::new(), Vec::new());
    for (name, end) in iter::once((own, "")).chain(
        companion::folders_of(page)
            .into_iter()
            .map(|one| (one, "/")),
    ) {
        let pattern = Globs::exact(Path::new(&name)).map(|pattern| pattern + end);
        patterns.push(pattern.ok_or_else(|| {
            Error::file(page, "the file name is not UTF-8; name its folder instead")
        })?);
        parts.push(folder_of(page).join(name));
    }
    parts[0] = page.to_owned();
    Ok((parts, Globs::new(&patterns)?))
}
