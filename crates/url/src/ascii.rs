//! A URL in ASCII, as the base of a document is inserted into it (RFC 1738, 2.2: URLs consist of ASCII characters).
//!
//! Path, query and fragment are percent-encoded as UTF-8 whatever the encoding of the document, as browsers do with a
//! base. The host is converted as in RFC 3987, 3.1: by IDNA if the scheme is special, else by percent-encoding.
//!
//! ```
//! assert_eq!(baselink_url::ascii("http://bücher.example/é/?é"), "http://xn--bcher-kva.example/%C3%A9/?%C3%A9");
//! ```
//!
//! Deliberately absent: other normalization. ASCII characters stay as they are, even if no URL may contain them.

use std::borrow::Cow;

use baselink_text::layer::escape::percent_encode;

use super::whatwg::is_special;
use crate::reference::Reference;

/// `url` in ASCII. U+FFFD stays, because it stands for bytes that could not be decoded.
pub fn ascii(url: &str) -> Cow<'_, str> {
    if url.is_ascii() {
        return Cow::Borrowed(url);
    }
    let split = Reference::of(url);
    let host = split
        .net_loc_span
        .filter(|_| split.scheme().is_some_and(is_special));
    let host = host.map(|net_loc| {
        let text = &url[net_loc.range()];
        let user = text.rfind('@').map_or(0, |at| at + 1);
        let len = text[user..].find(':').unwrap_or(text.len() - user);
        net_loc.start + user..net_loc.start + user + len
    });
    let encoded = |text| percent_encode(text, |c| !c.is_ascii() && c != '\u{fffd}');
    match host.and_then(|host| Some((url::Host::parse(&url[host.clone()]).ok()?, host))) {
        Some((name, host)) if !url[host.clone()].is_ascii() => {
            let (before, after) = (encoded(&url[..host.start]), encoded(&url[host.end..]));
            format!("{before}{name}{after}").into()
        }
        _ => encoded(url).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_characters_beyond_ascii_change() {
        for (url, expected) in [
            ("HTTP://A:80/ b\\c/../%e9", "HTTP://A:80/ b\\c/../%e9"),
            (
                "http://a/é/表?é#é",
                "http://a/%C3%A9/%E8%A1%A8?%C3%A9#%C3%A9",
            ),
            (
                "HTTP://ü@B\u{dc}CHER.example:81/",
                "HTTP://%C3%BC@xn--bcher-kva.example:81/",
            ),
            ("file://ü/é", "file://xn--tda/%C3%A9"),
            ("http://A/é", "http://A/%C3%A9"),
            ("http://[::1]/é", "http://[::1]/%C3%A9"),
            // Not a host, so that no parser takes it for one.
            ("http://ü ü/", "http://%C3%BC %C3%BC/"),
            ("x://ü/é", "x://%C3%BC/%C3%A9"),
            ("x:é", "x:%C3%A9"),
            ("é:é", "%C3%A9:%C3%A9"),
            ("http://a/\u{fffd}/é", "http://a/\u{fffd}/%C3%A9"),
        ] {
            assert_eq!(ascii(url), expected);
        }
    }
}
