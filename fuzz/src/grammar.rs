//! References: a comparison of the recogniser with the text of the two grammars, run by a matcher of their notation;
//! and a check that the components, joined again, give the reference.
//!
//! Deliberately absent: references of more than 64 bytes, for which the matcher is too slow.

use baselink_url::{
    Resolver,
    reference::{Reference, conformance, contains_placeholder, opaque_scheme, placeholder},
};

#[path = "../../tests/referee/grammar.rs"]
mod referee;

/// Checks a reference against its grammars. A line end after the reference is ignored.
pub fn grammar(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let reference = text.strip_suffix('\n').unwrap_or(text);
    let _ = (
        placeholder(reference),
        contains_placeholder(reference),
        opaque_scheme(reference),
    );
    for resolver in [Resolver::Rfc1808, Resolver::Rfc3986] {
        let split = Reference::split(resolver, reference);
        let part = |before: &str, text: Option<&str>, after: &str| {
            text.map_or(String::new(), |text| format!("{before}{text}{after}"))
        };
        let whole = [
            part("", split.scheme(), ":"),
            part("//", split.net_loc(), ""),
            split.path().to_owned(),
            part(";", split.params(), ""),
            part("?", split.query(), ""),
            part("#", split.fragment(), ""),
        ];
        assert_eq!(whole.concat(), reference, "{split:?}");
    }
    if reference.len() > 64 {
        return;
    }
    let found = conformance(reference);
    assert_eq!(
        found.conforms,
        referee::derives(reference),
        "{:?}",
        found.violation
    );
    if let Some(violation) = found.violation {
        assert_eq!(
            reference[violation.at..].chars().next(),
            violation.character
        );
    }
}
