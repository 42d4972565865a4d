//! Resources and the URLs by which they were retrieved (RFC 1808, 3.3).
//!
//! [`origin`] knows the retrieval URL of each file of a folder, and the way back from a URL to a file. [`index`] says
//! which resource a URL means.
//!
//! ```
//! use baselink::collection::origin::{Origins, RootUrl};
//! use baselink::format::Format;
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
//! Deliberately absent: the links of documents.

pub mod companion;
mod ids;
pub mod index;
pub mod origin;
