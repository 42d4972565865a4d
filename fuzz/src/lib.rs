//! The oracle of each fuzz target: a function that panics if the bytes violate a law.
//!
//! ```text
//! fuzz_targets/css.rs  --bytes-->  css(bytes)  <--fixtures, findings, mutations--  tests/project/fuzz.rs
//! ```
//!
//! Deliberately absent: input. A fuzzer finds it, and `tests/project/fuzz.rs` replays what is known.
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
