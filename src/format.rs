//! What kind of document some bytes are.
//!
//! ```
//! use baselink::format::Format;
//! assert_eq!(Format::detect(Some("index.HTM"), b""), Format::Html);
//! assert_eq!(Format::detect(None, b"\n<!DOCTYPE html><title>x</title>"), Format::Html);
//! assert!("htlm".parse::<Format>().is_err());
//! ```
//!
//! Deliberately absent: reading the whole document. The name decides, else the first bytes.

use std::str::FromStr;

use crate::error::{Error, Result};

/// The formats that the command line knows by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// text/html
    #[default]
    Html,
    /// application/xhtml+xml
    Xhtml,
    /// image/svg+xml
    Svg,
    /// Other XML, feeds among them.
    Xml,
    /// text/css
    Css,
    /// An Internet message, `.eml` or `.mht`.
    Message,
    /// A file of messages.
    Mbox,
    /// Anything else.
    Other,
}

/// Name, media type, and the extensions that stand for each format.
const FORMATS: &[(Format, &str, &str, &[&str])] = &[
    (Format::Html, "html", "text/html", &["html", "htm", "shtml", "hta"]),
    (Format::Xhtml, "xhtml", "application/xhtml+xml", &["xhtml", "xht"]),
    (Format::Svg, "svg", "image/svg+xml", &["svg"]),
    (Format::Xml, "xml", "application/xml", &["xml", "atom", "rss", "rdf", "opml"]),
    (Format::Css, "css", "text/css", &["css"]),
    (Format::Message, "message", "message/rfc822", &["eml", "mht", "mhtml"]),
    (Format::Mbox, "mbox", "application/mbox", &["mbox", "mbx"]),
    (Format::Other, "other", "application/octet-stream", &[]),
];

impl Format {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|row| row.0 == self).map_or("other", |row| row.1)
    }

    /// Its media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        FORMATS.iter().find(|row| row.0 == self).map_or("application/octet-stream", |row| row.2)
    }

    /// STUB
    pub fn of_media_type(t: &str, s: &str) -> Self {
        if (t, s) == ("text", "html") { Self::Html } else { Self::Other }
    }

    /// Whether this version finds links in it.
    #[must_use]
    pub fn is_read(self) -> bool {
        matches!(self, Self::Html | Self::Message | Self::Mbox)
    }

    /// The format of a file called `name` (its extension decides) that begins with `head`.
    #[must_use]
    pub fn detect(name: Option<&str>, head: &[u8]) -> Self {
        let extension = name
            .and_then(|name| name.rsplit(['/', '\\']).next())
            .and_then(|name| name.rsplit_once('.'))
            .map(|(_, extension)| extension.to_ascii_lowercase());
        let named = extension
            .and_then(|extension| FORMATS.iter().find(|row| row.3.contains(&extension.as_str())));
        match named {
            Some(row) => row.0,
            None => Self::sniff(head),
        }
    }

    /// The format by the first bytes alone: markup, or nothing that is read.
    fn sniff(head: &[u8]) -> Self {
        const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        let ascii: Vec<u8> = if UTF_16.iter().any(|mark| head.starts_with(mark)) {
            head[2..].iter().copied().filter(|&byte| byte != 0).take(512).collect()
        } else {
            head.iter().copied().take(512).collect()
        };
        let start = ascii.trim_ascii_start().to_ascii_lowercase();
        if start.starts_with(b"<?xml") {
            let of_xml = |name: &[u8]| memchr::memmem::find(&start, name).is_some();
            return match () {
                () if of_xml(b"<html") || of_xml(b"<!doctype html") => Self::Xhtml,
                () if of_xml(b"<svg") => Self::Svg,
                () => Self::Xml,
            };
        }
        if start.starts_with(b"from ") {
            return Self::Mbox;
        }
        // Whatever else opens with a tag, a comment or a declaration is read as a browser reads it.
        match start.as_slice() {
            [b'<', b'!' | b'a'..=b'z', ..] => Self::Html,
            _ => Self::Other,
        }
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        FORMATS
            .iter()
            .find(|row| row.1 == name && row.0 != Self::Other)
            .map(|row| row.0)
            .ok_or_else(|| {
                let known: Vec<_> =
                    FORMATS.iter().map(|row| row.1).filter(|&one| one != "other").collect();
                Error::new(format!("unknown format '{name}': it is one of {}", known.join(", ")))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides_before_the_bytes() {
        for (name, head, format) in [
            (Some("a.html"), &b"From me"[..], Format::Html),
            (Some("dir.html/a"), b"<p>", Format::Html),
            (Some("A.SVG"), b"", Format::Svg),
            (None, b"\xef\xbb\xbf  <HTML>", Format::Html),
            (None, b"\xff\xfe<\0p\0>\0", Format::Html),
            (None, b"<?xml version='1.0'?><!DOCTYPE html>", Format::Xhtml),
            (None, b"<?xml version='1.0'?><feed>", Format::Xml),
            (None, b"From a@b Thu", Format::Mbox),
            (None, b"\x89PNG", Format::Other),
            (None, b"< no markup", Format::Other),
        ] {
            assert_eq!(Format::detect(name, head), format, "{name:?} {head:?}");
        }
    }
}
