//! Redirects from the old places of renamed files to their new places, for servers that are to answer old URLs.
//!
//! | output | syntax |
//! |---|---|
//! | `.map` | rows of an nginx `map` of `$request_uri` |
//! | `.conf` | conditions in a `server` of nginx |
//! | `.htaccess` | `RedirectMatch` of Apache |
//! | `.caddy`, `Caddyfile` | a `map` and a `redir` of Caddy |
//! | a folder | a page for each old path, which sends browsers on |
//! | any other file | `_redirects` of Netlify and Cloudflare |
//!
//! ```text
//! a.html, renamed to b/a.html  -->  _redirects: /a.html /b/a.html 301
//! ```
//!
//! Deliberately absent: renaming, which is in [`super::relocate`].

use std::{ffi::OsStr, path::PathBuf};

use baselink_url::{Base, Resolver, decode_percent};

use super::relocate::{Relocation, split_host};
use crate::collection::{
    OMITTED,
    folder::path_of,
    origin::{is_assumed, names},
};

/// Pages at the old paths of renamed pages, each with its path, that lead to the new paths; and the number of old paths without
/// one, because another file has them now, or because the file is not HTML.
pub fn pages(relocation: &Relocation) -> (Vec<(PathBuf, String)>, usize) {
    let new = relocation.collection.new_paths();
    let (mut pages, mut omitted) = (Vec::new(), 0);
    let to = relocation.to.as_str();
    for (old, path) in relocation.collection.renames() {
        let is_page = OMITTED.iter().any(|end| old.ends_with(end));
        let places = names::encoded(old)
            .zip(names::encoded(path))
            .zip(path_of(old));
        let Some(((from, path), place)) = places.filter(|_| is_page && !new.contains(old)) else {
            omitted += 1;
            continue;
        };
        let url = format!("{to}{path}");
        let base = Base::new(Resolver::Whatwg, &format!("{to}{from}"));
        let [reference, url] = [base.relativize(&url), url].map(|it| it.replace('&', "&amp;"));
        let canonical = if is_assumed(to) {
            String::new()
        } else {
            format!("<link rel=\"canonical\" href=\"{url}\">\n")
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

/// Redirects from the old path of each renamed file to its new path, one per line. The syntax depends on the name of the output
/// `file`: see the table above. If the site moves to another place, and the list is not `of_copy`, the last redirect is for all other
/// paths below the old root, but not for those below the new one, which would never end. Also returns the number of old paths that
/// are omitted, because another file has them now or the syntax cannot express the redirect.
pub fn redirects(relocation: &Relocation, file: &OsStr, of_copy: bool) -> (Vec<String>, usize) {
    let file = file.to_string_lossy().to_ascii_lowercase();
    let ends = |end: &str| file.ends_with(end);
    let (redirect, [head, tail]): (RedirectSyntax, _) = match () {
        () if ends(".map") => (nginx_row, [""; 2]),
        () if ends(".conf") => (nginx_redirect, [""; 2]),
        () if ends(".htaccess") => (apache_redirect, [""; 2]),
        () if ends(".caddy") || ends("caddyfile") => (caddy_row, CADDY),
        () => (
            plain_redirect,
            [
                "# A file that is still at an old path precedes its rule.\n",
                "",
            ],
        ),
    };
    let collection = &relocation.collection;
    let taken = collection.new_paths();
    let [(old_host, old_root), (new_host, root)] =
        [&relocation.from, &relocation.to].map(|root| split_host(root.as_str()));
    let without_scheme = |host: &str| host.find(':').map(|at| host[at..].to_owned());
    let is_one_host = is_assumed(old_host) || without_scheme(new_host) == without_scheme(old_host);
    let host = if new_host == old_host || is_assumed(old_host) {
        ""
    } else {
        new_host
    };
    let asked = if host.is_empty() { new_host } else { old_host };
    let (mut lines, mut omitted) = (Vec::new(), 0);
    for (old, _) in collection.renames() {
        let Some(number) = collection.number_at(old) else {
            continue;
        };
        for form in collection.forms(old) {
            let to = collection.renamed_as(number, form).unwrap_or_default();
            let Some((from, to)) = names::encoded(form).zip(names::encoded(&to)) else {
                continue;
            };
            let (from, to) = (format!("{old_root}{from}"), format!("{root}{to}"));
            let now = relocation.to.below_own(&format!("{asked}{from}"));
            let is_taken = now.is_some_and(|now| taken.contains(&*now.path));
            let line = redirect(&from, host, &to, None).filter(|_| !is_taken);
            omitted += usize::from(line.is_none());
            lines.extend(line);
        }
    }
    let below = root.strip_prefix(old_root).filter(|_| is_one_host);
    if below != Some("") && !of_copy {
        lines.extend(redirect(
            old_root,
            host,
            root,
            Some(below.unwrap_or_default()),
        ));
    }
    if let Some(first) = lines.first_mut() {
        first.insert_str(0, head);
    }
    if let Some(last) = lines.last_mut() {
        last.push_str(tail);
    }
    (lines, omitted)
}

/// Writes a redirect in a syntax; see [`plain_redirect`].
type RedirectSyntax = fn(&str, &str, &str, Option<&str>) -> Option<String>;

/// The lines before and after the rows of [`caddy_row`]. The first row that matches counts.
const CADDY: [&str; 2] = [
    "map {http.request.orig_uri} {moved} {\n",
    "default \"stay\"\n}\n@moved expression `{moved} != \"stay\"`\nredir @moved {moved} 301\n",
];

/// Rows of a `map` of Caddy, whose input includes the query.
fn caddy_row(from: &str, host: &str, to: &str, except: Option<&str>) -> Option<String> {
    let [from, to] = [pattern(from), to.replace('$', "%24")];
    let rest = if except.is_some() {
        "(.*)"
    } else {
        r"(\?.*)?$"
    };
    let except = except.filter(|except| !except.is_empty());
    let stays = except.map(|except| format!("\"~^{from}{}\" \"stay\"\n", folder(except)));
    let row = format!("\"~^{from}{rest}\" \"{host}{to}${{1}}\"\n");
    Some(stays.unwrap_or_default() + &row)
}

/// A redirect between these percent-encoded paths. With `except`, every path that begins with `from` is redirected, apart from those
/// that continue with `except`; an empty `except` excludes none. The new path is on `host`, or on the same host if it is empty.
/// `None` if the syntax cannot express it.
fn plain_redirect(from: &str, host: &str, to: &str, except: Option<&str>) -> Option<String> {
    let [any, rest] = if except.is_some() {
        ["*", ":splat"]
    } else {
        [""; 2]
    };
    // `*` would match any text, and `:` would begin the name of a placeholder.
    let [from, to] = [from, to].map(|path| path.replace('*', "%2A").replace(':', "%3A"));
    let mut line = format!("{from}{any} {host}{to}{rest} 301\n");
    if except.is_some_and(|except| !except.is_empty()) {
        // The first rule that matches counts.
        line.insert_str(0, &format!("{to}* {to}:splat 200\n"));
    }
    Some(line)
}

/// A pattern of the old URL and the new one, for nginx and its `$request_uri`, which includes the query.
fn in_nginx(from: &str, host: &str, to: &str, except: Option<&str>) -> (String, String) {
    // `$` would begin the name of a variable.
    let to = to.replace('$', "%24").replace(';', "%3B");
    let rest = if except.is_some() {
        "$rest"
    } else {
        "$is_args$args"
    };
    let any = except.map_or(r"(\?|$)".into(), |except| {
        other_than(except) + "(?<rest>.*)"
    });
    (
        format!("^{}{any}", pattern(from)),
        format!("{host}{to}{rest}"),
    )
}

/// Rows of an nginx map of `$request_uri`.
fn nginx_row(from: &str, host: &str, to: &str, except: Option<&str>) -> Option<String> {
    let (old, new) = in_nginx(from, host, to, except);
    let exact = new.trim_end_matches("$is_args$args");
    let row = match from.contains(';') {
        // nginx ignores the case of letters in such a row.
        _ if except.is_some() || from.eq_ignore_ascii_case(to) => String::new(),
        true => format!("\"{from}\" {exact};\n"),
        false => format!("{from} {exact};\n"),
    };
    Some(format!("{row}\"~{old}\" {new};\n"))
}

/// A condition in a `server` of nginx.
fn nginx_redirect(from: &str, host: &str, to: &str, except: Option<&str>) -> Option<String> {
    let (old, new) = in_nginx(from, host, to, except);
    Some(format!(
        "if ($request_uri ~ \"{old}\") {{ return 301 {new}; }}\n"
    ))
}

/// A `RedirectMatch`, which keeps the query. Apache matches the decoded old path, and percent-encodes the new one, except for the marks of a query and a
/// fragment.
fn apache_redirect(from: &str, host: &str, to: &str, except: Option<&str>) -> Option<String> {
    let decoded = |path: &str| {
        let text = String::from_utf8(decode_percent(path.as_bytes())).ok()?;
        (!text.contains(char::is_control)).then_some(text)
    };
    let (from, to) = decoded(from).zip(decoded(to).filter(|to| !to.contains(['?', '#'])))?;
    let except = except.map(|except| decoded(except).unwrap_or_default());
    // A backslash is an escape in a quoted argument, too, and in a replacement.
    let pattern = pattern(&from.replace('\\', r"\\"));
    let to = to
        .replace('\\', r"\\\\")
        .replace('"', "\\\"")
        .replace('$', "\\$");
    let (any, rest) = except.map_or_else(Default::default, |except| {
        (other_than(&except) + "(.*)", "$1")
    });
    Some(format!(
        "RedirectMatch 301 \"^{pattern}{any}$\" \"{host}{to}{rest}\"\n"
    ))
}

/// The start of a regular expression for text that does not begin with `except`; nothing if that is empty.
fn other_than(except: &str) -> String {
    match except {
        "" => String::new(),
        _ => format!("(?!{})", folder(except)),
    }
}

/// A regular expression for the start of a path in the folder `path`, or for the folder itself, with which a query may follow.
fn folder(path: &str) -> String {
    pattern(path.trim_end_matches('/')) + r"(?:/|\?|$)"
}

/// A regular expression, in a quoted argument, that matches `text`.
fn pattern(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        if r#"\.+*?()|[]{}^$""#.contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}
