//! A new file, and the syncing of names.
//!
//! ```text
//! no name   --written, synced, named-->   .baselink-3f0k7q2m9xwa   --renamed-->   page.html
//! ```
//!
//! On Linux, a new file has no name while it is written, if the file system supports that, so nothing is left if the
//! program is killed. Only a file that replaces another gets a temporary name, immediately before the rename. On other
//! systems a new file has a temporary name from the beginning.
//!
//! ```
//! use baselink_files::write::is_temporary;
//! use std::ffi::OsStr;
//!
//! assert!(is_temporary(OsStr::new(".baselink-3f07a2d9c5e0")));
//! assert!(!is_temporary(OsStr::new(".baselink-notes")));
//! ```
//!
//! Deliberately absent: the time at which to sync, which [`write`](mod@super::write) decides, and the removal of
//! temporary files of killed runs.

use std::{
    collections::hash_map::RandomState,
    ffi::{OsStr, OsString},
    fs::File,
    hash::{BuildHasher, Hasher},
    io::{self, ErrorKind, Write},
    path::Path,
    sync::Arc,
};

use super::{file::TEMPORARY, folder::OpenFolder};

/// A new file. Dropping it before it gets its final name removes it. It may also be an existing device or pipe, which
/// must not become a regular file.
pub struct NewFile {
    folder: Arc<OpenFolder>,
    pub file: File,
    name: CurrentName,
}

enum CurrentName {
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "every file has a name")
    )]
    None,
    Temporary(OsString),
    /// The final name, or that of a device or pipe.
    Final,
}

/// The permission bits of a file that only its owner may use.
pub const PRIVATE: u32 = 0o600;

impl NewFile {
    /// Creates a file in `folder` with these permission bits, reduced by the umask.
    pub fn within(folder: &Arc<OpenFolder>, mode: u32) -> io::Result<Self> {
        let new = |file, name| Self {
            folder: Arc::clone(folder),
            file,
            name,
        };
        // A file without a name is named through /proc.
        #[cfg(target_os = "linux")]
        if Path::new("/proc/self/fd").exists()
            && let Ok(file) = folder.create_nameless(mode)
        {
            return Ok(new(file, CurrentName::None));
        }
        let (name, file) = with_free_name(|name| folder.create(name, mode))?;
        Ok(new(file, CurrentName::Temporary(name)))
    }

    /// Opens the device or pipe `name` in `folder`.
    pub fn device(folder: &Arc<OpenFolder>, name: &OsStr) -> io::Result<Self> {
        let file = folder.write_device(name)?;
        if file.metadata()?.is_file() {
            return Err(io::Error::other("another program created a file there"));
        }
        Ok(Self {
            folder: Arc::clone(folder),
            file,
            name: CurrentName::Final,
        })
    }

    /// True for a device or pipe, and for a file that has its final name.
    pub fn is_device(&self) -> bool {
        matches!(self.name, CurrentName::Final)
    }

    /// Appends the contents of `from`. The system copies the bytes itself, or shares them.
    pub fn add_file(&mut self, mut from: &File) -> io::Result<()> {
        io::copy(&mut from, &mut self.file).map(drop)
    }

    /// Gives the file this name in the folder `into`, replacing any file of that name.
    pub fn replace(&mut self, into: &OpenFolder, name: &OsStr) -> io::Result<()> {
        // Only a rename replaces a file, and only a name can be renamed.
        #[cfg(target_os = "linux")]
        if let CurrentName::None = self.name {
            let (free, ()) = with_free_name(|free| self.folder.name(&self.file, free))?;
            self.name = CurrentName::Temporary(free);
        }
        if let CurrentName::Temporary(temporary) = &self.name {
            self.folder.rename(temporary, into, name)?;
            self.name = CurrentName::Final;
        }
        Ok(())
    }

    /// Gives the file this name in the folder `into`, unless the name is taken.
    pub fn name(&mut self, into: &OpenFolder, name: &OsStr) -> io::Result<()> {
        match &self.name {
            #[cfg(target_os = "linux")]
            CurrentName::None => into.name(&self.file, name)?,
            CurrentName::Temporary(temporary) => {
                self.folder.rename_if_free(temporary, into, name)?;
            }
            _ => {}
        }
        self.name = CurrentName::Final;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let CurrentName::Temporary(temporary) = &self.name {
            // A file that cannot be removed stays.
            let _ = self.folder.remove(temporary);
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Creates a temporary folder in `around` that only its owner may use. Returns its name, and the open folder.
pub fn create_folder(around: &OpenFolder) -> io::Result<(OsString, OpenFolder)> {
    let (name, ()) = with_free_name(|name| around.make(name, 0o700))?;
    let folder = around.below(Path::new(&name))?;
    Ok((name, folder))
}

/// Calls `create` with random temporary names until one is free.
fn with_free_name<T>(create: impl Fn(&OsStr) -> io::Result<T>) -> io::Result<(OsString, T)> {
    loop {
        let random = RandomState::new().build_hasher().finish() >> 16;
        let name = OsString::from(format!("{TEMPORARY}{random:012x}"));
        match create(&name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => return Ok((name, created?)),
        }
    }
}

/// True if `name`, a name without a folder, has the form of the temporary names of this and earlier versions.
pub fn is_temporary(name: &OsStr) -> bool {
    let random = name.as_encoded_bytes().strip_prefix(TEMPORARY.as_bytes());
    random.is_some_and(|random| {
        [12, 16].contains(&random.len()) && random.iter().all(u8::is_ascii_alphanumeric)
    })
}

/// Writes the names in `folder` to disk, if the system allows folders to be opened and synced.
pub fn sync_folder(folder: &OpenFolder) -> io::Result<()> {
    match folder.itself().and_then(|folder| folder.sync_all()) {
        // The folder may be writable but not readable, or the system cannot sync folders.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}
