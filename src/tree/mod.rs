//! A folder of documents: by which URL each file was retrieved (RFC 1808, 3.3), and what follows from that for links.
//!
//! [`origin`] knows the retrieval URL of each file that [`files`](crate::files) finds, and the way back from a URL to a
//! file. [`index`] says which file a URL means, [`relocate`] what a move does to links, and [`localize`](mod@localize)
//! makes a tree one that opens from disk.
//!
//! ```
//! use baselink::format::Format;
//! use baselink::tree::origin::{Origins, RootUrl};
//! use baselink::files::walk::{Selection, walk};
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
//! Deliberately absent: the contents of documents, which are read elsewhere, and files, which [`files`](crate::files)
//! finds and writes.

pub mod companion;
mod ids;
pub mod index;
pub mod localize;
pub mod origin;
pub mod relocate;
