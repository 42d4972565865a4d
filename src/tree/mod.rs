//! A folder of documents: which files it has, by which URL each was retrieved (RFC 1808, 3.3), and how they
//! are written so that nothing is ever lost.
//!
//! [`walk`] finds the files below the folders that were named; [`origin`] knows the retrieval URL of
//! each, and the way back from a URL to a file. [`write`](mod@write) replaces files, [`mirror`] makes a folder from
//! another, [`maildir`] rewrites the messages of a Maildir. [`index`] says which file a URL means, [`relocate`]
//! what a move does to links, and [`localize`](mod@localize) makes a tree one that opens from disk.
//!
//! What is promised of writing holds whenever the process is stopped, also by a signal that it cannot catch
//! and by a full disk: every file has its old bytes or its new ones. A temporary file may remain;
//! its name begins with [`write::TEMPORARY`], and the next run over its folder removes it.
//!
//! ```
//! use baselink::format::Format;
//! use baselink::tree::origin::{Origins, RootUrl};
//! use baselink::tree::walk::{Selection, walk};
//!
//! let root = tempfile::tempdir().unwrap();
//! std::fs::create_dir(root.path().join("sub")).unwrap();
//! std::fs::write(root.path().join("sub/a b.html"), "<a href=x>").unwrap();
//!
//! let root_url = RootUrl::new("http://example.org/docs").unwrap();
//! let origins = Origins { root_url: Some(root_url), ..Origins::default() };
//! let selection = Selection::default();
//! for entry in walk(&[root.path().to_owned()], &selection) {
//!     let (retrieval, _) = origins.of(&entry.unwrap(), Format::Html, b"");
//!     assert_eq!(retrieval.unwrap().url, "http://example.org/docs/sub/a%20b.html");
//! }
//! ```
//!
//! Deliberately absent: the contents of documents. What a file is read as, and what becomes of its
//! links, is decided elsewhere.

pub mod companion;
mod disk;
mod file;
mod folder;
mod ids;
pub mod index;
pub mod localize;
mod mailbox_lock;
pub mod maildir;
pub mod mirror;
pub mod origin;
pub mod relocate;
mod temporary;
pub mod walk;
pub mod write;
