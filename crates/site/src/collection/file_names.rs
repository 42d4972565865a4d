//! File paths for the resources of an archive.
//!
//! A file path consists of the host and the path of the URL (RFC 3986, 3.2.2 and 3.3). It is valid on Linux, macOS and
//! Windows. For example, Windows rejects `con.png`, `a:b` and names that end with a dot.
//!
//! ```text
//! http://h/docs/             text/html    h/docs/index.html
//! http://h/list.php?page=1   text/html    h/list.php@page=1.html   `@` as in wget --restrict-file-names=windows
//! http://h/main.css?v=3      text/css     h/main@v=3.css           the extension fits the type, and stays last
//! http://h/photo             image/png    h/photo.png
//! http://h:8080/a%3Ab/%E6%97%A5           h_8080/a_b/日
//! http://h/About                          h/About
//! http://h/about                          h/about-c0f98e72         the beginning of the URL's MD5
//! cid:logo@h                 image/png    cid/logo@h.png           schemes other than http and https get a folder
//! ```
//!
//! If several resources need the same path, the first of them in URL order gets it, and the others get a digest in
//! their names. Folders take precedence over files: if `/docs/x` exists, `/docs` gets a digest.
//!
//! A name that begins with a dot gets a `_` before it. Otherwise programs that skip hidden files, including this one,
//! would skip documents that are visible on the web (`/.well-known/x.html`).
//!
//! In a mirror, a file keeps its path unless some file system rejects the path or another file gets it. In these cases
//! the rules above determine a new path.
//!
//! Deliberately absent: the choice of the resources that become files, and redirects.

use std::{
    borrow::Cow,
    cmp::Ordering,
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::LazyLock,
};

use baselink_text::{
    Format,
    format::extensions,
    layer::{digest::first_of_md5, escape::percent_encode},
};
use baselink_url::{Reference, decode_percent, without_fragment};
use regex::Regex;

use super::{
    near::composed_text,
    origin::names::dots,
    path::{PAGES, is_page_name},
};

/// The maximum length of a new path in bytes, and of an existing path in characters. Windows rejects 260 characters,
/// and the output folder needs some of them.
const MAX_PATH: usize = 239;
/// The maximum length of the name of a file.
const MAX_NAME: usize = 200;
/// The maximum total length of all folders in a path. Deeper folders are omitted, and the name gets a digest.
const MAX_FOLDERS: usize = 140;
/// The maximum length of the name of a folder.
const MAX_FOLDER: usize = 100;
/// The maximum length of a query; a longer one becomes a digest.
const MAX_QUERY: usize = 80;
/// The number of bytes of a digest in a name. If digests collide, a digest of other text is used.
const DIGEST_BYTES: usize = 4;

/// The names of files that the program writes to the output folder.
const TAKEN_AT_ROOT: &[&str] = &["baselink-map.csv", "index.html"];

/// A name that Windows reserves for a device, with any extension. Superscript digits count as digits (Microsoft, "Naming Files").
static DEVICE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let numbered = "(?:com|lpt)(?:[0-9]|(?u-i:[¹²³]))";
    let device = format!(r"con|prn|aux|nul|conin\$|conout\$|clock\$|{numbered}");
    Regex::new(&format!(r"^(?i-u:{device}) *(?:\.|$)")).ok()
});

/// For each of `count` resources of an archive, the number of rounds in which another resource won its path.
///
/// A resource is a URL and a media type without parameters, or `""`. The result does not depend on the order of the
/// resources. No path is a folder of another path. All paths stay distinct on file systems that ignore case or
/// normalize names. URLs that differ only in their fragment and share a media type are one resource with one path.
///
/// Memory grows with the number of resources and folders, not with the length of their paths.
pub fn rounds<'a>(count: usize, resource: impl Fn(usize) -> (&'a str, &'a str)) -> Vec<u32> {
    let own = |number| {
        let (url, media_type) = resource(number);
        (without_fragment(url), media_type)
    };
    let path = |number, round| path(own(number), round);
    rounds_of(count, path, |left, right| own(left).cmp(&own(right)))
}

/// For each of `count` files, the number of rounds in which another file won its path. `path` returns the path of a
/// file after a number of lost rounds; its folders must also be folders of the file's first path. The files that come
/// first in `order` win. Equal files share a path.
pub fn rounds_of(
    count: usize,
    path: impl Fn(usize, u32) -> String,
    order: impl Fn(usize, usize) -> Ordering,
) -> Vec<u32> {
    let mut rounds = vec![0_u32; count];
    let mut folders = HashSet::new();
    let mut winners: HashMap<u64, usize> = HashMap::new();
    let mut open: Vec<(u64, usize)> = (0..count)
        .map(|file| (key(&path(file, 0), &mut folders), file))
        .collect();
    // Later rounds add no folders, so a settled path stays valid. A round costs only what its files cost, since names may
    // be chosen so that one file loses many rounds.
    for round in 1.. {
        open.sort_unstable_by(|left, right| left.0.cmp(&right.0).then(order(left.1, right.1)));
        let mut losers = Vec::new();
        for &(key, file) in &open {
            let is_folder = folders.contains(&key);
            let is_settled = !is_folder && {
                let winner = *winners.entry(key).or_insert(file);
                winner == file || order(file, winner).is_eq()
            };
            if !is_settled {
                losers.push(file);
            }
        }
        if losers.is_empty() {
            break;
        }
        let next = losers.into_iter().map(|file| {
            rounds[file] = round;
            (key(&path(file, round), &mut folders), file)
        });
        open = next.collect();
    }
    rounds
}

/// A digest of a path as the least precise file system compares it. Adds the digests of its folders to `folders`.
/// If digests collide, which is very rare, a file is renamed unnecessarily.
fn key(path: &str, folders: &mut HashSet<u64>) -> u64 {
    // This hasher has fixed keys, so each run produces the same names.
    let mut hasher = DefaultHasher::new();
    let folded = folded(path);
    let mut names = folded.split('/').peekable();
    while let Some(name) = names.next() {
        name.hash(&mut hasher);
        if names.peek().is_some() {
            folders.insert(hasher.finish());
        }
    }
    hasher.finish()
}

/// Converts a path to the form in which the least precise file system compares it. HFS+ ignores joiners.
fn folded(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    let lower = |text: &str| {
        text.chars()
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let kept = path.replace(is_joiner, "");
    let upper = composed_text(&lower(&composed_text(&kept))).to_uppercase();
    composed_text(&lower(&upper)).into_owned()
}

/// The path of a resource that lost its path in `round` rounds.
pub fn path((url, media_type): (&str, &str), round: u32) -> String {
    let url = without_fragment(url);
    let reference = Reference::of(url);
    let mut path = root(&reference);
    let (folders, name) = segments(&reference);
    let mut is_cut = false;
    for folder in folders {
        let name = folder_name(folder);
        is_cut = path.len() + 1 + name.len() > MAX_FOLDERS;
        if is_cut {
            break;
        }
        path = path + "/" + &name;
    }
    let (mut stem, extension) = stem_and_extension(safe(name), media_type);
    if let Some(query) = reference.query() {
        push_query(&mut stem, query, safe(query));
    }
    path.push('/');
    push_name(
        &mut path,
        (plain(stem), &extension),
        (is_cut, round),
        [url, media_type],
    );
    path
}

/// Appends the name of a file that lost its path in `round` rounds, or whose folders were cut. Its digest depends on the
/// `own` texts.
fn push_name(
    path: &mut String,
    (stem, extension): (String, &str),
    (is_cut, round): (bool, u32),
    own: [&str; 2],
) {
    let own = match round {
        0 | 1 => Cow::Borrowed(own[0]),
        _ => format!("{round} {} {}", own[1], own[0]).into(),
    };
    let length = MAX_NAME.min(MAX_PATH - path.len());
    let has_digest = is_cut || round > 0;
    path.push_str(&fitted(stem, extension, length, has_digest, &own));
}

/// The path in a mirror of the file at `own`, after `round` rounds in which another file won its path. In round 0, it
/// is `own` if all file systems accept that path, and if it tells the media type or there is none.
pub fn path_in_mirror((own, media_type): (&str, &str), round: u32) -> String {
    let is_short = own.chars().count() <= MAX_PATH;
    if round == 0 && media_type.is_empty() && is_short && own.split('/').all(is_valid_everywhere) {
        return own.into();
    }
    let (folders, name) = own.rsplit_once('/').unwrap_or(("", own));
    let folder = |name: &str| {
        if is_valid_everywhere(name) {
            name.to_owned()
        } else {
            fitted(safe_name(name), "", MAX_FOLDER, false, name)
        }
    };
    let folders = folders.split('/').filter(|name| !name.is_empty());
    let folders: Vec<String> = folders.map(folder).collect();
    let length: usize = folders.iter().map(|name| name.len() + "/".len()).sum();
    let added = "-".len() + 2 * DIGEST_BYTES + ".html".len();
    let is_cut = length + name.len() + added > MAX_PATH;
    let mut path = String::new();
    for name in folders {
        if is_cut && path.len() + name.len() > MAX_FOLDERS {
            break;
        }
        path = path + &name + "/";
    }
    let (stem, extension) = stem_and_extension_in_mirror(name, media_type);
    push_name(&mut path, (stem, &extension), (is_cut, round), [own, ""]);
    path
}

/// The stem and extension for a file in a mirror. wget puts the query after the extension, as in `main.css?v=3`, where
/// no program recognizes the extension.
fn stem_and_extension_in_mirror(name: &str, media_type: &str) -> (String, String) {
    let Some((segment, query)) = name.split_once('?') else {
        return stem_and_extension(safe_name(name), media_type);
    };
    let is_page = |(_, extension): &(&str, &str)| {
        PAGES
            .iter()
            .any(|page| page[1..].eq_ignore_ascii_case(extension.as_bytes()))
    };
    // wget appends an extension with --adjust-extension.
    let added = query.rsplit_once('.');
    let added = added.filter(|parts| is_page(parts) || parts.1.eq_ignore_ascii_case("css"));
    let has_page_extension = || segment.rsplit_once('.').as_ref().is_some_and(is_page);
    let (query, (mut stem, extension)) = match (added, media_type) {
        (Some((query, added)), _) => (query, (safe_name(segment), format!(".{added}"))),
        (None, "") if is_page_name(segment.as_bytes()) && !has_page_extension() => {
            (query, stem_and_extension(safe_name(segment), "text/html"))
        }
        (None, _) => (query, stem_and_extension(safe_name(segment), media_type)),
    };
    push_query(&mut stem, query, safe_name(query));
    (stem, extension)
}

/// Adds a query to a name. `text` is the query in the form for names. Even an empty query is added, because
/// `http://h/?` differs from `http://h/`.
fn push_query(stem: &mut String, query: &str, text: String) {
    stem.push('@');
    let is_long = text.len() > MAX_QUERY;
    stem.push_str(&if is_long {
        first_of_md5(query.as_bytes(), DIGEST_BYTES)
    } else {
        text
    });
}

/// The folders for the host of `url` and, unless it is `http` or `https`, for its scheme.
fn root(url: &Reference<'_>) -> String {
    let scheme = url.scheme().unwrap_or_default().to_ascii_lowercase();
    let default_port = match &*scheme {
        "http" => Some("80"),
        "https" => Some("443"),
        _ => None,
    };
    let host = url.net_loc().map(|net_loc| host(net_loc, default_port));
    let root = match (default_port, host) {
        (Some(_), Some(host)) => folder_name(&host),
        (_, Some(host)) if !host.is_empty() => folder_name(&scheme) + "/" + &folder_name(&host),
        _ => folder_name(&scheme),
    };
    if TAKEN_AT_ROOT.contains(&&*root) {
        format!("_{root}")
    } else {
        root
    }
}

/// The host of a net_loc in lower case, with any port that is not the default. User and password are omitted.
fn host(net_loc: &str, default_port: Option<&str>) -> String {
    let host = net_loc
        .rsplit('@')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    // The colons of an IPv6 address are in brackets.
    let parts = host.rsplit_once(':');
    let parts = parts.filter(|(_, port)| !port.contains(']'));
    let (name, port) = parts.unwrap_or((&host, ""));
    let name = name
        .trim_start_matches('[')
        .trim_end_matches(']')
        .replace(':', "-");
    if port.is_empty() || Some(port) == default_port {
        name
    } else {
        format!("{name}_{port}")
    }
}

/// The folders of a URL's path, and the last segment, which may be empty. Dot segments are resolved as in the URL
/// Standard.
fn segments<'a>(url: &Reference<'a>) -> (Vec<&'a str>, &'a str) {
    if url.net_loc().is_none() && !url.path().starts_with('/') {
        return (Vec::new(), url.path());
    }
    let (mut folders, mut last) = (Vec::new(), "");
    for segment in url.path().split('/') {
        folders.extend(Some(last).filter(|folder| !folder.is_empty()));
        last = segment;
        if let Some(count) = dots(segment) {
            folders.truncate(folders.len().saturating_sub(count - 1));
            last = "";
        }
    }
    (folders, last)
}

fn folder_name(segment: &str) -> String {
    let name = match segment {
        "" => "_".to_owned(),
        _ => safe(segment),
    };
    fitted(plain(name), "", MAX_FOLDER, false, segment)
}

/// Adds a `_` to a name that begins with a dot, so that programs do not skip it as hidden.
fn plain(name: String) -> String {
    if name.starts_with('.') {
        format!("_{name}")
    } else {
        name
    }
}

/// The stem of a file name, and the extension with its dot. If the extension in the name does not fit the media type,
/// it stays in the stem, and the default extension of the media type is added.
fn stem_and_extension(mut name: String, media_type: &str) -> (String, String) {
    let media_type = media_type.trim().to_ascii_lowercase();
    let right = extensions()
        .find(|(names, _)| names.split(' ').any(|name| name == media_type))
        .map(|(_, extensions)| extensions.split(' '));
    // Any other type of XML (MIME Sniffing, 4.6).
    let is_xml = right.is_none() && Format::of_media_type(&media_type) == Format::Xml;
    let first = right.clone().and_then(|mut right| right.next());
    let first = first.or(is_xml.then_some("xml"));
    let first = first.map(|first| format!(".{first}"));
    if name.is_empty() {
        return (
            "index".to_owned(),
            first.unwrap_or_else(|| ".html".to_owned()),
        );
    }
    // Browsers may read other files in another format than XML.
    let may_be_xml = || {
        matches!(
            Format::detect(Some(&name), b""),
            Format::Xml | Format::Other
        )
    };
    let extension = name.rsplit_once('.').filter(|(stem, extension)| {
        !stem.is_empty()
            && match right.clone() {
                Some(mut right) => right.any(|fit| fit.eq_ignore_ascii_case(extension)),
                None => is_extension(extension) && (!is_xml || may_be_xml()),
            }
    });
    match extension {
        Some((stem, _)) => {
            let extension = name.split_off(stem.len());
            (name, extension)
        }
        None => (name, first.unwrap_or_default()),
    }
}

/// True for a plausible extension: `woff2`, but not the `0` of `v1.0`.
fn is_extension(extension: &str) -> bool {
    extension.starts_with(|first: char| first.is_ascii_alphabetic())
        && extension.len() <= 5
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A name of at most `length` bytes that every file system accepts. It gets the digest of `own` if it is shortened or if
/// `has_digest` is true.
fn fitted(mut stem: String, extension: &str, length: usize, has_digest: bool, own: &str) -> String {
    if is_device(&stem) {
        stem.insert(0, '_');
    }
    if extension.is_empty() && stem.ends_with(['.', ' ']) {
        stem.pop();
        stem.push('_');
    }
    if has_digest || stem.len() + extension.len() > length {
        let room = length - extension.len() - "-".len() - 2 * DIGEST_BYTES;
        let end = (0..=room.min(stem.len()))
            .rev()
            .find(|&at| stem.is_char_boundary(at));
        stem.truncate(end.unwrap_or_default());
        stem = stem + "-" + &first_of_md5(own.as_bytes(), DIGEST_BYTES);
    }
    stem + extension
}

fn is_device(name: &str) -> bool {
    DEVICE.as_ref().is_some_and(|device| device.is_match(name))
}

/// True if all file systems accept `name` for a file or a folder.
fn is_valid_everywhere(name: &str) -> bool {
    name.len() <= MAX_NAME && is_valid_on_windows(name)
}

/// True if Windows accepts `name` for a file or a folder, regardless of its length.
pub fn is_valid_on_windows(name: &str) -> bool {
    !name.contains(is_refused) && !name.ends_with(['.', ' ']) && !is_device(name)
}

/// True for characters that Windows rejects in names.
fn is_refused(c: char) -> bool {
    c.is_control() || matches!(c, '/' | '\\' | '<' | '>' | ':' | '"' | '|' | '?' | '*')
}

/// Converts a part of a URL to a name: decodes its escapes, and then applies [`safe_name`].
fn safe(text: &str) -> String {
    safe_name(&as_text(&decode_percent(text.as_bytes())))
}

/// A path or name as text. Bytes that are not UTF-8 are percent-encoded, so that distinct paths remain distinct.
pub fn as_text(path: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(path) {
        Ok(text) => text.into(),
        Err(_) => path
            .utf8_chunks()
            .flat_map(|chunk| {
                let invalid = chunk.invalid().iter().map(|byte| format!("%{byte:02X}"));
                [chunk.valid().to_owned()].into_iter().chain(invalid)
            })
            .collect(),
    }
}

/// Converts text to Normalization Form C. Characters that a file system rejects become `_`. Invisible characters are
/// percent-encoded.
fn safe_name(text: &str) -> String {
    // Chromium looks for the extension of a `file:` URL before the first `;`, and refuses style sheets without one.
    let accepted = text.replace(|c| c == ';' || is_refused(c), "_");
    composed_text(&percent_encode(&accepted, is_invisible)).into_owned()
}

/// True for U+200C and U+200D, which Persian and Indic words need.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}')
}

/// True for characters that are invisible or change the look of others: format characters, tags, noncharacters, and
/// private-use characters, which Cygwin and WSL map to characters such as `:`.
fn is_invisible(c: char) -> bool {
    !is_joiner(c)
        && matches!(c,
            '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{E000}'..='\u{F8FF}' | '\u{FDD0}'..='\u{FDEF}' | '\u{FEFF}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{FFFE}'..='\u{FFFF}' | '\u{E0000}'..)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// The path of each resource, in an archive with all of them.
    fn file_names<'a>(
        resources: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> impl Iterator<Item = String> {
        let resources: Vec<_> = resources.into_iter().collect();
        let rounds = rounds(resources.len(), |number| resources[number]);
        resources
            .into_iter()
            .zip(rounds)
            .map(|(resource, round)| path(resource, round))
    }

    /// Bug 286: each round sorted all files again, and names can be chosen so that one file loses as many rounds as there are
    /// files.
    #[test]
    fn names_that_collide_on_purpose_take_linear_time() {
        let about = ("http://h/about", "text/html");
        let taken = (1..500).map(|round| format!("http://{}", path(about, round)));
        let urls: Vec<String> = ["http://h/About".to_owned(), about.0.to_owned()]
            .into_iter()
            .chain(taken)
            .collect();
        let compared = std::cell::Cell::new(0);
        let own = |file: usize| (&*urls[file], "text/html");
        let rounds = rounds_of(
            urls.len(),
            |file, round| path(own(file), round),
            |left, right| {
                compared.set(compared.get() + 1);
                own(left).cmp(&own(right))
            },
        );
        assert_eq!(rounds[1], 500);
        assert!(compared.get() < 20 * urls.len(), "{}", compared.get());
    }

    fn alone(url: &str, media_type: &str) -> String {
        file_names([(url, media_type)]).collect()
    }

    /// Each row has a URL, a media type and a path. The digests are from `md5sum`.
    #[rustfmt::skip]
    const ROWS: &[(&str, &str, &str)] = &[
        // Index files.
        ("http://h/", "text/html", "h/index.html"),
        ("http://h", "text/html", "h/index.html"),
        ("http://h/a/", "TEXT/HTML", "h/a/index.html"),
        ("http://h/a/", "", "h/a/index.html"),
        ("http://h/a/", "text/css", "h/a/index.css"),
        ("http://h/?p=1", "text/html", "h/index@p=1.html"),
        ("http://h?p=1", "text/html", "h/index@p=1.html"),
        // Extensions.
        ("http://h/list.php?page=1", "text/html", "h/list.php@page=1.html"),
        ("http://h/main.css?v=3", "text/css", "h/main@v=3.css"),
        ("http://h/main.css?v=3", "", "h/main@v=3.css"),
        ("http://h/f.woff2?4.7", "application/octet-stream", "h/f@4.7.woff2"),
        ("http://h/v1.0?a", "", "h/v1.0@a"),
        ("http://h/photo", "image/png", "h/photo.png"),
        ("http://h/photo.jpg", "image/webp", "h/photo.jpg.webp"),
        ("http://h/Photo.JPEG", "image/jpeg", "h/Photo.JPEG"),
        ("http://h/x.HTM", "text/html", "h/x.HTM"),
        ("http://h/x.xhtml", "text/html", "h/x.xhtml.html"),
        ("http://h/jquery.min", "text/javascript", "h/jquery.min.js"),
        ("http://h/app.mjs", "application/javascript", "h/app.mjs"),
        ("http://h/x.js", "text/plain", "h/x.js"),
        ("http://h/LICENSE", "text/plain", "h/LICENSE.txt"),
        ("http://h/feed", "application/rss+xml", "h/feed.rss"),
        ("http://h/feed.xml", "application/rss+xml", "h/feed.xml"),
        ("http://h/x.bin", "application/x-unknown", "h/x.bin"),
        // Bug 694: Chromium read a copy of XML as HTML or CSS.
        ("http://h/x.html", "application/mathml+xml", "h/x.html.xml"),
        ("http://h/x.css", "application/foo+xml", "h/x.css.xml"),
        ("http://h/x.xsl", "application/foo+xml", "h/x.xsl"),
        ("http://h/x.mml", "application/mathml+xml", "h/x.mml"),
        ("http://h/x", "model/X3D+XML", "h/x.xml"),
        ("http://h/wiki/File:X.png", "text/html", "h/wiki/File_X.png.html"),
        // Queries.
        ("http://h/x?", "", "h/x@"),
        ("http://h/x?a=b/c?d&e=%C3%A9%2F", "text/html", "h/x@a=b_c_d&e=\u{e9}_.html"),
        ("http://h/x#top?no", "text/html", "h/x.html"),
        // Hosts and schemes.
        ("https://user:pw@WWW.A.example:443/x.css", "text/css", "www.a.example/x.css"),
        ("http://h:80/x.css", "text/css", "h/x.css"),
        ("http://h:443/x.css", "text/css", "h_443/x.css"),
        ("http://h:/x.css", "text/css", "h/x.css"),
        ("http://[2001:DB8::1]/x.css", "text/css", "2001-db8--1/x.css"),
        ("http://[::1]:8080/x.css", "text/css", "--1_8080/x.css"),
        ("ftp://h:21/x.css", "text/css", "ftp/h_21/x.css"),
        ("file:///C:/x.css", "text/css", "file/C_/x.css"),
        ("cid:logo@h", "image/png", "cid/logo@h.png"),
        ("urn:pageinfo:http://h/a", "application/json", "urn/pageinfo_http___h_a.json"),
        ("data:text/css,a%7B%7D", "text/css", "data/text_css,a{}.css"),
        ("about:blank", "text/html", "about/blank.html"),
        ("http:///x.css", "text/css", "_/x.css"),
        ("x.css", "text/css", "_/x.css"),
        ("", "", "_/index.html"),
        ("http://baselink-map.csv/x", "", "_baselink-map.csv/x"),
        ("http://INDEX.html/x", "", "_index.html/x"),
        ("http://.baselink-x/x", "", "_.baselink-x/x"),
        // Dot segments do not leave the folder.
        ("http://h/../../x", "", "h/x"),
        ("http://h/a/b/%2e%2E/x", "", "h/a/x"),
        ("http://h/a/./.%2e/x", "", "h/x"),
        ("http://h/a/..", "text/html", "h/index.html"),
        ("http://h/..%2F..%2Fx", "", "h/_.._.._x"),
        ("http://h/a%5C..%5Cx", "", "h/a_.._x"),
        ("http://h/%2e%2e%00/x", "", "h/_.._/x"),
        ("http://../x", "", "_._/x"),
        ("http://h/a//b", "", "h/a/b"),
        // Windows rejects these.
        ("http://h/con", "", "h/_con"),
        ("http://h/Con.x.png", "image/png", "h/_Con.x.png"),
        ("http://h/AUX/lpt1%20.txt", "text/plain", "h/_AUX/_lpt1 .txt"),
        ("http://h/com%C2%B9", "text/html", "h/_com\u{b9}.html"),
        ("http://h/com10", "", "h/com10"),
        ("http://h/constant", "", "h/constant"),
        ("http://h/a./b%20/c..", "", "h/a_/b_/c._"),
        ("http://h/a.", "text/html", "h/a..html"),
        ("http://h/%3C%3E:%22%7C%3F*%5C%0A%7F", "", "h/__________"),
        // Hidden names.
        ("http://h/.well-known/x.json", "application/json", "h/_.well-known/x.json"),
        ("http://h/.htaccess", "", "h/_.htaccess"),
        // Characters.
        ("http://h/%E6%97%A5%E6%9C%AC", "text/html", "h/\u{65e5}\u{672c}.html"),
        ("http://h/\u{65e5}\u{672c}", "text/html", "h/\u{65e5}\u{672c}.html"),
        ("http://h/cafe%CC%81", "", "h/caf\u{e9}"),
        ("http://h/caf%e9", "", "h/caf%E9"),
        ("http://h/a%E2%80%AEb", "", "h/a%E2%80%AEb"),
        ("http://h/a%E2%80%8Cb", "", "h/a\u{200c}b"),
        ("http://h/100%25%zz", "", "h/100%%zz"),
        // Bug 596: Chromium refused `a;b.css`.
        ("http://h/a%20b;c=1+~!$&'()@,", "", "h/a b_c=1+~!$&'()@,"),
    ];

    #[test]
    fn paths_of_single_resources() {
        for (url, media_type, expected) in ROWS {
            assert_eq!(alone(url, media_type), *expected, "{url} {media_type}");
        }
    }

    /// Each row has the path of a file in the folder, and its path in a mirror.
    #[rustfmt::skip]
    const IN_MIRROR: &[(&str, &str)] = &[
        // These names are valid everywhere.
        ("index.html", "index.html"),
        ("h/a b;c=1+~!$&'()@,.tar.gz", "h/a b;c=1+~!$&'()@,.tar.gz"),
        ("h/a%20b%3Fc", "h/a%20b%3Fc"),
        (".well-known/.htaccess", ".well-known/.htaccess"),
        ("cafe\u{301}.html", "cafe\u{301}.html"),
        ("a\u{202e}b", "a\u{202e}b"),
        ("page", "page"),
        ("constant.c/com10", "constant.c/com10"),
        ("list.php", "list.php"),
        // Queries in names as wget writes them.
        ("main.css?v=3", "main@v=3.css"),
        ("main.css?v=3.css", "main.css@v=3.css"),
        ("list.php?page=2", "list.php@page=2.html"),
        ("list.php?page=2.html", "list.php@page=2.html"),
        ("h/x.html?a=b/c", "h/x.html_a=b/c"),
        ("x.xhtml?a", "x@a.xhtml"),
        ("page?x=1", "page@x=1.html"),
        ("f.woff2?4.7", "f@4.7.woff2"),
        ("f.woff2?", "f@.woff2"),
        ("x?u=http:%2F%2Fa%2F<b>", "x@u=http_%2F%2Fa%2F_b_.html"),
        ("index.html?a?b", "index@a_b.html"),
        // Windows rejects these.
        ("con", "_con"),
        ("h/Con.x.png", "h/_Con.x.png"),
        ("AUX/lpt1 .txt", "_AUX/_lpt1 .txt"),
        ("a./b /c..", "a_/b_/c._"),
        ("a.", "a_"),
        ("a:b/<>\"|*\\\n\u{7f}.png", "a_b/________.png"),
        (".a:b", ".a_b"),
    ];

    #[test]
    fn paths_of_single_files_in_a_mirror() {
        for (own, expected) in IN_MIRROR {
            assert_eq!(path_in_mirror((own, ""), 0), *expected, "{own}");
        }
    }

    #[test]
    fn a_long_path_in_a_mirror_is_shortened_and_gets_a_digest() {
        let [short, long, folder] = [200, 240, 150].map(|length| "n".repeat(length));
        let deep = "dddddddddd/".repeat(21);
        let (kept, wide) = ("dddddddddd/".repeat(12), "\u{65e5}".repeat(60));
        for (own, expected) in [
            (short.clone(), short),
            (
                format!("{long}.html"),
                format!("{}-bc518ba6.html", "n".repeat(186)),
            ),
            (format!("{folder}/x"), format!("{folder}/x")),
            (format!("{deep}x.html"), format!("{deep}x.html")),
            (
                format!("{deep}long-name-of-a-file-here.html"),
                format!("{kept}long-name-of-a-file-here-ca69ecfd.html"),
            ),
            (format!("{deep}x?y"), format!("{kept}x@y-f3394552.html")),
            (
                format!("x?{}", "q=".repeat(50)),
                "x@3eeff23e.html".to_owned(),
            ),
            // 181 characters take 541 bytes.
            (
                format!("{wide}/{wide}/{wide}"),
                format!("{wide}/{wide}/{wide}"),
            ),
        ] {
            assert_eq!(path_in_mirror((&own, ""), 0), expected, "{own}");
        }
    }

    #[test]
    fn media_types_have_one_row_and_short_extensions() {
        for (media_types, extensions) in extensions() {
            assert_eq!(media_types, media_types.to_lowercase());
            let is_short = |text: &str| text.len() <= 12 && text == text.to_lowercase();
            assert!(extensions.split(' ').all(is_short));
        }
        let names = || extensions().flat_map(|(names, _)| names.split(' '));
        assert_eq!(names().collect::<BTreeSet<_>>().len(), names().count());
    }

    #[test]
    fn a_long_name_is_shortened_and_gets_a_digest() {
        let name = format!("http://h/{}.html", "n".repeat(300));
        let expected = format!("h/{}-14682110.html", "n".repeat(186));
        assert_eq!(alone(&name, "text/html"), expected);
        assert_eq!(expected.len(), "h/".len() + 200);

        let query = format!("http://h/x?{}", "q=".repeat(50));
        assert_eq!(alone(&query, "text/html"), "h/x@3eeff23e.html");

        let folder = format!("http://h/{}/x", "d".repeat(150));
        assert_eq!(
            alone(&folder, ""),
            format!("h/{}-976062c5/x", "d".repeat(91))
        );

        // `h` and 12 folders take 133 bytes; a thirteenth would make it 144.
        let deep = format!("http://h/{}x", "dddddddddd/".repeat(20));
        assert_eq!(
            alone(&deep, ""),
            format!("h/{}x-41e2ec17", "dddddddddd/".repeat(12))
        );

        // No character is split: only 63 characters of three bytes fit into 191 bytes.
        let wide = alone(&format!("http://h/{}", "%E6%97%A5".repeat(100)), "");
        assert_eq!(
            wide.rsplit_once('-').unwrap().0,
            format!("h/{}", "\u{65e5}".repeat(63))
        );
    }

    #[test]
    fn resources_with_colliding_paths() {
        #[rustfmt::skip]
        let groups: &[&[(&str, &str, &str)]] = &[
            &[("http://h/About", "", "h/About"), ("http://h/about", "", "h/about-c0f98e72")],
            &[("http://h/docs", "", "h/docs-8fc69016"), ("http://h/docs/x", "", "h/docs/x")],
            &[("http://h/docs", "", "h/docs-8fc69016"), ("http://h/DOCS/x", "", "h/DOCS/x")],
            &[("http://h/docs", "text/html", "h/docs.html"), ("http://h/docs/", "text/html", "h/docs/index.html")],
            &[("http://h/a.html", "text/html", "h/a.html"), ("https://h/a.html", "text/html", "h/a-b71afb81.html")],
            &[("http://h/", "text/html", "h/index.html"), ("http://h/index.html", "text/html", "h/index-c848f848.html")],
            &[("http://h/caf%C3%A9", "", "h/caf\u{e9}"), ("http://h/cafe%CC%81", "", "h/caf\u{e9}-efbd3f25")],
            &[("http://h/a%3Ab", "", "h/a_b"), ("http://h/a:b", "", "h/a_b-e2013c53"), ("http://h/a_b", "", "h/a_b-b0d2bbcc")],
            // These are one resource.
            &[("http://h/x#a", "", "h/x"), ("http://h/x#b", "", "h/x")],
        ];
        for group in groups {
            let resources: Vec<_> = group.iter().map(|row| (row.0, row.1)).collect();
            let expected: Vec<_> = group.iter().map(|row| row.2).collect();
            let paths: Vec<_> = file_names(resources.iter().copied()).collect();
            assert_eq!(
                paths.iter().map(|path| &**path).collect::<Vec<_>>(),
                expected
            );
            let mut backwards: Vec<_> = file_names(resources.into_iter().rev()).collect();
            backwards.reverse();
            assert_eq!(backwards, paths);
        }
    }

    /// The third URL has the path that the second would get with its first digest, so the second gets another digest.
    #[test]
    fn a_name_with_a_digest_may_exist_already() {
        let urls = [
            "http://h/About",
            "http://h/about",
            "http://h/about-c0f98e72",
        ];
        let paths: Vec<_> = file_names(urls.map(|url| (url, ""))).collect();
        assert_eq!((&*paths[0], &*paths[2]), ("h/About", "h/about-c0f98e72"));
        assert!(paths[1].starts_with("h/about-") && paths[1] != paths[2]);
        check(&urls.map(|url| (url.to_owned(), "")), &paths);
    }

    /// Asserts the invariants of all paths.
    fn check(resources: &[(String, &str)], paths: &[String]) {
        let mut owners = BTreeMap::new();
        let mut folders = BTreeSet::new();
        for ((url, media_type), path) in resources.iter().zip(paths) {
            let least = composed_text(&path.to_lowercase()).into_owned();
            let url = url.split('#').next().unwrap();
            let owner = owners.entry(least.clone()).or_insert((url, *media_type));
            assert_eq!(*owner, (url, *media_type), "{path}");
            folders.extend(
                least
                    .match_indices('/')
                    .map(|(at, _)| least[..at].to_owned()),
            );
            assert!(path.len() < 240 && path.contains('/'), "{path}");
            for name in path.split('/') {
                assert!((1..=200).contains(&name.len()), "{path}");
                assert!(
                    !name.starts_with('.') && !name.ends_with(['.', ' ']),
                    "{path}"
                );
                let is_refused = |c: char| c.is_control() || r#"<>:"|?*\"#.contains(c);
                assert!(!name.contains(is_refused), "{path}");
                let device = name.split('.').next().unwrap().trim_end().to_lowercase();
                let devices = ["con", "prn", "aux", "nul", "com1", "lpt9", "com\u{b9}"];
                assert!(!devices.contains(&&*device), "{path}");
            }
        }
        for path in owners.keys() {
            assert!(!folders.contains(path), "{path}");
        }
        assert!(
            !["baselink-map.csv", "index.html"]
                .iter()
                .any(|taken| folders.contains(*taken))
        );
    }

    #[test]
    fn urls_of_a_megabyte() {
        let pieces = [
            ("n", 1 << 20),
            ("/", 1 << 20),
            ("a/", 1 << 19),
            ("../", 350_000),
            ("%CC%81", 175_000),
        ];
        let mut resources = Vec::new();
        for (piece, count) in pieces {
            for prefix in ["http://h/", "http://", "http://h/?", "urn:"] {
                let url = prefix.to_owned() + &piece.repeat(count);
                resources.push((url.clone() + "x", "image/png"));
                resources.push((url, "image/png"));
            }
        }
        let paths: Vec<_> = file_names(
            resources
                .iter()
                .map(|(url, media_type)| (&**url, *media_type)),
        )
        .collect();
        check(&resources, &paths);
    }

    #[test]
    fn many_urls_that_differ_little() {
        let cased = |number: u32| {
            let letters = (0..17).map(|bit| if number >> bit & 1 == 1 { 'A' } else { 'a' });
            format!("http://h/{}", letters.collect::<String>())
        };
        let query = |number: u32| format!("http://h/x?{}{number}", "long".repeat(25));
        let folder =
            |number: u32| format!("http://h/{}{number}", "x/".repeat(number as usize % 80));
        let makers: [&dyn Fn(u32) -> String; 3] = [&cased, &query, &folder];
        for make in makers {
            let resources: Vec<_> = (0..100_000).map(|number| (make(number), "")).collect();
            let paths: Vec<_> = file_names(
                resources
                    .iter()
                    .map(|(url, media_type)| (&**url, *media_type)),
            )
            .collect();
            check(&resources, &paths);
        }
    }

    #[rustfmt::skip]
    const PIECES: &[&str] = &[
        "a", "A", "b", "/", "/", "/", "?", "#", ".", "..", "%2e", "%2F", "%5C", "\\", ":", "@", "=", " ", "%20", "%00", "con", "aux.",
        "\u{e9}", "e%CC%81", "%C3%89", "\u{df}", "ss", "\u{3a3}", "\u{3c2}", "\u{130}", "\u{131}", "i\u{307}", "\u{17f}", "\u{1f80}", "\u{345}",
        "%E2%80%8D", "%FF", "%E2%80%AE", "\u{212a}", "k", ".html", ".css", "index", "-c0f98e72", "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
        "ddddddddddddd/ddddddddddddd/dddddddddddddd/ddddddddddddd/", "\0", "\u{338}", "[::1]", "8080", "baselink-map.csv", "http://",
    ];
    const TYPES: &[&str] = &["", "text/html", "text/css", "image/png"];
    const PREFIXES: &[&str] = &[
        "http://h/",
        "https://h/",
        "http://",
        "",
        "cid:",
        "file:///",
        "http://H:80/",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn paths_in_a_mirror_work_everywhere(pieces in proptest::collection::vec(0..PIECES.len(), 0..16), round in 0..3_u32) {
            let own: String = pieces.into_iter().map(|at| PIECES[at]).collect();
            let names = own.split('/').filter(|name| !matches!(*name, "" | "." | ".."));
            let own = names.collect::<Vec<_>>().join("/");
            prop_assume!(!own.is_empty());
            let path = path_in_mirror((&own, ""), round);
            prop_assert!(path.chars().count() <= MAX_PATH && path.split('/').all(is_valid_everywhere), "{}", path);
            prop_assert!(!path.split('/').any(str::is_empty), "{}", path);
            prop_assert!(path != own || round == 0);
            prop_assert_eq!(&path_in_mirror((&path, ""), 0), &path);
        }

        #[test]
        fn paths_keep_the_rules_in_any_order(
            lists in proptest::collection::vec(
                (0..PREFIXES.len(), proptest::collection::vec(0..PIECES.len(), 0..8), 0..TYPES.len()), 0..24),
            shift in 0..24_usize,
        ) {
            let url = |prefix: usize, pieces: Vec<usize>| pieces.into_iter().fold(PREFIXES[prefix].to_owned(), |url, at| url + PIECES[at]);
            let mut resources: Vec<_> =
                lists.into_iter().map(|(prefix, pieces, media_type)| (url(prefix, pieces), TYPES[media_type])).collect();
            let of = |resources: &[(String, &'static str)]| -> Vec<_> { file_names(resources.iter().map(|(url, media_type)| (&**url, *media_type))).collect() };
            let mut paths = of(&resources);
            check(&resources, &paths);
            let shift = shift.min(resources.len());
            resources.rotate_left(shift);
            paths.rotate_left(shift);
            prop_assert_eq!(&of(&resources), &paths);
            resources.reverse();
            paths.reverse();
            prop_assert_eq!(&of(&resources), &paths);
        }
    }
}
