//! Targets of fragments in a file: ids, and lines that a script of the page marks (HTML, 7.4.6.4).
//!
//! ```
//! use baselink_site::purpose::check::{FragmentPlace, Ids};
//! let ids = Ids::new(["a b", "L1", "L9"], false);
//! assert_eq!(ids.place("a%20b"), FragmentPlace::There);
//! assert_eq!(ids.place("l1"), FragmentPlace::Nowhere(Some("L1".to_owned())));
//! assert_eq!(ids.place("L1-L9"), FragmentPlace::Lines);
//! ```
//!
//! Deliberately absent: scanning documents for ids.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::OnceLock,
};

use crate::collection::origin::names;

/// The target of a fragment in a file.
#[derive(Debug, PartialEq, Eq)]
pub enum FragmentPlace {
    /// An element, or the top of the document.
    There,
    /// Lines that a script of the page marks.
    Lines,
    /// No target. The value is an id that differs only in case, if the file has one.
    Nowhere(Option<String>),
}

/// The possible targets of fragments in a file.
#[derive(Default)]
pub struct Ids {
    ids: HashSet<Box<str>>,
    /// The ids by their lower-case forms; made for the first hint.
    folded: OnceLock<HashMap<String, Box<str>>>,
    /// True if a fragment that ends with `)` is a pointer, not an id.
    has_pointers: bool,
}

impl Ids {
    /// Creates a set of decoded ids. Fragments of an XML document may be pointers (XPointer Framework, 3.1; SVG 2, 16.3.3,
    /// `svgView(…)`).
    pub fn new(ids: impl IntoIterator<Item = impl AsRef<str>>, has_pointers: bool) -> Self {
        Self {
            ids: ids.into_iter().map(|id| id.as_ref().into()).collect(),
            has_pointers,
            ..Self::default()
        }
    }

    /// The target of `fragment`, without its `#`.
    ///
    /// As in HTML, 7.4.6.4, the raw fragment is tried first, then the percent-decoded fragment. The empty fragment and
    /// `top` denote the top of the document, which always exists. A fragment directive (`:~:text=`) is removed.
    pub fn place(&self, fragment: &str) -> FragmentPlace {
        let id = match memchr::memchr(b'~', fragment.as_bytes()) {
            Some(_) => fragment.split(":~:").next().unwrap_or_default(),
            None => fragment,
        };
        let is_pointer = self.has_pointers && id.ends_with(')');
        if id.is_empty() || is_pointer || self.has(id) {
            return FragmentPlace::There;
        }
        let decoded = names::decode(id);
        let decoded = String::from_utf8_lossy(&decoded);
        if self.has(&decoded) || decoded.eq_ignore_ascii_case("top") {
            return FragmentPlace::There;
        }
        if self.has_lines(fragment) {
            return FragmentPlace::Lines;
        }
        let hint = self.alike(id).or_else(|| self.alike(&decoded));
        FragmentPlace::Nowhere(hint.map(str::to_owned))
    }

    /// True if `fragment` names lines that a script of the page marks: one line, or the first and the last separated by
    /// `-`. Both must exist as ids.
    fn has_lines(&self, fragment: &str) -> bool {
        let digits_at = fragment
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(fragment.len());
        let (prefix, lines) = fragment.split_at(digits_at);
        let has_line = |line: &str| {
            // GitHub writes the column after `C`.
            let number = line.strip_prefix(prefix).unwrap_or(line);
            let (number, column) = number.split_once('C').unwrap_or((number, "1"));
            names::is_number(number)
                && names::is_number(column)
                && ["", "C"]
                    .iter()
                    .any(|code| self.has(&format!("{prefix}{code}{number}")))
        };
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        LINE_PREFIXES.contains(&prefix) && has_line(first) && has_line(last)
    }

    /// True if `name` is an id.
    fn has(&self, name: &str) -> bool {
        self.ids.contains(name)
    }

    /// The first id that equals `name` if case is ignored.
    fn alike(&self, name: &str) -> Option<&str> {
        let folded = self.folded.get_or_init(|| {
            let mut ids = Vec::from_iter(&self.ids);
            ids.sort_unstable();
            let ids = ids.into_iter().rev();
            ids.map(|id| (id.to_ascii_lowercase(), id.clone()))
                .collect()
        });
        folded.get(&name.to_ascii_lowercase()).map(|id| &**id)
    }
}

/// Fragments, each with the number of the document that it leads into.
pub type FragmentList = Vec<(usize, Box<str>)>;

/// True if each of the fragments leads to an element according to `ids`.
#[must_use]
pub fn are_there(fragments: &FragmentList, ids: &BTreeMap<usize, Ids>) -> bool {
    fragments.iter().all(|(number, fragment)| {
        let ids = ids.get(number);
        ids.is_none_or(|ids| ids.place(fragment) == FragmentPlace::There)
    })
}

/// The prefixes of line numbers in ids: none in rustdoc; `L` in GitHub; `l` in gitweb and Mercurial; `n` in cgit;
/// `line-` in Pygments, which Sphinx uses.
const LINE_PREFIXES: [&str; 5] = ["", "L", "l", "n", "line-"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_known_scripts_are_found() {
        let rustdoc = Ids::new(["10", "20"], false);
        assert!(rustdoc.has_lines("10-20") && !rustdoc.has_lines("10-21"));
        let github = Ids::new(["LC10", "LC20"], false);
        for lines in ["L10", "L10-L20", "L10C2-L20C5"] {
            assert!(github.has_lines(lines), "{lines}");
        }
    }

    #[test]
    fn ids_are_found_by_the_rules_of_html() {
        let all = ["b", "B", "a%20c", "ü", "x(1)"];
        let ids = Ids::new(all, false);
        for present in [
            "b",
            "B",
            "b:~:text=x",
            "a%20c",
            "a%2520c",
            "%C3%BC",
            "",
            "TOP",
            ":~:text=q",
            "x(1)",
        ] {
            assert_eq!(ids.place(present), FragmentPlace::There, "{present}");
        }
        assert_eq!(ids.place("a c"), FragmentPlace::Nowhere(None));
        let hint = Some("a%20c".to_owned());
        assert_eq!(ids.place("A%20C"), FragmentPlace::Nowhere(hint));
        assert_eq!(ids.place("y(1)"), FragmentPlace::Nowhere(None));
        let with_pointers = Ids::new(all, true);
        assert_eq!(with_pointers.place("y(1)"), FragmentPlace::There);
    }
}
