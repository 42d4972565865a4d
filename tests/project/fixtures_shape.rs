//! The fixtures have the files that `fixtures/README.md` describes, and every row of the tables in `docs/links.md`
//! has a case.
//!
//! Deliberately absent: running the cases.

use std::fs;
use std::path::{Path, PathBuf};

use baselink_scan::attributes::TABLE;

/// Folders of cases, the extension of their documents, and the least number of cases.
const FOLDERS: [(&str, &str, usize); 8] = [
    ("html", "html", 100),
    ("css", "css", 60),
    ("xhtml", "xhtml", 15),
    ("svg", "svg", 10),
    ("feed", "xml", 15),
    ("manifest", "webmanifest", 3),
    ("jsonfeed", "json", 1),
    ("script", "js", 5),
];
const FILES: [&str; 6] = [
    "about",
    "arguments",
    "input.*",
    "expected.*",
    "expected.links",
    "expected.base",
];
const OUTCOMES: [&str; 5] = ["rewritten", "absolute", "no-base", "left", "not-editable"];

/// The cases of `folder`.
fn cases_of(folder: &str) -> Vec<PathBuf> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures"));
    let entries = fs::read_dir(root.join(folder)).expect("a folder of fixtures can be read");
    let mut cases: Vec<_> = entries
        .map(|entry| entry.expect("a folder of fixtures can be listed").path())
        .collect();
    cases.sort();
    let minimum = FOLDERS
        .iter()
        .find(|(name, ..)| *name == folder)
        .map_or(0, |folder| folder.2);
    assert!(
        cases.len() >= minimum,
        "only {} cases in {folder}",
        cases.len()
    );
    cases
}

/// The cases of all folders, each with the extension of its documents.
fn cases() -> impl Iterator<Item = (PathBuf, &'static str)> {
    FOLDERS.into_iter().flat_map(|(folder, extension, _)| {
        cases_of(folder)
            .into_iter()
            .map(move |case| (case, extension))
    })
}

/// The lines of the file `file` of a case, split at tabs.
fn fields(case: &PathBuf, file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(case.join(file)).expect("an expectation is UTF-8");
    assert!(
        text.is_empty() || text.ends_with('\n'),
        "{case:?}: {file} ends within a line"
    );
    text.lines()
        .map(|line| line.split('\t').map(str::to_string).collect())
        .collect()
}

#[test]
fn every_case_has_all_its_files() {
    for (case, extension) in cases() {
        let mut found: Vec<_> = fs::read_dir(&case)
            .expect("a case is a folder")
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let mut expected = FILES.map(|name| name.replace('*', extension)).to_vec();
        found.sort();
        expected.sort();
        assert_eq!(
            found, expected,
            "{case:?} lacks an expectation, or has a file too many"
        );
        let about = fs::read_to_string(case.join("about")).unwrap();
        assert!(
            about.trim_end().ends_with('.'),
            "{case:?}: about is a sentence"
        );
    }
}

#[test]
fn the_columns_of_every_expectation_add_up() {
    for (case, _) in cases() {
        let documents = fields(&case, "expected.base");
        assert_eq!(
            documents[0][0], "",
            "{case:?}: the outer document comes first"
        );
        for document in &documents {
            let [_, rule, source, base] = document.as_slice() else {
                panic!("{case:?}: expected.base has lines of 4 fields, not {document:?}");
            };
            assert!(
                ["3.1", "3.2", "3.3", "3.4"].contains(&rule.as_str()),
                "{case:?}: {rule}"
            );
            assert_eq!(rule == "3.4", base == "-", "{case:?}: {document:?}");
            let is_default = matches!(source.as_str(), "default" | "assumed-scheme");
            assert_eq!(rule == "3.4", is_default, "{case:?}: {document:?}");
        }
        for link in fields(&case, "expected.links") {
            let [entity, element, _, _, outcome, reason, target] = link.as_slice() else {
                panic!("{case:?}: expected.links has lines of 7 fields, not {link:?}");
            };
            assert!(!element.is_empty(), "{case:?}: {link:?}");
            assert!(
                documents.iter().any(|document| document[0] == *entity),
                "{case:?}: {link:?}"
            );
            assert!(OUTCOMES.contains(&outcome.as_str()), "{case:?}: {link:?}");
            let needs_reason = ["left", "not-editable"].contains(&outcome.as_str());
            assert_eq!(needs_reason, reason != "-", "{case:?}: {link:?}");
            let needs_target =
                ["rewritten", "absolute", "not-editable"].contains(&outcome.as_str());
            assert_eq!(needs_target, target != "-", "{case:?}: {link:?}");
        }
    }
}

#[test]
fn bytes_change_where_a_link_is_rewritten() {
    for (case, extension) in cases() {
        let rewritten = fields(&case, "expected.links")
            .iter()
            .any(|link| link[4] == "rewritten");
        let arguments = fs::read_to_string(case.join("arguments")).unwrap();
        let read = |name: &str| fs::read(case.join(format!("{name}.{extension}"))).unwrap();
        let is_same = read("input") == read("expected");
        let may_insert = arguments.contains("insert") || arguments.contains("remove");
        assert!(
            is_same != rewritten || may_insert,
            "{case:?}: input and output contradict the links"
        );
    }
}

#[test]
fn every_row_of_the_table_has_a_case() {
    let cases = cases_of("html");
    let links: Vec<_> = cases
        .iter()
        .flat_map(|case| fields(case, "expected.links"))
        .collect();
    let embedded: Vec<_> = cases
        .iter()
        .flat_map(|case| fields(case, "expected.base"))
        .collect();
    for row in TABLE {
        let is_listed = links
            .iter()
            .any(|link| row.elements.contain(&link[1]) && row.attribute == link[2].as_str());
        let is_srcdoc = row.attribute == "srcdoc" && embedded.iter().any(|line| line[0] == "1");
        assert!(is_listed || is_srcdoc, "no fixture has a link for {row:?}");
    }
}

/// Each line of `fixtures/rows.tsv` describes a place of SVG, MathML, other XML or RDFa, and names a case. In that
/// case, a place with the default `on` is rewritten, and a place with the default `never` is not.
#[test]
fn every_row_of_xml_has_a_case() {
    let text =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/rows.tsv")).unwrap();
    let mut counts = [0; 4];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [section, row, default, case, place] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line:?} has not 5 fields");
        };
        counts[section.parse::<usize>().unwrap() - 4] += 1;
        let folder = case.split('/').next().unwrap();
        let case = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures")
            .join(case);
        let links = fields(&case, "expected.links");
        match default {
            "on" => {
                let (element, rest) = place.split_once('@').unwrap();
                let (attribute, reference) = rest.split_once(' ').unwrap();
                let found = links.iter().any(|link| {
                    link[1] == element
                        && link[2] == attribute
                        && link[3] == reference
                        && link[4] == "rewritten"
                });
                assert!(
                    found,
                    "{row}: {place} is not rewritten in {}",
                    case.display()
                );
            }
            "never" => {
                let (text, reference) = place.split_once('\\').unwrap();
                for name in ["input", "expected"] {
                    let extension = FOLDERS.iter().find(|(name, ..)| folder == *name).unwrap().1;
                    let path = case.join(name).with_extension(extension);
                    let document = fs::read_to_string(path).unwrap();
                    assert!(
                        document.contains(text),
                        "{row}: {text} is not in {}",
                        case.display()
                    );
                }
                let listed = |link: &&Vec<String>| link[3] == reference && link[4] != "left";
                let link = links.iter().find(listed);
                assert!(link.is_none(), "{row}: {link:?} in {}", case.display());
            }
            _ => panic!("{row} is neither on nor never"),
        }
    }
    // The number of rows for SVG, MathML, other XML and RDFa. A row with two defaults counts twice.
    assert_eq!(counts, [23, 10, 25, 3]);
}

/// Each line of `fixtures/css.rows` describes a place: its kind, its default, a case, and the text in the input and
/// output of that case.
#[test]
fn every_place_in_a_style_sheet_has_a_case() {
    let rows = include_str!("../../fixtures/css.rows");
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/css"));
    let mut defaults: Vec<&str> = Vec::new();
    for row in rows.lines() {
        let [place, default, case, before, after] = row
            .split('\t')
            .collect::<Vec<_>>()
            .try_into()
            .expect("a row has 5 fields");
        let read = |name: &str| fs::read_to_string(root.join(case).join(name)).unwrap();
        let (before, after) = (before.replace("\\n", "\n"), after.replace("\\n", "\n"));
        assert!(
            read("input.css").contains(&before),
            "{place}: {case} has no {before}"
        );
        assert!(
            read("expected.css").contains(&after),
            "{place}: {case} does not give {after}"
        );
        assert_eq!(before == after, default == "never", "{place}");
        if !["on", "never"].contains(&default) {
            let enabled = format!("--enable\n{default}\n");
            assert!(
                read("arguments").contains(&enabled),
                "{place}: {case} does not enable it"
            );
        }
        defaults.push(default);
    }
    let count = |default: &str| defaults.iter().filter(|value| **value == default).count();
    assert_eq!([count("on"), count("never"), count("rare")], [22, 22, 2]);
}

/// Each line of `fixtures/places.rows` repeats the first cells of a row of `docs/links.md`. Then it names a case and
/// a link in it: entity, element, attribute, reference. A row of several elements or places has as many lines.
#[test]
fn every_other_place_has_a_case() {
    let docs = include_str!("../../docs/links.md");
    let lines: Vec<Vec<_>> = include_str!("../../fixtures/places.rows")
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    let mut with_case = 0;
    for (heading, key) in [
        ("## Places that are not attributes", 0..1),
        ("## XML", 0..3),
        ("## Web app manifests", 0..1),
        ("## JSON Feeds", 0..1),
        ("## Scripts", 0..1),
        ("## Header fields and plain text", 0..1),
    ] {
        let table = docs.lines().skip_while(|line| *line != heading);
        let table = table.skip_while(|line| !line.starts_with('|'));
        let rows = table.take_while(|line| line.starts_with('|'));
        let rows = rows.filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
        let rows: Vec<Vec<_>> = rows.map(|row| row.split(" | ").collect()).collect();
        let default = rows[0].iter().position(|cell| *cell == "default").unwrap();
        for row in &rows[1..] {
            let place = row[key.clone()].join(" | ");
            let of_place: Vec<_> = lines.iter().filter(|line| line[0] == place).collect();
            let names = row[key.len() / 2].split(", ");
            let names = names
                .filter(|name| name.starts_with('`') && name.ends_with('`'))
                .count();
            assert!(
                of_place.len() >= names.max(1),
                "{place}: {} lines",
                of_place.len()
            );
            for line in &of_place {
                let case = Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("fixtures")
                    .join(line[1]);
                let expected = [&line[2..], &["rewritten"]].concat();
                let links = fields(&case, "expected.links");
                assert!(
                    links.iter().any(|link| link[..5] == expected),
                    "{line:?} is not rewritten"
                );
                let group = row[default].trim_matches('`');
                let arguments = fs::read_to_string(case.join("arguments")).unwrap();
                assert!(
                    group == "on" || arguments.contains(group),
                    "{line:?}: without {group}"
                );
            }
            with_case += of_place.len();
        }
    }
    assert_eq!(
        with_case,
        lines.len(),
        "a line of places.rows is of no place"
    );
}
