//! The arguments of `baselink check`.
//!
//! ```text
//! --deny pinned,escapes --to file site  -->  Check { deny: [pinned, escapes], to: Some(file:///…/site/), … }
//! ```
//!
//! Deliberately absent: arguments that all commands have.

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
    str::FromStr,
};

use baselink_text::{Error, Result, shell};
use clap::{Arg, Args};

use super::{
    help::{CHECK_AFTER, for_folders},
    named::named,
    output::{Changes, check_list_of_missing},
};
use baselink_site::{
    collection::{is_disk, origin::RootUrl},
    purpose::check::{Class, IgnoredUrls},
    reading::{enter_unpacked, library},
};

use crate::cli::request::{Archives, Documents, SameUrls, folder_of, is_standard_input, new_url};

/// The arguments of `check` that differ from those of other commands.
fn of_check(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "diff" | "dry_run" | "backup" | "verify" => arg.requires("fix"),
        _ => for_folders(arg, "A folder, or archives, such as crawl.warc.gz"),
    }
}

/// The request of `baselink check`. Each option is a field.
#[derive(Args)]
#[command(next_help_heading = "What to report", after_help = after_help(), mut_args(of_check))]
pub struct Check {
    /// Also report the links that would break at this new place of the folder: its URL, or the word 'file' if it will be
    /// opened from disk
    #[arg(long = "to", value_name = "URL")]
    typed_to: Option<String>,
    /// Exit with 1 if a link has one of these classes, instead of the default
    ///
    /// A list of classes, separated by commas; or all, or none. The end of this help lists the classes, and tells which are denied
    /// by default. With `--to file`, no-slash and clean-url are denied, too. Repeatable.
    #[arg(long = "deny", value_name = "CLASSES", value_parser = named::<Classes>(Classes::names()))]
    denied: Vec<Classes>,
    /// Never deny links to URLs that match this pattern; repeatable
    ///
    /// A pattern that begins with / is that of a path on the hosts of the folder or archive, any other that of a whole URL, without
    /// its fragment. `*` stops at /, `**` does not. A query counts only if the pattern has a ?.
    #[arg(long, value_name = "GLOB")]
    ignore_url: Vec<String>,
    /// Exit with 1 if a record of an archive is damaged or cannot be read
    #[arg(long)]
    pub strict: bool,
    /// Accept the findings that this file records; list and deny only new ones
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the current findings to the file of --baseline, and exit with 0
    #[arg(long = "update-baseline", requires = "baseline")]
    pub updates_baseline: bool,
    /// Print a JSON object for each link
    #[arg(long, conflicts_with = "github")]
    json: bool,
    /// Print annotations for GitHub Actions
    #[arg(long)]
    github: bool,
    /// Also write a report; its ending chooses the form: a page for readers (.html), a SARIF 2.1.0 log (.sarif), JUnit's XML
    /// (.xml), CSV (.csv) or Markdown (.md); repeatable
    #[arg(long, value_name = "FILE")]
    pub report: Vec<PathBuf>,
    /// List the missing URLs of denied classes, one per line, as `wget -i` reads them; `-` prints them instead of the
    /// findings
    ///
    /// In an archive, or with --layout host, the class `missing` contains the images, scripts and other embedded resources
    /// that were not captured. With `--deny missing,missing-page`, the list ends with the pages that an archive lacks.
    /// In a folder, it has the targets that `dangling` links lack, as paths below the folder if its URL is unknown.
    #[arg(long, value_name = "FILE")]
    pub missing: Option<PathBuf>,
    /// List each broken link instead of each target, and the anomalies of each document
    #[arg(short, long, overrides_with = "verbose")]
    pub verbose: bool,
    /// First mend the dead links that can only mean one file: with another case or escape, without the path of the site, with a
    /// wrong extension, or with a / at the end
    ///
    /// Only URLs change, and links keep their forms. Findings that --ignore-url or --baseline accepts are not mended. With --diff or
    /// --dry-run, nothing is checked afterwards.
    #[arg(long, help_heading = "Where to write")]
    pub fix: bool,
    #[command(flatten)]
    pub changes: Changes,
    /// One folder, or archives.
    #[command(flatten)]
    pub documents: Documents,
    #[command(flatten)]
    same: SameUrls,
    /// True if archives are checked instead of a folder.
    #[arg(skip)]
    pub is_of_archives: bool,
    /// The new URL of the folder.
    #[arg(skip)]
    pub to: Option<RootUrl>,
    /// The URLs of `ignore_url`.
    #[arg(skip)]
    pub ignored: Option<IgnoredUrls>,
    /// The classes whose findings make the exit status 1.
    #[arg(skip)]
    pub deny: Classes,
    /// The classes that are listed.
    #[arg(skip)]
    pub list: Classes,
}

impl Check {
    /// The checked folder, or the first archive.
    pub fn folder(&self) -> &Path {
        &self.documents.paths[0]
    }

    /// The form in which findings are listed.
    pub fn form(&self) -> CheckForm {
        match (self.json, self.github) {
            (true, _) => CheckForm::Json,
            (_, true) => CheckForm::Github,
            _ => CheckForm::Text,
        }
    }

    /// The reports with this form.
    pub fn reports(&self, form: ReportForm) -> impl Iterator<Item = &Path> {
        let has_form = move |path: &&PathBuf| ReportForm::of(path).is_ok_and(|one| one == form);
        self.report.iter().filter(has_form).map(PathBuf::as_path)
    }

    /// True if links with `class` are denied, or may break.
    pub fn is_bad(&self, class: Class) -> bool {
        self.deny.contains(class) || Classes::BROKEN.contains(&class)
    }

    /// The files that options tell the command to write.
    pub fn side_files(&self) -> Vec<(&'static str, Option<&Path>)> {
        let (updated, missing) = (self.baseline.as_deref(), self.missing.as_deref());
        let reports = self.report.iter().map(|path| ("--report", Some(&**path)));
        let others = [
            ("--missing", missing.filter(|path| !is_standard_input(path))),
            ("--baseline", updated.filter(|_| self.updates_baseline)),
        ];
        reports.chain(others).collect()
    }

    /// True if the list has links, false if it has targets.
    pub fn lists_links(&self) -> bool {
        self.form() != CheckForm::Text || self.verbose
    }

    /// Checks the arguments together.
    pub fn complete(&mut self) -> Result<()> {
        let refused = |why: &str| Err(Error::new(why));
        let documents = &mut self.documents;
        enter_unpacked(documents);
        self.is_of_archives = documents
            .paths
            .iter()
            .all(|path| documents.holds_resources(path));
        let mut paths = documents.paths.iter();
        if let Some(page) = paths.find(|path| documents.is_page(path)) {
            let own = page.file_name().unwrap_or_default().to_string_lossy();
            let folder = folder_of(page).to_string_lossy();
            let (own, folder) = (shell::word(&own), shell::word(&folder));
            let why = format!(
                "not a folder; to check this page in its folder: baselink check --include {own} {folder}"
            );
            return Err(Error::file(page, &why));
        }
        let folder = match documents.paths.as_slice() {
            _ if self.is_of_archives => PathBuf::new(),
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
        if !self.is_of_archives && !folder.is_dir() {
            let why = if folder.exists() {
                "not a folder or an archive; to list the links of a document, use `baselink links`; Markdown is not read"
            } else {
                "no such file or folder"
            };
            return Err(Error::file(&folder, why));
        }
        if self.is_of_archives && self.typed_to.is_some() {
            return refused("--to applies only to folders; an archive is never moved");
        }
        if self.strict && !self.is_of_archives {
            return refused("--strict applies only to archives");
        }
        if self.fix
            && (self.is_of_archives
                || self.typed_to.is_some()
                || self.updates_baseline
                || documents.reading.origins.has_hosts)
        {
            return refused(
                "--fix mends links of a folder where it stands; it cannot be used with archives, --layout, --to and --update-baseline",
            );
        }
        let printing = [("--json", self.json), ("--github", self.github)];
        check_list_of_missing(self.missing.as_deref(), &printing)?;
        let forms = self.report.iter().map(|path| ReportForm::of(path));
        let forms = forms.collect::<Result<Vec<_>>>()?;
        let logs = forms.iter().filter(|form| **form == ReportForm::Sarif);
        if logs.count() > usize::from(!self.lists_links()) {
            return refused(
                "--report FILE.sarif lists each link; use it once, and without --json, --github and --verbose",
            );
        }
        let documents = &mut self.documents;
        documents.reading.options.scan.probe();
        self.to = new_place(self.typed_to.as_deref(), &folder)?;
        self.same.apply(&mut documents.reading);
        documents.archives = Archives::Named;
        if !self.is_of_archives {
            documents.archives = Archives::None;
            documents.reading.origins.assume_site(&folder);
            if self.to.is_none() {
                library::enter(documents);
            }
        }
        // A browser that opens the folder from disk finds neither index files nor extensions.
        let is_on_disk = self.to.as_ref().is_some_and(is_disk);
        let is_denied = |class| match &*self.denied {
            [] => {
                Classes::DENIED.contains(&class) || is_on_disk && Classes::REPORTED.contains(&class)
            }
            typed => typed.iter().any(|one| one.contains(class)),
        };
        self.deny = Classes::of(|class| class != Class::Ignored && is_denied(class));
        self.ignored = IgnoredUrls::new(&self.ignore_url)
            .map_err(|error| Error::new(format!("--ignore-url: {error}")))?;
        self.list = Classes::of(|class| match class {
            _ if self.json || self.deny.contains(class) => true,
            // A crawl has an edge, beyond which most links lead to pages.
            Class::MissingPage => self.lists_links(),
            Class::Served => self.verbose,
            _ => Classes::BROKEN.contains(&class) || Classes::REPORTED.contains(&class),
        });
        Ok(())
    }
}

/// The new place of `folder`.
fn new_place(to: Option<&str>, folder: &Path) -> Result<Option<RootUrl>> {
    match to {
        None => Ok(None),
        Some("file") => RootUrl::on_disk(folder).map(Some),
        Some(url) => new_url(url, "'file'").map(Some),
    }
}

/// The classes of links, each with a clause about its links.
const MEANINGS: &str = "\
pinned: leads into the folder, and keeps pointing at the old place
escapes: leads out of the folder, or to another place than it should
invalid: cannot be opened by any browser
dangling: leads into the folder, to a file that does not exist
missing: loads what its page needs, but it was not captured or saved
missing-page: leads to a page of a captured host that was not captured
mixed: loads over http what an https page must not, or leads to its author's network
fragment: leads to a file that exists, but has no such id
no-slash: leads to a folder, without the final slash that servers add
clean-url: leads to a page without its extension, which some servers add
lines: leads to lines that a script of the page marks, such as #L10
works: leads to a file that exists
served: was not captured, but its page needs only an alternative, which exists
outside: leads out of the folder or archive, so it is not checked
ignored: leads to a URL that --ignore-url names
unlinked: is a file to which no page leads
left: cannot be checked: empty, a placeholder, or without a base URL";

/// The meaning of a class, as a clause about a link.
pub fn meaning(class: Class) -> &'static str {
    let mut rows = MEANINGS.lines().filter_map(|row| row.split_once(": "));
    let row = rows.find(|(name, _)| *name == class.name());
    row.unwrap_or_default().1
}

/// The help after the options: the classes with their meanings, and examples.
fn after_help() -> String {
    let row = |class: Class| {
        let is_denied = Classes::DENIED.contains(&class);
        let denied = if is_denied {
            " (denied by default)"
        } else {
            ""
        };
        format!("  {:<12}  {}{denied}\n", class.name(), meaning(class))
    };
    let rows: String = Class::ALL.into_iter().map(row).collect();
    format!("Classes, as what a link of each does:\n{rows}\n{CHECK_AFTER}")
}

/// The form in which findings are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CheckForm {
    Text,
    Json,
    Sarif,
    Github,
}

/// The form of a report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ReportForm {
    /// An HTML page.
    Page,
    /// A SARIF log.
    Sarif,
    /// JUnit's XML.
    JUnit,
    /// Comma-separated values.
    Csv,
    /// Markdown.
    Markdown,
}

impl ReportForm {
    /// The form of the report `path`, by its ending.
    pub fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        match ending.to_str() {
            Some("html" | "htm") => Ok(Self::Page),
            Some("sarif") => Ok(Self::Sarif),
            Some("xml") => Ok(Self::JUnit),
            Some("csv") => Ok(Self::Csv),
            Some("md") => Ok(Self::Markdown),
            _ => Err(Error::file(
                path,
                "--report needs the ending .html (a page), .sarif, .xml (JUnit), .csv or .md",
            )),
        }
    }
}

/// A set of classes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Classes(Vec<Class>);

impl Classes {
    /// The classes of links that may break.
    pub const BROKEN: RangeInclusive<Class> = Class::Pinned..=Class::Fragment;
    /// The classes of links that only some servers, or no server without a redirect, can follow.
    pub const REPORTED: RangeInclusive<Class> = Class::NoSlash..=Class::CleanUrl;
    /// The classes whose findings make the exit status 1 by default.
    pub const DENIED: RangeInclusive<Class> = Class::Pinned..=Class::Missing;

    /// The classes for which `is_in` is true.
    fn of(is_in: impl Fn(Class) -> bool) -> Self {
        Self(
            Class::ALL
                .into_iter()
                .filter(|class| is_in(*class))
                .collect(),
        )
    }

    /// The names of `--deny`.
    fn names() -> Vec<&'static str> {
        [&Class::ALL.map(Class::name)[..], &["all", "none"]].concat()
    }

    pub fn contains(&self, class: Class) -> bool {
        self.0.contains(&class)
    }
}

impl FromStr for Classes {
    type Err = Error;

    fn from_str(list: &str) -> Result<Self> {
        let mut classes = Vec::new();
        for name in list.split(',') {
            match (name, Class::from_name(name)) {
                (_, Some(class)) => classes.push(class),
                ("all", _) => classes.extend(Class::ALL),
                ("none", _) => {}
                _ => {
                    let known = Self::names().join(", ");
                    let why = format!("unknown class '{name}'; use one of {known}");
                    return Err(Error::new(why));
                }
            }
        }
        Ok(Self(classes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_meaning() {
        assert!(
            Class::ALL
                .into_iter()
                .all(|class| !meaning(class).is_empty())
        );
        assert_eq!(MEANINGS.lines().count(), Class::ALL.len());
    }
}
