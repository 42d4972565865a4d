//! The URL from which a file was retrieved (RFC 1808, 3.3), and the way back from a URL to the file. The URLs were
//! derived by hand from RFC 3986, 2.1 and 3.3, from wget's manual and from the output of the programs.

use std::fs;
use std::path::{Path, PathBuf};

use baselink_files::walk::{EntryKind, Selection, TreeEntry, walk};
use baselink_rewrite::base::Source;
use baselink_scan::html::saved::{HEAD, saved};
use baselink_site::collection::Collection;
use baselink_site::collection::companion::Companions;
use baselink_site::collection::origin::map::UrlMap;
use baselink_site::collection::origin::{Origins, RootUrl};
use baselink_text::format::Format;
use proptest::prelude::*;

/// The file at `relative`, below a root that does not exist.
fn entry(relative: &str) -> TreeEntry {
    let root = Path::new("no such root");
    TreeEntry {
        root: root.into(),
        relative: relative
            .split('/')
            .filter(|name| !name.is_empty())
            .map(Into::into)
            .collect(),
        path: root.join(relative),
        kind: EntryKind::File,
        size: 0,
    }
}

fn root_url(url: &str) -> Origins {
    Origins {
        root_url: Some(RootUrl::new(url).unwrap()),
        ..Origins::default()
    }
}

fn layout() -> Origins {
    Origins {
        has_hosts: true,
        ..Origins::default()
    }
}

fn index(mut origins: Origins) -> Origins {
    origins.index = vec!["index.html".into()];
    origins
}

fn url(origins: &Origins, entry: &TreeEntry) -> Option<String> {
    let (retrieval, passed_over) = origins.of(entry, entry, Format::Html, b"");
    assert_eq!(passed_over, [""; 0]);
    retrieval.map(|retrieval| retrieval.url)
}

/// True if `url` leads to `entry` in a collection without other files.
fn leads_to(url: &str, entry: &TreeEntry, origins: &Origins) -> bool {
    let mut collection = Collection::new(origins.clone());
    let (retrieval, _) = origins.of(entry, entry, Format::Html, b"");
    collection.add_entry(entry, None, retrieval.as_ref());
    collection.locate(url).resource().is_some()
}

#[test]
fn a_path_is_appended_to_the_url_of_the_root() {
    let table = [
        ("http://a", "b.html", "http://a/b.html"),
        ("http://a/", "b.html", "http://a/b.html"),
        ("http://a/b", "c/d.html", "http://a/b/c/d.html"),
        ("file:///srv", "x", "file:///srv/x"),
        ("http://a:8080/%7Eu/", "x", "http://a:8080/%7Eu/x"),
        // unreserved, sub-delims, `:` and `@` stay (RFC 3986, 3.3).
        (
            "http://a/",
            "-._~!$&'()*+,;=:@",
            "http://a/-._~!$&'()*+,;=:@",
        ),
        ("http://a/", "100%", "http://a/100%25"),
        ("http://a/", "%41", "http://a/%2541"),
        ("http://a/", "a b?c#d", "http://a/a%20b%3Fc%23d"),
        (
            "http://a/",
            "[x]{y}|^`\"<>\\",
            "http://a/%5Bx%5D%7By%7D%7C%5E%60%22%3C%3E%5C",
        ),
        ("http://a/", "a\nb\t\x7F", "http://a/a%0Ab%09%7F"),
        ("http://a/", "é/日", "http://a/%C3%A9/%E6%97%A5"),
        ("http://a/", "index.html", "http://a/index.html"),
    ];
    for (root, path, expected) in table {
        let origins = root_url(root);
        assert_eq!(
            url(&origins, &entry(path)).as_deref(),
            Some(expected),
            "{root} {path}"
        );
        assert!(leads_to(expected, &entry(path), &origins), "{expected}");
    }
    let origins = index(root_url("http://a/b"));
    for (path, expected) in [
        ("index.html", "http://a/b/"),
        ("c/index.html", "http://a/b/c/"),
        ("index.htm", "http://a/b/index.htm"),
        ("index.html/x", "http://a/b/index.html/x"),
    ] {
        assert_eq!(url(&origins, &entry(path)).as_deref(), Some(expected));
        assert!(leads_to(expected, &entry(path), &origins), "{expected}");
    }
}

#[test]
fn a_file_given_as_argument_has_the_given_url() {
    let origins = root_url("http://a/b");
    assert_eq!(url(&origins, &entry("")).as_deref(), Some("http://a/b"));
    let root_url = Some(RootUrl::of_file("http://a/b?c#d"));
    let origins = Origins {
        root_url,
        ..Origins::default()
    };
    assert_eq!(url(&origins, &entry("")).as_deref(), Some("http://a/b?c#d"));
    assert_eq!(url(&origins, &entry("x")), None);
    assert!(!leads_to("http://a/x", &entry("x"), &origins));
}

#[test]
fn the_url_of_a_root_is_absolute_and_without_query_and_fragment() {
    for wrong in [
        "",
        "a/b",
        "//a/b",
        "/a",
        "mailto:a@b",
        "http://a/?b",
        "http://a/#b",
        "http://a/\n",
        "http://[",
    ] {
        assert!(RootUrl::new(wrong).is_err(), "{wrong}");
    }
}

#[cfg(unix)]
#[test]
fn bytes_that_are_not_utf_8_are_encoded_as_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let name = OsStr::from_bytes(b"caf\xE9.html");
    let file = TreeEntry {
        relative: vec![name.to_owned()],
        ..entry("x")
    };
    let origins = root_url("http://a/");
    assert_eq!(
        url(&origins, &file).as_deref(),
        Some("http://a/caf%E9.html")
    );
    assert!(leads_to("http://a/caf%e9.html", &file, &origins));
}

#[test]
fn urls_below_the_root_lead_to_files_below_it() {
    let root = RootUrl::new("http://Example.org/docs/%7Eu").unwrap();
    let mut collection = Collection::default();
    for path in [
        "a/b.html",
        "a.html",
        "a;v=1",
        "index.html",
        "c/index.html",
        "a",
    ] {
        collection.add_entry(&entry(path), None, None);
    }
    let table = [
        ("http://Example.org/docs/%7Eu/a/b.html", Some("a/b.html")),
        ("HTTP://example.ORG:80/docs/~u/a.html", Some("a.html")),
        ("http://example.org:/d%6Fcs/~u/%61.html", Some("a.html")),
        ("http://example.org/docs/~u/a.html#x?y", Some("a.html")),
        ("http://example.org/docs/~u/a.html?x", Some("a.html")),
        ("http://example.org/docs/~u/./a", Some("a")),
        ("http://example.org/docs/~u/a;v=1", Some("a;v=1")),
        ("http://example.org/docs/~u/", Some("index.html")),
        ("http://example.org/docs/~u/c/", Some("c/index.html")),
        // Servers redirect to the folder.
        ("http://example.org/docs/~u", Some("index.html")),
        // URLs that are not below the root.
        ("http://example.org/docs/~users/a", None),
        ("http://example.org/DOCS/~u/a", None),
        ("https://example.org/docs/~u/a", None),
        ("http://example.org:8080/docs/~u/a", None),
        ("http://www.example.org/docs/~u/a", None),
        ("http://example.org@a/docs/~u/a", None),
        ("//example.org/docs/~u/a", None),
        ("docs/~u/a", None),
        // Servers and file systems take several `/` for one.
        ("http://example.org/docs/~u/a//b.html", Some("a/b.html")),
        // URLs below the root that no file has.
        ("http://example.org/docs/~u/../a", None),
        ("http://example.org/docs/~u/%2e%2E/a", None),
        ("http://example.org/docs/~u/a%2Fb.html", None),
        ("http://example.org/docs/~u/..%2F..%2Fetc%2Fpasswd", None),
        ("http://example.org/docs/~u/%00", None),
        ("http://example.org/docs/~u//etc/passwd", None),
    ];
    for (url, expected) in table {
        let found = collection.locate_below(&root, url).resource();
        let found = found.map(|found| collection.path(found.number));
        assert_eq!(found, expected.map(str::as_bytes), "{url}");
    }
}

/// Building blocks of page heads.
const PIECES: &[&[u8]] = &[
    b"<!--",
    b"-->",
    b"<!",
    b">",
    b"<html",
    b"<head>",
    b" ",
    b"\"",
    b"-",
    b"\xE9",
    b"http://a/",
    b"saved from url=(",
    b"4)",
    b"Saved from ",
    b" at ",
    b" using monolith",
    b"Mirrored from ",
    b" by HTTrack",
    b"Page saved with SingleFile",
    b"url:",
];

proptest! {
    #[cfg(unix)]
    #[test]
    fn a_path_leads_to_its_url_and_back(
        names in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 1..12),
                "[%.?#/;a-c]{1,8}".prop_map(String::into_bytes),
                Just(b"index.html".to_vec()),
            ],
            1..5,
        ),
        root in prop::sample::select(vec!["http://a", "https://b.example:8080/c/", "file:///d%20e"]),
        with_index in any::<bool>(),
    ) {
        use std::ffi::OsString;
        use std::os::unix::ffi::OsStringExt;
        let is_name =
            |name: &Vec<u8>| !name.contains(&b'/') && !name.contains(&0) && !matches!(&name[..], b"." | b"..");
        prop_assume!(names.iter().all(is_name));
        let relative: Vec<_> = names.into_iter().map(OsString::from_vec).collect();
        let origins = if with_index { index(root_url(root)) } else { root_url(root) };
        let file = TreeEntry { relative, ..entry("x") };
        let url = url(&origins, &file).unwrap();
        prop_assert!(url.is_ascii() && url.starts_with(root));
        prop_assert!(leads_to(&url, &file, &origins), "{}", url);
    }

    /// A path that wget writes on Unix round-trips if it contains no `%`.
    #[test]
    fn a_path_that_wget_writes_leads_to_its_url_and_back(
        names in prop::collection::vec("[a-c.?&=:@+ é;#~]{1,6}", 1..4),
    ) {
        let path = format!("a.example/{}", names.join("/"));
        let origins = layout();
        let file = names[names.len() - 1].split('?').next().unwrap();
        let is_dots = |name: &str| matches!(name, "" | "." | "..");
        prop_assume!(!is_dots(file) && !names.iter().any(|name| is_dots(name)));
        let url = url(&origins, &entry(&path)).unwrap();
        prop_assert!(leads_to(&url, &entry(&path), &origins), "{}", url);
    }

    #[test]
    fn any_bytes_can_be_read_for_a_recorded_url(head in prop::collection::vec(prop::sample::select(PIECES), 0..20)) {
        let _ = saved(&head.concat());
    }
}

#[test]
fn folders_named_like_hosts_give_urls() {
    let table = [
        ("a.example/x.html", "https://a.example/x.html"),
        ("a.example/b/c", "https://a.example/b/c"),
        ("a.example:8080/x", "https://a.example:8080/x"),
        ("a.example+8080/x", "https://a.example:8080/x"),
        // HTTrack writes `_` before the port. A top-level domain contains no `_`, but other parts of a host may.
        ("a.example_8080/x", "https://a.example:8080/x"),
        ("a_1.example_80/x", "https://a_1.example:80/x"),
        ("127.0.0.1_80/x", "https://127.0.0.1:80/x"),
        ("localhost_80/x", "https://localhost:80/x"),
        ("a_80/x", "https://a_80/x"),
        ("a_80.example/x", "https://a_80.example/x"),
        ("127.0.0.1:80/x", "https://127.0.0.1:80/x"),
        ("[::1]:8080/x", "https://[::1]:8080/x"),
        ("localhost/x", "https://localhost/x"),
        ("xn--bcher-kva.example/x", "https://xn--bcher-kva.example/x"),
        // wget writes the query into the name, unchanged except for `/`.
        (
            "a.example/p?q=1&r=%C3%A9",
            "https://a.example/p?q=1&r=%C3%A9",
        ),
        ("a.example/p?q=a%2Fb?c", "https://a.example/p?q=a%2Fb?c"),
        ("a.example/p?q=a b|#", "https://a.example/p?q=a%20b%7C%23"),
        ("a.example/p@q=1", "https://a.example/p@q=1"),
        // A folder has no query: wget decoded `%3F` here.
        ("a.example/what?/p", "https://a.example/what%3F/p"),
        // wget keeps the escapes of control characters and decodes others.
        ("a.example/a b%0A", "https://a.example/a%20b%0A"),
        ("a.example/100%", "https://a.example/100%25"),
        ("a.example/é", "https://a.example/%C3%A9"),
        ("a.example/index.html", "https://a.example/index.html"),
    ];
    for (path, expected) in table {
        assert_eq!(
            url(&layout(), &entry(path)).as_deref(),
            Some(expected),
            "{path}"
        );
    }
    let origins = Origins {
        given_scheme: Some("http".into()),
        ..index(layout())
    };
    for (path, expected) in [
        ("a.example/index.html", "http://a.example/"),
        ("a.example/b/index.html", "http://a.example/b/"),
        ("a.example/b/index.html?c=d", "http://a.example/b/?c=d"),
        ("a.example/index.html/b", "http://a.example/index.html/b"),
    ] {
        assert_eq!(
            url(&origins, &entry(path)).as_deref(),
            Some(expected),
            "{path}"
        );
    }
    for path in [
        "",
        "a.html",
        "two words/x",
        "-a/x",
        "a-/x",
        "a..b/x",
        ".a/x",
        "a?b/x",
        "a:b/x",
        "a:/x",
        "a:99999/x",
        "a:1:2/x",
        "a.b:1+2/x",
        "a.b:1_2/x",
        "a.b_99999/x",
        "1.2.3.999/x",
        "[::1/x",
        "[x]/x",
        "bücher.example/x",
        "a@b/x",
        "a%20b/x",
        "a.example/%2E%2E/x",
        "a.example/%2e",
    ] {
        assert_eq!(url(&layout(), &entry(path)), None, "{path}");
    }
}

#[test]
fn urls_lead_to_the_paths_that_crawlers_write() {
    let table: [(&str, &[&str]); 22] = [
        ("https://a.example/b/c.html", &["a.example/b/c.html"]),
        ("HTTPS://A.example:443/b", &["a.example/b"]),
        (
            "https://a.example:8080/b",
            &["a.example:8080/b", "a.example+8080/b", "a.example_8080/b"],
        ),
        (
            "https://a.example/b?c=d#e",
            &["a.example/b?c=d", "a.example/b@c=d"],
        ),
        (
            "https://a.example/b?c=d/e",
            &["a.example/b?c=d%2Fe", "a.example/b@c=d%2Fe"],
        ),
        // The following names are written by wget 1.21 for Unix and for Windows.
        ("https://a.example/x%2Fy", &["a.example/x%2Fy"]),
        (
            "https://a.example/what%3F/p",
            &["a.example/what?/p", "a.example/what%3F/p"],
        ),
        (
            "https://a.example/a%20b%0A",
            &["a.example/a b%0A", "a.example/a b\n", "a.example/a%20b%0A"],
        ),
        (
            "https://a.example/q?c=%26d%41",
            &[
                "a.example/q?c=&dA",
                "a.example/q@c=&dA",
                "a.example/q?c=%26d%41",
            ],
        ),
        (
            "https://a.example/p:q",
            &["a.example/p:q", "a.example/p%3Aq"],
        ),
        (
            "https://a.example/d/?c",
            &["a.example/d/index.html?c", "a.example/d/index.html@c"],
        ),
        ("https://a.example/x?", &["a.example/x?", "a.example/x@"]),
        // U+00C0 is C3 80.
        (
            "https://a.example/%C3%80",
            &["a.example/À", "a.example/%C3%80"],
        ),
        ("https://a.example/", &["a.example/index.html"]),
        ("https://a.example", &["a.example/index.html"]),
        ("http://a.example/b", &["a.example/b"]),
        ("ftp://a.example/b", &[]),
        ("https://a.example/../b", &[]),
        ("https://a.example/%2e%2e/b", &[]),
        ("https://u@a.example/b", &[]),
        ("https://../b", &[]),
        ("https://a.example+80/b", &[]),
    ];
    for (url, paths) in table {
        for path in paths {
            assert!(
                leads_to(url, &entry(path), &index(layout())),
                "{url} {path}"
            );
        }
    }
}

/// The URL that a page records as its source; URLs of HTTrack get `https`.
fn saved_url(page: &[u8]) -> Option<String> {
    saved(page).map(|saved| saved.url("https").into_owned())
}

#[test]
fn a_page_records_its_source() {
    let table = [
        // Internet Explorer and Chromium. The numbers are the lengths of the URLs: 17 and 23.
        (
            "<!-- saved from url=(0017)http://a.example/ -->\r\n<html>",
            Some("http://a.example/"),
        ),
        (
            "<!DOCTYPE html>\n<!-- saved from url=(0023)https://a.example/b?c=d -->\n<html>",
            Some("https://a.example/b?c=d"),
        ),
        (
            "\u{FEFF}<!-- saved from url=(0017)http://a.example/ -->",
            Some("http://a.example/"),
        ),
        (
            "<!-- saved from url=(0099)http://a.example/ -->",
            Some("http://a.example/"),
        ),
        (
            "<!-- saved from url=()http://a.example/ -->",
            Some("http://a.example/"),
        ),
        // 19 is the length with the space.
        (
            "<!-- saved from url=(0019)http://a.example/ b -->",
            Some("http://a.example/ b"),
        ),
        (
            "<!-- saved from url=(0018)http://a.example/ b -->",
            Some("http://a.example/"),
        ),
        (
            "<!-- saved from url=(0032)http://xn-%2Dbcher-kva.example/b -->",
            Some("http://xn--bcher-kva.example/b"),
        ),
        (
            "<!-- saved from url=(0014)about:internet -->",
            Some("about:internet"),
        ),
        // SingleFile.
        (
            "<!DOCTYPE html> <html lang=en><!--\n Page saved with SingleFile \n url: https://a.example/b \n \
             saved date: Mon Jan 01 2024 00:00:00 GMT+0000\n-->",
            Some("https://a.example/b"),
        ),
        (
            "<html style=\"x: '>'\"><!-- Page saved with SingleFile url: https://a.example/ saved date: x -->",
            Some("https://a.example/"),
        ),
        (
            "<html><!--\n Archive processed by SingleFile \n url: https://a.example/ \n-->",
            Some("https://a.example/"),
        ),
        // HTTrack.
        (
            "<!DOCTYPE html>\n<html lang=\"en\">\n\n<!-- Mirrored from a.example/b/c.html by HTTrack \
             Website Copier/3.x [XR&CO'2014], Wed, 24 Dec 2025 02:31:39 GMT -->\n<head>",
            Some("https://a.example/b/c.html"),
        ),
        (
            "<!-- Mirrored from http://a.example/b by HTTrack Website Copier/3.x [XR&CO], x -->",
            Some("http://a.example/b"),
        ),
        (
            "<!-- Mirrored from a.example/?u=http://b by HTTrack -->",
            Some("https://a.example/?u=http://b"),
        ),
        // monolith.
        (
            "<!-- Saved from https://a.example/ at 2025-01-01T00:00:00Z using monolith v2.10.1 -->\n<!DOCTYPE html>",
            Some("https://a.example/"),
        ),
        (
            "<!-- Saved from local source at 2025-01-01T00:00:00Z using monolith v2.10.1 -->",
            None,
        ),
        // The first usable one wins.
        (
            "<?xml version='1.0'?><!-- x --><!--[if IE]><html><![endif]--><!--[if !IE]><!--><html \
             class='a'><!--<![endif]--><!-->\n<head >\n<!-- saved from url=(0017)http://a.example/ -->\
             <!-- saved from url=(0017)http://b.example/ -->",
            Some("http://a.example/"),
        ),
        // A comment in the content may come from anybody.
        ("<p><!-- saved from url=(0017)http://a.example/ -->", None),
        (
            "<html><title><!-- saved from url=(0017)http://a.example/ -->",
            None,
        ),
        ("x<!-- saved from url=(0017)http://a.example/ -->", None),
        (
            "<header><!-- saved from url=(0017)http://a.example/ -->",
            None,
        ),
        (
            "<html x='<!-- saved from url=(0017)http://a.example/ -->'>",
            None,
        ),
        ("<!-- not saved from url=(0017)http://a.example/ -->", None),
        ("<!-- saved from url=(0017)http://a.example/", None),
        ("<!-- saved from url=(0017 -->", None),
        ("<!-- saved from url=(0000) -->", Some("")),
        ("", None),
        ("<", None),
        ("<!--", None),
        ("<!-->", None),
        ("<!--->", None),
    ];
    for (page, expected) in table {
        assert_eq!(saved_url(page.as_bytes()).as_deref(), expected, "{page}");
    }
    let far = format!(
        "{}<!-- saved from url=(0017)http://a.example/ -->",
        " ".repeat(HEAD)
    );
    assert_eq!(saved_url(far.as_bytes()), None);
}

#[test]
fn recorded_urls_are_read_only_from_trusted_html() {
    let page = b"<!-- saved from url=(0019)http://a.example/#b -->";
    let of = |origins: &Origins, format| {
        let (retrieval, passed_over) = origins.of(&entry("x"), &entry("x"), format, page);
        assert!(passed_over.is_empty());
        retrieval.map(|retrieval| (retrieval.url, retrieval.source))
    };
    let origins = Origins::default();
    for format in Format::ALL {
        let expected = matches!(format, Format::Html | Format::Xhtml)
            .then(|| ("http://a.example/".to_owned(), Source::SavedFrom));
        assert_eq!(of(&origins, format), expected, "{format:?}");
    }
    let origins = Origins {
        companions: Companions::trusting(false),
        ..origins
    };
    assert_eq!(of(&origins, Format::Html), None);
}

fn map(text: &[u8]) -> UrlMap {
    UrlMap::parse(text, Path::new("map")).unwrap()
}

#[test]
fn maps_are_csv_or_json_lines() {
    // The map, and the URLs of `a.html` and `b/c, d.html`.
    let table: [(&[u8], Option<&str>, Option<&str>); 12] = [
        (b"a.html,http://a/", Some("http://a/"), None),
        (b"./a.html,http://a/\n\"b/c, d.html\",\"http://b/?\"\"\"\r\n", Some("http://a/"), Some("http://b/?\"")),
        (b"\xEF\xBB\xBFpath,url\r\na.html, http://a/ \r\n", Some("http://a/"), None),
        (b"URL,Title,Path\nhttp://a/,x,a.html\n", Some("http://a/"), None),
        // The last URL counts: it is the one after redirects.
        (b"a.html,http://a/\na.html,http://b/\n", Some("http://b/"), None),
        (b"a.html,http://a/,more,columns\n\nb//./c\\, d.html,http://b/\n", Some("http://a/"), None),
        (b"", None, None),
        (b"path,url\n", None, None),
        (b"{\"path\": \"a.html\", \"url\": \"http://a/\"}\n", Some("http://a/"), None),
        (
            b"\xEF\xBB\xBF{\"url\":\"http://a/\",\"path\":\"a.html\",\"more\":1}\r\n\r\n{\"path\":\"b/c, d.html\",\"url\":\"http://b/\"}",
            Some("http://a/"),
            Some("http://b/"),
        ),
        (
            b"{\"path\":\"a.html\",\"url\":\"http://a/\"}\n{\"path\":\"./a.html\",\"url\":\"http://b/\"}",
            Some("http://b/"),
            None,
        ),
        (b"{\"path\":\"\\u0061.html\",\"url\":\"http://a/\"}", Some("http://a/"), None),
    ];
    for (text, a, b) in table {
        let map = map(text);
        let shown = String::from_utf8_lossy(text);
        assert_eq!(map.url(&entry("a.html")), a, "{shown}");
        assert_eq!(map.url(&entry("b/c, d.html")), b, "{shown}");
    }
}

#[test]
fn an_invalid_line_is_an_error_that_names_it() {
    let table: [(&[u8], &str); 9] = [
        (b"a,http://a/\nb\n", "map, line 2: "),
        (b"path,url\na\n", "map, line 2: "),
        (b"a,http://a/\n\n,http://b/\n", "map, line 3: "),
        (
            b"a,http://a/\r\n\r\n\"b\nc\",http://b/\r\nd\r\n",
            "map, line 5: ",
        ),
        (b"\n\n\na,\xFF\n", "map, line 4: "),
        (
            b"{\"path\":\"a\",\"url\":\"http://a/\"}\n\n{\"path\":\"a\"}\n",
            "map, line 3: ",
        ),
        (
            b"{\"path\":\"a\",\"url\":\"http://a/\"}\nx\n",
            "map, line 2: ",
        ),
        (b"{\"path\":1,\"url\":\"http://a/\"}", "map, line 1: "),
        (b"{", "map, line 1: "),
    ];
    for (text, start) in table {
        let error = UrlMap::parse(text, Path::new("map"))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(start), "{error}");
    }
    assert!(UrlMap::read(Path::new("no such map")).is_err());
}

#[test]
fn paths_in_a_map_are_below_the_root_or_below_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    fs::create_dir_all(at("site/sub")).unwrap();
    for file in [
        "site/a.html",
        "site/b.html",
        "site/sub/c.html",
        "site/d.html",
    ] {
        fs::write(at(file), "").unwrap();
    }
    let absolute = fs::canonicalize(at("site/d.html")).unwrap();
    let map = format!(
        "a.html,http://root/a\nsite/a.html,http://folder/a\nsite/b.html,http://folder/b\n\
         site/sub/c.html,http://folder/c\n{},http://absolute/d\ngone.html,http://gone/\nsite/gone,http://gone/\n",
        absolute.display()
    );
    fs::write(at("map.csv"), map).unwrap();
    let map = UrlMap::read(&at("map.csv")).unwrap();
    let missing = map.missing(&[at("site")]);
    let name = at("map.csv").display().to_string();
    let expected = [
        format!("{name}, line 6: gone.html: no such file"),
        format!("{name}, line 7: site/gone: no such file"),
    ];
    assert_eq!(missing, expected);
    // Without a root, `a.html` is not found either.
    assert_eq!(map.missing(&[]).len(), 3);
    let origins = Origins {
        map: Some(map.into()),
        ..Origins::default()
    };
    let urls = |root: PathBuf| -> Vec<_> {
        let selection = Selection::default();
        walk(&[root], &selection)
            .map(|entry| url(&origins, &entry.unwrap()).unwrap())
            .collect()
    };
    assert_eq!(
        urls(at("site")),
        [
            "http://root/a",
            "http://folder/b",
            "http://absolute/d",
            "http://folder/c"
        ]
    );
    assert_eq!(urls(at("site/a.html")), ["http://folder/a"]);
    assert_eq!(urls(at("site/sub/../sub")), ["http://folder/c"]);
}

/// The retrieval URL, its source, and the number of URLs that were passed over.
fn first(
    origins: &Origins,
    entry: &TreeEntry,
    head: &[u8],
) -> (Option<(String, &'static str)>, usize) {
    let (retrieval, passed_over) = origins.of(entry, entry, Format::Html, head);
    (
        retrieval.map(|retrieval| (retrieval.url, retrieval.source.name())),
        passed_over.len(),
    )
}

#[test]
fn the_first_source_that_has_a_url_wins() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    fs::create_dir(root.join("a.example")).unwrap();
    fs::write(root.join("a.example/x"), "").unwrap();
    let with_attribute = has_attribute(&root.join("a.example/x"), b"http://attribute/#y");
    let selection = Selection::default();
    let entry = walk(&[root], &selection).next().unwrap().unwrap();
    let page = b"<!-- saved from url=(0012)http://saved -->";

    let mut origins = Origins {
        map: Some(map(b"a.example/x,http://map/").into()),
        has_hosts: true,
        ..root_url("http://root/")
    };
    let mut check = |change: fn(&mut Origins), url: &str, source| {
        change(&mut origins);
        assert_eq!(
            first(&origins, &entry, page),
            (Some((url.to_owned(), source)), 0)
        );
    };
    check(|_| {}, "http://map/", "url-map");
    check(
        |origins| origins.map = None,
        "http://root/a.example/x",
        "retrieval",
    );
    // A layout is a convention, but an attribute belongs to this file.
    if with_attribute {
        check(
            |origins| origins.root_url = None,
            "http://attribute/",
            "xattr",
        );
    } else {
        check(
            |origins| origins.root_url = None,
            "https://a.example/x",
            "layout",
        );
    }
    check(
        |origins| origins.has_hosts = false,
        "http://saved",
        "saved-from",
    );
    if with_attribute {
        check(
            |origins| origins.companions = Companions::trusting(false),
            "http://attribute/",
            "xattr",
        );
    }
    let entry_without_attribute = self::entry("a.example/x");
    let origins = Origins {
        companions: Companions::trusting(false),
        ..Origins::default()
    };
    assert_eq!(first(&origins, &entry_without_attribute, page), (None, 0));
}

#[cfg(unix)]
fn has_attribute(path: &Path, value: &[u8]) -> bool {
    xattr::set(path, "user.xdg.origin.url", value).is_ok()
}

#[cfg(not(unix))]
fn has_attribute(_: &Path, _: &[u8]) -> bool {
    false
}

#[test]
fn an_invalid_url_is_reported_and_the_next_source_is_used() {
    let page = b"<!-- saved from url=(0017)http://a.example/ -->";
    let saved = Some(("http://a.example/".to_owned(), "saved-from"));
    for wrong in [
        "",
        "relative/x",
        "//a/b",
        "/a",
        "mailto:a@b",
        "about:blank",
        "http://[/",
        "http://a/\u{1}",
        "http://a/\u{FFFD}",
    ] {
        let text = format!("x,{wrong}\n");
        let origins = Origins {
            map: Some(map(text.as_bytes()).into()),
            ..Origins::default()
        };
        assert_eq!(
            first(&origins, &entry("x"), page),
            (saved.clone(), 1),
            "{wrong}"
        );
    }
    let origins = Origins {
        map: Some(map(b"x,y\n").into()),
        ..Origins::default()
    };
    let internet = b"<!-- saved from url=(0014)about:internet -->";
    let (retrieval, passed_over) = origins.of(&entry("x"), &entry("x"), Format::Html, internet);
    assert_eq!(retrieval, None);
    let path = entry("x").path.display().to_string();
    assert_eq!(
        passed_over,
        [
            format!("{path}: ignored the url-map URL y: the base URL is not absolute"),
            format!(
                "{path}: ignored the saved-from URL about:internet: it is not a network address"
            ),
        ]
    );
    let latin_1 = b"<!-- saved from url=(0010)http://a/\xE9 -->";
    assert_eq!(first(&Origins::default(), &entry("x"), latin_1), (None, 1));
    let origins = Origins {
        given_scheme: Some("no scheme".into()),
        ..layout()
    };
    assert_eq!(first(&origins, &entry("a.example/x"), b""), (None, 0));
}

#[test]
fn a_canonical_url_counts_last_and_on_request() {
    let page = b"<link rel=canonical href='http://a/c#f'>";
    let with_canonical = Origins {
        canonical: true,
        ..Origins::default()
    };
    let canonical = Some(("http://a/c".to_owned(), "canonical"));
    assert_eq!(
        first(&with_canonical, &entry("x"), page),
        (canonical.clone(), 0)
    );
    assert_eq!(first(&Origins::default(), &entry("x"), page), (None, 0));
    let saved = [&b"<!-- saved from url=(0009)http://b/ -->"[..], page].concat();
    assert_eq!(
        first(&with_canonical, &entry("x"), &saved),
        (Some(("http://b/".into(), "saved-from")), 0)
    );
    let untrusting = Origins {
        companions: Companions::trusting(false),
        ..with_canonical.clone()
    };
    assert_eq!(
        first(&untrusting, &entry("x"), &saved),
        (canonical.clone(), 0)
    );
    let standard = with_canonical
        .of(
            &TreeEntry::standard_input(),
            &TreeEntry::standard_input(),
            Format::Xhtml,
            page,
        )
        .0;
    assert_eq!(
        standard.map(|retrieval| (retrieval.url, retrieval.source.name())),
        canonical
    );
    assert_eq!(
        with_canonical
            .of(&entry("x"), &entry("x"), Format::Svg, page)
            .0,
        None
    );
}

#[test]
fn the_chain_names_the_source_of_a_base() {
    use baselink_rewrite::base::{Outer, Retrieval, Rule, Status, establish};
    use baselink_url::Resolver;
    let page = baselink_scan::scan(b"<a href=x>", &Default::default());
    for (source, name) in [
        (Source::UrlMap, "url-map"),
        (Source::Layout, "layout"),
        (Source::SavedFrom, "saved-from"),
        (Source::Xattr, "xattr"),
        (Source::Warc, "warc"),
        (Source::Har, "har"),
        (Source::WebArchive, "webarchive"),
        (Source::Canonical, "canonical"),
    ] {
        let retrieval = Retrieval::of("http://a/", source);
        let chain = establish(&page, Outer::Retrieval(Some(&retrieval)), Resolver::Rfc1808);
        assert_eq!(
            (chain.rule, chain.source, chain.source.name()),
            (Rule::Retrieval, source, name)
        );
        let level = chain
            .chain
            .iter()
            .find(|level| level.status == Status::Taken)
            .unwrap();
        assert_eq!(level.source, source);
    }
}
