//! Restores references that a crawler changed to lead to files next to a page.
//!
//! | program | reference in the original page | reference in the saved page |
//! |---|---|---|
//! | wget `-E -k` | `main.css?v=2` | `main.css%3Fv=2.css` |
//! | HTTrack | `main.css?v=2` | `main5e1f.css?v=2`: the beginning of the query's MD5 |
//! | | `list?page=2` | `list4658.html?page=2`, and that page records its own URL |
//! | `localize`, of pages that browsers saved | `http://a.example/x` | `Title.html`, and that page records its own URL |
//!
//! ```text
//! <link href="../style/main%3Fv=2.css">  in www.a.example/x/page.html, and the file is there
//!     -->  http://www.a.example/style/main?v=2
//! ```
//!
//! Deliberately absent: references to files that do not exist, and links in a document whose base is in another folder.

use baselink_scan::Program;
use baselink_text::layer::digest::ends_with_md5;
use baselink_url::decode_percent_lossy;

use super::{beside::NearbyFiles, options::Options};
use crate::base::{BaseChain, folder};

/// The program that changed references to lead to files.
#[derive(Clone, Copy)]
pub enum Crawler {
    Wget,
    HtTrack,
    /// An unknown program: the page records only the URL from which it was saved.
    Unknown,
}

impl Crawler {
    /// The program that saved the document with the base of `chain`; `None` if its references are not to be
    /// restored.
    pub fn of(chain: &BaseChain, options: &Options) -> Option<Self> {
        let beside = options.beside()?;
        if !chain.is_of_folder() {
            return None;
        }
        match &chain.saved {
            Some(saved) if saved.program == Program::HtTrack => Some(Self::HtTrack),
            _ if beside.is_crawled() => Some(Self::Wget),
            saved => saved.is_some().then_some(Self::Unknown),
        }
    }

    /// True if the crawler may have written a reference with the bytes `raw`.
    #[inline(always)]
    pub fn may_have_written(self, raw: &[u8]) -> bool {
        match self {
            Self::Wget => memchr::memchr2(b'%', b'&', raw).is_some(),
            Self::HtTrack | Self::Unknown => !matches!(raw.first(), None | Some(b'#')),
        }
    }

    /// The original of `reference`; `None` if the crawler did not change it, or if it leads to no existing file.
    pub fn undo(self, reference: &str, beside: &dyn NearbyFiles) -> Option<String> {
        let end = reference.find(['?', '#']).unwrap_or(reference.len());
        let (path, rest) = reference.split_at(end);
        match self {
            Self::Wget => wget(path, rest, beside),
            Self::HtTrack => httrack(path, rest, beside),
            Self::Unknown => page(path, rest, beside),
        }
    }
}

/// Undoes wget's `--adjust-extension`, which writes `?` as `%3F` and appends `.html` or `.css` unless the query
/// already ends in that extension. Queries such as `?file=about.html`, which are rare, lose their own extension.
fn wget(path: &str, rest: &str, beside: &dyn NearbyFiles) -> Option<String> {
    let (folder, name) = path.split_at(folder(path).len());
    let mark = name.find("%3F").or_else(|| name.find("%3f"))?;
    if rest.starts_with('?') || !beside.has_file(&decode_percent_lossy(path)) {
        return None;
    }
    let (stem, query) = (&name[..mark], &name[mark + "%3F".len()..]);
    let added = [".html", ".css"]
        .into_iter()
        .find_map(|one| query.strip_suffix(one));
    Some(format!("{folder}{stem}?{}{rest}", added.unwrap_or(query)))
}

/// The URL that the page at `path` records for itself; `None` for a reference with a query, which means another page.
fn page(path: &str, rest: &str, beside: &dyn NearbyFiles) -> Option<String> {
    let is_relative = !path.is_empty() && !path.starts_with('/') && !rest.starts_with('?');
    let url = is_relative
        .then(|| beside.page_url(&decode_percent_lossy(path)))
        .flatten()?;
    Some(format!("{url}{rest}"))
}

/// Undoes HTTrack's naming, which puts the beginning of the query's MD5 into the file name and keeps the query.
fn httrack(path: &str, rest: &str, beside: &dyn NearbyFiles) -> Option<String> {
    let (before, fragment) = rest.split_at(rest.find('#').unwrap_or(rest.len()));
    let Some(query) = before.strip_prefix('?') else {
        return page(path, rest, beside);
    };
    let name_at = folder(path).len();
    let stem_end = path[name_at..]
        .rfind('.')
        .map_or(path.len(), |at| name_at + at);
    let digits_at = stem_end.checked_sub(4).filter(|&at| at > name_at)?;
    if !ends_with_md5(&path.as_bytes()[name_at..stem_end], query.as_bytes()) {
        return None;
    }
    page(path, fragment, beside).or_else(|| {
        beside
            .has_file(&decode_percent_lossy(path))
            .then(|| format!("{}{}{rest}", &path[..digits_at], &path[stem_end..]))
    })
}
