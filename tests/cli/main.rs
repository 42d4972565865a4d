//! The program: arguments, output, and exit statuses. Each file of `cases/` is a case.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "../common/case_file.rs"]
mod case_file;
#[path = "../common/folder.rs"]
mod folder;
#[path = "../common/outside.rs"]
mod outside;

mod case;

mod cases;
mod covered;
mod terminal;
#[cfg(unix)]
mod truth;
mod wording;
