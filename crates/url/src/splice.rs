//! The fast path: references whose target is a prefix of the base followed by the reference's own tail. Nearly all
//! references in documents are of this kind.
//!
//! For these references, RFC 1808 section 4, RFC 3986 section 5.2 and the URL Standard give the same URL, apart from
//! the spelling of the base. The resolvers differ only above the root: RFC 1808 keeps each `../` that has nothing to
//! remove, and the others drop it. The prefixes are computed once for each base. They end after the scheme, net_loc,
//! params or query of the base, or after its directory, shortened by a segment for each `../`. A link then takes one
//! scan of its bytes and no allocation.
//!
//! ```
//! use baselink_url::{Base, Resolver};
//! let base = Base::new(Resolver::Rfc1808, "http://a/b/c/d;p?q");
//! let splice = base.splice(b"../g?y").unwrap();
//! assert_eq!((splice.prefix, splice.dropped), ("http://a/b/", "../".len()));
//! let splice = base.splice(b"../../../g").unwrap();
//! assert_eq!((splice.prefix, splice.dropped, splice.differs), ("http://a/", "../../".len(), true));
//! ```
//!
//! Deliberately absent: references on which the resolvers could differ in other ways. Their result is `None`, and
//! [`Base::resolve`] is the fallback.

use super::{draft::has_dot_segment, inherited::Inherited, resolver::Resolver, whatwg::parses};
use crate::reference::Reference;

/// A target as text: `prefix`, followed by the reference without its first `dropped` bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Splice<'a> {
    /// The prefix of the base.
    pub prefix: &'a str,
    /// The number of bytes of the reference that `prefix` replaces: its leading `./` and `../`, or none.
    pub dropped: usize,
    /// True if the reference leads above the root of the base, so that RFC 1808 and the other resolvers give
    /// different targets.
    pub differs: bool,
}

/// The prefixes of a base that references inherit, if all resolvers agree on the base.
#[derive(Clone)]
pub struct Prefixes {
    /// The base up to the last `/` of its path.
    directory: String,
    /// The length of the directory for each number of leading `../`; empty if the resolvers see different directories.
    climbs: Vec<usize>,
    /// True if the base has a path. If it has none, a `/` is added only before a reference with a name (A7).
    has_path: bool,
}

impl Prefixes {
    /// The prefixes of `base`, which was given as `url`; `None` if the resolvers could read the base itself
    /// differently.
    pub fn of(url: &str, base: &Inherited) -> Option<Self> {
        let written = Reference::of(url);
        let is_http = |scheme: &str| {
            scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
        };
        let net_loc = written.net_loc().filter(|net_loc| !net_loc.is_empty())?;
        let path = written.path();
        let is_plain = written.scheme().is_some_and(is_http)
            // The URL Standard removes blanks and line ends, reads `\` as `/`, and encodes characters beyond ASCII.
            && url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
            // Dot segments of a base are removed or kept, depending on the part that a reference inherits.
            && !has_dot_segment(path.as_bytes())
            && !has_escaped_dot(path.as_bytes())
            && (is_plain_host(net_loc.as_bytes()) || parses(url));
        if !is_plain {
            return None;
        }
        let has_path = !path.is_empty();
        let mut prefixes = Self {
            directory: String::new(),
            climbs: Vec::new(),
            has_path,
        };
        // RFC 1808, 2.4.5: the text after the first `;` is not part of the path, including its slashes.
        if path
            .split_once(';')
            .is_some_and(|(_, params)| params.contains('/'))
        {
            return Some(prefixes);
        }
        prefixes.directory.push_str(&base.directory);
        if !has_path && base.resolver == Resolver::Rfc1808 {
            prefixes.directory.push('/'); // A7
        }
        let root = base.net_loc_end;
        let directory = &prefixes.directory.as_bytes()[root..];
        prefixes.climbs = memchr::memrchr_iter(b'/', directory)
            .map(|at| root + at + 1)
            .collect();
        Some(prefixes)
    }

    /// The target of `reference` against `base`, to which these prefixes belong: see
    /// [`Base::splice`](super::Base::splice).
    pub fn splice<'a>(&'a self, base: &'a Inherited, reference: &[u8]) -> Option<Splice<'a>> {
        let whole = |is_plain: bool, end: usize| (is_plain, &base.text[..end], 0);
        let (is_plain, prefix, dropped) = match reference {
            // RFC 1808 replaces an empty query by the query of the base.
            [] | [b'?'] | [b'?', b'#', ..] => return None,
            // A second `#` may end a placeholder such as `#link#`.
            [b'#', rest @ ..] => {
                whole(is_plain_tail(rest) && !rest.contains(&b'#'), base.query_end)
            }
            [b'?', rest @ ..] => whole(is_plain_tail(rest), base.params_end),
            [b'/', b'/', rest @ ..] => {
                let is_plain = match memchr::memchr(b'/', rest) {
                    Some(end) => is_plain_host(&rest[..end]) && is_plain_path(&rest[end..], true),
                    // The URL Standard adds a missing path.
                    None => base.resolver != Resolver::Whatwg && is_plain_host(rest),
                };
                whole(is_plain, base.scheme_end)
            }
            [b'/', ..] => whole(is_plain_path(reference, true), base.net_loc_end),
            _ => {
                let (ups, dropped) = climb(reference);
                let Some(&end) = self.climbs.get(ups) else {
                    return self.above_root(base.resolver, reference, (ups, dropped));
                };
                let rest = &reference[dropped..];
                let is_plain = match rest.first() {
                    None | Some(b'?' | b'#') if !self.has_path => false,
                    None => true,
                    // Params without a path, or an empty segment.
                    Some(b';' | b'/') => false,
                    // Possible beginnings of placeholders in template languages.
                    Some(b'%' | b'@' | b'_') if dropped == 0 => {
                        rest[0] == b'_' && rest.get(1) != Some(&b'_') && is_plain_path(rest, false)
                    }
                    Some(_) => is_plain_path(rest, dropped > 0),
                };
                (is_plain, &self.directory[..end], dropped)
            }
        };
        is_plain.then_some(Splice {
            prefix,
            dropped,
            differs: false,
        })
    }

    /// The target of a `reference` whose leading `../`, which end at `dropped`, outnumber the names in the
    /// directory.
    fn above_root(
        &self,
        resolver: Resolver,
        reference: &[u8],
        (ups, dropped): (usize, usize),
    ) -> Option<Splice<'_>> {
        let names = self.climbs.len().checked_sub(1).filter(|_| self.has_path)?;
        let rest = &reference[dropped..];
        let is_plain = dropped == ups * "../".len()
            && !matches!(rest.first(), None | Some(b'?' | b'#' | b';' | b'/'))
            && is_plain_path(rest, true);
        let dropped = if resolver == Resolver::Rfc1808 {
            names * "../".len()
        } else {
            dropped
        };
        is_plain.then_some(Splice {
            prefix: &self.directory[..self.climbs[names]],
            dropped,
            differs: true,
        })
    }
}

/// The number of segments that the leading `./` and `../` of a reference climb, and the offset of their end.
fn climb(reference: &[u8]) -> (usize, usize) {
    let (mut ups, mut at) = (0, 0);
    loop {
        match &reference[at..] {
            [b'.', b'/', ..] => at += 2,
            [b'.', b'.', b'/', ..] => (ups, at) = (ups + 1, at + 3),
            [b'.'] | [b'.', b'?' | b'#', ..] => return (ups, at + 1),
            [b'.', b'.'] | [b'.', b'.', b'?' | b'#', ..] => return (ups + 1, at + 2),
            _ => return (ups, at),
        }
    }
}

/// Classes of bytes, as bits. Every resolver keeps a byte without any bit unchanged, wherever it is in a reference.
mod class {
    /// A byte that some resolvers may spell differently.
    pub const OTHER: u8 = 1;
    /// A byte that some resolvers may spell differently, but not after a path.
    pub const TAIL: u8 = 1 << 1;
    /// A byte that may have a meaning in a path.
    pub const MARK: u8 = 1 << 2;
    /// `*|` opens a placeholder: `STAR` is its first byte and `PIPE` its second.
    pub const STAR: u8 = 1 << 3;
    pub const PIPE: u8 = 1 << 4;
}

const CLASSES: [u8; 256] = {
    let mut classes = [class::OTHER; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'.' | b'/' | b':' | b'%' | b'?' | b'#' => class::MARK,
            b'-' | b'_' | b'~' | b'!' | b'$' | b'&' | b'(' | b')' => 0,
            b'+' | b',' | b';' | b'=' | b'@' => 0,
            b'*' => class::STAR,
            b'[' | b']' => class::TAIL,
            b'|' => class::TAIL | class::PIPE,
            letter_or_digit if letter_or_digit.is_ascii_alphanumeric() => 0,
            _ => class::OTHER,
        };
        byte += 1;
    }
    classes
};

/// The number of bytes of a path that are compared at once.
const BLOCK: usize = 16;

/// True if every resolver keeps `path` and the text after it byte for byte. `has_slash` is true if a preceding `/`
/// keeps a `:` from ending a scheme.
pub fn is_plain_path(path: &[u8], has_slash: bool) -> bool {
    is_plain_by_blocks(path) || is_plain_by_bytes(path, has_slash)
}

/// True if `path`, with the text after it, is longer than a block and needs no closer examination.
pub fn is_plain_by_blocks(path: &[u8]) -> bool {
    let Some((&first, rest)) = path.split_first() else {
        return false;
    };
    // The last block may overlap the previous one.
    let Some(last) = rest.last_chunk().zip(path[..rest.len()].last_chunk()) else {
        return false;
    };
    let is_plain = |block: &[u8; BLOCK], before: &[u8; BLOCK]| {
        block
            .iter()
            .zip(before)
            .fold(true, |plain, (&byte, &before)| {
                plain & is_plain_at(before, byte)
            })
    };
    let mut blocks = rest.as_chunks().0.iter().zip(path.as_chunks().0);
    is_plain_at(b'/', first)
        && is_plain(last.0, last.1)
        && blocks.all(|(block, before)| is_plain(block, before))
}

/// True if `byte` has no special meaning after `before`, in a path or elsewhere. Branch-free, so that the compiler
/// vectorises the loop over a block.
#[inline(always)]
fn is_plain_at(before: u8, byte: u8) -> bool {
    // `[`, `\`, `]`, and `{`, `|`, `}`.
    let is_bracket = (byte | 0x20).wrapping_sub(b'{') < 3;
    // Negative values are bytes beyond ASCII.
    let is_low = (byte as i8) <= b' ' as i8;
    let is_quote = (byte == b'"') | (byte | 2 == b'\'') | (byte == b'`');
    let is_mark = (byte | 2 == b'>') | (byte == b'^') | (byte == 0x7f) | (byte == b':');
    let is_dot = (byte == b'.') & (before == b'/');
    !(is_bracket | is_low | is_quote | is_mark | is_dot)
}

fn is_plain_by_bytes(path: &[u8], mut has_slash: bool) -> bool {
    for (at, &byte) in path.iter().enumerate() {
        match CLASSES[usize::from(byte)] {
            class::MARK => match byte {
                b'?' | b'#' => return is_plain_tail(&path[at + 1..]),
                b'/' => has_slash = true,
                b':' if !has_slash => return false,
                b'%' if has_escaped_dot(&path[at..path.len().min(at + 3)]) => return false,
                b'.' if (at == 0 || path[at - 1] == b'/') && is_dot_segment(&path[at..]) => {
                    return false;
                }
                _ => {}
            },
            0 | class::STAR => {}
            _ => return false,
        }
    }
    true
}

/// True if every resolver keeps the text after a path byte for byte.
fn is_plain_tail(tail: &[u8]) -> bool {
    let found = tail
        .iter()
        .fold(0, |found, &byte| found | CLASSES[usize::from(byte)]);
    // `*|` opens a placeholder, which other modules judge.
    found & class::OTHER == 0 && found & (class::STAR | class::PIPE) != class::STAR | class::PIPE
}

/// True if the first segment of `path`, which begins with `.`, is `.` or `..` in any resolver. RFC 1808 also ends a
/// segment at `;`.
fn is_dot_segment(path: &[u8]) -> bool {
    let second = usize::from(path.get(1) == Some(&b'.'));
    matches!(path.get(1 + second), None | Some(b'/' | b'?' | b'#' | b';'))
}

/// True if the URL Standard could see a dot in a percent-escape.
fn has_escaped_dot(path: &[u8]) -> bool {
    memchr::memchr_iter(b'%', path).any(|at| matches!(path[at + 1..], [b'2', b'e' | b'E', ..]))
}

/// True if the URL Standard takes `host` for a domain and leaves it unchanged. The host must not look like Punycode,
/// nor like an IPv4 address, which is decided by its last label.
pub fn is_plain_host(host: &[u8]) -> bool {
    let mut label = 0;
    for (at, byte) in host.iter().enumerate() {
        match byte {
            b'.' if at == label => return false,
            b'.' => label = at + 1,
            b'x' if at == label && host[at..].starts_with(b"xn--") => return false,
            b'a'..=b'z' | b'0'..=b'9' | b'-' => {}
            _ => return false,
        }
    }
    host.get(label).is_some_and(u8::is_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::reference::{contains_placeholder, opaque_scheme, placeholder, scheme};
    use crate::{Base, Target, Unresolvable, is_same_place};
    use proptest::prelude::*;

    const BASE: &str = "http://a/b/c/d;p?q#f";

    fn fully(base: &Base, reference: &str) -> Result<Target, Unresolvable> {
        let mut target = Target::default();
        base.resolve_fully(reference, &mut target, &mut ())
            .map(|()| target)
    }

    /// Checks that a splice equals the result of each resolver's own rules, and that all of these lead to the same
    /// place. Returns true if there is a splice.
    fn check(url: &str, reference: &str) -> bool {
        let mut places = Vec::new();
        for resolver in Resolver::ALL {
            let base = Base::new(resolver, url);
            let Some(splice) = base.splice(reference.as_bytes()) else {
                continue;
            };
            let whole = format!("{}{}", splice.prefix, &reference[splice.dropped..]);
            let expected = fully(&base, reference);
            assert_eq!(
                Ok(&whole),
                expected.as_ref().map(|target| &target.url),
                "{resolver} {url}"
            );
            // The kept parts are equal, too.
            assert_eq!(
                base.resolve(reference),
                expected,
                "{resolver} {url} {reference}"
            );
            places.push(Base::new(Resolver::Whatwg, &whole).as_str().to_owned());
            assert!(base.is_relative(reference));
        }
        let Some(first) = places.first() else {
            return false;
        };
        // Browsers drop the `..` that RFC 1808 keeps.
        assert!(
            places.iter().all(|place| place == first),
            "{url} {reference}: {places:?}"
        );
        let differ = Resolver::ALL.map(|one| fully(&Base::new(one, url), reference).unwrap().url);
        let differs = !is_same_place(&differ[0], &differ[2]);
        for resolver in Resolver::ALL {
            let base = Base::new(resolver, url);
            let splice = base.splice(reference.as_bytes());
            let is_same = |splice: Splice<'_>| splice.differs == differs;
            assert!(splice.is_none_or(is_same), "{resolver} {url} {reference}");
        }
        if differs {
            assert!(is_same_place(&differ[1], &differ[2]), "{url} {reference}");
        }
        // The URL Standard adds a path only to a host without one.
        let is_host = reference.starts_with("//") && !reference[2..].contains('/');
        let resolvers = if is_host { 2 } else { 3 };
        assert_eq!(
            places.len(),
            resolvers,
            "{url} {reference}: not in every resolver"
        );
        assert_eq!(opaque_scheme(reference), None);
        assert_eq!(scheme(Resolver::Rfc1808, reference), None);
        assert!(placeholder(reference).is_none() && !contains_placeholder(reference));
        true
    }

    #[test]
    fn prefixes_and_tails() {
        for (base, reference, prefix, tail) in [
            (BASE, "g", "http://a/b/c/", "g"),
            (BASE, "./g", "http://a/b/c/", "g"),
            (BASE, "./", "http://a/b/c/", ""),
            (BASE, ".", "http://a/b/c/", ""),
            (BASE, ".?y", "http://a/b/c/", "?y"),
            (BASE, "..", "http://a/b/", ""),
            (BASE, "../.", "http://a/b/", ""),
            (BASE, "..#s", "http://a/b/", "#s"),
            (BASE, "./../g/", "http://a/b/", "g/"),
            (BASE, "../../g?", "http://a/", "g?"),
            // RFC 1808, 5.2: "../../../g" is <URL:http://a/../g>.
            (BASE, "../../../g", "http://a/", "../g"),
            (BASE, "../../../../g/h#s", "http://a/", "../../g/h#s"),
            ("http://a/", "../g", "http://a/", "../g"),
            (BASE, "./g:h", "http://a/b/c/", "g:h"),
            (BASE, "g/h:i;j@k%20l", "http://a/b/c/", "g/h:i;j@k%20l"),
            (
                BASE,
                "g?y=../z:%2e#../s",
                "http://a/b/c/",
                "g?y=../z:%2e#../s",
            ),
            (BASE, ".g/..g/g./g..", "http://a/b/c/", ".g/..g/g./g.."),
            (BASE, "_g", "http://a/b/c/", "_g"),
            (BASE, "g;x=1/y", "http://a/b/c/", "g;x=1/y"),
            (BASE, "/g:h//i", "http://a", "/g:h//i"),
            (BASE, "/", "http://a", "/"),
            (BASE, "//g.example/h?y", "http:", "//g.example/h?y"),
            (BASE, "//g.example", "http:", "//g.example"),
            (BASE, "g?x[]=a|b#|]", "http://a/b/c/", "g?x[]=a|b#|]"),
            (
                BASE,
                "g/longer/than/one/block.d?x",
                "http://a/b/c/",
                "g/longer/than/one/block.d?x",
            ),
            (BASE, "?y", "http://a/b/c/d;p", "?y"),
            (BASE, "#", "http://a/b/c/d;p?q", "#"),
            ("http://a", "g", "http://a/", "g"),
            ("http://a", "/g", "http://a", "/g"),
            ("http://a?q", "g", "http://a/", "g"),
            ("HTTP://U@A:80/B/c", "g", "HTTP://U@A:80/B/", "g"),
            ("http://a//b//c", "../../g", "http://a//", "g"),
            ("http://a//b//c", "../../../g", "http://a/", "g"),
            // By RFC 1808, 2.4.5, the directory is the root; by the other resolvers, it is not.
            ("http://a/b;v=1/c/d", "/g", "http://a", "/g"),
            ("http://a/b;v=1/c/d", "?y", "http://a/b;v=1/c/d", "?y"),
            ("http://a/b/c;v=1", "g", "http://a/b/", "g"),
        ] {
            let prepared = Base::new(Resolver::Rfc1808, base);
            let splice = prepared.splice(reference.as_bytes());
            let splice = splice.ok_or((base, reference)).unwrap();
            assert_eq!(
                (splice.prefix, &reference[splice.dropped..]),
                (prefix, tail),
                "{base}"
            );
            assert!(check(base, reference));
        }
    }

    #[test]
    fn references_without_a_splice() {
        for reference in [
            "",
            "?",
            "?#s",
            ";x",
            "../;x",
            "..;x",
            ".;x",
            ".//g",
            "g/../h",
            "g/.",
            "g/..?y",
            "g;x/../y",
            "../../../",
            "../../..",
            "./../../../g",
            ".././../../g",
            "../../../?y",
            "../../../;x",
            "../../..//g",
            "../../../g/../h",
            "/./g",
            "/..",
            "//",
            "//G",
            "//g?y",
            "///g",
            "//G/",
            "//g./",
            "//1.2/",
            "//a.0x1/",
            "//xn--a/",
            "//g:8/",
            "//u@g/",
            "//g/../h",
            "g:h",
            "http:g",
            "1:2",
            "+a:b",
            "%2e%2e/g",
            "g/%2E",
            ".%2e/",
            "g h",
            " g",
            "g\\h",
            "g\n",
            "g'",
            "g\"",
            "g|h",
            "g^",
            "{g}",
            "g?*|y|*",
            "g?y#{z}",
            "gü",
            "%%g",
            "%NAME%",
            "@@g",
            "__NAME__",
            "[[g]]",
            "*|g|*",
        ] {
            for resolver in Resolver::ALL {
                let base = Base::new(resolver, BASE);
                assert_eq!(
                    base.splice(reference.as_bytes()),
                    None,
                    "{resolver} {reference}"
                );
            }
        }
        for (base, reference) in [
            ("http://a/b;v=1/c/d", "g"),
            // RFC 1808, step 6: the path becomes empty, and needs no slash.
            ("http://a", "."),
            ("http://a#f", "./?y"),
            ("http://a/b/./c", "#s"),
            ("http://a/%2e%2E/c", "/g"),
            ("http:///a/b", "g"),
            ("http:/a/b", "g"),
            ("http://1.2.3.4.5/", "g"),
            ("http://a b/", "g"),
            ("http://a\\b/c", "g"),
            ("http://ü/", "g"),
            ("http://a/ü/", "g"),
            ("http://a/?ü", "#g"),
            ("http://a/\u{a0}/", "g"),
            (" http://a/", "g"),
            ("file:///a/b", "g"),
            ("x://a/b", "g"),
            ("a/b", "g"),
            ("", "g"),
        ] {
            for resolver in Resolver::ALL {
                assert_eq!(
                    Base::new(resolver, base).splice(reference.as_bytes()),
                    None,
                    "{base}"
                );
            }
        }
    }

    /// Text made of characters that are special somewhere.
    fn pieces(most: usize) -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "/",
            "/",
            "/",
            "//",
            ".",
            "..",
            "./",
            "../",
            "../",
            "?",
            "#",
            ";",
            ":",
            "%",
            "%2e",
            "%20",
            "a",
            "b",
            "g",
            "C:",
            "&",
            "=",
            "@",
            "_",
            "~",
            "!",
            "$",
            "(",
            ")",
            "*",
            "+",
            ",",
            "'",
            "-",
            "1",
            "0x",
            "xn--",
            "\\",
            " ",
            "\t",
            "\n",
            "\u{0}",
            "|",
            "^",
            "`",
            "{",
            "}",
            "[",
            "]",
            "\"",
            "<",
            ">",
            "é",
            "http:",
            "h.example/",
            "[1]",
            "&#1;",
            "longer-than-one-block",
        ]);
        prop::collection::vec(piece, 0..most).prop_map(|pieces| pieces.concat())
    }

    fn base() -> impl Strategy<Value = String> {
        let start = prop::sample::select(vec![
            "http://a",
            "http://a/",
            "http://a/b/c/",
            "http://a/b/c/d;p?q#f",
            "HTTPS://u@A.b:443/b/",
            "http://",
            "file:///b/",
            "ws://a/b/",
            "x://a/b/",
            "http://[::1]/b/",
            "http://1.2/b/",
            "http://a/b/c/d?q",
            "http://a/\u{e9}/c?q&r=s",
            "",
        ]);
        (start, prop::bool::ANY, pieces(6)).prop_map(|(start, whole, rest)| {
            if whole {
                start.to_owned()
            } else {
                format!("{start}{rest}")
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_resolver_resolves_to_the_splice(base in base(), reference in pieces(8)) {
            check(&base, &reference);
        }

        #[test]
        fn every_ascii_byte_is_classified_correctly(
            before in prop::sample::select(vec![
                "", "g", "/", "?", "#", "../", "//h/", "g?y", "g/", "g/a-block-of-16/", "g/another.one-of-them",
            ]),
            byte in 0_u8..128,
            after in prop::sample::select(vec!["", "g", "/", "/g", "2e", ":", "//", "/a-block-of-16/g"]),
        ) {
            check(BASE, &format!("{before}{}{after}", char::from(byte)));
        }
    }
}
