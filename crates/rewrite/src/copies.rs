//! Links to the files that a browser saved with a page. They lead into the companion folder of the page, not to
//! the network.
//!
//! ```text
//! Notes.html           a page that a browser saved
//! Notes_files/a.css    a local copy, in the companion folder of the page
//! ```
//!
//! A relative reference whose first folder is a companion folder leads to a local copy. Companion folders are:
//!
//! 1. in a page that records that a browser saved it ([`baselink_scan::html::saved`]), a folder with a known
//!    [suffix](SUFFIXES): the page may have been renamed, and the folder may be missing;
//! 2. in any page, a folder next to it with the name of the page, without its extension, and a known suffix;
//! 3. in any page, a folder next to it with a known suffix, if the names of all files in it, without their extensions,
//!    end in `_` and the same four characters, which must look random. Firefox names files so, and the page may have
//!    been renamed.
//!
//! In a document inside a companion folder, a reference leads to a local copy if the folder contains the file that it
//! names. A reference may contain a file name unencoded, with `#`, `?` or what looks like a percent-escape in it.
//!
//! ```
//! use baselink_rewrite::{Options, report::Reason, rewrite};
//! let page = b"<!-- saved from url=(0022)http://a.example/x.html -->\n<img src=./x_files/a.png srcset=a.png>";
//! let report = rewrite(page, &Options::at("http://a.example/x.html")).report;
//! assert_eq!(report.links[0].reason, Some(Reason::LocalCopy));
//! assert_eq!(report.links[1].target.as_deref(), Some("http://a.example/a.png"));
//! ```
//!
//! Deliberately absent: file access. [`NearbyFiles`] reports which files exist.

use std::{borrow::Cow, cell::RefCell, collections::HashMap};

use baselink_scan::Against;
use baselink_text::{Code, Diagnostic, Span, count};
use baselink_url::{decode_percent_lossy, reference::without_query};

use super::{
    beside::NearbyFiles,
    options::{LocalCopies, Options},
};
use crate::base::BaseChain;

/// The suffixes that browsers and Word append to the name of a page to name its companion folder. Case is ignored.
///
/// The suffix depends on the language of the program. Those up to `_fajlovi` are from Microsoft's table
/// (`WebOptions.FolderSuffix`, <https://learn.microsoft.com/office/vba/api/word.weboptions.foldersuffix>). The
/// German, French, Dutch, Portuguese, Czech, Hungarian and Swedish ones are also in Mozilla's
/// `contentAreaCommands.properties`. The last two come from reports of users.
pub const SUFFIXES: &str = "\
    _files .files -Dateien _fichiers _archivos _bestanden _file -filer _ficheiros _arquivos _pliki _soubory \
    _tiedostot _elemei _dosyalar _fitxategiak _fitxers _datoteke _failid _fails _bylos _fajlovi -files _filer";

/// The name of a folder up to its known suffix; `None` if it has no such suffix or nothing comes before it.
pub fn stem_of_companion(folder: &str) -> Option<&str> {
    let at = suffix_at(folder.as_bytes())?;
    Some(&folder[..at])
}

/// The offset of a known suffix in the name of a folder; `None` if there is none, or if the name is only the suffix.
fn suffix_at(folder: &[u8]) -> Option<usize> {
    // Every suffix begins with one of these bytes and contains no other of them.
    let at = memchr::memrchr3(b'_', b'-', b'.', folder).filter(|&at| at > 0)?;
    let mut known = SUFFIXES.split(' ');
    known
        .any(|suffix| suffix.as_bytes().eq_ignore_ascii_case(&folder[at..]))
        .then_some(at)
}

/// The reason why a document in a companion folder has no retrieval URL.
pub(super) const WITHOUT_RETRIEVAL: &str =
    "it is in a folder that a browser saved with a page, and its own URL is unknown";

/// True if the document is in a companion folder, and links to local copies are kept.
pub(super) fn is_copy(options: &Options) -> bool {
    options.local_copies == LocalCopies::Keep
        && options.beside().is_some_and(NearbyFiles::is_in_companion)
}

/// Finds the links of one document that lead to local copies.
pub(super) struct Copies<'a> {
    /// True if the document says that a browser saved it with its files.
    is_saved_page: bool,
    beside: Option<&'a dyn NearbyFiles>,
    /// True if the document itself is in a companion folder.
    is_inside: bool,
    /// The folders that were looked up, each with `true` if it exists.
    folders: RefCell<HashMap<String, bool>>,
    missing: RefCell<Option<MissingCopies>>,
}

/// The links to local copies in folders that do not exist.
struct MissingCopies {
    links: usize,
    /// The place of the first link, and the folder it names.
    first: Span,
    folder: String,
}

impl<'a> Copies<'a> {
    /// The finder for the document with the base of `chain`; `None` if no link of the document can lead to a local
    /// copy.
    pub(super) fn of(chain: &BaseChain, options: &'a Options) -> Option<Self> {
        let is_saved_page = chain.was_saved_with_files;
        let beside = options.beside();
        let is_possible =
            options.local_copies == LocalCopies::Keep && (is_saved_page || beside.is_some());
        is_possible.then(|| Self {
            is_saved_page,
            beside,
            is_inside: beside.is_some_and(NearbyFiles::is_in_companion),
            folders: RefCell::default(),
            missing: RefCell::default(),
        })
    }

    /// True if a reference with the bytes `raw` can lead to a local copy. `raw` may contain character references
    /// and CSS escapes.
    #[inline(always)]
    pub(super) fn may_be_copy(&self, raw: &[u8]) -> bool {
        match raw.first() {
            None | Some(b'#' | b'?' | b'/') => false,
            _ if raw.starts_with(b"../") && !self.is_saved_page && !self.is_inside => false,
            _ if self.is_saved_page || self.is_inside => true,
            _ => memchr::memchr(b'/', raw).is_some_and(|end| may_be_companion(raw, end)),
        }
    }

    /// True if the relative reference `reference`, resolved against `against`, leads to a local copy.
    pub(super) fn has(&self, reference: &str, against: &Against) -> bool {
        if !matches!(against, Against::Document | Against::DocumentEntity) {
            return false;
        }
        self.companion(reference).is_some() || self.is_copy_beside(reference)
    }

    /// The name of the companion folder into which `reference` leads.
    fn companion<'r>(&self, reference: &'r str) -> Option<Cow<'r, str>> {
        let (folder, is_of_browser) = first_folder(reference)?;
        let is_beside = |name: &str| {
            let beside = self.beside.filter(|_| self.has_folder(name));
            beside.is_some_and(|beside| beside.is_companion(name))
        };
        let is_companion = |name: &str, is_any: bool| {
            stem_of_companion(name).is_some() && (is_any || is_beside(name))
        };
        // Chromium writes the name of the folder unencoded, even if it contains a `#` or looks like an escape.
        let is_literal = || is_companion(folder, self.is_saved_page && is_of_browser);
        if without_query(folder) != folder {
            return is_literal().then_some(Cow::Borrowed(folder));
        }
        let decoded = decode_percent_lossy(folder);
        let is_misspelt = decoded != folder && !self.has_folder(&decoded);
        if is_misspelt && is_literal() && self.has_folder(folder) {
            return Some(Cow::Borrowed(folder));
        }
        is_companion(&decoded, self.is_saved_page).then_some(decoded)
    }

    /// The reference, encoded so that it leads to the intended file. Chromium does not encode the names of the
    /// companion folder and its files, so `./Issue #12_files/x.css` and `./x_files/i#1.png` are broken. `None` if
    /// `reference` works, or if the intended file does not exist.
    pub(super) fn encoded(&self, reference: &str) -> Option<String> {
        let beside = self.beside?;
        let path = relative_path(reference);
        let dots = &reference[..reference.len() - path.len()];
        let encoded = match (first_folder(reference), self.companion(reference)) {
            (Some((folder, _)), Some(name)) if self.has_folder(&name) => {
                let file = &path[folder.len() + 1..];
                let is_misread = is_misread(folder) && name == folder;
                let folder = if is_misread {
                    encode(folder)
                } else {
                    folder.to_owned()
                };
                let is_misread =
                    is_misread_file(file, |file| beside.has_file(&format!("{name}/{file}")));
                let file = if is_misread {
                    encode(file)
                } else {
                    file.to_owned()
                };
                format!("{folder}/{file}")
            }
            (_, None) if self.is_inside && is_misread_file(path, |file| beside.has_copy(file)) => {
                encode(path)
            }
            _ => return None,
        };
        (encoded != path).then(|| format!("{dots}{encoded}"))
    }

    /// True if `reference` leads, or was meant to lead, to a file in the companion folder that contains the
    /// document.
    fn is_copy_beside(&self, reference: &str) -> bool {
        let Some(beside) = self.beside.filter(|_| self.is_inside) else {
            return false;
        };
        let path = relative_path(reference);
        let file = without_query(path);
        let is_copy = |file: &str| beside.has_copy(file);
        !file.is_empty()
            && !path.starts_with('/')
            && (is_copy(&decode_percent_lossy(file)) || is_misread_file(path, is_copy))
    }

    fn has_folder(&self, folder: &str) -> bool {
        let Some(beside) = self.beside else {
            return false;
        };
        if let Some(exists) = self.folders.borrow().get(folder) {
            return *exists;
        }
        let exists = beside.has_folder(folder);
        self.folders.borrow_mut().insert(folder.to_owned(), exists);
        exists
    }

    /// Counts the link `reference` at `span` if it leads into a companion folder that does not exist.
    pub(super) fn count(&self, reference: &str, span: Span) {
        let Some(folder) = self.companion(reference) else {
            return;
        };
        if self.beside.is_none() || self.has_folder(&folder) {
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

    /// Reports how many links lead into folders that do not exist.
    pub(super) fn missing(&self) -> Option<Diagnostic> {
        let missing = self.missing.take()?;
        let MissingCopies {
            links,
            first,
            folder,
        } = missing;
        let links = count(links, "link leads", "links lead");
        let message = format!(
            "{links} to files that a browser saved with the page, but their folder '{folder}' is not next to it"
        );
        Some(Diagnostic::new(Code::LocalCopiesMissing, first, message))
    }
}

/// True if the first name of a reference, which ends at `end`, may name a companion folder.
fn may_be_companion(raw: &[u8], end: usize) -> bool {
    match &raw[..end] {
        b".." => false,
        // After a second `./`, the result is always true: a search after each `./` would take quadratic time.
        b"." if raw[2..].starts_with(b"./") => true,
        b"." => memchr::memchr(b'/', &raw[2..]).is_some_and(|end| may_be_companion(&raw[2..], end)),
        folder => {
            memchr::memchr3(b'%', b'&', b'\\', folder).is_some() || suffix_at(folder).is_some()
        }
    }
}

/// True if a name, read as part of a URL, leads to a file or folder of another name.
fn is_misread(name: &str) -> bool {
    without_query(name) != name || decode_percent_lossy(name) != name
}

/// True if the path to a file is written unencoded, and therefore does not lead to the file.
fn is_misread_file(path: &str, has_file: impl Fn(&str) -> bool) -> bool {
    is_misread(path) && has_file(path) && !has_file(&decode_percent_lossy(without_query(path)))
}

/// Percent-encodes a file name for a reference.
fn encode(name: &str) -> String {
    name.replace('%', "%25")
        .replace('?', "%3F")
        .replace('#', "%23")
}

/// A reference without the `./` that it may begin with.
fn relative_path(reference: &str) -> &str {
    let mut path = reference;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    path
}

/// The first folder of a relative reference as written, and true if `./` comes before it, as in Chromium's
/// references.
fn first_folder(reference: &str) -> Option<(&str, bool)> {
    let path = relative_path(reference);
    let (folder, _) = path.split_once('/')?;
    (!folder.is_empty() && folder != "..").then_some((folder, path.len() < reference.len()))
}
