//! File formats, detected from a file name, the first bytes, or a media type.
//!
//! Header fields identify messages (RFC 5322, 2.2), the first line identifies mailboxes (RFC 4155), and RFC 7303,
//! section 4.2, defines XML media types.
//!
//! ```
//! use baselink_text::Format;
//! assert_eq!(Format::detect(Some("index.HTM"), b""), Format::Html);
//! assert_eq!(Format::detect(None, b"\n<!DOCTYPE html><title>x</title>"), Format::Html);
//! assert_eq!(Format::detect(None, b"Subject: x\nTo: a@b\n\n<p>"), Format::Message);
//! assert_eq!(Format::of_media_type("image/svg+xml"), Format::Svg);
//! assert!("htlm".parse::<Format>().is_err());
//! ```
//!
//! Deliberately absent: reading the whole document. Detection uses the name, or else the first bytes.

mod body;

use std::{str::FromStr, sync::LazyLock};

pub use self::body::{
    STILL_COMPRESSED, extensions, in_place_of_html, is_compressed, media_type_of,
};
use self::body::{ascii_of, first_of};
use crate::{
    display_by_name,
    error::{Error, Result},
    named,
};

named! {
    /// The formats. The command line knows all by name except the last two, which cannot be requested. Scripts and
    /// manifests are scanned only if a group enables them.
    #[derive(Default)]
    pub enum Format {
        /// text/html
        #[default]
        Html = "html",
        /// application/xhtml+xml
        Xhtml = "xhtml",
        /// image/svg+xml
        Svg = "svg",
        /// Other XML, including feeds.
        Xml = "xml",
        /// text/css
        Css = "css",
        /// text/javascript
        Script = "script",
        /// application/manifest+json
        Manifest = "manifest",
        /// application/feed+json
        JsonFeed = "jsonfeed",
        /// An Internet message, `.eml` or `.mht`.
        Message = "message",
        /// A mailbox: messages in one file.
        Mbox = "mbox",
        /// An HTTP response.
        Http = "http",
        /// A WARC web archive (ISO 28500).
        Warc = "warc",
        /// A ZIP archive of WARC files.
        Wacz = "wacz",
        /// An HTTP archive of a browser, in JSON.
        Har = "har",
        /// A page and its resources in a property list, as Safari saves them.
        WebArchive = "webarchive",
        /// text/plain, as a part of a message.
        Plain = "text",
        /// Anything else.
        Other = "other",
    }
}

/// The rows of the table, in the order of [`Format`]: the name, media type, file extensions, noun for diagnostics and content of
/// each format. `nws` is a news article of Outlook Express and Windows Mail, `mbx` a mailbox of Eudora, `mbs` a mailbox of Opera.
///
/// The content is one document, also one that is scanned only on request, by a group that enables its format; entities with
/// headings (RFC 2045, 2.4), or several messages in sequence; an archive of documents, each with its retrieval URL; or nothing
/// that is scanned as a file.
static FORMATS: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let rows = include_str!("format/formats.tsv").lines().skip(1);
    rows.map(|row| row.split('\t').collect()).collect()
});

/// The number of bytes examined to detect markup.
const MARKUP_HEAD: usize = 512;

/// The number of bytes examined to detect a message.
pub const HEADING_HEAD: usize = 2048;

/// The header fields with which mail, news articles and saved pages (MHTML) begin, in lower case. A final `-` marks a
/// prefix of several names.
const HEADER_FIELDS: &str = "\
    apparently-to arc- archived-at authentication-results auto-submitted base bcc cc content-base content-class \
    content-description content-disposition content-id content-language content-length content-location \
    content-transfer-encoding content-type date delivered-to delivery-date dkim-signature domainkey-signature \
    envelope-to errors-to from importance in-reply-to list- message-id mime-version newsgroups path precedence \
    received received-spf references reply-to resent- return-path sender snapshot-content-location subject \
    thread-index thread-topic to xref";

/// The first bytes of feeds, property lists, schemas and other XML, in lower case.
const ROOTS: [&[u8]; 10] = [
    b"<rss",
    b"<feed",
    b"<rdf:rdf",
    b"<opensearchdescription",
    b"<opml",
    b"<plist",
    b"<grammar",
    b"<schema",
    b"<xs:schema",
    b"<xsd:schema",
];

/// The ends of names of XML that browsers do not know as XML.
const UNKNOWN: [&str; 3] = [".opml", ".rng", ".xsd"];

impl Format {
    /// The cell of the format in a column of the table.
    fn cell(self, column: usize) -> &'static str {
        FORMATS[self as usize][column]
    }

    /// The content of files of the format.
    fn content(self) -> &'static str {
        self.cell(4)
    }

    /// The media type.
    pub fn media_type(self) -> &'static str {
        self.cell(1)
    }

    /// The file extensions of the format, in lower case and without the dot.
    pub fn extensions(self) -> impl Iterator<Item = &'static str> {
        self.cell(2).split_ascii_whitespace()
    }

    /// The format of a media type in lower case, without parameters. An unknown `+xml` type is XML (RFC 7303, 4.2), and
    /// message/global is a message (RFC 6532, 3.7).
    pub fn of_media_type(essence: &str) -> Self {
        let mut known = Self::ALL.into_iter();
        if let Some(format) = known.find(|format| format.media_type() == essence) {
            return format;
        }
        match essence {
            "message/global" => Self::Message,
            "message/http" => Self::Http,
            "text/xml" => Self::Xml,
            "application/javascript" | "application/x-javascript" => Self::Script,
            "application/ecmascript" | "text/ecmascript" => Self::Script,
            _ if essence.ends_with("+xml") => Self::Xml,
            _ => Self::Other,
        }
    }

    /// True if a file is only a fragment of HTML, for inclusion in other documents: its name has an unknown
    /// extension, and its first tag cannot begin a document (HTML, 13.1.2.4 and 4.2). Doxygen writes such files for
    /// image maps.
    ///
    /// ```
    /// # use baselink_text as baselink;
    /// use baselink::Format;
    /// assert!(Format::is_part("classA.map", b"<map id='A'>"));
    /// assert!(!Format::is_part("page.php", b"<!-- 1 --><!DOCTYPE html>"));
    /// assert!(!Format::is_part("part.html", b"<div>"));
    /// ```
    pub fn is_part(name: &str, head: &[u8]) -> bool {
        const BEGINNINGS: &str =
            "!doctype ?xml html head body frameset title meta link base style script";
        if !before_query(name).contains('.') || Self::of_extension(name).is_some() {
            return false;
        }
        let mut head = head
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(head)
            .trim_ascii_start();
        while let Some(comment) = head.strip_prefix(b"<!--") {
            let Some(end) = memchr::memmem::find(comment, b"-->") else {
                return false;
            };
            head = comment[end + 3..].trim_ascii_start();
        }
        let Some(tag) = head.strip_prefix(b"<") else {
            return false;
        };
        let name = &tag[..tag
            .iter()
            .position(|byte| !(byte.is_ascii_alphanumeric() || b"!?-".contains(byte)))
            .unwrap_or(tag.len())];
        !is_among(name, BEGINNINGS)
    }

    /// True if files of the format are scanned by default.
    pub fn is_read(self) -> bool {
        !matches!(self.content(), "nothing" | "document on request")
    }

    /// Detects the format of a file called `name`. `head` is the whole file, or at least its first 2,048 bytes. A
    /// known extension decides; otherwise the bytes do, and so they do if they begin like HTML and browsers do not know the extension.
    /// Text after the last dot may be something else, such as part of a host name in a Maildir.
    pub fn detect(name: Option<&str>, head: &[u8]) -> Self {
        let name = name.unwrap_or_default();
        let is_known = |format: &Self| match format {
            Self::Xml => !UNKNOWN.iter().any(|end| name.ends_with(end)),
            _ => !(format.has_headings() || format.is_archive()),
        };
        let by_name = Self::of_extension(name);
        by_name
            .filter(|format| is_known(format) || Self::sniff(head) != Self::Html)
            .unwrap_or_else(|| Self::sniff(head))
    }

    /// The format of a document without a name that begins with `head`: text in no known format is HTML, which may begin with
    /// text. A head with bytes that do not occur in text is binary data (MIME Sniffing, 7).
    ///
    /// ```
    /// use baselink_text::Format;
    /// assert_eq!(Format::of_document(b"hello <a href=x>"), Format::Html);
    /// assert_eq!(Format::of_document(b"%PDF-1.7\n"), Format::Other);
    /// ```
    #[doc(hidden)]
    pub fn of_document(head: &[u8]) -> Self {
        match Self::sniff(head) {
            Self::Other if !is_compressed(head, true) && media_type_of(head).is_none() => {
                Self::Html
            }
            format => format,
        }
    }

    /// The format of a known extension. Crawlers append the query to it: `s.css?v=3`. A compressed web archive has
    /// a second extension.
    fn of_extension(name: &str) -> Option<Self> {
        for (end, format) in [
            (".warc.gz", Self::Warc),
            (".warc.zst", Self::Warc),
            (".har.gz", Self::Har),
        ] {
            let last = name.get(name.len().saturating_sub(end.len())..);
            if last.is_some_and(|last| last.eq_ignore_ascii_case(end)) {
                return Some(format);
            }
        }
        [name, before_query(name)].into_iter().find_map(|name| {
            let (_, extension) = name.rsplit(['/', '\\']).next()?.rsplit_once('.')?;
            let mut known = Self::ALL.into_iter();
            known.find(|format| {
                let mut extensions = format.extensions();
                extensions.any(|own| own.eq_ignore_ascii_case(extension))
            })
        })
    }

    /// Detects a mailbox, a response, a WARC file, a message, a style sheet with an `@charset` (CSS Syntax 3, 3.2) or
    /// markup from the first bytes.
    fn sniff(head: &[u8]) -> Self {
        if head.starts_with(b"From ") {
            // Prose may also begin with `From `; in a mailbox a heading follows (RFC 4155).
            let heading = complete_lines(head).nth(1).and_then(field_name);
            return if heading.is_some() {
                Self::Mbox
            } else {
                Self::Other
            };
        }
        if begins_response(head) {
            return Self::Http;
        }
        if head.starts_with(b"WARC/") && head.get(5).is_some_and(u8::is_ascii_digit) {
            return Self::Warc;
        }
        if begins_message(head) {
            return Self::Message;
        }
        if ascii_of(head).take(10).eq(*b"@charset \"") {
            return Self::Css;
        }
        if begins_json_feed(head) {
            return Self::JsonFeed;
        }
        let text = ascii_of(head).skip_while(u8::is_ascii_whitespace);
        let start: Vec<u8> = text.take(MARKUP_HEAD).collect();
        let start = start.to_ascii_lowercase();
        if start.starts_with(b"<?xml") {
            let of_xml = |name: &[u8]| memchr::memmem::find(&start, name).is_some();
            return match () {
                () if of_xml(b"<html") || of_xml(b"<!doctype html") => Self::Xhtml,
                () if of_xml(b"<svg") => Self::Svg,
                () => Self::Xml,
            };
        }
        // A feed without an XML declaration.
        let first_tag = after_comments(&start);
        let is_tag = |rest: &[u8]| {
            rest.first()
                .is_some_and(|&byte| byte == b'>' || byte.is_ascii_whitespace())
        };
        if ROOTS
            .iter()
            .any(|name| first_tag.strip_prefix(*name).is_some_and(is_tag))
        {
            return Self::Xml;
        }
        // Like a browser, treats anything else that begins with a tag, a comment or a declaration as HTML.
        match start.as_slice() {
            [b'<', b'!' | b'a'..=b'z', ..] => Self::Html,
            // Firefox looks beyond any white space.
            [] if head.len() > MARKUP_HEAD => Self::Html,
            _ => Self::Other,
        }
    }
}

#[doc(hidden)]
impl Format {
    /// The names of formats that can be requested: all but the last two.
    pub const NAMES: [&'static str; Self::ALL.len() - 2] = {
        let mut names = [""; Self::ALL.len() - 2];
        let mut at = 0;
        while at < names.len() {
            names[at] = Self::ALL[at].name();
            at += 1;
        }
        names
    };

    /// The noun for a file of the format in diagnostics: `HTML` or `a message`.
    pub fn noun(self) -> &'static str {
        self.cell(3)
    }

    /// True if files of the format contain entities with headings, which may declare bases (RFC 1808, 3.1).
    pub fn has_headings(self) -> bool {
        matches!(self.content(), "entities" | "messages")
    }

    /// True if files of the format contain several messages, each of which is scanned, rewritten and named
    /// separately.
    pub fn holds_many(self) -> bool {
        self.content() == "messages"
    }

    /// True if files of the format are archives of documents with retrieval URLs.
    pub fn is_archive(self) -> bool {
        self.content() == "archive"
    }

    /// True for pages.
    pub fn is_page(self) -> bool {
        matches!(self, Self::Html | Self::Xhtml)
    }

    /// True for pages, style sheets and scripts.
    pub fn is_of_page(self) -> bool {
        self.is_page() || matches!(self, Self::Css | Self::Script)
    }

    /// The format of a file called `name`, if only a group enables it.
    ///
    /// ```
    /// use baselink_text::Format;
    /// assert_eq!(Format::opt_in("app.js?v=3"), Some(Format::Script));
    /// assert_eq!(Format::opt_in("a/manifest.json"), Some(Format::Manifest));
    /// assert_eq!(Format::opt_in("page.html"), None);
    /// ```
    pub fn opt_in(name: &str) -> Option<Self> {
        let own = before_query(name).rsplit(['/', '\\']).next()?;
        if own.eq_ignore_ascii_case("manifest.json") {
            Some(Self::Manifest)
        } else {
            Self::of_extension(name).filter(|format| format.content() == "document on request")
        }
    }
}

/// The bytes after leading white space, comments, declarations and processing instructions (MIME Sniffing, 7.3).
fn after_comments(mut bytes: &[u8]) -> &[u8] {
    loop {
        bytes = bytes.trim_ascii_start();
        let end: &[u8] = match bytes {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'!', ..] => b">",
            [b'<', b'?', ..] => b"?>",
            _ => return bytes,
        };
        let Some(at) = memchr::memmem::find(bytes, end) else {
            return b"";
        };
        bytes = &bytes[at + end.len()..];
    }
}

/// Removes the query that a crawler appended to a file name.
fn before_query(name: &str) -> &str {
    let start = name.rfind(['/', '\\']).map_or(0, |at| at + 1);
    name[start..]
        .find('?')
        .map_or(name, |at| &name[..start + at])
}

/// The complete lines at the start of `head`, without their line ends.
fn complete_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_all = head.len() < HEADING_HEAD;
    let lines = head[..head.len().min(HEADING_HEAD)].split_inclusive(|&byte| byte == b'\n');
    lines.filter_map(move |line| match line.strip_suffix(b"\n") {
        Some(line) => Some(line.strip_suffix(b"\r").unwrap_or(line)),
        None => is_all.then_some(line),
    })
}

/// The name of the header field that begins `line` (RFC 5322, 2.2). Obsolete white space before the colon is
/// removed (4.5).
pub fn field_name(line: &[u8]) -> Option<&[u8]> {
    let name = line[..memchr::memchr(b':', line)?].trim_ascii_end();
    (!name.is_empty() && name.iter().all(u8::is_ascii_graphic)).then_some(name)
}

/// True if the table of header fields contains `name`.
fn is_usual(name: &[u8]) -> bool {
    HEADER_FIELDS.split(' ').any(|usual| {
        if usual.ends_with('-') {
            starts_with(name, usual)
        } else {
            name.eq_ignore_ascii_case(usual.as_bytes())
        }
    })
}

/// True if `name` is one of `names`, which are separated by spaces, ignoring case.
pub fn is_among(name: &[u8], names: &str) -> bool {
    let mut names = names.as_bytes().split(|&byte| byte == b' ');
    names.any(|one| name.eq_ignore_ascii_case(one))
}

/// True if `text` begins with `start`, ignoring case.
#[inline]
pub fn starts_with(text: &[u8], start: &str) -> bool {
    text.get(..start.len())
        .is_some_and(|text| text.eq_ignore_ascii_case(start.as_bytes()))
}

/// True if `head` begins with a heading. Every line must be a field or a folded line. At least two fields must be
/// usual, or one if the heading ends. The first field must be usual or begin with `X-`. An `X-` field does not count
/// as usual, because YAML has such keys.
pub fn begins_message(head: &[u8]) -> bool {
    let mut usual = 0;
    for (number, line) in complete_lines(head).enumerate() {
        match (line.first(), field_name(line)) {
            (None, _) => return usual > 0,
            (Some(b' ' | b'\t'), _) if number > 0 => {}
            (_, Some(name)) if is_usual(name) => usual += 1,
            (_, Some(name)) if number > 0 || starts_with(name, "x-") => {}
            _ => return false,
        }
    }
    usual > 1
}

/// True if `head` begins with a status line (RFC 9112, 4). Clients also write `HTTP/2 200`.
///
/// ```
/// use baselink_text::format::begins_response;
/// assert!(begins_response(b"HTTP/1.1 200 OK\r\n") && begins_response(b"HTTP/2 404\n"));
/// assert!(!begins_response(b"HTTP/1.1 is a protocol"));
/// ```
pub fn begins_response(head: &[u8]) -> bool {
    let Some(rest) = head.strip_prefix(b"HTTP/") else {
        return false;
    };
    let version = rest
        .iter()
        .position(|byte| !(byte.is_ascii_digit() || *byte == b'.'))
        .unwrap_or(rest.len());
    let status = rest[version..].strip_prefix(b" ").unwrap_or_default();
    let ends = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let is_code = status.len() >= 3 && status[..3].iter().all(u8::is_ascii_digit);
    version > 0 && is_code && ends(status.get(3))
}

/// True if `head` begins with an object whose member `version` is a URL of a JSON Feed (JSON Feed 1.1, "Top-level").
fn begins_json_feed(head: &[u8]) -> bool {
    let head = &head[..head.len().min(HEADING_HEAD)];
    let find = |text: &[u8]| memchr::memmem::find(head, text);
    let Some(start) = find(b"\"version\"").filter(|_| first_of(head) == Some(b'{')) else {
        return false;
    };
    let value = head[start + b"\"version\"".len()..]
        .trim_ascii_start()
        .strip_prefix(b":")
        .unwrap_or_default()
        .trim_ascii_start();
    // Programs may escape a slash (RFC 8259, 7).
    let url = value.iter().copied().filter(|byte| *byte != b'\\');
    b"\"https://jsonfeed.org/version/"
        .iter()
        .copied()
        .eq(url.take(30))
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let at = Self::NAMES.iter().position(|known| *known == name);
        at.map(|at| Self::ALL[at]).ok_or_else(|| {
            let known = Self::NAMES.join(", ");
            Error::new(format!("unknown format '{name}'; use one of {known}"))
        })
    }
}

display_by_name!(Format);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides_before_the_bytes() {
        for (name, head, format) in [
            (Some("a.html"), &b"From me"[..], Format::Html),
            (Some("s.css?v=3"), b"a { }", Format::Css),
            (Some("s.css?v=3.1"), b"a { }", Format::Css),
            (Some("x?s.css"), b"a { }", Format::Css),
            (Some("x.css?/a"), b"a { }", Format::Other),
            (Some("dir.html/a"), b"<p>", Format::Html),
            (Some("A.SVG"), b"", Format::Svg),
            (None, b"\xef\xbb\xbf  <HTML>", Format::Html),
            (None, b"\xff\xfe<\0p\0>\0", Format::Html),
            (None, b"<?xml version='1.0'?><!DOCTYPE html>", Format::Xhtml),
            (None, b"<?xml version='1.0'?><feed>", Format::Xml),
            (
                None,
                b"<!-- a > b --> <!DOCTYPE rss SYSTEM 'x'><?y ?><RSS>",
                Format::Xml,
            ),
            (None, b"<!-- <rss> --><p>", Format::Html),
            (None, b"<!-- <rss>", Format::Html),
            (
                None,
                b" {\"title\":\"x\",\"version\" : \"https:\\/\\/jsonfeed.org\\/version\\/1\"}",
                Format::JsonFeed,
            ),
            (
                None,
                b"{\"version\":\"https://jsonfeed.org/version/",
                Format::JsonFeed,
            ),
            (
                None,
                b"{\"version\":\"https://jsonfeed.org/versio",
                Format::Other,
            ),
            (
                None,
                b"[{\"version\":\"https://jsonfeed.org/version/1\"}]",
                Format::Other,
            ),
            (
                Some("a.js"),
                b"{\"version\":\"https://jsonfeed.org/version/1\"}",
                Format::Script,
            ),
            (None, b"<OpenSearchDescription xmlns='x'>", Format::Xml),
            (None, b"@charset \"utf-8\"; a { }", Format::Css),
            (None, b"\xef\xbb\xbf@charset \"", Format::Css),
            (None, b"@charset 'utf-8';", Format::Other),
            (None, b" @charset \"utf-8\";", Format::Other),
            (None, b"a { }", Format::Other),
            (Some("a.css"), b"<p>", Format::Css),
            (Some("a.html"), b"@charset \"", Format::Html),
            (None, b"\x89PNG", Format::Other),
            (None, b"< no markup", Format::Other),
            // Firefox shows such files as HTML.
            (Some("a.eml"), b"<p>", Format::Html),
            (Some("a.har"), b"\n<html>", Format::Html),
            (Some("a.opml"), b"<!-- a --><html>", Format::Html),
            (
                Some("a.opml"),
                b"<!-- a --><opml version='1.0'>",
                Format::Xml,
            ),
            (Some("a.xml"), b"<html>", Format::Xml),
            (Some("A.MHTML"), b"", Format::Message),
            (Some("1.nws"), b"", Format::Message),
            (Some("Sent.mbs"), b"", Format::Mbox),
            (
                Some("cur/1234.M5P6.host:2,S"),
                b"To: a\nFrom: b\n",
                Format::Message,
            ),
            (Some("cur/1234.M5P6.host:2,S"), b"<p>", Format::Html),
            (
                Some("new/1234.M5P6.host"),
                b"From a@b Thu\nTo: a\n",
                Format::Mbox,
            ),
            (Some("mail.html"), b"To: a\nFrom: b\n\n", Format::Html),
            // A script may begin with a comment of HTML.
            (Some("a.js"), b"<!-- a\n", Format::Script),
        ] {
            assert_eq!(Format::detect(name, head), format, "{name:?} {head:?}");
        }
    }

    #[test]
    fn white_space_of_any_length_precedes_markup() {
        let after = |number, text: &str| " \n".repeat(number) + text;
        for (head, format) in [
            (after(256, "<html>"), Format::Html),
            (after(9_000, "<?xml version='1.0'?><a>"), Format::Xml),
            (after(256, "text"), Format::Other),
            // Firefox looks beyond the end of the head.
            (after(2_048, ""), Format::Html),
        ] {
            assert_eq!(Format::detect(None, head.as_bytes()), format, "{head:?}");
        }
    }

    #[test]
    fn a_message_is_detected_by_its_header_fields() {
        for (head, format) in [
            (
                "Received: from a\n\tby b\nX-Any: c\n\nbody",
                Format::Message,
            ),
            (
                "RETURN-PATH: <>\r\nUnknown: c\r\nsubject : d\r\n",
                Format::Message,
            ),
            // The usual fields are two, or one and the end of the heading.
            ("Subject: a\n\nbody", Format::Message),
            ("Subject: a\nUnknown: b\n\n\0", Format::Message),
            ("Subject: a\nUnknown: b\n", Format::Other),
            ("Subject: a\nTo: b", Format::Message),
            ("Subject: a", Format::Other),
            ("X-One: a\nX-Two: b\nDate: c\nTo: d", Format::Message),
            ("x-one: &a\n  b: c\n\nx-two: d\n", Format::Other),
            ("ARC-Seal: a\nList-Id: b\n", Format::Message),
            (
                "Snapshot-Content-Location: http://a/\nSubject: a\n",
                Format::Message,
            ),
            ("Base: <URL:http://a/\n  b>\n\n", Format::Message),
            // The first line is a usual field.
            ("Title: a\nfoo", Format::Other),
            ("Title: a\nDate: b\nSubject: c\n\ntext", Format::Other),
            ("\nSubject: a\nTo: b\n", Format::Other),
            (" Subject: a\nTo: b\n", Format::Other),
            ("\u{feff}Subject: a\nTo: b\n", Format::Other),
            ("Subjects: a\nTo: b\n", Format::Other),
            ("List: a\nTo: b\n", Format::Other),
            // Every line is a field or folded.
            ("From: a\nTo: b\nDear c,\n", Format::Other),
            ("From: a\nTo: b\nDear c,", Format::Other),
            ("From: a\nTo: b\nNo field: c\n", Format::Other),
            ("From: a\nTo: b\n: c\n", Format::Other),
            ("From: a\nTo: b\n- c: d\n", Format::Other),
            ("Subject: a\n---\nTo: b\n", Format::Other),
            // None of these is a message.
            ("---\nsubject: a\nto: b\n---\n", Format::Other),
            (
                "HTTP/1.1 200 OK\nDate: a\nContent-Type: text/html\n\n",
                Format::Http,
            ),
            ("User-Agent: *\nDisallow: /\n\n", Format::Other),
            ("a:hover { color: red }\n\nb { }\n", Format::Other),
            ("", Format::Other),
            ("\n", Format::Other),
            (":\n\n", Format::Other),
        ] {
            assert_eq!(Format::detect(None, head.as_bytes()), format, "{head:?}");
        }
    }

    #[test]
    fn a_mailbox_is_detected_by_its_first_line_and_the_next_field() {
        for (head, format) in [
            ("From a@b Thu\nReceived: c", Format::Mbox),
            ("From a@b Thu\r\nUnknown: c\r\n", Format::Mbox),
            ("From a@b Thu", Format::Other),
            ("From a@b Thu\n", Format::Other),
            ("From a@b Thu\n\nSubject: c\n", Format::Other),
            ("From me to you,\nwith love", Format::Other),
            ("from a@b Thu\nTo: c\n", Format::Other),
            (" From a@b Thu\nTo: c\n", Format::Other),
            ("\nFrom a@b Thu\nTo: c\n", Format::Other),
            (">From a@b Thu\nTo: c\nSubject: d\n\n", Format::Other),
            ("From: a\nTo: c\n", Format::Message),
        ] {
            assert_eq!(Format::detect(None, head.as_bytes()), format, "{head:?}");
        }
    }

    #[test]
    fn only_the_first_two_kilobytes_count() {
        // `To: ` (4), the filling, LF: the second line begins at 5 + filling.
        for (filling, rest, format) in [
            (2037, "Cc: b\n", Format::Message), // ends at 2048
            (2038, "Cc: b\n", Format::Other),   // ends at 2049
            (2042, "\nbody", Format::Message),  // the empty line ends at 2048
            (2043, "\nbody", Format::Other),
            (
                2000,
                "Cc: b\nno field at all, and long enough to be cut\n",
                Format::Message,
            ),
            (2000, "Cc: b\nno field at all\n", Format::Other),
        ] {
            let head = ["To: ", &"a".repeat(filling), "\n", rest].concat();
            assert_eq!(
                Format::detect(None, head.as_bytes()),
                format,
                "{filling} {rest:?}"
            );
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_format() {
        let contents = "document,document on request,entities,messages,archive,nothing";
        assert_eq!(FORMATS.len(), Format::ALL.len());
        for format in Format::ALL {
            assert_eq!(format.cell(0), format.name());
            let is_known = contents.split(',').any(|known| known == format.content());
            assert!(is_known, "{format}");
        }
    }

    #[test]
    fn a_media_type_has_a_format() {
        for (media_type, format) in [
            ("text/html", Format::Html),
            ("application/xhtml+xml", Format::Xhtml),
            ("image/svg+xml", Format::Svg),
            ("text/css", Format::Css),
            ("text/plain", Format::Plain),
            ("message/rfc822", Format::Message),
            ("message/global", Format::Message),
            ("application/mbox", Format::Mbox),
            ("text/xml", Format::Xml),
            ("application/xml", Format::Xml),
            ("application/atom+xml", Format::Xml),
            ("application/feed+json", Format::JsonFeed),
            ("model/x3d+xml", Format::Xml),
            ("message/partial", Format::Other),
            ("message/external-body", Format::Other),
            ("multipart/related", Format::Other),
            ("application/octet-stream", Format::Other),
            ("application/xml-dtd", Format::Other),
            ("image/svg", Format::Other),
            ("text/x-html", Format::Other),
            ("application/html", Format::Other),
            ("/", Format::Other),
        ] {
            assert_eq!(Format::of_media_type(media_type), format, "{media_type}");
        }
    }

    #[test]
    fn every_format_but_the_last_two_is_parsed_by_name() {
        for format in Format::ALL {
            let is_parsed = !matches!(format, Format::Plain | Format::Other);
            let parsed = format.name().parse::<Format>().ok();
            assert_eq!(parsed, is_parsed.then_some(format));
        }
        let of = |format: Format| (format.media_type(), format.extensions().next());
        assert_eq!(of(Format::Wacz), ("application/wacz", Some("wacz")));
        assert_eq!(
            (Format::Plain.name(), Format::Plain.media_type()),
            ("text", "text/plain")
        );
        assert_eq!(Format::default(), Format::Html);
    }
}
