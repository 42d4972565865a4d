//! The files of a folder: which there are, and how they are written so that nothing is ever lost.
//!
//! [`walk`] finds the files below the folders that were named. [`write`](mod@write) replaces files, [`mirror`] makes a
//! folder from another, [`maildir`] rewrites the messages of a Maildir.
//!
//! What is promised of writing holds whenever the process is stopped, also by a signal that it cannot catch
//! and by a full disk: every file has its old bytes or its new ones. A temporary file may remain;
//! its name begins with [`write::TEMPORARY`], and the next run over its folder removes it.
//!
//! Deliberately absent: what is in a file.

mod disk;
mod file;
mod folder;
mod mailbox_lock;
pub mod maildir;
pub mod mirror;
mod temporary;
pub mod walk;
pub mod write;

pub(crate) use file::os_string;
