//! The cases of `fixtures/tree/`: the effects of a move on each link of a small site. Further tests create their own
//! folders, some with files that no fixture can contain. `fixtures/README.md` describes the format of a case.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use baselink::{LinkReport, Outcome};
use baselink_files::walk::{EntryKind, Selection, TreeEntry, walk};
use baselink_rewrite::container::mbox::Messages;
use baselink_rewrite::{Options, rewrite};
use baselink_site::collection::folder::name_of;
use baselink_site::collection::origin::map::UrlMap;
use baselink_site::collection::origin::{Origins, RootUrl};
use baselink_site::collection::{Collection, ResourceKind};
use baselink_site::purpose::check::{
    CheckedDocument, CheckedLink, CheckedSite, Class, Finding, Ids, are_there, check,
};
use baselink_site::purpose::tally::Counted;
use baselink_text::format::Format;
use baselink_text::span::Lines;
use baselink_url::Resolver;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::case_file::Case;

/// The old and the new location of a tree.
#[derive(Clone, Default)]
struct Move {
    from: Origins,
    to: Option<RootUrl>,
}

/// A file that the check reads.
struct Page {
    path: Vec<u8>,
    /// The documents of the file, each with its offset and options. Only a mailbox has several.
    units: Vec<(Vec<u8>, usize, Options)>,
    links: Vec<LinkReport>,
}

impl Page {
    fn of(
        entry: &TreeEntry,
        bytes: &[u8],
        format: Format,
        options: &Options,
        from: &Origins,
    ) -> Self {
        let retrieval = from.of(entry, entry, format, bytes).0;
        let beside = Some(from.beside(entry, entry));
        let mut options = Options {
            format,
            retrieval,
            beside,
            ..options.clone()
        };
        let mut page = Self {
            path: name_of(entry),
            units: Vec::new(),
            links: Vec::new(),
        };
        if !format.holds_many() {
            page.units.push((bytes.to_vec(), 0, options));
            return page;
        }
        let mut messages = Messages::new(bytes);
        while let Some(found) = messages.next_message().unwrap() {
            options.scan.entity = found.number.to_string().into();
            let start = usize::try_from(found.offset).unwrap() + found.message.start;
            page.units.push((
                found.bytes[found.message.range()].to_vec(),
                start,
                options.clone(),
            ));
        }
        page
    }

    /// Passes each link of each document, with its finding, to `found`.
    fn checked(
        &self,
        tree: &Tree,
        moving: &Move,
        (knows_ids, all): (bool, bool),
        mut found: impl FnMut(usize, CheckedLink),
    ) -> Vec<CheckedDocument> {
        let site = CheckedSite {
            ignored: None,
            collection: &tree.index,
            ids: knows_ids.then_some(&tree.ids),
            host: None,
            to: moving.to.as_ref(),
            is_reported: &|class| all || !matches!(class, Class::Works | Class::Outside),
            places: &|_, _| usize::MAX,
        };
        let mut check = |(bytes, start, options): &(Vec<u8>, usize, Options)| {
            let found = &mut |link| found(*start, link);
            check(&self.path, bytes, options, site, found)
        };
        self.units.iter().map(&mut check).collect()
    }
}

/// The index of all files of a tree, and the ids in its documents.
struct Tree {
    index: Arc<Collection>,
    ids: BTreeMap<usize, Ids>,
}

impl Tree {
    fn new(pages: &mut [(Vec<u8>, Page)], index: Collection, moving: &Move) -> Self {
        let mut tree = Self {
            index: Arc::new(index),
            ids: BTreeMap::new(),
        };
        let mut ids = BTreeMap::new();
        for (_, page) in pages {
            let mut links = Vec::new();
            let documents = page.checked(&tree, moving, (false, true), |start, found| {
                let mut link = found.listed.link;
                link.span = link.span.shifted(start);
                links.push(link);
            });
            for document in documents {
                ids.extend(tree.index.number_at(&page.path).zip(document.ids));
            }
            page.links = links;
        }
        tree.ids = ids;
        tree
    }
}

/// The finding for each link. Checks that the links that are only counted have the class by which they are counted, and that
/// the findings of the others are the same.
fn findings(page: &Page, tree: &Tree, moving: &Move) -> Vec<Finding> {
    let (mut all, mut quick, mut early) = (Vec::new(), VecDeque::new(), Vec::new());
    page.checked(tree, moving, (true, true), |_, found| all.push(found));
    let documents = page.checked(tree, moving, (true, false), |_, found| {
        quick.push_back(found);
    });
    let first = page.checked(tree, moving, (false, true), |_, found| early.push(found));
    // Without ids, all findings are final if the fragments are there.
    if first
        .iter()
        .all(|document| are_there(&document.fragments, &tree.ids))
    {
        let finding = |found: &CheckedLink| found.finding.clone();
        let both = [&early, &all].map(|found| found.iter().map(finding).collect::<Vec<_>>());
        assert_eq!(both[0], both[1]);
    }
    let (mut counted, mut missed) = (BTreeMap::new(), BTreeMap::new());
    for (what, links) in documents
        .iter()
        .flat_map(|document| document.counted.iter())
        .filter(|(what, _)| matches!(what, Counted::Checked(_)))
    {
        *counted.entry(what).or_insert(0) += links;
    }
    for one in &all {
        if quick
            .front()
            .is_some_and(|quick: &CheckedLink| quick.listed == one.listed)
        {
            let quick = quick.pop_front().unwrap();
            assert_eq!(quick.finding, one.finding);
        } else {
            *missed
                .entry(Counted::Checked(one.finding.rule))
                .or_insert(0) += 1;
        }
    }
    assert_eq!((missed, quick.len()), (counted, 0));
    all.into_iter().map(|found| found.finding).collect()
}

/// Reads the documents below `site`. Returns their bytes and pages, and the tree.
fn read(site: &Path, moving: &Move, options: &Options) -> (Vec<(Vec<u8>, Page)>, Tree) {
    let selection = Selection {
        hidden: true,
        folders: true,
        ..Selection::default()
    };
    let mut index = Collection::new(moving.from.clone());
    let mut pages = Vec::new();
    for entry in walk(&[site.to_owned()], &selection).map(Result::unwrap) {
        let name = entry.path.file_name().unwrap().to_string_lossy();
        let format = Format::detect(Some(&name), b"");
        if entry.kind == EntryKind::Symlink {
            index.add_entry(&entry, Some(&fs::read_link(&entry.path).unwrap()), None);
            continue;
        }
        if entry.kind != EntryKind::File || !format.is_read() {
            index.add_entry(
                &entry,
                None,
                moving
                    .from
                    .of(&entry, &entry, Format::Other, b"")
                    .0
                    .as_ref(),
            );
            continue;
        }
        let bytes = fs::read(&entry.path).unwrap();
        let page = Page::of(&entry, &bytes, format, options, &moving.from);
        index.add_entry(&entry, None, page.units[0].2.retrieval.as_ref());
        pages.push((bytes, page));
    }
    let tree = Tree::new(&mut pages, index, moving);
    (pages, tree)
}

fn moving(case: &Case, scene: &Path) -> (Move, Options) {
    let mut moving = Move::default();
    let mut options = Options {
        resolver: Resolver::Whatwg,
        ..Options::default()
    };
    for pair in case.arguments.chunks_exact(2) {
        let (name, value) = (&*pair[0], &*pair[1]);
        match name {
            "--url" => moving.from.root_url = Some(RootUrl::new(value).unwrap()),
            "--url-map" => moving.from.map = Some(UrlMap::read(&scene.join(value)).unwrap().into()),
            "--layout" => moving.from.has_hosts = true,
            "--index" => moving.from.index = vec![value.into()],
            "--to" => moving.to = Some(RootUrl::new(value).unwrap()),
            "--resolver" => options.resolver = value.parse().unwrap(),
            _ => panic!("unknown argument {name}"),
        }
    }
    (moving, options)
}

fn row(scanned: &Page, bytes: &[u8], link: usize, finding: &Finding) -> String {
    let (line, column) = Lines::of(bytes).place(scanned.links[link].span.start);
    let place = format!("{}:{line}:{column}", String::from_utf8_lossy(&scanned.path));
    let or_none = |text: &Option<String>| text.clone().unwrap_or("-".into());
    [
        &*place,
        finding.class().name(),
        finding.rule.cause(finding.reason).unwrap_or("-"),
        &or_none(&finding.moved),
        &or_none(&finding.hint),
    ]
    .into_iter()
    .chain(finding.differs.then_some("differs"))
    .collect::<Vec<_>>()
    .join("\t")
}

#[cfg(unix)]
#[test]
fn every_case_has_the_classes_that_it_expects() {
    let mut wrong = String::new();
    for mut case in Case::all("tree", 17) {
        let scene = case.scene();
        let (moving, options) = moving(&case, scene.path());
        let (scanned, index) = read(&scene.path().join("site"), &moving, &options);
        let mut rows = String::new();
        for (bytes, page) in &scanned {
            for (number, finding) in findings(page, &index, &moving).iter().enumerate() {
                rows.push_str(&row(page, bytes, number, finding));
                rows.push('\n');
            }
        }
        let expected = case.bytes("expected").to_vec();
        if let Some(difference) = case.difference("expected", &expected, rows.as_bytes()) {
            wrong += &format!("== {}\n{difference}", case.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A folder with `page.html`, which contains `page`, and with the empty files `others`.
fn site(page: &str, others: &[&str]) -> TempDir {
    let site = tempfile::tempdir().unwrap();
    fs::write(site.path().join("page.html"), page).unwrap();
    for other in others {
        let path = site.path().join(other);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    site
}

fn at(url: &str) -> Move {
    Move {
        from: Origins {
            root_url: Some(RootUrl::new(url).unwrap()),
            ..Origins::default()
        },
        to: None,
    }
}

/// A move from `url` to another host and path.
fn away(url: &str) -> Move {
    let scheme = url.split(':').next().unwrap();
    let to = format!("{scheme}://elsewhere.example/elsewhere/");
    Move {
        to: Some(RootUrl::new(&to).unwrap()),
        ..at(url)
    }
}

/// The findings for the links of `page.html`.
fn of_page(site: &Path, moving: &Move, options: &Options) -> Vec<Finding> {
    let (scanned, index) = read(site, moving, options);
    let page = scanned
        .iter()
        .find(|(_, page)| page.path == b"page.html")
        .unwrap();
    let found = findings(&page.1, &index, moving);
    assert_eq!(found.len(), page.1.links.len());
    found
}

/// A tree with an unknown location.
fn unknown(to: Option<&str>) -> Move {
    let mut moving = Move {
        to: to.map(|to| RootUrl::new(to).unwrap()),
        ..Move::default()
    };
    moving.from.assume_site(Path::new("/nonexistent"));
    moving
}

fn links(references: &[&str]) -> String {
    references
        .iter()
        .map(|reference| format!("<a href=\"{reference}\">x</a>"))
        .collect()
}

fn causes(found: &[Finding]) -> Vec<(Class, Option<&'static str>, Option<&str>)> {
    let cause_name = |finding: &Finding| finding.rule.cause(finding.reason);
    found
        .iter()
        .map(|finding| {
            (
                finding.class(),
                cause_name(finding),
                finding.hint.as_deref(),
            )
        })
        .collect()
}

#[test]
#[cfg(unix)]
fn special_files_are_reported_and_never_opened() {
    let site = site(
        &links(&["pipe", "pipe/", "link", "link/x.html", "../secret.html"]),
        &[],
    );
    let status = std::process::Command::new("mkfifo")
        .arg(site.path().join("pipe"))
        .status();
    assert!(status.unwrap().success());
    std::os::unix::fs::symlink("/etc", site.path().join("link")).unwrap();
    let found = of_page(
        site.path(),
        &away("http://a.example/docs/"),
        &Options::default(),
    );
    assert_eq!(
        causes(&found),
        [
            (Class::Dangling, Some("no-file"), None),
            (Class::Dangling, Some("absent"), Some("pipe")),
            (Class::Escapes, Some("symlink"), None),
            (Class::Escapes, Some("symlink"), None),
            (Class::Escapes, Some("climbs-out"), None),
        ]
    );
}

/// Symbolic links resolve as in path_resolution(7), but no path may leave the folder.
#[test]
#[cfg(unix)]
fn symbolic_links_lead_where_their_text_says() {
    use std::os::unix::fs::symlink;
    let dangling = (Class::Dangling, Some("symlink"), None);
    let escapes = (Class::Escapes, Some("symlink"), None);
    let no_id = (Class::Fragment, Some("no-id"), None);
    let works = (Class::Works, None, None);
    // Each row has a symbolic link, its text, a path through it, and the result.
    let rows = [
        ("one", "a/x.html", "one#id", works),
        ("two", "a/x.html", "two#other", no_id),
        ("three", "one", "three#other", no_id),
        ("four", "a", "four/x.html#other", no_id),
        ("five", "a", "five/", works),
        ("six", "a", "six", (Class::NoSlash, None, Some("a/"))),
        ("seven", "./a/../a//", "seven/x.html#id", works),
        ("eight", ".", "eight/eight/a/x.html#other", no_id),
        ("a/nine", "../b/../a/x.html", "a/nine#id", works),
        ("b/ten", "../a", "b/ten/../ten/nine#id", works),
        ("b/index.html", "../a/x.html", "b/#other", no_id),
        ("c", "a/none", "c", dangling),
        ("d", "none/../a", "d/x.html", dangling),
        ("e", "a/x.html/y", "e", dangling),
        ("f", "g", "f", dangling),
        ("g", "f/x", "g/x.html", dangling),
        ("h", "..", "h/", escapes),
        ("i", "../site/a", "i/x.html", escapes),
        ("j", "/", "j", escapes),
        ("k", "a/../../k", "k", escapes),
        ("l/index.html", "../../l", "l/", escapes),
        (
            "m",
            "a",
            "m/none.html",
            (Class::Dangling, Some("absent"), None),
        ),
    ];
    let site = site(
        &links(&rows.map(|row| row.2)),
        &["a/index.html", "b/y.html", "l/y.html"],
    );
    fs::write(site.path().join("a/x.html"), "<p id=id>").unwrap();
    for (link, text, ..) in rows {
        symlink(text, site.path().join(link)).unwrap();
    }
    for moving in [
        at("http://a.example/docs/"),
        unknown(None),
        unknown(Some("https://b.example/")),
    ] {
        let found = of_page(site.path(), &moving, &Options::default());
        for (row, found) in rows.iter().zip(causes(&found)) {
            assert_eq!(found, row.3, "{row:?}");
        }
    }
}

#[test]
#[cfg(unix)]
fn names_that_are_not_utf_8_match_byte_by_byte() {
    use std::os::unix::ffi::OsStringExt;
    let site = site(
        &links(&["caf%E9.css", "caf%C3%A9.css", "caf\u{e9}.css"]),
        &[],
    );
    fs::write(
        site.path()
            .join(OsString::from_vec(b"caf\xE9.css".to_vec())),
        "",
    )
    .unwrap();
    let found = of_page(site.path(), &at("http://a.example/"), &Options::default());
    let other = (
        Class::Dangling,
        Some("percent-encoding"),
        Some("caf\u{fffd}.css"),
    );
    assert_eq!(causes(&found), [(Class::Works, None, None), other, other]);
}

#[test]
fn names_that_differ_only_in_case_are_distinct() {
    let site = site(&links(&["A.png", "a.png", "a.PNG"]), &["A.png", "a.png"]);
    if fs::read_dir(site.path()).unwrap().count() < 3 {
        println!("skipped: the file system does not tell case apart");
        return;
    }
    let found = of_page(site.path(), &at("http://a.example/"), &Options::default());
    let works = (Class::Works, None, None);
    let expected = [works, works, (Class::Dangling, Some("case"), Some("A.png"))];
    assert_eq!(causes(&found), expected);
    let index = read(site.path(), &at("http://a.example/"), &Options::default())
        .1
        .index;
    let doubles: Vec<_> = index
        .doubles()
        .iter()
        .map(|&(one, other)| (index.path(one), index.path(other)))
        .collect();
    assert_eq!(doubles, [(&b"A.png"[..], &b"a.png"[..])]);
}

/// Names in different encodings are distinct, even where case is ignored.
#[test]
#[cfg(unix)]
fn names_in_different_encodings_are_distinct() {
    let mut index = Collection::new(at("http://a.example/").from);
    let names: [&[u8]; 7] = [
        b"\xFC.png",
        "\u{fc}.png".as_bytes(),
        "\u{dc}.png".as_bytes(),
        b"\xDC.png",
        b"%C3%BC.png",
        b"%c3%bc.png",
        b"a.png",
    ];
    for name in names {
        index.add(name, ResourceKind::File, []);
    }
    assert_eq!(index.doubles(), [(1, 2), (0, 3), (4, 5)]);
}

#[test]
fn without_a_url_relative_links_are_left() {
    let site = site(&links(&["x.png", "http://a.example/x.png"]), &["x.png"]);
    let found = of_page(site.path(), &Move::default(), &Options::default());
    let expected = [
        (Class::Left, Some("no-base"), None),
        (Class::Outside, None, None),
    ];
    assert_eq!(causes(&found), expected);
}

#[test]
fn a_tree_without_a_url_is_the_root_of_its_host() {
    let references = [
        "x.png",
        "y.png",
        "/x.png",
        "../x.png",
        "..",
        "//a.example/",
        "http://a.example/x.png",
    ];
    let site = site(&links(&references), &["x.png"]);
    let options = Options {
        resolver: Resolver::Whatwg,
        ..Options::default()
    };
    let found = of_page(site.path(), &unknown(None), &options);
    let expected = [
        (Class::Works, None, None),
        (Class::Dangling, Some("absent"), None),
        (Class::Works, None, None),
        (Class::Works, None, None),
        (Class::Dangling, Some("no-index"), None),
        (Class::Outside, None, None),
        (Class::Outside, None, None),
    ];
    assert_eq!(causes(&found), expected);
    let targets = found.iter().map(|finding| finding.target.as_deref());
    let shown = [
        "x.png",
        "y.png",
        "x.png",
        "x.png",
        "./",
        "//a.example/",
        "http://a.example/x.png",
    ];
    assert!(targets.eq(shown.map(Some)));
    assert!(found.iter().all(|finding| finding.moved.is_none()));
    // A page that records its own URL keeps it.
    let page = "<!-- saved from url=(0025)http://a.example/page.html --><a href=x.png></a>";
    fs::write(site.path().join("page.html"), page).unwrap();
    let found = of_page(site.path(), &unknown(None), &Options::default());
    assert_eq!(found[0].target.as_deref(), Some("http://a.example/x.png"));
}

#[test]
fn http_and_https_are_the_same_site() {
    let references = [
        "https://a.example/x.png",
        "http://a.example/x.png",
        "ftp://a.example/x.png",
    ];
    let expected = [
        (Class::Pinned, Some("absolute"), None),
        (Class::Pinned, Some("absolute"), None),
        (Class::Outside, None, None),
    ];
    for url in ["http://a.example/", "https://a.example:443/"] {
        let site = site(&links(&references), &["x.png"]);
        let found = of_page(site.path(), &away(url), &Options::default());
        assert_eq!(causes(&found), expected, "{url}");
    }
    let site = site("", &["x.png"]);
    let map = site.path().join("map.csv");
    fs::write(
        &map,
        "page.html,http://a.example/p\nx.png,http://a.example/x.png\n",
    )
    .unwrap();
    fs::write(site.path().join("page.html"), links(&references)).unwrap();
    let from = Origins {
        map: Some(UrlMap::read(&map).unwrap().into()),
        ..Origins::default()
    };
    let moving = Move {
        from,
        ..away("http://a.example/")
    };
    let found = of_page(site.path(), &moving, &Options::default());
    assert_eq!(causes(&found), expected);
}

/// A dead link is reported as dead, whatever a move does to it.
#[test]
fn a_move_does_not_hide_missing_targets() {
    let references = [
        "http://a.example/X.png",
        "http://a.example/none",
        "http://a.example/x.png",
    ];
    let site = site(&links(&references), &["x.png"]);
    let found = of_page(site.path(), &away("http://a.example/"), &Options::default());
    let expected = [
        (Class::Dangling, Some("case"), Some("x.png")),
        (Class::Dangling, Some("absent"), None),
        (Class::Pinned, Some("absolute"), None),
    ];
    assert_eq!(causes(&found), expected);
}

#[test]
fn a_canonical_url_is_reported_as_such() {
    let page = "<base href=http://a.example/docs/sub/><link rel=canonical href=http://a.example/docs/>\
                <link rel=next href=http://a.example/docs/x.html><a href=#>x</a><a href=#top>x</a>";
    let site = site(page, &["x.html", "index.html", "sub/index.html"]);
    let found = of_page(
        site.path(),
        &away("http://a.example/docs/"),
        &Options::default(),
    );
    let causes: Vec<_> = found
        .iter()
        .map(|finding| finding.rule.cause(finding.reason))
        .collect();
    let expected = [
        "absolute",
        "canonical",
        "absolute",
        "declared-base",
        "declared-base",
    ];
    assert_eq!(causes, expected.map(Some));
}

#[test]
fn suggestions_for_short_names_are_similar() {
    let references = ["1.html", "ab.js", "abc.js", "sub/2.html", "sub/3.html"];
    let others = [
        "sub/1.html",
        "far/away/ab.js",
        "far/away/abc.js",
        "2.html",
        "far/3.html",
    ];
    let site = site(&links(&references), &others);
    let found = of_page(site.path(), &at("http://a.example/"), &Options::default());
    let hints: Vec<_> = found
        .iter()
        .map(|finding| finding.hint.as_deref())
        .collect();
    let expected = [
        Some("sub/1.html"),
        None,
        Some("far/away/abc.js"),
        Some("2.html"),
        None,
    ];
    assert_eq!(hints, expected);
}

#[test]
fn lines_are_matched_by_their_ids() {
    let ids: String = [
        "1", "20", "L3", "LC4", "n5", "line-6", "line-7", "part-1", "part-2",
    ]
    .map(|id| format!("<p id={id}>"))
    .concat();
    let rows = [
        ("1-20", Class::Lines),
        ("20-1", Class::Lines),
        ("1-21", Class::Fragment),
        ("1-", Class::Fragment),
        ("1-20-1", Class::Fragment),
        ("L3-L4", Class::Lines),
        ("L3-4", Class::Lines),
        ("L4", Class::Lines),
        ("L4C2", Class::Lines),
        ("L4C", Class::Fragment),
        ("L5", Class::Fragment),
        ("n5-n5", Class::Lines),
        ("line-6-7", Class::Lines),
        ("line-6-line-7", Class::Lines),
        ("line-6-line-8", Class::Fragment),
        // The second half of the fragment is not an id.
        ("part-1-2", Class::Fragment),
    ];
    let site = site(
        &(links(&rows.map(|row| row.0)).replace("href=\"", "href=\"#") + &ids),
        &[],
    );
    let found = of_page(site.path(), &at("http://a.example/"), &Options::default());
    for (row, found) in rows.iter().zip(&found) {
        assert_eq!(found.class(), row.1, "{row:?}");
    }
}

#[test]
fn the_index_file_can_have_any_name() {
    let site = site(
        &links(&["sub/", "sub/start.html", "."]),
        &["sub/start.html"],
    );
    let mut moving = at("http://a.example/docs/");
    moving.from.index = vec!["start.html".into()];
    let found = of_page(site.path(), &moving, &Options::default());
    let works = (Class::Works, None, None);
    assert_eq!(
        causes(&found),
        [works, works, (Class::Dangling, Some("no-index"), None)]
    );
}

/// After a move, only the path of a reference counts. A reference with a query no longer finds a file with that query
/// in its name.
#[test]
fn pages_with_a_query_in_their_name_are_judged_by_their_targets() {
    let pages = [
        "a.example/page?x=1.html",
        "a.example/page?x=2.html",
        "a.example/sub/y.html",
        "a.example/i.html",
    ];
    let site = site("", &pages);
    let file = |name: &str, references: &[&str]| {
        fs::write(site.path().join("a.example").join(name), links(references)).unwrap();
    };
    let of_page = [
        "#top",
        "sub/y.html",
        "/sub/y.html",
        "?x=2.html",
        "",
        "?x=3.html",
    ];
    let of_index = ["page?x=1.html", "page?x=3.html"];
    file("page?x=1.html", &of_page);
    file("i.html", &of_index);
    let classes_of = |moving: &Move, path: &str| -> Vec<_> {
        let root = if moving.from.has_hosts {
            site.path().to_owned()
        } else {
            site.path().join("a.example")
        };
        let (scanned, index) = read(&root, moving, &Options::default());
        let (_, page) = scanned
            .iter()
            .find(|(_, page)| page.path == path.as_bytes())
            .unwrap();
        let found = findings(page, &index, moving);
        found
            .into_iter()
            .map(|finding| (finding.class(), finding.rule.cause(finding.reason)))
            .collect()
    };
    let mut crawl = away("http://a.example/");
    crawl.from = Origins::default();
    crawl.from.has_hosts = true;
    assert_eq!(
        classes_of(&crawl, "a.example/page?x=1.html"),
        [
            (Class::Works, None),
            (Class::Works, None),
            (Class::Escapes, Some("root-relative")),
            (Class::Dangling, Some("elsewhere")),
            (Class::Works, None),
            (Class::Dangling, Some("absent")),
        ]
    );
    // The first file exists, but this reference does not find it after the move.
    let expected = [
        (Class::Dangling, Some("elsewhere")),
        (Class::Dangling, Some("absent")),
    ];
    assert_eq!(classes_of(&crawl, "a.example/i.html"), expected);
    // With a URL for the folder, the query is part of the name, too.
    assert_eq!(classes_of(&at("http://a.example/"), "i.html"), expected);
}

/// A layout also gives a URL to a symbolic link, which denotes the file at its target.
#[cfg(unix)]
#[test]
fn bug_85_a_symbolic_link_in_the_folder_of_a_host_is_followed() {
    let site = site("", &["a.example/x.html"]);
    let folder = site.path().join("a.example");
    std::os::unix::fs::symlink("x.html", folder.join("today.html")).unwrap();
    fs::write(folder.join("i.html"), links(&["today.html"])).unwrap();
    let args = ["check", "--layout", "host", "--json"];
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_baselink"))
        .args(args)
        .arg(site.path())
        .output()
        .unwrap();
    let stdout = String::from_utf8(run.stdout).unwrap();
    assert!(stdout.contains("\"class\":\"works\""), "{stdout}");
}

/// RFC 3986, 3.2.2: hosts are case-insensitive.
#[test]
fn the_folder_of_a_host_may_have_capitals() {
    let site = site(
        "",
        &["A.Example/d/x.html", "A.Example/y.html", "b.example/z.html"],
    );
    let references = [
        "x.html",
        "../y.html",
        "gone.html",
        "/y.html",
        "https://a.example/y.html",
        "https://A.EXAMPLE/gone.html",
        "https://b.example/z.html",
        "../y.html?q",
    ];
    fs::write(
        site.path().join("A.Example/d/index.html"),
        links(&references),
    )
    .unwrap();
    let mut moving = away("https://a.example/");
    moving.from = Origins::default();
    moving.from.has_hosts = true;
    let (scanned, index) = read(site.path(), &moving, &Options::default());
    let (_, page) = scanned
        .iter()
        .find(|(_, page)| page.path.ends_with(b"index.html"))
        .unwrap();
    let found = findings(page, &index, &moving);
    let results: Vec<_> = found
        .into_iter()
        .map(|finding| (finding.class(), finding.rule.cause(finding.reason)))
        .collect();
    assert_eq!(
        results,
        [
            (Class::Works, None),
            (Class::Works, None),
            (Class::Dangling, Some("absent")),
            (Class::Escapes, Some("root-relative")),
            (Class::Pinned, Some("absolute")),
            (Class::Dangling, Some("absent")),
            (Class::Pinned, Some("absolute")),
            (Class::Works, None),
        ]
    );
}

/// `;x` has one target under RFC 1808 (5.2) and another under its successors.
#[test]
fn differing_resolvers_are_reported() {
    let site = site(&links(&[";x", "x.png"]), &["x.png"]);
    let found = of_page(site.path(), &at("http://a.example/"), &Options::default());
    assert_eq!([found[0].differs, found[1].differs], [true, false]);
    assert_eq!(
        found[0].target.as_deref(),
        Some("http://a.example/page.html;x")
    );
    let options = Options {
        resolver: "whatwg".parse().unwrap(),
        ..Options::default()
    };
    let found = of_page(site.path(), &at("http://a.example/"), &options);
    assert_eq!(found[0].target.as_deref(), Some("http://a.example/;x"));
}

/// Browsers follow the URL Standard, 4.4 (path state, "double-dot URL path segment"; special scheme; no scheme; `\`).
/// The RFCs differ: RFC 1808, 4, step 2b, and RFC 3986, 5.2.2, whose strict parser makes no exception for
/// `http:a.html`.
#[test]
fn a_file_that_only_browsers_find_is_reported() {
    let disputed = [
        "sub/%2e%2e/a.html",
        "sub\\x.html",
        "http:a.html",
        "HTTP:/a.html",
        "1:2",
        "http://a.example/sub\\x.html",
        "http://a.example/sub/%2E%2E/a.html",
        "../a.html",
        "//[/a.html",
        "a\nb.html",
    ];
    let agreed = [
        "a b.html",
        "\u{fc}.html",
        "sub/../a.html",
        "http://a.example",
        "HTTP://A.example:80/sub/../a.html",
        "mailto:a@b",
        "java\nscript:x",
        "#top",
        "",
        "{{ x }}\\y",
        "a.html",
    ];
    let site = site(
        &links(&[&disputed[..], &agreed].concat()),
        &["a.html", "sub/x.html"],
    );
    for resolver in ["rfc1808", "rfc3986", "whatwg"] {
        let options = Options {
            resolver: resolver.parse().unwrap(),
            ..Options::default()
        };
        let found = of_page(site.path(), &at("http://a.example/"), &options);
        let (disputes, agrees) = found.split_at(disputed.len());
        for (finding, reference) in disputes.iter().zip(disputed) {
            assert!(finding.differs, "{resolver} {reference} {finding:?}");
        }
        for (finding, reference) in agrees.iter().zip(agreed) {
            assert!(!finding.differs, "{resolver} {reference} {finding:?}");
        }
    }
}

/// Encoded dots are ordinary names in the RFCs, but dot segments in browsers.
#[test]
fn browsers_climb_out_by_encoded_dots() {
    let site = site(&links(&["%2e%2e/x.png"]), &["x.png"]);
    let options = Options {
        resolver: "whatwg".parse().unwrap(),
        ..Options::default()
    };
    let found = of_page(site.path(), &away("http://a.example/docs/"), &options);
    assert_eq!(causes(&found), [(Class::Escapes, Some("climbs-out"), None)]);
}

#[test]
fn a_relative_base_moves_with_its_file() {
    let page = "<base href=sub/><a href=x.png>x</a><a href=../x.png>x</a><a href=../../x.png>x</a>";
    let site = site(page, &["sub/x.png", "x.png"]);
    let found = of_page(
        site.path(),
        &away("http://a.example/docs/"),
        &Options::default(),
    );
    let classes: Vec<_> = found.iter().map(|finding| finding.class()).collect();
    assert_eq!(
        classes,
        [Class::Works, Class::Works, Class::Works, Class::Escapes]
    );
    assert_eq!(
        found[1].target.as_deref(),
        Some("http://a.example/docs/sub/x.png")
    );
}

#[test]
fn a_local_folder_has_a_file_url() {
    let root = RootUrl::on_disk(Path::new("/mnt/a b/\u{fc}")).unwrap();
    assert_eq!(root.as_str(), "file:///mnt/a%20b/%C3%BC/");
    assert_eq!(
        RootUrl::on_disk(Path::new("/")).unwrap().as_str(),
        "file:///"
    );
}

#[test]
fn a_mailbox_is_judged_message_by_message() {
    let site = site("", &["x.png"]);
    let mail = "From a@b Thu\nContent-Type: text/html\n\n<img src=x.png>\n\n\
                From a@b Thu\nContent-Type: text/html\n\n<img src=y.png>\n";
    fs::write(site.path().join("in.mbox"), mail).unwrap();
    let moving = at("http://a.example/");
    let (scanned, index) = read(site.path(), &moving, &Options::default());
    let (bytes, mailbox) = &scanned[0];
    let places: Vec<_> = mailbox
        .links
        .iter()
        .map(|link| (&*link.entity, &bytes[link.span.range()]))
        .collect();
    assert_eq!(places, [("1", &b"x.png"[..]), ("2", b"y.png")]);
    let classes: Vec<_> = findings(mailbox, &index, &moving)
        .iter()
        .map(|finding| finding.class())
        .collect();
    assert_eq!(classes, [Class::Works, Class::Dangling]);
    assert!(
        mailbox
            .links
            .iter()
            .all(|link| link.outcome == Outcome::Rewritten)
    );
}

/// The search for a hint must not compare the missing name with each of the 100,000 names.
#[test]
fn many_missing_targets_take_linear_time() {
    let mut index = Collection::new(at("http://a.example/").from);
    let entry = |name: String| TreeEntry {
        root: Path::new("site").into(),
        path: Path::new("site").join(&name),
        relative: vec![name.into()],
        kind: EntryKind::File,
        size: 0,
    };
    for number in 0..100_000 {
        index.add_entry(&entry(format!("image-{number:06}.png")), None, None);
    }
    let page: String = (0..20_000)
        .map(|number| format!("<img src=imaeg-{number:06}.png>"))
        .collect();
    let moving = at("http://a.example/");
    let page_entry = entry("page.html".into());
    let page = Page::of(
        &page_entry,
        page.as_bytes(),
        Format::Html,
        &Options::default(),
        &moving.from,
    );
    index.add_entry(&page_entry, None, None);
    let found = findings(
        &page,
        &Tree {
            index: index.into(),
            ids: BTreeMap::new(),
        },
        &moving,
    );
    assert_eq!(found.len(), 20_000);
    assert!(
        found
            .iter()
            .all(|finding| finding.rule.cause(finding.reason) == Some("absent"))
    );
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
const BASES: [Option<&str>; 7] = [
    None,
    Some("http://a.example/docs/"),
    Some("http://a.example/docs/sub/x"),
    Some("/docs/sub/"),
    Some("sub/"),
    Some(""),
    Some("http://cdn.example/"),
];
const TAILS: [&str; 4] = ["", "?q=1", "#f", "?q#"];
/// Text before and after a reference.
const PLACES: [(&str, &str); 5] = [
    ("<a href=\"", "\">x</a>"),
    ("<img src=", " alt=x>"),
    ("<img srcset=\"", " 1x\">"),
    ("<p style='background: url(", ")'>"),
    ("<meta http-equiv=refresh content=\"1; url=", "\">"),
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

/// A reference in the file `from` to the file `to`.
fn reference(from: &str, to: &str, form: usize) -> String {
    let to = encoded(to);
    let up = "../".repeat(from.matches('/').count());
    match form {
        0 => format!("./{up}{to}"),
        1 => format!("http://a.example/docs/{to}"),
        2 => format!("/docs/{to}"),
        3 => format!("//a.example/docs/{to}"),
        4 => format!("{up}../docs/{to}"),
        _ => format!("./{to}"),
    }
}

fn entry_of(path: &str) -> TreeEntry {
    TreeEntry {
        root: Path::new("site").into(),
        relative: path.split('/').map(Into::into).collect(),
        path: Path::new("site").join(path),
        kind: EntryKind::File,
        size: 0,
    }
}

/// The pages of a generated tree, and the tree.
fn generated(pages: &[(&str, Vec<u8>)], moving: &Move) -> (Vec<(Vec<u8>, Page)>, Tree) {
    let mut index = Collection::new(moving.from.clone());
    let mut all = Vec::new();
    for path in FILES {
        let entry = entry_of(path);
        index.add_entry(&entry, None, None);
        if let Some((_, bytes)) = pages.iter().find(|(page, _)| *page == path) {
            let page = Page::of(
                &entry,
                bytes,
                Format::Html,
                &Options::default(),
                &moving.from,
            );
            all.push((bytes.clone(), page));
        }
    }
    let tree = Tree::new(&mut all, index, moving);
    (all, tree)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// A link that works leads to the same file, with the same tail, wherever the tree moves.
    #[test]
    fn relative_links_within_the_tree_survive_any_move(
        bases in prop::collection::vec(0..BASES.len(), 4),
        links in prop::collection::vec(
            (0_usize..4, 0..FILES.len(), 0_usize..6, 0..TAILS.len(), 0..PLACES.len()), 1..16),
        new in prop::sample::select(vec![
            "http://b.example/", "https://a.example/docs/x/", "http://a.example/", "file:///cd/",
            "http://a.example/docs/docs/"]),
        place_is_known in any::<bool>(),
    ) {
        let mut pages: Vec<(&str, Vec<u8>)> = Vec::new();
        for (page, &base) in FILES.iter().filter(|path| path.ends_with(".html")).zip(&bases) {
            let mut text = String::from("<p id=f>");
            if let Some(base) = BASES[base] {
                write!(text, "<base href=\"{base}\">").unwrap();
            }
            pages.push((page, text.into_bytes()));
        }
        for (page, file, form, tail, place) in links {
            let (path, text) = &mut pages[page];
            let (before, behind) = PLACES[place];
            let reference = reference(path, FILES[file], form);
            text.extend(format!("{before}{reference}{}{behind}\n", TAILS[tail]).into_bytes());
        }
        let to = RootUrl::new(new).unwrap();
        let moving = Move { to: place_is_known.then(|| to.clone()), ..at("http://a.example/docs/") };
        let (scanned, index) = generated(&pages, &moving);
        for ((_, page), (path, bytes)) in scanned.iter().zip(&pages) {
            let found = findings(page, &index, &moving);
            let retrieval = format!("{new}{}", encoded(path));
            let after = rewrite(bytes, &Options::at(&retrieval)).report.links;
            prop_assert_eq!(after.len(), found.len());
            for ((link, now), after) in page.links.iter().zip(&found).zip(&after) {
                let target = now.target.clone().unwrap_or_default();
                let below = target.strip_prefix("http://a.example/docs/");
                // A base need not lead to a file.
                let Some(below) = below.filter(|_| link.element != "base") else { continue };
                if now.class() == Class::Works && place_is_known {
                    let leads_to = after.target.as_deref();
                    prop_assert_eq!(leads_to, Some(&*format!("{new}{below}")), "{:?}", link);
                }
            }
        }
    }
}

/// HTML, 3.2.6 (`id`) and 7.4.6.4 (`name` of `a`); xml:id Version 1.0, 4.
#[test]
fn ids_are_collected_on_request() {
    let mut options = baselink_scan::ScanOptions::default();
    let page = "<p ID='a&amp;b' id=c><a name=d id=><img name=e><svg id=f><a name=g></a></svg>\
                <noscript><p id=h></noscript><!--<p id=i>--><title id=j><p id=k></title>";
    let ids = |format, text: &str, options: &_| {
        baselink_scan::scan_as(format, text.as_bytes(), options)
            .unwrap()
            .ids
    };
    assert!(ids(Format::Html, page, &options).is_empty());
    options.ids = true;
    assert_eq!(ids(Format::Html, page, &options), ["a&b", "d", "f", "j"]);
    let utf_16: Vec<u8> = [0xFEFF_u16]
        .into_iter()
        .chain("<p id=\u{fc}>".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(baselink_scan::scan(&utf_16, &options).ids, ["\u{fc}"]);
    let page = "<x xml:id='a' id='b&#x20;c' ID='d'><e:y xmlns:e='urn:x' e:id='f'/>\
                <h:a xmlns:h='http://www.w3.org/1999/xhtml' name='g'/><a name='h'/></x>";
    assert_eq!(ids(Format::Xml, page, &options), ["a", "b c", "g"]);
}

/// Text from an entity (XML 1.0, 4.4) is not in the attribute, and signed content must not change.
#[test]
fn links_that_cannot_be_edited_are_checked_too() {
    let site = site("", &["x.png"]);
    let mail = "Content-Type: multipart/signed; boundary=b; protocol=x\n\n\
                --b\nContent-Type: text/html\n\n<img src=\"http://a.example/docs/x.png\">\n\
                --b\nContent-Type: application/x\n\n--b--\n";
    fs::write(site.path().join("m.eml"), mail).unwrap();
    let moving = away("http://a.example/docs/");
    let (scanned, index) = read(site.path(), &moving, &Options::default());
    for (_, page) in scanned.iter().filter(|(_, page)| page.path != b"page.html") {
        let found = findings(page, &index, &moving);
        assert!(!found.is_empty());
        for finding in found {
            assert_eq!(finding.class(), Class::Pinned);
        }
    }
}

#[test]
fn a_folder_without_files_has_no_index_file() {
    let site = site(&links(&["empty/", "empty", "empty/sub", "empt"]), &[]);
    fs::create_dir_all(site.path().join("empty/sub")).unwrap();
    let found = of_page(site.path(), &at("http://a.example/"), &Options::default());
    let no_index = (Class::Dangling, Some("no-index"), None);
    let expected = [
        no_index,
        no_index,
        no_index,
        (Class::Dangling, Some("absent"), None),
    ];
    assert_eq!(causes(&found), expected);
}

#[test]
fn a_reference_of_a_megabyte_takes_linear_time() {
    let deep = "a/".repeat(500_000);
    let dots = "../".repeat(300_000);
    let escapes = "%2e%2e%2f".repeat(100_000);
    let site = site(&links(&[&deep, &dots, &escapes]), &["a/x.png"]);
    let found = of_page(site.path(), &away("http://a.example/"), &Options::default());
    let results: Vec<_> = found
        .iter()
        .map(|finding| (finding.class(), finding.rule.cause(finding.reason)))
        .collect();
    assert_eq!(
        results,
        [
            (Class::Dangling, Some("absent")),
            (Class::Escapes, Some("climbs-out")),
            (Class::Dangling, Some("no-name")),
        ]
    );
}
