//! The fixtures have the files that `fixtures/README.md` describes, and every row of the tables in `docs/links.md`,
//! `vocabulary.tsv` and `docs/json.tsv` has a case.
//!
//! Deliberately absent: running the cases.

use std::collections::HashSet;
use std::fs;

use baselink_scan::attributes::TABLE;

use crate::case_file::Case;

/// Folders of cases, and the extension of their documents.
const FOLDERS: [(&str, &str); 10] = [
    ("html", "html"),
    ("css", "css"),
    ("xhtml", "xhtml"),
    ("svg", "svg"),
    ("feed", "xml"),
    ("manifest", "webmanifest"),
    ("jsonfeed", "json"),
    ("script", "js"),
    ("message", "eml"),
    ("http", "http"),
];
const OUTCOMES: [&str; 5] = ["rewritten", "absolute", "no-base", "left", "not-editable"];
/// Sources of bases and reasons of outcomes that cases must have.
const NAMED: [&str; 17] = [
    "xml-base",
    "base-element",
    "saved-base",
    "base-header",
    "content-base",
    "content-location",
    "snapshot-content-location",
    "encapsulating",
    "retrieval",
    "default",
    "assumed-scheme",
    "signed",
    "dkim",
    "sibling-part",
    "transfer",
    "base-unusable",
    "id-reference",
];

/// The cases of all folders.
fn cases() -> impl Iterator<Item = Case> {
    FOLDERS
        .into_iter()
        .flat_map(|(folder, _)| Case::all(folder, 1))
}

fn is_message(case: &Case) -> bool {
    case.name.starts_with("message/") || case.name.starts_with("http/")
}

#[test]
fn every_case_has_all_its_sections() {
    for case in cases() {
        let folder = case.name.split('/').next().unwrap();
        let (_, extension) = FOLDERS
            .into_iter()
            .find(|(name, _)| *name == folder)
            .unwrap();
        let found: Vec<_> = case.sections.iter().map(|(name, _)| &**name).collect();
        let (input, expected) = (
            format!("input.{extension}"),
            format!("expected.{extension}"),
        );
        let mut all = vec![&*input, &expected, "expected.links", "expected.base"];
        let name = &case.name;
        if is_message(&case) {
            if case.has("only-as-stored") {
                all.insert(0, "only-as-stored");
            } else {
                let crlf = case.bytes("input.*").windows(2).any(|pair| pair == b"\r\n");
                assert!(!crlf, "{name} has a CRLF, and so no form with CRLF");
            }
        }
        assert_eq!(
            found, all,
            "{name} lacks an expectation, or has one too many"
        );
        assert!(
            case.about.ends_with('.'),
            "{name}: the comment is a sentence"
        );
    }
}

#[test]
fn the_columns_of_every_expectation_add_up() {
    let mut named = HashSet::new();
    for case in cases() {
        let (name, entities) = (&case.name, case.fields("expected.base"));
        assert_eq!(
            entities[0][0], "",
            "{name}: the outermost entity comes first"
        );
        let mut seen = HashSet::new();
        for entity in &entities {
            let [number, media_type @ .., rule, source, base] = entity.as_slice() else {
                panic!("{name}: {entity:?}");
            };
            match media_type {
                [media_type] => assert!(is_message(&case) && media_type.contains('/'), "{name}"),
                _ => assert!(media_type.is_empty() && !is_message(&case), "{name}"),
            }
            let outer = number.rsplit_once('.').map_or("", |(outer, _)| outer);
            assert!(
                number.is_empty() || !is_message(&case) || seen.contains(outer),
                "{name}: {entity:?}"
            );
            assert!(
                seen.insert(number.clone()),
                "{name}: {number} is there twice"
            );
            let expected = match source.as_str() {
                "encapsulating" => "3.2",
                "retrieval" => "3.3",
                "default" | "assumed-scheme" => "3.4",
                _ => "3.1",
            };
            assert_eq!(rule, expected, "{name}: {entity:?}");
            assert_eq!(rule == "3.4", base == "-", "{name}: {entity:?}");
            named.insert(source.clone());
        }
        for link in case.fields("expected.links") {
            let [entity, element, _, _, outcome, reason, target] = link.as_slice() else {
                panic!("{name}: expected.links has lines of 7 fields, not {link:?}");
            };
            assert!(!element.is_empty(), "{name}: {link:?}");
            assert!(seen.contains(entity), "{name}: {link:?}");
            assert!(OUTCOMES.contains(&outcome.as_str()), "{name}: {link:?}");
            let has_reason = ["left", "not-editable"].contains(&outcome.as_str());
            assert_eq!(has_reason, reason != "-", "{name}: {link:?}");
            let has_target = ["rewritten", "absolute", "not-editable"].contains(&outcome.as_str());
            assert_eq!(has_target, target != "-", "{name}: {link:?}");
            named.extend([outcome.clone(), reason.clone()]);
        }
    }
    for name in NAMED.iter().chain(&OUTCOMES) {
        assert!(named.contains(*name), "no case has {name}");
    }
}

#[test]
fn bytes_change_where_a_link_is_rewritten() {
    for case in cases() {
        let links = case.fields("expected.links");
        let rewritten = links.iter().any(|link| link[4] == "rewritten");
        let is_same = case.bytes("input.*") == case.bytes("expected.*");
        let may_insert = ["insert", "remove"].iter().any(|word| {
            case.arguments
                .iter()
                .any(|argument| argument.contains(word))
        });
        assert!(
            is_same != rewritten || may_insert,
            "{}: input and output contradict the links",
            case.name
        );
    }
}

#[test]
fn every_row_of_the_table_has_a_case() {
    let cases = Case::all("html", 100);
    let all = |section: &str| -> Vec<_> {
        let cases = cases.iter();
        cases.flat_map(|case| case.fields(section)).collect()
    };
    let (links, embedded) = (all("expected.links"), all("expected.base"));
    for row in TABLE.iter() {
        let is_listed = links
            .iter()
            .any(|link| row.covers(&link[1]) && row.attribute == link[2].as_str());
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
        let case = Case::named(case);
        let links = case.fields("expected.links");
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
                assert!(found, "{row}: {place} is not rewritten in {}", case.name);
            }
            "never" => {
                let (text, reference) = place.split_once('\\').unwrap();
                for section in ["input.*", "expected.*"] {
                    let document = String::from_utf8_lossy(case.bytes(section));
                    assert!(
                        document.contains(text),
                        "{row}: {text} is not in {}",
                        case.name
                    );
                }
                let listed = |link: &&Vec<String>| link[3] == reference && link[4] != "left";
                let link = links.iter().find(listed);
                assert!(link.is_none(), "{row}: {link:?} in {}", case.name);
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
    let mut defaults: Vec<&str> = Vec::new();
    for row in rows.lines() {
        let [place, default, case, before, after] = row
            .split('\t')
            .collect::<Vec<_>>()
            .try_into()
            .expect("a row has 5 fields");
        let (before, after) = (before.replace("\\n", "\n"), after.replace("\\n", "\n"));
        let found = Case::named(&format!("css/{case}"));
        let has = |section: &str, text: &str| {
            String::from_utf8_lossy(found.bytes(section)).contains(text)
        };
        assert!(has("input.css", &before), "{place}: {case} has no {before}");
        assert!(
            has("expected.css", &after),
            "{place}: {case} does not give {after}"
        );
        assert_eq!(before == after, default == "never", "{place}");
        if !["on", "never"].contains(&default) {
            let enabled = ["--enable", default];
            let mut pairs = found.arguments.windows(2);
            assert!(
                pairs.any(|pair| pair == enabled),
                "{place}: {case} does not enable it"
            );
        }
        defaults.push(default);
    }
    let count = |default: &str| defaults.iter().filter(|value| **value == default).count();
    assert_eq!([count("on"), count("never"), count("rare")], [22, 22, 2]);
}

/// Each line of `fixtures/places.rows` repeats the first cells of a row of a table in `docs/`. Then it names a case and
/// a link in it: entity, element, attribute, reference. A row of several elements or places has as many lines.
#[test]
fn every_other_place_has_a_case() {
    let lines: Vec<Vec<_>> = include_str!("../../fixtures/places.rows")
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    let mut places = Vec::new();
    for heading in [
        "## Places that are not attributes",
        "## Scripts",
        "## Header fields and plain text",
    ] {
        places.extend(documented(heading));
    }
    for line in include_str!("../../crates/scan/src/xml/vocabulary.tsv")
        .lines()
        .skip(1)
    {
        let cells: Vec<_> = line.split('\t').collect();
        let mut place = cells[..4].to_vec();
        place.retain(|cell| !cell.is_empty());
        places.push((place.join(" | "), cells[1].split(' ').count(), cells[7]));
    }
    for line in include_str!("../../docs/json.tsv").lines().skip(1) {
        let cells: Vec<_> = line.split('\t').collect();
        places.push((cells[..2].join(" | "), 1, cells[3]));
    }
    let mut with_case = 0;
    for (place, number, default) in places {
        let of_place: Vec<_> = lines.iter().filter(|line| line[0] == place).collect();
        assert!(
            of_place.len() >= number,
            "{place}: {} lines",
            of_place.len()
        );
        for line in &of_place {
            let case = Case::named(line[1]);
            // A row may end with another outcome.
            let outcome: &[&str] = if line.len() > 6 { &[] } else { &["rewritten"] };
            let expected = [&line[2..], outcome].concat();
            let links = case.fields("expected.links");
            assert!(
                links.iter().any(|link| link[..5] == expected),
                "{line:?} has another outcome"
            );
            let mut arguments = case.arguments.iter();
            let is_enabled =
                default == "on" || arguments.any(|argument| argument.contains(default));
            assert!(is_enabled, "{line:?}: without {default}");
        }
        with_case += of_place.len();
    }
    assert_eq!(
        with_case,
        lines.len(),
        "a line of places.rows is of no place"
    );
}

/// The places in the table under `heading` in `docs/links.md`, each with the number of its names and its default.
fn documented(heading: &str) -> Vec<(String, usize, &'static str)> {
    let page = include_str!("../../docs/links.md");
    let table = page.lines().skip_while(|line| *line != heading);
    let table = table.skip_while(|line| !line.starts_with('|'));
    let rows = table.take_while(|line| line.starts_with('|'));
    let rows = rows.filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows: Vec<Vec<_>> = rows.map(|row| row.split(" | ").collect()).collect();
    let default = rows[0].iter().position(|cell| *cell == "default").unwrap();
    let places = rows[1..].iter().map(|row| {
        let names = row[0].split(", ");
        let names = names
            .filter(|name| name.starts_with('`') && name.ends_with('`'))
            .count();
        (
            row[0].to_owned(),
            names.max(1),
            row[default].trim_matches('`'),
        )
    });
    places.collect()
}
