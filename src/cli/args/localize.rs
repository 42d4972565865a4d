//! The arguments of `baselink localize`.
//!
//! ```text
//! localize --layout host crawl -o mirror  -->  Localize { is_elsewhere: true, … }
//! ```
//!
//! Deliberately absent: checks that the inputs exist.

use std::iter;
use std::path::{Path, PathBuf};

use crate::collection::capture::DateRange;
use crate::collection::companion;
use crate::files::walk::Globs;
use baselink_text::error::{Error, Result};
use clap::Args;

use super::documents::{TypedDocuments, TypedPolicy};
use super::output::TypedOutput;
use super::overwrites::list_of_missing;
use crate::cli::capture_plan::is_page;
use crate::cli::request::{Archives, Extraction, Localize, folder_of};

#[derive(Debug, Args)]
pub(super) struct TypedLocalize {
    #[command(flatten)]
    pub(super) documents: TypedDocuments,
    /// Exit with 1 if a link can be made neither local nor absolute, or if a record of an archive causes a
    /// warning
    ///
    /// Links that are left for one of these reasons are accepted: id-reference, empty, placeholder, fragment,
    /// base-element, local-copy, kept.
    #[arg(long, help_heading = "Policies")]
    strict: bool,
    #[command(flatten)]
    output: TypedOutput,
    /// Print a JSON object for each file; requires -o, -i or --dry-run
    ///
    /// Its keys are path, format, output (null if nothing was written), the numbers of links by
    /// result (made-local, local, made-absolute, absolute, base-emptied, nowhere, no-base, left,
    /// not-editable), and diagnostics (an array of code, line, column, start, end, message).
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// List the URLs that belong to the folder or archive but have no file, one per line, as `wget -i` reads them; `-` is
    /// standard output
    ///
    /// The list is also written with --dry-run, and must be outside the folders.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    missing: Option<PathBuf>,
    /// If a URL has several captures, take the one nearest to WHEN: 2024, 2024-05-31 or 20240531102030
    ///
    /// Without it, the latest capture is taken. A captured error never replaces a page.
    #[arg(long, value_name = "WHEN", help_heading = "Archives")]
    date: Option<DateRange>,
    /// Change nothing but URLs in the documents of an archive, even if the copies then do not open from disk
    ///
    /// Without it, `localize` adds the charset that only the HTTP heading declared, removes `integrity` and `crossorigin`,
    /// and disables a Content-Security-Policy, where these would keep local files from loading.
    #[arg(long, help_heading = "Archives")]
    exact: bool,
    /// Report how each base was found, and the missing URLs with the most links
    #[arg(short, long, help_heading = "Messages")]
    pub(super) verbose: bool,
}

impl TypedLocalize {
    pub(super) fn into_request(self) -> Result<Localize> {
        let mut documents = self.documents.into_request(Some(&TypedPolicy::default()))?;
        documents.archives = Archives::Named;
        documents.reading.options.scan.probe();
        if let [page] = documents.paths.as_slice()
            && is_page(page, documents.reading.format)
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
            documents.reading.origins.assume_site();
        }
        let is_elsewhere = self.output.output.is_some();
        let printed = match (self.json, self.output.diff) {
            (true, _) => Some("--json"),
            (false, true) => Some("--diff"),
            (false, false) => None,
        };
        let rewrite = self
            .output
            .into_request(documents, self.json, self.strict)?;
        let missing = self
            .missing
            .map(|path| list_of_missing(path, printed))
            .transpose()?;
        let extraction = Extraction {
            near: self.date,
            is_exact: self.exact,
            missing,
        };
        Ok(Localize {
            rewrite,
            extraction,
            is_elsewhere,
        })
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
        let unnamed = || Error::file(page, "the file name is not UTF-8; name its folder instead");
        patterns.push(pattern.ok_or_else(unnamed)?);
        parts.push(folder_of(page).join(name));
    }
    Ok((parts, Globs::new(&patterns)?))
}
