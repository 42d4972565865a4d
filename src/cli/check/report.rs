//! `--report`: a page that shows the effect of a move on a folder.
//!
//! ```text
//! verdict; classes, those that fail first; targets; files; every link; the folder as a picture; causes
//! ```
//!
//! The page is one file that loads nothing, as its Content-Security-Policy enforces. Its data for the script are JSON in
//! a data block (HTML, 4.12.1). The script draws a part of the data at a time, so that a browser can open the page of a
//! large folder. Without scripts the page lacks the list of links, and has only the first targets and files.
//! Text from the folder is escaped (HTML, 13.1.2).
//!
//! Deliberately absent: the time. Two runs over the same folder write the same page.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{Display, Write as _};
use std::{io, iter};

use crate::purpose::check::{Cause, Class};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use baselink_text::error::{name, visible};
use baselink_text::layer::escape;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::href::Hrefs;
use super::listed::Listed;
use super::targets::{FoundLink, TargetSummary};
use super::tree::{CheckedFile, CheckedTree, ClassCounts};
use super::words::{self, RULES, counted, number};
use crate::cli::request::{Check, Classes};

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
    pub(super) listed: &'a Listed,
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
        let Self { request, tree, .. } = self;
        let folder = escaped(&name(request.folder()));
        let (style, script) = (hash(STYLE), hash(SCRIPT));
        let is_denied = |class: Class| request.deny.contains(class);
        let holds = self.listed.not_accepted(tree, is_denied).is_empty();
        let (state, word) = if holds {
            ("holds", "Holds")
        } else {
            ("fails", "Fails")
        };
        let verdict = escaped(&words::verdict(request, tree, self.listed));
        let verdict = format!("<strong>{word}</strong>: {verdict}");
        let from = tree.origins.given_root().map_or_else(String::new, |from| {
            format!("from <code>{}</code> ", escaped(from.as_str()))
        });
        let to = request.to.as_ref().map_or_else(
            || "any other place".to_owned(),
            |to| format!("<code>{}</code>", escaped(to.as_str())),
        );
        writeln!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {style}; \
             script-src {script}; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>What a move does to {folder}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <header>\n<h1>What a move does to <code>{folder}</code></h1>\n\
             <p class=\"verdict {state}\">{verdict}</p>\n\
             <p>{from}to {to}: {} and {} in {}</p>\n</header>\n<main>",
            counted(tree.files.len(), "document", "documents"),
            counted(tree.sum.links(), "link", "links"),
            counted(tree.collection.count(), "file", "files")
        )?;
        let files = self.files();
        self.write_classes(out)?;
        self.write_targets(out)?;
        self.write_files(&files, out)?;
        self.write_links(out)?;
        out.write_all(folder_picture(tree).as_bytes())?;
        self.write_causes(out)?;
        writeln!(
            out,
            "</main>\n<footer><p>Made by baselink {}. Nothing on this page is loaded from elsewhere.</p></footer>",
            env!("CARGO_PKG_VERSION")
        )?;
        self.write_data(&files, out)?;
        writeln!(out, "<script>{SCRIPT}</script>\n</body>\n</html>")
    }

    fn write_classes(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let sum = &self.tree.sum;
        writeln!(out, "<section>\n<h2>Classes</h2>\n{}", bar(sum, "bar wide"))?;
        let mut classes = ranked(self.request);
        classes.sort_by_key(|class| sum.of(*class) == 0);
        let rows = classes.into_iter().map(|class| {
            let targets = self
                .listed
                .targets
                .iter()
                .filter(|target| target.class == class)
                .count();
            let targets = match targets {
                0 if sum.of(class) > 0 => "–".to_owned(),
                targets => number(targets),
            };
            let fails = |one: Class| one == class && self.request.deny.contains(one);
            let is_denied = !self.listed.not_accepted(self.tree, fails).is_empty();
            vec![
                tag(class, None, is_denied),
                number(sum.of(class)),
                targets,
                meaning(class).to_owned(),
            ]
        });
        let columns = ["Class", "#Links", "#Targets", "Meaning"];
        write_table("classes", "Links by class", &columns, rows, out)?;
        if sum.differing > 0 {
            let links = counted(sum.differing, "link leads", "links lead");
            writeln!(out, "<p>{links} elsewhere under another resolver.</p>")?;
        }
        if self.listed.accepted() > 0 {
            let findings = counted(self.listed.accepted(), "finding is", "findings are");
            writeln!(
                out,
                "<p>{findings} accepted by the baseline: counted here, and not listed as targets and links.</p>"
            )?;
        }
        writeln!(out, "</section>")
    }

    fn write_targets(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let all = &self.listed.targets;
        writeln!(out, "<section id=\"targets\">\n<h2>Targets</h2>")?;
        if all.is_empty() {
            return writeln!(out, "<p>None: no link would break.</p>\n</section>");
        }
        let rows = all.iter().take(TARGETS).map(|target| {
            let mut to = format!("<code>{}</code>", escaped(&target.to));
            for sentences in words::sentences_of_target(target) {
                let _ = write!(to, "<br><small>{}</small>", escaped(&sentences));
            }
            let places = target.places.iter().take(PLACES).map(|place| {
                let file = &self.tree.files[place.file];
                let href = self.href(file);
                let path = name_of(&file.name);
                format!(
                    "<a href=\"{href}\"><bdi>{path}</bdi>:{}:{}</a>",
                    place.line, place.column
                )
            });
            vec![
                tag(target.class, target.cause, target.is_denied),
                to,
                number(target.links),
                number(target.files),
                places.collect::<Vec<_>>().join("<br>"),
            ]
        });
        let columns = ["Class", "Leads to", "#Links", "#Files", "First places"];
        let caption = "Targets of links that break, denied classes first";
        write_table("targets", caption, &columns, rows, out)?;
        self.write_script_note(all.len(), TARGETS, "targets", out)?;
        writeln!(out, "</section>")
    }

    /// Notes that only the script shows all rows.
    fn write_script_note(
        &self,
        all: usize,
        drawn: usize,
        what: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        if all <= drawn {
            return Ok(());
        }
        let (all, drawn) = (number(all), number(drawn));
        writeln!(
            out,
            "<p class=\"unscripted\">The first {drawn} of {all} {what}. Enable scripts to see all of them.</p>"
        )
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
        let places = self.listed.targets.iter().flat_map(|target| &target.places);
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

    fn write_files(&self, files: &[usize], out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "<section id=\"files\">\n<h2>Files</h2>")?;
        if files.is_empty() {
            return writeln!(out, "<p>None: no link would break.</p>\n</section>");
        }
        let classes = self.columns();
        let numbers: Vec<String> = classes
            .iter()
            .map(|class| format!("#{}", class.name()))
            .collect();
        let mut columns = vec!["File"];
        columns.extend(numbers.iter().map(String::as_str));
        columns.push("#Links");
        let rows = files.iter().take(FILES).map(|&file| {
            let file = &self.tree.files[file];
            let (href, counts) = (self.href(file), &file.counts);
            let path = format!("<a href=\"{href}\"><bdi>{}</bdi></a>", name_of(&file.name));
            let numbers = classes.iter().map(|class| counts.of(*class));
            let numbers = numbers.chain([counts.links()]).map(number);
            iter::once(path).chain(numbers).collect()
        });
        write_table("files", "Files with links that break", &columns, rows, out)?;
        self.write_script_note(files.len(), FILES, "files", out)?;
        writeln!(out, "</section>")
    }

    /// Writes the section in which the script draws every link.
    fn write_links(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let placed: usize = self
            .listed
            .targets
            .iter()
            .map(|target| target.places.len())
            .sum();
        let all: usize = self.listed.targets.iter().map(|target| target.links).sum();
        if all == 0 {
            return Ok(());
        }
        writeln!(
            out,
            "<section id=\"links\">\n<h2 tabindex=\"-1\">Links</h2>\n\
             <p class=\"unscripted\">{} in this page; enable scripts to see them, or list them with -v or --json.</p>",
            counted(placed, "link is", "links are")
        )?;
        if all > placed {
            let left = counted(all - placed, "link is", "links are");
            writeln!(
                out,
                "<p>{left} omitted, those of the last targets; --json lists all.</p>"
            )?;
        }
        writeln!(out, "</section>")
    }

    fn write_causes(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let reported: HashSet<_> = (self.listed.targets.iter())
            .map(|target| (target.class, target.cause.map(|cause| cause.name())))
            .collect();
        let mut rules = RULES
            .iter()
            .filter(|rule| reported.contains(&(rule.class, rule.cause)))
            .peekable();
        if rules.peek().is_none() {
            return Ok(());
        }
        writeln!(out, "<section>\n<h2>What the causes mean</h2>\n<ul>")?;
        for rule in rules {
            let cause = rule
                .cause
                .map(|cause| format!(" ({cause})"))
                .unwrap_or_default();
            let (class, why, help) = (rule.class.name(), escaped(rule.why), escaped(rule.help));
            writeln!(out, "<li>{class}{cause}: {why}. {help}</li>")?;
        }
        writeln!(out, "</ul>\n</section>")
    }

    /// The reference to a file, or the URL of a document from an archive.
    fn href(&self, file: &CheckedFile) -> String {
        match &self.tree.captures {
            Some(_) => file.entry.path.to_string_lossy().into_owned(),
            None => self.hrefs.of(&file.entry.path),
        }
    }

    /// Writes the data for the script, with each name once, and numbers that refer to the names.
    fn write_data(&self, files: &[usize], out: &mut dyn io::Write) -> io::Result<()> {
        let (classes, columns) = (ranked(self.request), self.columns());
        let place_of = |class: Class| {
            classes
                .iter()
                .position(|known| *known == class)
                .unwrap_or_default()
        };
        write!(out, "<script type=\"application/json\" id=\"data\">")?;
        let class =
            |class: &Class| json!([class.name(), u8::from(self.request.deny.contains(*class))]);
        write_json_list("{\"classes\":[", classes.iter().map(class), out)?;
        write_json_list(
            ",\"columns\":[",
            columns.iter().map(|class| place_of(*class)),
            out,
        )?;
        let file = |number: &usize| {
            let file = &self.tree.files[*number];
            let (path, href) = (String::from_utf8_lossy(&file.name), self.href(file));
            let counts = columns.iter().map(|class| file.counts.of(*class));
            let counts = counts.chain([file.counts.links()]).map(Value::from);
            let row = [visible(&path).into(), visible(&href).into()]
                .into_iter()
                .chain(counts);
            row.collect::<Value>()
        };
        write_json_list(",\"files\":[", files.iter().map(file), out)?;
        let target = |target: &TargetSummary| {
            let TargetSummary {
                class,
                cause,
                to,
                links,
                files,
                ..
            } = target;
            let sentences = words::sentences_of_target(target);
            let sentences: Vec<_> = sentences.iter().map(|one| visible(one)).collect();
            let cause = cause.map_or("", Cause::name);
            json!([
                place_of(*class),
                cause,
                visible(to),
                links,
                files,
                sentences
            ])
        };
        write_json_list(
            ",\"targets\":[",
            self.listed.targets.iter().map(target),
            out,
        )?;
        // For each link: target, file, line, column, and the numbers of its location and reference.
        let numbers: HashMap<usize, usize> = files.iter().copied().zip(0..).collect();
        let (mut names, mut begin) = (DistinctTexts::default(), "\n");
        let links = self
            .listed
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

/// Writes a table; `#` marks a column of numbers. Roles are explicit because on narrow screens the style sheet shows
/// rows as cards, which browsers no longer expose as a table.
fn write_table(
    id: &str,
    caption: &str,
    columns: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    write!(
        out,
        "<table role=\"table\" id=\"{id}-table\">\n<caption>{caption}</caption>\n\
         <thead role=\"rowgroup\"><tr role=\"row\">"
    )?;
    for column in columns {
        let (class, column) = class_and_name(column);
        write!(
            out,
            "<th role=\"columnheader\" scope=\"col\"{class}>{column}</th>"
        )?;
    }
    writeln!(out, "</tr></thead>\n<tbody role=\"rowgroup\">")?;
    for cells in rows {
        write!(out, "<tr role=\"row\">")?;
        for (column, cell) in columns.iter().zip(cells) {
            let (class, column) = class_and_name(column);
            write!(
                out,
                "<td role=\"cell\" data-label=\"{column}\"{class}>{cell}</td>"
            )?;
        }
        writeln!(out, "</tr>")?;
    }
    out.write_all(b"</tbody>\n</table>\n")
}

/// The `class` attribute of the cells of a column, and the name of the column.
fn class_and_name(column: &str) -> (&'static str, &str) {
    column
        .strip_prefix('#')
        .map_or(("", column), |column| (" class=\"n\"", column))
}

/// A class with its cause, marked if it fails.
fn tag(class: Class, cause: Option<Cause>, is_denied: bool) -> String {
    let fails = if is_denied {
        " <b class=\"fails\">fails</b>"
    } else {
        ""
    };
    let sentences = words::class_and_cause(class, cause);
    format!(
        "<span class=\"tag {}\">{sentences}</span>{fails}",
        class.name()
    )
}

fn meaning(class: Class) -> &'static str {
    match class {
        Class::Travels => "It is relative, and its target is in the folder.",
        Class::Lines => {
            "The file exists; a script in it marks the lines that the fragment names, such as #L10."
        }
        Class::Fragment => "The file exists, but has no such id.",
        Class::Dangling => "It leads into the folder, but no such file exists.",
        Class::Missing => {
            "A page needs this resource to look or work as before, but the archive lacks it."
        }
        Class::MissingPage => "It leads to a page of a captured host that was not captured.",
        Class::Escapes => "It depends on files around the folder.",
        Class::Pinned => "It leads into the folder, and keeps pointing at the old place.",
        Class::Outside => "It leads out of the folder, before and after the move.",
        Class::Left => "It has no target.",
    }
}

/// A bar with the shares of the classes; text beside the bar has the numbers.
fn bar(counts: &ClassCounts, style: &str) -> String {
    let all = counts.links().max(1);
    let mut bar = format!(
        "<svg class=\"{style}\" viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
    );
    let mut x = 0.0;
    for class in Class::ALL
        .iter()
        .rev()
        .filter(|class| counts.of(**class) > 0)
    {
        let width = counts.of(*class) as f64 * 100.0 / all as f64;
        let class = class.name();
        let _ = write!(
            bar,
            "<rect class=\"{class}\" x=\"{x:.2}\" width=\"{width:.2}\" height=\"1\"/>"
        );
        x += width;
    }
    bar + "</svg>"
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

/// Draws the folder as nested folders, each with a square for every document in it.
fn folder_picture(tree: &CheckedTree<'_>) -> String {
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
    let mut page = String::from(
        "<section>\n<h2>The folder</h2>\n<p>A square is a document. Its letter begins the name of the most frequent class of its broken links. \
         Folders open and close.</p>\n<div class=\"tree\">\n",
    );
    let (mut open, mut room) = (0, SQUARES);
    // In the order of paths a folder comes right before its contents.
    for (path, folder) in folders.iter().filter(|(path, _)| shown.contains(*path)) {
        while open > path.len() {
            page.push_str("</details>\n");
            open -= 1;
        }
        let label = path.last().map_or("/".into(), |label| name_of(label));
        let sentences = match broken_links(&folder.counts) {
            none if none.is_empty() => "nothing breaks".to_owned(),
            sentences => sentences,
        };
        let is_open = path.len() < 2 && folder.counts.broken() > 0;
        let _ = writeln!(
            page,
            "<details{}><summary>{label} {} <span class=\"said\">{}, {}: {sentences}</span></summary>",
            if is_open { " open" } else { "" },
            bar(&folder.counts, "bar"),
            counted(folder.documents, "document", "documents"),
            counted(folder.counts.links(), "link", "links")
        );
        open = path.len() + 1;
        draw_squares(&folder.files, &mut room, &mut page);
    }
    page.push_str(&"</details>\n".repeat(open));
    page.push_str("</div>\n");
    if shown.len() < folders.len() {
        let left = counted(folders.len() - shown.len(), "folder is", "folders are");
        let _ = writeln!(page, "<p>{left} omitted from the picture.</p>");
    }
    page + "</section>\n"
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

/// Draws a square for each document directly in a folder, while there is `room`, and deducts them from it.
fn draw_squares(files: &[&CheckedFile], room: &mut usize, page: &mut String) {
    if files.is_empty() {
        return;
    }
    page.push_str("<div class=\"squares\" aria-hidden=\"true\">");
    for file in files.iter().take(*room) {
        let label = name_of(split_path(&file.name).1);
        let (class, sentences, letter) = match worst_class(&file.counts) {
            None => (Class::Travels.name(), String::new(), String::new()),
            Some(class) => {
                let (sentences, class) = (broken_links(&file.counts), class.name());
                (
                    class,
                    format!(": {sentences}"),
                    class[..1].to_ascii_uppercase(),
                )
            }
        };
        let _ = write!(
            page,
            "<span class=\"s {class}\" title=\"{label}{sentences}\">{letter}</span>"
        );
    }
    page.push_str("</div>\n");
    let left = files.len().saturating_sub(*room);
    *room = room.saturating_sub(files.len());
    if left > 0 {
        let left = counted(left, "more document", "more documents");
        let _ = writeln!(page, "<p>{left}</p>");
    }
}

/// Escapes a file name.
fn name_of(bytes: &[u8]) -> String {
    escaped(&String::from_utf8_lossy(bytes))
}

/// Escapes `text` for an element or for a value in quotes.
fn escaped(text: &str) -> String {
    escape::text(&visible(text))
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
