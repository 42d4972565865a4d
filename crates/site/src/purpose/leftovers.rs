//! Traces of the old place of a site in its files after a move: old URLs, and paths from the root of the site.
//!
//! Scripts assemble URLs from paths and from a base that the bundler wrote into them. A move changes neither.
//!
//! ```text
//! e.p="/"    fetch("/search.json")    {"icon":"/img/i.png"}     break below another path
//! ```
//!
//! Deliberately absent: running scripts, and a path of which a script contains only parts.

use std::borrow::Cow;

use baselink_text::Edits;
use memchr::{memchr3_iter, memmem};

use super::{
    relocate::{LinkForm, Relocation, split_host},
    tally::{Counted, Tally},
};
use crate::collection::{Located, origin::is_assumed, split_name};

/// The names of files that usually contain paths of pages.
const FILES_WITH_PATHS: [&[u8]; 9] = [
    b"robots.txt",
    b"_headers",
    b"_redirects",
    b"netlify.toml",
    b"vercel.json",
    b".htaccess",
    b"search_index.json",
    b"searchindex.js",
    b"llms.txt",
];

/// The ends of names of files with paths for scripts.
const SCRIPTS: [&[u8]; 4] = [b".js", b".mjs", b".cjs", b".json"];

/// The texts with which bundlers write the root of a site, for which `{}` stands.
const BASES: [&str; 7] = [
    ".p=\"{}\"",
    "BASE_URL:\"{}\"",
    "BASE_URL\":\"{}\"",
    "return\"{}\"+",
    "baseUrl\":\"{}\"",
    "assetPrefix",
    "__NEXT_DATA__",
];

/// The beginning of the paths of a generator's scripts, its name, and the way in which it builds a site for another path.
const GENERATORS: [(&[u8], &str, &str); 7] = [
    (b"_next/", "Next.js", "basePath in next.config.js"),
    (
        b"assets/js/runtime~main.",
        "Docusaurus",
        "baseUrl in docusaurus.config.js",
    ),
    (b"_astro/", "Astro", "base in astro.config.mjs"),
    (
        b"assets/chunks/",
        "VitePress",
        "base in .vitepress/config.js",
    ),
    (b"_nuxt/", "Nuxt", "app.baseURL in nuxt.config.ts"),
    (
        b"page-data/",
        "Gatsby",
        "pathPrefix in gatsby-config.js and gatsby build --prefix-paths",
    ),
    (
        b"_app/immutable/",
        "SvelteKit",
        "kit.paths.base in svelte.config.js",
    ),
];

/// The name of the generator that wrote one of these files, and the setting of its base path.
pub fn generator(paths: &[Vec<u8>]) -> Option<(&'static str, &'static str)> {
    let (_, name, setting) = GENERATORS
        .iter()
        .find(|(start, ..)| paths.iter().any(|path| path.starts_with(start)))?;
    Some((name, setting))
}

impl Relocation {
    /// The traces in the file `name` with the contents `text`. A document has these edits; others are copied.
    pub fn left_in(&self, name: &[u8], text: &[u8], edits: Option<&Edits>) -> Tally {
        let last = split_name(name).1;
        let mut compressed = [".gz", ".br", ".zst"].iter();
        let is_copy = |end: &str| {
            let plain = name.strip_suffix(end.as_bytes());
            plain.is_some_and(|plain| self.collection.number_at(plain).is_some())
        };
        let rewritten = || edits.map_or(Cow::Borrowed(text), |edits| edits.apply(text).into());
        let names_old_urls = match edits {
            Some(_) => {
                self.from.as_str() != self.to.as_str() && self.names_old_root(&rewritten(), true)
            }
            // A file may consist of paths, or be a compressed copy of another.
            None => {
                FILES_WITH_PATHS.contains(&last)
                    || compressed.any(|end| is_copy(end))
                    || self.names_old_root(text, false)
            }
        };
        let mut traces = Tally::default();
        traces.add(Counted::OldUrls, names_old_urls);
        traces.add(Counted::RootPaths, self.has_root_paths(name, rewritten));
        traces
    }

    /// True if the old URL of the root is known, and `text` contains it, possibly with `\/` for `/` as in JSON, or consists of its
    /// host (`CNAME`). With `skips_new`, the new URL does not count, even if it begins with the old one.
    fn names_old_root(&self, text: &[u8], skips_new: bool) -> bool {
        let bare = |url: &str| Some(url.trim_end_matches('/').split_once(':')?.1.to_owned());
        // `//old.example.org` does not contain the root `//old.example`, and `//old.example/ab` does not contain the
        // root `//old.example/a`.
        let continues_name = |rest: &[u8]| match rest {
            [b'.', next, ..] | [next, ..] => next.is_ascii_alphanumeric() || b"-_:".contains(next),
            [] => false,
        };
        let new = Some(self.to.as_str()).filter(|_| skips_new);
        let new = new.and_then(bare).unwrap_or("\0".into());
        let escaped = |url: &str| url.replace('/', "\\/");
        let is_in = |root: &str, new: &str| {
            memmem::find_iter(text, root).any(|at| {
                let rest = &text[at..];
                !rest.starts_with(new.as_bytes()) && !continues_name(&rest[root.len()..])
            })
        };
        let is_named = |root: String| {
            let (host, _) = split_host(&root);
            text.trim_ascii() == host.trim_start_matches('/').as_bytes()
                || is_in(&root, &new)
                || is_in(&escaped(&root), &escaped(&new))
        };
        let mut roots = self.from.spellings().filter_map(bare);
        !is_assumed(self.from.as_str()) && roots.any(is_named)
    }

    /// True if a script or JSON has quoted paths from the root, and the move changes their meaning.
    fn has_root_paths<'t>(&self, name: &[u8], text: impl Fn() -> Cow<'t, [u8]>) -> bool {
        let [(host, root), (_, new)] = [&self.from, &self.to].map(|root| split_host(root.as_str()));
        let moves = self.form != LinkForm::Written || root != new;
        if !moves || !SCRIPTS.iter().any(|end| name.ends_with(end)) {
            return false;
        }
        let text = text();
        let mut bases = BASES.iter().map(|base| base.replace("{}", root));
        bases.any(|base| memmem::find(&text, base.as_bytes()).is_some())
            || memchr3_iter(b'"', b'\'', b'`', &text)
                .filter_map(|at| quoted_path(root, &text[at + 1..]))
                .any(|path| {
                    let located = self.collection.locate(&format!("{host}{path}"));
                    located.is_proof()
                        || matches!(located, Located::Folder(_)) && path.ends_with('/')
                })
    }
}

/// The path below `root` with which `text`, the text after a quotation mark, begins.
fn quoted_path<'t>(root: &str, text: &'t [u8]) -> Option<&'t str> {
    let below = text.strip_prefix(root.as_bytes())?;
    let is_end = |byte: &u8| b"\"'`\\?#<> ".contains(byte) || byte.is_ascii_control();
    let end = below.iter().position(is_end)?;
    let is_path = end > 0 && below[0] != b'/' && b"\"'`\\?#".contains(&below[end]);
    let path = &text[..root.len() + end];
    std::str::from_utf8(path).ok().filter(|_| is_path)
}
