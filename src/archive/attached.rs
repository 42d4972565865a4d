//! The bodies that an HTTP archive names instead of containing them: `content._file`, as Playwright writes it.
//!
//! ```text
//! x.har  {"_file": "19d5….css"}   -->   19d5….css beside it
//! x.zip, which contains har.har   -->   19d5….css in it
//! ```
//!
//! Deliberately absent: files outside the folder of the archive, and symbolic links.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipResult;

use crate::files::folder_of;
use crate::files::walk::open_below;
use baselink_text::error::{Error, Result, cause};

/// The place of the bodies that an HTTP archive names.
#[derive(Debug)]
pub enum Attached {
    /// The archive comes from standard input, which has no folder.
    Absent,
    /// The folder of the archive.
    Folder(PathBuf),
    /// The ZIP file in which the archive is.
    Zip(Box<ZipArchive<File>>),
}

impl Attached {
    /// The place of the bodies of the archive `path`; `-` is standard input.
    pub fn beside(path: &Path) -> Self {
        if path == Path::new("-") {
            Self::Absent
        } else {
            Self::Folder(folder_of(path).to_owned())
        }
    }

    /// Opens the ZIP file `file`. Returns the bytes of the HTTP archive in it, and the place of its bodies.
    ///
    /// # Errors
    ///
    /// Returns an error if `file` is not a ZIP file, or if the archive in it cannot be read.
    pub fn in_zip(file: File) -> Result<(Vec<u8>, Self)> {
        let read = || -> ZipResult<_> {
            let mut zip = ZipArchive::new(file)?;
            let name = har_name(&zip).unwrap_or_default();
            let mut bytes = Vec::new();
            zip.by_name(&name)?.read_to_end(&mut bytes)?;
            Ok((bytes, Self::Zip(Box::new(zip))))
        };
        read()
            .map_err(|error| Error::new(format!("the HTTP archive in it cannot be read: {error}")))
    }

    /// Reads the body in the file `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if `name` leads out of the folder, or if its file does not exist or cannot be read.
    pub(super) fn read(&mut self, name: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = match self {
            Self::Absent => return Err(Error::new("standard input has no folder")),
            Self::Folder(folder) => open_below(folder, Path::new(name))
                .and_then(|mut file| file.read_to_end(&mut bytes)),
            Self::Zip(zip) => match zip.by_name(name) {
                Ok(mut file) => file.read_to_end(&mut bytes),
                Err(error) => Err(error.into()),
            },
        };
        match read {
            Ok(_) => Ok(bytes),
            Err(error) if error.kind() == ErrorKind::InvalidInput => Err(Error::new(
                "it is not a file below the folder of the archive",
            )),
            Err(error) => Err(Error::new(cause(&error))),
        }
    }
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
