//! The laws as properties of documents assembled from traps.

use baselink::{BaseElement, Fragments, Outcome};
use baselink_rewrite::{Options, rewrite};
use baselink_scan::attributes::Groups;
use baselink_scan::html::references::character_references;
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use baselink_text::layer::spelling::lift;
use baselink_text::layer::{View, escape};
use baselink_text::span::Span;
use baselink_url::Resolver;
use baselink_verify::verify;
use proptest::prelude::*;

use crate::traps::TRAPS;

fn document() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(TRAPS), 0..24)
        .prop_map(|pieces| pieces.concat().into_bytes())
}

fn base() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "http://a/b/c/d;p?q#f",
        "http://a/x y/\"'<>`=/&amp;(,)",
        "http://é/表/?q=a&b,",
        "file:///C:/d/e",
        "http://a",
    ])
}

fn options(url: &str, resolver: Resolver) -> Options {
    let mut options = Options {
        resolver,
        ..Options::at(url)
    };
    options.scan.groups = Groups::all();
    options
}

fn check_laws(document: &[u8], options: &Options) -> Result<(), TestCaseError> {
    let rewritten = rewrite(document, options);
    let report = &rewritten.report;
    // A second run gives the same report.
    let second = rewrite(document, options).report;
    prop_assert_eq!(format!("{second:#?}"), format!("{report:#?}"));
    let counted: usize = Outcome::ALL
        .iter()
        .map(|&outcome| report.count(outcome))
        .sum();
    prop_assert_eq!(counted, report.links.len());
    prop_assert!(!report.entities[0].without_tree, "{:?}", report.diagnostics);
    for link in &report.links {
        prop_assert_eq!(
            link.reason.is_some(),
            matches!(link.outcome, Outcome::Left | Outcome::NotEditable)
        );
        prop_assert!(link.written.is_none() || link.outcome == Outcome::Rewritten);
    }
    prop_assert_eq!(verify(&rewritten), Ok(()));
    {
        let output = rewritten.output();
        let again = rewrite(&output, options);
        prop_assert!(
            again.edits.is_empty(),
            "{:?} in {}",
            again.edits,
            String::from_utf8_lossy(&output)
        );
    }
    Ok(())
}

/// Pieces in UTF-8 and in other encodings, in links and next to them.
const BYTES: &[&[u8]] = &[
    b"<p>\xc3\xa9</p>",
    b"\xc3",
    b"\xa9",
    b"\xe2\x82",
    b"\xf5",
    b"a",
    b"<a href=\"",
    b"\">",
    b"../",
    b"<a href=",
    b"\xf5/../x",
    b"/../",
    b">",
    b"<base href=\"",
    b"<iframe srcdoc=\"",
    b"<img src='",
    b"'>",
    b"<style>a{background:url(",
    b")}</style>",
    b"&eacute;",
    b"?q",
];

/// Pieces of references, and of text next to them.
const TEXT: &[&[u8]] = &[
    b"http:",
    b"../",
    b"x",
    b"\xff",
    b"\xc3",
    b"\xa9",
    b"\xc3\xa9",
    b"\xe2\x82",
    b"?q",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 1_500 } else { 20_000 }))]

    #[test]
    fn without_a_base_nothing_changes(document in document()) {
        let mut options = Options::default();
        options.scan.groups = Groups::all();
        let rewritten = rewrite(&document, &options);
        if rewritten.report.entities.iter().all(|entity| entity.chain.base.is_none()) {
            // `codebase` and `@base` are bases of some links only.
            let has_other_base = rewritten.report.links.iter().any(|link| link.base.is_some());
            prop_assert!(has_other_base || rewritten.output() == document);
        }
    }

    #[test]
    fn rewriting_is_exact_and_done_once(document in document(), url in base()) {
        for resolver in Resolver::ALL {
            check_laws(&document, &options(url, resolver))?;
        }
    }

    #[test]
    fn the_laws_hold_with_every_policy(document in document(), url in base()) {
        for fragments in [Fragments::Keep, Fragments::Auto] {
            check_laws(&document, &Options { fragments: Some(fragments), ..options(url, Resolver::Rfc1808) })?;
        }
        check_laws(&document, &Options { base_element: BaseElement::Keep, ..options(url, Resolver::Rfc1808) })?;
    }

    /// The document has the same links in UTF-16, and rewrites to the same text.
    #[test]
    fn links_do_not_depend_on_the_encoding(document in document(), url in base()) {
        let text = String::from_utf8(document).unwrap().replace("charset=", "x=");
        let utf_16 = Charset::for_label("utf-16le").unwrap();
        let mut bytes = vec![0xff, 0xfe];
        bytes.extend(utf_16.encode(&text).unwrap());
        let options = options(url, Resolver::Rfc1808);
        let plain = rewrite(text.as_bytes(), &options);
        let wide = rewrite(&bytes, &options);
        let found = utf_16.decode(&wide.output()[2..], 0).text;
        prop_assert_eq!(found.as_bytes(), plain.output());
    }

    #[test]
    fn any_bytes_can_be_rewritten_as_a_document(bytes in prop::collection::vec(any::<u8>(), 0..200), label in
        prop::sample::select(vec!["utf-8", "windows-1252", "shift_jis", "gb18030", "iso-2022-jp", "utf-16be", "euc-kr"]))
    {
        let mut options = options("http://a/é", Resolver::Rfc1808);
        options.scan.charset = Charset::for_label(label);
        let rewritten = rewrite(&bytes, &options);
        prop_assert_eq!(verify(&rewritten), Ok(()));
    }

    #[test]
    fn undecodable_bytes_in_and_around_links_are_kept(pieces in prop::collection::vec(
        prop_oneof![
            prop::sample::select(vec![&b"<a href=\""[..], b"\">", b"<a href=", b">", b" ", b"<img srcset='", b"'>", b"x", b"../", b"<style>a{b:url(", b")}</style>"]).prop_map(<[u8]>::to_vec),
            prop::collection::vec(any::<u8>(), 0..4),
        ], 0..24), label in
        prop::sample::select(vec!["utf-8", "windows-1252", "shift_jis", "gb18030", "big5", "euc-jp"]))
    {
        let bytes = pieces.concat();
        let mut options = options("http://a/b/c", Resolver::Rfc1808);
        options.scan.charset = Charset::for_label(label);
        check_laws(&bytes, &options)?;
        let rewritten = rewrite(&bytes, &options);
        // The bytes outside the edits are present, in order.
        let mut rest = rewritten.output();
        let mut at = 0;
        for edit in rewritten.edits.iter() {
            let kept = &bytes[at..edit.span.start];
            prop_assert!(rest.starts_with(kept));
            rest.drain(..kept.len() + edit.new.len());
            at = edit.span.end;
        }
        prop_assert_eq!(rest, &bytes[at..]);
    }

    /// The law of layers: the bytes after a lifted edit decode to the edited view.
    #[test]
    fn edits_of_decoded_text_are_lifted_exactly(
        raw in prop::collection::vec(prop::sample::select(vec!["a", "é", "&amp;", "&#x41;", "&#x2f", "&copy", "&copy;", "&", "\\2f", ";", "\r\n", "\\41 ", "\\\"", "/"]), 0..12),
        css in any::<bool>(), from in 0usize..12, to in 0usize..12)
    {
        let raw = raw.concat();
        let mut decode: Vec<fn(View) -> View> = vec![character_references];
        if css {
            decode.push(|view| escape::css(view, false));
        }
        let read = |text: &str| decode.iter().fold(View::of_str(text, 0), |view, decode| decode(view)).text;
        let view = decode.iter().fold(View::of_str(&raw, 0), |view, decode| decode(view));
        prop_assert!(view.map.to_source(view.text.len()).is_some());
        prop_assert_eq!(view.map.to_source(view.text.len() + 1), None);
        let ends: Vec<usize> = view.text.char_indices().map(|(at, _)| at).chain([view.text.len()]).collect();
        let (from, to) = (ends[from.min(ends.len() - 1)], ends[to.min(ends.len() - 1)]);
        let span = Span::new(from.min(to), from.max(to));
        if let Some(edit) = lift(&view.map, span, b"f://".to_vec(), Some('f'), Charset::UTF_8) {
            let mut bytes = raw.clone().into_bytes();
            bytes.splice(edit.span.range(), edit.new.iter().copied());
            let mut expected = view.text.clone();
            expected.replace_range(span.range(), "f://");
            prop_assert_eq!(read(&String::from_utf8(bytes).unwrap()), expected);
        }
    }

    /// If a document declares no encoding, its encoding is guessed from its bytes. Edits do not change the guess.
    #[test]
    fn edits_do_not_change_a_guessed_encoding(
        pieces in prop::collection::vec(prop::sample::select(BYTES), 0..16),
        resolver in prop::sample::select(&Resolver::ALL[..]),
        policy in prop::sample::select(vec![BaseElement::Absolute, BaseElement::Keep]),
    ) {
        let document = pieces.concat();
        let options = Options { base_element: policy, ..options("http://a/b/c", resolver) };
        let output = rewrite(&document, &options).output();
        prop_assert_eq!(Charset::detect(&document, None).charset, Charset::detect(&output, None).charset);
    }

    /// Edits do not change the guessed encoding of text, scripts and manifests.
    #[test]
    fn edits_do_not_change_a_guessed_encoding_without_markup(
        reference in prop::collection::vec(prop::sample::select(TEXT), 1..4),
        other_text in prop::collection::vec(prop::sample::select(TEXT), 0..3),
        format in prop::sample::select(vec![Format::Plain, Format::Script, Format::Manifest]),
        resolver in prop::sample::select(&Resolver::ALL[..]),
    ) {
        let (before, after): (&[u8], &[u8]) = match format {
            Format::Plain => (b"<URL:", b"> "),
            Format::Script => (b"import './", b"'; //"),
            _ => (b"{\"start_url\": \"", b"\", \"name\": \"\"} "),
        };
        let document = [before, &reference.concat(), after, &other_text.concat()].concat();
        let options = Options { format, ..options("http://a/b/c", resolver) };
        let output = rewrite(&document, &options).output();
        let guess = |bytes: &[u8]| Charset::detect_plain(bytes, None).charset;
        prop_assert_eq!(guess(&document), guess(&output));
    }
}
