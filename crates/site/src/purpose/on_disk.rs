//! The rule for copies that open from disk: every link leads to a place in the folder, to an absolute URL that is not
//! `file:` or that of a mail program, or nowhere.
//!
//! A browser resolves a relative reference against the `file:` URL of the copy (URL Standard, 4.4). `/x`, `//h/x` and enough
//! `..` then lead out of the folder, where a page could read files or contact hosts that its author chose.
//!
//! ```text
//! in DIR/sub/page.html:  ../x  ./%2e%2e/y  {{z}}   stay
//!                        ../../x  /x  \\h\x  file:x  C|/x   lead out
//! ```
//!
//! Deliberately absent: symbolic links in the folder.

use std::collections::HashSet;

use baselink_rewrite::{BaseInCopy, LinkReport, NOWHERE, Options, Reason};
use baselink_scan::{ScanOptions, document::Role, scan_as};
use baselink_text::Format;
use baselink_url::{
    Base, Resolver, has_drive, is_private, parses,
    reference::{has_opaque_scheme, opaque_scheme},
};

use super::{
    adapt::{leads_to_file, voids_base},
    other_encodings,
    words::{Word, Words},
};
use crate::{
    archive::message::{NESTED, data_of},
    collection::{
        Collection,
        origin::{is_assumed, names},
        without_query,
    },
};

/// The URL of a folder on disk. The files around it are unknown.
const FOLDER: &str = "file:///elsewhere/";

/// The place of a document in a folder that opens from disk.
#[derive(Debug)]
pub struct DiskPlace {
    own: BaseInFolder,
    /// The URL of a place that is as near to the folder as any document.
    nearest: String,
    /// The scheme of references that lack only a scheme, if their base has none.
    scheme: String,
    /// True if the scripts of the document would open another page.
    pub leaves: bool,
    /// True if browsers may ignore a base that the document declares.
    pub voids_base: bool,
}

/// A base, and the number of folders between the folder and it, if it is known to be inside.
type BaseInFolder = (Base, Option<usize>);

/// The URL of the base of a link in the copy; `None` for the copy itself. The folder has the URL [`FOLDER`].
pub type DiskBase = Option<String>;

impl DiskPlace {
    /// The place of the document with these `words` at `path` in the copy of `collection`. Each document of an archive is in the folder
    /// of a host.
    pub fn new(
        collection: &Collection,
        path: &[u8],
        (words, options): (Words<'_>, &Options),
        scheme: &str,
    ) -> Self {
        let path = names::encoded(&collection.in_library(path)).unwrap_or_default();
        let has_hosts = collection.only_urls && collection.library.is_none();
        Self {
            own: in_folder(&Self::url(&path.replace(':', "%3A"))),
            nearest: Self::url(if has_hosts { "host/" } else { "" }),
            scheme: scheme.to_owned(),
            leaves: words.contain(Word::PagePath),
            voids_base: voids_base(words, options),
        }
    }

    /// The URL on disk of the resource at `path`, percent-encoded, below the folder.
    pub fn url(path: &str) -> String {
        format!("{FOLDER}{path}")
    }

    /// The path below the folder to which `reference` leads in a browser, from the document itself.
    pub fn path(&self, reference: &str) -> Option<Vec<u8>> {
        let target = self.own.0.resolve(reference).ok()?;
        let path = target.url.strip_prefix(FOLDER)?;
        Some(names::decode(without_query(path)))
    }

    /// The text to insert before `reference` if it leads out of the folder from a base against which readers may resolve it: the
    /// scheme that it lacks, or else [`NOWHERE`]. The scheme is that of the present base of `link`, if this is a web URL. `declared`
    /// returns the declared base. A script that would open another page leads nowhere, too.
    pub fn prefix(
        &self,
        link: &LinkReport,
        reference: &str,
        base: BaseInCopy,
        declared: impl FnOnce() -> DiskBase,
    ) -> Option<String> {
        // A transformation makes any markup.
        let is_transformation = link.element == "?xml-stylesheet"
            && data_of(reference).is_some_and(|(_, body)| body.contains(&b'<'));
        let leaves = self.leaves && &*link.element == "script" && leads_to_file(reference);
        // The text of an entity is unknown, so the whole reference is.
        if link.reason == Some(Reason::Entity) || is_transformation || leaves {
            return Some(NOWHERE.to_owned());
        }
        let may_be_sheet = matches!(link.attribute.as_deref(), None | Some("href"))
            && link.role != Role::Navigation;
        let bases = match base {
            BaseInCopy::Undeclared => vec![None],
            BaseInCopy::Declared if !self.voids_base => vec![declared()],
            // Browsers ignore a `codebase`, and a base against a policy.
            BaseInCopy::Declared | BaseInCopy::DeclaredLater | BaseInCopy::Inner => {
                vec![None, declared()]
            }
            BaseInCopy::Anywhere => vec![Some(self.nearest.clone())],
        };
        if !bases.iter().any(|base| {
            self.leads_out(reference, base)
                || (may_be_sheet && self.sheet_leads_out(reference, base))
        }) {
            return None;
        }
        let has_host = matches!(
            reference.trim_start().as_bytes(),
            [b'/' | b'\\', b'/' | b'\\', next, ..] if !b"/\\".contains(next)
        );
        if !has_host {
            return Some(NOWHERE.to_owned());
        }
        let of_base = link
            .base
            .as_deref()
            .and_then(opaque_scheme)
            .filter(|one| matches!(&**one, "http" | "https"));
        Some(format!("{}:", of_base.as_ref().unwrap_or(&self.scheme)))
    }

    /// True if a browser, or a program that decodes escapes early, leaves the folder.
    pub fn leads_out(&self, reference: &str, base: &DiskBase) -> bool {
        let (base, depth) = match base {
            None => &self.own,
            Some(url) => &in_folder(url),
        };
        if let Some(leads_out) = depth.and_then(|depth| leads_plainly_out(reference, depth)) {
            return leads_out;
        }
        if let Some(scheme) = opaque_scheme(reference) {
            // Windows reads such a scheme as a drive.
            let is_drive = scheme.len() == 1 && has_drive(reference);
            return is_private(reference) || is_drive || is_assumed(reference);
        }
        // Browsers climb above such a segment, but the library that resolves does not.
        if has_drive(reference) {
            return true;
        }
        // The folder may have any name, so a path that returns by a name leads out.
        let path = without_query(reference).replace(['\t', '\n', '\r'], "");
        let path = names::decode(path.trim_start_matches(|letter| letter <= ' '));
        let is_from_root = path.first().is_some_and(|byte| b"/\\".contains(byte));
        if depth.is_some_and(|depth| is_from_root || climbs(&path, depth)) {
            return true;
        }
        // If a browser opens nothing, another reader may.
        let target = base.resolve(reference);
        let target = target.or_else(|_| self.own.0.resolve(reference));
        target.map_or(true, |target| is_outside(&target.url))
    }

    /// True if a style sheet in a `data:` URL leads out of the folder. Chromium resolves its references against the page, and
    /// ignores its media type in quirks mode, and the charset of a type that is not valid.
    fn sheet_leads_out(&self, url: &str, base: &DiskBase) -> bool {
        let (mut sheets, mut known) = (vec![(url.to_owned(), 0)], HashSet::new());
        while let Some((url, level)) = sheets.pop() {
            let Some((media_type, body)) = data_of(&url) else {
                continue;
            };
            // A sheet without an encoding has that of the page (CSS Syntax 3, 3.2).
            let mut charsets = vec![media_type.charset(), None];
            charsets.extend(other_encodings(&body, true));
            charsets.dedup();
            let links = charsets.into_iter().filter_map(|charset| {
                let mut options = ScanOptions {
                    charset,
                    ..ScanOptions::default()
                };
                options.groups.insert_loaded();
                scan_as(Format::Css, &body, &options).map(|sheet| sheet.links)
            });
            for link in links.flatten() {
                let is_inner = opaque_scheme(&link.reference).as_deref() == Some("data");
                if is_inner && level < NESTED {
                    if known.insert(link.reference.clone()) {
                        sheets.push((link.reference, level + 1));
                    }
                } else if is_inner || self.leads_out(&link.reference, base) {
                    return true;
                }
            }
        }
        false
    }
}

/// The base with this URL.
fn in_folder(url: &str) -> BaseInFolder {
    let below = url.strip_prefix(FOLDER);
    let depth = below.map(|below| below.matches('/').count());
    (Base::new(Resolver::Whatwg, url), depth)
}

/// True if relative references with this base lead neither to the disk nor to an assumed host.
pub fn is_on_network(base: &str) -> bool {
    has_opaque_scheme(base) && !is_private(base) && parses(base) && !is_assumed(base)
}

/// True if a path leads out of the folder from a place that is `depth` folders below it. `None` if it contains something that a
/// reader might decode.
fn leads_plainly_out(reference: &str, depth: usize) -> Option<bool> {
    let path = without_query(reference);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    if !path.bytes().all(is_plain) {
        return None;
    }
    Some(path.starts_with('/') || climbs(path.as_bytes(), depth))
}

/// True if a path leads above its start by more than `depth` folders.
pub fn climbs(path: &[u8], mut depth: usize) -> bool {
    path.split(|byte| b"/\\".contains(byte))
        .any(|name| match name {
            b"" | b"." => false,
            b".." => depth.checked_sub(1).map(|less| depth = less).is_none(),
            _ => {
                depth += 1;
                false
            }
        })
}

/// True if an absolute URL leads to the disk outside the folder, or has an assumed host.
fn is_outside(url: &str) -> bool {
    if !url.starts_with("file:") {
        return is_private(url) || is_assumed(url);
    }
    let Some(path) = url.strip_prefix(FOLDER) else {
        return true;
    };
    // Some programs decode `%2F` and `%5C` before they split a path.
    climbs(&names::decode(without_query(path)), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug 364: a path to a folder named as in [`FOLDER`] counted as inside.
    #[test]
    fn a_path_that_returns_by_a_name_leads_out() {
        let place = |path: &[u8]| {
            let collection = Collection::default();
            DiskPlace::new(
                &collection,
                path,
                (Words::of_links(b""), &Options::default()),
                "https",
            )
        };
        let page = place(b"sub/page.html");
        for (reference, expected) in [
            ("x", false),
            ("../x", false),
            ("../x/../y?/../../z", false),
            ("/x", true),
            ("../../x", true),
            ("/elsewhere/x", true),
            ("../../elsewhere/x", true),
            // Bug 709: `C|` stopped the climb.
            ("./C|/../../../x", true),
            ("x/c:/../../../../x", true),
            ("./C\t|/../../../x", true),
            ("\r./\tC:\\../../../x", true),
            ("./CC|/../x", false),
            // Bug 744: only plain paths were followed by their names, and only from the document itself.
            ("/elsewhere/\u{e9}", true),
            (" \t/elsewhere/%78", true),
            ("../../elsewhere/\u{e9}", true),
            ("../%2E\n./elsewhere/x", true),
            ("../\u{e9}/../x", false),
        ] {
            for base in [None, Some(DiskPlace::url("sub/"))] {
                let leads_out = page.leads_out(reference, &base);
                assert_eq!(leads_out, expected, "{reference}");
            }
        }
        assert!(place(b"C:/page.html").leads_out("../../\u{e9}", &None));
    }
}
