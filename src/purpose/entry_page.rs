//! The entry page of a folder made from an archive: a list of the pages in it, with their titles.
//!
//! ```
//! use baselink_cli::purpose::entry_page::{PageEntry, entry_page, title};
//! let title = title(b"<!DOCTYPE html><title>Caf&eacute; &amp; Bar</title>", None).unwrap();
//! assert_eq!(title, "Café & Bar");
//! let entry = PageEntry { name: b"a.example/a b.html", url: "http://a.example/a b", title, date: "2026-01-31".into() };
//! let page = entry_page("crawl.warc.gz", &[entry]);
//! assert!(page.contains("<a href=\"a.example/a%20b.html\">Café &amp; Bar</a>"));
//! ```
//!
//! Deliberately absent: scripts, and resources outside the page.

use memchr::memmem;

use crate::collection::origin::names;
use baselink_scan::html::tag;
use baselink_text::layer::charset::Charset;
use baselink_text::layer::escape;

/// A page in the list.
#[derive(Clone, Debug)]
pub struct PageEntry<'a> {
    /// The path of the file below the folder.
    pub name: &'a [u8],
    /// The URL of the page.
    pub url: &'a str,
    /// The title of the page; empty if it has none.
    pub title: String,
    /// The date of the capture; empty if unknown.
    pub date: String,
}

const STYLE: &str = "body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:auto;padding:1rem;overflow-wrap:anywhere}\
    ul{padding:0;list-style:none}li{margin:0 0 .75rem}small{display:block;color:#595959}\
    @media(prefers-color-scheme:dark){body{background:#111;color:#eee}a{color:#8cb4ff}small{color:#aaa}}";

/// Generates the HTML of a page that lists `pages`, which come from the archives named in `source`.
pub fn entry_page(source: &str, pages: &[PageEntry<'_>]) -> String {
    let text = |text: &str| escape::attribute(text, escape::Quote::Double).replace('<', "&lt;");
    let source = text(source);
    let number = match pages.len() {
        1 => "1 page".to_owned(),
        many => format!("{many} pages"),
    };
    let mut page = format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{source}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{source}</h1>\n<p>{number}</p>\n<ul>\n"
    );
    for PageEntry {
        name,
        url,
        title,
        date,
    } in pages
    {
        let href = names::path(name, names::Percent::Encode).unwrap_or_default();
        let (href, url, date) = (text(&href), text(url), text(date));
        let shown = if title.is_empty() {
            url.clone()
        } else {
            text(title)
        };
        let gap = if date.is_empty() { "" } else { " · " };
        page +=
            &format!("<li><a href=\"{href}\">{shown}</a><small>{url}{gap}{date}</small></li>\n");
    }
    page + "</ul>\n</body>\n</html>\n"
}

/// The number of bytes of a page to search for its title.
const HEAD: usize = 64 << 10;

/// The text of the first `title` element in the first 64 KiB of `page`; `None` if it is missing or empty. `charset` is
/// the encoding from the heading.
pub fn title(page: &[u8], charset: Option<Charset>) -> Option<String> {
    let head = &page[..page.len().min(HEAD)];
    let charset = Charset::detect(page, charset).charset;
    let decoded;
    let head = match charset.is_ascii_compatible() {
        true => head,
        false => {
            decoded = charset.decode(head, 0).text;
            decoded.as_bytes()
        }
    };
    // Only one tag is read to its end, since there may be many without an end.
    let start = memmem::find_iter(head, b"<").find(|at| {
        let name = head.get(at + 1..at + 6).unwrap_or_default();
        let is_ended = head
            .get(at + 6)
            .is_none_or(|byte| !byte.is_ascii_alphanumeric());
        name.eq_ignore_ascii_case(b"title") && is_ended
    })?;
    let start = tag::read(head, start)?.span.end;
    let length = memmem::find_iter(&head[start..], b"</").find(|&at| {
        head[start + at + 2..]
            .get(..5)
            .is_some_and(|name| name.eq_ignore_ascii_case(b"title"))
    })?;
    let written = &head[start..start + length];
    let view = match charset.is_ascii_compatible() {
        true => charset.decode(written, 0),
        false => Charset::UTF_8.decode(written, 0),
    };
    let text = escape::character_data(view).text;
    let words: Vec<&str> = text.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug 288: each `<titlex` was read to the end of the page.
    #[test]
    fn a_longer_name_is_no_title() {
        let flood = "<titlex ".repeat(8_000) + "<title>A</title>";
        assert_eq!(title(flood.as_bytes(), None).as_deref(), Some("A"));
        assert_eq!(title("<title ".repeat(9_000).as_bytes(), None), None);
    }
}
