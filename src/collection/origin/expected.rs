//! The path at which the pages of a built site expect their folder.
//!
//! A site that is built for `https://a.example/repo/` has a file `css/a.css`, and links to it as `/repo/css/a.css`. Only its
//! index page is read: the path is `/repo/` if several of its links begin with `/repo/`, no other link begins with another
//! `/`, no entry of the folder is called `repo`, and the rest of two of these links are names of entries.
//!
//! ```text
//! index.html: <base href="/repo/"><link href="css/a.css"> <a href="/repo/b/">  -->  repo/
//! ```
//!
//! Deliberately absent: paths of several segments, and pages without an index page.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::names;
use crate::files::os_string;
use baselink_rewrite::{Options, links};
use baselink_url::reference::{Grammar, Reference};

/// The largest index page that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The path at which the index page of `folder` expects the folder, with a `/` at its end; `None` if that is the root of the
/// host, or unclear. `root` is the URL of that root.
pub(super) fn expected_path(folder: &Path, root: &str) -> Option<String> {
    let page = folder.join("index.html");
    let is_small = fs::metadata(&page).is_ok_and(|it| it.is_file() && it.len() <= LARGEST);
    let bytes = is_small.then(|| fs::read(page).ok()).flatten()?;
    let options = Options::at(root);
    let (mut firsts, mut found) = (HashSet::new(), HashSet::new());
    links(&bytes, &options, &mut |listed| {
        let link = &listed.link;
        let is_of_root = link.base.as_deref() == Some(root);
        // A relative link leads to a file beside the page, whatever its URL is.
        if is_of_root && !link.reference.starts_with('/') {
            return;
        }
        let below = link
            .target
            .as_deref()
            .and_then(|url| url.strip_prefix(root));
        if let Some(below) = below {
            let below = Reference::split(Grammar::Rfc3986, below).path();
            let (first, rest) = below.split_once('/').unwrap_or((below, ""));
            firsts.insert(first.to_owned());
            let rest = Some(rest).filter(|rest| !rest.is_empty() && !rest.starts_with('/'));
            let rest = rest.and_then(|rest| os_string(names::decode(rest)));
            found.extend(rest.filter(|rest| folder.join(rest).exists()));
        }
    });
    let mut firsts = firsts.into_iter();
    let first = firsts.next().filter(|first| !first.is_empty())?;
    let is_one = firsts.next().is_none() && found.len() > 1;
    let is_absent = || {
        let name = os_string(names::decode(&first));
        name.is_some_and(|name| !folder.join(name).exists())
    };
    (is_one && is_absent()).then(|| format!("{first}/"))
}
