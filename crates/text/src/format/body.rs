//! The media type of a body that its server calls HTML.
//!
//! Servers send scripts, images and fonts as `text/html`, their default. Browsers use them nevertheless, because a link
//! determines how its target is read (Fetch Standard, "destination"; MIME Sniffing, 8). Such a body does not begin with
//! `<`, and its first bytes or the suffix of its URL tell its type.
//!
//! ```
//! use baselink_text::format::in_place_of_html;
//! let type_of = |body: &[u8], url| in_place_of_html(body, Some(url));
//! assert_eq!(type_of(b"\x89PNG\r\n\x1a\n", "http://h/a.php"), Some("image/png"));
//! assert_eq!(type_of(b"let x;", "http://h/a.js?v=3"), Some("text/javascript"));
//! assert_eq!(type_of(b"\n<p>", "http://h/a.js"), None);
//! assert_eq!(type_of(b"Hello", "http://h/a.php"), None);
//! ```
//!
//! Deliberately absent: doubts about any other media type, and the content of archives such as ZIP.

/// Media types, and the extensions of their files. The first of a row are the defaults. Browsers recognize a file on disk by its
/// extension.
pub fn extensions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = include_str!("extensions.tsv").lines();
    rows.filter_map(|row| row.split_once('\t'))
}

/// The first bytes of gzip (RFC 1952), zstd (RFC 8878) and the obsolete `compress`.
const COMPRESSED: [&[u8]; 3] = [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x1f\x9d"];

/// The reason why a page that [`is_compressed`] is not read.
pub const STILL_COMPRESSED: &str = "it is still compressed";

/// The media type of an image, a font, audio, video or PDF that begins with `bytes` (MIME Sniffing, 6 and 7.1).
///
/// In the table, the bytes are hexadecimal, and `??` stands for any byte. Signatures of letters are longer than in the standard,
/// so that no text has them.
pub fn media_type_of(bytes: &[u8]) -> Option<&'static str> {
    include_str!("signatures.tsv").lines().find_map(|row| {
        let (signature, media_type) = row.split_once('\t')?;
        let head = bytes.get(..signature.len() / 2)?;
        let is_match = head.iter().zip(0..).all(|(byte, at)| {
            let known = &signature[2 * at..2 * at + 2];
            known == "??" || u8::from_str_radix(known, 16) == Ok(*byte)
        });
        is_match.then_some(media_type)
    })
}

/// The media type of a body that was sent as `text/html` from `url`, if it is not HTML. `body` is the body, or at least
/// its first bytes.
pub fn in_place_of_html(body: &[u8], url: Option<&str>) -> Option<&'static str> {
    if first_of(body) == Some(b'<') {
        return None;
    }
    media_type_of(body).or_else(|| {
        let extension = extension(url?)?;
        let has = |known: &str| known.eq_ignore_ascii_case(extension);
        let default = extensions().find(|(_, known)| known.split(' ').next().is_some_and(has));
        let any = || extensions().find(|(_, known)| known.split(' ').any(has));
        let (media_types, _) = default.or_else(any)?;
        let media_type = media_types.split(' ').next()?;
        (!PAGES.contains(&media_type)).then_some(media_type)
    })
}

/// The media types of pages and messages, which a suffix does not prove.
const PAGES: [&str; 4] = [
    "text/html",
    "application/xhtml+xml",
    "message/rfc822",
    "multipart/related",
];

/// The suffix of the last segment in the path of `url`.
fn extension(url: &str) -> Option<&str> {
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None if url.starts_with("cid:") => return None,
        None => url,
    };
    let path = path.split(['?', '#']).next()?;
    let (stem, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    (!stem.is_empty()).then_some(extension)
}

/// The bytes of `text` after its byte order mark; in UTF-16, without zeros, so that ASCII is what it is in UTF-8.
pub fn ascii_of(text: &[u8]) -> impl Iterator<Item = u8> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let is_utf_16 = text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff");
    let text = if is_utf_16 { &text[2..] } else { text };
    text.iter()
        .copied()
        .filter(move |&byte| !(is_utf_16 && byte == 0))
}

/// The first byte of `text` after white space and a byte order mark, which may be that of UTF-16.
pub fn first_of(text: &[u8]) -> Option<u8> {
    ascii_of(text).find(|byte| !byte.is_ascii_whitespace())
}

/// True if `body`, a page or a part of it, is still compressed: it has the signature of a compression, or
/// `is_undecoded` is true and it has bytes that no text has (MIME Sniffing, 3, "binary data byte").
pub fn is_compressed(body: &[u8], is_undecoded: bool) -> bool {
    COMPRESSED.iter().any(|start| body.starts_with(start))
        || (is_undecoded
            && first_of(body) != Some(b'<')
            && body
                .iter()
                .take(512)
                .any(|byte| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_extensions_is_read() {
        let rows = include_str!("extensions.tsv").lines();
        let rows = rows.filter(|row| !row.starts_with('#'));
        assert_eq!(extensions().count(), rows.count());
    }

    #[test]
    fn every_signature_is_a_row_of_bytes() {
        for row in include_str!("signatures.tsv").lines().skip(1) {
            let (signature, media_type) = row.split_once('\t').unwrap();
            let pairs = signature.as_bytes().chunks(2);
            let bytes = pairs.map(|pair| match pair {
                b"??" => 0,
                digits => u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap(),
            });
            let bytes: Vec<u8> = bytes.collect();
            assert!(media_type_of(&bytes).is_some() && media_type.contains('/'));
            assert_eq!(media_type_of(&bytes[..1]), None);
        }
    }

    #[test]
    fn the_first_bytes_decide_before_the_suffix() {
        for (body, url, expected) in [
            (
                &b"\x89PNG\r\n\x1a\n"[..],
                "http://h/x.js",
                Some("image/png"),
            ),
            (b"RIFF\0\0\0\0WEBPVP8 ", "http://h/", Some("image/webp")),
            (b"RIFF and WEBP", "http://h/", None),
            (b"BM\0\0\0\0\0\0\0\0", "http://h/", Some("image/bmp")),
            (b"BMW is a brand", "http://h/", None),
            (b"\0\0\0 ftypisom", "http://h/x.php", Some("video/mp4")),
            (b"wOF2\0\x01\0\0", "http://h/x.php", Some("font/woff2")),
            (b"OTTO\0\x0a", "http://h/x.php", Some("font/otf")),
            (b"OTTO is a name", "http://h/x.php", None),
            (b"%PDF-1.7", "http://h/x.php", Some("application/pdf")),
            (b"{}", "http://h/x.php", None),
            (b"{}", "http://h/x.JSON?a=.php", Some("application/json")),
            (b"{}", "http://h/x.php?a=.json", None),
            (b"{}", "http://h/.json", None),
            (b"{}", "http://h.js", None),
            (b"{}", "http://h.js/", None),
            (b"{}", "http://h/x.js/", None),
            (b"{}", "x/y.mjs#z", Some("text/javascript")),
            (b"{}", "cid:x.js", None),
            (b"", "http://h/x.svg", Some("image/svg+xml")),
            (b"x", "http://h/x.xml", Some("text/xml")),
            (b"x", "http://h/x.txt", Some("text/plain")),
            (b"x", "http://h/x.jpeg", Some("image/jpeg")),
            (b"x", "http://h/x.xhtml", None),
            (b"x", "http://h/x.html", None),
            (b"x", "http://h/x.mht", None),
            (b" \r\n\x0c\t<", "http://h/x.js", None),
            (b"\xef\xbb\xbf <", "http://h/x.js", None),
            (b"\xff\xfe\n\0<\0", "http://h/x.js", None),
            (b"\xfe\xff\0 \0<", "http://h/x.js", None),
            (b"\xfe\xff\0x", "http://h/x.js", Some("text/javascript")),
        ] {
            let found = in_place_of_html(body, Some(url));
            assert_eq!(found, expected, "{} {url}", body.escape_ascii());
        }
    }

    #[test]
    fn text_is_not_compressed() {
        for (body, signature, bytes) in [
            (&b"\x1f\x8b\x08"[..], true, true),
            (b"(\xb5/\xfd", true, true),
            (b"\x1f\x9d\x90", true, true),
            (b"\x0b\x02\x80", false, true),
            (b"caf\xe9\t\x1b$B", false, false),
            (b"<p>\0", false, false),
            (b"\xff\xfe<\0p\0", false, false),
            (b"", false, false),
        ] {
            let found = (is_compressed(body, false), is_compressed(body, true));
            assert_eq!(found, (signature, bytes), "{}", body.escape_ascii());
        }
    }
}
