//! Links to the files that a browser saved with a page: they lead into a folder beside it, and to nothing on the
//! network.
//!
//! ```text
//! Notes.html           a page that a browser saved
//! Notes_files/a.css    a local copy, in the companion folder of the page
//! ```
//!
//! A relative reference whose first folder is a companion folder leads to a local copy. That is
//!
//! 1. in a page that says that a browser saved it ([`crate::scan::html::saved`]), a folder with a known
//!    [suffix](SUFFIXES), since the page may have another name by now, and the folder may be lost;
//! 2. in any page, a folder beside it that has the name of the page, without its extension, and a known suffix;
//! 3. in any page, a folder beside it with a known suffix, in which the names of all files end in `_` and the same four
//!    characters, as Firefox gives them: the page has another name by now.
//!
//! In a file of a companion folder a reference leads to a local copy where there is such a file. A name may be written as it
//! is, with `#`, `?` or what looks like an escape in it.
//!
//! ```
//! use baselink::{Options, Reason, rewrite};
//! let page = b"<!-- saved from url=(0022)http://a.example/x.html -->\n<img src=./x_files/a.png srcset=a.png>";
//! let report = rewrite(page, &Options::at("http://a.example/x.html")).report;
//! assert_eq!(report.links[0].reason, Some(Reason::LocalCopy));
//! assert_eq!(report.links[1].target.as_deref(), Some("http://a.example/a.png"));
//! ```
//!
//! Deliberately absent: files. [`Beside`] says which there are.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use super::beside::Beside;
use super::options::{LocalCopies, Options};
use crate::base::BaseChain;
use crate::diagnostic::{Code, Diagnostic};
use crate::document::Against;
use crate::reference::decode_percent_lossy;
use crate::span::Span;

/// How the names of companion folders end, in whatever case, after the name of the page.
///
/// Browsers and Word write them in the language of the program. Those up to `_fajlovi` stand in Microsoft's table
/// (`WebOptions.FolderSuffix`, <https://learn.microsoft.com/office/vba/api/word.weboptions.foldersuffix>), and German,
/// French, Dutch, Portuguese, Czech, Hungarian and Swedish ones in Mozilla's `contentAreaCommands.properties`. The
/// last two are said to have been seen.
pub const SUFFIXES: [&str; 24] = [
    "_files",
    ".files",
    "-Dateien",
    "_fichiers",
    "_archivos",
    "_bestanden",
    "_file",
    "-filer",
    "_ficheiros",
    "_arquivos",
    "_pliki",
    "_soubory",
    "_tiedostot",
    "_elemei",
    "_dosyalar",
    "_fitxategiak",
    "_fitxers",
    "_datoteke",
    "_failid",
    "_fails",
    "_bylos",
    "_fajlovi",
    "-files",
    "_filer",
];

/// What comes before a known suffix in the name of a folder; `None` where it has none, or nothing comes before it.
pub(crate) fn stem_of_companion(folder: &str) -> Option<&str> {
    let at = suffix_at(folder.as_bytes())?;
    Some(&folder[..at])
}

/// Where a known suffix begins in the name of a folder, after something else.
fn suffix_at(folder: &[u8]) -> Option<usize> {
    // Each begins with one of these, and has no other.
    let at = memchr::memrchr3(b'_', b'-', b'.', folder).filter(|&at| at > 0)?;
    let mut known = SUFFIXES.iter();
    known.any(|suffix| suffix.as_bytes().eq_ignore_ascii_case(&folder[at..])).then_some(at)
}

/// Why a document that [`is_copy`] has no retrieval URL.
pub(super) const WITHOUT_RETRIEVAL: &str =
    "it lies in a folder that a browser saved with a page: its own URL is not known";

/// True if the document lies in a companion folder.
pub(super) fn is_copy(options: &Options) -> bool {
    options.local_copies == LocalCopies::Keep
        && options.beside().is_some_and(Beside::is_in_companion)
}

/// Finds the links of one document that lead to local copies.
pub(super) struct Copies<'a> {
    /// True if the document says that a browser saved it with its files.
    is_saved_page: bool,
    beside: Option<&'a dyn Beside>,
    /// True if the document lies in a companion folder itself.
    is_inside: bool,
    /// Which folders there are, of those that were asked for.
    folders: RefCell<HashMap<String, bool>>,
    missing: RefCell<Option<MissingCopies>>,
}

/// Links to local copies in folders that are not there.
struct MissingCopies {
    links: usize,
    /// The place of the first one, and its folder.
    first: Span,
    folder: String,
}

impl<'a> Copies<'a> {
    /// For the document with the base of `chain`; `None` where no link of it is looked at.
    pub(super) fn of(chain: &BaseChain, options: &'a Options) -> Option<Self> {
        let is_saved_page = chain.was_saved_with_files;
        let beside = options.beside();
        let is_asked =
            options.local_copies == LocalCopies::Keep && (is_saved_page || beside.is_some());
        is_asked.then(|| Self {
            is_saved_page,
            beside,
            is_inside: beside.is_some_and(Beside::is_in_companion),
            folders: RefCell::default(),
            missing: RefCell::default(),
        })
    }

    /// True if a reference, as its bytes are, can lead to a local copy. It may hold character references and
    /// escapes of CSS.
    #[inline(always)]
    pub(super) fn may_hold(&self, raw: &[u8]) -> bool {
        match raw.first() {
            None | Some(b'#' | b'?' | b'/') => false,
            _ if raw.starts_with(b"../") && !self.is_saved_page && !self.is_inside => false,
            _ if self.is_saved_page || self.is_inside => true,
            _ => memchr::memchr(b'/', raw).is_some_and(|end| may_be_companion(raw, end)),
        }
    }

    /// True if `reference`, which is relative and resolved `against` that, leads to a local copy.
    pub(super) fn has(&self, reference: &str, against: &Against) -> bool {
        if !matches!(against, Against::Document | Against::DocumentEntity) {
            return false;
        }
        self.companion(reference).is_some() || self.is_copy_beside(reference)
    }

    /// The companion folder of the document into which `reference` leads, decoded.
    fn companion<'r>(&self, reference: &'r str) -> Option<Cow<'r, str>> {
        let (folder, is_of_browser) = first_folder(reference)?;
        let is_companion = |name: &str, is_any: bool| {
            stem_of_companion(name).is_some_and(|stem| {
                is_any
                    || self.beside.is_some_and(|beside| {
                        self.is_there(name, beside)
                            && (beside.stem() == stem || beside.is_companion(name))
                    })
            })
        };
        // Chromium writes the name of the folder as it is, be there a `#` in it, or what looks like an escape.
        let is_literal = || is_companion(folder, self.is_saved_page && is_of_browser);
        if file_of(folder) != folder {
            return is_literal().then_some(Cow::Borrowed(folder));
        }
        let decoded = decode_percent_lossy(folder);
        let is_there = |name| self.beside.is_some_and(|beside| self.is_there(name, beside));
        if decoded != folder && !is_there(&decoded) && is_literal() && is_there(folder) {
            return Some(Cow::Borrowed(folder));
        }
        is_companion(&decoded, self.is_saved_page).then_some(decoded)
    }

    /// A reference that leads where `reference` was meant to lead: Chromium writes the names of the companion folder and
    /// of the files in it as they are, so that `./Issue #12_files/x.css` and `./x_files/i#1.png` lead nowhere. `None` if
    /// `reference` leads there, or if nothing has such a name.
    pub(super) fn encoded(&self, reference: &str) -> Option<String> {
        let beside = self.beside?;
        let path = relative_path(reference);
        let dots = &reference[..reference.len() - path.len()];
        let encoded = match (first_folder(reference), self.companion(reference)) {
            (Some((folder, _)), Some(meant)) if self.is_there(&meant, beside) => {
                let file = &path[folder.len() + 1..];
                let is_misread = is_misread(folder) && meant == folder;
                let folder = if is_misread { encode(folder) } else { folder.to_owned() };
                let has_file = |file: &str| beside.has_file(&format!("{meant}/{file}"));
                let is_misread = is_misread_file(file, has_file);
                let file = if is_misread { encode(file) } else { file.to_owned() };
                format!("{folder}/{file}")
            }
            (_, None) if self.is_inside && is_misread_file(path, |file| beside.has_copy(file)) => {
                encode(path)
            }
            _ => return None,
        };
        (encoded != path).then(|| format!("{dots}{encoded}"))
    }

    /// True if `reference` leads, or was meant to lead, to a file in the companion folder in which the document lies
    /// itself.
    fn is_copy_beside(&self, reference: &str) -> bool {
        let Some(beside) = self.beside.filter(|_| self.is_inside) else { return false };
        let path = relative_path(reference);
        let file = file_of(path);
        let is_copy = |file: &str| beside.has_copy(file);
        !file.is_empty()
            && !path.starts_with('/')
            && (is_copy(&decode_percent_lossy(file)) || is_misread_file(path, is_copy))
    }

    fn is_there(&self, folder: &str, beside: &dyn Beside) -> bool {
        if let Some(is_there) = self.folders.borrow().get(folder) {
            return *is_there;
        }
        let is_there = beside.has_folder(folder);
        self.folders.borrow_mut().insert(folder.to_owned(), is_there);
        is_there
    }

    /// Takes in that `reference`, at `span`, leads to a local copy.
    pub(super) fn count(&self, reference: &str, span: Span) {
        let Some(beside) = self.beside else { return };
        let Some(folder) = self.companion(reference) else { return };
        if self.is_there(&folder, beside) {
            return;
        }
        let mut missing = self.missing.borrow_mut();
        let missing = missing.get_or_insert_with(|| MissingCopies {
            links: 0,
            first: span,
            folder: folder.clone().into_owned(),
        });
        missing.links += 1;
        if span.start < missing.first.start {
            (missing.first, missing.folder) = (span, folder.into_owned());
        }
    }

    /// Says how many links lead to folders that are not there.
    pub(super) fn missing(&self) -> Option<Diagnostic> {
        let missing = self.missing.take()?;
        let MissingCopies { links, first, folder } = missing;
        let lead = if links == 1 { "link leads" } else { "links lead" };
        let message = format!(
            "{links} {lead} to what a browser saved with the page, into the folder '{folder}', which is not \
             beside it"
        );
        Some(Diagnostic::new(Code::LocalCopiesMissing, first, message))
    }
}

/// True if the first name of a reference, which ends at `end`, may be that of a companion folder.
fn may_be_companion(raw: &[u8], end: usize) -> bool {
    match &raw[..end] {
        b".." => false,
        // Of several dots each would be looked at again.
        b"." if raw[2..].starts_with(b"./") => true,
        b"." => memchr::memchr(b'/', &raw[2..]).is_some_and(|end| may_be_companion(&raw[2..], end)),
        folder => {
            memchr::memchr3(b'%', b'&', b'\\', folder).is_some() || suffix_at(folder).is_some()
        }
    }
}

/// True if a name as it is written leads to a file or folder of another name.
fn is_misread(name: &str) -> bool {
    file_of(name) != name || decode_percent_lossy(name) != name
}

/// True if the path to a file is written as the file is called, and leads to no file in that way.
fn is_misread_file(path: &str, has_file: impl Fn(&str) -> bool) -> bool {
    is_misread(path) && has_file(path) && !has_file(&decode_percent_lossy(file_of(path)))
}

/// A path without its query and its fragment.
fn file_of(path: &str) -> &str {
    path.split(['?', '#']).next().unwrap_or_default()
}

/// A name that is written as it is, in a reference.
fn encode(name: &str) -> String {
    name.replace('%', "%25").replace('?', "%3F").replace('#', "%23")
}

/// A reference without the dots that it may begin with.
fn relative_path(reference: &str) -> &str {
    let mut path = reference;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    path
}

/// The first folder of a relative reference as it is written, and whether `./` comes before it, as Chromium writes
/// it.
fn first_folder(reference: &str) -> Option<(&str, bool)> {
    let path = relative_path(reference);
    let (folder, _) = path.split_once('/')?;
    (!folder.is_empty() && folder != "..").then_some((folder, path.len() < reference.len()))
}
