//! XML: the laws, and a check that well-formed documents stay well-formed.
//!
//! Deliberately absent: a referee for well-formedness. `--verify` reads the document again with another parser.

use baselink_rewrite::rewrite;
use baselink_text::diagnostic::Code;
use baselink_text::format::Format;

use super::laws::{chosen, hold};

/// Checks the laws for an XML document, as XHTML, SVG and other XML.
pub fn xml(bytes: &[u8]) {
    for format in [Format::Xhtml, Format::Svg, Format::Xml] {
        let (document, options) = chosen(bytes, format);
        let output = hold(document, &options);
        let is_odd = |bytes: &[u8]| {
            let diagnostics = rewrite(bytes, &options).report.diagnostics;
            diagnostics
                .iter()
                .any(|odd| odd.code == Code::NotWellFormed)
        };
        assert_eq!(
            is_odd(&output),
            is_odd(document),
            "{}",
            output.escape_ascii()
        );
    }
}
