//! The URLs in style sheets and their encodings: `fixtures/facts/css-urls.tsv` and `css-encodings.tsv`. The laws
//! hold on every row, and on the inputs of the css-parsing-tests if those are present (`tests/common/outside.rs`).
//!
//! Deliberately absent: the results of rewriting, for which `fixtures/css` has a case for each place of a URL.

use baselink_rewrite::{Options, rewrite};
use baselink_scan::ScanOptions;
use baselink_scan::attributes::Groups;
use baselink_scan::document::Link;
use baselink_scan::{css, scan_as};
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use baselink_url::Resolver;
use baselink_verify::verify;
use serde_json::Value;

use crate::{facts, outside, referee};

/// The files whose inputs are text.
const FILES: [&str; 7] = [
    "component_value_list.json",
    "declaration_list.json",
    "one_component_value.json",
    "one_declaration.json",
    "one_rule.json",
    "rule_list.json",
    "stylesheet.json",
];

/// The pairs of input and expectation in one file; none if the suite is absent.
fn cases(file: &str) -> Vec<(Value, Value)> {
    let Some(root) = outside::CSS.find() else {
        return Vec::new();
    };
    let text = std::fs::read_to_string(root.join(file)).unwrap();
    let list: Vec<Value> = serde_json::from_str(&text).unwrap();
    let pairs = list.as_chunks::<2>().0;
    pairs
        .iter()
        .map(|[input, expected]| (input.clone(), expected.clone()))
        .collect()
}

/// The bytes of an input of `stylesheet_bytes.json`, one for each character.
fn bytes_of(input: &Value) -> Vec<u8> {
    let text = input["css_bytes"].as_str().unwrap();
    text.chars()
        .map(|character| u8::try_from(u32::from(character)).unwrap())
        .collect()
}

/// Checks that the URLs are those of the referee, that nothing changes without a base, and that with a base the
/// result is verified and final.
fn check(input: &[u8]) {
    let shown = String::from_utf8_lossy(input);
    let groups = Groups::all();
    assert_eq!(
        css::urls(&shown, groups),
        referee::urls(&shown, groups),
        "{shown:?}"
    );
    let mut options = Options {
        format: Format::Css,
        ..Options::default()
    };
    options.scan.groups = Groups::all();
    let untouched = rewrite(input, &options);
    assert_eq!(
        untouched.output(),
        input,
        "changed without a base: {shown:?}"
    );
    for resolver in Resolver::ALL {
        let mut options = Options {
            resolver,
            format: Format::Css,
            ..Options::at("http://a/b (c/\"d'\\?q<e#f")
        };
        options.scan.groups = Groups::all();
        let rewritten = rewrite(input, &options);
        assert_eq!(verify(&rewritten), Ok(()), "{resolver}: {shown:?}");
        let output = rewritten.output();
        let again = rewrite(&output, &options);
        assert!(
            again.edits.is_empty(),
            "{resolver}: twice: {shown:?} {:?}",
            again.edits
        );
    }
}

/// Checks a sheet alone, and inside other sheets.
fn check_everywhere(input: &str) {
    check(input.as_bytes());
    check(format!("@import 'x'; {input}").as_bytes());
    check(format!("a{{b:url(x) {input}").as_bytes());
    check(format!("a{{b:image-set({input}) url(x)").as_bytes());
}

#[test]
fn the_urls_of_every_row_are_found() {
    let rows = facts::rows("facts/css-urls.tsv");
    assert!(rows.len() > 90, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let (sheet, expected) = facts::marked(&row[0]);
        assert_eq!(expected.len(), row.len() - 1, "{row:?}");
        let links = scan_as(Format::Css, sheet.as_bytes(), &ScanOptions::default())
            .unwrap()
            .links;
        let found: Vec<_> = links
            .iter()
            .map(|link| (link.span(), &*link.reference))
            .collect();
        let expected: Vec<_> = expected
            .into_iter()
            .zip(row[1..].iter().map(|url| &**url))
            .collect();
        if found != expected {
            wrong.push(format!("{:?}: {found:?}", row[0]));
        }
        check_everywhere(&sheet);
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_encoding_of_every_row_is_found() {
    let rows = facts::rows_of_bytes("facts/css-encodings.tsv");
    assert!(rows.len() > 25, "{} rows", rows.len());
    for row in &rows {
        let [sheet, given, expected] = row.as_slice() else {
            panic!("{row:?} has not 3 fields")
        };
        let text = |field| std::str::from_utf8(field).unwrap();
        let given = if given == b"-" {
            None
        } else {
            Charset::for_label(text(given))
        };
        let found = Charset::detect_style_sheet(sheet, given).charset;
        assert!(
            found.name().eq_ignore_ascii_case(text(expected)),
            "{row:?}: {}",
            found.name()
        );
        check(sheet);
    }
}

#[test]
fn the_laws_hold_on_every_input() {
    for file in FILES {
        for (input, _) in cases(file) {
            check_everywhere(input.as_str().unwrap());
        }
    }
    for (input, _) in cases("stylesheet_bytes.json") {
        check(&bytes_of(&input));
    }
}

/// Adds the URLs of an expectation to `found`: url-tokens, and the first string in a function `url`.
fn urls(node: &Value, found: &mut Vec<String>) {
    let Some(list) = node.as_array() else { return };
    match list.as_slice() {
        [kind, Value::String(url)] if kind == "url" => found.push(url.clone()),
        [kind, name, arguments @ ..] if kind == "function" => {
            let first = arguments.iter().find(|argument| *argument != " ");
            let is_url = name.as_str().unwrap().eq_ignore_ascii_case("url");
            if let Some(string) = first.filter(|first| is_url && first[0] == "string") {
                found.push(string[1].as_str().unwrap().to_owned());
            }
            arguments.iter().for_each(|argument| urls(argument, found));
        }
        _ => list.iter().for_each(|item| urls(item, found)),
    }
}

#[test]
fn the_urls_are_those_of_the_expectation() {
    let mut count = 0;
    for file in FILES {
        for (input, result) in cases(file) {
            // If the whole input is an error, the suite has no expectation for its parts.
            if result.pointer("/0").is_some_and(|first| first == "error") {
                continue;
            }
            let input = input.as_str().unwrap();
            let mut expected = Vec::new();
            urls(&result, &mut expected);
            let document = scan_as(Format::Css, input.as_bytes(), &ScanOptions::default()).unwrap();
            let links = document
                .links
                .into_iter()
                .filter(|link| !is_imported(input, link));
            let found: Vec<_> = links.map(|link| link.reference).collect();
            assert_eq!(found, expected, "{file}: {input:?}");
            count += found.len();
        }
    }
    assert!(
        cases(FILES[0]).is_empty() || count >= 25,
        "only {count} URLs are in the suite"
    );
}

/// True if a link is the string of an `@import`, which the suite does not mark as a URL.
fn is_imported(sheet: &str, link: &Link) -> bool {
    let before = sheet[..link.span().start].trim_end_matches(['"', '\'']);
    before.trim_end().to_ascii_lowercase().ends_with("@import")
}

#[test]
fn the_encoding_is_that_of_the_expectation() {
    for (input, expected) in cases("stylesheet_bytes.json") {
        // A file alone does not determine the encoding of the document that refers to it.
        if input
            .get("environment_encoding")
            .is_some_and(|found| !found.is_null())
        {
            continue;
        }
        let given = input.get("protocol_encoding").and_then(Value::as_str);
        let given = given.and_then(Charset::for_label);
        let found = Charset::detect_style_sheet(&bytes_of(&input), given).charset;
        let expected = expected[1].as_str().unwrap();
        assert!(
            found.name().eq_ignore_ascii_case(expected),
            "{input}: {} found",
            found.name()
        );
    }
}
