//! The files of a folder: which there are, and how they are written so that nothing is ever lost.
//!
//! [`walk`] finds the files below the folders that were named. [`write`](mod@write) replaces files, [`mirror`] makes a
//! folder from another, [`journal`] gives many files new contents and names at once, [`maildir`] replaces the messages of a
//! Maildir.
//!
//! The promises hold whenever the process is stopped, also by a signal that it cannot catch and by a full disk: every
//! file has its old bytes or its new ones, and nothing is written outside of the folders that were named. A temporary
//! file may remain; its name begins with [`write::TEMPORARY`], and the next run over its folder removes it.
//!
//! ```
//! use baselink::files::{mirror::Mirror, walk::{Selection, walk}};
//!
//! let folder = tempfile::tempdir()?;
//! let (from, to) = (folder.path().join("from"), folder.path().join("to"));
//! std::fs::create_dir_all(from.join("sub"))?;
//! std::fs::write(from.join("sub/a.txt"), "a")?;
//!
//! let mirror = Mirror::new(&to)?;
//! for entry in walk(&[from], &Selection::default()) {
//!     let entry = entry?;
//!     let to: std::path::PathBuf = entry.relative.iter().collect();
//!     mirror.copy(entry.open(false)?, &entry.path, &to)?.commit()?;
//! }
//! assert_eq!(std::fs::read(to.join("sub/a.txt"))?, b"a");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately absent: what is in a file, and what it means. The room knows neither formats nor URLs nor links.

mod disk;
mod file;
mod folder;
pub mod journal;
mod mailbox_lock;
pub mod maildir;
pub mod mirror;
mod temporary;
pub mod walk;
pub mod write;

pub use file::folder_of;
pub(crate) use file::os_string;
