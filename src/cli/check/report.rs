//! `--report`: a page that shows the effect of a move on a folder.
//!
//! ```text
//! verdict; classes, those that fail first; targets; files; every link; the folder as a picture; causes
//! ```
//!
//! The page is one file that loads nothing, as its Content-Security-Policy enforces. `report/page.html` is its template.
//! Its data for the script are JSON in a data block (HTML, 4.12.1). The script draws a part of the data at a time, so
//! that a browser can open the page of a large folder. Without scripts the page lacks the list of links, and has only
//! the first targets and files. Text from the folder is escaped (HTML, 13.1.2).
//!
//! Deliberately absent: the time. Two runs over the same folder write the same page.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Display;
use std::io;

use crate::purpose::check::{Cause, Class};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use baselink_text::error::{name, visible};
use baselink_text::layer::escape;
use minijinja::Environment;
use minijinja::value::Serde;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::counts::ClassCounts;
use super::href::Hrefs;
use super::targets::{FoundLink, TargetSummary};
use super::tree::{CheckedFile, CheckedTree};
use super::verdict::verdict;
use super::words::{self, RULES, counted, number};
use crate::cli::args::check::{Check, Classes};

const PAGE: &str = include_str!("report/page.html");
const STYLE: &str = include_str!("report/page.css");
const SCRIPT: &str = include_str!("report/page.js");

/// The largest numbers of rows without scripts: targets, places of each target, and files.
const TARGETS: usize = 100;
const PLACES: usize = 3;
const FILES: usize = 100;

/// The limits of the picture: folders, files in them, and depth.
const FOLDERS: usize = 500;
const SQUARES: usize = 5_000;
const DEPTH: usize = 32;

/// The data for the page.
pub(super) struct ReportPage<'a> {
    pub(super) request: &'a Check,
    pub(super) tree: &'a CheckedTree<'a>,
    pub(super) hrefs: Hrefs,
}

/// The classes in order: denied ones first, then those that may break.
fn ranked(request: &Check) -> Vec<Class> {
    let mut classes: Vec<Class> = Class::ALL.iter().rev().copied().collect();
    classes.sort_by_key(|class| {
        (
            Reverse(request.deny.contains(*class)),
            Reverse(Classes::BROKEN.contains(class)),
        )
    });
    classes
}

/// The hash by which the Content-Security-Policy allows `text`.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

impl<'a> ReportPage<'a> {
    /// Writes the page.
    pub(super) fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let files = self.files();
        let mut templates = Environment::new();
        templates.add_filter("e", |text: &str| escaped(text));
        templates.add_filter("number", number);
        templates.add_function("counted", |of: usize, one: &str, more: &str| {
            counted(of, one, more)
        });
        let values = Serde(self.values(&files));
        let page = templates
            .render_str(PAGE, values)
            .map_err(io::Error::other)?;
        out.write_all(page.as_bytes())?;
        self.write_data(&files, out)?;
        writeln!(out, "<script>{SCRIPT}</script>\n</body>\n</html>")
    }

    /// The values for the template.
    fn values(&self, files: &[usize]) -> Value {
        let Self { request, tree, .. } = self;
        let is_denied = |class: Class| request.deny.contains(class);
        let all = &self.tree.targets;
        let placed: usize = all.iter().map(|target| target.places.len()).sum();
        let findings: usize = all.iter().map(|target| target.links).sum();
        let from = tree.origins.given_root();
        let targets = all.iter().take(TARGETS).map(|target| {
            let places = target.places.iter().take(PLACES);
            let place = |it: &FoundLink| json!([self.file_row(it.file), it.line, it.column]);
            json!([
                self.target_row(target),
                places.map(place).collect::<Value>()
            ])
        });
        let (folders, closes, omitted) = folder_picture(tree);
        json!({
            "style": STYLE,
            "style_hash": hash(STYLE),
            "script_hash": hash(SCRIPT),
            "version": env!("CARGO_PKG_VERSION"),
            "folder": name(request.folder()),
            "holds": tree.not_accepted(is_denied).is_empty(),
            "verdict": verdict(request, tree),
            "from": from.map(|from| from.as_str()),
            "to": request.to.as_ref().map(|to| to.as_str()),
            "documents": tree.files.len(),
            "links": tree.sum.links(),
            "resources": tree.collection.count(),
            "shares": shares(&tree.sum),
            "classes": self.classes(),
            "differing": tree.sum.differing,
            "accepted": tree.accepted(),
            "targets": targets.collect::<Value>(),
            "all_targets": all.len(),
            "ranked": self.class_rows(),
            "columns": self.column_rows(),
            "files": files.iter().take(FILES).map(|file| self.file_row(*file)).collect::<Value>(),
            "all_files": files.len(),
            "placed": placed,
            "findings": findings,
            "folders": folders,
            "closes": closes,
            "omitted": omitted,
            "rules": self.rules(),
        })
    }

    /// The classes, those with links first: name, whether it fails, numbers of links and targets, meaning.
    fn classes(&self) -> Value {
        let sum = &self.tree.sum;
        let mut classes = ranked(self.request);
        classes.sort_by_key(|class| sum.of(*class) == 0);
        let row = |class: Class| {
            let targets = self.tree.targets.iter();
            let fails = |one: Class| one == class && self.request.deny.contains(one);
            json!([
                class.name(),
                !self.tree.not_accepted(fails).is_empty(),
                sum.of(class),
                targets.filter(|target| target.class == class).count(),
                meaning(class),
            ])
        };
        classes.into_iter().map(row).collect()
    }

    /// The classes in order: name, and 1 if the class is denied.
    fn class_rows(&self) -> Vec<Value> {
        let row = |class| {
            json!([
                Class::name(class),
                u8::from(self.request.deny.contains(class))
            ])
        };
        ranked(self.request).into_iter().map(row).collect()
    }

    /// The number of a class in that order.
    fn place_of(&self, class: Class) -> usize {
        let mut classes = ranked(self.request).into_iter();
        classes.position(|known| known == class).unwrap_or_default()
    }

    /// The classes that have a column of their own in the table of files.
    fn column_rows(&self) -> Vec<usize> {
        let columns = self.columns().into_iter();
        columns.map(|class| self.place_of(class)).collect()
    }

    /// A file: path, reference, and the number of links of each column and of all classes.
    fn file_row(&self, number: usize) -> Value {
        let file = &self.tree.files[number];
        let (path, href) = (String::from_utf8_lossy(&file.name), self.href(file));
        let mut row = vec![json!(visible(&path)), json!(visible(&href))];
        row.extend(
            self.columns()
                .iter()
                .map(|class| json!(file.counts.of(*class))),
        );
        row.push(json!(file.counts.links()));
        row.into()
    }

    /// A target: number of the class, cause, URL, numbers of links and files, sentences.
    fn target_row(&self, target: &TargetSummary) -> Value {
        let sentences = words::sentences_of_target(target);
        json!([
            self.place_of(target.class),
            target.cause.map_or("", Cause::name),
            visible(&target.to),
            target.links,
            target.files,
            sentences.iter().map(|one| visible(one)).collect::<Vec<_>>(),
        ])
    }

    /// The rules of the findings on the page.
    fn rules(&self) -> Value {
        let reported: HashSet<_> = (self.tree.targets.iter())
            .map(|target| (target.class, target.cause.map(Cause::name)))
            .collect();
        let rules = RULES
            .iter()
            .filter(|rule| reported.contains(&(rule.class, rule.cause)));
        let row = |rule: &words::FindingRule| {
            let cause = rule.cause.map(|cause| format!(" ({cause})"));
            let name = format!("{}{}", rule.class.name(), cause.unwrap_or_default());
            json!({ "name": name, "why": rule.why, "help": rule.help })
        };
        rules.map(row).collect()
    }

    /// The indexes of the files with links that fail, that may break or that a target lists, the worst first.
    fn files(&self) -> Vec<usize> {
        let files = &self.tree.files;
        let key = |number: &usize| {
            let counts = &files[*number].counts;
            let classes = Class::ALL
                .iter()
                .filter(|class| self.request.deny.contains(**class));
            let denied: usize = classes.map(|class| counts.of(*class)).sum();
            (denied, counts.broken())
        };
        let places = self.tree.targets.iter().flat_map(|target| &target.places);
        let placed: HashSet<usize> = places.map(|place| place.file).collect();
        let is_reported = |number: &usize| key(number) > (0, 0) || placed.contains(number);
        let mut worst: Vec<usize> = (0..files.len()).filter(is_reported).collect();
        worst.sort_by_key(|number| Reverse(key(number)));
        worst
    }

    /// The classes that have a column of their own in the table of files.
    fn columns(&self) -> Vec<Class> {
        let mut classes = ranked(self.request);
        classes
            .retain(|class| self.request.deny.contains(*class) || Classes::BROKEN.contains(class));
        classes.retain(|class| self.tree.sum.of(*class) > 0);
        classes
    }

    /// The reference to a file, or the URL of a document from an archive.
    fn href(&self, file: &CheckedFile) -> String {
        match &self.tree.captures {
            Some(_) => file.path.to_string_lossy().into_owned(),
            None => self.hrefs.of(&file.path),
        }
    }

    /// Writes the data for the script, with each name once, and numbers that refer to the names.
    fn write_data(&self, files: &[usize], out: &mut dyn io::Write) -> io::Result<()> {
        write!(out, "<script type=\"application/json\" id=\"data\">")?;
        let files_of = files.iter().map(|file| self.file_row(*file));
        let targets = self.tree.targets.iter();
        write_json_list("{\"classes\":[", self.class_rows().into_iter(), out)?;
        write_json_list(",\"columns\":[", self.column_rows().into_iter(), out)?;
        write_json_list(",\"files\":[", files_of, out)?;
        write_json_list(",\"targets\":[", targets.map(|it| self.target_row(it)), out)?;
        // For each link: target, file, line, column, and the numbers of its location and reference.
        let numbers: HashMap<usize, usize> = files.iter().copied().zip(0..).collect();
        let (mut names, mut begin) = (DistinctTexts::default(), "\n");
        let links = self
            .tree
            .targets
            .iter()
            .enumerate()
            .flat_map(|(number, target)| target.places.iter().map(move |place| (number, place)));
        let link = |(number, place): (usize, &'a FoundLink)| {
            let file = numbers.get(&place.file)?;
            let (begin, line, column) = (std::mem::take(&mut begin), place.line, place.column);
            let (location, reference) = (
                names.number(&place.location),
                names.number(&place.reference),
            );
            Some(format!(
                "{begin}{number},{file},{line},{column},{location},{reference}"
            ))
        };
        write_json_list(",\"links\":[", links.filter_map(link), out)?;
        write_json_list(
            ",\"names\":[",
            names
                .in_order()
                .into_iter()
                .map(|name| json!(visible(name))),
            out,
        )?;
        writeln!(out, "}}</script>")
    }
}

/// Writes `begin`, then `entries` as a JSON list, with `<` escaped so that nothing ends the `script` (HTML, 4.12.1.3).
fn write_json_list(
    begin: &str,
    entries: impl Iterator<Item = impl Display>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    out.write_all(begin.as_bytes())?;
    for (number, entry) in entries.enumerate() {
        let divider = if number == 0 { "" } else { ",\n" };
        write!(
            out,
            "{divider}{}",
            entry.to_string().replace('<', "\\u003c")
        )?;
    }
    write!(out, "]")
}

/// Distinct texts, numbered in the order in which they were added.
#[derive(Default)]
struct DistinctTexts<'a>(HashMap<&'a str, usize>);

impl<'a> DistinctTexts<'a> {
    fn number(&mut self, name: &'a str) -> usize {
        let next = self.0.len();
        *self.0.entry(name).or_insert(next)
    }

    fn in_order(self) -> Vec<&'a str> {
        let mut names: Vec<_> = self.0.into_iter().collect();
        names.sort_unstable_by_key(|(_, number)| *number);
        names.into_iter().map(|(name, _)| name).collect()
    }
}

fn meaning(class: Class) -> &'static str {
    match class {
        Class::Travels => "Its target is in the folder.",
        Class::NoSlash => "It leads to a folder, and lacks the final slash.",
        Class::CleanUrl => "It leads to a page without its extension, which some servers add.",
        Class::Lines => {
            "The file exists; a script in it marks the lines that the fragment names, such as #L10."
        }
        Class::Fragment => "The file exists, but has no such id.",
        Class::Dangling => "It leads into the folder, but no such file exists.",
        Class::Missing => {
            "A page needs this resource to look or work as before, but the archive lacks it."
        }
        Class::MissingPage => "It leads to a page of a captured host that was not captured.",
        Class::Escapes => {
            "It leads elsewhere after the move, or out of the folder through a symbolic link."
        }
        Class::Pinned => "It leads into the folder, and keeps pointing at the old place.",
        Class::Outside => "It leads out of the folder.",
        Class::Left => "It has no target.",
    }
}

/// The shares of the classes in a bar of width 100.
fn shares(counts: &ClassCounts) -> Value {
    let all = counts.links().max(1) as f64;
    let mut x = 0.0;
    let classes = Class::ALL
        .iter()
        .rev()
        .filter(|class| counts.of(**class) > 0);
    let share = |class: &Class| {
        let (begin, width) = (x, counts.of(*class) as f64 * 100.0 / all);
        x += width;
        json!({ "class": class.name(), "x": format!("{begin:.2}"), "width": format!("{width:.2}") })
    };
    classes.map(share).collect()
}

/// The links that may break, by class, such as `3 pinned, 1 dangling`.
fn broken_links(counts: &ClassCounts) -> String {
    let numbers = Classes::BROKEN.map(|class| (class, counts.of(class)));
    words::classes(numbers.iter().filter(|(_, links)| *links > 0))
}

/// The most frequent class among the broken links of a file.
fn worst_class(counts: &ClassCounts) -> Option<Class> {
    let most = Classes::BROKEN
        .iter()
        .rev()
        .max_by_key(|class| counts.of(**class));
    most.copied().filter(|class| counts.of(*class) > 0)
}

/// The folders above a file, up to the depth of the picture, and the rest of the file's path.
fn split_path(path: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut parts: Vec<&[u8]> = path.splitn(DEPTH, |&byte| byte == b'/').collect();
    let file = parts.pop().unwrap_or_default();
    (parts, file)
}

#[derive(Default)]
struct Folder<'a> {
    counts: ClassCounts,
    documents: usize,
    /// The documents directly in it.
    files: Vec<&'a CheckedFile>,
}

/// The folder as nested folders, each with a square for every document in it. Returns the folders, the end tags after
/// the last one, and the number of omitted folders.
fn folder_picture(tree: &CheckedTree<'_>) -> (Value, String, usize) {
    let mut folders: BTreeMap<Vec<&[u8]>, Folder> = BTreeMap::new();
    for file in &tree.files {
        let (parents, _) = split_path(&file.name);
        for depth in 0..=parents.len() {
            let folder = folders.entry(parents[..depth].to_vec()).or_default();
            folder.counts.merge(&file.counts);
            folder.documents += 1;
        }
        if let Some(folder) = folders.get_mut(&parents) {
            folder.files.push(file);
        }
    }
    let shown = shown_folders(&folders);
    let (mut open, mut room) = (0, SQUARES);
    let end_tags = |number: usize| "</details>\n".repeat(number);
    let row = |(path, folder): (&Vec<&[u8]>, &Folder)| {
        let closes = end_tags(open - path.len().min(open));
        open = path.len() + 1;
        let drawn = folder.files.len().min(room);
        room -= drawn;
        let label = path
            .last()
            .map_or("/".into(), |name| String::from_utf8_lossy(name));
        json!({
            "closes": closes,
            "is_open": path.len() < 2 && folder.counts.broken() > 0,
            "label": label,
            "shares": shares(&folder.counts),
            "documents": folder.documents,
            "links": folder.counts.links(),
            "broken": broken_links(&folder.counts),
            "has_files": !folder.files.is_empty(),
            "squares": folder.files[..drawn].iter().map(|file| square(file)).collect::<Value>(),
            "more": folder.files.len() - drawn,
        })
    };
    // In the order of paths a folder comes right before its contents.
    let pictures = folders.iter().filter(|(path, _)| shown.contains(*path));
    let pictures: Value = pictures.map(row).collect();
    (pictures, end_tags(open), folders.len() - shown.len())
}

/// A square for a document.
fn square(file: &CheckedFile) -> Value {
    let label = String::from_utf8_lossy(split_path(&file.name).1);
    match worst_class(&file.counts) {
        None => json!({ "class": Class::Travels.name(), "label": label, "letter": "" }),
        Some(class) => json!({
            "class": class.name(),
            "label": label,
            "broken": broken_links(&file.counts),
            "letter": class.name()[..1].to_ascii_uppercase(),
        }),
    }
}

/// The folders in the picture: all, or as many as fit, those with broken links first.
fn shown_folders<'a>(folders: &BTreeMap<Vec<&'a [u8]>, Folder<'_>>) -> HashSet<Vec<&'a [u8]>> {
    let mut paths: Vec<_> = folders.iter().collect();
    // A parent folder has at least as many broken links, so it comes before its subfolders.
    paths.sort_by_key(|(path, folder)| (Reverse(folder.counts.broken()), path.len()));
    paths
        .into_iter()
        .take(FOLDERS)
        .map(|(path, _)| path.clone())
        .collect()
}

/// Escapes `text` for an element or for a value in quotes.
fn escaped(text: &str) -> String {
    escape::text(&visible(text))
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
