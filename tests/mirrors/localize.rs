//! Offline mirrors: links to present files lead to those files, and other links to their original URLs.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use baselink::Outcome;
use baselink_files::walk::{EntryKind, TreeEntry};
use baselink_rewrite::{Options, rewrite};
use baselink_site::collection::origin::map::UrlMap;
use baselink_site::collection::origin::{Origins, RootUrl};
use baselink_site::collection::{Collection, ResourceKind};
use baselink_site::purpose::localize::{localize, options};
use baselink_text::format::Format;
use baselink_url::Resolver;
use baselink_verify::verify;
use proptest::prelude::*;

fn entry(path: &str) -> TreeEntry {
    TreeEntry {
        root: Path::new("site").into(),
        relative: path.split('/').map(Into::into).collect(),
        path: Path::new("site").join(path),
        kind: EntryKind::File,
        size: 0,
    }
}

fn below(url: &str) -> Origins {
    Origins {
        root_url: Some(RootUrl::new(url).unwrap()),
        ..Origins::default()
    }
}

/// A folder with known files and retrieval URLs.
struct Tree {
    origins: Origins,
    index: Arc<Collection>,
    resolver: Resolver,
}

impl Tree {
    fn new(origins: Origins, files: &[&str]) -> Self {
        let mut index = Collection::new(origins.clone());
        files.iter().for_each(|file| {
            index.add_entry(
                &entry(file),
                None,
                origins
                    .of(&entry(file), &entry(file), Format::Other, b"")
                    .0
                    .as_ref(),
            )
        });
        let index = Arc::new(index);
        Self {
            origins,
            index,
            resolver: Resolver::default(),
        }
    }

    fn options(&self, path: &str, text: &[u8]) -> Options {
        let format = Format::detect(Some(path), b"");
        let retrieval = self.origins.of(&entry(path), &entry(path), format, text).0;
        let requested = Options {
            format,
            resolver: self.resolver,
            retrieval,
            ..Options::default()
        };
        options(path.as_bytes(), text, &self.index, false, &requested)
    }

    /// The localized form of the file `path` with the contents `text`. Localizing again changes nothing, and only
    /// reported links change.
    fn localized(&self, path: &str, text: &str) -> String {
        let options = self.options(path, text.as_bytes());
        let (mut once, links) = localize(text.as_bytes(), &options, Vec::push);
        once.report.links = links;
        assert_eq!(verify(&once), Ok(()), "{text}");
        let output = String::from_utf8(once.output()).unwrap();
        let (twice, ()) = localize(output.as_bytes(), &options, |(), _| ());
        assert!(
            twice.edits.is_empty(),
            "{output} becomes {}",
            String::from_utf8_lossy(&twice.output())
        );
        output
    }
}

/// Links beyond a symbolic link or into an unreadable folder, where the files are unknown, keep their form:
/// references without a host are relative to the page, and absolute URLs stay.
#[test]
fn links_to_unknown_entries_are_kept() {
    let mut tree = Tree::new(below("http://a/docs/"), &["index.html"]);
    let mut index = Collection::new(tree.origins.clone());
    index.add_entry(&entry("index.html"), None, None);
    index.add_entry(
        &TreeEntry {
            kind: EntryKind::Symlink,
            ..entry("link")
        },
        None,
        None,
    );
    index.add(b"closed/sub", ResourceKind::Link(None), []);
    tree.index = Arc::new(index);
    for (reference, expected) in [
        ("link/x.html", "link/x.html"),
        ("./link/x.html?v#a", "./link/x.html?v#a"),
        ("/docs/link/a/b#c", "link/a/b#c"),
        ("http://a/docs/link/x.html", "http://a/docs/link/x.html"),
        ("closed/sub/x.html", "closed/sub/x.html"),
        ("closed/sub/", "closed/sub/"),
        ("/docs/closed/sub/x.html#a", "closed/sub/x.html#a"),
        (
            "http://a/docs/closed/sub/x.html",
            "http://a/docs/closed/sub/x.html",
        ),
        // The symbolic link itself and the entries of `closed` are known.
        ("http://a/docs/link", "link"),
        ("closed/x.html", "http://a/docs/closed/x.html"),
        ("closed/subway", "http://a/docs/closed/subway"),
    ] {
        let page = |reference: &str| format!("<a href=\"{reference}\">x</a>");
        assert_eq!(
            tree.localized("index.html", &page(reference)),
            page(expected)
        );
    }
}

#[test]
fn present_files_are_linked_by_their_path() {
    let files = [
        "index.html",
        "sub/page.html",
        "sub/index.html",
        "a b.png",
        "100%.png",
        "q?x=1.png",
        "x:y.png",
        "list.php",
    ];
    let tree = Tree::new(below("http://a/docs/"), &files);
    for (reference, expected) in [
        // Present files. Servers ignore the query of a page that they send as it is.
        ("page.html", "page.html"),
        ("./page.html?x", "./page.html?x"),
        ("../list.php", "../list.php"),
        ("../list.php?id=2", "http://a/docs/list.php?id=2"),
        ("/docs/index.html", "../index.html"),
        ("http://a/docs/index.html#x", "../index.html#x"),
        ("HTTP://A:80/docs/a%20b.png?v=2", "../a%20b.png?v=2"),
        ("//a/docs/100%25.png", "../100%25.png"),
        ("../q%3Fx=1.png", "../q%3Fx=1.png"),
        ("http://a/docs/x:y.png", "../x:y.png"),
        // On disk, a link to a folder must name the index file.
        ("..", "../index.html"),
        ("./", "index.html"),
        ("http://a/docs/sub", "index.html"),
        // The page itself.
        ("#x", "#x"),
        ("http://a/docs/sub/page.html#x", "#x"),
        ("page.html#x", "page.html#x"),
        // Absent files, other hosts, and references that cannot lead to a file.
        ("gone.html", "http://a/docs/sub/gone.html"),
        ("../../x.png", "http://a/x.png"),
        ("http://b/x.png", "http://b/x.png"),
        ("//b/x.png", "http://b/x.png"),
        ("mailto:a@b", "mailto:a@b"),
        (
            "%2e%2e%2findex.html",
            "http://a/docs/sub/%2e%2e%2findex.html",
        ),
        ("{{ url }}", "{{ url }}"),
    ] {
        let link = |reference: &str| format!("<a href=\"{reference}\">x</a>");
        let localized = tree.localized("sub/page.html", &link(reference));
        assert_eq!(localized, link(expected), "{reference}");
    }
}

#[test]
fn an_emptied_base_keeps_fragment_links_working() {
    let tree = Tree::new(
        below("http://a/docs/"),
        &["sub/page.html", "index.html", "x.png"],
    );
    for (page, expected) in [
        // With any other value than an empty one, `#s` would not lead to the page itself. wget empties the base, too.
        (
            "<base href=\"http://a/docs/\"><img src=x.png><a href=#s></a>",
            "<base href=\"\"><img src=../x.png><a href=../index.html#s></a>",
        ),
        (
            "<base href=http://a/docs/sub/page.html target=_top><a href=#s></a><img src=y>",
            "<base href=\"\" target=_top><a href=#s></a><img src=http://a/docs/sub/y>",
        ),
        (
            "<base target=_top href=/docs/><img src='x.png'>",
            "<base target=_top href=\"\"><img src='../x.png'>",
        ),
        (
            "<base href='data:x'><img src=../x.png>",
            "<base href=''><img src=../x.png>",
        ),
        (
            "<base href><img src=../x.png>",
            "<base href><img src=../x.png>",
        ),
        // The base cannot be emptied, so the page is processed as by `rewrite`.
        (
            "<base href=\"{{ base }}\"><a href=\"http://a/docs/x.png\">x</a>",
            "<base href=\"{{ base }}\"><a href=\"http://a/docs/x.png\">x</a>",
        ),
        // A base that does not count is emptied, too.
        (
            "<noscript><base href=\"http://b/\"><img src=\"../x.png\"></noscript>",
            "<noscript><base href=\"\"><img src=\"../x.png\"></noscript>",
        ),
    ] {
        assert_eq!(tree.localized("sub/page.html", page), expected);
    }
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' xml:base='http://a/docs/'>\
               <g xml:base='sub/'><a href='../x.png'/></g></svg>";
    let expected = "<svg xmlns='http://www.w3.org/2000/svg' xml:base=''>\
                    <g xml:base=''><a href='../x.png'/></g></svg>";
    assert_eq!(tree.localized("sub/i.svg", svg), expected);
}

/// Bug 31: a canonical link names the preferred URL of the page (RFC 6596, 3), which is not the URL of a copy.
#[test]
fn the_canonical_url_of_a_page_is_kept() {
    let tree = Tree::new(below("http://a/docs/"), &["sub/page.html", "index.html"]);
    let page = "<link rel=canonical href=http://a/docs/index.html><link rel=next href=http://a/docs/index.html>\
                <a href=http://a/docs/>i</a>";
    let expected = "<link rel=canonical href=http://a/docs/index.html><link rel=next href=../index.html>\
                    <a href=../index.html>i</a>";
    assert_eq!(tree.localized("sub/page.html", page), expected);
}

#[test]
fn new_references_are_escaped_for_their_context() {
    let files = [
        "page.html",
        "a'(b),.png",
        ",c.png",
        "[D].png",
        "\u{fc}&.png",
    ];
    let tree = Tree::new(below("http://a/docs/"), &files);
    for (page, expected) in [
        (
            "<p style='x: url(\"http://a/docs/a&#39;(b),.png\")'>",
            "<p style='x: url(\"a&#39;(b),.png\")'>",
        ),
        (
            "<p style=\"x: url(http://a/docs/%61%27%28b%29%2c.png)\">",
            "<p style=\"x: url(a%27%28b%29,.png)\">",
        ),
        (
            "<img srcset=\"http://a/docs/,c.png 1x, http://a/docs/a'(b),.png 2x\">",
            "<img srcset=\"./,c.png 1x, a'(b),.png 2x\">",
        ),
        ("<img src=http://a/docs/[D].png>", "<img src=%5BD%5D.png>"),
        (
            "<img src=\"http://a/docs/\u{fc}&amp;.png\">",
            "<img src=\"%C3%BC&amp;.png\">",
        ),
        (
            "<iframe srcdoc=\"<base href='/docs/'><img src=&quot;/docs/,c.png&quot;>\">",
            "<iframe srcdoc=\"<base href=''><img src=&quot;./,c.png&quot;>\">",
        ),
        (
            "<meta http-equiv=refresh content='0; http://a/docs/,c.png'>",
            "<meta http-equiv=refresh content='0; ./,c.png'>",
        ),
        (
            "<object codebase=http://a/docs/ data=,c.png></object>",
            "<object codebase=./ data=http://a/docs/,c.png></object>",
        ),
    ] {
        assert_eq!(tree.localized("page.html", page), expected);
    }
    let css = "@import '/docs/,c.png'; a { b: url(/x.png) }";
    assert_eq!(
        tree.localized("s/x.css", css),
        "@import '../,c.png'; a { b: url(http://a/x.png) }"
    );
}

#[test]
fn pages_are_found_by_the_names_that_programs_give() {
    let files = [
        "a.example/page.html",
        "a.example/one?x=1",
        "a.example/two@x=1.html",
        "a.example/three%3Fx=1",
        "a.example/four.html",
        "a.example/five/index.html",
        "a.example/index.html?p=2",
        "a.example/s.css",
        "a.example/n.php",
        "a.example/u?r=%2Fa",
        "a.example/t.css?v=1.css",
        "b.example/z.html",
    ];
    let origins = Origins {
        has_hosts: true,
        ..Origins::default()
    };
    let tree = Tree::new(origins, &files);
    for (reference, expected) in [
        ("/one?x=1", "one%3Fx=1"),
        ("/two?x=1#f", "two@x=1.html#f"),
        ("/three?x=1", "three%253Fx=1"),
        ("four", "four.html"),
        ("/five", "five/index.html"),
        ("/?p=2", "index.html%3Fp=2"),
        ("s.css?v=3", "s.css?v=3"),
        ("t.css?v=1", "t.css%3Fv=1.css"),
        ("/u?r=/a", "u%3Fr=%252Fa"),
        // A page with a query is another page.
        ("n.php?id=7", "https://a.example/n.php?id=7"),
        ("/one?x=2", "https://a.example/one?x=2"),
        ("https://c.example/x", "https://c.example/x"),
    ] {
        let link = |reference: &str| format!("<a href=\"{reference}\">x</a>");
        let localized = tree.localized("a.example/page.html", &link(reference));
        assert_eq!(localized, link(expected), "{reference}");
    }
    let localized = tree.localized("a.example/page.html", "<a href='https://b.example/z.html'>");
    assert_eq!(localized, "<a href='../b.example/z.html'>");
}

/// URL Standard, 4.4: browsers read a `\` in a path as a `/`, and ignore line ends. The name of the file is written
/// so that browsers read it as intended.
#[test]
fn names_that_browsers_would_misread_are_percent_encoded() {
    let tree = Tree::new(
        below("http://a/"),
        &["page.html", "back\\slash.html", "sub/x.html", "a\nb.html"],
    );
    for (reference, expected) in [
        ("back\\slash.html", "back%5Cslash.html"),
        ("back\\slash.html#f", "back%5Cslash.html#f"),
        ("back%5cslash.html", "back%5cslash.html"),
        ("http://a/back\\slash.html", "back%5Cslash.html"),
        ("a\nb.html", "a%0Ab.html"),
        // By RFC 1808 and RFC 3986, `\` separates no segments.
        ("sub\\x.html", "http://a/sub\\x.html"),
        ("sub/x.html", "sub/x.html"),
    ] {
        let link = |reference: &str| format!("<a href=\"{reference}\">x</a>");
        assert_eq!(
            tree.localized("page.html", &link(reference)),
            link(expected),
            "{reference}"
        );
    }
}

/// If only the URL of its folder is known, the file `page?x=1` has the URL `page%3Fx=1`, without a query. References with
/// a query still lead to the files next to it.
#[test]
fn a_page_with_a_query_in_its_name_finds_its_neighbours() {
    let tree = Tree::new(
        below("http://a/"),
        &["s/page?x=1", "s/page?x=2", "s/page", "s/q@y"],
    );
    for (reference, expected) in [
        ("?x=2", "page%3Fx=2"),
        ("?x=2#f", "page%3Fx=2#f"),
        ("?x=1#f", "#f"),
        ("page?x=2", "page%3Fx=2"),
        ("#f", "#f"),
    ] {
        let link = |reference: &str| format!("<a href=\"{reference}\">x</a>");
        let page = format!("<!DOCTYPE html>{}", link(reference));
        let options = tree.options("s/page?x=1", page.as_bytes());
        let options = Options {
            format: Format::Html,
            ..options
        };
        let localized = localize(page.as_bytes(), &options, |(), _| ()).0.output();
        let localized = String::from_utf8(localized).unwrap();
        assert_eq!(
            localized,
            format!("<!DOCTYPE html>{}", link(expected)),
            "{reference}"
        );
        let (again, ()) = localize(localized.as_bytes(), &options, |(), _| ());
        assert!(again.edits.is_empty());
    }
}

#[test]
fn redirects_in_the_map_lead_to_the_file() {
    let map = b"p.html,http://a/x/y.html\nq.html,http://a/old\nq.html,http://a/new/\n";
    let map = UrlMap::parse(map, Path::new("map.csv")).unwrap();
    let origins = Origins {
        map: Some(map.into()),
        ..Origins::default()
    };
    let tree = Tree::new(origins, &["p.html", "q.html"]);
    let page = "<a href=/old></a><a href=../new/#f></a><a href=/newer></a>";
    let expected = "<a href=q.html></a><a href=q.html#f></a><a href=http://a/newer></a>";
    assert_eq!(tree.localized("p.html", page), expected);
}

/// If a link cannot be rewritten, the base is kept, and no link becomes relative to the file.
#[test]
fn a_base_is_kept_if_a_link_needs_it() {
    let tree = Tree::new(below("http://a/docs/"), &["sub/i.xhtml", "x.png"]);
    let page = |base: &str, x: &str| {
        format!(
            "<html xmlns='http://www.w3.org/1999/xhtml'><head><base href='{base}'/>\
             <style>a{{b:url(<![CDATA[y]]>.png)}}</style></head><a href='{x}'/></html>"
        )
    };
    let localized = tree.localized("sub/i.xhtml", &page("http://a/docs/", "x.png"));
    assert_eq!(localized, page("http://a/docs/", "http://a/docs/x.png"));
}

/// `&NotEqualTilde;` means two characters, U+2242 and U+0338. No edit may end between them.
#[test]
fn a_character_reference_is_replaced_whole() {
    let tree = Tree::new(below("http://a/docs/"), &["p.html", "\u{2242}\u{338}.png"]);
    let localized = tree.localized("p.html", "<img src=\"http://a/docs/&NotEqualTilde;.png\">");
    assert_eq!(localized, "<img src=\"%E2%89%82%CC%B8.png\">");
}

/// A browser that saves a page writes links to saved files relative to the page.
#[test]
fn links_to_files_saved_with_a_page_are_kept() {
    let page = "<!-- saved from url=(0018)http://a/x/y?z=1#f -->\n\
                <img src=\"./Page_files/i.png\"><img src=\"j.png\"><a href=\"#f\">x</a>";
    let tree = Tree::new(Origins::default(), &["Page.html", "Page_files/i.png"]);
    let expected = page.replace("j.png", "http://a/x/j.png");
    let localized = tree.localized("Page.html", page);
    assert_eq!(
        localized.split('>').skip(1).collect::<String>(),
        expected.split('>').skip(1).collect::<String>()
    );
}

#[test]
fn messages_are_relative_unless_a_header_field_gives_a_base() {
    let tree = Tree::new(below("http://a/docs/"), &["mail/m.eml", "x.png"]);
    let mail =
        |base: &str, src: &str| format!("Content-Type: text/html\n{base}\n<img src=\"{src}\">\n");
    let localized = tree.localized("mail/m.eml", &mail("", "http://a/docs/x.png"));
    assert_eq!(localized, mail("", "../x.png"));
    let base = "Content-Base: http://a/docs/\n";
    assert_eq!(
        tree.localized("mail/m.eml", &mail(base, "x.png")),
        mail(base, "http://a/docs/x.png")
    );
}

/// RFC 1847: signed content must not change, whether its links are absolute or not.
#[test]
fn signed_content_is_kept() {
    let tree = Tree::new(below("http://a/docs/"), &["m.eml", "x.png"]);
    let mail = "Content-Type: multipart/signed; boundary=b; protocol=x\n\n\
                --b\nContent-Type: text/html\n\n<img src=\"http://a/docs/x.png\">\n\
                --b\nContent-Type: application/x\n\n--b--\n";
    assert_eq!(tree.localized("m.eml", mail), mail);
}

/// Files of a generated tree: those that end with `.html` are pages.
const FILES: [&str; 8] = [
    "index.html",
    "a b.html",
    "sub/page.html",
    "sub/deep/x.html",
    "img/\u{fc}.png",
    "sub/a:b.png",
    "[A].png",
    "sub/,c.png",
];
const BASES: [Option<&str>; 6] = [
    None,
    Some("http://a/docs/"),
    Some("http://a/docs/sub/x"),
    Some("/docs/sub/"),
    Some("sub/"),
    Some("http://b/"),
];
const TAILS: [&str; 4] = ["", "?q=1", "#f", "?q#"];
const PLACES: [(&str, &str); 4] = [
    ("<a href=\"", "\">x</a>"),
    ("<img src=", " alt=x>"),
    ("<img srcset=\"", " 1x\">"),
    ("<p style='background: url(", ")'>"),
];

fn encoded(path: &str) -> String {
    path.bytes().fold(String::new(), |mut url, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'/' | b':' | b',' => url.push(char::from(byte)),
            _ => write!(url, "%{byte:02X}").unwrap(),
        }
        url
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// On disk, every link leads to the same file as before, or to the network. Rewriting a localized page restores the
    /// targets.
    #[test]
    fn a_localized_page_keeps_its_meaning(
        page in 0_usize..4,
        base in 0..BASES.len(),
        links in prop::collection::vec(
            (0..FILES.len() + 1, 0_usize..5, 0..TAILS.len(), 0..PLACES.len()), 1..12),
    ) {
        let path = FILES[page];
        let up = "../".repeat(path.matches('/').count());
        let mut text = BASES[base].map_or(String::new(), |base| format!("<base href={base}>"));
        for (file, form, tail, place) in links {
            let file = encoded(FILES.get(file).unwrap_or(&"gone.png"));
            let reference = match form {
                0 => format!("./{up}{file}"),
                1 => format!("http://a/docs/{file}"),
                2 => format!("/docs/{file}"),
                3 => format!("//a/docs/{file}"),
                _ => format!("./{file}"),
            };
            let (before, after) = PLACES[place];
            writeln!(text, "{before}{reference}{}{after}", TAILS[tail]).unwrap();
        }
        let tree = Tree::new(below("http://a/docs/"), &FILES);
        let localized = tree.localized(path, &text);
        let url = format!("http://a/docs/{}", encoded(path));
        let own = Options::at(&url);
        let before = rewrite(text.as_bytes(), &own).report.links;
        let again = rewrite(localized.as_bytes(), &own).report.links;
        let on_disk = rewrite(localized.as_bytes(), &Options::at(&format!("file:///m/{}", encoded(path)))).report.links;
        for ((before, again), on_disk) in before.iter().zip(&again).zip(&on_disk) {
            if before.element == "base" {
                prop_assert_eq!(&*on_disk.reference, "");
                continue;
            }
            let target = before.target.clone().unwrap();
            prop_assert_eq!(again.target.as_deref(), Some(&*target));
            let bare = target.split(['?', '#']).next().unwrap();
            let file = FILES.iter().find(|file| bare == format!("http://a/docs/{}", encoded(file)));
            if file.is_some() {
                let expected = target.replace("http://a/docs/", "file:///m/");
                prop_assert_eq!(on_disk.target.as_deref(), Some(&*expected));
                prop_assert_ne!(on_disk.outcome, Outcome::Absolute);
            } else {
                prop_assert_eq!(on_disk.target.as_deref(), Some(&*target));
                prop_assert_eq!(on_disk.outcome, Outcome::Absolute);
            }
        }
    }
}
