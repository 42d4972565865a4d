//! The spelling of references that purposes write, and the links that declare a base.
//!
//! ```text
//! {{x}}  in a[href]   -->  ./{{x}}       x.js  in a script  -->  ./x.js
//! ```
//!
//! Deliberately absent: escapes in the syntax around a reference, which are in `layer::spelling`.

use crate::reference;

/// Changes a relative `reference` so that it cannot be mistaken for something else: a placeholder, the quote or
/// comma of the surrounding value, or in a script the name of a module (HTML, 8.1.5.1).
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

/// True if an attribute of an element, both given by name, declares a base for other references.
pub(crate) fn names_base(element: &str, attribute: Option<&str>) -> bool {
    let is_base =
        || element.strip_suffix("base").is_some_and(|rest| rest.is_empty() || rest.ends_with(':'));
    attribute == Some("xml:base") || (attribute == Some("href") && is_base())
}
