//! The spelling of new references, and the detection of links that declare a base.
//!
//! ```text
//! {{x}}  in a[href]    -->  ./{{x}}     not a placeholder
//! x.js   in a script   -->  ./x.js      not the name of a module
//! ```
//!
//! Deliberately absent: escapes that the syntax around a reference requires, which are in `layer::spelling`.

use baselink_rewrite::LinkReport;
use baselink_scan::{Kind, Role};
use baselink_url::{Grammar, Reference, reference};

use crate::collection::without_query;

/// Adds `./` to a relative `reference` if it could be mistaken for a placeholder, for a quote or comma of the value
/// around it, or in a script for the name of a module (HTML, 8.1.5.1).
pub fn unmistakable(reference: String, element: &str, attribute: Option<&str>) -> String {
    let is_in_script = attribute.is_none() && element.rsplit(':').next() == Some("script");
    let is_plain = match is_in_script {
        true => ["/", "./", "../"]
            .iter()
            .any(|start| reference.starts_with(start)),
        false => reference
            .bytes()
            .next()
            .is_none_or(|first| first.is_ascii_alphanumeric() || b"./#?_-%~".contains(&first)),
    };
    if is_plain && reference::placeholder(&reference).is_none() {
        return reference;
    }
    format!("./{reference}")
}

/// True if the target of a link is a prefix of URLs: an entry of an import map that ends with `/` (HTML, 8.1.5.2), the `scope`
/// of a manifest (Web Application Manifest, 1.4), or a `codebase` (HTML 4.01, 13.3.2).
pub fn names_prefix(link: &LinkReport) -> bool {
    let is_entry = || {
        link.element == "script"
            && link.role == Role::Embedded
            && without_query(&link.reference).ends_with('/')
    };
    match link.attribute.as_deref() {
        None => link.element == "scope" || is_entry(),
        attribute => attribute == Some("codebase"),
    }
}

/// True if a link may load a style sheet: a `link` does, and an `@import`.
pub fn loads_sheet(link: &LinkReport) -> bool {
    let is_in_sheet = link.attribute.is_none() && matches!(&*link.element, "" | "style");
    link.kind == Kind::Style || is_in_sheet
}

/// True if `url` is retrieved by HTTP.
pub fn is_web(url: &str) -> bool {
    let scheme = Reference::split(Grammar::Rfc3986, url).scheme();
    scheme.is_some_and(|scheme| {
        scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
    })
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
    let scheme = Reference::split(Grammar::Rfc3986, url).scheme();
    !scheme.is_some_and(|scheme| others.iter().any(|one| one.eq_ignore_ascii_case(scheme)))
}

/// True if an attribute of an element, both given by name, declares a base for other references.
pub fn names_base(element: &str, attribute: Option<&str>) -> bool {
    let is_base = || {
        element
            .strip_suffix("base")
            .is_some_and(|rest| rest.is_empty() || rest.ends_with(':'))
    };
    attribute == Some("xml:base") || (attribute == Some("href") && is_base())
}
