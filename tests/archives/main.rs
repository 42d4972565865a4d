//! Web archives: reading, writing, and comparison with other readers.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "../common/outside.rs"]
mod outside;

mod browsers;
mod lacking;
mod readers;
mod records;
