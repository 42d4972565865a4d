//! The value scanners held to the shared conformance data and to their laws.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use baselink::scan::value;
use baselink::span::Span;
use proptest::prelude::*;
use serde_json::Value;

/// The text of a file of the shared suites, which stand beside the checkout.
fn suite(name: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/suites").join(name);
    let text = std::fs::read_to_string(path).ok();
    if text.is_none() {
        eprintln!("skipped: the suite {name} is not here");
    }
    text
}

fn rows(name: &str) -> Vec<Value> {
    suite(name).map_or_else(Vec::new, |text| serde_json::from_str(&text).unwrap())
}

/// Each span with the text there.
fn found(value: &str, spans: &[Span]) -> Vec<(usize, usize, String)> {
    spans.iter().map(|span| (span.start, span.end, value[span.range()].to_owned())).collect()
}

/// The rows count characters, the crate counts bytes.
fn bytes(text: &str, characters: &Value) -> usize {
    let characters = usize::try_from(characters.as_u64().unwrap()).unwrap();
    text.chars().take(characters).map(char::len_utf8).sum()
}

#[test]
fn srcset_rows_of_web_platform_tests() {
    for row in rows("wpt-srcset/cases.json") {
        let srcset = row["srcset"].as_str().unwrap();
        let expected: Vec<_> = row["urls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|url| {
                let text = url["url"].as_str().unwrap().to_owned();
                (bytes(srcset, &url["start"]), bytes(srcset, &url["end"]), text)
            })
            .collect();
        assert_eq!(found(srcset, &value::srcset(srcset)), expected, "{srcset:?}");
    }
}

#[test]
fn refresh_rows_of_web_platform_tests() {
    for row in rows("wpt-meta-refresh/cases.json") {
        let content = row["content"].as_str().unwrap();
        let span = row["span"]
            .as_array()
            .map(|span| Span::new(bytes(content, &span[0]), bytes(content, &span[1])));
        assert_eq!(value::refresh(content).map(|found| found.span), span, "{content:?}");
    }
}

/// In order, disjoint, and cut between characters.
fn assert_spans(text: &str, spans: &[Span]) {
    let mut end = 0;
    for span in spans {
        assert!(end <= span.start, "{text:?}: {spans:?}");
        assert!(text.get(span.range()).is_some(), "{text:?}: {span:?}");
        end = span.end;
    }
}

proptest! {
    #[test]
    fn spans_of_values_are_in_order_and_disjoint(text in "[ ,();='\"\\t\\n01.urlé\u{0}-\u{10ffff}]{0,40}") {
        assert_spans(&text, &value::srcset(&text));
        assert_spans(&text, &value::space_separated(&text));
        assert_spans(&text, &value::comma_separated(&text));
        assert_spans(&text, &[value::trimmed(&text)]);
        assert_spans(&text, &value::refresh(&text).map(|found| found.span).into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn what_srcset_finds_can_be_spliced(text in "[ ,(a)é\\n]{0,40}") {
        // Policy L: no white space, no comma at either end.
        for span in value::srcset(&text) {
            let url = &text[span.range()];
            prop_assert!(!url.is_empty() && !url.starts_with(',') && !url.ends_with(','));
            prop_assert!(!url.contains([' ', '\n']));
        }
    }
}
