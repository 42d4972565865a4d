//! URLs of the old place of a site outside links: in scripts, JSON, attributes for scripts, visible text, `robots.txt`.
//!
//! They are found by the host, with the slashes before it in one of several [spellings](SPELLINGS). Hosts are compared without case, and
//! `http` and `https` are one scheme. A host without slashes, as in a mail address, is found, too.
//!
//! ```text
//! {"home":"https:\/\/old.example\/blog\/x"}    -->   https:\/\/new.example
//! ?u=https%3A%2F%2Fold.example%2Fblog%2Fx      -->   https%3A%2F%2Fnew.example
//! https://old.example.org/  https://old.example/blogs/  mailto:a@old.example   -->   other URLs, and a host
//! ```
//!
//! Deliberately absent: encodings that do not contain ASCII, and URLs of which a script contains only parts.

use baselink_text::{Code, Diagnostic, Edits, Span};
use baselink_url::Reference;
use regex::bytes::{Captures, Regex};

use crate::collection::origin::{RootUrl, is_assumed};

/// The spellings of `/` and `:`.
const SPELLINGS: [[&str; 2]; 9] = [
    // Twice and once percent-encoded, in queries.
    ["%252F", "%253A"],
    ["%2F", "%3A"],
    // Character references.
    ["&#x2F;", "&#x3A;"],
    ["&#47;", "&#58;"],
    // Scripts.
    [r"\u002F", r"\u003A"],
    [r"\x2F", r"\x3A"],
    // JSON in a string, and JSON.
    [r"\\/", ":"],
    [r"\/", ":"],
    ["/", ":"],
];

/// The text that precedes a URL: its start, an escape, or any character but a letter, a digit and `:`.
const BEFORE: &str =
    r"(?:^|[^0-9A-Za-z:]|%(?:25)?[0-9A-F]{2}|\\u[0-9A-F]{4}|\\x[0-9A-F]{2}|\\[bfnrtv])";

/// The text before an identifier, which never changes (RFC 4287, 4.2.6; Namespaces in XML, 3), or before a place in a string that PHP
/// serialized with its length.
const KEPT: &str =
    r#"(?i-u)(?:<(?:guid|(?:atom:)?id)\b[^<>]*>\s*|\bxmlns(?::[\w.-]+)?=["']|\bs:\d+:\\?"[^"]*)$"#;

/// Marks of text that a hash or a signature may cover: a policy that allows scripts by their hashes, and a signed text.
const SEAL: &str = "(?-u)'sha(?:256|384|512)-|-----BEGIN PGP SIGN";

/// The largest number of bytes before a URL that may give a reason to keep it.
const AROUND: usize = 4096;

/// The search for URLs below the old root.
#[derive(Debug)]
pub(super) struct OldUrls {
    /// For each spelling, its groups are the URL, its scheme, colon and slash, the rest of the new root after the old one, and a path.
    pattern: Regex,
    /// The old host alone. A document in which only links name it needs no further search.
    host: Regex,
    kept: Regex,
    seal: Regex,
    new: RootUrl,
}

impl OldUrls {
    /// The search for URLs below `old`; `None` if that is unknown or very long, or stays the same.
    pub(super) fn new(old: &RootUrl, new: &RootUrl) -> Option<Self> {
        let root = old.as_str();
        if is_assumed(root) || root == new.as_str() || root.len() > 1_024 {
            return None;
        }
        let rest = new.as_str().strip_prefix(root).unwrap_or_default();
        let hosts = old.spellings().map(|root| regex::escape(pieces(root).0));
        let hosts = hosts.collect::<Vec<_>>().join("|");
        let (_, port, path) = pieces(root);
        let of_spelling = |[slash, colon]: [&str; 2]| {
            let slash = regex::escape(slash);
            let colon = format!("(?::|{colon})", colon = regex::escape(colon));
            let port = port.map_or(format!("(?:{colon}(?:80|443))?"), |port| {
                format!("{colon}{port}")
            });
            let below = |path: &str| -> String {
                path.split('/')
                    .filter(|segment| !segment.is_empty())
                    .map(|segment| format!("{slash}(?-i:{})", regex::escape(segment)))
                    .collect()
            };
            let (path, rest) = (below(path), below(rest));
            format!(
                "{BEFORE}((?:(https?)({colon}))?({slash}){slash}(?:{hosts}){port}{path})({rest})?((?:{slash}|[0-9A-Za-z._~-])*)"
            )
        };
        let spelled = SPELLINGS.map(of_spelling).join("|");
        let pattern = format!(r"(?i-u){spelled}|(?:^|[^\w.-])({hosts})");
        let regex = |pattern: &str| Regex::new(pattern).ok();
        Some(Self {
            pattern: regex(&pattern)?,
            host: regex(&format!("(?i-u){hosts}"))?,
            kept: regex(KEPT)?,
            seal: regex(SEAL)?,
            new: new.clone(),
        })
    }

    /// The old URLs in `text` that `edits` leave; and, if `replaces` is true, the edits that replace
    /// others. `sealed` is the reason why nothing may change, and `renamed` gives the new path of a renamed file below the root.
    pub(super) fn find(
        &self,
        text: &[u8],
        edits: &Edits,
        (replaces, sealed): (bool, Option<&'static str>),
        renamed: impl Fn(&str) -> Option<String>,
    ) -> (Vec<Diagnostic>, Edits) {
        let spans = || edits.iter().map(|edit| edit.span).peekable();
        let (mut left, mut replaced, mut links) = (Vec::new(), Edits::default(), spans());
        let has_others = self.host.find_iter(text).any(|host| {
            while links.next_if(|link| link.end < host.start()).is_some() {}
            links.peek().is_none_or(|link| link.start > host.end())
        });
        if !has_others {
            return (left, replaced);
        }
        let seal = "a hash or a signature may cover it";
        let sealed = sealed.or(self.seal.is_match(text).then_some(seal));
        links = spans();
        for found in self.pattern.captures_iter(text) {
            let mut groups = (0..).zip(found.iter()).skip(1);
            let Some((first, Some(url))) = groups.find(|(_, group)| group.is_some()) else {
                continue;
            };
            let (start, end) = (url.start(), url.end());
            while links.next_if(|link| link.end < start).is_some() {}
            let is_link = links.peek().is_some_and(|link| link.start <= end + 1);
            let spelling = SPELLINGS.get(first / 6);
            let rest = spelling
                .and_then(|_| found.get(first + 4))
                .filter(|rest| !rest.is_empty());
            let is_new = rest.is_some_and(|rest| is_end(&text[rest.end()..]));
            if is_link || is_new || !is_end(&text[end..]) {
                continue;
            }
            let before = &text[start.saturating_sub(AROUND)..start];
            let why = match () {
                () if spelling.is_none() => Some("it is only a host"),
                () if self.kept.is_match(before) => {
                    Some("it is an identifier, or its length stands before it")
                }
                () => sealed,
            };
            if replaces && why.is_none() {
                let (end, new) = self.replacement(&found, first, text, &renamed);
                replaced.add(Span::new(start, end), &new);
                continue;
            }
            let why = why.map(|why| format!("; {why}")).unwrap_or_default();
            let message = format!(
                "{} names the old place{why}",
                String::from_utf8_lossy(url.as_bytes())
            );
            let span = Span::new(start, end);
            left.push(Diagnostic::new(Code::OldUrl, span, message));
        }
        (left, replaced)
    }

    /// The end of the URL that begins with the group `first` in `text`, and what replaces it: the new root, and the new path of a renamed
    /// file, spelled like the old ones.
    fn replacement(
        &self,
        found: &Captures<'_>,
        first: usize,
        text: &[u8],
        renamed: impl Fn(&str) -> Option<String>,
    ) -> (usize, Vec<u8>) {
        let group = |number: usize| found.get(first + number);
        let spelled = |number: usize| group(number).map(|group| group.as_bytes());
        let (colon, slash) = (spelled(2), spelled(3).unwrap_or_default());
        let root = self.new.as_str();
        let (host, port, path) = pieces(root);
        let scheme = Reference::of(root).scheme().unwrap_or_default().as_bytes();
        let mut new = colon.map_or(Vec::new(), |colon| [scheme, colon].concat());
        new.extend([slash, slash, host.as_bytes()].concat());
        new.extend(port.map_or(Vec::new(), |port| {
            [colon.unwrap_or(b":"), port.as_bytes()].concat()
        }));
        let [end, whole] = [0, 5].map(|number| group(number).map_or(0, |group| group.end()));
        let slash = String::from_utf8_lossy(slash);
        let below = String::from_utf8_lossy(&text[end..whole]).replace(&*slash, "/");
        let renamed = renamed(&below);
        let path = [
            path.trim_end_matches('/'),
            renamed.as_deref().unwrap_or_default(),
        ]
        .concat();
        new.extend(path.replace('/', &slash).bytes());
        (if renamed.is_some() { whole } else { end }, new)
    }
}

/// The host, port and path of a root.
fn pieces(root: &str) -> (&str, Option<&str>, &str) {
    let url = Reference::of(root);
    let net_loc = url.net_loc().unwrap_or_default();
    let (host, port) = match net_loc.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (net_loc, None),
    };
    (host, port, url.path())
}

/// True if neither the host nor the last segment of the path of a root continues with `rest`.
fn is_end(rest: &[u8]) -> bool {
    match rest {
        [] => true,
        [b'.', next @ ..] => !next.first().is_some_and(u8::is_ascii_alphanumeric),
        [next, ..] => !(next.is_ascii_alphanumeric() || b"-_@:~".contains(next) || *next > 127),
    }
}
