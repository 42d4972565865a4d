//! RFC 1808: which base a document has, and what each reference is resolved to.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/facts.rs"]
mod facts;
#[path = "../common/outside.rs"]
mod outside;

mod bases;
mod conformance;
mod references;
mod schemes;
