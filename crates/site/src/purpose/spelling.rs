//! The spelling of new references, and the detection of links that declare a base.
//!
//! ```text
//! {{x}}  in a[href]    -->  ./{{x}}     not a placeholder
//! x.js   in a script   -->  ./x.js      not the name of a module
//! ```
//!
//! Deliberately absent: escapes that the syntax around a reference requires, which are in `layer::spelling`.

use baselink_rewrite::LinkReport;
use baselink_text::format::starts_with;
use baselink_url::{Category, Reference, reference, scheme_of};

/// Adds `./` to `reference`, the new relative reference of `link`, if it could be mistaken for a placeholder, for a quote or
/// comma of the value around it, for the `url=` of a refresh (HTML, 7.8), or in a script for the name of a module (HTML,
/// 8.1.5.1).
pub fn unmistakable(reference: String, link: &LinkReport) -> String {
    let element = link.element.rsplit(':').next();
    let is_in_script = link.attribute.is_none() && element == Some("script");
    let is_plain = if is_in_script {
        ["/", "./", "../"]
            .iter()
            .any(|start| reference.starts_with(start))
    } else {
        reference
            .bytes()
            .next()
            .is_none_or(|first| first.is_ascii_alphanumeric() || b"./#?_-%~".contains(&first))
            && !starts_with(reference.as_bytes(), "url=")
            // RFC 3986, 4.2.
            && !reference.split(['/', '?', '#']).take(1).any(|first| first.contains(':'))
    };
    if is_plain && reference::placeholder(&reference).is_none() {
        return reference;
    }
    format!("./{reference}")
}

/// The category of `reference` (RFC 3986, 4.2).
pub fn category(reference: &str) -> Category {
    Reference::of(reference).category()
}

/// True if the scheme of `url` is one of these.
fn has_scheme_of(url: &str, schemes: &[&str]) -> bool {
    let is_own = |own: &str| schemes.iter().any(|one| one.eq_ignore_ascii_case(own));
    scheme_of(url).is_some_and(is_own)
}

/// True if crawlers retrieve `url`.
pub fn is_web(url: &str) -> bool {
    has_scheme_of(url, &["http", "https", "ftp"])
}

/// True if `url` names something that a program could retrieve, or a part of a message.
pub fn names_resource(url: &str) -> bool {
    let others = [
        "data",
        "blob",
        "mailto",
        "tel",
        "sms",
        "javascript",
        "about",
    ];
    !has_scheme_of(url, &others)
}

/// True if a link declares a base for other references. Such a link is not followed itself.
pub fn names_base(link: &LinkReport) -> bool {
    let is_base = || {
        link.element
            .strip_suffix("base")
            .is_some_and(|rest| rest.is_empty() || rest.ends_with(':'))
    };
    match link.attribute.as_deref() {
        Some("xml:base") => true,
        attribute => attribute == Some("href") && is_base(),
    }
}
