//! The arguments of `baselink check`.
//!
//! ```text
//! --deny pinned,escapes --to file site  -->  Check { deny: [pinned, escapes], to: Some(file:///…/site/), … }
//! ```
//!
//! Deliberately absent: arguments that all commands have.

use std::path::{Path, PathBuf};

use crate::collection::origin::RootUrl;
use crate::purpose::check::Class;
use baselink_text::error::{Error, Result};
use baselink_url::reference::{Grammar, Reference};
use clap::Args;

use super::documents::{TypedDocuments, TypedPolicy};
use super::overwrites::list_of_missing;
use crate::cli::capture_plan::holds_resources;
use crate::cli::request::{Archives, Check, CheckForm, Classes, is_standard_input};

#[derive(Debug, Args)]
pub(super) struct TypedCheck {
    #[command(flatten)]
    pub(super) documents: TypedDocuments,
    /// The new place of the folder: its URL, or the word 'file' if it will be opened from disk [default: any other place]
    ///
    /// Without it, check assumes another host and another path, and the same scheme.
    #[arg(long, value_name = "URL", help_heading = "Move")]
    to: Option<String>,
    /// Exit with 1 if a link has one of these classes [default: pinned,escapes,dangling,missing]
    ///
    /// A list, separated by commas, of travels, lines, pinned, escapes, dangling, missing, missing-page, fragment, outside
    /// and left; or all, or none. Repeatable.
    #[arg(long, value_name = "CLASSES", value_parser = str::parse::<Classes>, help_heading = "Policies")]
    deny: Vec<Classes>,
    /// Accept the findings that this file records; list and deny only new ones
    #[arg(long, value_name = "FILE", help_heading = "Policies")]
    baseline: Option<PathBuf>,
    /// Write the current findings to the file of --baseline, and exit with 0
    #[arg(long, requires = "baseline", help_heading = "Policies")]
    update_baseline: bool,
    /// Print a JSON object for each link
    #[arg(long, help_heading = "Output", conflicts_with_all = ["sarif", "github"])]
    json: bool,
    /// Print a SARIF 2.1.0 log
    #[arg(long, help_heading = "Output", conflicts_with = "github")]
    sarif: bool,
    /// Print annotations for GitHub Actions
    #[arg(long, help_heading = "Output")]
    github: bool,
    /// Also write an HTML page with the verdict and tables of targets, files and links
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,
    /// List the missing URLs of denied classes, one per line, as `wget -i` reads them; `-` prints them instead of the
    /// findings
    ///
    /// In an archive, or with --layout host, the class `missing` contains the images, scripts and other embedded resources
    /// that were not captured. With `--deny missing,missing-page`, the list ends with the pages that an archive lacks.
    #[arg(long, value_name = "FILE", help_heading = "Archives")]
    missing: Option<PathBuf>,
    /// List each broken link instead of each target, and the anomalies of each document
    #[arg(short, long, help_heading = "Messages")]
    pub(super) verbose: bool,
}

impl TypedCheck {
    pub(super) fn into_request(self) -> Result<Check> {
        let refused = |why: &str| Err(Error::new(why));
        let mut documents = self.documents.into_request(Some(&TypedPolicy::default()))?;
        let holds = |path: &PathBuf| holds_resources(path, documents.reading.format);
        let is_of_archives = documents.paths.iter().all(holds);
        let folder = match documents.paths.as_slice() {
            _ if is_of_archives => PathBuf::new(),
            [folder] => folder.clone(),
            _ => {
                return refused("check takes one folder, or archives; run it once for each folder");
            }
        };
        if is_standard_input(&folder) {
            return refused(
                "check takes a folder or archives; to list the links of a document, use `baselink links`",
            );
        }
        if !is_of_archives && !folder.is_dir() {
            let why = match folder.exists() {
                true => {
                    "not a folder or an archive; to list the links of a document, use `baselink links`"
                }
                false => "no such folder",
            };
            return Err(Error::file(&folder, why));
        }
        if is_of_archives && self.to.is_some() {
            return refused("--to applies only to folders; an archive is never moved");
        }
        let form = match (self.json, self.sarif, self.github) {
            (true, ..) => CheckForm::Json,
            (_, true, _) => CheckForm::Sarif,
            (.., true) => CheckForm::Github,
            _ => CheckForm::Text,
        };
        let printed = match form {
            CheckForm::Json => Some("--json"),
            CheckForm::Sarif => Some("--sarif"),
            CheckForm::Github => Some("--github"),
            CheckForm::Text => None,
        };
        let missing = self
            .missing
            .map(|path| list_of_missing(path, printed))
            .transpose()?;
        documents.reading.options.scan.probe();
        documents.archives = if is_of_archives {
            Archives::Named
        } else {
            Archives::None
        };
        let to = new_url(self.to.as_deref(), &folder)?;
        if !is_of_archives {
            documents.reading.origins.assume_root(to.as_ref());
        }
        let deny = Classes::of(self.deny, &Classes::DENIED);
        let list = match form {
            CheckForm::Json => Classes::of(Vec::new(), &Class::ALL),
            _ => Classes::of(Vec::new(), &Classes::BROKEN).with(&deny),
        };
        let lists_links = form != CheckForm::Text || self.verbose;
        Ok(Check {
            documents,
            is_of_archives,
            missing,
            to,
            deny,
            list,
            lists_links,
            form,
            report: self.report,
            baseline: self.baseline,
            updates_baseline: self.update_baseline,
        })
    }
}

/// The new URL of `folder`.
fn new_url(to: Option<&str>, folder: &Path) -> Result<Option<RootUrl>> {
    match to {
        None => Ok(None),
        Some("file") => RootUrl::on_disk(folder).map(Some),
        Some(url) if Reference::split(Grammar::Rfc3986, url).scheme().is_none() => {
            Err(Error::new(format!(
                "--to: '{url}' is not an absolute URL; give the new URL of the folder, or 'file' if it will be read \
                 from disk"
            )))
        }
        Some(url) => {
            let goal = RootUrl::new(url).map_err(|error| Error::new(format!("--to: {error}")));
            goal.map(Some)
        }
    }
}
