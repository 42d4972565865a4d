//! Mirrors and saved pages, opened from disk: present resources are shown, and missing ones lead to the network.
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
mod contained;
mod crawlers;
mod localize;
mod saved;
