//! Messages about the URL at which the pages of a folder expect it.
//!
//! ```text
//! site: its pages expect it at /repo/, so links to /repo/ lead into it; for another place, add --url
//! ```
//!
//! Deliberately absent: finding that URL, which `baselink_site::collection::origin::expected` does.

use baselink_text::{Error, Result, name};

use super::{output::Output, request::Documents};
use baselink_site::{
    collection::{
        origin::{
            RootUrl,
            expected::{ExpectedUrl, expected_url},
            is_assumed,
        },
        same::{SameTable, others},
    },
    purpose::relocate::split_host,
};

/// The remedy if the URL that the pages name is not that of the folder.
const OTHERWISE: &str = "if not, make a copy with -o";

/// The message about a folder that was moved before.
const MOVED: &str = "its links already lead to the URL or path of --to, as if it had been moved before; give its URL of today with --url";

/// Reports the place at which the pages of a site expect its folder, if no URL is given, or neither that URL nor `to` is that
/// place. `to` is the URL to which the folder moves.
///
/// # Errors
///
/// If the folder is changed in place, and most of its pages name another place, returns the report as an error, because a wrong
/// URL would spoil the only copy. So does a second move.
pub fn report_expected_url(
    documents: &Documents,
    to: Option<&RootUrl>,
    is_in_place: bool,
    output: &mut Output,
) -> Result<()> {
    let (folder, origins) = (&documents.paths[0], &documents.reading.origins);
    let Some(root_url) = origins.root_url.as_ref().filter(|_| !origins.canonical) else {
        return Ok(());
    };
    let expected = root_url
        .folder()
        .and_then(|root| expected_url(folder, root));
    let shown = name(folder);
    if let (Some(found), Some(to)) = (&expected, to)
        && is_moved(found, root_url, to)
    {
        let why = format!("{shown}: {MOVED}");
        if is_in_place && (found.is_of_most || !found.is_only_canonical) {
            return Err(Error::new(why));
        }
        output.caution(why);
        return Ok(());
    }
    let roots = [root_url, to.unwrap_or(root_url)];
    let is_other = |found: &ExpectedUrl| !names_one_of(roots, &found.url, &documents.reading.same);
    let Some(found) = expected.filter(is_other) else {
        if let Some(path) = root_url.expected_path() {
            output.notice(format_args!(
                "{shown}: its pages expect it at /{path}, so links to /{path} lead into it; for another place, add --url"
            ));
        }
        return Ok(());
    };
    let (url, other) = (root_url.as_str(), &found.url);
    let its = format!("{shown}: its pages name its files by URLs of {other}");
    let is_assumed = is_assumed(url);
    let (why, is_wrong) = if is_assumed {
        let why =
            format!("{its}, which count as another site; if it is this one, add --url {other}");
        (why, to.is_some())
    } else {
        let why = format!("{its}, not of {url}; if it is this site, give it as --url");
        (why, !is_version(&found, url))
    };
    if is_in_place && found.is_of_most && is_wrong {
        return Err(Error::new(format!("{why}; {OTHERWISE}")));
    }
    if is_assumed {
        output.notice(why);
    } else {
        output.caution(why);
    }
    Ok(())
}

/// True if the links of a folder already lead to the URL `to` or to its path, and not to the URL `from`, from which it moves. A
/// move to another host with the same path can be repeated.
fn is_moved(found: &ExpectedUrl, from: &RootUrl, to: &RootUrl) -> bool {
    if found.url == to.as_str() {
        let [old, new] = [from, to].map(|root| split_host(root.as_str()).1);
        return old != new;
    }
    if found.is_only_canonical || found.url == from.as_str() {
        return false;
    }
    let ends = |root: &RootUrl, path: &str| root.as_str().ends_with(&format!("/{path}"));
    let path = found.path.as_deref();
    path.is_some_and(|path| ends(to, path) && !ends(from, path))
}

/// True if the pages of the site at `url` have canonical URLs of another version of it, such as `/stable/` instead of `/2.1/`.
fn is_version(found: &ExpectedUrl, url: &str) -> bool {
    let (host, path) = split_host(url);
    let (other_host, other_path) = split_host(&found.url);
    let are_nested = path.starts_with(other_path) || other_path.starts_with(path);
    found.is_only_canonical && host == other_host && !are_nested
}

/// True if `url` is one of `roots`, or means one of them by `same`.
fn names_one_of(roots: [&RootUrl; 2], url: &str, same: &SameTable) -> bool {
    let is_root = |url: &str| roots.iter().any(|root| is_root_at(root, url));
    is_root(url) || others(url, same).any(|url| is_root(&url))
}

/// True if `root` is `url`. A root with `https` may be named by `http`, but not the reverse: links that become absolute would get
/// `http`.
fn is_root_at(root: &RootUrl, url: &str) -> bool {
    let below = if root.as_str().starts_with("http:") {
        root.below(url)
    } else {
        root.below_own(url)
    };
    below.is_some_and(|below| below.path.is_empty())
}
