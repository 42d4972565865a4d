//! Folders of documents: how they are walked, by which URL each file was retrieved, what a move does to their links, and
//! how files are replaced, whole or not at all.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

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
mod relocation;
mod walk;
mod write;
