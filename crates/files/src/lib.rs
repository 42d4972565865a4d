//! The files of a folder: listing them, and writing them without ever losing data.
//!
//! [`walk`] finds the files below named folders. [`results`] says where results go. [`write`](mod@write) replaces files,
//! [`result_folder`] writes an output folder, [`stage`] changes contents and names of many files together, and
//! [`maildir`] handles messages of a Maildir.
//!
//! Two guarantees hold even if the disk is full or the process is killed. Every file has either its old or its new
//! contents, and nothing outside the named folders is written.
//!
//! A temporary file or folder of a killed run may remain. Its name begins with [`write::TEMPORARY`]. No run reads or
//! removes what another run has left.
//!
//! ```
//! use baselink_files::{result_folder::ResultFolder, walk::{Selection, walk}};
//!
//! let around = tempfile::tempdir()?;
//! let (from, to) = (around.path().join("from"), around.path().join("to"));
//! std::fs::create_dir_all(from.join("sub"))?;
//! std::fs::write(from.join("sub/a.txt"), "a")?;
//!
//! let folder = ResultFolder::new(&to)?;
//! for entry in walk(&[from], &Selection::default()) {
//!     let entry = entry?;
//!     let to: std::path::PathBuf = entry.relative.iter().collect();
//!     folder.copy(&entry, &to)?.commit()?;
//! }
//! assert_eq!(std::fs::read(to.join("sub/a.txt"))?, b"a");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately absent: the contents of files. The room knows neither formats nor URLs nor links.

mod file;
mod folder;
mod mailbox_lock;
pub mod maildir;
mod new_file;
mod original;
pub mod result_folder;
pub mod results;
pub mod shared;
pub mod stage;
pub mod stop;
pub mod walk;
pub mod write;

pub use file::{entries_in, folder_of, head_of, is_standard_input, os_string};
