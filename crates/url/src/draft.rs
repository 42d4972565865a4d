//! A URL built from slices, and the removal of dot segments from its path: RFC 1808 section 4, steps 6 a to d, and
//! RFC 3986 section 5.2.4.
//!
//! ```
//! use baselink_url::{Resolver, resolve};
//! assert_eq!(resolve(Resolver::Rfc1808, "http://a/b/", "./c/../../../d").unwrap(), "http://a/../d");
//! assert_eq!(resolve(Resolver::Rfc3986, "http://a/b/", "./c/../../../d").unwrap(), "http://a/d");
//! ```
//!
//! Deliberately absent: the choice of the slices, which each resolver's file makes.

use baselink_text::Span;

use super::{
    resolver::Resolver,
    target::{Kept, Target},
    trace::{Fate, Trace},
};

/// A URL under construction: kept slices of a reference, and other text.
pub struct Draft<'a> {
    pub reference: &'a str,
    pub target: &'a mut Target,
}

impl Draft<'_> {
    /// Appends text that is not from the reference.
    pub fn add(&mut self, text: &str) {
        self.target.url.push_str(text);
    }

    /// Appends a range of the reference.
    pub fn keep(&mut self, reference: Span) {
        if reference.is_empty() {
            return;
        }
        let url = self.target.url.len();
        self.target.url.push_str(&self.reference[reference.range()]);
        match self.target.kept.last_mut() {
            Some(last)
                if last.reference.end == reference.start
                    && last.url + last.reference.len() == url =>
            {
                last.reference.end = reference.end;
            }
            _ => self.target.kept.push(Kept { reference, url }),
        }
    }

    /// Cuts the URL off at `len`.
    fn truncate(&mut self, len: usize) {
        self.target.url.truncate(len);
        while let Some(last) = self.target.kept.last_mut() {
            if last.url < len {
                let end = last.reference.start + (len - last.url);
                last.reference.end = last.reference.end.min(end);
                break;
            }
            self.target.kept.pop();
        }
    }

    /// Inserts text that is not from the reference, and splits the kept range that contains `at`.
    pub fn insert(&mut self, at: usize, text: &str) {
        self.target.url.insert_str(at, text);
        let kept = &mut self.target.kept;
        let mut first = kept.partition_point(|kept| kept.url + kept.reference.len() <= at);
        if let Some(&Kept { reference, url }) = kept.get(first)
            && url < at
        {
            let cut = reference.start + (at - url);
            kept[first].reference.end = cut;
            first += 1;
            kept.insert(
                first,
                Kept {
                    reference: Span::new(cut, reference.end),
                    url: at,
                },
            );
        }
        for kept in &mut kept[first..] {
            kept.url += text.len();
        }
    }

    /// A24: keeps a path at `at` from being read as a net_loc if there is no net_loc.
    pub fn guard(&mut self, at: usize, has_net_loc: bool, trace: &mut impl Trace) {
        if !has_net_loc && self.target.url[at..].starts_with("//") {
            trace.step(
                "A24",
                || "\"/.\" keeps the path from being read as a net_loc",
            );
            self.insert(at, "/.");
        }
    }

    /// Appends a path of the reference segment by segment, and removes its dot segments by the rules of `resolver`:
    /// RFC 1808 section 4, step 6 a to d, or RFC 3986 section 5.2.4. Every byte is written once and removed at
    /// most once.
    pub fn segments(
        &mut self,
        resolver: Resolver,
        path: Span,
        top: &mut Top,
        trace: &mut impl Trace,
    ) {
        let bytes = self.reference.as_bytes();
        if !has_dot_segment(&bytes[path.range()]) {
            trace.segment(self.reference, path, Fate::Kept);
            self.keep(path);
            return;
        }
        let mut start = path.start;
        loop {
            let slash = memchr::memchr(b'/', &bytes[start..path.end]);
            let end = slash.map_or(path.end, |n| start + n);
            let next = end + usize::from(slash.is_some());
            let by = |with_slash, at_the_end| {
                if slash.is_some() {
                    with_slash
                } else {
                    at_the_end
                }
            };
            let whole = Span::new(start, next);
            let fate = match &bytes[start..end] {
                // RFC 3986, 5.2.4, steps 2A, 2B and 2D.
                b"." => Fate::Removed(by("6a", "6b")),
                // Step 2C. A9: a segment may be empty. A13: 6d applies once.
                b".." if self.climb(top) => Fate::Climbs(by("6c", "6d")),
                // A12: RFC 1808 keeps an excess `..`, and nothing climbs past it.
                b".." if resolver != Resolver::Rfc1808 => Fate::Removed(by("6c", "6d")),
                segment => {
                    self.keep(whole);
                    if segment == b".." {
                        top.floor = self.target.url.len();
                    }
                    Fate::Kept
                }
            };
            trace.segment(self.reference, whole, fate);
            if slash.is_none() {
                return;
            }
            start = next;
        }
    }

    /// Removes the last segment, which ends with `/`. Returns `false` if no segment can be removed.
    fn climb(&mut self, top: &mut Top) -> bool {
        let url = self.target.url.as_bytes();
        if url.len() == top.floor {
            return false;
        }
        let before = memchr::memrchr(b'/', &url[top.floor..url.len() - 1]);
        self.truncate(before.map_or(top.floor, |n| top.floor + n + 1));
        if !top.rooted && self.target.url.len() == top.floor {
            // RFC 3986, 5.2.4, step 2C leaves a "/" in the input buffer in place of the first segment.
            self.add("/");
            *top = Top {
                floor: self.target.url.len(),
                rooted: true,
            };
        }
        true
    }
}

/// True if `.` or `..` is a segment of `path`.
pub fn has_dot_segment(path: &[u8]) -> bool {
    let mut start = 0;
    // A dot segment is preceded by a slash or the start of the path, and followed by a slash or the end.
    while let Some(n) = memchr::memchr(b'.', &path[start..]) {
        let dot = start + n;
        if dot == 0 || path[dot - 1] == b'/' {
            let second = usize::from(path.get(dot + 1) == Some(&b'.'));
            if matches!(path.get(dot + 1 + second), None | Some(b'/')) {
                return true;
            }
        }
        start = dot + 1;
    }
    false
}

/// The limit up to which `..` can climb in a path under construction.
#[derive(Clone, Copy)]
pub struct Top {
    /// The offset below which nothing can be removed.
    pub floor: usize,
    /// True if a `/` precedes the floor, or if the resolver adds none there (RFC 1808).
    pub rooted: bool,
}
