//! WACZ: a zip file with archives in the folder `archive` (Web Archive Collection Zipped 1.1.1, 4).
//!
//! Archives are read as streams, so memory does not grow with their decompressed size.
//!
//! ```
//! use baselink_cli::archive::Wacz;
//! let error = Wacz::open(std::io::Cursor::new(b"WARC/1.0")).err().unwrap();
//! assert_eq!(error.to_string(), "not a WACZ file: it is not a readable zip file");
//! ```
//!
//! Deliberately absent: indexes in the file, and encrypted entries.

use std::io::{Read, Seek, SeekFrom};

use serde::Deserialize;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use baselink_text::error::{Error, Result, cause, visible};

/// The folder of the archives.
const FOLDER: &str = "archive/";

/// The archives of a WACZ file.
#[derive(Debug)]
pub struct Wacz<R> {
    zip: ZipArchive<R>,
    /// The names of archives in the folder, and their indexes in the zip file.
    archives: Vec<(String, usize)>,
}

impl<R: Read + Seek> Wacz<R> {
    /// Opens the WACZ file in `reader`.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is not a zip file, contains no archives, or if these overlap, and errors of `reader`.
    pub fn open(mut reader: R) -> Result<Self> {
        let length = reader
            .seek(SeekFrom::End(0))
            .map_err(|error| Error::system(cause(&error), error))?;
        let mut zip = ZipArchive::new(reader).map_err(|error| match error {
            ZipError::Io(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
                Error::system(cause(&error), error)
            }
            _ => Error::new("not a WACZ file: it is not a readable zip file"),
        })?;
        let names = zip
            .file_names_raw()
            .map(String::from_utf8_lossy)
            .enumerate();
        let archives = names.filter_map(|(number, name)| {
            let name = name.strip_prefix(FOLDER)?;
            // An archive must be directly in the folder.
            let is_plain = !name.contains(['/', '\\']);
            let is_archive = [".warc", ".warc.gz"].iter().any(|end| name.ends_with(end));
            (is_plain && is_archive).then(|| (name.to_owned(), number))
        });
        let archives: Vec<_> = archives.collect();
        let sizes = archives.iter().map(|(_, number)| {
            let entry = zip.by_index_raw(*number);
            entry.map_or(0, |entry| entry.compressed_size())
        });
        if sizes.fold(0, u64::saturating_add) > length {
            let message = "its archives overlap, so that a small file has a very large content";
            return Err(Error::new(message));
        }
        if archives.is_empty() {
            let message = format!("not a WACZ file: it has no WARC file in its folder {FOLDER}");
            return Err(Error::new(message));
        }
        Ok(Self { zip, archives })
    }

    /// The file names of the archives, in file order and without folder.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.archives.iter().map(|(name, _)| name.as_str())
    }

    /// Opens the archive at index `at` of [`Wacz::names`].
    ///
    /// # Errors
    ///
    /// Returns an error if the archive is encrypted or compressed by an unsupported method, and errors of the
    /// reader.
    pub fn archive(&mut self, at: usize) -> Result<impl Read + '_> {
        let Some((name, number)) = self.archives.get(at) else {
            return Err(Error::new(format!("archive {at} does not exist")));
        };
        let name = visible(name);
        let why = match self.zip.by_index(*number) {
            Ok(file) if is_supported(file.compression()) => return Ok(file),
            Ok(file) => {
                format!(
                    "is compressed with {}, which is not supported",
                    file.compression()
                )
            }
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
}

/// A page that a WACZ file lists (WACZ 1.1.1, 5.2.2, `pages/*.jsonl`).
#[derive(Debug, Deserialize)]
pub struct WaczPage {
    /// The URL of the page.
    pub url: String,
    /// The title of the page.
    #[serde(default)]
    pub title: Option<String>,
}

/// The maximum number of bytes to read from a list of pages.
const LONGEST_LIST: u64 = 64 << 20;

impl<R: Read + Seek> Wacz<R> {
    /// The pages in the lists of the file. Pages in `pages.jsonl`, the starting points of the crawl, come first.
    /// Invalid lines are skipped.
    pub fn pages(&mut self) -> Vec<WaczPage> {
        let names = self
            .zip
            .file_names_raw()
            .map(String::from_utf8_lossy)
            .zip(0..);
        let lists =
            names.filter(|(name, _)| name.starts_with("pages/") && name.ends_with(".jsonl"));
        let mut lists: Vec<(bool, String, usize)> = lists
            .map(|(name, number)| (name != "pages/pages.jsonl", name.into_owned(), number))
            .collect();
        lists.sort();
        let mut pages = Vec::new();
        for (_, _, number) in lists {
            let Ok(list) = self.zip.by_index(number) else {
                continue;
            };
            let mut text = Vec::new();
            // The readable part of a damaged list counts.
            let _ = list.take(LONGEST_LIST).read_to_end(&mut text);
            let lines = text.split(|&byte| byte == b'\n');
            pages.extend(lines.filter_map(|line| serde_json::from_slice(line).ok()));
        }
        pages
    }
}

/// True if the compression method is supported.
fn is_supported(method: CompressionMethod) -> bool {
    matches!(
        method,
        CompressionMethod::Stored | CompressionMethod::Deflated
    )
}
