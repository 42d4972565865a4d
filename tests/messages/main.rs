//! Messages, mailboxes and HTTP responses: their parts, the outcomes of their links, and the laws.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "../common/expected.rs"]
mod expected;
#[path = "../common/outside.rs"]
mod outside;

mod corpus;
mod entities;
mod fixtures;
mod hostile;
mod http;
mod independent;
mod laws;
mod mbox;
mod resources;
