//! A folder of documents: which files it has, and by which URL each was retrieved (RFC 1808, 3.3).
//!
//! [`walk`] finds the files below the folders that were named; [`origin`] knows the retrieval URL of
//! each, and the way back from a URL to a file.
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

pub mod origin;
pub mod walk;
