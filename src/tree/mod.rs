//! Folders of documents: written so that nothing is ever lost.
//!
//! ```text
//! page.html  --write-->    page.html, old or new at any moment
//! in/a/b     --mirror-->   out/a/b, and never anything outside out/
//! cur/1.a,S=9:2,S  --maildir-->  cur/1.a,S=17:2,S, through tmp/
//! ```
//!
//! What is promised holds whenever the process is stopped, also by a signal that it cannot catch and by
//! a full disk: every file has its old bytes or its new ones. A temporary file may be left behind; its
//! name begins with [`write::TEMPORARY`].
//!
//! Deliberately absent: removing the temporary files of a run that was killed. Nobody can tell them
//! from those of a run that is still going on.

pub mod maildir;
pub mod mirror;
pub mod write;
