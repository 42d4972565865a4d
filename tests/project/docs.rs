//! The documentation agrees with the code: the words of `attributes.tsv` and `vocabulary.tsv` with the rows that `scan` reads
//! from them; `docs/json.tsv` with the table of `scan`, in both directions; `docs/links.md` with the columns, groups and roles;
//! `docs/outcomes.md` with the lists of outcomes, reasons and diagnostics; `docs/formats.md` with the formats and their
//! detection; `docs/base-url.md` with the sources of retrieval URLs; `docs/check-classes.md` with the classes and causes;
//! `docs/security.md` with the codes of warnings; `promises.tsv` with the tests that it names; `docs/architecture.md` with the
//! dependencies; every link between pages with files and headings. With `BLESS=1`, the tables of the code are written into the
//! pages.
//!
//! Deliberately absent: prose. Only tables and links are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::{fs, path::Path};

use baselink::{Outcome, Reason, Role};
use baselink_rewrite::base::Source;
use baselink_rewrite::copies::SUFFIXES;
use baselink_scan::attributes::{Condition, Group, Namespace, Row, TABLE};
use baselink_scan::json::JsonKind;
use baselink_scan::xml::namespaces::Vocabulary;
use baselink_scan::xml::vocabulary;
use baselink_site::collection::origin;
use baselink_site::purpose::check::{Class, FindingRule};
use baselink_text::diagnostic::Code;
use baselink_text::format::Format;

const LINKS: &str = include_str!("../../docs/links.md");
const OUTCOMES: &str = include_str!("../../docs/outcomes.md");
const FORMATS: &str = include_str!("../../docs/formats.md");

/// The line of a table for a row of these vocabularies, without the standard.
fn row_line(vocabulary: &str, row: &Row) -> String {
    let attribute = match row.attribute_vocabulary {
        Vocabulary::Plain => row.attribute.to_owned(),
        prefixed => format!("{} of {}", row.attribute, prefixed.name()),
    };
    let when = match row.when {
        Condition::Always => String::new(),
        Condition::Is(name, values) => format!("{name} is {values}"),
        Condition::Has(name, values) => format!("{name} has {values}"),
        Condition::Contains(name, part) => format!("{name} contains {part}"),
    };
    let cells = [
        vocabulary,
        row.elements,
        &attribute,
        &when,
        row.syntax.name(),
        row.against.name(),
        row.role.name(),
        row.group.map_or("on", Group::name),
        if row.loads { "yes" } else { "" },
        if row.empty_resolves {
            "resolved"
        } else {
            "left"
        },
        if row.fragment_identifies {
            "left"
        } else {
            "policy"
        },
    ];
    cells.join("\t")
}

/// Compares the lines of a table with its rows, which are written again, so that no unknown word counts as a default.
fn hold_rows(table: &str, rows: &[Row], vocabulary: fn(&Row) -> Option<&'static str>) {
    let lines = lines(table);
    for (line, row) in lines.iter().zip(rows) {
        let (place, standard) = line.rsplit_once('\t').unwrap();
        assert_eq!(place, row_line(vocabulary(row).unwrap_or("any"), row));
        assert!(!standard.is_empty(), "{line} lacks a standard");
        let cells: Vec<_> = place.split('\t').collect();
        assert!(!cells[0].is_empty(), "{line} lacks a vocabulary");
        let is_separated = !cells[1..4].concat().contains(',') && !line.contains("  ");
        assert!(is_separated, "{line}: names are separated by one space");
    }
    assert_eq!(lines.len(), rows.len(), "a line is not a row");
}

#[test]
fn every_line_of_a_table_of_places_is_a_row() {
    let html = include_str!("../../crates/scan/src/attributes.tsv");
    let xml = include_str!("../../crates/scan/src/xml/vocabulary.tsv");
    hold_rows(html, &TABLE, |row| row.namespace.map(Namespace::name));
    hold_rows(xml, &vocabulary::TABLE, |row| {
        row.vocabulary.map(Vocabulary::name)
    });
    let columns = html.lines().next().unwrap();
    assert_eq!(Some(columns), xml.lines().next());
    let (_, rows) = rows_of("links.md", "| column |");
    let cells = rows.iter().filter_map(|row| row.split(' ').nth(1));
    let documented: Vec<_> = cells.collect();
    let mut columns: Vec<_> = columns.split('\t').collect();
    columns.retain(|column| documented.contains(column));
    assert_eq!(documented, columns);
}

/// The rows of the first table under the heading `heading`, without its header.
fn table<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    lines
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .collect()
}

/// The lines after the first one, which names the columns.
fn lines(table: &str) -> Vec<&str> {
    table.lines().skip(1).collect()
}

/// Compares the rows of the page `docs/NAME` that begin at the line `first` with `expected`. `BLESS=1` writes them into the page.
fn hold(name: &str, first: usize, expected: &[String]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(name);
    let text = fs::read_to_string(&path).unwrap();
    let mut rows: Vec<_> = text.lines().collect();
    let is_table = name.ends_with(".tsv");
    let is_row = |line: &&&str| is_table || line.starts_with('|');
    let end = first + rows[first..].iter().take_while(is_row).count();
    if rows[first..end] == *expected {
        return;
    }
    rows.splice(first..end, expected.iter().map(String::as_str));
    assert!(
        std::env::var_os("BLESS").is_some(),
        "`BLESS=1 cargo test --test project docs` writes into docs/{name}:\n{}",
        expected.join("\n")
    );
    fs::write(path, rows.join("\n") + "\n").unwrap();
}

/// Compares the rows of `docs/NAME` without their last column with `expected`. That column names a standard, and a person writes it.
fn hold_places(name: &str, expected: &[String]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(name);
    let text = fs::read_to_string(path).unwrap();
    let written: Vec<_> = lines(&text)
        .iter()
        .filter_map(|line| line.rsplit_once('\t'))
        .collect();
    let mut standards = Vec::new();
    for place in expected {
        let known = written
            .get(standards.len())
            .filter(|(same, _)| same == place);
        let known = known.or_else(|| written.iter().find(|(same, _)| same == place));
        standards.push(known.map_or("", |(_, standard)| standard));
    }
    let rows = expected.iter().zip(&standards);
    let rows: Vec<_> = rows
        .map(|(place, standard)| format!("{place}\t{standard}"))
        .collect();
    hold(name, 1, &rows);
    assert!(
        standards.iter().all(|standard| !standard.is_empty()),
        "docs/{name} lacks a standard"
    );
}

/// The place of the table in `docs/NAME` whose header begins with `header`, and its rows.
fn rows_of(page: &str, header: &str) -> (usize, Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(page);
    let text = fs::read_to_string(path).unwrap();
    let first = text.lines().position(|line| line.starts_with(header));
    let first = first.unwrap_or_else(|| panic!("docs/{page} has no table {header}")) + 2;
    let rows = text.lines().skip(first);
    let rows = rows.take_while(|line| line.starts_with('|'));
    (first, rows.map(str::to_owned).collect())
}

/// Compares the first cells of the table in `docs/NAME` whose header begins with `header` with `names`. With `BLESS=1`, rows with
/// these names stay, in this order, and the others get the comments on the names in `source`.
fn hold_names(page: &str, header: &str, source: &str, names: &[&str]) {
    let (first, rows) = rows_of(page, header);
    let row = |name: &&str| {
        let start = format!("| `{name}` | ");
        let known = rows.iter().find(|row| row.starts_with(&start)).cloned();
        known.unwrap_or_else(|| format!("{start}{} |", comment(source, name)))
    };
    hold(page, first, &names.iter().map(row).collect::<Vec<_>>());
}

/// The comment on the value of an enum in the file `source` that has this name.
fn comment(source: &str, name: &str) -> String {
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(source)).unwrap();
    let value = format!(" = \"{name}\",");
    let before = source.lines().take_while(|line| !line.ends_with(&value));
    let before: Vec<_> = before.map(str::trim).collect();
    let comment = before
        .rsplit(|line| !line.starts_with("///"))
        .next()
        .unwrap();
    let text: Vec<_> = comment.iter().map(|line| line[3..].trim()).collect();
    text.join(" ").trim_end_matches('.').to_owned()
}

#[test]
fn every_member_of_a_manifest_or_feed_is_documented_in_its_order() {
    let mut expected = Vec::new();
    for (document, kind) in [("manifest", JsonKind::Manifest), ("feed", JsonKind::Feed)] {
        for (member, role) in kind.members() {
            expected.push(format!("{document}\t{member}\t{role}\tmanifest"));
        }
    }
    hold_places("json.tsv", &expected);
}

#[test]
fn every_group_is_documented() {
    let documented = table(LINKS, "## Groups");
    for group in Group::ALL {
        let start = format!("| `{group}` |");
        assert!(
            documented.iter().any(|row| row.starts_with(&start)),
            "docs/links.md lacks a row under '## Groups' that begins:\n{start}"
        );
    }
    assert_eq!(
        documented.len(),
        Group::ALL.len(),
        "docs/links.md has a group too many"
    );
}

#[test]
fn every_outcome_reason_and_diagnostic_is_documented_in_its_order() {
    let (report, page) = ("crates/rewrite/src/report.rs", "outcomes.md");
    let roles = "crates/scan/src/document.rs";
    hold_names("links.md", "| role |", roles, &Role::ALL.map(Role::name));
    hold_names(
        page,
        "| outcome |",
        report,
        &Outcome::ALL.map(Outcome::name),
    );
    hold_names(page, "| reason |", report, &Reason::ALL.map(Reason::name));
    let codes = "crates/text/src/diagnostic.rs";
    hold_names(page, "| code |", codes, &Code::ALL.map(Code::name));
}

#[test]
fn every_suffix_of_a_companion_folder_is_documented() {
    let (_, list) = OUTCOMES.split_once("The suffixes, in any case:").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let mut documented: Vec<_> = list.split('`').skip(1).step_by(2).collect();
    let mut known: Vec<_> = SUFFIXES.split(' ').collect();
    documented.sort_unstable();
    known.sort_unstable();
    assert_eq!(documented, known);
}

#[test]
fn every_source_of_a_retrieval_url_is_documented_in_its_order() {
    let source = "crates/rewrite/src/base.rs";
    hold_names(
        "base-url.md",
        "| source |",
        source,
        &origin::ORDER.map(Source::name),
    );
}

#[test]
fn every_format_is_documented_in_its_order() {
    let row = |format: Format| {
        let read = match format {
            Format::Plain => "in messages",
            Format::Other => "no",
            Format::Script => "with `--enable scripts`",
            Format::Manifest => "with `--enable manifest`",
            Format::JsonFeed => "with `--enable manifest` or `json`",
            _ if format.is_archive() => "by all commands but `move` and `resolve`",
            _ if format.is_read() => "yes",
            _ => "not yet",
        };
        let names: Vec<_> = format
            .extensions()
            .map(|name| format!("`.{name}`"))
            .collect();
        let names = if names.is_empty() {
            String::new()
        } else {
            names.join(", ") + " "
        };
        format!(
            "| `{}` | `{}` | {names}| {read} |",
            format.name(),
            format.media_type()
        )
    };
    let (first, _) = rows_of("formats.md", "| name | media");
    hold("formats.md", first, &Format::ALL.map(row));
}

/// The first two cells of each row, without backticks.
fn pairs<'a>(heading: &str) -> Vec<(&'a str, &'a str)> {
    let rows = table(FORMATS, heading);
    assert!(
        !rows.is_empty(),
        "docs/formats.md has no table under '{heading}'"
    );
    let cell = |row: &'a str, at: usize| {
        row.split(" | ")
            .nth(at)
            .unwrap()
            .trim_matches(['|', ' ', '`'])
    };
    rows.into_iter()
        .map(|row| (cell(row, 0), cell(row, 1)))
        .collect()
}

#[test]
fn documented_media_types_and_first_bytes_are_detected() {
    for (media_type, format) in pairs("## Media types") {
        assert_eq!(
            Format::of_media_type(media_type).name(),
            format,
            "{media_type}"
        );
    }
    for (head, format) in pairs("## First bytes") {
        let head = head.replace("\\n", "\n").replace("\\t", "\t");
        assert_eq!(
            Format::detect(None, head.as_bytes()).name(),
            format,
            "{head:?}"
        );
    }
    for format in Format::ALL {
        assert_eq!(Format::of_media_type(format.media_type()), format);
        for extension in format.extensions() {
            let name = format!("a.{extension}");
            let found = Format::opt_in(&name).unwrap_or(Format::detect(Some(&name), b"text"));
            assert_eq!(found, format);
        }
    }
}

#[test]
fn the_classes_of_check_are_documented_in_their_order() {
    let source = "crates/site/src/purpose/finding_rule.rs";
    hold_names(
        "check-classes.md",
        "| class | the link |",
        source,
        &Class::ALL.map(Class::name),
    );
    let (first, mut rows) = rows_of("check-classes.md", "| class | cause |");
    let cells = |row: &str| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        (cells[1].to_owned(), cells[2].to_owned())
    };
    let is_of = |rule: &FindingRule, row: &str| {
        let ((classes, cause), known) = (cells(row), rule.cause(None));
        let is_class = |class: &str| class == format!("`{}`", rule.class().name());
        classes.split(", ").any(is_class) && known.is_some_and(|it| cause == format!("`{it}`"))
    };
    // The reasons of links without a target have a table of their own.
    rows.retain(|row| {
        row.starts_with("| `left` |") || FindingRule::ALL.iter().any(|rule| is_of(rule, row))
    });
    for rule in FindingRule::ALL {
        if let Some(cause) = rule.cause(None)
            && !rows.iter().any(|row| is_of(&rule, row))
        {
            let meaning = comment(source, rule.name());
            rows.push(format!(
                "| `{}` | `{cause}` | {meaning} |",
                rule.class().name()
            ));
        }
    }
    hold("check-classes.md", first, &rows);
}

/// `promises.tsv` names a test for each promise and limit.
#[test]
fn every_promise_and_limit_has_a_test() {
    let rows = lines(include_str!("promises.tsv"));
    for row in &rows {
        let [_, file, name] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row:?} has not 3 fields");
        };
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let source = std::fs::read_to_string(path).unwrap();
        assert!(
            source.contains(&format!("fn {name}(")),
            "{file} has no test {name}"
        );
    }
    assert!(rows.len() > 40, "promises.tsv has {} rows", rows.len());
}

#[test]
fn every_limit_names_its_warning() {
    let text = include_str!("../../docs/security.md");
    for row in table(text, "## Limits") {
        for code in row.split('|').nth(3).unwrap().split('`').skip(1).step_by(2) {
            let is_known = Code::ALL.iter().any(|known| known.name() == code)
                || Reason::ALL.iter().any(|known| known.name() == code);
            assert!(
                is_known || code == "From ",
                "{code} is neither a diagnostic nor a reason"
            );
        }
    }
}

/// The third-party crates that a manifest names under `dependencies`.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    for table in manifest.split("\n[").skip(1) {
        let (title, lines) = table.split_once(']').unwrap();
        if title != "dependencies" && !title.ends_with("'.dependencies") {
            continue;
        }
        for line in lines
            .lines()
            .filter(|line| line.contains('=') && !line.starts_with('#'))
        {
            let name = line.split([' ', '.', '=']).next().unwrap();
            if !name.starts_with("baselink") {
                names.push(name.to_owned());
            }
        }
    }
    names
}

#[test]
fn every_dependency_has_a_reason_and_its_crates() {
    let text = include_str!("../../docs/architecture.md");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut expected: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (krate, manifest) in [
        ("text", "crates/text/Cargo.toml"),
        ("url", "crates/url/Cargo.toml"),
        ("scan", "crates/scan/Cargo.toml"),
        ("rewrite", "crates/rewrite/Cargo.toml"),
        ("verify", "crates/verify/Cargo.toml"),
        ("files", "crates/files/Cargo.toml"),
        ("site", "crates/site/Cargo.toml"),
        ("program", "Cargo.toml"),
    ] {
        let manifest = std::fs::read_to_string(root.join(manifest)).unwrap();
        for name in dependencies(&manifest) {
            expected.entry(name).or_default().insert(krate.to_owned());
        }
    }
    let mut documented = BTreeMap::new();
    for line in table(text, "## Dependencies") {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert!(cells.len() == 3 && !cells[1].is_empty(), "{line}");
        let crates = cells[2].split(", ").map(str::to_owned).collect();
        documented.insert(cells[0].trim_matches('`').to_owned(), crates);
    }
    assert_eq!(documented, expected);
}

/// The anchor that GitHub generates for a heading.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter(kept)
        .collect::<String>()
        .replace(' ', "-")
}

#[test]
fn every_link_of_the_documentation_leads_to_a_file_and_a_heading() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let prose = |path: &std::path::Path| {
        let text = std::fs::read_to_string(path).unwrap();
        text.split("```").step_by(2).collect::<String>()
    };
    let mut pages: Vec<_> = ["README.md", "CONTRIBUTING.md"]
        .map(|name| root.join(name))
        .into();
    pages.extend(
        std::fs::read_dir(root.join("docs"))
            .unwrap()
            .map(|entry| entry.unwrap().path()),
    );
    pages.retain(|path| path.extension().is_some_and(|name| name == "md"));
    let (mut count, mut wrong) = (0, Vec::new());
    for page in &pages {
        let text = prose(page);
        let links = text
            .split("](")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once(')')?.0));
        for link in links.filter(|link| !link.contains("://")) {
            count += 1;
            let (name, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = if name.is_empty() {
                page.clone()
            } else {
                page.with_file_name(name)
            };
            let has_heading = || {
                let text = prose(&target);
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                headings.any(|line| anchor(line.trim_start_matches('#')) == fragment)
            };
            if !target.exists() || !fragment.is_empty() && !has_heading() {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "links that lead nowhere:\n{}",
        wrong.join("\n")
    );
    assert!(count > 100, "only {count} links were found");
}
