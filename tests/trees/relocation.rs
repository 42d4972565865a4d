//! The links of moved trees: each leads to the new place of its target, in its original form.
//!
//! The tests generate trees with random pages, roots and renames. A referee determines the target of each link before
//! and after the move (URL Standard) and its file, independently and in the simplest way, with the crate `url`.
//!
//! Deliberately absent: other resolvers; formats other than HTML, for which `move` uses the same places as `rewrite`.

use std::sync::Arc;

use baselink_rewrite::Options;
use baselink_site::collection::origin::{Origins, RootUrl};
use baselink_site::collection::{Collection, ResourceKind};
use baselink_site::purpose::relocate::{LinkForm, Relocation, options, relocate};
use baselink_text::format::Format;
use baselink_url::Resolver;
use baselink_verify::verify;
use proptest::prelude::*;
use url::Url;

const ROOTS: [&str; 6] = [
    "https://old.example/",
    "http://old.example/docs/",
    "https://old.example/a%20b/",
    "https://new.example/sub/",
    "https://new.example:8080/",
    "https://old.example/docs/deep/er/",
];
const FILES: [&str; 10] = [
    "index.html",
    "about.html",
    "d/index.html",
    "d/x.html",
    "d/e/y.html",
    "d/e/index.html",
    "d e/z.html",
    "c:d.html",
    "i.png",
    "d/%.png",
];
const RENAMES: [(&str, &str); 10] = [
    ("about.html", "info.html"),
    ("about.html", "d/about/index.html"),
    ("d", "n"),
    ("d", "d/d"),
    ("d/e", "e"),
    ("d/x.html", "d/e/x y.html"),
    ("i.png", "d/j.png"),
    ("d/index.html", "top.html"),
    ("index.html", "n/index.html"),
    ("d/e/y.html", "c:y.html"),
];
const REFERENCES: [&str; 40] = [
    "",
    "#s",
    "?q",
    "x.html",
    "x.html?q#s",
    "./x.html",
    "../x.html",
    "../../x.html",
    "../../../../x.html",
    "d/x.html",
    "d/e/y.html#s",
    "d/",
    "d",
    "./",
    "../",
    "..",
    "e/",
    "about",
    "../about",
    "about.html",
    "../i.png",
    "i.png?v=3",
    "c:d.html",
    "./c:d.html",
    "d%20e/z.html",
    "d e/z.html",
    "d/%25.png",
    "/",
    "/d/x.html",
    "/docs/d/x.html#s",
    "/docs/about",
    "/a%20b/d/",
    "/search?q",
    "//old.example/d/x.html",
    "//other.example/",
    "https://old.example/d/e/",
    "HTTP://OLD.example/docs/d/x.html?q",
    "http://old.example/about#s",
    "https://other.example/d/x.html",
    "mailto:a@old.example",
];
const BASES: [Option<&str>; 8] = [
    None,
    None,
    None,
    Some("/docs/d/"),
    Some("../"),
    Some("https://old.example/d/x.html"),
    Some("https://other.example/d/"),
    Some("d/"),
];

/// A page: its base and its links.
#[derive(Clone, Debug)]
struct Page {
    base: Option<&'static str>,
    links: Vec<&'static str>,
}

impl Page {
    fn text(&self) -> String {
        let base = self
            .base
            .map_or(String::new(), |base| format!("<base href=\"{base}\">"));
        let links = self.links.iter().map(|link| format!("<a href=\"{link}\">"));
        base + &links.collect::<String>()
    }
}

/// The values of all `href`s in order. Written values contain no character references.
fn hrefs(text: &str) -> Vec<String> {
    text.split("href=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect()
}

/// Computes moves in a slow and simple way.
struct Referee {
    from: Url,
    to: Url,
    files: Vec<&'static str>,
    renames: Vec<(&'static str, &'static str)>,
}

fn decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match digits
            .filter(|_| first == b'%')
            .and_then(|two| u8::from_str_radix(two, 16).ok())
        {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..at])
}

impl Referee {
    /// The new path of a path below the root, by the longest rename that covers it.
    fn new_path(&self, path: &str) -> String {
        let covers = |old: &str| path == old || path.starts_with(&format!("{old}/"));
        let longest = self
            .renames
            .iter()
            .filter(|(old, _)| covers(old))
            .max_by_key(|(old, _)| old.len());
        longest.map_or(path.to_owned(), |(old, new)| {
            format!("{new}{}", &path[old.len()..])
        })
    }

    /// The new form of a path in a URL.
    fn new_form(&self, path: &str) -> String {
        let has = |file: &str| self.files.contains(&file);
        let is_index = |new: &str| new == "index.html" || new.ends_with("/index.html");
        let with_slash = |new: &str| match folder(new) {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        if has(path) {
            return self.new_path(path);
        }
        let index = if path.is_empty() {
            "index.html".to_owned()
        } else {
            format!("{path}index.html")
        };
        if (path.is_empty() || path.ends_with('/')) && has(&index) {
            let new = self.new_path(&index);
            return if new == index {
                path.to_owned()
            } else if is_index(&new) {
                with_slash(&new)
            } else {
                new
            };
        }
        let page = format!("{path}.html");
        if !path.is_empty() && !path.ends_with('/') && has(&page) {
            let new = self.new_path(&page);
            return if new == page {
                path.to_owned()
            } else if is_index(&new) {
                with_slash(&new)
            } else {
                new.strip_suffix(".html").unwrap().to_owned()
            };
        }
        let index = format!("{path}/index.html");
        if !path.is_empty() && has(&index) {
            let new = self.new_path(&index);
            return if new == index {
                path.to_owned()
            } else if is_index(&new) {
                folder(&new).to_owned()
            } else {
                new
            };
        }
        let is_of_folder = |old: &str| !self.files.contains(&old);
        let bare = path.trim_end_matches('/');
        let covering = self.renames.iter().filter(|(old, _)| {
            is_of_folder(old) && (bare == *old || bare.starts_with(&format!("{old}/")))
        });
        let longest = covering.max_by_key(|(old, _)| old.len());
        longest.map_or(path.to_owned(), |(old, new)| {
            format!("{new}{}", &path[old.len()..])
        })
    }

    fn below(&self, url: &Url) -> Option<String> {
        let is_web = |url: &Url| matches!(url.scheme(), "http" | "https");
        // `port` is `None` for the default port of the scheme.
        let is_same =
            is_web(url) && url.host() == self.from.host() && url.port() == self.from.port();
        let path = decoded(url.path());
        let root = decoded(self.from.path());
        if !is_same {
            return None;
        }
        path.strip_prefix(&root)
            .map(str::to_owned)
            .or_else(|| (format!("{path}/") == root).then(String::new))
    }

    /// The URL after the move.
    fn moved(&self, url: &Url) -> Url {
        let Some(below) = self.below(url) else {
            return url.clone();
        };
        let mut moved = self.to.clone();
        let new = if below.is_empty() {
            self.new_form("")
        } else {
            self.new_form(&below)
        };
        if new == below && self.from == self.to {
            return url.clone();
        }
        let keeps_root = new.is_empty();
        {
            let mut segments = moved.path_segments_mut().unwrap();
            segments.pop_if_empty();
            for segment in new.split('/') {
                segments.push(segment);
            }
        }
        if keeps_root {
            moved = self.to.clone();
        }
        moved.set_query(url.query());
        moved.set_fragment(url.fragment());
        moved
    }
}

/// The decoded parts of a URL: differences in percent-encoding are ignored.
fn meaning(url: &Url) -> String {
    if url.cannot_be_a_base() {
        return url.to_string();
    }
    let (query, fragment) = (
        url.query().map(str::to_owned),
        url.fragment().map(str::to_owned),
    );
    format!(
        "{}://{:?}:{:?}{} {query:?} {fragment:?}",
        url.scheme(),
        url.host(),
        url.port(),
        decoded(url.path())
    )
}

fn form(reference: &str) -> u8 {
    let has_scheme = reference
        .split(['/', '?', '#'])
        .next()
        .unwrap()
        .contains(':');
    match () {
        () if has_scheme => 0,
        () if reference.starts_with("//") => 1,
        () if reference.starts_with('/') => 2,
        () => 3,
    }
}

fn page() -> impl Strategy<Value = Page> {
    let links = prop::collection::vec(prop::sample::select(REFERENCES.to_vec()), 1..6);
    (prop::sample::select(BASES.to_vec()), links).prop_map(|(base, links)| Page { base, links })
}

fn moved_collection(from: &str, renames: &[(&str, &str)]) -> Option<Collection> {
    let origins = Origins {
        root_url: Some(RootUrl::new(from).unwrap()),
        ..Origins::default()
    };
    let mut collection = Collection::new(origins);
    for file in FILES {
        collection.add(file.as_bytes(), ResourceKind::File, []);
    }
    let pairs: Vec<_> = renames
        .iter()
        .map(|(old, new)| (old.as_bytes().to_vec(), new.as_bytes().to_vec()))
        .collect();
    collection.rename(&pairs).ok().map(|()| collection)
}

/// Moves the page at `path`, and checks its proof.
fn moved(path: &str, text: &str, from: &str, relocation: &Arc<Relocation>) -> String {
    let url = Url::parse(from).unwrap();
    let mut own = url;
    {
        let mut segments = own.path_segments_mut().unwrap();
        segments.pop_if_empty();
        segments.extend(path.split('/'));
    }
    let known = Options {
        format: Format::Html,
        resolver: Resolver::Whatwg,
        ..Options::at(own.as_str())
    };
    let options = options(path.as_bytes(), text.as_bytes(), relocation, &known);
    let (mut rewritten, links) = relocate(text.as_bytes(), &options, Vec::push);
    rewritten.report.links = links;
    verify(&rewritten).unwrap();
    String::from_utf8(rewritten.output()).unwrap()
}

/// The URL of the file at `path` below `root`.
fn url_of(root: &Url, path: &str) -> Url {
    let mut url = root.clone();
    {
        let mut segments = url.path_segments_mut().unwrap();
        segments.pop_if_empty();
        segments.extend(path.split('/'));
    }
    url
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_link_leads_to_the_new_place_of_its_target(
        from in 0..3_usize,
        to in 0..ROOTS.len(),
        renames in prop::collection::vec(prop::sample::select(RENAMES.to_vec()), 0..4),
        at in prop::sample::select(FILES[..8].to_vec()),
        page in page(),
    ) {
        let (from, to) = (ROOTS[from], ROOTS[to]);
        let Some(collection) = moved_collection(from, &renames) else { return Ok(()) };
        let referee = Referee {
            from: Url::parse(from).unwrap(),
            to: Url::parse(to).unwrap(),
            files: FILES.to_vec(),
            renames,
        };
        let (from_url, to_url) = (RootUrl::new(from).unwrap(), RootUrl::new(to).unwrap());
        let relocation = Relocation::new(Arc::new(collection), from_url, to_url, LinkForm::Written);
        let text = page.text();
        let output = moved(at, &text, from, &Arc::new(relocation));
        let own = url_of(&referee.from, at);
        let new_own = url_of(&referee.to, &referee.new_path(at));
        let (mut base, mut new_base) = (own.clone(), new_own.clone());
        // A link or a base with the new path may be at the new place already (bug 643).
        let is_new = |url: &Url| {
            referee.to.path() != "/" && url.path().starts_with(referee.to.path())
        };
        if page.base.is_some_and(|base| own.join(base).is_ok_and(|base| is_new(&base))) {
            return Ok(());
        }
        let (old, new) = (hrefs(&text), hrefs(&output));
        prop_assert_eq!(old.len(), new.len());
        for (number, (reference, written)) in old.iter().zip(&new).enumerate() {
            let is_base = number == 0 && page.base.is_some();
            let Ok(target) = base.join(reference) else { continue };
            let leads_to = new_base.join(written).unwrap();
            if is_new(&target) {
                continue;
            }
            let expected = referee.moved(&target);
            prop_assert_eq!(meaning(&leads_to), meaning(&expected), "{} became {} in {}", reference, written, output);
            let as_written = new_base.join(reference).unwrap();
            if as_written == leads_to && form(reference) != 0 {
                prop_assert_eq!(written, reference, "it leads there as it is");
            }
            // A link may lose its form only if it must name the host.
            if form(written) != form(reference) {
                let lost_host = target.host() != new_base.host() || target.scheme() != new_base.scheme()
                    || referee.below(&target).is_none();
                let is_other_base = referee.below(&base).is_none();
                let moves_host = referee.from.origin() != referee.to.origin();
                prop_assert!(lost_host || is_other_base || moves_host, "{} became {}", reference, written);
            }
            if is_base {
                base = target;
                new_base = leads_to;
            }
        }
    }

    /// A link to a file of the tree becomes relative and leads to that file wherever the tree is.
    #[test]
    fn a_relative_tree_works_at_any_url(
        from in 0..3_usize,
        renames in prop::collection::vec(prop::sample::select(RENAMES.to_vec()), 0..4),
        at in prop::sample::select(FILES[..8].to_vec()),
        links in prop::collection::vec(prop::sample::select(REFERENCES.to_vec()), 1..6),
        root in prop::sample::select(vec!["https://any.example/", "http://old.example/p/q/", "file:///srv/www/"]),
    ) {
        let from = ROOTS[from];
        let Some(collection) = moved_collection(from, &renames) else { return Ok(()) };
        let (own, root) = (Url::parse(from).unwrap(), Url::parse(root).unwrap());
        let referee = Referee { from: own.clone(), to: root.clone(), files: FILES.to_vec(), renames };
        let url = RootUrl::new(from).unwrap();
        let relocation = Relocation::new(Arc::new(collection), url.clone(), url, LinkForm::Relative);
        let text = Page { base: None, links: links.clone() }.text();
        let output = moved(at, &text, from, &Arc::new(relocation));
        let base = url_of(&own, at);
        let new_base = url_of(&root, &referee.new_path(at));
        for (reference, written) in links.iter().zip(hrefs(&output)) {
            let target = base.join(reference).unwrap();
            let below = referee.below(&target);
            let has = |file: &str| FILES.contains(&file);
            let is_answered = |path: &String| {
                let folder = if path.is_empty() || path.ends_with('/') { path.clone() } else { format!("{path}/") };
                has(path) || has(&format!("{folder}index.html")) || has(&format!("{path}.html"))
            };
            let stays = below.is_none() && form(reference) != 3;
            // If no file answers, an absolute URL still leads to the site.
            if stays || form(reference) < 2 && !below.as_ref().is_some_and(is_answered) {
                prop_assert_eq!(&*written, *reference);
                continue;
            }
            if below.is_none() {
                continue;
            }
            prop_assert_eq!(form(&written), 3, "{} became {} in {}", reference, written, output);
            let (leads_to, expected) = (new_base.join(&written).unwrap(), referee.moved(&target));
            prop_assert_eq!(meaning(&leads_to), meaning(&expected), "{} became {} in {}", reference, written, output);
        }
    }

    /// After a move to another root and back, a document has its old bytes, if every link of the tree has only one
    /// spelling.
    #[test]
    fn a_move_can_be_undone(
        at in prop::sample::select(FILES[..8].to_vec()),
        links in prop::collection::vec(prop::sample::select(vec![
            "", "#s", "?q", "x.html?q", "./x.html", "d%20e/z.html#s", "/docs/", "/docs/about?x", "/docs/d/%25.png",
            "//old.example/docs/d/", "http://old.example/docs/d/x.html#s", "https://other.example/", "mailto:a@old.example",
        ]), 1..6),
        to in 3..ROOTS.len(),
    ) {
        let (from, to) = (ROOTS[1], ROOTS[to]);
        let text = Page { base: None, links }.text();
        let move_page = |from: &str, to: &str, text: &str| {
            let collection = moved_collection(from, &[]).unwrap();
            let (from_url, to_url) = (RootUrl::new(from).unwrap(), RootUrl::new(to).unwrap());
            let relocation = Relocation::new(Arc::new(collection), from_url, to_url, LinkForm::Written);
            moved(at, text, from, &Arc::new(relocation))
        };
        let moved = move_page(from, to, &text);
        prop_assert_eq!(move_page(to, from, &moved), text);
    }
}
