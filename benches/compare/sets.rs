//! The measured pages: real pages if they exist, and generated pages, the same each time.
//!
//! Deliberately absent: hostile pages, and messages.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

const WORDS: [&str; 24] = [
    "the",
    "document",
    "of",
    "a",
    "base",
    "and",
    "reference",
    "is",
    "resolved",
    "in",
    "which",
    "it",
    "was",
    "retrieved",
    "by",
    "its",
    "entity",
    "path",
    "for",
    "readers",
    "with",
    "no",
    "other",
    "URL",
];

/// A reproducible sequence of pseudo-random numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn words(&mut self, count: usize, text: &mut String) {
        for _ in 0..count {
            text.push_str(WORDS[self.below(WORDS.len())]);
            text.push(' ');
        }
    }
}

/// The pages in `folder` and below it that fit in `most` bytes in all.
pub(crate) fn pages_in(folder: &Path, most: usize) -> Vec<Vec<u8>> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "html")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut remaining = most;
    let mut pages: Vec<Vec<u8>> = Vec::new();
    for file in files {
        let page = std::fs::read(file).unwrap();
        if page.len() <= remaining {
            remaining -= page.len();
            pages.push(page);
        }
    }
    pages
}

/// A description of the pages, and the pages: the real pages of `../shared/corpus/pages` that fit in `most` bytes in
/// all. If there are none, generated pages.
pub(crate) fn pages(most: usize) -> (String, Vec<Vec<u8>>) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/pages");
    let pages = pages_in(&corpus, most);
    if pages.is_empty() {
        println!(
            "notice: ../shared/corpus/pages is not here; pages made here stand in for real ones"
        );
        return (
            "pages made here".to_owned(),
            (0..60).map(|seed| page(seed, 200_000)).collect(),
        );
    }
    ("real pages of ../shared/corpus/pages".to_owned(), pages)
}

/// A page in which nearly everything is a link, like the index of a manual.
pub(crate) fn dense(length: usize) -> Vec<u8> {
    let mut chance = Chance(7);
    let mut page =
        "<!DOCTYPE html>\n<html><head><title>Index</title></head><body>\n<ul>\n".to_owned();
    while page.len() < length {
        let (a, b) = (chance.below(4_000), chance.below(90));
        let _ = write!(
            page,
            "<li class=\"entry\"><a href=\"../api/module{b}/class{a}.html#method{b}\">class{a}.method{b}</a> \
             in <a class=\"m\" href='module{b}.html'>module{b}</a>: "
        );
        chance.words(6, &mut page);
        let _ = writeln!(page, "(<a href=/src/{b}/{a}.rs>source</a>)</li>");
    }
    page.push_str("</ul>\n</body></html>\n");
    page.into_bytes()
}

/// Small pages with a head, a menu and some text.
pub(crate) fn small(count: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|seed| page(seed, 3_000 + seed % 7 * 1_000))
        .collect()
}

/// An ordinary page.
fn page(seed: usize, length: usize) -> Vec<u8> {
    let mut chance = Chance(seed as u64);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Page {seed}</title>\n\
         <link rel=\"stylesheet\" href=\"/css/main.css?v=3\">\n<link rel=icon href=../favicon.ico>\n\
         <script src=\"/js/app.js\" defer></script>\n<script>if (a < b) {{ document.title = '<a href=x>'; }}\
         </script>\n<style>body {{ margin: 0; background: url(\"../img/back.png\"); }}</style>\n</head>\n\
         <body class=\"page\">\n<!-- menu -->\n<nav><ul>\n"
    );
    for entry in 0..8 {
        let _ = writeln!(
            page,
            "<li class=\"item\"><a href=\"../part{entry}/index.html\">Part {entry}</a></li>"
        );
    }
    page.push_str("</ul></nav>\n<main>\n");
    while page.len() < length {
        let number = chance.below(1_000);
        page.push_str("<p class=\"text\" id=\"p");
        let _ = write!(page, "{number}\">");
        chance.words(30, &mut page);
        let _ = write!(
            page,
            "<a href=\"chapter{number}.html?from={seed}&amp;to={number}#top\">"
        );
        chance.words(2, &mut page);
        page.push_str("</a> &mdash; ");
        chance.words(20, &mut page);
        page.push_str("</p>\n");
        match number % 4 {
            0 => {
                let _ = writeln!(
                    page,
                    "<img src=\"img/{number}.jpg\" srcset=\"img/{number}.jpg 1x, img/{number}@2x.jpg 2x\" \
                     alt=\"\" width=\"640\" height=\"480\">"
                );
            }
            1 => {
                let _ = writeln!(
                    page,
                    "<a rel=\"nofollow\" href=\"https://example.com/{number}\">out</a>"
                );
            }
            2 => {
                let _ = writeln!(
                    page,
                    "<div style=\"color: #333; padding: 4px\"><b>{number}</b></div>"
                );
            }
            _ => {}
        }
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page.into_bytes()
}

/// Writes one page with the bodies of `pages` one after the other, repeatedly, until it has `size` bytes. Returns the
/// number of bytes.
pub(crate) fn write_big(path: &Path, pages: &[Vec<u8>], size: u64) -> u64 {
    let bodies: Vec<_> = pages.iter().filter_map(|page| body(page)).collect();
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    let head =
        b"<!DOCTYPE html>\n<html><head><meta charset=utf-8><title>One</title></head><body>\n";
    let mut written = 0;
    for piece in std::iter::once(&head[..]).chain(bodies.into_iter().cycle()) {
        if written >= size {
            break;
        }
        file.write_all(piece).unwrap();
        written += piece.len() as u64;
    }
    file.write_all(b"\n</body></html>\n").unwrap();
    file.into_inner().unwrap().sync_all().unwrap();
    written
}

/// The body of a page, if it can be part of any other page: it is UTF-8, has no `base` element, which would apply to
/// the whole page, and no NUL, at which libxml2 stops.
fn body(page: &[u8]) -> Option<&[u8]> {
    let text = std::str::from_utf8(page)
        .ok()
        .filter(|text| !text.contains('\0'))?;
    let lower = text.to_ascii_lowercase();
    let start = lower.find("<body")?;
    let start = start + lower[start..].find('>')? + 1;
    let end = lower.rfind("</body")?;
    (start <= end && !lower.contains("<base")).then(|| &page[start..end])
}
