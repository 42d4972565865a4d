//! A relative link never becomes a script. If a browser treats a reference as relative, its absolute form has the
//! scheme of the base, whatever the base and the reference contain.
//!
//! The `url` crate (URL Standard) stands for the browser. The other resolvers resolve differently, but browsers
//! read their output too.
//!
//! Deliberately absent: links that browsers read as absolute. They are kept unchanged.

use baselink::Outcome;
use baselink_rewrite::{FileRewrite, Options, rewrite};
use baselink_url::Resolver;
use proptest::prelude::*;
use url::{ParseError, Url};

/// Building blocks of bases and references.
const PIECES: &[&str] = &[
    "javascript:",
    "java\nscript:",
    "java",
    "script:",
    "JavaScript",
    "data:",
    "text/html,",
    "vbscript:",
    "http:",
    "https:",
    "file:",
    "x:",
    "a",
    "b.c",
    "1",
    ":",
    "/",
    "//",
    "\\",
    ".",
    "..",
    "./",
    "../",
    "?",
    "#",
    ";",
    "%3A",
    "%2e",
    "%6A",
    "&colon;",
    "&#10;",
    "&",
    "@",
    "[",
    "]",
    " ",
    "\t",
    "\r",
    "\n",
    "\u{1}",
    "\u{0}",
    "\u{a0}",
    "\u{202e}",
    "é",
    "alert(1)",
    "<",
    "\"",
    "'",
    "{",
    "|",
    "\u{ff1a}",
];

/// Schemes of URLs that may run as a script or contain one.
const SCRIPTS: [&str; 3] = ["javascript", "data", "vbscript"];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..8).prop_map(|pieces| pieces.concat())
}

fn resolver() -> impl Strategy<Value = Resolver> {
    prop::sample::select(Resolver::ALL.to_vec())
}

/// `text` in a double-quoted attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;")
}

/// The rewritten links: each original reference, and the reference in the output.
fn rewritten_links(rewritten: &FileRewrite<'_>, options: &Options) -> Vec<(String, String)> {
    let links = rewrite(&rewritten.output(), options).report.links;
    let pairs = rewritten.report.links.iter().zip(links);
    let changed = pairs.filter(|(old, _)| old.outcome == Outcome::Rewritten);
    changed
        .map(|(old, new)| (old.reference.clone(), new.reference))
        .collect()
}

/// True if a browser treats the reference as relative to any base.
fn is_relative(reference: &str) -> bool {
    Url::parse(reference) == Err(ParseError::RelativeUrlWithoutBase)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_relative_link_keeps_the_scheme_of_the_base(
        scheme in prop::sample::select(vec!["http", "https", "HTTP", "file", "ftp", "x", "javascript", "data"]),
        rest in text(),
        references in prop::collection::vec(text(), 1..4),
        resolver in resolver(),
    ) {
        let base = format!("{scheme}://h/{rest}");
        let mut page: String = references.iter().map(|link| format!("<a href=\"{}\">", escaped(link))).collect();
        page.push_str("<meta http-equiv=refresh content=\"0;url=x\"><p style=\"a:url(y)\"><img srcset=\"z 1x\">");
        let options = Options { resolver, ..Options::at(&base) };
        let rewritten = rewrite(page.as_bytes(), &options);
        for (was, is) in rewritten_links(&rewritten, &options) {
            if is_relative(&was) {
                let read = Url::parse(&is);
                let is_same = read.as_ref().is_ok_and(|url| url.scheme().eq_ignore_ascii_case(scheme));
                prop_assert!(is_same || read.is_err(), "{base:?} and {was:?} gave {is:?}");
                prop_assert!(!SCRIPTS.contains(&scheme), "{base:?} served {was:?}");
            }
        }
    }

    #[test]
    fn no_base_turns_a_relative_link_into_a_script(
        base in text(),
        inner in text(),
        references in prop::collection::vec(text(), 1..3),
        resolver in resolver(),
    ) {
        let links: String = references.iter().map(|link| format!("<a href=\"{}\"/>", escaped(link))).collect();
        let page = format!("<base href=\"{}\">{links}", escaped(&base));
        let codebase = format!("<object codebase=\"{}\" data=\"x\"></object>", escaped(&inner));
        let options = Options { resolver, ..Options::at("http://h/d/") };
        let rewritten = rewrite(page.as_bytes(), &options);
        let message = format!("Base: {}\nContent-Type: text/html\n\n{links}{codebase}", base.replace(['\r', '\n'], ""));
        let of_message = Options { format: baselink_text::format::Format::Message, ..options.clone() };
        let in_message = rewrite(message.as_bytes(), &of_message);
        let changed_links = [rewritten_links(&rewritten, &options), rewritten_links(&in_message, &of_message)].concat();
        for (was, is) in changed_links {
            if is_relative(&was) {
                let runs = Url::parse(&is).is_ok_and(|url| SCRIPTS[..2].contains(&url.scheme()));
                prop_assert!(!runs, "{base:?} and {was:?} gave {is:?}");
            }
        }
    }
}
