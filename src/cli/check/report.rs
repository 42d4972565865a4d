//! `--report`: a page that shows what a move does to a folder.
//!
//! ```text
//! totals by class; the folder as a picture, broken files marked; the worst files; the findings
//! ```
//!
//! One file: nothing is loaded, and its Content-Security-Policy lets nothing be. It works with scripts off;
//! the script sorts and filters. Whatever comes from the folder is escaped (HTML, 13.1.2). It is bounded, so that a
//! browser opens it however large the folder is, and it says what it leaves out.
//!
//! Deliberately absent: when it was made. The same folder gives the same page.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::io;

use baselink::error::{name, visible};
use baselink::tree::relocate::Class;

use super::listed::{Listed, Row};
use super::tree::{Checked, ClassCounts, Tree};
use super::words::{self, RULES};
use crate::cli::output::count;
use crate::cli::request::{Check, Classes};

const STYLE: &str = include_str!("report/page.css");
const SCRIPT: &str = include_str!("report/page.js");

/// How much the page has at most: files in its table, findings, folders of the picture, files in it, and how
/// deep it goes.
const FILES: usize = 500;
const FINDINGS: usize = 5_000;
const FOLDERS: usize = 2_000;
const SQUARES: usize = 20_000;
const DEPTH: usize = 32;

/// The files with the most links that may break, the worst first, by number.
fn worst(tree: &Tree) -> Vec<usize> {
    let is_broken = |number: &usize| tree.files[*number].counts.broken() > 0;
    let mut files: Vec<usize> = (0..tree.files.len()).filter(is_broken).collect();
    files.sort_by_key(|&number| std::cmp::Reverse(tree.files[number].counts.broken()));
    files.truncate(FILES);
    files
}

/// How many findings of each file the page has room for, by the file's number.
pub(super) fn rows(tree: &Tree) -> HashMap<usize, usize> {
    let mut room = FINDINGS;
    let mut rows = HashMap::new();
    for number in worst(tree) {
        let of_file = tree.files[number].counts.broken().min(room);
        room -= of_file;
        rows.insert(number, of_file);
    }
    rows
}

/// Writes the page.
pub(super) fn write(
    asked: &Check,
    tree: &Tree,
    listed: &Listed,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let worst = worst(tree);
    let folder = escaped(&name(asked.folder()));
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>What a move does to {folder}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>What a move does to <code>{folder}</code></h1>\n"
    )?;
    let from = tree.moving.from.root_url.as_ref().map(|url| url.as_str());
    let to = tree.moving.to.as_ref().map_or("any other place", |to| to.as_str());
    let from = from.map(|from| format!("from <code>{}</code> ", escaped(from))).unwrap_or_default();
    writeln!(
        out,
        "<p>{from}to <code>{}</code>: {} and {} in {}</p>",
        escaped(to),
        count(tree.files.len(), "document", "documents"),
        count(tree.sum.links(), "link", "links"),
        count(tree.size, "file", "files")
    )?;
    totals(tree, listed, out)?;
    let rank: HashMap<&[u8], usize> = worst
        .iter()
        .enumerate()
        .map(|(rank, &number)| (tree.files[number].scanned.path.as_slice(), rank))
        .collect();
    out.write_all(picture(tree, &rank).as_bytes())?;
    files(tree, &worst, out)?;
    findings(tree, listed, &rank, out)?;
    writeln!(
        out,
        "<p>Made by baselink {}. Nothing on this page is loaded from elsewhere.</p>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>",
        env!("CARGO_PKG_VERSION")
    )
}

fn totals(tree: &Tree, listed: &Listed, out: &mut dyn io::Write) -> io::Result<()> {
    let sum = &tree.sum;
    writeln!(out, "<h2>Links</h2>\n{}", bar(sum, "bar wide"))?;
    out.write_all(
        b"<div class=scroll><table>\n<thead><tr><th>Class</th><th class=n>Links</th>\
          <th class=n>With a fix</th><th>What it means</th></tr></thead>\n<tbody>\n",
    )?;
    for class in Class::ALL.iter().rev() {
        writeln!(
            out,
            "<tr><td><span class=\"tag {0}\">{0}</span></td><td class=n>{1}</td><td class=n>{2}</td>\
             <td>{3}</td></tr>",
            class.name(),
            sum.of(*class),
            sum.fixes_of.get(class).copied().unwrap_or_default(),
            meaning(*class)
        )?;
    }
    out.write_all(b"</tbody>\n</table></div>\n")?;
    if sum.differing > 0 {
        let links = count(sum.differing, "link leads", "links lead");
        writeln!(out, "<p>{links} elsewhere under another resolver.</p>")?;
    }
    if listed.accepted > 0 {
        let findings = count(listed.accepted, "finding is", "findings are");
        writeln!(out, "<p>{findings} accepted by the baseline, and not listed below.</p>")?;
    }
    Ok(())
}

fn meaning(class: Class) -> &'static str {
    match class {
        Class::Travels => "It is relative, its target is in the folder and present.",
        Class::Lines => {
            "The file is there, and a script of it marks the lines that the fragment names."
        }
        Class::Fragment => "The file is there; what the fragment names is not.",
        Class::Dangling => "It leads into the folder, and no such file is there.",
        Class::Escapes => "It depends on what is around the folder.",
        Class::Pinned => "It leads into the folder, and keeps pointing at the old place.",
        Class::Outside => "It leads out of the folder, and goes on leading there.",
        Class::Left => "It has no target.",
    }
}

/// The shares of the classes. What it shows is said beside it.
fn bar(counts: &ClassCounts, style: &str) -> String {
    let all = counts.links().max(1);
    let mut bar = format!("<span class=\"{style}\" aria-hidden=true>");
    for class in Class::ALL.iter().rev() {
        let number = counts.of(*class);
        if number > 0 {
            let share = number as f64 * 100.0 / all as f64;
            let _ = write!(bar, "<i class={} style=\"width:{share:.2}%\"></i>", class.name());
        }
    }
    bar + "</span>"
}

/// `3 pinned, 1 dangling`
fn broken(counts: &ClassCounts) -> String {
    let of_class = |class: &Class| match counts.of(*class) {
        0 => None,
        number => Some(format!("{number} {}", class.name())),
    };
    Classes::BROKEN.iter().filter_map(of_class).collect::<Vec<_>>().join(", ")
}

/// The class of which a file has most of what may break.
fn worst_class(counts: &ClassCounts) -> Option<Class> {
    let most = Classes::BROKEN.iter().rev().max_by_key(|class| counts.of(**class));
    most.copied().filter(|class| counts.of(*class) > 0)
}

/// The folders that lead to a file, as deep as the picture goes, and what is left of its path.
fn way(path: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut parts: Vec<&[u8]> = path.splitn(DEPTH, |&byte| byte == b'/').collect();
    let file = parts.pop().unwrap_or_default();
    (parts, file)
}

#[derive(Default)]
struct Folder {
    counts: ClassCounts,
    documents: usize,
}

/// The folder as nested folders, each with a square for every document in it.
fn picture(tree: &Tree, rank: &HashMap<&[u8], usize>) -> String {
    let mut folders: BTreeMap<Vec<&[u8]>, Folder> = BTreeMap::new();
    for file in &tree.files {
        let (way, _) = way(&file.scanned.path);
        for depth in 0..=way.len() {
            let folder = folders.entry(way[..depth].to_vec()).or_default();
            folder.counts.merge(&file.counts);
            folder.documents += 1;
        }
    }
    let shown = shown_folders(&folders);
    let mut of_folder: HashMap<Vec<&[u8]>, Vec<&Checked>> = HashMap::new();
    for file in &tree.files {
        of_folder.entry(way(&file.scanned.path).0).or_default().push(file);
    }
    let mut page = String::from(
        "<h2>The folder</h2>\n<p>A square is a document: P, E, D and F mark what most of its broken links are. \
         Folders open and close.</p>\n<div class=tree>\n",
    );
    let mut open = 0;
    // In the order of paths a folder comes right before what is in it.
    for (path, folder) in folders.iter().filter(|(path, _)| shown.contains(*path)) {
        while open > path.len() {
            page.push_str("</details>\n");
            open -= 1;
        }
        let label = path.last().map_or("/".into(), |label| name_of(label));
        let said = match broken(&folder.counts) {
            none if none.is_empty() => "nothing breaks".to_owned(),
            said => said,
        };
        let is_open = path.len() < 3 && folder.counts.broken() > 0;
        let _ = writeln!(
            page,
            "<details{}><summary>{label} {} <span class=said>{}, {}: {said}</span></summary>",
            if is_open { " open" } else { "" },
            bar(&folder.counts, "bar"),
            count(folder.documents, "document", "documents"),
            count(folder.counts.links(), "link", "links")
        );
        open = path.len() + 1;
        if let Some(files) = of_folder.get(path) {
            squares(files, rank, tree.files.len() <= SQUARES, &mut page);
        }
    }
    page.push_str(&"</details>\n".repeat(open));
    page.push_str("</div>\n");
    if shown.len() < folders.len() {
        let left = count(folders.len() - shown.len(), "folder is", "folders are");
        let _ = writeln!(page, "<p>{left} left out of the picture.</p>");
    }
    page
}

/// The folders that the picture has: all, or as many as there is room for, those with broken links first.
fn shown_folders<'a>(folders: &BTreeMap<Vec<&'a [u8]>, Folder>) -> HashSet<Vec<&'a [u8]>> {
    let mut paths: Vec<_> = folders.iter().collect();
    // A folder has no more than the one around it, which comes first.
    paths.sort_by_key(|(path, folder)| (std::cmp::Reverse(folder.counts.broken()), path.len()));
    paths.into_iter().take(FOLDERS).map(|(path, _)| path.clone()).collect()
}

/// The documents right in a folder: a square for each, and the names of those with broken links.
fn squares(files: &[&Checked], rank: &HashMap<&[u8], usize>, shows_all: bool, page: &mut String) {
    let (mut names, mut unnamed) = (String::new(), 0);
    page.push_str("<div class=squares aria-hidden=true>");
    for file in files {
        let path = file.scanned.path.as_slice();
        let label = name_of(way(path).1);
        let Some(class) = worst_class(&file.counts) else {
            if shows_all {
                let _ = write!(page, "<span class=\"s travels\" title=\"{label}\"></span>");
            }
            continue;
        };
        let said = broken(&file.counts);
        let letter = class.name()[..1].to_ascii_uppercase();
        let square = format!("class=\"s {}\" title=\"{label}: {said}\"", class.name());
        match rank.get(path) {
            Some(rank) => {
                let _ = write!(page, "<a {square} href=\"#f{rank}\" tabindex=-1>{letter}</a>");
                let _ = writeln!(
                    names,
                    "<li><a href=\"#f{rank}\">{label}</a> <span class=said>{said}</span></li>"
                );
            }
            None => {
                let _ = write!(page, "<span {square}>{letter}</span>");
                unnamed += 1;
            }
        }
    }
    page.push_str("</div>\n");
    if unnamed > 0 {
        let more = count(unnamed, "more document", "more documents");
        let _ = writeln!(names, "<li class=said>{more} with broken links</li>");
    }
    if !names.is_empty() {
        let _ = write!(page, "<ul>\n{names}</ul>\n");
    }
}

fn files(tree: &Tree, worst: &[usize], out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "<h2>The worst documents</h2>")?;
    if worst.is_empty() {
        return writeln!(out, "<p>None: no link would break.</p>");
    }
    out.write_all(b"<div class=scroll><table data-tools>\n<thead><tr><th>Document</th>")?;
    for class in Classes::BROKEN {
        write!(out, "<th class=n>{}</th>", class.name())?;
    }
    out.write_all(b"<th class=n>with a fix</th><th class=n>links</th></tr></thead>\n<tbody>\n")?;
    for (rank, &number) in worst.iter().enumerate() {
        let file = &tree.files[number];
        let path = name_of(&file.scanned.path);
        write!(out, "<tr id=f{rank}><td class=c><a href=\"#l{rank}\">{path}</a></td>")?;
        for class in Classes::BROKEN {
            write!(out, "<td class=n>{}</td>", file.counts.of(class))?;
        }
        let (fixes, links) = (file.counts.fixes, file.counts.links());
        writeln!(out, "<td class=n>{fixes}</td><td class=n>{links}</td></tr>")?;
    }
    out.write_all(b"</tbody>\n</table></div>\n")?;
    let all = tree.files.iter().filter(|file| file.counts.broken() > 0).count();
    if all > worst.len() {
        let left = count(all - worst.len(), "document", "documents");
        writeln!(out, "<p>{left} with fewer broken links left out.</p>")?;
    }
    Ok(())
}

fn findings(
    tree: &Tree,
    listed: &Listed,
    rank: &HashMap<&[u8], usize>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut rows: Vec<(usize, &Row)> = listed
        .rows
        .iter()
        .map(|row| (rank.get(row.path.as_slice()).copied().unwrap_or(usize::MAX), row))
        .collect();
    rows.sort_by_key(|(rank, _)| *rank);
    writeln!(out, "<h2>Findings</h2>")?;
    if rows.is_empty() {
        return writeln!(out, "<p>None.</p>");
    }
    out.write_all(
        b"<div class=scroll><table data-tools>\n<thead><tr><th>Place</th><th>Class</th><th>Element</th>\
          <th>Reference</th><th>On the move</th><th>Fix</th></tr></thead>\n<tbody>\n",
    )?;
    let mut last = None;
    for (rank, row) in &rows {
        let id =
            if last.replace(*rank) == Some(*rank) { String::new() } else { format!(" id=l{rank}") };
        let class = row.class.name();
        let cause = row.cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
        let more = row.hint.iter().map(String::as_str).chain(row.differs.then_some(words::DIFFERS));
        let more: String = more.map(|said| format!("<br>{}", escaped(said))).collect();
        writeln!(
            out,
            "<tr{id} data-class={class}><td class=c>{}:{}:{}</td>\
             <td><span class=\"tag {class}\">{class}{cause}</span></td><td class=c>{}</td>\
             <td class=c>{}</td><td class=c>{}{more}</td><td class=c>{}</td></tr>",
            name_of(&row.path),
            row.line,
            row.column,
            escaped(&row.location),
            escaped(&row.reference),
            escaped(&row.on_move),
            escaped(row.fix.as_deref().unwrap_or_default())
        )?;
    }
    out.write_all(b"</tbody>\n</table></div>\n")?;
    let left = tree.sum.broken().saturating_sub(listed.accepted + rows.len());
    if left > 0 {
        let left = count(left, "finding is", "findings are");
        writeln!(out, "<p>{left} left out; --json lists all.</p>")?;
    }
    writeln!(out, "<h2>What the causes mean</h2>\n<ul>")?;
    for rule in RULES {
        let is_told =
            rows.iter().any(|(_, row)| (row.class, row.cause) == (rule.class, rule.cause));
        if let (Some(cause), true) = (rule.cause, is_told) {
            let class = rule.class.name();
            let (why, help) = (escaped(rule.why), escaped(rule.help));
            writeln!(out, "<li>{class} ({cause}): {why}. {help}</li>")?;
        }
    }
    writeln!(out, "</ul>")
}

/// A name of bytes, for people.
fn name_of(bytes: &[u8]) -> String {
    escaped(&String::from_utf8_lossy(bytes))
}

/// `text` as the text of an element, or a value in quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
