//! Files that are one value to a [`Document`]: web app manifests, the places of the group `manifest`, and scripts, those
//! of the group `imports`.
//!
//! Every URL of a manifest is resolved against the URL of the manifest (Web Application Manifest, "processing a
//! manifest"), never against that of the page that refers to it; what a script imports, against that of the script.
//! The links of a script have its element, as those in a `script` element; that of a link in a manifest is
//! its member.
//!
//! ```
//! use baselink::format::Format;
//! use baselink::{ScanOptions, scan::whole};
//! let json = br#"{ "name": "x", "start_url": "../", "icons": [{ "src": "i.png" }] }"#;
//! let options = ScanOptions { groups: "manifest".parse().unwrap(), ..ScanOptions::default() };
//! let document = whole::manifest(json, &options);
//! let references = document.links.into_iter().map(|link| link.reference);
//! assert_eq!(references.collect::<Vec<_>>(), ["../", "i.png"]);
//! ```
//!
//! Deliberately absent: where URLs are. The files of the two syntaxes know ([`json`], [`script`](super::script)).

use std::sync::Arc;

use super::ScanOptions;
use super::attributes::Group;
use super::collect::{Carriers, Collector, LinkPlace};
use super::json::{self, JsonKind};
use super::script::Goal;
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{Decoded, Document};
use crate::format::Format;
use crate::layer::View;
use crate::layer::charset::Charset;
use crate::layer::spelling::Carrier;
use crate::span::Span;

/// The place of a link in such a file.
const fn place(element: &'static str) -> LinkPlace<'static> {
    LinkPlace::text_of(element, Carriers::One(Carrier::Raw))
}

/// Scans `bytes` as application/manifest+json. Without the group `manifest` there are no links in it.
///
/// Linear in time and memory. Spans are those of `bytes`, or of the decoded text where the encoding is not
/// ASCII-compatible.
#[must_use]
pub fn manifest(bytes: &[u8], options: &ScanOptions) -> Document {
    document(bytes, (Format::Manifest, Group::Manifest), options, |view, collector| {
        collector.json(view, JsonKind::Manifest, &place(""));
        let line = json::fault(&view.text)?;
        let message = format!("this is not JSON, by its line {line}; nothing in it was read");
        Some(Diagnostic::new(Code::NotWellFormed, Span::at(0), message))
    })
}

/// Scans `bytes` as text/javascript. Without the group `imports` there are no links in it.
///
/// Linear in time and memory. Spans are those of `bytes`, or of the decoded text where the encoding is not
/// ASCII-compatible.
#[must_use]
pub fn script(bytes: &[u8], options: &ScanOptions) -> Document {
    document(bytes, (Format::Script, Group::Imports), options, |view, collector| {
        collector.script(view, Goal::File, &place("script"))
    })
}

/// A document whose links `collect` collects from its text.
fn document(
    bytes: &[u8],
    (format, group): (Format, Group),
    options: &ScanOptions,
    collect: impl FnOnce(&View, &mut Collector<'_>) -> Option<Diagnostic>,
) -> Document {
    let found = Charset::detect_plain(bytes, options.charset);
    let mut document = Document::empty(Arc::clone(&options.entity), format, found.charset);
    document.not_utf_8 = found.not_utf_8;
    if !options.groups.contains(group) {
        return document;
    }
    let mut collector = Collector::new(options, false);
    let view = if found.charset.is_ascii_compatible() {
        found.charset.decode(&bytes[found.mark..], found.mark)
    } else {
        let decoded = document.decoded.insert(Decoded::of_file(bytes, found.mark, found.charset));
        View::of_str(&decoded.text, 0)
    };
    document.diagnostics.extend(collect(&view, &mut collector));
    document.links = collector.links;
    document
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::scan::attributes::Groups;

    fn references(document: &Document) -> Vec<&str> {
        document.links.iter().map(|link| link.reference.as_str()).collect()
    }

    #[test]
    fn without_the_group_nothing_is_a_link() {
        let options = ScanOptions::default();
        assert!(script(b"import './a.js'", &options).links.is_empty());
        assert!(manifest(br#"{"scope":"a"}"#, &options).links.is_empty());
    }

    #[test]
    fn marks_and_encodings() {
        let options = ScanOptions { groups: Groups::all(), ..ScanOptions::default() };
        let marked = b"\xef\xbb\xbf{\"scope\":\"\xc3\xa9/\"}";
        let document = manifest(marked, &options);
        assert_eq!(references(&document), ["é/"]);
        assert_eq!(&marked[document.links[0].span().range()], "é/".as_bytes());
        let wide: Vec<u8> =
            "\u{feff}import './é.js'".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let document = script(&wide, &options);
        assert_eq!(references(&document), ["./é.js"]);
        assert!(document.decoded.is_some());
    }

    #[test]
    fn what_is_not_well_formed_is_said() {
        let options = ScanOptions { groups: Groups::all(), ..ScanOptions::default() };
        let faults = |document: Document| -> Vec<_> {
            document.diagnostics.into_iter().map(|one| (one.code, one.span.start)).collect()
        };
        assert_eq!(faults(manifest(b"{\n", &options)), [(Code::NotWellFormed, 0)]);
        assert_eq!(faults(script(b"import 'a'; (", &options)), [(Code::NotWellFormed, 13)]);
        assert_eq!(faults(script(b"import 'a'", &options)), []);
    }
}
