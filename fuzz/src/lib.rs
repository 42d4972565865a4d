//! The oracles: what has to hold of any bytes, a function for each fuzz target, which panics where it does not.
//!
//! ```text
//! fuzz_targets/css.rs  --bytes-->  css(bytes)  <--fixtures, findings, mutations--  tests/project/fuzz.rs
//! ```
//!
//! Deliberately absent: bytes. A fuzzer finds them, and `tests/project/fuzz.rs` gives those that are known again.
#![allow(clippy::unwrap_used, clippy::panic)]

mod css;
mod grammar;
mod html;
mod http;
mod laws;
mod mbox;
mod message;
mod resolve;
mod transfer;
mod url_map;
mod warc;
mod xml;

pub use css::css;
pub use grammar::grammar;
pub use html::html;
pub use http::http;
pub use mbox::mbox;
pub use message::message;
pub use resolve::resolve;
pub use transfer::transfer;
pub use url_map::url_map;
pub use warc::warc;
pub use xml::xml;
