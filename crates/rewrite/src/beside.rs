//! The files and folders next to a document.
//!
//! ```text
//! page.html, page_files/style.css   -->   has_folder("page_files"), is_companion("page_files")
//! ```
//!
//! Deliberately absent: the links that lead to these files ([`super::copies`], [`super::crawled`]).

use std::fmt::Debug;

/// The files and folders next to a document. Names and paths are decoded, with `/` between names.
pub trait NearbyFiles: Debug + Send + Sync {
    /// True if the document's folder contains a folder called `name`.
    fn has_folder(&self, name: &str) -> bool;

    /// True if the document is in the companion folder of a page.
    fn is_in_companion(&self) -> bool;

    /// True if `path`, relative to the folder of the document, is a file in the companion folder that contains the
    /// document.
    fn has_copy(&self, path: &str) -> bool;

    /// True if `folder`, which is next to the document and has the name of a companion folder, is that of the document, or by
    /// its contents that of a page that was renamed since.
    fn is_companion(&self, folder: &str) -> bool;

    /// True if the document is in a tree whose folders a crawler named after hosts.
    fn is_crawled(&self) -> bool;

    /// True if `path`, relative to the folder of the document, is a file in the tree that contains the document.
    fn has_file(&self, path: &str) -> bool;

    /// The net_loc after which the crawler named `folder`; `None` if the folder is not named after a host.
    fn host(&self, folder: &str) -> Option<String>;

    /// The URL from which the page at `path` was saved, as recorded in that page.
    fn page_url(&self, path: &str) -> Option<String>;
}
