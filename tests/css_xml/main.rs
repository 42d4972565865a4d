//! Style sheets, XML, and the values of attributes: the positions of their URLs, and the laws.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/facts.rs"]
mod facts;
#[path = "../common/outside.rs"]
mod outside;
#[path = "../referee/css.rs"]
mod referee;

mod css_laws;
mod css_parsing;
mod values;
mod xml;
