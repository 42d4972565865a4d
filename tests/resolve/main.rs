//! RFC 1808: the base of a document, and the target of each reference.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/facts.rs"]
mod facts;
#[path = "../common/outside.rs"]
mod outside;

mod bases;
mod conformance;
mod references;
mod schemes;
