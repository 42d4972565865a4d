//! The style sheets that an HTML page links.
//!
//! ```text
//! <link rel="stylesheet" href="css/s.css">  -->  css/s.css
//! ```
//!
//! Deliberately absent: sheets that other sheets import, and processing instructions of XML.

use baselink_text::Charset;

use super::{sink::Event, walk};
use crate::{document::has_type, value};

/// The maximum number of sheets that are found.
const MOST: usize = 64;

/// The references to the style sheets of the page in `bytes`.
pub fn linked(bytes: &[u8], charset: Charset) -> Vec<String> {
    let mut found = Vec::new();
    walk::best_effort(bytes, 0..bytes.len(), true, true, &mut |event: Event<
        '_,
    >| {
        let Event::Tag(tag, _) = event else { return };
        let value = |name: &str| Some(tag.attribute(bytes, name)?.decoded(bytes, charset).text);
        let is_sheet = |rel: String| has_type(&rel, "stylesheet");
        let is_linked =
            !tag.end_tag && tag.is_named(bytes, "link") && value("rel").is_some_and(is_sheet);
        if let Some(href) = value("href").filter(|_| is_linked && found.len() < MOST) {
            found.push(value::trim(&href).to_owned());
        }
    });
    found
}
