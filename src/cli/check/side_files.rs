//! The files that `check` writes in addition to standard output: the page of `--report`, the baseline, and the list
//! of `--missing`.
//!
//! ```text
//! error: site/index.html: --report would overwrite a file of the checked folder; name another file, or skip this \
//! one with --exclude
//! ```
//!
//! Their paths are checked before any work begins, because none may replace an input.
//!
//! Deliberately absent: their contents.

use std::path::Path;

use baselink_text::{Error, Format, Result, name};

use super::{baseline::Baseline, href::folder_from, report::ReportPage, tables, tree::CheckedTree};
use baselink_files::{
    walk::{EntryKind, Globs, Selection, walk},
    write::{NewContents, is_one_file, write_file},
};
use baselink_site::purpose::check::Class;
use baselink_url::reference::scheme_of;

use crate::cli::{
    args::check::{Check, ReportForm},
    output::{Output, count, url_for_list},
    request::is_standard_input,
    status::FileResult,
};

/// Checks that the requested files can be written.
///
/// # Errors
///
/// A path is not a regular file, cannot be written to, or would replace a file of the folder.
pub fn check_files(request: &Check) -> Result<()> {
    for (option, path) in request.side_files() {
        let Some(path) = path else { continue };
        if is_standard_input(path) {
            return Err(Error::new(format!(
                "{option} needs a file name; standard output is used for the list"
            )));
        }
        let is_earlier = option == "--baseline" && is_baseline(path);
        if path.exists() && !is_earlier && is_in_folder(request, path) {
            let why = "would overwrite a file of the checked folder; name another file, or skip this one \
                       with --exclude";
            return Err(Error::file(path, &format!("{option} {why}")));
        }
        NewContents::begin(path).map(drop)?;
    }
    Ok(())
}

/// True if an earlier run wrote the baseline `path`. Its name must not be that of a document, because an empty file
/// could be either.
fn is_baseline(path: &Path) -> bool {
    let own = path.file_name().unwrap_or_default().to_string_lossy();
    !Format::detect(Some(&own), b"").is_read() && Baseline::read(path, false).is_ok()
}

/// True if `path` leads to a file of the folder that is not excluded. For archives, the first stands for the folder.
fn is_in_folder(request: &Check, path: &Path) -> bool {
    let documents = &request.documents.selection;
    let selection = Selection {
        hidden: true,
        include: Globs::default(),
        ..documents.clone()
    };
    walk(&[request.folder().to_owned()], &selection)
        .flatten()
        .any(|entry| entry.kind != EntryKind::Symlink && is_one_file(&entry.path, path))
}

/// The missing targets of denied classes, embedded resources before pages: those that a crawler can retrieve, and files without
/// a URL.
fn missing_targets(request: &Check, tree: &CheckedTree) -> (Vec<String>, Vec<String>) {
    let classes = [Class::Missing, Class::MissingPage, Class::Dangling].into_iter();
    let denied = classes.filter(|class| request.deny.contains(*class));
    let targets = denied.flat_map(|class| tree.targets.of_class(class));
    let with_scheme = |to: String| {
        if to.starts_with("//") {
            format!("{}:{to}", request.documents.reading.origins.scheme())
        } else {
            to
        }
    };
    targets
        .map(|one| with_scheme(url_for_list(one.to)))
        .filter(|to| !to.starts_with("cid:") && request.documents.may_list(to))
        .partition(|to| scheme_of(to).is_some())
}

/// Writes the requested files.
pub fn write(
    request: &Check,
    tree: &CheckedTree,
    baseline: Option<&Baseline>,
    output: &mut Output,
) -> FileResult<()> {
    let updated = request.baseline.as_ref().zip(baseline);
    if let Some((path, baseline)) = updated.filter(|_| request.updates_baseline) {
        write_file(path, |out| baseline.write(out))?;
        let noted = count(baseline.noted(), "finding is", "findings are");
        output.notice(format_args!("{noted} written to {}", name(path)));
    }
    if let Some(path) = &request.missing {
        let what = ["missing URL is", "missing URLs are"];
        let (urls, files) = missing_targets(request, tree);
        output.write_list(path, &urls, what)?;
        // Otherwise, the findings name them.
        for file in files.iter().filter(|_| is_standard_input(path)) {
            output.notice(format_args!("{file} has no URL and no file"));
        }
    }
    for path in &request.report {
        let page = ReportPage {
            request,
            tree,
            folder: folder_from(path, request.folder()),
        };
        match ReportForm::of(path)? {
            ReportForm::Page => drop(write_file(path, |out| page.write(out))?),
            // The log was written link by link.
            ReportForm::Sarif => {}
            form => drop(write_file(path, |out| {
                tables::write(form, (request, tree), out)
            })?),
        }
    }
    Ok(())
}
