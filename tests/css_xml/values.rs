//! The value scanners: the URLs in the rows of `fixtures/facts/srcset.tsv` and `refresh.tsv`, and their laws.
//!
//! Deliberately absent: attributes, and rewriting their values.

use baselink_scan::attributes::Groups;
use baselink_scan::css;
use baselink_scan::json::{self, JsonKind};
use baselink_scan::value;
use baselink_text::layer::spelling::Form;
use baselink_text::layer::{View, escape};
use baselink_text::span::Span;
use proptest::prelude::*;
use serde_json::Value;

use crate::facts;

#[test]
fn the_urls_of_every_srcset_are_found() {
    let rows = facts::rows("facts/srcset.tsv");
    assert!(rows.len() > 80, "{} rows", rows.len());
    for row in rows {
        let (text, expected) = facts::marked(&row[0]);
        assert_eq!(value::srcset(&text), expected, "{row:?}");
    }
}

#[test]
fn the_url_of_every_refresh_is_found() {
    let rows = facts::rows("facts/refresh.tsv");
    assert!(rows.len() > 60, "{} rows", rows.len());
    for row in rows {
        let (text, expected) = facts::marked(&row[0]);
        let found = value::refresh(&text).map(|found| found.span);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{row:?}");
    }
}

/// Checks that the spans are in order, disjoint, and on character boundaries.
fn assert_spans(text: &str, spans: &[Span]) {
    let mut end = 0;
    for span in spans {
        assert!(end <= span.start, "{text:?}: {spans:?}");
        assert!(text.get(span.range()).is_some(), "{text:?}: {span:?}");
        end = span.end;
    }
}

/// JSON with keys and strings that matter to the scanner.
fn json_values() -> impl Strategy<Value = Value> {
    let string = || {
        prop::sample::select(vec![
            "imports",
            "scopes",
            "integrity",
            "prefetch",
            "urls",
            "@id",
            "@context",
            "@base",
            "url",
            "image",
            "@graph",
            "/a",
            "./b\"",
            "c",
            "http://d/",
            "_:e",
            "\u{e9}\\",
            "",
        ])
    };
    let leaf = prop_oneof![
        string().prop_map(Value::from),
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(string().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// The URLs of speculation rules, taken from the parsed value.
fn speculated(rules: &Value) -> Vec<String> {
    let list = |value: &Value, key| value.get(key).and_then(Value::as_array).cloned();
    list(rules, "prefetch")
        .unwrap_or_default()
        .iter()
        .filter_map(|rule| list(rule, "urls"))
        .flatten()
        .filter_map(|url| url.as_str().map(str::to_owned))
        .collect()
}

proptest! {
    #[test]
    fn json_urls_are_in_order_and_bases_lead_outwards(value in json_values(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        for kind in [JsonKind::ImportMap, JsonKind::SpeculationRules, JsonKind::JsonLd] {
            let found = json::urls(kind, &text);
            assert_spans(&text, &found.urls.iter().map(|url| url.span).collect::<Vec<_>>());
            let whole = |span: Span| text.get(span.start - 1..span.end + 1).map(serde_json::from_str::<String>);
            prop_assert!(found.urls.iter().all(|url| matches!(whole(url.span), Some(Ok(_)))));
            prop_assert!(found.urls.iter().all(|url| url.base.is_none_or(|base| base < found.bases.len())));
            for (index, base) in found.bases.iter().enumerate() {
                prop_assert!(base.outer.is_none_or(|outer| outer < index));
                prop_assert!(base.span.is_none_or(|span| matches!(whole(span), Some(Ok(_)))));
            }
        }
    }

    #[test]
    fn speculated_urls_are_those_of_the_parsed_value(rules in json_values()) {
        let rules = serde_json::json!({ "prefetch": [{ "urls": [rules, "a"] }, rules, { "urls": rules }] });
        let text = rules.to_string();
        let found: Vec<_> = json::urls(JsonKind::SpeculationRules, &text)
            .urls
            .iter()
            .map(|url| escape::script(View::of_str(&text[url.span.range()], 0)).text)
            .collect();
        prop_assert_eq!(found, speculated(&rules));
    }

    #[test]
    fn any_text_can_be_scanned_as_json(text in "[\\[\\]{}:,\"\\\\n@ul\u{0}-\u{10ffff}]{0,20}") {
        for kind in [JsonKind::ImportMap, JsonKind::SpeculationRules, JsonKind::JsonLd] {
            let found = json::urls(kind, &text);
            assert_spans(&text, &found.urls.iter().map(|url| url.span).collect::<Vec<_>>());
        }
    }
}

fn decoded(css: &str, raw: Span) -> String {
    escape::css(View::of_str(&css[raw.range()], 0), false).text
}

/// A style sheet assembled from pieces that matter to the scanner.
fn css_pieces() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "url(",
        "u\\72l(",
        "src(",
        "image-set(",
        "type(",
        "@import ",
        "@namespace ",
        "@supports ",
        "target-counter(",
        "AlphaImageLoader(",
        "src=",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ":",
        ",",
        "'",
        "\"",
        "a",
        "é",
        " ",
        "\n",
        "\r\n",
        "\\",
        "\\41 ",
        "\\)",
        "\0",
        "/*",
        "*/",
        "<!--",
        "-->",
        "#b",
        "var(",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn css_urls_are_tokens_of_cssparser(text in css_pieces()) {
        let found = css::urls(&text, Groups::all());
        assert_spans(&text, &found.iter().map(|url| url.span).collect::<Vec<_>>());
        for url in found {
            // The text is a token by itself, with the meaning that the scanner assigns.
            let raw = &text[url.span.range()];
            let (token, form) = match url.form {
                Form::CssString(quote) => (format!("url({quote}{raw}{quote})"), url.form),
                form => (format!("url({raw})"), form),
            };
            // A backslash at the end of the text escapes nothing, but it would escape the quote of the token.
            if !raw.ends_with('\\') || url.span.end < text.len() {
                let again = css::urls(&token, Groups::default());
                prop_assert_eq!(again.len(), 1, "{}", token);
                prop_assert_eq!(again[0].form, form);
                prop_assert_eq!(&token[again[0].span.range()], raw);
            }
        }
    }

    #[test]
    fn escaped_css_urls_are_found(text in any::<String>(), quote in prop::sample::select(vec!['"', '\''])) {
        let css = format!("a {{ b: url({quote}{}{quote}) }}", escape::css_string(&text, quote));
        let found = css::urls(&css, Groups::default());
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(decoded(&css, found[0].span), text.replace('\0', "\u{fffd}"));
    }

    #[test]
    fn any_text_can_be_scanned_as_css(text in any::<String>()) {
        let spans: Vec<_> = css::urls(&text, Groups::all()).iter().map(|url| url.span).collect();
        assert_spans(&text, &spans);
    }

    #[test]
    fn spans_of_values_are_in_order_and_disjoint(text in "[ ,();='\"\\t\\n01.urlé\u{0}-\u{10ffff}]{0,40}") {
        assert_spans(&text, &value::srcset(&text));
        assert_spans(&text, &value::space_separated(&text));
        assert_spans(&text, &value::separated(&text, b','));
        assert_spans(&text, &[value::trimmed(&text)]);
        assert_spans(&text, &value::refresh(&text).map(|found| found.span).into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn urls_in_srcset_can_be_spliced(text in "[ ,(a)é\\n]{0,40}") {
        // A URL has no white space, and no comma at either end.
        for span in value::srcset(&text) {
            let url = &text[span.range()];
            prop_assert!(!url.is_empty() && !url.starts_with(',') && !url.ends_with(','));
            prop_assert!(!url.contains([' ', '\n']));
        }
    }
}
