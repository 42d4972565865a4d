//! The links of an HTML document to resources that browsers load with the page, such as images and style sheets.
//!
//! ```text
//! <a href=x><img src=y><p style="background:url(z)">   -->   y, z
//! ```
//!
//! Deliberately absent: the time at which a browser loads a resource.

use std::sync::Arc;

use super::pass::{self, Links, Part, Plain, Whole};
use crate::ScanOptions;
use crate::document::{Against, Link, Role};
use baselink_text::diagnostic::Diagnostic;
use baselink_text::layer::charset::Charset;

/// The links in `bytes` to embedded resources that are resolved against the base of the document, in order.
pub fn embedded(bytes: &[u8], charset: Charset, options: &ScanOptions) -> Vec<Link> {
    let mut found = EmbeddedLinks(Vec::new());
    let (entity, start) = (Arc::clone(&options.entity), 0);
    let whole = Whole {
        bytes,
        start,
        charset,
        entity,
        depth: 0,
        enclosed: false,
    };
    pass::links(&whole, options, &mut found);
    found.0
}

struct EmbeddedLinks(Vec<Link>);

impl Links for EmbeddedLinks {
    fn plain(&mut self, _: &[u8], _: &Plain) -> bool {
        false
    }

    fn link(&mut self, _: &[u8], link: Link) {
        if link.role == Role::Embedded && link.against == Against::Document {
            self.0.push(link);
        }
    }

    fn part(&mut self, _: &[u8], _: Part) {}

    fn diagnostic(&mut self, _: &[u8], _: Diagnostic) {}
}
