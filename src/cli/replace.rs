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

use super::input::{cause, name};

/// Makes what `write` writes the contents of `path`.
pub(crate) fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let refused = |why: &str| Err(Error::new(format!("{}: {why}", name(path))));
    let failed =
        |error: &io::Error| Error::new(format!("{} was not written: {}", name(path), cause(error)));
    let old = match fs::symlink_metadata(path) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed(&error)),
    };
    match &old {
        Some(old) if old.is_symlink() => {
            let target = fs::read_link(path).map(|target| name(&target)).unwrap_or_default();
            refused(&format!("a symbolic link, which is not written through; name {target} itself"))
        }
        Some(old) if old.is_dir() => {
            refused("a directory; directories come with a later version; name a file")
        }
        Some(old) if old.is_file() && old.permissions().readonly() => {
            refused("the file is read-only")
        }
        // A device or a pipe has no bytes that could be lost, and must not become a file.
        Some(old) if !old.is_file() => {
            into(OpenOptions::new().write(true).open(path), write).map_err(|error| failed(&error))
        }
        old => whole(path, old.as_ref(), write).map_err(|error| {
            let folder = folder_of(path);
            if error.kind() == ErrorKind::NotFound && !folder.is_dir() {
                let folder = name(folder);
                return Error::new(format!(
                    "{} was not written: there is no folder {folder}",
                    name(path)
                ));
            }
            failed(&error)
        }),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn into(
    file: io::Result<File>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::new(file?);
    write(&mut file)?;
    file.flush()
}

fn whole(
    path: &Path,
    old: Option<&Metadata>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".baselink-");
    // A new file is for whoever the umask says, as with any other program.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let temporary = builder.tempfile_in(folder_of(path)).map_err(bare)?;
    if let Some(old) = old {
        temporary.as_file().set_permissions(old.permissions())?;
    }
    into(temporary.as_file().try_clone(), write)?;
    // Before the name: a crash of the machine must not leave an empty file under it.
    temporary.as_file().sync_all()?;
    temporary.persist(path).map(drop).map_err(|error| error.error)
}

/// Without the name of the temporary file, which nobody knows.
fn bare(error: io::Error) -> io::Error {
    error.kind().into()
}
