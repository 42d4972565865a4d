//! The arguments of `baselink move`.
//!
//! ```text
//! move --url http://old/ --to http://new/sub/ site -o moved  -->  Move { from: http://old/, to: http://new/sub/, … }
//! ```
//!
//! Deliberately absent: checks that the renamed files exist.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::collection::origin::RootUrl;
use crate::collection::origin::map::pairs;
use crate::purpose::relocate::LinkForm;
use baselink_scan::attributes::Group;
use baselink_text::error::{Error, Result, name};
use clap::{Args, ValueEnum};

use super::documents::{TypedDocuments, TypedPolicy};
use super::output::TypedOutput;
use crate::cli::request::{Archives, Move, is_standard_input};

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TypedForm {
    Served,
    Disk,
}

#[derive(Debug, Args)]
pub(super) struct TypedMove {
    #[command(flatten)]
    pub(super) documents: TypedDocuments,
    /// The new URL of the folder
    #[arg(long, value_name = "URL", help_heading = "Move")]
    to: Option<String>,
    /// Make links to files of the folder relative; with `--relative=disk` they also name index files, so that they work
    /// from disk
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "served", hide_possible_values = true, help_heading = "Move")]
    relative: Option<TypedForm>,
    /// Rename a file or folder, both paths relative to DIR; `@FILE` is a table (CSV, TSV, JSON Lines) of old and new paths;
    /// repeatable
    ///
    /// CSV and TSV have the columns old and new; in JSON Lines, each line is an object with both keys. Links into, out of and
    /// inside renamed files and folders are rewritten.
    #[arg(long, value_name = "OLD=NEW", help_heading = "Move")]
    rename: Vec<OsString>,
    /// Write redirects from the old to the new paths of renamed files; the name of FILE selects the syntax: nginx (.map,
    /// .conf), Apache (.htaccess), or else `_redirects`
    #[arg(long, value_name = "FILE", requires = "rename", help_heading = "Move")]
    redirects: Option<PathBuf>,
    /// Exit with 1 if a link cannot be moved
    ///
    /// Links that are left for one of these reasons are accepted: id-reference, empty, placeholder, fragment,
    /// base-element, local-copy, kept.
    #[arg(long, help_heading = "Policies")]
    strict: bool,
    #[command(flatten)]
    output: TypedOutput,
    /// Print a JSON object for each file; requires -o, -i or --dry-run
    ///
    /// Its keys are path, format, output (null if nothing was written), the numbers of links by result, and
    /// diagnostics (an array of code, line, column, start, end, message).
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Report the links that were not moved, and the URLs of the folder that have no file
    #[arg(short, long, help_heading = "Messages")]
    pub(super) verbose: bool,
}

impl TypedMove {
    pub(super) fn into_request(self) -> Result<Move> {
        let refused = |why: &str| Err(Error::new(why));
        let mut documents = self.documents.into_request(Some(&TypedPolicy::default()))?;
        documents.archives = Archives::None;
        let [folder] = documents.paths.as_slice() else {
            return refused("move takes one folder; run it once for each folder");
        };
        if is_standard_input(folder) || !folder.is_dir() {
            let what = match folder.exists() && !is_standard_input(folder) {
                true => {
                    "not a folder; name the folder of the site, and rename files in it with --rename"
                }
                false => "no such folder",
            };
            return Err(Error::file(folder, what));
        }
        let origins = &mut documents.reading.origins;
        if origins.map.is_some() || origins.layout.is_some() {
            return refused(
                "--url-map and --layout cannot be used with move; give the URL of the folder with --url",
            );
        }
        if self.to.is_none() && self.relative.is_none() && self.rename.is_empty() {
            return refused("nothing to move; give --to URL, --relative, or --rename OLD=NEW");
        }
        let from = match origins.root_url.take() {
            Some(url) => {
                let from = url.is_of_a_folder().map(|()| url);
                from.map_err(|error| Error::new(format!("--url: {error}")))?
            }
            None => RootUrl::of_site(&origins.scheme),
        };
        let to = self.to.as_deref().map(RootUrl::new).transpose();
        let to = to.map_err(|error| Error::new(format!("--to: {error}")))?;
        let to = to.unwrap_or_else(|| from.clone());
        origins.root_url = Some(from.clone());
        origins.keeps_local_copies = false;
        let scan = &mut documents.reading.options.scan;
        let groups = [Group::Social, Group::Json, Group::Manifest];
        groups
            .into_iter()
            .for_each(|group| scan.groups.insert(group));
        scan.probe();
        let mut renames = Vec::new();
        for typed in &self.rename {
            renames.append(&mut read_renames(typed, folder)?);
        }
        let form = match self.relative {
            None => LinkForm::Written,
            Some(TypedForm::Served) => LinkForm::Relative,
            Some(TypedForm::Disk) => LinkForm::Disk,
        };
        let rewrite = self
            .output
            .into_request(documents, self.json, self.strict)?;
        Ok(Move {
            rewrite,
            from,
            to,
            form,
            renames,
            redirects: self.redirects,
        })
    }
}

/// Reads pairs of an old and a new path from `OLD=NEW` or `@FILE`.
fn read_renames(typed: &OsStr, folder: &Path) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let refused = |error: Error| Error::new(format!("--rename: {error}"));
    let bytes = typed.as_encoded_bytes();
    if let Some(table) = bytes.strip_prefix(b"@") {
        let path = PathBuf::from(String::from_utf8_lossy(table).into_owned());
        let text = fs::read(&path).map_err(|error| refused(Error::io(&path, error)))?;
        return pairs(&text, &path, ["old", "new"]).map_err(refused);
    }
    let at = bytes.iter().position(|byte| *byte == b'=');
    let Some(at) = at.filter(|at| *at > 0 && *at + 1 < bytes.len()) else {
        let why = "expected OLD=NEW or @FILE";
        return Err(Error::new(format!(
            "--rename: {}: {why}",
            name(Path::new(typed))
        )));
    };
    let (old, new) = (&bytes[..at], &bytes[at + 1..]);
    // Shells complete paths from the current folder, so the old path may begin with the path of `folder`.
    let root = [folder.as_os_str().as_encoded_bytes().trim_ascii_end(), b"/"].concat();
    let is_typed_with_folder =
        old.starts_with(&root) && !folder.join(String::from_utf8_lossy(old).as_ref()).exists();
    if is_typed_with_folder {
        let why = format!("paths are relative to {}; remove that prefix", name(folder));
        return Err(Error::new(format!(
            "--rename: {}: {why}",
            name(Path::new(typed))
        )));
    }
    Ok(vec![(old.to_vec(), new.to_vec())])
}
