//! Header fields: their positions in a heading, their values, and the links in them.
//!
//! Implements RFC 5322 (header fields), RFC 2045 (the fields that describe a body), and RFC 1808, 3.1, with its
//! successors (the fields that declare a base). [`heading`] reads the header fields of an entity, [`media_type`]
//! parses its `Content-Type`, and `links` finds the links in its fields.
//!
//! ```
//! use baselink_scan::{document::UrlField, fields::Heading};
//! let message = b"Base: <URL:http://a/>\nSubject: x\n\n<a href=x>";
//! let heading = Heading::read(message);
//! assert_eq!(&*heading.url(message, UrlField::Base).unwrap().url, "http://a/");
//! assert_eq!(heading.separator.end, 34);
//! ```
//!
//! Deliberately absent: the entity to which a heading belongs, which `container` knows.

pub mod heading;
pub mod links;
pub mod media_type;

pub use self::{
    heading::{Field, Heading, decimal},
    links::links,
    media_type::MediaType,
};
