//! `--report`: a page about the links of a folder or archives.
//!
//! ```text
//! verdict; classes with links; targets; files; every link; causes
//! ```
//!
//! The page is one file that loads nothing, as its Content-Security-Policy enforces. `report/page.html` is its template. The
//! script makes the tables from JSON in a data block (HTML, 4.12.1), a part at a time, so that a browser can open the page of a
//! large folder. Without scripts, the page has only the verdict. Text from the folder is escaped (HTML, 13.1.2).
//!
//! Deliberately absent: the time. Two runs over the same folder write the same page.

use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
    io,
    path::PathBuf,
};

use baselink_text::{layer::escape, name, visible};
use indexmap::IndexSet;
use serde::Serialize;

use super::{
    href::uri,
    tree::CheckedTree,
    verdict::verdict,
    words::{self, counted},
};
use baselink_site::purpose::{
    check::{Class, FindingRule, targets::CheckedTarget},
    tally::Counted,
};

use crate::cli::{
    args::check::{Check, meaning},
    files::digest,
};

const PAGE: &str = include_str!("report/page.html");
const STYLE: &str = include_str!("report/page.css");
const SCRIPT: &str = include_str!("report/page.js");

/// A report, and the request for it.
pub struct ReportPage<'a> {
    pub request: &'a Check,
    pub tree: &'a CheckedTree,
    /// The path from the page to the folder.
    pub folder: PathBuf,
}

/// The data for the script. Links refer to the other rows by their numbers.
#[derive(Serialize)]
struct PageData<'a> {
    classes: Vec<ClassRow>,
    /// The path, the reference, and the numbers of links of each class with a column, and of all classes.
    files: Vec<(String, String, Vec<usize>)>,
    targets: Vec<TargetRow<'a>>,
    /// Six numbers for each link: target, file, line, column, location and reference.
    links: Vec<usize>,
    /// The distinct locations and references.
    names: Vec<Cow<'a, str>>,
    /// The name, the meaning and the help of each rule with findings.
    rules: Vec<[&'static str; 3]>,
    /// Sentences about all links.
    notes: Vec<String>,
}

/// The class, the cause, the URL, the numbers of links and files, and sentences.
type TargetRow<'a> = (usize, &'static str, Cow<'a, str>, usize, usize, Vec<String>);

#[derive(Serialize)]
struct ClassRow {
    name: &'static str,
    meaning: &'static str,
    denied: bool,
    fails: bool,
    /// True if the class has a column of its own in the table of files.
    column: bool,
    links: usize,
    targets: usize,
}

/// Escapes `text` for an element.
fn escaped(text: &str) -> String {
    escape::text(&visible(text))
}

impl<'a> ReportPage<'a> {
    /// Writes the page.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let Self { request, tree, .. } = self;
        let is_denied = |class: Class| request.deny.contains(class);
        let holds = tree.not_accepted(is_denied).is_empty();
        let mut pieces = PAGE.split("{{");
        out.write_all(pieces.next().unwrap_or_default().as_bytes())?;
        for piece in pieces {
            let (place, rest) = piece.split_once("}}").unwrap_or((piece, ""));
            let text = match place {
                "style" => STYLE.to_owned(),
                "style-hash" => digest(STYLE.as_bytes()),
                "script" => SCRIPT.to_owned(),
                "script-hash" => digest(SCRIPT.as_bytes()),
                "version" => env!("CARGO_PKG_VERSION").to_owned(),
                "folder" => escaped(&name(request.folder())),
                "result" if holds => "Passes".to_owned(),
                "result" => "Fails".to_owned(),
                "verdict" => escaped(&verdict(request, tree)),
                "facts" => escaped(&self.facts()),
                // Nothing in the data ends the `script` (HTML, 4.12.1.3).
                "data" => serde_json::to_string(&self.data())?.replace('<', "\\u003c"),
                _ => String::new(),
            };
            out.write_all(text.as_bytes())?;
            out.write_all(rest.as_bytes())?;
        }
        Ok(())
    }

    /// The extent of the check in a sentence.
    fn facts(&self) -> String {
        let Self { request, tree, .. } = self;
        let origins = request.documents.origins();
        let from = origins.given_root();
        let from = from.map(|url| format!("from {} ", url.as_str()));
        let to = request
            .to
            .as_ref()
            .map(|to| format!("to {}: ", to.as_str()));
        let documents = counted(tree.tally[Counted::Document], "document", "documents");
        let links = counted(tree.tally.links_checked(), "link", "links");
        let files = counted(tree.collection.count(), "file", "files");
        let moved = from.filter(|_| to.is_some()).unwrap_or_default() + &to.unwrap_or_default();
        format!("{moved}{documents} and {links} in {files}")
    }

    fn data(&self) -> PageData<'a> {
        let files = self.files();
        let mut classes = Class::ALL.to_vec();
        classes.retain(|class| self.tree.tally.of_class(*class) > 0);
        let mut columns = classes.clone();
        columns.retain(|class| self.request.is_bad(*class));
        let numbers: HashMap<usize, usize> = files.iter().copied().zip(0..).collect();
        let (mut links, mut names) = (Vec::new(), IndexSet::new());
        let mut number_of = |text| names.insert_full(text).0;
        for (number, target) in self.tree.targets.iter().enumerate() {
            for place in &target.summary.places {
                let (location, reference) = target.texts_of(place);
                let (location, reference) = (number_of(location), number_of(reference));
                let [file, line, column] =
                    [place.file, place.line, place.column].map(|one| one as usize);
                links.extend([number, numbers[&file], line, column, location, reference]);
            }
        }
        PageData {
            classes: classes.iter().map(|class| self.class_row(*class)).collect(),
            files: files
                .iter()
                .map(|file| self.file_row(*file, &columns))
                .collect(),
            targets: self
                .tree
                .targets
                .iter()
                .map(|target| target_row(target, &classes))
                .collect(),
            links,
            names: names.into_iter().map(visible).collect(),
            rules: self.rules(),
            notes: self.notes(),
        }
    }

    fn class_row(&self, class: Class) -> ClassRow {
        let is_denied = self.request.deny.contains(class);
        let fails = |one: Class| one == class && is_denied;
        ClassRow {
            name: class.name(),
            meaning: meaning(class),
            denied: is_denied,
            fails: !self.tree.not_accepted(fails).is_empty(),
            column: self.request.is_bad(class),
            links: self.tree.tally.of_class(class),
            targets: self.tree.targets.of_class(class).count(),
        }
    }

    fn file_row(&self, number: usize, columns: &[Class]) -> (String, String, Vec<usize>) {
        let file = &self.tree.files[number];
        let path = String::from_utf8_lossy(&file.name);
        // The path of a document in an archive is its URL.
        let href = match file.path.strip_prefix(self.request.folder()) {
            Ok(below) => uri(&self.folder.join(below)),
            Err(_) => file.path.to_string_lossy().into_owned(),
        };
        let mut numbers: Vec<usize> = columns
            .iter()
            .map(|one| file.tally.of_class(*one))
            .collect();
        numbers.push(file.tally.links_checked());
        (
            visible(&path).into_owned(),
            visible(&href).into_owned(),
            numbers,
        )
    }

    /// The rules of the findings on the page.
    fn rules(&self) -> Vec<[&'static str; 3]> {
        let reported: BTreeSet<_> = self.tree.targets.iter().map(|target| target.rule).collect();
        let rules = reported
            .into_iter()
            .filter(|rule| *rule != FindingRule::Left);
        rules
            .map(|rule| {
                let [why, help] = words::meaning(rule);
                [rule.name(), why, help]
            })
            .collect()
    }

    fn notes(&self) -> Vec<String> {
        let accepted = self.tree.accepted();
        let mut notes = Vec::new();
        if accepted > 0 {
            let findings = counted(accepted, "finding is", "findings are");
            notes.push(format!(
                "{findings} accepted by the baseline: counted here, and not listed as targets and links."
            ));
        }
        notes
    }

    /// The numbers of the files, the worst first.
    fn files(&self) -> Vec<usize> {
        let files = &self.tree.files;
        let mut worst: Vec<usize> = (0..files.len()).collect();
        worst.sort_by_key(|number| Reverse(files[*number].severity(&self.request.deny)));
        worst
    }
}

fn target_row<'t>(target: CheckedTarget<'t>, classes: &[Class]) -> TargetRow<'t> {
    let place = classes
        .iter()
        .position(|class| *class == target.rule.class());
    let sentences = words::sentences_of_target(target);
    (
        place.unwrap_or_default(),
        target.rule.cause(target.reason).unwrap_or_default(),
        visible(target.to),
        target.summary.links,
        target.summary.files,
        sentences
            .iter()
            .map(|one| visible(one).into_owned())
            .collect(),
    )
}
