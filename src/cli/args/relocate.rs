//! The arguments of `baselink move`.
//!
//! ```text
//! move --url http://old/ --to http://new/sub/ site -o moved  -->  Move { from: http://old/, to: http://new/sub/, … }
//! ```
//!
//! Deliberately absent: checks that the renamed files exist.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::collection::origin::RootUrl;
use crate::purpose::relocate::LinkForm;
use baselink_scan::attributes::Group;
use baselink_text::error::{Error, Result};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args};

use super::documents::{SameUrls, new_url};
use super::help::{MOVE_AFTER, for_folders, with_help};
use super::output::Rewrite;
use super::renames::Renames;
use crate::cli::request::{Archives, is_standard_input};

/// The arguments of `move` that differ from those of `rewrite`. Those that do not apply to one folder are hidden.
fn of_move(mut arg: Arg) -> Arg {
    let help = match arg.get_id().as_str() {
        "output" => {
            arg = arg.value_name("DIR");
            "The folder for the moved copy\n\nEach file is replaced whole or not at all. The copy contains all selected \
             files, even those that do not change."
        }
        "strict" => {
            "Exit with 1 if a link cannot be moved\n\nLinks that are left for one of these reasons are accepted: \
             id-reference, empty, placeholder, fragment, base-element, local-copy, kept."
        }
        "json" => {
            "Print a JSON object for each file; requires -o, -i or --dry-run\n\nIts keys are path, format, output (null if \
             nothing was written), the numbers of links by result, and diagnostics (an array of code, line, column, start, \
             end, message)."
        }
        "verbose" => {
            "Report the links that were not moved, and the URLs of the folder that have no file"
        }
        "url_map" | "layout" | "trust" | "assume_scheme" | "include" | "format" => {
            return arg.hide(true);
        }
        _ => return for_folders(arg, "DIR", "The folder (only one)"),
    };
    with_help(arg, help)
}

/// The request of `baselink move`.
#[derive(Args)]
#[command(next_help_heading = "Move")]
#[command(after_help = MOVE_AFTER, mut_args(of_move))]
pub(crate) struct Move {
    /// The new URL of the folder
    #[arg(long = "to", value_name = "URL")]
    typed_to: Option<String>,
    /// Make links to files of the folder relative; with `--relative=disk` they also name index files, so that they work
    /// from disk
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "served", hide_possible_values = true, value_parser = PossibleValuesParser::new(["served", "disk"]).map(form))]
    relative: Option<LinkForm>,
    /// Rename a file or folder, both paths relative to DIR; `@FILE` is a table of old and new paths, the output of
    /// `git diff -M --name-status`, or a file `_redirects`; repeatable
    ///
    /// A table is CSV or TSV with the columns old and new, or JSON Lines with both keys; `-` is standard input. Links into,
    /// out of and inside renamed files and folders are rewritten, even if something else has renamed them already. Links to
    /// old paths in `_redirects` lead to the end of the redirects.
    #[arg(long, value_name = "OLD=NEW")]
    rename: Vec<OsString>,
    /// Write redirects from the old to the new paths of renamed files; the name of FILE selects the syntax: nginx (.map,
    /// .conf), Apache (.htaccess), pages that lead on (a folder, or a name with a final `/`), or else `_redirects`
    #[arg(long, value_name = "FILE", requires = "rename")]
    pub(crate) redirects: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rewrite: Rewrite,
    #[command(flatten)]
    same: SameUrls,
    /// The URL of the folder; a placeholder if it is not known.
    #[arg(skip = RootUrl::of_site(""))]
    pub(crate) from: RootUrl,
    /// The new URL of the folder, which may be the old one.
    #[arg(skip = RootUrl::of_site(""))]
    pub(crate) to: RootUrl,
    /// The redirects that links are to follow.
    #[arg(skip)]
    pub(crate) followed: Option<String>,
    /// The old and the new path of files and folders, with `/` between the names.
    #[arg(skip)]
    pub(crate) renames: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The form of links that `--relative` names.
fn form(name: String) -> LinkForm {
    match name.as_str() {
        "disk" => LinkForm::Disk,
        _ => LinkForm::Relative,
    }
}

impl Move {
    pub(crate) fn form(&self) -> LinkForm {
        self.relative.unwrap_or(LinkForm::Written)
    }

    /// Checks the arguments together, and reads the renames.
    pub(super) fn complete(&mut self) -> Result<()> {
        let refused = |why: &str| Err(Error::new(why));
        let documents = &mut self.rewrite.documents;
        documents.archives = Archives::None;
        let [folder] = documents.paths.as_slice() else {
            return Err(documents.output_among_inputs().unwrap_or_else(|| {
                Error::new("move takes one folder; run it once for each folder")
            }));
        };
        if is_standard_input(folder) || !folder.is_dir() {
            let what = if folder.exists() || is_standard_input(folder) {
                "not a folder; name the folder of the site, and rename files in it with --rename"
            } else {
                "no such folder"
            };
            return Err(Error::file(folder, what));
        }
        self.same.apply(&mut documents.reading);
        let origins = &mut documents.reading.origins;
        if origins.map.is_some() || origins.layout.is_some() {
            return refused(
                "--url-map and --layout cannot be used with move; give the URL of the folder with --url",
            );
        }
        if self.typed_to.is_none() && self.relative.is_none() && self.rename.is_empty() {
            return refused("nothing to move; give --to URL, --relative, or --rename OLD=NEW");
        }
        self.from = match origins.root_url.take() {
            Some(url) => url
                .is_of_a_folder()
                .map(|()| url)
                .map_err(|error| Error::new(format!("--url: {error}")))?,
            None => RootUrl::of_built_site(&origins.scheme, folder),
        };
        let to = self.typed_to.as_deref();
        let to = to.map(|to| new_url(to, "--relative=disk instead of --to"));
        let to = to.transpose()?;
        self.to = to.unwrap_or_else(|| self.from.clone());
        origins.root_url = Some(self.from.clone());
        origins.keeps_local_copies = false;
        let mut renames = Renames::default();
        for typed in &self.rename {
            renames.read(typed, folder)?;
        }
        documents.selection.former = renames.done(folder);
        self.renames = renames.pairs;
        self.followed = renames.redirects;
        let scan = &mut documents.reading.options.scan;
        for group in [Group::Social, Group::Json] {
            scan.groups.insert(group);
        }
        scan.probe();
        self.rewrite.complete()
    }
}
