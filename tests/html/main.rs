//! HTML: which links a page has, what becomes of them, and the laws over pages of every kind. `fixtures.rs` runs the
//! cases of the other documents, too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/expected.rs"]
mod expected;
#[path = "../common/facts.rs"]
mod facts;
#[path = "../common/outside.rs"]
mod outside;

mod corpus;
mod fast;
mod fixtures;
mod hostile;
mod html5lib;
mod laws;
mod roles;
mod traps;
