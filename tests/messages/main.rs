//! Messages, mailboxes and HTTP responses: their parts, the outcomes of their links, and the laws.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "../common/case_file.rs"]
mod case_file;
#[path = "../common/outside.rs"]
mod outside;

mod corpus;
mod entities;
mod hostile;
mod http;
mod independent;
mod laws;
mod mbox;
mod resources;
