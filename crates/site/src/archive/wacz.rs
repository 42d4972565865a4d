//! WACZ: a zip file with archives in the folder `archive` (Web Archive Collection Zipped 1.1.1, 4).
//!
//! Archives are read as streams, so memory does not grow with their decompressed size. The folder may be in another,
//! and was called `warcs` in version 0.1. A file of several WACZ files, as Browsertrix writes it, is read one level deep. These
//! are in memory if they are compressed themselves.
//!
//! ```
//! use baselink_site::archive::Wacz;
//! let error = Wacz::open(std::io::Cursor::new(b"WARC/1.0")).err().unwrap();
//! assert_eq!(error.to_string(), "not a WACZ file: it is not a readable zip file, or its end is missing");
//! ```
//!
//! Deliberately absent: indexes in the file, and encrypted entries.

use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom};

use baselink_text::{Error, Result, cause, layer::transfer::longest_of, visible};
use serde::Deserialize;
use zip::{CompressionMethod, ZipArchive, result::ZipError};

/// The archives of a WACZ file.
pub struct Wacz<R> {
    zip: ZipArchive<R>,
    /// The length of the file.
    pub(super) length: u64,
    /// The names of archives in the folder, and their indexes in the zip file.
    archives: Vec<(String, usize)>,
    /// The names of WACZ files in this one, and their indexes.
    inner: Vec<(String, usize)>,
    /// The lists of pages, in order: false for those called `pages.jsonl`, their names and indexes.
    lists: Vec<(bool, String, usize)>,
}

impl<R: Read + Seek> Wacz<R> {
    /// Opens the WACZ file in `reader`.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is not a zip file, contains no archives, or if files in it overlap, and errors of `reader`.
    pub fn open(mut reader: R) -> Result<Self> {
        let length = reader
            .seek(SeekFrom::End(0))
            .map_err(|error| Error::system(cause(&error), error))?;
        let mut zip = ZipArchive::new(reader).map_err(|error| match error {
            ZipError::Io(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
                Error::system(cause(&error), error)
            }
            _ => {
                Error::new("not a WACZ file: it is not a readable zip file, or its end is missing")
            }
        })?;
        let (mut archives, mut inner, mut lists) = (Vec::new(), Vec::new(), Vec::new());
        let names = zip.file_names_raw().map(String::from_utf8_lossy);
        for (number, name) in names.enumerate() {
            if is_archive_in_wacz(&name) {
                archives.push((name.into_owned(), number));
            } else if ends_with(&name, ".wacz") {
                inner.push((name.into_owned(), number));
            } else if name.contains("pages") && name.ends_with(".jsonl") {
                let is_other = !name.ends_with("/pages.jsonl");
                lists.push((is_other, name.into_owned(), number));
            }
        }
        if archives.is_empty() && inner.is_empty() {
            return Err(Error::new(WITHOUT_ARCHIVES));
        }
        require_apart(&mut zip, length)?;
        lists.sort();
        Ok(Self {
            zip,
            length,
            archives,
            inner,
            lists,
        })
    }

    /// Calls `visit` with the name and the bytes of each archive, also of those in the WACZ files in this one, or with
    /// the reason why it cannot be opened.
    ///
    /// # Errors
    ///
    /// Returns the first error of `visit`.
    pub fn each<E>(
        &mut self,
        mut visit: impl FnMut(&str, Result<&mut dyn Read>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_own("", &mut visit)?;
        for at in 0..self.inner.len() {
            let name = self.inner[at].0.clone();
            match self.inner(at) {
                Ok(mut inner) => inner.each_own(&format!("{name}/"), &mut visit)?,
                Err(error) => visit(&name, Err(error))?,
            }
        }
        Ok(())
    }

    fn each_own<E>(
        &mut self,
        folder: &str,
        visit: &mut impl FnMut(&str, Result<&mut dyn Read>) -> Result<(), E>,
    ) -> Result<(), E> {
        for at in 0..self.archives.len() {
            let name = format!("{folder}{}", self.archives[at].0);
            match self.archive(at) {
                Ok(mut archive) => visit(&name, Ok(&mut archive))?,
                Err(error) => visit(&name, Err(error))?,
            }
        }
        Ok(())
    }

    /// Opens the WACZ file at index `at` of those in this one, if it contains archives itself.
    fn inner(&mut self, at: usize) -> Result<Wacz<Box<dyn Seekable + '_>>> {
        let (name, number) = &self.inner[at];
        let failed = |why: &str| Error::new(format!("{}: {why}", visible(name)));
        let mut inflated = Vec::new();
        if let Ok(file) = self.zip.by_index(*number)
            && file.compression() == CompressionMethod::Deflated
        {
            let most = file.compressed_size().saturating_mul(INNER_GROWTH);
            // Without its end, it cannot be opened.
            let _ = file
                .take(most.min(LONGEST_INNER))
                .read_to_end(&mut inflated);
        }
        let file: Box<dyn Seekable + '_> = if inflated.is_empty() {
            let file = self.zip.by_index_seek(*number);
            Box::new(file.map_err(|_| failed("encrypted, or not deflated; unpack it first"))?)
        } else {
            Box::new(Cursor::new(inflated))
        };
        match Wacz::open(file) {
            Ok(inner) if inner.archives.is_empty() => Err(failed(WITHOUT_ARCHIVES)),
            opened => opened.map_err(|error| failed(&error.to_string())),
        }
    }

    /// Opens the archive at index `at`.
    ///
    /// # Errors
    ///
    /// Returns an error if the archive is encrypted or compressed by an unsupported method, and errors of the
    /// reader.
    fn archive(&mut self, at: usize) -> Result<impl Read + '_> {
        let (name, number) = &self.archives[at];
        let name = visible(name);
        let why = match self.zip.by_index(*number) {
            Ok(file) => match file.compression() {
                CompressionMethod::Deflated if !ends_with(&self.archives[at].0, ".warc") => {
                    let longest = file.compressed_size().saturating_mul(4).max(1 << 20);
                    return Ok(file.take(longest));
                }
                CompressionMethod::Stored | CompressionMethod::Deflated => {
                    return Ok(file.take(u64::MAX));
                }
                other => format!("is compressed with {other}, which is not supported"),
            },
            Err(ZipError::Io(error)) => {
                return Err(Error::system(format!("{name}: {}", cause(&error)), error));
            }
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                "is encrypted and cannot be read".to_owned()
            }
            Err(error) => format!("cannot be read: {error}"),
        };
        Err(Error::new(format!("{name} {why}")))
    }

    /// Calls `visit` with the pages in the lists of the file and of the WACZ files in it. Pages in `pages.jsonl`, the starting
    /// points of the crawl, come first. Invalid lines are skipped, and so is the rest of very long lists. Returns true if each
    /// of these files that has archives lists a page.
    pub fn each_page(&mut self, mut visit: impl FnMut(WaczPage)) -> bool {
        let mut left = longest_of(self.length);
        let mut are_listed = self.each_own_page(&mut left, &mut visit) || self.archives.is_empty();
        for at in 0..self.inner.len() {
            let inner = self.inner(at);
            are_listed &= inner.is_ok_and(|mut inner| inner.each_own_page(&mut left, &mut visit));
        }
        are_listed
    }

    /// Like [`each_page`](Self::each_page), without the WACZ files in this one. At most `left` bytes are read. Returns true if a
    /// page is listed.
    fn each_own_page(&mut self, left: &mut u64, visit: &mut impl FnMut(WaczPage)) -> bool {
        let mut is_listed = false;
        for (.., number) in &self.lists {
            let Ok(list) = self.zip.by_index(*number) else {
                continue;
            };
            let mut list = BufReader::new(list.take(*left));
            let mut line = Vec::new();
            // The readable part of a damaged list counts. The parts of a very long line are not JSON.
            while let Ok(1..) = (&mut list).take(LONGEST_LINE).read_until(b'\n', &mut line) {
                if let Ok(page) = serde_json::from_slice(&line) {
                    visit(page);
                    is_listed = true;
                }
                line.clear();
            }
            *left = list.into_inner().limit();
        }
        is_listed
    }
}

/// The bytes of a WACZ file in another.
trait Seekable: Read + Seek {}

impl<R: Read + Seek> Seekable for R {}

/// The maximum size of a compressed WACZ file in another, in bytes, and its maximum ratio to the compressed size. The archives in
/// it are usually compressed, so that it hardly shrinks.
const LONGEST_INNER: u64 = 256 << 20;
const INNER_GROWTH: u64 = 64;

/// A page that a WACZ file lists (WACZ 1.1.1, 5.2.2, `pages/*.jsonl`).
#[derive(Deserialize)]
pub struct WaczPage {
    /// The URL of the page.
    pub url: String,
    /// The title of the page.
    pub title: Option<String>,
}

/// The maximum length of a line in a list of pages.
const LONGEST_LINE: u64 = 4 << 20;

const WITHOUT_ARCHIVES: &str = "not a WACZ file: it has no WARC file in its folder archive/";

/// Returns an error if files in `zip`, which is `length` bytes long, overlap.
pub fn require_apart<R: Read + Seek>(zip: &mut ZipArchive<R>, length: u64) -> Result<()> {
    let sizes = (0..zip.len()).map(|number| {
        let entry = zip.by_index_raw(number);
        entry.map_or(0, |entry| entry.compressed_size())
    });
    if sizes.fold(0, u64::saturating_add) > length {
        let message = "its files overlap, so that a small file has a very large content";
        return Err(Error::new(message));
    }
    Ok(())
}

/// True if `name`, a path with slashes, is that of an archive directly in the folder for archives.
pub fn is_archive_in_wacz(name: &str) -> bool {
    let mut names = name.rsplit('/');
    let own = names.next().unwrap_or_default();
    let is_named = [".warc", ".warc.gz", ".warc.zst"]
        .iter()
        .any(|end| ends_with(own, end));
    is_named && !own.contains('\\') && matches!(names.next(), Some("archive" | "warcs"))
}

/// True if `name` ends with `end`, whatever its case.
fn ends_with(name: &str, end: &str) -> bool {
    name.to_ascii_lowercase().ends_with(end)
}
