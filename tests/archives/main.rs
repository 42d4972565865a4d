//! Web archives: reading, writing, and comparison with other readers.
#![cfg(feature = "archive")]
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "../common/outside.rs"]
mod outside;

mod browsers;
#[cfg(feature = "cli")]
mod lacking;
mod readers;
mod records;
