//! The fixtures have the shape that `fixtures/README.md` describes, and leave no row of the table of
//! attributes, and of `fixtures/rows.tsv`, without a case.
//!
//! Deliberately absent: running them, which is the runner's part.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use baselink::scan::attributes::TABLE;

/// Folders of cases, with the extension of their documents and how many cases there are at least.
const FOLDERS: [(&str, &str, usize); 4] =
    [("html", "html", 100), ("xhtml", "xhtml", 15), ("svg", "svg", 10), ("feed", "xml", 15)];
const OUTCOMES: [&str; 5] = ["rewritten", "absolute", "no-base", "left", "not-editable"];

fn cases_in(folder: &str) -> Vec<PathBuf> {
    let folder = format!("{}/fixtures/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut cases: Vec<_> = fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|entry| entry.expect("the folder can be listed").path())
        .collect();
    cases.sort();
    cases
}

fn cases() -> Vec<PathBuf> {
    FOLDERS.iter().flat_map(|(folder, ..)| cases_in(folder)).collect()
}

/// The extension of the document of `case`.
fn extension(case: &Path) -> &'static str {
    let folder = case.parent().unwrap().file_name().unwrap();
    FOLDERS.iter().find(|(name, ..)| folder == *name).unwrap().1
}

/// The lines of `file` of `case`, split at tabs.
fn fields(case: &PathBuf, file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(case.join(file)).expect("an expectation is UTF-8");
    assert!(text.is_empty() || text.ends_with('\n'), "{case:?}: {file} ends within a line");
    text.lines().map(|line| line.split('\t').map(str::to_string).collect()).collect()
}

#[test]
fn every_case_has_all_its_files() {
    for (folder, _, least) in FOLDERS {
        assert!(cases_in(folder).len() >= least, "too few cases in {folder}");
    }
    for case in cases() {
        let mut found: Vec<_> = fs::read_dir(&case)
            .expect("a case is a folder")
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let extension = extension(&case);
        let mut expected: Vec<_> = ["about", "arguments", "expected.links", "expected.base"]
            .map(str::to_string)
            .into_iter()
            .chain(["input", "expected"].map(|name| format!("{name}.{extension}")))
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{case:?} lacks an expectation, or has a file too many");
        let about = fs::read_to_string(case.join("about")).unwrap();
        assert!(about.trim_end().ends_with('.'), "{case:?}: about is a sentence");
    }
}

#[test]
fn the_columns_of_every_expectation_add_up() {
    for case in cases() {
        let documents = fields(&case, "expected.base");
        assert_eq!(documents[0][0], "", "{case:?}: the outer document comes first");
        for document in &documents {
            let [_, rule, source, base] = document.as_slice() else {
                panic!("{case:?}: expected.base has lines of 4 fields, not {document:?}");
            };
            assert!(["3.1", "3.2", "3.3", "3.4"].contains(&rule.as_str()), "{case:?}: {rule}");
            assert_eq!(rule == "3.4", base == "-", "{case:?}: {document:?}");
            assert_eq!(rule == "3.4", source == "default", "{case:?}: {document:?}");
        }
        for link in fields(&case, "expected.links") {
            let [entity, element, _, _, outcome, reason, target] = link.as_slice() else {
                panic!("{case:?}: expected.links has lines of 7 fields, not {link:?}");
            };
            assert!(!element.is_empty(), "{case:?}: {link:?}");
            assert!(documents.iter().any(|document| document[0] == *entity), "{case:?}: {link:?}");
            assert!(OUTCOMES.contains(&outcome.as_str()), "{case:?}: {link:?}");
            let reasoned = ["left", "not-editable"].contains(&outcome.as_str());
            assert_eq!(reasoned, reason != "-", "{case:?}: {link:?}");
            let targeted = ["rewritten", "absolute", "not-editable"].contains(&outcome.as_str());
            assert_eq!(targeted, target != "-", "{case:?}: {link:?}");
        }
    }
}

#[test]
fn bytes_change_where_a_link_is_rewritten() {
    for case in cases() {
        let rewritten = fields(&case, "expected.links").iter().any(|link| link[4] == "rewritten");
        let arguments = fs::read_to_string(case.join("arguments")).unwrap();
        let read = |name: &str| fs::read(case.join(name).with_extension(extension(&case))).unwrap();
        let same = read("input") == read("expected");
        let inserted = arguments.contains("insert") || arguments.contains("remove");
        assert!(same != rewritten || inserted, "{case:?}: input and output contradict the links");
    }
}

#[test]
fn every_row_of_the_table_has_a_case() {
    let cases = cases_in("html");
    let links: Vec<_> = cases.iter().flat_map(|case| fields(case, "expected.links")).collect();
    let embedded: Vec<_> = cases.iter().flat_map(|case| fields(case, "expected.base")).collect();
    for row in TABLE {
        let listed = links
            .iter()
            .any(|link| row.elements.contain(&link[1]) && row.attribute == link[2].as_str());
        let document = row.attribute == "srcdoc" && embedded.iter().any(|line| line[0] == "1");
        assert!(listed || document, "no fixture has a link for {row:?}");
    }
}

/// `fixtures/rows.tsv`: every place of SVG, MathML, other XML and RDFa that is rewritten unasked has a
/// case in which it is, and every one that never is has a case in which it stays.
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
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(case);
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
                assert!(found, "{row}: {place} is not rewritten in {}", case.display());
            }
            "never" => {
                let (text, reference) = place.split_once('\\').unwrap();
                for name in ["input", "expected"] {
                    let path = case.join(name).with_extension(extension(&case));
                    let document = fs::read_to_string(path).unwrap();
                    assert!(document.contains(text), "{row}: {text} is not in {}", case.display());
                }
                let listed = |link: &&Vec<String>| link[3] == reference && link[4] != "left";
                let link = links.iter().find(listed);
                assert!(link.is_none(), "{row}: {link:?} in {}", case.display());
            }
            _ => panic!("{row} is neither on nor never"),
        }
    }
    // So many rows there are in each section of the specification, a row with two defaults twice.
    assert_eq!(counts, [23, 10, 25, 3]);
}
