//! What references were before a crawler made them lead to the files that it saved.
//!
//! | program | the page had | the crawler wrote |
//! |---|---|---|
//! | wget `-E -k` | `main.css?v=2` | `main.css%3Fv=2.css` |
//! | HTTrack | `main.css?v=2` | `main5e1f.css?v=2`: the beginning of the query's MD5 |
//! | | `list?page=2` | `list4658.html?page=2`, and the page says its URL itself |
//!
//! ```
//! use baselink::layer::digest::ends_with_md5;
//! assert!(ends_with_md5(b"main5e1f", b"v=2"));
//! ```
//!
//! Deliberately absent: guesses. Only what leads to a file that is there is undone.

use std::borrow::Cow;

use super::Beside;
use crate::base::BaseChain;
use crate::document::Program;
use crate::layer::digest::ends_with_md5;
use crate::reference::decode_percent;

/// The program that saved a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crawler {
    Wget,
    HtTrack,
}

impl Crawler {
    /// The one that saved the document with the base of `chain`.
    pub(super) fn of(chain: &BaseChain, beside: Option<&dyn Beside>) -> Option<Self> {
        let is_of_httrack =
            chain.saved.as_ref().is_some_and(|saved| saved.program == Program::HtTrack);
        match is_of_httrack {
            true => Some(Self::HtTrack),
            false => beside.is_some_and(Beside::is_crawled).then_some(Self::Wget),
        }
    }

    /// Whether a reference that stands so in the bytes may be one that it wrote.
    #[inline(always)]
    pub(super) fn may_have_written(self, raw: &[u8]) -> bool {
        match self {
            Self::Wget => memchr::memchr2(b'%', b'&', raw).is_some(),
            Self::HtTrack => !matches!(raw.first(), None | Some(b'#')),
        }
    }

    /// What `reference` was; `None` where it was the same, or leads to no file.
    pub(super) fn undo(self, reference: &str, beside: &dyn Beside) -> Option<String> {
        let end = reference.find(['?', '#']).unwrap_or(reference.len());
        let (path, rest) = reference.split_at(end);
        match self {
            Self::Wget => wget(path, rest, beside),
            Self::HtTrack => httrack(path, rest, beside),
        }
    }
}

fn decoded(path: &str) -> Cow<'_, str> {
    match path.contains('%') {
        true => String::from_utf8_lossy(&decode_percent(path.as_bytes())).into_owned().into(),
        false => path.into(),
    }
}

/// wget writes `%3F` with `--adjust-extension`, and then it puts `.html` or `.css` behind the query.
fn wget(path: &str, rest: &str, beside: &dyn Beside) -> Option<String> {
    let (folder, name) = path.split_at(path.rfind('/').map_or(0, |at| at + 1));
    let mark = name.find("%3F").or_else(|| name.find("%3f"))?;
    if rest.starts_with('?') || !beside.has_crawled(&decoded(path)) {
        return None;
    }
    let (stem, query) = (&name[..mark], &name[mark + "%3F".len()..]);
    let added = [".html", ".htm", ".css"].into_iter().find_map(|one| query.strip_suffix(one));
    Some(format!("{folder}{stem}?{}{rest}", added.unwrap_or(query)))
}

fn httrack(path: &str, rest: &str, beside: &dyn Beside) -> Option<String> {
    let (query, fragment) = rest.split_at(rest.find('#').unwrap_or(rest.len()));
    if path.is_empty() || path.starts_with('/') {
        return None;
    }
    if let Some(url) = beside.page_url(&decoded(path)) {
        return Some(format!("{url}{fragment}"));
    }
    let name_at = path.rfind('/').map_or(0, |at| at + 1);
    let stem_end = path[name_at..].rfind('.').map_or(path.len(), |at| name_at + at);
    let stem = &path[name_at..stem_end];
    let digits_at = stem_end.checked_sub(4).filter(|&at| at > name_at)?;
    let is_named_after = ends_with_md5(stem.as_bytes(), query.strip_prefix('?')?.as_bytes());
    (is_named_after && beside.has_crawled(&decoded(path)))
        .then(|| format!("{}{}{rest}", &path[..digits_at], &path[stem_end..]))
}
