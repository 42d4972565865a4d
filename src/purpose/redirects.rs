//! Redirects from the old places of renamed files to their new places, for servers that are to answer old URLs.
//!
//! | output | syntax |
//! |---|---|
//! | `.map`, `.conf` | an nginx map |
//! | `.htaccess` | `RedirectMatch` of Apache |
//! | a folder | a page for each old path, which sends browsers on |
//! | any other file | `_redirects` of Netlify and Cloudflare |
//!
//! ```text
//! a.html, renamed to b/a.html  -->  _redirects: /a.html /b/a.html 301
//! ```
//!
//! Deliberately absent: renaming, which is in [`super::relocate`].

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::PathBuf;

use super::relocate::{Relocation, encoded, split_host};
use crate::collection::folder::path_of;
use crate::collection::origin::is_assumed;
use baselink_url::reference::decode_percent;
use baselink_url::{Base, Resolver};

/// The new paths of renamed files.
fn new_paths(relocation: &Relocation) -> HashSet<&[u8]> {
    let renames = relocation.collection().renames();
    renames.into_iter().map(|(_, new)| new).collect()
}

/// Pages at the old paths of renamed pages, each with its path, that lead to the new paths; and the number of old paths without
/// one, because another file has them now, or because the file is not HTML.
pub fn pages(relocation: &Relocation) -> (Vec<(PathBuf, String)>, usize) {
    let new = new_paths(relocation);
    let (mut pages, mut omitted) = (Vec::new(), 0);
    let to = relocation.to().as_str();
    for (old, path) in relocation.collection().renames() {
        let is_page = [&b".html"[..], b".htm"]
            .iter()
            .any(|end| old.ends_with(end));
        let places = encoded(old).zip(encoded(path)).zip(path_of(old));
        let Some(((from, path), place)) = places.filter(|_| is_page && !new.contains(old)) else {
            omitted += 1;
            continue;
        };
        let url = format!("{to}{path}").replace('&', "&amp;");
        let base = Base::new(Resolver::Whatwg, &format!("{to}{from}"));
        let reference = base
            .relativize(&format!("{to}{path}"))
            .replace('&', "&amp;");
        let canonical = match is_assumed(to) {
            true => String::new(),
            false => format!("<link rel=\"canonical\" href=\"{url}\">\n"),
        };
        let page = format!(
            "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>This page has moved</title>\n{canonical}\
             <meta name=\"robots\" content=\"noindex\">\n\
             <meta http-equiv=\"refresh\" content=\"0; url={reference}\">\n\
             <p>This page has moved to <a href=\"{reference}\">{reference}</a>.</p>\n"
        );
        pages.push((place, page));
    }
    (pages, omitted)
}

/// Redirects from the old path of each renamed file to its new path, one per line. The syntax depends on the name of
/// the output `file`: `_redirects` by default, an nginx map for `.map` and `.conf`, and Apache's for `.htaccess`. Also
/// returns the number of old paths that are omitted, because another file has them now or the syntax cannot express
/// the redirect.
pub fn redirects(relocation: &Relocation, file: &OsStr) -> (Vec<String>, usize) {
    let file = file.to_string_lossy().to_ascii_lowercase();
    let ends = |end: &str| file.ends_with(end);
    let collection = relocation.collection();
    let new = new_paths(relocation);
    let [(old_host, old_root), (host, root)] =
        [relocation.from(), relocation.to()].map(|root| split_host(root.as_str()));
    let host = match host == old_host || is_assumed(relocation.from().as_str()) {
        true => "",
        false => host,
    };
    let (mut lines, mut omitted) = (Vec::new(), 0);
    for (old, _) in collection.renames() {
        let Some(number) = collection.number_at(old) else {
            continue;
        };
        if new.contains(old) {
            omitted += 1;
            continue;
        }
        for form in collection.forms(old) {
            let to = collection.renamed_as(number, form).unwrap_or_default();
            let Some((from, to)) = encoded(form).zip(encoded(&to)) else {
                continue;
            };
            let (from, to) = (format!("{old_root}{from}"), format!("{root}{to}"));
            lines.push(match () {
                () if ends(".map") || ends(".conf") => {
                    let from = if from.contains(';') {
                        format!("\"{from}\"")
                    } else {
                        from
                    };
                    // `$` would begin the name of a variable.
                    format!(
                        "{from} {host}{};\n",
                        to.replace('$', "%24").replace(';', "%3B")
                    )
                }
                () if ends(".htaccess") => match apache_redirect(&from, host, &to) {
                    Some(line) => line,
                    None => {
                        omitted += 1;
                        continue;
                    }
                },
                () => {
                    // `*` would match any text, and `:` would begin the name of a placeholder.
                    let [from, to] =
                        [from, to].map(|path| path.replace('*', "%2A").replace(':', "%3A"));
                    format!("{from} {host}{to} 301\n")
                }
            });
        }
    }
    (lines, omitted)
}

/// A `RedirectMatch` between these percent-encoded paths; the new one is on `host`, or on the same host if it is empty. Apache
/// matches the decoded old path, and percent-encodes the new one, except for the marks of a query and a fragment. `None` if a
/// path cannot be written so.
fn apache_redirect(from: &str, host: &str, to: &str) -> Option<String> {
    let decoded = |path: &str| {
        let text = String::from_utf8(decode_percent(path.as_bytes())).ok()?;
        (!text.contains(char::is_control)).then_some(text)
    };
    let (from, to) = decoded(from).zip(decoded(to).filter(|to| !to.contains(['?', '#'])))?;
    let mut pattern = String::new();
    // A backslash is an escape in a quoted argument, too, and in a replacement.
    for character in from.replace('\\', r"\\").chars() {
        if r#"\.+*?()|[]{}^$""#.contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    let to = to
        .replace('\\', r"\\\\")
        .replace('"', "\\\"")
        .replace('$', "\\$");
    Some(format!(
        "RedirectMatch 301 \"^{pattern}$\" \"{host}{to}\"\n"
    ))
}
