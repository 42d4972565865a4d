//! A file replaced whole or not at all.
//!
//! ```text
//! out.html:  old bytes  --rename-->  new bytes     never anything between the two
//! ```
//!
//! The new bytes go to a temporary file beside the target, which then takes the target's name, so
//! the target may be the very file that was read. Hard links to the old file keep the old bytes.
//!
//! Deliberately absent: following symbolic links. Where one leads is easily not what was meant.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use baselink::error::{Error, Result};
use tempfile::NamedTempFile;

use super::input::{cause, name};

/// New contents of a file, which has its old ones until [`Replacement::commit`].
pub(crate) struct Replacement<'a> {
    path: &'a Path,
    out: Out,
}

enum Out {
    /// To be renamed.
    Temporary(BufWriter<NamedTempFile>),
    /// A device or a pipe: it has no bytes that could be lost, and must not become a file.
    Device(BufWriter<File>),
}

impl<'a> Replacement<'a> {
    /// Begins to write what is to be at `path`.
    pub(crate) fn begin(path: &'a Path) -> Result<Self> {
        let refused = |why: &str| Err(Error::new(format!("{}: {why}", name(path))));
        let old = match fs::symlink_metadata(path) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(not_written(path, &error)),
        };
        let out = match &old {
            Some(old) if old.is_symlink() => {
                let target = fs::read_link(path).map(|target| name(&target)).unwrap_or_default();
                return refused(&format!(
                    "a symbolic link, which is not written through; name {target} itself"
                ));
            }
            Some(old) if old.is_dir() => {
                return refused("a directory; directories come with a later version; name a file");
            }
            Some(old) if old.is_file() && old.permissions().readonly() => {
                return refused("the file is read-only");
            }
            Some(old) if !old.is_file() => OpenOptions::new()
                .write(true)
                .open(path)
                .map(|device| Out::Device(BufWriter::new(device))),
            old => temporary(path, old.as_ref())
                .map(|temporary| Out::Temporary(BufWriter::new(temporary))),
        };
        match out {
            Ok(out) => Ok(Self { path, out }),
            Err(error) => {
                let folder = folder_of(path);
                if error.kind() == ErrorKind::NotFound && !folder.is_dir() {
                    let (file, folder) = (name(path), name(folder));
                    let why = format!("{file} was not written: there is no folder {folder}");
                    return Err(Error::new(why));
                }
                Err(not_written(path, &error))
            }
        }
    }

    /// Adds what `write` writes.
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        match &mut self.out {
            Out::Temporary(out) => write(out),
            Out::Device(out) => write(out),
        }
        .map_err(|error| not_written(self.path, &error))
    }

    /// Gives the file its new contents.
    pub(crate) fn commit(self) -> Result<()> {
        let path = self.path;
        let renamed = |out: BufWriter<NamedTempFile>| {
            let temporary = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            // Before the name: a crash of the machine must not leave an empty file under it.
            temporary.as_file().sync_all()?;
            temporary.persist(path).map(drop).map_err(|error| error.error)
        };
        match self.out {
            Out::Temporary(out) => renamed(out),
            Out::Device(mut out) => out.flush(),
        }
        .map_err(|error| not_written(path, &error))
    }
}

fn not_written(path: &Path, error: &io::Error) -> Error {
    Error::new(format!("{} was not written: {}", name(path), cause(error)))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn temporary(path: &Path, old: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".baselink-");
    // A new file is for whoever the umask says, as with any other program.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let temporary = builder.tempfile_in(folder_of(path)).map_err(bare)?;
    if let Some(old) = old {
        temporary.as_file().set_permissions(old.permissions())?;
    }
    Ok(temporary)
}

/// Without the name of the temporary file, which nobody knows.
fn bare(error: io::Error) -> io::Error {
    error.kind().into()
}
