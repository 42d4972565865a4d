//! Mirrors and saved pages, opened from disk: what is there shows, and what is not leads to the network.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/folder.rs"]
mod folder;
#[path = "../common/outside.rs"]
mod outside;

mod devtools;
mod site;

mod adapt;
mod archives;
mod browser;
mod captures;
mod crawlers;
mod localize;
mod saved;
