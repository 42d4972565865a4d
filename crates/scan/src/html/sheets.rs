//! The style sheets that an HTML page links.
//!
//! ```text
//! <link rel="stylesheet" href="css/s.css">  -->  css/s.css
//! ```
//!
//! Deliberately absent: sheets that other sheets import, and processing instructions of XML.

use super::sink::{Sink, TextModel};
use super::tag::RawTag;
use super::walk;
use crate::attributes::Namespace;
use crate::value;
use baselink_text::layer::charset::Charset;

/// The maximum number of sheets that are found.
const MOST: usize = 64;

/// The references to the style sheets of the page in `bytes`.
pub fn linked(bytes: &[u8], charset: Charset) -> Vec<String> {
    let mut sink = SheetSink {
        bytes,
        charset,
        found: Vec::new(),
    };
    walk::best_effort(bytes, 0..bytes.len(), true, &mut sink);
    sink.found
}

struct SheetSink<'a> {
    bytes: &'a [u8],
    charset: Charset,
    found: Vec<String>,
}

impl Sink for SheetSink<'_> {
    fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, _: TextModel) {
        let is_link = namespace == Namespace::Html
            && self.bytes[tag.name.range()].eq_ignore_ascii_case(b"link");
        if !is_link {
            return;
        }
        let value = |name: &str| {
            Some(
                tag.attribute(self.bytes, name)?
                    .decoded(self.bytes, self.charset)
                    .text,
            )
        };
        let is_sheet = |rel: String| {
            rel.split_ascii_whitespace()
                .any(|one| one.eq_ignore_ascii_case("stylesheet"))
        };
        if value("rel").is_some_and(is_sheet) {
            self.found
                .extend(value("href").map(|href| value::trim(&href).to_owned()));
        }
    }

    fn is_done(&self) -> bool {
        self.found.len() >= MOST
    }
}
