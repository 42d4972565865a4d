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

use baselink_text::{Code, Diagnostic, Edits, Span};
use memchr::{memchr3_iter, memmem};

use super::{
    generator::{GENERATORS, Generator, of_page},
    old_urls::OldUrls,
    relocate::{LinkForm, Relocation, split_host},
    tally::{Counted, Tally},
};
use crate::collection::{Located, split_name};

/// The names of files that usually contain paths of pages.
const FILES_WITH_PATHS: [&[u8]; 7] = [
    b"robots.txt",
    b"_headers",
    b"_redirects",
    b"netlify.toml",
    b"vercel.json",
    b".htaccess",
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

/// The traces of the old place of a site in a file.
#[derive(Default)]
pub struct Traces {
    /// Their numbers.
    pub tally: Tally,
    /// The old URLs that stay.
    pub urls: Vec<Diagnostic>,
    /// The edits that replace others.
    pub edits: Edits,
}

impl Relocation {
    /// The traces in the file `name` with the contents `text`. A document has these edits; others are copied. `sealed` is the reason
    /// why nothing but links may change.
    pub fn left_in(
        &self,
        name: &[u8],
        text: &[u8],
        edits: Option<&Edits>,
        sealed: Option<&'static str>,
    ) -> Traces {
        let last = split_name(name).1;
        let mut compressed = [".gz", ".br", ".zst"].iter();
        let is_copy = |end: &str| {
            let plain = name.strip_suffix(end.as_bytes());
            plain.is_some_and(|plain| self.collection.number_at(plain).is_some())
        };
        let rewritten = || edits.map_or(Cow::Borrowed(text), |edits| edits.apply(text).into());
        let none = Edits::default();
        let how = (self.replaces_old_urls, sealed);
        let renamed = |path: &str| self.renamed_path(path);
        let find = |old: &OldUrls| old.find(text, edits.unwrap_or(&none), how, renamed);
        let (mut urls, edits_of_urls) = self.old_urls.as_ref().map(find).unwrap_or_default();
        let mut tally = Tally::default();
        if edits.is_none() && FILES_WITH_PATHS.contains(&last) {
            urls.extend(self.old_path(text));
        }
        let is_compressed = edits.is_none() && compressed.any(|end| is_copy(end));
        tally.add(Counted::NamingOldUrls, is_compressed || !urls.is_empty());
        tally.add(Counted::ReplacedUrl, edits_of_urls.len());
        let has_root_paths = self.has_root_paths(name, rewritten);
        tally.add(Counted::RootPaths, has_root_paths);
        let begins = |[_, scripts, _]: &Generator| name.starts_with(scripts.as_bytes());
        let of_script = || GENERATORS.into_iter().find(begins);
        let of_script = has_root_paths.then(of_script).flatten();
        let generator = edits.map_or(of_script, |_| of_page(text));
        // From disk, no other path helps.
        if let Some([one, ..]) = generator.filter(|_| self.form != LinkForm::Disk) {
            tally.add(Counted::Built(one), 1_usize);
        }
        Traces {
            tally,
            urls,
            edits: edits_of_urls,
        }
    }

    /// The first path from the old root in `text`, if the root has another path after the move.
    fn old_path(&self, text: &[u8]) -> Option<Diagnostic> {
        let [root, new] = [&self.from, &self.to].map(|root| split_host(root.as_str()).1);
        let at = memmem::find(text, root.as_bytes()).filter(|_| root != new)?;
        let message = format!("paths may begin with the old {root}, now {new}");
        Some(Diagnostic::new(Code::OldUrl, Span::at(at), message))
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
                .filter(|at| !text[..*at].ends_with(b"endsWith("))
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
