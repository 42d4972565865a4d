//! Files that options name, and that the command would overwrite although it reads or writes them for another purpose.
//!
//! ```text
//! check a.warc b.warc --report b.warc
//! error: b.warc: this file is an input; name another one for --report
//! ```
//!
//! Deliberately absent: files found in folders (`check/side_files.rs`), and the file of
//! `--output`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::write::is_one_file;
use baselink_text::error::{Error, Result};
use baselink_text::format::Format;

use super::commands::Command;
use super::deferred::Deferred;
use crate::cli::input::format_of_file;
use crate::cli::request::folder_of;

/// Checks that no side file of `command` is another one, an input, the baseline, the `table` of URLs, the `settings`, or a
/// document or archive, which was probably meant as an input.
///
/// # Errors
///
/// Two of these paths lead to one file, or a side file is a document or archive.
pub(super) fn reject(
    command: &mut Command,
    table: Option<&Path>,
    settings: Option<&Path>,
) -> Result<()> {
    let inputs: Vec<PathBuf> = match command.documents() {
        Some((documents, _)) => documents.roots().map(Path::to_owned).collect(),
        None => Vec::new(),
    };
    let written = command.side_files();
    let baseline = match &*command {
        Command::Check(Deferred(request)) if !request.updates_baseline => {
            request.baseline.as_deref()
        }
        _ => None,
    };
    let read = [
        ("the settings are in this file", settings),
        ("--url-map reads this file", table),
        ("--baseline reads this file", baseline),
    ]
    .into_iter()
    .filter_map(|(why, path)| Some((why, path?)));
    let read: Vec<_> = read
        .chain(
            inputs
                .iter()
                .map(|input| ("this file is an input", input.as_path())),
        )
        .collect();
    for (number, (option, path)) in written.iter().enumerate() {
        let same = written[..number]
            .iter()
            .find(|(_, other)| is_same(other, path));
        if let Some((other, first)) = same {
            let why = format!("{other} and {option} cannot name the same file");
            return Err(Error::file(first, &why));
        }
        if let Some((why, _)) = read.iter().find(|(_, other)| is_same(other, path)) {
            return Err(Error::file(
                path,
                &format!("{why}; name another one for {option}"),
            ));
        }
        let format = format_of_file(path, None);
        if format.is_some_and(|format| is_precious(format, option)) {
            let why = format!("{option} would replace this document or archive; name a new file");
            return Err(Error::file(path, &why));
        }
    }
    Ok(())
}

/// True if an existing file of `format` cannot be the result of an earlier run with `option`. A report is HTML.
fn is_precious(format: Format, option: &str) -> bool {
    let is_list = option == "--missing";
    format.is_archive() || format.has_headings() || (is_list && format.is_read())
}

/// True if both paths lead to one file, which may not exist yet.
fn is_same(left: &Path, right: &Path) -> bool {
    let real_path = |path: &Path| -> Option<PathBuf> {
        Some(
            fs::canonicalize(folder_of(path))
                .ok()?
                .join(path.file_name()?),
        )
    };
    is_one_file(left, right) || real_path(left).is_some_and(|left| real_path(right) == Some(left))
}
