//! The redirects and rewrites that a static host carries out for paths without a file.
//!
//! Three files in the root of a site declare them, in this order: `_redirects` of Netlify and Cloudflare, `netlify.toml`, and
//! `vercel.json`. In a file, the first rule that matches a path decides. The first file that leads anywhere counts, because the
//! files may be for several hosts.
//!
//! ```
//! use baselink_site::collection::host_rules::HostRules;
//! let mut rules = HostRules::default();
//! rules.add_file("_redirects", "/blog/:year/:slug /posts/:slug.html 301\n/* /404.html 404\n");
//! let to = "/posts/hello.html".to_owned();
//! assert_eq!(rules.followed("/blog/2024/hello", false), Some((to, 301)));
//! assert_eq!(rules.followed("/blog/2024", false), None);
//! ```
//!
//! Deliberately absent: rules with conditions (query, country, language, header field), because the same link can lead to
//! several places; rules for other hosts; and regular expressions in `vercel.json`.

use std::collections::HashMap;

use baselink_scan::LONGEST_BASE;
use serde::{Deserialize, de::IgnoredAny};

use super::origin::names::decode;

/// The most rules with placeholders that count. Cloudflare allows 100, and each of them is tried for each path.
const MOST_PATTERNS: usize = 1000;

/// The status of a rule that sends what another URL leads to.
pub(super) const REWRITE: u16 = 200;

/// The names of the files with rules.
pub const FILES: [&str; 3] = ["_redirects", "netlify.toml", "vercel.json"];

/// The rules of the hosts of a site.
#[derive(Debug, Default)]
pub struct HostRules {
    /// The files with their names.
    files: Vec<(String, FileRules)>,
    /// A sentence about each file that could not be understood.
    pub problems: Vec<String>,
}

/// The rules of a file, in order.
#[derive(Debug, Default)]
struct FileRules {
    rules: Vec<HostRule>,
    /// The numbers of the rules without placeholders, by path.
    plain: HashMap<Vec<u8>, usize>,
    /// The numbers of the others.
    patterns: Vec<usize>,
}

#[derive(Debug)]
struct HostRule {
    /// The segments of the paths that the rule matches, decoded.
    from: Vec<Segment>,
    to: String,
    status: u16,
    /// True if the rule precedes a file.
    is_forced: bool,
}

/// A segment of a path in a rule.
#[derive(Debug)]
enum Segment {
    Text(Vec<u8>),
    /// One segment, with its name.
    Named(String),
    /// All segments that follow, with a name.
    Rest(String),
}

/// A rule of `netlify.toml` or `vercel.json`, whose keys are the aliases.
#[derive(Deserialize)]
struct DeclaredRule {
    #[serde(alias = "source")]
    from: String,
    #[serde(default, alias = "destination")]
    to: String,
    status: Option<u16>,
    force: Option<bool>,
    #[serde(alias = "has")]
    query: Option<IgnoredAny>,
    #[serde(alias = "missing")]
    conditions: Option<IgnoredAny>,
}

/// The rules of `netlify.toml` or `vercel.json`.
#[derive(Deserialize)]
struct DeclaredRules {
    #[serde(default)]
    redirects: Vec<DeclaredRule>,
    /// The rewrites of Vercel.
    #[serde(default)]
    rewrites: Vec<DeclaredRule>,
}

impl HostRules {
    /// True if no file declares rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds the rules in the text of the file called `name`, one of [`FILES`].
    pub fn add_file(&mut self, name: &str, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let rules = match name {
            "netlify.toml" => toml::from_str(text)
                .map(|file| FileRules::declared(file, (301, false)))
                .map_err(|error| error.message().to_owned()),
            "vercel.json" => serde_json::from_str(text)
                // Vercel redirects before it looks for a file, and rewrites afterwards.
                .map(|file| FileRules::declared(file, (308, true)))
                .map_err(|error| error.to_string()),
            _ => Ok(FileRules::lines(text)),
        };
        match rules {
            Ok(rules) => self.files.push((name.to_owned(), rules)),
            Err(problem) => {
                let sentence = format!("{name}: its redirects are not used: {problem}");
                self.problems.push(sentence);
            }
        }
    }

    /// True if a rule is for this path alone.
    pub fn names(&self, path: &str) -> bool {
        let path = decode(path.trim_matches('/'));
        let mut files = self.files.iter();
        files.any(|(_, rules)| rules.plain.contains_key(&path))
    }

    /// The reference to which a host redirects the path of a URL, or whose resource it sends in place of a file. `None` if no
    /// rule has an effect on the path. Also returns the status. `is_there` is true if a file has the path.
    #[must_use]
    pub fn followed(&self, path: &str, is_there: bool) -> Option<(String, u16)> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        self.files
            .iter()
            .find_map(|(_, rules)| rules.followed(&parts, is_there))
    }

    /// The name of the file of each rule, and the reference to which the rule leads.
    pub(crate) fn targets(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter();
        files.flat_map(|(name, file)| file.rules.iter().map(|rule| (&**name, &*rule.to)))
    }
}

impl FileRules {
    /// The rules of `file`. A redirect that does not tell its status, and if it precedes a file, has those of `redirect`.
    fn declared(file: DeclaredRules, redirect: (u16, bool)) -> Self {
        let mut rules = Self::default();
        let redirects = file.redirects.into_iter().map(|rule| (rule, redirect));
        let rewrites = file
            .rewrites
            .into_iter()
            .map(|rule| (rule, (REWRITE, false)));
        for (rule, (status, is_forced)) in redirects.chain(rewrites) {
            if rule.query.is_none() && rule.conditions.is_none() {
                let status = rule.status.unwrap_or(status);
                rules.add(&rule.from, rule.to, status, rule.force.unwrap_or(is_forced));
            }
        }
        rules
    }

    /// The rules of a file `_redirects`: a path, a reference, and optionally a status, which ends with `!` if the rule
    /// precedes a file.
    fn lines(text: &str) -> Self {
        let mut rules = Self::default();
        for line in text.lines() {
            let words: Vec<&str> = line
                .split_whitespace()
                .take_while(|word| !word.starts_with('#'))
                .collect();
            let (from, to, status) = match words[..] {
                [from, to] => (from, to, "301"),
                [from, to, status] => (from, to, status),
                _ => continue,
            };
            let number = status.strip_suffix('!').unwrap_or(status);
            // A word with `=` is a condition.
            if let Ok(number) = number.parse() {
                rules.add(from, to.to_owned(), number, status.ends_with('!'));
            }
        }
        rules
    }

    fn add(&mut self, from: &str, to: String, status: u16, is_forced: bool) {
        let Some(segments) = segments(from) else {
            return;
        };
        let number = self.rules.len();
        let text = |segment: &Segment| match segment {
            Segment::Text(text) => Some(text.clone()),
            Segment::Named(_) | Segment::Rest(_) => None,
        };
        match segments.iter().map(text).collect::<Option<Vec<_>>>() {
            Some(path) => {
                self.plain.entry(path.join(&b'/')).or_insert(number);
            }
            None if self.patterns.len() < MOST_PATTERNS => self.patterns.push(number),
            None => return,
        }
        self.rules.push(HostRule {
            from: segments,
            to,
            status,
            is_forced,
        });
    }

    /// The reference and the status of the first of these rules that matches the path with the segments `parts`, as in
    /// [`HostRules::followed`].
    fn followed(&self, parts: &[&str], is_there: bool) -> Option<(String, u16)> {
        let decoded: Vec<Vec<u8>> = parts.iter().map(|part| decode(part)).collect();
        let counts = |number: &usize| !is_there || self.rules[*number].is_forced;
        let plain = self.plain.get(&decoded.join(&b'/')).copied().filter(counts);
        let first = plain.unwrap_or(usize::MAX);
        let pattern = self
            .patterns
            .iter()
            .copied()
            .take_while(|number| *number < first)
            .filter(counts)
            .find_map(|number| Some((number, self.rules[number].values(parts, &decoded)?)));
        let (number, values) = match pattern {
            Some(found) => found,
            None => (plain?, Vec::new()),
        };
        let rule = &self.rules[number];
        // Other statuses send an error.
        let leads = matches!(rule.status, REWRITE | 300..400);
        Some((filled(&rule.to, &values).filter(|_| leads)?, rule.status))
    }
}

impl HostRule {
    /// The values of the placeholders if the rule matches a path with these segments.
    fn values<'a>(&'a self, parts: &[&str], decoded: &[Vec<u8>]) -> Option<Vec<(&'a str, String)>> {
        let mut values = Vec::new();
        for (at, segment) in self.from.iter().enumerate() {
            match segment {
                Segment::Text(text) if decoded.get(at) != Some(text) => return None,
                Segment::Text(_) => {}
                Segment::Named(name) => {
                    let part = parts.get(at).filter(|part| !part.is_empty())?;
                    values.push((&**name, (*part).to_owned()));
                }
                Segment::Rest(name) => {
                    values.push((&**name, parts.get(at..)?.join("/")));
                    return Some(values);
                }
            }
        }
        (self.from.len() == parts.len()).then_some(values)
    }
}

/// The segments of a path in a rule; `None` if it is not a path of this host, or contains a regular expression.
fn segments(path: &str) -> Option<Vec<Segment>> {
    if !path.starts_with('/') || path.starts_with("//") || path.contains(['(', '?']) {
        return None;
    }
    let segment = |text: &str| match text.strip_prefix(':') {
        None if text == "*" => Segment::Rest("splat".to_owned()),
        None => Segment::Text(decode(text)),
        Some(name) => match name.strip_suffix('*') {
            Some(name) => Segment::Rest(name.to_owned()),
            None => Segment::Named(name.to_owned()),
        },
    };
    Some(path.trim_matches('/').split('/').map(segment).collect())
}

/// `to` with the values of its placeholders. `None` if the result is longer than any base: a rule that applies to its own result
/// may double it each time.
fn filled(to: &str, values: &[(&str, String)]) -> Option<String> {
    let mut text = String::with_capacity(to.len());
    let mut parts = to.split(':');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        if text.len() > LONGEST_BASE {
            return None;
        }
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let end = part.bytes().position(|byte| !is_of_name(byte));
        let (name, rest) = part.split_at(end.unwrap_or(part.len()));
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => {
                text.push_str(value);
                text.push_str(rest.strip_prefix('*').unwrap_or(rest));
            }
            None => {
                text.push(':');
                text.push_str(part);
            }
        }
    }
    (text.len() <= LONGEST_BASE).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The documentation of Netlify, "Redirect options", and of Cloudflare Pages, "Redirects".
    #[test]
    fn lines_match_as_documented() {
        for (text, path, is_there, expected) in [
            ("/a /b", "/a", false, Some("/b")),
            ("/a /b", "/a", true, None),
            ("/a /b 302!", "/a", true, Some("/b")),
            ("/a /b", "/a/", false, Some("/b")),
            ("/a/ /b 302 # c", "/a", false, Some("/b")),
            ("# /a /b", "/a", false, None),
            ("/%C3%A9 /b", "/\u{e9}", false, Some("/b")),
            ("/a /b Country=de", "/a", false, None),
            ("/a id=:id /b/:id 301", "/a", false, None),
            ("/a /b 404\n/a /c", "/a", false, None),
            ("/x/* /y/:splat 301", "/x/1/2", false, Some("/y/1/2")),
            ("/x/* /y/:splat 301", "/x", false, Some("/y/")),
            (
                "/* /index.html 200",
                "/any/thing",
                false,
                Some("/index.html"),
            ),
            (
                "/:a/:b https://h:8080/:b/:a",
                "/1/2",
                false,
                Some("https://h:8080/2/1"),
            ),
            ("/:a /x/:a.html", "/", false, None),
            ("/:a/b /x\n/1/b /y", "/1/b", false, Some("/x")),
            ("/1/b /y\n/:a/b /x", "/1/b", false, Some("/y")),
            ("https://h/a /b", "/a", false, None),
        ] {
            let mut rules = HostRules::default();
            rules.add_file("_redirects", text);
            assert_eq!(
                rules.followed(path, is_there).map(|(to, _)| to).as_deref(),
                expected,
                "{text}: {path}"
            );
        }
    }
}
