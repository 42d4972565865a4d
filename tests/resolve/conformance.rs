//! The recogniser of RFC 1808 section 2.2 and RFC 1738 section 5 agrees with a handwritten table of references. It also
//! agrees with a slow matcher that runs the grammars as these RFCs print them.

use baselink_url::reference::{Category, conformance};
use proptest::prelude::*;

use Category::{AbsPath, AbsoluteUrl, Empty, Fragment, NetPath, RelPath};

#[path = "../referee/grammar.rs"]
mod grammar;

/// The first violation of the grammar in a reference: offset, character, production.
type Violation = (usize, Option<char>, &'static str);

type Row = (&'static str, Category, Option<Violation>);

const OK: Option<Violation> = None;

const fn at(at: usize, character: char, production: &'static str) -> Option<Violation> {
    Some((at, Some(character), production))
}

const fn end(at: usize, production: &'static str) -> Option<Violation> {
    Some((at, None, production))
}

#[rustfmt::skip]
const TABLE: &[(&str, &[Row])] = &[
    ("RFC 1808 section 2.2: rel_path, path, fsegment, segment", &[
        ("", Empty, OK),
        ("g", RelPath, OK),
        (".", RelPath, OK),
        ("../g/", RelPath, OK),
        ("g//h", RelPath, OK),
        (":g", RelPath, OK),
        ("a_b:c", RelPath, OK),
        ("g/h:i@j&k=l", RelPath, OK),
        ("g h", RelPath, at(1, ' ', "pchar")),
        ("~g", RelPath, at(0, '~', "pchar")),
        ("g|h", RelPath, at(1, '|', "pchar")),
        ("{{x}}", RelPath, at(0, '{', "pchar")),
        ("a\\b", RelPath, at(1, '\\', "pchar")),
        ("\u{e9}", RelPath, at(0, '\u{e9}', "pchar")),
        ("a\nb", RelPath, at(1, '\n', "pchar")),
        ("g[1]", RelPath, at(1, '[', "pchar")),
        ("g\"", RelPath, at(1, '"', "pchar")),
    ]),
    ("RFC 1808 section 2.2: unreserved, safe, extra, escape", &[
        ("azAZ09$-_.+!*'(),", RelPath, OK),
        ("%7Eg", RelPath, OK),
        ("%7eg", RelPath, OK),
        ("100%", RelPath, end(4, "escape")),
        ("%4", RelPath, end(2, "escape")),
        ("%zz", RelPath, at(1, 'z', "escape")),
        ("%1g", RelPath, at(2, 'g', "escape")),
        ("%\u{e9}", RelPath, at(1, '\u{e9}', "escape")),
    ]),
    ("RFC 1808 section 2.2: params, param, query", &[
        (";x", RelPath, OK),
        (";", RelPath, OK),
        ("g;a;b=/../c", RelPath, OK),
        ("g;a?b;c/d?e", RelPath, OK),
        ("?y", RelPath, OK),
        ("?", RelPath, OK),
        ("?http://x/", RelPath, OK),
        ("g;a b", RelPath, at(3, ' ', "param")),
        ("g;a[", RelPath, at(3, '[', "param")),
        ("?a|b", RelPath, at(2, '|', "query")),
        ("g?%", RelPath, end(3, "escape")),
        ("?\u{e9}", RelPath, at(1, '\u{e9}', "query")),
    ]),
    ("RFC 1808 section 2.2: fragment", &[
        ("#", Fragment, OK),
        ("#s/./x?y;z", Fragment, OK),
        ("g?y#s", RelPath, OK),
        ("#a#b", Fragment, at(2, '#', "fragment")),
        ("#a b", Fragment, at(2, ' ', "fragment")),
        ("#%", Fragment, end(2, "escape")),
    ]),
    ("RFC 1808 section 2.2: abs_path", &[
        ("/", AbsPath, OK),
        ("/g//h", AbsPath, OK),
        ("/;p?q#f", AbsPath, OK),
        ("/a<b", AbsPath, at(2, '<', "pchar")),
    ]),
    ("RFC 1808 section 2.2: net_path, net_loc", &[
        ("//g", NetPath, OK),
        ("//", NetPath, OK),
        ("///g", NetPath, OK),
        ("//g?y", NetPath, OK),
        ("//u:p@g:80;x/h", NetPath, OK),
        ("//g/h/", NetPath, OK),
        ("//g//h", NetPath, at(4, '/', "fsegment")),
        ("////g", NetPath, at(3, '/', "fsegment")),
        ("//g h/", NetPath, at(3, ' ', "net_loc")),
        ("//[::1]/x", NetPath, at(2, '[', "net_loc")),
    ]),
    ("RFC 1808 section 2.2: absoluteURL, generic-RL", &[
        ("g:h", AbsoluteUrl, OK),
        ("1:2", AbsoluteUrl, OK),
        ("-a.b+c:", AbsoluteUrl, OK),
        ("https://h:x/", AbsoluteUrl, OK),
        ("x:/a//b?c;d", AbsoluteUrl, OK),
        ("urn:a:b#s", AbsoluteUrl, OK),
        ("x:{a}", AbsoluteUrl, at(2, '{', "absoluteURL")),
        ("javascript:f('%')", AbsoluteUrl, at(15, '\'', "escape")),
    ]),
    ("RFC 1738 section 5: httpurl, hpath, search", &[
        ("http://a", AbsoluteUrl, OK),
        ("HTTP://A.b-c.d2/", AbsoluteUrl, OK),
        ("http://a/b/c/d;p?q", AbsoluteUrl, OK),
        ("http://a/?x;y:z@&=", AbsoluteUrl, OK),
        ("http://a:80#f", AbsoluteUrl, OK),
        ("http://a?q", AbsoluteUrl, at(8, '?', "hostname")),
        ("http://a/?x/y", AbsoluteUrl, at(11, '/', "search")),
        ("http://a/?x?y", AbsoluteUrl, at(11, '?', "search")),
        ("http://a/~b", AbsoluteUrl, at(9, '~', "hsegment")),
        ("http:g", AbsoluteUrl, at(5, 'g', "httpurl")),
        ("http:/g", AbsoluteUrl, at(6, 'g', "httpurl")),
        ("http:", AbsoluteUrl, end(5, "httpurl")),
        ("http://u:p@h/", AbsoluteUrl, at(9, 'p', "port")),
    ]),
    ("RFC 1738 section 5: host, hostname, toplabel, hostnumber, port", &[
        ("http://1.2.3.4:80/", AbsoluteUrl, OK),
        ("http://1.2.3.com", AbsoluteUrl, OK),
        ("http://a--b.c", AbsoluteUrl, OK),
        ("http://", AbsoluteUrl, end(7, "hostname")),
        ("http:///g", AbsoluteUrl, at(7, '/', "hostname")),
        ("http://1.2.3", AbsoluteUrl, end(12, "toplabel")),
        ("http://1.2.3.4.5/", AbsoluteUrl, at(16, '/', "toplabel")),
        ("http://a.1b/", AbsoluteUrl, at(11, '/', "toplabel")),
        ("http://a-/", AbsoluteUrl, at(9, '/', "domainlabel")),
        ("http://-a/", AbsoluteUrl, at(7, '-', "hostname")),
        ("http://a./", AbsoluteUrl, at(9, '/', "hostname")),
        ("http://a..b", AbsoluteUrl, at(9, '.', "hostname")),
        ("http://a_b/", AbsoluteUrl, at(8, '_', "hostname")),
        ("http://a:/", AbsoluteUrl, at(9, '/', "port")),
        ("http://a:8x", AbsoluteUrl, at(10, 'x', "port")),
        ("http://[::1]/", AbsoluteUrl, at(7, '[', "hostname")),
    ]),
    ("RFC 1738 section 5: ftpurl, login, fpath, ftptype", &[
        ("ftp://h", AbsoluteUrl, OK),
        ("ftp://u:p;x@h:21/a/b;type=d", AbsoluteUrl, OK),
        ("ftp://@h/", AbsoluteUrl, OK),
        ("ftp://:@h", AbsoluteUrl, OK),
        ("ftp://h/%2Fetc?x:y@z&=", AbsoluteUrl, OK),
        ("ftp://h/a;TYPE=A", AbsoluteUrl, OK),
        ("ftp://h/a;x", AbsoluteUrl, at(10, 'x', "ftpurl")),
        ("ftp://h/a;type=x", AbsoluteUrl, at(15, 'x', "ftptype")),
        ("ftp://h/a;type=", AbsoluteUrl, end(15, "ftptype")),
        ("ftp://h/a;type=ab", AbsoluteUrl, at(16, 'b', "ftptype")),
        ("ftp://u:p:q@h/", AbsoluteUrl, at(9, ':', "password")),
        ("ftp://u@", AbsoluteUrl, end(8, "hostname")),
        ("ftp://u<@h", AbsoluteUrl, at(7, '<', "user")),
    ]),
    ("RFC 1738 section 5: fileurl", &[
        ("file:///d/e", AbsoluteUrl, OK),
        ("file://localhost/d", AbsoluteUrl, OK),
        ("file:///C:/d", AbsoluteUrl, OK),
        ("file://h/", AbsoluteUrl, OK),
        ("file:/d", AbsoluteUrl, at(6, 'd', "fileurl")),
        ("file://h", AbsoluteUrl, end(8, "fileurl")),
        ("file://h:80/", AbsoluteUrl, at(8, ':', "fileurl")),
        ("file:///C|/d", AbsoluteUrl, at(9, '|', "fsegment")),
        ("file:///a;b", AbsoluteUrl, at(9, ';', "fsegment")),
    ]),
    ("RFC 1738 section 5: mailtourl", &[
        ("mailto:a@b", AbsoluteUrl, OK),
        ("mailto:x?s=t", AbsoluteUrl, OK),
        ("mailto:", AbsoluteUrl, end(7, "encoded822addr")),
        ("mailto:a b", AbsoluteUrl, at(8, ' ', "encoded822addr")),
        ("mailto:#f", AbsoluteUrl, at(7, '#', "encoded822addr")),
    ]),
    ("RFC 1738 section 5: newsurl, group, article", &[
        ("news:*", AbsoluteUrl, OK),
        ("news:comp.lang.c++", AbsoluteUrl, OK),
        ("news:1@h", AbsoluteUrl, OK),
        ("news:*a/b@h.c", AbsoluteUrl, OK),
        ("news:", AbsoluteUrl, end(5, "group")),
        ("news:1", AbsoluteUrl, at(5, '1', "group")),
        ("news:a*", AbsoluteUrl, at(6, '*', "group")),
        ("news:**", AbsoluteUrl, at(6, '*', "grouppart")),
        ("news:@h", AbsoluteUrl, at(5, '@', "article")),
        ("news:a@b@c", AbsoluteUrl, at(8, '@', "hostname")),
    ]),
    ("RFC 1738 section 5: nntpurl, telneturl", &[
        ("nntp://h/g.a/12", AbsoluteUrl, OK),
        ("nntp://h:119/g", AbsoluteUrl, OK),
        ("nntp://h", AbsoluteUrl, end(8, "hostname")),
        ("nntp://h/", AbsoluteUrl, end(9, "group")),
        ("nntp://h/g/", AbsoluteUrl, end(11, "digits")),
        ("nntp://h/g/1a", AbsoluteUrl, at(12, 'a', "digits")),
        ("telnet://u:p@h:23/", AbsoluteUrl, OK),
        ("telnet://h", AbsoluteUrl, OK),
        ("telnet://h/x", AbsoluteUrl, at(11, 'x', "telneturl")),
        ("telnet:h", AbsoluteUrl, at(7, 'h', "telneturl")),
    ]),
    ("RFC 1738 section 5: gopherurl, waisurl, prosperourl", &[
        ("gopher://h", AbsoluteUrl, OK),
        ("gopher://h/11/foo%09x%09+", AbsoluteUrl, OK),
        ("gopher://h/1 ", AbsoluteUrl, at(12, ' ', "selector")),
        ("gopher://h?x", AbsoluteUrl, at(10, '?', "hostname")),
        ("wais://h/d", AbsoluteUrl, OK),
        ("wais://h/d?s", AbsoluteUrl, OK),
        ("wais://h/d/t/p", AbsoluteUrl, OK),
        ("wais://h/", AbsoluteUrl, OK),
        ("wais://h", AbsoluteUrl, end(8, "hostname")),
        ("wais://h/d/t", AbsoluteUrl, end(12, "wtype")),
        ("wais://h/d/t/p/x", AbsoluteUrl, at(14, '/', "wpath")),
        ("wais://h/d:e", AbsoluteUrl, at(10, ':', "database")),
        ("prospero://h//pros/n;k=v;l=w", AbsoluteUrl, OK),
        ("prospero://h/", AbsoluteUrl, OK),
        ("prospero://h:1525", AbsoluteUrl, end(17, "port")),
        ("prospero://h/n;k", AbsoluteUrl, end(16, "fieldname")),
        ("prospero://h/n;k=v/w", AbsoluteUrl, at(18, '/', "fieldvalue")),
    ]),
];

#[test]
fn every_reference_has_its_first_violation() {
    let mut rows = 0;
    for (section, references) in TABLE {
        for (reference, category, expected) in *references {
            let found = conformance(reference);
            assert_eq!(found.category, *category, "{section}: {reference:?}");
            let violation = found.violation.map(|v| (v.at, v.character, v.production));
            assert_eq!(violation, *expected, "{section}: {reference:?}");
            assert_eq!(found.conforms, expected.is_none());
            assert_eq!(
                grammar::derives(reference),
                found.conforms,
                "{section}: {reference:?}"
            );
            rows += 1;
        }
    }
    assert!(rows >= 80, "{rows}");
}

/// References with a known scheme, an unknown scheme or none, made of the characters on which the productions differ.
fn reference() -> impl Strategy<Value = String> {
    let start = prop::sample::select(vec![
        "",
        "/",
        "//",
        "x:",
        "http:",
        "http://",
        "http://a",
        "ftp://",
        "ftp://a/b",
        "file://",
        "mailto:",
        "news:",
        "nntp://",
        "nntp://a/g",
        "telnet://",
        "gopher://a",
        "wais://a/",
        "prospero://a/",
    ]);
    let piece = prop::sample::select(vec![
        "a", "B", "1", "/", "//", ".", "-", "+", "_", "*", "~", "%", "%4A", "%09", ";", "?", ":",
        "@", "&", "=", "#", ";type=", "12", "\u{e9}", "|", " ",
    ]);
    (start, prop::collection::vec(piece, 0..9))
        .prop_map(|(start, pieces)| format!("{start}{}", pieces.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_recogniser_agrees_with_the_text_of_the_grammar(reference in reference()) {
        let found = conformance(&reference);
        prop_assert_eq!(found.conforms, grammar::derives(&reference), "{:?}", found.violation);
        if let Some(violation) = found.violation {
            prop_assert_eq!(reference[violation.at..].chars().next(), violation.character);
            // The text before the violation is right: with an `x` appended, it has no earlier violation. References
            // with an `@` are exempt, because cutting off the `@` may turn a login into a host, or an article into a
            // group.
            let tail = format!("{}x", &reference[..violation.at]);
            let again = conformance(&tail).violation;
            let earlier = again.as_ref().is_some_and(|again| again.at < violation.at);
            prop_assert!(!earlier || reference.contains('@'), "{:?}", again);
        }
    }
}
