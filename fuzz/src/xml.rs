//! XML: the laws, and what was well formed stays so.
//!
//! Deliberately absent: a referee for what is well formed; `--verify` reads the document again with another reader.

use baselink::diagnostic::Code;
use baselink::format::Format;
use baselink::rewrite;

use super::laws::{chosen, hold};

/// Holds a document of XML to its laws, as XHTML, SVG and any other.
pub fn xml(bytes: &[u8]) {
    for format in [Format::Xhtml, Format::Svg, Format::Xml] {
        let (document, options) = chosen(bytes, format);
        let output = hold(document, &options);
        let is_odd = |bytes: &[u8]| {
            let diagnostics = rewrite(bytes, &options).report.diagnostics;
            diagnostics.iter().any(|odd| odd.code == Code::NotWellFormed)
        };
        assert_eq!(is_odd(&output), is_odd(document), "{}", output.escape_ascii());
    }
}
