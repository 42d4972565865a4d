//! What lies beside a document.
//!
//! ```text
//! page.html, page_files/style.css   -->   stem "page", has_folder("page_files")
//! ```
//!
//! Deliberately absent: which links lead there ([`super::copies`]).

use std::fmt::Debug;

/// What lies beside a document. Names and paths are decoded, with `/` between names.
pub trait Beside: Debug + Send + Sync {
    /// The name of the document's file, without its extension.
    fn stem(&self) -> &str;

    /// True if there is a folder called `name` beside the document.
    fn has_folder(&self, name: &str) -> bool;

    /// True if the document lies in the companion folder of a page.
    fn is_in_companion(&self) -> bool;

    /// True if there is a file at `path`, as seen from the folder of the document, in the companion folder in which
    /// that lies.
    fn has_copy(&self, path: &str) -> bool;

    /// True if `folder`, beside the document, is the companion folder of a page that has another name by now, as its
    /// contents show.
    fn is_companion(&self, folder: &str) -> bool;

    /// True if the document lies in a tree whose folders a crawler named after hosts.
    fn is_crawled(&self) -> bool;

    /// True if there is a file at `path`, as seen from the folder of the document, in the tree in which that lies.
    fn has_file(&self, path: &str) -> bool;

    /// The net_loc for which `folder` stands among the folders that the crawler named after hosts; `None` where it
    /// stands for none.
    fn host(&self, folder: &str) -> Option<String>;

    /// From where the page at `path` was saved, as that says itself.
    fn page_url(&self, path: &str) -> Option<String>;
}
