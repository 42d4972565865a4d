//! HTML: the links of a page, their outcomes, and the laws on pages of every kind. `fixtures.rs` also runs the
//! cases of other formats.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/case_file.rs"]
mod case_file;
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
