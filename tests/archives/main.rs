//! Web archives: what is read of them and written, and what other readers say of the same.
#![cfg(feature = "archive")]
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "../common/outside.rs"]
mod outside;

mod browsers;
#[cfg(feature = "cli")]
mod lacking;
mod readers;
mod records;
