//! The meaning of URLs in a site. Each row of `tests/cli/truth/*.truth` asks what one link leads to, and states the right
//! answer and its reason. `localize`, `move` and `check` must agree with it, except for the answers that a row lists.
//!
//! ```text
//! # A plain site.
//! $ root localize --url https://fen.example/
//! $ root move --url https://fen.example/
//! ==> index.html <==
//! <title>home</title>
//! ? a | about | about.html | clean-url | Netlify serves it; nginx: 404 | check: dangling absent
//! ==> about.html <==
//! <title>about</title>
//! ```
//!
//! A line with `$` has the name of a run, and the options of `localize` and `check`, or of `move`. A file name without
//! `.warc`, `.har` or `.mhtml` describes a folder, whose sections are files, or symbolic links after `link`. The sections of an
//! archive are responses; after `<==`, their header fields, status, date and method, if they differ from the usual ones.
//!
//! A line with `?` becomes a link in the page. Its fields, after the name of the run if the file has several: the kind of link
//! (`SHAPES`); the reference; what is right; how the site answers; what decides that (`undecided` if servers differ); and the
//! commands that do not give this answer yet, with their own. What is right is the name of a file or the URL of a capture
//! (after `@`, a text in it), `itself`, `prefix FOLDER`, `lacking CAUSE`, `outside` or `behind a link`. `BLESS=1` rewrites the
//! last field, never what is right. A test fails if a row becomes right, too, so that it cannot become wrong again.
//!
//! The tests open what `localize` and `move --relative=disk` wrote as a browser would. `listed` names the commands with a
//! `--missing` list that has a resource too much, `unlisted` those without a resource that is lacking, and `moved` is the
//! finding of `check` about the moved copy.
//!
//! Deliberately absent: what the commands write; `tests/cli/cases/` has that.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use url::Url;

use crate::case::{baselink, put, run};
use crate::folder::files;

/// A link of each kind, with the place of the reference and of the mark that finds the link again. A line contains nothing else.
const SHAPES: [(&str, &str); 14] = [
    ("a", r#"<a href="REF">qMARK</a>"#),
    ("img", r#"<img src="REF" alt="qMARK">"#),
    ("css", r#"<link rel="stylesheet" href="REF" title="qMARK">"#),
    ("script", r#"<script src="REF" title="qMARK"></script>"#),
    ("iframe", r#"<iframe src="REF" title="qMARK"></iframe>"#),
    ("form", r#"<form action="REF" title="qMARK"></form>"#),
    ("poster", r#"<video poster="REF" title="qMARK"></video>"#),
    ("object", r#"<object data="REF" title="qMARK"></object>"#),
    (
        "refresh",
        r#"<meta http-equiv="refresh" content="9;url=REF" title="qMARK">"#,
    ),
    ("srcset", "REF MARKw,"),
    ("url", r#"@media { .qMARK { background: url("REF") } }"#),
    ("import", r#"@import "REF"; /* qMARK */"#),
    ("map", r#""qMARK/": "REF","#),
    ("scope", r#""scope": "REF", "name": "qMARK","#),
];
/// Kinds of links in text without character references.
const PLAIN: [&str; 4] = ["url", "import", "map", "scope"];

/// The classes of findings whose links lack something. `check --missing` lists only denied findings.
const DENIED: &str = "missing,missing-page,dangling,pinned,escapes";

/// A file of the table.
struct Table {
    path: PathBuf,
    lines: Vec<String>,
}

/// A run: the options of `localize` and `check`, and those of `move` if the site is a folder.
struct Run {
    name: String,
    options: Vec<String>,
    move_options: Option<Vec<String>>,
}

/// A file or response of a site.
struct Section {
    name: String,
    form: String,
    body: String,
}

struct Question {
    /// The index of its line in the table.
    line: usize,
    page: String,
    /// The number of its line in the page, from 1.
    page_line: u64,
    kind: String,
    reference: String,
    right: String,
    not_yet: String,
}

/// The meaning of what a command wrote, from a page on disk.
enum Opened {
    File(String),
    Itself,
    Prefix(String),
    Absent,
    Behind,
    Above,
    Net(String),
}

impl Table {
    fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/truth");
        let tables = files(&folder).into_iter().map(|(name, text)| Self {
            path: folder.join(name),
            lines: String::from_utf8(text)
                .unwrap()
                .lines()
                .map(str::to_owned)
                .collect(),
        });
        tables.collect()
    }

    /// The file name without its extension: the name of a folder, or of an archive.
    fn site(&self) -> &str {
        self.path.file_stem().unwrap().to_str().unwrap()
    }

    fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for line in self.lines.iter().filter_map(|line| line.strip_prefix("$ ")) {
            let mut words = line.split(' ').map(str::to_owned);
            let (name, command) = (words.next().unwrap(), words.next().unwrap());
            let options = words.collect();
            match (&*command, runs.last_mut()) {
                ("localize", _) => runs.push(Run {
                    name,
                    options,
                    move_options: None,
                }),
                ("move", Some(run)) if run.name == name => run.move_options = Some(options),
                _ => panic!("{}: $ {line}", self.path.display()),
            }
        }
        runs
    }

    /// The sections of the site in `run`, whose pages have only the questions of this run, and these questions.
    fn scene(&self, run: &str) -> (Vec<Section>, Vec<Question>) {
        let has_one_run = self.runs().len() == 1;
        let (mut sections, mut questions) = (Vec::<Section>::new(), Vec::new());
        for (line, text) in self.lines.iter().enumerate() {
            if let Some((name, form)) = text
                .strip_prefix("==> ")
                .and_then(|rest| rest.split_once(" <=="))
            {
                sections.push(Section {
                    name: name.to_owned(),
                    form: form.trim_start().to_owned(),
                    body: String::new(),
                });
                continue;
            }
            let Some(section) = sections.last_mut() else {
                continue;
            };
            let Some(row) = text.strip_prefix("? ") else {
                section.body += &format!("{text}\n");
                continue;
            };
            let (asked, row) = if has_one_run {
                (run, row)
            } else {
                row.split_once(' ').unwrap()
            };
            if asked == run {
                let question = Question::new(line, row, section);
                section.body += &question.written();
                questions.push(question);
            }
        }
        (sections, questions)
    }
}

impl Question {
    fn new(line: usize, row: &str, page: &Section) -> Self {
        let fields: Vec<_> = row
            .split('|')
            .map(|field| field.trim().to_owned())
            .collect();
        let [kind, reference, right, _how, _why, not_yet] = fields
            .try_into()
            .unwrap_or_else(|fields| panic!("six fields: {fields:?}"));
        Self {
            line,
            page: page.name.clone(),
            page_line: page.body.lines().count() as u64 + 1,
            kind,
            reference,
            right,
            not_yet,
        }
    }

    /// The text before and after the reference in the line of the link.
    fn around(&self) -> (String, String) {
        let shape = SHAPES.iter().find(|(kind, _)| *kind == self.kind);
        let (_, shape) = shape.unwrap_or_else(|| panic!("no kind {}", self.kind));
        let marked = shape.replace("MARK", &(self.line + 1).to_string());
        let (before, after) = marked.split_once("REF").unwrap();
        (before.to_owned(), after.to_owned())
    }

    fn is_plain(&self) -> bool {
        PLAIN.contains(&&*self.kind)
    }

    /// The line of the link.
    fn written(&self) -> String {
        let (before, after) = self.around();
        let mut reference = self.reference.clone();
        if !self.is_plain() {
            reference = reference.replace('&', "&amp;");
        }
        format!("{before}{reference}{after}\n")
    }

    /// The page with this link in `pages`, and the reference there.
    fn found<'a>(&self, pages: &'a BTreeMap<PathBuf, Vec<u8>>) -> Option<(&'a Path, String)> {
        let (before, after) = self.around();
        for (path, text) in pages {
            let text = String::from_utf8_lossy(text);
            let reference = text
                .split('\n')
                .find_map(|line| line.strip_prefix(&before)?.strip_suffix(&after));
            if let Some(reference) = reference {
                let reference = if self.is_plain() {
                    reference.to_owned()
                } else {
                    without_references(reference)
                };
                return Some((path, reference));
            }
        }
        None
    }

    fn is_prefix(&self) -> bool {
        ["map", "scope"].contains(&&*self.kind)
    }
}

/// The text of an attribute value without the character references that the commands write.
fn without_references(value: &str) -> String {
    let text = value.replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// The file or URL that a browser opens for `reference` in the file `page` of the folder `root`.
fn open(root: &Path, page: &Path, text: &str, reference: &str) -> Opened {
    let mut base = Url::from_file_path(Path::new("/R").join(page)).unwrap();
    if let Some((_, rest)) = text.split_once("<base href=\"")
        && let Some((href, _)) = rest.split_once('"')
    {
        base = base.join(&without_references(href)).unwrap();
    }
    let mut url = base.join(reference).unwrap();
    url.set_fragment(None);
    if url.scheme() != "file" {
        return Opened::Net(url.into());
    }
    // Chromium refuses an encoded slash.
    if url.path().to_lowercase().contains("%2f") {
        return Opened::Absent;
    }
    let Some(path) = url.to_file_path().ok() else {
        return Opened::Above;
    };
    let Ok(name) = path.strip_prefix("/R") else {
        return Opened::Above;
    };
    match open_file(root, page, name) {
        Opened::File(_) | Opened::Itself if url.path().ends_with('/') => Opened::Absent,
        opened => opened,
    }
}

fn open_file(root: &Path, page: &Path, name: &Path) -> Opened {
    let path = root.join(name);
    let Ok(real) = path.canonicalize() else {
        return Opened::Absent;
    };
    let leads_by_absolute_path = fs::read_link(&path).is_ok_and(|target| target.is_absolute());
    if leads_by_absolute_path || !real.starts_with(root.canonicalize().unwrap()) {
        return Opened::Behind;
    }
    let text: PathBuf = name.components().collect();
    let text = text.to_str().unwrap();
    match (path.is_dir(), name == page) {
        (true, _) => Opened::Prefix(format!("{text}/")),
        (false, true) => Opened::Itself,
        (false, false) => Opened::File(text.to_owned()),
    }
}

impl Opened {
    /// The words of the table. A folder without an index file means something only as a prefix.
    fn words(&self, root: &Path, question: &Question) -> String {
        match self {
            Self::File(name) => name.clone(),
            Self::Itself => "itself".to_owned(),
            Self::Prefix(name)
                if question.is_prefix() || root.join(name).join("index.html").exists() =>
            {
                format!("prefix {name}")
            }
            Self::Prefix(_) => "lacking no-index".to_owned(),
            Self::Absent => "lacking".to_owned(),
            Self::Behind => "behind a link".to_owned(),
            Self::Above | Self::Net(_) => "outside".to_owned(),
        }
    }
}

/// The site of a run on disk, and what the commands said about it.
struct Scene {
    folder: tempfile::TempDir,
    /// The folder or archive.
    site: String,
    options: Vec<String>,
    move_options: Option<Vec<String>>,
    /// The files after `localize`.
    localized: BTreeMap<PathBuf, Vec<u8>>,
    /// The URL of each file after `localize`, if the site is an archive.
    urls: BTreeMap<String, String>,
    /// The lists of missing resources of `localize` and `check`.
    lists: [HashSet<String>; 2],
    /// The finding of `check`.
    findings: Vec<Value>,
    moved: BTreeMap<PathBuf, Vec<u8>>,
    /// The finding of `check` in the moved folder.
    after_move: Vec<Value>,
}

impl Scene {
    fn new(site: &str, sections: &[Section], run: Run) -> Self {
        let mut scene = Self {
            folder: tempfile::tempdir().unwrap(),
            site: site.to_owned(),
            options: run.options,
            move_options: run.move_options,
            localized: BTreeMap::new(),
            urls: BTreeMap::new(),
            lists: Default::default(),
            findings: Vec::new(),
            moved: BTreeMap::new(),
            after_move: Vec::new(),
        };
        scene.write(sections);
        let options = scene.options.clone();
        if let Some(move_options) = scene.move_options.clone() {
            scene.run(
                "localize",
                &["localize/site", "-i", "--missing", "l.txt"],
                &options,
            );
            scene.run(
                "move",
                &["move/site", "-i", "--relative=disk"],
                &move_options,
            );
            let moved = scene.run("check", &["move/site", "--json", "--to", "file"], &[]);
            scene.after_move = findings(&moved);
            scene.moved = readable_files(&scene.root("move"));
        } else {
            let site = scene.site.clone();
            fs::create_dir(scene.folder.path().join("localize")).unwrap();
            // A line with a candidate of `srcset` is known by its descriptor, which an adaptation may change.
            scene.run(
                "localize",
                &[
                    &site,
                    "-o",
                    "localize/site",
                    "--missing",
                    "l.txt",
                    "--exact",
                ],
                &options,
            );
            scene.urls = scene.read_map();
        }
        scene.localized = readable_files(&scene.root("localize"));
        let checked = scene.checked();
        let check = ["--json", "--deny", DENIED, "--missing", "c.txt"];
        let found = scene.run("check", &[&[&*checked], &check[..]].concat(), &options);
        scene.findings = findings(&found);
        scene.lists = ["l.txt", "c.txt"].map(|list| {
            let list = fs::read_to_string(scene.folder.path().join(list)).unwrap_or_default();
            list.lines().map(str::to_owned).collect()
        });
        scene
    }

    /// The folder or archive that `check` reads.
    fn checked(&self) -> String {
        match self.move_options {
            Some(_) => "check/site".to_owned(),
            None => self.site.clone(),
        }
    }

    /// The folder that a command changed or wrote.
    fn root(&self, command: &str) -> PathBuf {
        self.folder.path().join(command).join("site")
    }

    /// Writes a folder for each command that changes it, or the archive.
    fn write(&self, sections: &[Section]) {
        let archive = match self.site.rsplit_once('.') {
            Some((_, "warc")) => warc(sections),
            Some((_, "har")) => har(sections),
            Some((_, "mhtml")) => mhtml(sections),
            _ => {
                for command in ["check", "localize", "move"] {
                    write_folder(&self.root(command), sections);
                }
                return;
            }
        };
        put(self.folder.path(), Path::new(&self.site), &archive);
    }

    fn run(&self, command: &str, arguments: &[&str], options: &[String]) -> Vec<u8> {
        let mut program = baselink(self.folder.path());
        program.arg(command).args(arguments).args(options);
        let output = run(&mut program, b"");
        assert_ne!(output.status.code(), Some(2), "{program:?}: {output:?}");
        output.stdout
    }

    fn read_map(&self) -> BTreeMap<String, String> {
        let map = self.root("localize").join("baselink-map.csv");
        let mut reader = csv::Reader::from_path(map).unwrap();
        let heads = reader.headers().unwrap().clone();
        let column = |name: &str| heads.iter().position(|head| head == name).unwrap();
        let (path, url) = (column("path"), column("url"));
        let rows = reader.records().map(|row| {
            let row = row.unwrap();
            (row[path].to_owned(), row[url].to_owned())
        });
        rows.collect()
    }

    /// The commands that do not give the right answer to `question`, with their own.
    fn wrong(&self, question: &Question) -> String {
        let finding = self.finding(question);
        let (localized, url) = self.localized(question);
        let mut wrong = Vec::new();
        if let Some(answer) = localized
            .clone()
            .filter(|answer| !question.is_right(answer))
        {
            wrong.push(format!("localize: {answer}"));
        }
        let moved = self.moved(question);
        if let Some(answer) = moved.clone().filter(|answer| !question.is_right(answer)) {
            wrong.push(format!("move: {answer}"));
        }
        if let Some(finding) = finding
            && !question.is_right_class(finding)
        {
            wrong.push(format!("check: {}", class(finding)));
        }
        let targets = [
            finding.and_then(|finding| finding["target"].as_str()),
            url.as_deref(),
        ];
        let targets = targets
            .into_iter()
            .flatten()
            .map(|target| target.split('#').next().unwrap());
        let targets: Vec<_> = targets.collect();
        let is_lacking = question.right.starts_with("lacking");
        // `--missing` lists URLs, so the URL of a folder must be known; `check --missing` lists only what an archive lacks.
        let is_archive = self.move_options.is_none();
        let commands = [
            ("localize", is_archive || !self.options.is_empty()),
            ("check", is_archive),
        ];
        for ((command, lists), list) in commands.into_iter().zip(&self.lists) {
            let is_listed = targets.iter().any(|target| list.contains(*target));
            let is_wrong = wrong.iter().any(|text| text.starts_with(command));
            match (is_listed, is_lacking) {
                (true, false) => wrong.push(format!("listed: {command}")),
                (false, true) if lists && !is_wrong => wrong.push(format!("unlisted: {command}")),
                _ => {}
            }
        }
        let is_found =
            moved.is_some_and(|answer| question.is_right(&answer)) && !question.is_elsewhere();
        if is_found
            && let Some(finding) = finding_at(&self.after_move, "move/site", question)
            && finding["class"] == "dangling"
        {
            wrong.push(format!("moved: {}", class(finding)));
        }
        wrong.join("; ")
    }

    /// The answer of `localize`, and the URL that it wrote.
    fn localized(&self, question: &Question) -> (Option<String>, Option<String>) {
        let Some((page, reference)) = question.found(&self.localized) else {
            return (Some("page lost".to_owned()), None);
        };
        let root = self.root("localize");
        let text = String::from_utf8_lossy(&self.localized[page]);
        match open(&root, page, &text, &reference) {
            Opened::Net(url) if self.lists[0].contains(&url) => {
                (Some("lacking".to_owned()), Some(url))
            }
            Opened::Net(url) => (Some("outside".to_owned()), Some(url)),
            Opened::File(name) if self.move_options.is_none() => {
                let text = String::from_utf8_lossy(&self.localized[Path::new(&name)]);
                (
                    Some(self.captured(question, &name, &text, &reference)),
                    None,
                )
            }
            opened => (Some(opened.words(&root, question)), None),
        }
    }

    /// The capture whose copy is the file `name`.
    fn captured(&self, question: &Question, name: &str, text: &str, reference: &str) -> String {
        if let Some((_, within)) = question.right.split_once(" @ ")
            && text.contains(within)
        {
            return question.right.clone();
        }
        let mut url = self.urls.get(name).map_or(name, String::as_str).to_owned();
        if question.right.contains('#')
            && let Some((_, fragment)) = reference.split_once('#')
        {
            url += &format!("#{fragment}");
        }
        url
    }

    /// The answer of `move --relative=disk`.
    fn moved(&self, question: &Question) -> Option<String> {
        let options = self.move_options.as_ref()?;
        let Some((page, reference)) = question.found(&self.moved) else {
            return Some("page lost".to_owned());
        };
        let root = self.root("move");
        let text = String::from_utf8_lossy(&self.moved[page]);
        let opened = open(&root, page, &text, &reference);
        let folder_url = options.iter().find(|option| option.starts_with("https:"));
        let answer = match (&opened, folder_url) {
            (Opened::Net(url), Some(folder)) if format!("{url}/").starts_with(folder) => {
                "lacking".to_owned()
            }
            _ => opened.words(&root, question),
        };
        // Without the URL of the folder, `move` does not know what a URL means, nor which folder is the root of a host.
        let needs_url =
            question.reference.starts_with('/') || Url::parse(&question.reference).is_ok();
        let has_hosts = self.options.iter().any(|option| option == "--layout");
        let is_unknown = needs_url && folder_url.is_none() && (has_hosts || answer == "outside");
        (!is_unknown).then_some(answer)
    }

    fn finding(&self, question: &Question) -> Option<&Value> {
        match self.move_options {
            Some(_) => finding_at(&self.findings, &self.checked(), question),
            None => self.findings.iter().find(|finding| {
                let is_embedded = finding["element"] == "img";
                finding["path"] == *question.page
                    && finding["reference"] == *question.reference
                    && (finding["element"] != "a" || question.kind == "a")
                    && (!is_embedded || question.kind != "a")
            }),
        }
    }
}

/// The finding for a link in the page of the folder `site`.
fn finding_at<'a>(findings: &'a [Value], site: &str, question: &Question) -> Option<&'a Value> {
    let path = format!("{site}/{}", question.page);
    findings
        .iter()
        .find(|finding| finding["path"] == path && finding["line"] == question.page_line)
}

fn findings(lines: &[u8]) -> Vec<Value> {
    let lines = lines
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// Class and cause of a finding.
fn class(finding: &Value) -> String {
    let (class, cause) = (
        finding["class"].as_str().unwrap(),
        finding["cause"].as_str(),
    );
    let mut text = class.to_owned();
    for part in cause.into_iter().chain(finding["missing"].as_str()) {
        write!(text, " {part}").unwrap();
    }
    text
}

impl Question {
    /// True if the right answer is neither a resource nor a prefix of resources.
    fn is_elsewhere(&self) -> bool {
        let word = self.right.split(' ').next().unwrap();
        ["lacking", "outside", "behind"].contains(&word)
    }

    fn is_right(&self, answer: &str) -> bool {
        let with_name = |name: &str| {
            if name == self.page {
                "itself".to_owned()
            } else {
                name.to_owned()
            }
        };
        match self.right.strip_prefix("lacking") {
            Some(_) => answer.starts_with("lacking"),
            None => with_name(answer) == with_name(&self.right),
        }
    }

    fn is_right_class(&self, finding: &Value) -> bool {
        let text = |key: &str| finding[key].as_str().unwrap_or_default();
        let answer = match text("class") {
            "escapes" if text("cause") == "symlink" => "behind a link".to_owned(),
            "escapes" | "outside" => "outside".to_owned(),
            "pinned" if !text("missing").is_empty() => format!("lacking {}", text("missing")),
            "dangling" | "missing" | "missing-page" => format!("lacking {}", text("cause")),
            "left" => return self.right == "outside" || self.right == "itself",
            _ => return !self.is_elsewhere(),
        };
        answer == self.right
    }
}

/// The files below `folder` that can be read. Symbolic links to folders are not followed.
fn readable_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in walkdir::WalkDir::new(folder) {
        let path = entry.unwrap().into_path();
        if let Ok(bytes) = fs::read(&path) {
            found.insert(path.strip_prefix(folder).unwrap().to_owned(), bytes);
        }
    }
    found
}

/// Writes the files of a site below `root`, and its symbolic links. `@` at the start of their target is `root`.
fn write_folder(root: &Path, sections: &[Section]) {
    fs::create_dir_all(root).unwrap();
    for Section { name, form, body } in sections {
        match form.strip_prefix("link ") {
            Some(target) => {
                let target = target.replace('@', root.to_str().unwrap());
                std::os::unix::fs::symlink(target, root.join(name)).unwrap();
            }
            None => put(root, Path::new(name), body.as_bytes()),
        }
    }
}

/// A response of an archive.
struct Response {
    method: &'static str,
    status: u16,
    date: String,
    /// Header fields, of which `Content-Type` is the first.
    fields: Vec<(String, String)>,
    /// The URL of the response with the same body that a revisit names.
    same_as: Option<String>,
}

impl Response {
    fn parse(form: &str) -> Self {
        let mut response = Self {
            method: "GET",
            status: 200,
            date: "2025-03-01".to_owned(),
            fields: Vec::new(),
            same_as: None,
        };
        for part in form.split("; ").filter(|part| !part.is_empty()) {
            if part == "POST" {
                response.method = "POST";
            } else if let Some(url) = part.strip_prefix("revisit ") {
                response.same_as = Some(url.to_owned());
            } else if let Some((name, value)) = part.split_once(": ") {
                response.fields.push((name.to_owned(), value.to_owned()));
            } else if part.contains('-') {
                response.date = part.to_owned();
            } else {
                response.status = part.parse().unwrap();
            }
        }
        if !response
            .fields
            .iter()
            .any(|(name, _)| name == "Content-Type")
        {
            let field = (
                "Content-Type".to_owned(),
                "text/html; charset=utf-8".to_owned(),
            );
            response.fields.insert(0, field);
        }
        response
    }

    fn field(&self, name: &str) -> &str {
        let field = self.fields.iter().find(|(found, _)| found == name);
        field.map_or("", |(_, value)| value)
    }

    fn heading(&self) -> String {
        let lines = self
            .fields
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        lines.collect()
    }
}

fn warc(sections: &[Section]) -> Vec<u8> {
    let mut records = String::new();
    for (number, Section { name, form, body }) in sections.iter().enumerate() {
        let response = Response::parse(form);
        let (kind, extra) = match &response.same_as {
            Some(url) => (
                "revisit",
                format!(
                    "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n\
                     WARC-Refers-To-Target-URI: {url}\r\nWARC-Refers-To-Date: 2025-03-01T10:00:00Z\r\n"
                ),
            ),
            None => ("response", String::new()),
        };
        let mut add = |kind: &str, id: &str, extra: &str, block: &str| {
            write!(
                records,
                "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {name}\r\nWARC-Date: {}T10:00:00Z\r\n\
                 WARC-Record-ID: <urn:x:{id}>\r\n{extra}Content-Type: application/http; msgtype={}\r\n\
                 Content-Length: {}\r\n\r\n{block}\r\n\r\n",
                response.date,
                if kind == "request" { "request" } else { "response" },
                block.len()
            )
            .unwrap();
        };
        let length = match response.same_as {
            Some(_) => String::new(),
            None => format!("Content-Length: {}\r\n", body.len()),
        };
        let heading = response.heading();
        let block = format!(
            "HTTP/1.1 {} \r\n{heading}{length}\r\n{body}",
            response.status
        );
        add(kind, &number.to_string(), &extra, &block);
        if response.method == "POST" {
            let request = "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx";
            let extra = format!("WARC-Concurrent-To: <urn:x:{number}>\r\n");
            add("request", &format!("{number}-request"), &extra, request);
        }
    }
    records.into_bytes()
}

fn har(sections: &[Section]) -> Vec<u8> {
    let entries = sections.iter().map(|Section { name, form, body }| {
        let response = Response::parse(form);
        let heads = response.fields.iter();
        let heads: Vec<_> = heads
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        let mut content = json!({"size": body.len(), "mimeType": response.field("Content-Type")});
        if !body.is_empty() {
            content["text"] = json!(body);
        }
        json!({
            "startedDateTime": format!("{}T10:00:00.000Z", response.date),
            "request": {"method": response.method, "url": name},
            "response": {
                "status": response.status, "headers": heads, "content": content,
                "redirectURL": response.field("Location"),
            },
        })
    });
    let entries: Vec<_> = entries.collect();
    json!({"log": {"version": "1.2", "entries": entries}})
        .to_string()
        .into_bytes()
}

fn mhtml(sections: &[Section]) -> Vec<u8> {
    let mut message = format!(
        "From: <Saved by Blink>\nSnapshot-Content-Location: {}\nMIME-Version: 1.0\n\
         Content-Type: multipart/related; type=\"text/html\"; boundary=\"b\"\n\n",
        sections[0].name
    );
    for Section { name, form, body } in sections {
        let label = match name.strip_prefix("cid:") {
            Some(id) => format!("Content-ID: <{id}>"),
            None => format!("Content-Location: {name}"),
        };
        let heading = Response::parse(form).heading().replace('\r', "");
        write!(message, "--b\n{heading}{label}\n\n{body}\n").unwrap();
    }
    (message + "--b--\n").into_bytes()
}

#[test]
fn each_command_answers_as_the_table_says() {
    let is_blessed = std::env::var_os("BLESS").is_some();
    let (mut count, mut changed) = (0, String::new());
    for mut table in Table::all() {
        for run in table.runs() {
            let (sections, questions) = table.scene(&run.name);
            let name = run.name.clone();
            let scene = Scene::new(table.site(), &sections, run);
            count += questions.len();
            for question in questions {
                let wrong = scene.wrong(&question);
                if wrong == question.not_yet {
                    continue;
                }
                let (site, line) = (table.site(), question.line + 1);
                writeln!(
                    changed,
                    "{site}.truth:{line}: {name}: {} {:?} has now '{wrong}', not '{}'",
                    question.page, question.reference, question.not_yet
                )
                .unwrap();
                let row = &mut table.lines[question.line];
                row.truncate(row.rfind('|').unwrap() + 1);
                row.push_str(&format!(" {wrong}"));
                row.truncate(row.trim_end().len());
            }
        }
        if is_blessed {
            fs::write(&table.path, table.lines.join("\n") + "\n").unwrap();
        }
    }
    assert!(count >= 278, "only {count} rows");
    assert!(
        changed.is_empty() || is_blessed,
        "{changed}BLESS=1 writes the new answers into the table"
    );
}
