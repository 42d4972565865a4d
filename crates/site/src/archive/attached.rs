//! The bodies that an HTTP archive names instead of containing them: `content._file`, as Playwright writes it.
//!
//! ```text
//! x.har  {"_file": "19d5….css"}   -->   19d5….css beside it
//! x.zip, which contains har.har   -->   19d5….css in it
//! ```
//!
//! Deliberately absent: files outside the folder of the archive, and symbolic links.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, ErrorKind, Read, Seek},
    path::{Component, Path, PathBuf},
};

use baselink_text::{Error, Result, cause, layer::transfer::longest_of};
use zip::{ZipArchive, result::ZipError};

use super::wacz::require_apart;
use baselink_files::{folder_of, walk::open_below};

/// The bodies that an HTTP archive names. A file may be the body of many entries, because Playwright names bodies by their
/// digests, but a small file must not become many large ones.
pub struct Attached {
    place: BodyPlace,
    /// The paths of the files that were read, in lower case, with their lengths.
    read: HashMap<PathBuf, u64>,
    /// The sum of their lengths.
    length: u64,
    /// The sum of the lengths of the bodies in files that were read before: at most 16 times the length of the files, or 1 MiB if
    /// that is more.
    repeated: u64,
}

/// The place of the bodies that an HTTP archive names.
enum BodyPlace {
    /// The folder of the archive; `None` for standard input, which has no folder.
    Folder(Option<PathBuf>),
    /// The ZIP file in which the archive is, which is compressed, and its length.
    Zip(Box<ZipArchive<File>>, u64),
}

impl Attached {
    /// The bodies of the archive `path`; `-` is standard input.
    pub fn beside(path: &Path) -> Self {
        let folder = (path != Path::new("-")).then(|| folder_of(path).to_owned());
        Self::at(BodyPlace::Folder(folder))
    }

    fn at(place: BodyPlace) -> Self {
        Self {
            place,
            read: HashMap::new(),
            length: 0,
            repeated: 0,
        }
    }

    /// Opens the ZIP file `file`. Returns the bytes of the HTTP archive in it, and its bodies.
    ///
    /// # Errors
    ///
    /// Returns an error if `file` is not a ZIP file, if its files overlap, or if the archive in it cannot be read.
    pub fn in_zip(file: File) -> Result<(Vec<u8>, Self)> {
        let failed =
            |error: ZipError| Error::new(format!("the HTTP archive in it cannot be read: {error}"));
        let length = file.metadata().map_err(|error| failed(error.into()))?.len();
        let mut zip = ZipArchive::new(file).map_err(failed)?;
        require_apart(&mut zip, length)?;
        let name = har_name(&zip).unwrap_or_default();
        let bytes = inflated(&mut zip, &name).map_err(|error| failed(error.into()))?;
        Ok((bytes, Self::at(BodyPlace::Zip(Box::new(zip), length))))
    }

    /// Reads the body in the file `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if `name` leads out of the folder, if its file does not exist or cannot be read, or if files are named
    /// too often.
    pub(super) fn read(&mut self, name: &str) -> Result<Vec<u8>> {
        let of_files = match self.place {
            BodyPlace::Zip(_, length) => length,
            BodyPlace::Folder(_) => self.length,
        };
        // A system may ignore the case of names.
        let lower = name.to_lowercase();
        let parts = Path::new(&lower).components();
        let path: PathBuf = parts.filter(|part| *part != Component::CurDir).collect();
        let known = self.read.get(&path).copied();
        let repeated = known.map_or(0, |length| self.repeated.saturating_add(length));
        if repeated > of_files.saturating_mul(16).max(1 << 20) {
            return Err(Error::new("the archive names its files too often"));
        }
        let read = match &mut self.place {
            BodyPlace::Folder(None) => return Err(Error::new("standard input has no folder")),
            BodyPlace::Folder(Some(folder)) => {
                let mut bytes = Vec::new();
                open_below(folder, Path::new(name))
                    .and_then(|mut file| file.read_to_end(&mut bytes))
                    .map(|_| bytes)
            }
            BodyPlace::Zip(zip, _) => inflated(zip, name),
        };
        let bytes = read.map_err(|error| match error.kind() {
            ErrorKind::InvalidInput => {
                Error::new("it is not a file below the folder of the archive")
            }
            kind => {
                // A damaged file may have been inflated to its end, and is not read again.
                if kind != ErrorKind::NotFound {
                    self.read.insert(path.clone(), u64::MAX);
                }
                Error::new(cause(&error))
            }
        })?;
        let length = bytes.len() as u64;
        if known.is_some() {
            self.repeated += length;
        } else {
            self.length += length;
            self.read.insert(path, length);
        }
        Ok(bytes)
    }
}

/// Decompresses the file `name` in `zip`.
fn inflated(zip: &mut ZipArchive<File>, name: &str) -> io::Result<Vec<u8>> {
    let file = zip.by_name(name)?;
    let (length, mut bytes) = (file.compressed_size(), Vec::new());
    inflate(file, length, &mut bytes).map(|()| bytes)
}

/// Reads the decompressed data of `reader`, which are `compressed` bytes long in the file.
///
/// # Errors
///
/// Returns an error of the kind `FileTooLarge` if the data are too long, and those of `reader`. `bytes` has the data before it.
pub fn inflate(reader: impl Read, compressed: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let longest = longest_of(compressed);
    reader.take(longest + 1).read_to_end(bytes)?;
    if bytes.len() as u64 > longest {
        let why = "it inflates to more than 256 times its length";
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(())
}

/// True if the ZIP file `file` contains an HTTP archive.
pub fn has_har(file: impl Read + Seek) -> bool {
    ZipArchive::new(file).is_ok_and(|zip| har_name(&zip).is_some())
}

/// The name of the first HTTP archive in `zip`, as Playwright finds it.
fn har_name<R: Read + Seek>(zip: &ZipArchive<R>) -> Option<String> {
    let mut names = zip.file_names().flatten();
    names
        .find(|name| name.ends_with(".har"))
        .map(|name| name.into_owned())
}
