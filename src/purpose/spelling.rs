//! References as purposes write them, and the links that declare a base for others.
//!
//! ```text
//! {{x}}  in a[href]   -->  ./{{x}}       x.js  in a script  -->  ./x.js
//! ```
//!
//! Deliberately absent: escapes of the place, which `layer::spelling` writes.

use crate::reference;

/// `reference`, a relative one, as nobody takes it for something else: a placeholder, the quote or the comma of
/// the value that holds it, in a script the name of a module (HTML, 8.1.5.1).
pub(crate) fn unmistakable(reference: String, element: &str, attribute: Option<&str>) -> String {
    let is_in_script = attribute.is_none() && element.rsplit(':').next() == Some("script");
    let is_plain = match is_in_script {
        true => ["/", "./", "../"].iter().any(|start| reference.starts_with(start)),
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

/// True if an attribute of an element, both by their names, declares a base for other references.
pub(crate) fn names_base(element: &str, attribute: Option<&str>) -> bool {
    let is_base =
        || element.strip_suffix("base").is_some_and(|rest| rest.is_empty() || rest.ends_with(':'));
    attribute == Some("xml:base") || (attribute == Some("href") && is_base())
}
