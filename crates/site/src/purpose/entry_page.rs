//! The entry page of a folder made from an archive: a list of the pages in it, with their titles, by host.
//!
//! ```
//! use baselink_site::purpose::entry_page::{PageEntry, entry_page, title};
//! let title = title(b"<!DOCTYPE html><title>Caf&eacute; &amp; Bar</title>", None).unwrap();
//! assert_eq!(title, "Café & Bar");
//! let (folder, name, url) = ("".into(), b"a.example/a b.html".to_vec(), "http://a.example/a b".into());
//! let entry = PageEntry { folder, name, url, title, date: "2026-01-31".parse().ok(), is_page: true };
//! let page = entry_page("crawl.warc.gz", &[entry], &[]);
//! assert!(page.contains("<a href=\"a.example/a%20b.html\">Café &amp; Bar</a>"));
//! ```
//!
//! A box filters a long list; without scripts, only this box is absent. Groups fold, and large ones are closed at first.
//!
//! Deliberately absent: resources outside the page.

use std::borrow::Cow;

use baselink_scan::html::{references::character_data, tag};
use baselink_text::{Charset, count, format::starts_with, layer::escape};
use baselink_url::Reference;
use indexmap::IndexMap;
use memchr::memmem;

use crate::collection::{capture::CaptureDate, origin::names};

/// A page in the list, or another file.
pub struct PageEntry<'a> {
    /// The folder of its source, if there are several.
    pub folder: Cow<'a, str>,
    /// The path of the file below the folder that opens.
    pub name: Vec<u8>,
    /// The URL of the page.
    pub url: Cow<'a, str>,
    /// The title of the page; empty if it has none.
    pub title: String,
    /// The date of the capture, if known.
    pub date: Option<CaptureDate>,
    /// True for a page.
    pub is_page: bool,
}

const STYLE: &str = "body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:auto;padding:1rem;overflow-wrap:anywhere}\
    h1{font-size:1.5rem}summary{font-weight:bold;margin:1rem 0 .5rem;cursor:pointer}ul{padding:0;list-style:none}li{margin:0 0 .75rem}small{display:block;color:#595959}\
    @media(prefers-color-scheme:dark){body{background:#111;color:#eee}a{color:#8cb4ff}small{color:#aaa}}";

/// The script that adds a box to the page. It hides the items that lack a word in the box, and the groups that have no other items.
const SCRIPT: &str = "\
const box = document.createElement('input'), all = (within, what) => [...within.querySelectorAll(what)]
box.type = 'search'
box.placeholder = box.ariaLabel = 'Filter'
document.querySelector('p').append(' ', box)
box.oninput = () => {
  const words = box.value.toLowerCase().split(/\\s+/)
  for (const item of all(document, 'li'))
    item.hidden = !words.every(word => item.textContent.toLowerCase().includes(word))
  for (const group of all(document, 'details')) {
    group.hidden = !all(group, 'li').some(item => !item.hidden)
    group.open ||= box.value !== ''
  }
}";

/// The largest number of items that are listed without a box.
const FEW: usize = 20;

/// The maximum number of pages in the groups that are open at first.
const MOST_OPEN: usize = 100;

/// The element by which [`is_entry_page`] recognizes a page.
const MARK: &str = "<meta name=\"generator\" content=\"baselink\">";

/// True if `page` may be the result of [`entry_page`].
pub fn is_entry_page(page: &[u8]) -> bool {
    memmem::find(page, MARK.as_bytes()).is_some()
}

/// Generates the HTML of a page that lists `pages`, which come from `source`, and the URLs of `missing` resources, each with the URL or
/// the name of a document that links to it.
pub fn entry_page(source: &str, pages: &[PageEntry<'_>], missing: &[[String; 2]]) -> String {
    let source = text(source);
    let number_of_pages = pages.iter().filter(|page| page.is_page).count();
    let number = match (number_of_pages, pages.len() - number_of_pages) {
        (pages, 0) => count(pages, "page", "pages"),
        (0, files) => count(files, "file", "files"),
        (pages, others) => {
            let pages = count(pages, "page", "pages");
            format!("{pages}, {}", count(others, "other file", "other files"))
        }
    };
    let mut page = format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{MARK}\n\
         <title>{source}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{source}</h1>\n<p>{number}</p>\n"
    );
    let (groups, number_of_items, mut shown) = (groups(pages), pages.len(), 0);
    let folds = groups.len() > 1;
    for (group, pages) in groups {
        if folds {
            let number = pages.len();
            let is_open = shown + number <= MOST_OPEN;
            shown += if is_open { number } else { 0 };
            let open = if is_open { " open" } else { "" };
            page += &format!(
                "<details{open}>\n<summary>{} ({number})</summary>\n",
                text(&group)
            );
        }
        page += "<ul>\n";
        pages.iter().for_each(|entry| page += &item(entry));
        page += if folds {
            "</ul>\n</details>\n"
        } else {
            "</ul>\n"
        };
    }
    if !missing.is_empty() {
        let number = missing.len();
        page += &format!("<details>\n<summary>Missing ({number})</summary>\n<ul>\n");
        for [url, place] in missing {
            page += &format!("<li>{}<small>{}</small></li>\n", text(url), text(place));
        }
        page += "</ul>\n</details>\n";
    }
    if number_of_items > FEW {
        page += &format!("<script>\n{SCRIPT}\n</script>\n");
    }
    page + "</body>\n</html>\n"
}

/// The pages by source and host, in the order of the first pages.
fn groups<'a, 'p>(pages: &'a [PageEntry<'p>]) -> IndexMap<String, Vec<&'a PageEntry<'p>>> {
    let mut groups = IndexMap::<_, Vec<_>>::new();
    for page in pages {
        let host = Reference::of(&page.url).net_loc();
        let mut parts = vec![&*page.folder, host.unwrap_or_default()];
        parts.retain(|part| !part.is_empty());
        groups.entry(parts.join(" · ")).or_default().push(page);
    }
    groups
}

/// The item of a page in the list.
fn item(page: &PageEntry<'_>) -> String {
    let href = names::encoded(&page.name).unwrap_or_default();
    let (shown, url) = if page.title.is_empty() {
        (&*page.url, None)
    } else {
        (&*page.title, Some(text(&page.url)))
    };
    let date = page
        .date
        .map(|date| format!("<time datetime=\"{date}\">{}</time>", date.in_words()));
    let details: Vec<String> = url.into_iter().chain(date).collect();
    let details = if details.is_empty() {
        String::new()
    } else {
        format!("<small>{}</small>", details.join(" · "))
    };
    let (href, shown) = (text(&href), text(shown));
    format!("<li><a href=\"{href}\">{shown}</a>{details}</li>\n")
}

fn text(text: &str) -> String {
    escape::attribute(text, escape::Quote::Double).replace('<', "&lt;")
}

/// The number of bytes of a page to search for its title.
const HEAD: usize = 64 << 10;

/// The text of the first `title` element in the first 64 KiB of `page`; `None` if it is missing or empty. `charset` is
/// the encoding from the heading.
pub fn title(page: &[u8], charset: Option<Charset>) -> Option<String> {
    let mut head = Cow::Borrowed(&page[..page.len().min(HEAD)]);
    let mut charset = Charset::detect(page, charset).charset;
    if !charset.is_ascii_compatible() {
        head = charset.decode(&head, 0).text.into_bytes().into();
        charset = Charset::UTF_8;
    }
    let head = &*head;
    // Only one tag is read to its end, since there may be many without an end.
    let start = memmem::find_iter(head, b"<").find(|at| {
        let is_ended = head
            .get(at + 6)
            .is_none_or(|byte| !byte.is_ascii_alphanumeric());
        starts_with(&head[at + 1..], "title") && is_ended
    })?;
    let start = tag::read(head, start)?.span.end;
    let text = &head[start..];
    let end = memmem::find_iter(text, b"</").find(|at| starts_with(&text[at + 2..], "title"))?;
    let text = character_data(charset.decode(&text[..end], 0)).text;
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

    #[test]
    fn long_lists_have_a_box_and_large_groups_are_closed() {
        let page = |folder: &'static str, number: usize| PageEntry {
            folder: folder.into(),
            name: format!("{number}.html").into_bytes(),
            url: format!("{number}.html").into(),
            title: "</li><script>".into(),
            date: None,
            is_page: true,
        };
        let few: Vec<_> = (0..20).map(|number| page("a", number)).collect();
        let few = entry_page("x", &few, &[]);
        assert!(
            !few.contains("<script") && !few.contains("<details"),
            "{few}"
        );
        let all = (0..120).map(|number| page(if number < 101 { "a" } else { "b" }, number));
        let all = entry_page("x", &all.collect::<Vec<_>>(), &[]);
        for part in [
            "<details>\n<summary>a (101)</summary>",
            "<details open>\n<summary>b (19)</summary>",
        ] {
            assert!(all.contains(part), "{all}");
        }
        assert_eq!(all.matches("<script").count(), 1);
    }
}
