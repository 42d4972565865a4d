//! Folders of documents: walking them, the retrieval URLs of files, the effects of a move on links, and the atomic
//! replacement of files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/case_file.rs"]
mod case_file;
#[path = "../common/outside.rs"]
mod outside;

#[cfg(unix)]
mod interrupt;
#[cfg(unix)]
mod modes;

mod check;
mod check_cli;
mod commands;
mod failing;
mod killed;
mod mailbox_locks;
mod move_in_place;
mod origin;
#[cfg(unix)]
mod redirects;
mod relocation;
mod walk;
mod write;
