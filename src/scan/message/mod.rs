//! Messages: the tree of entities in a buffer, each with its heading and its body as byte ranges.
//!
//! RFC 5322 (header fields), RFC 2045 (the fields that describe a body), RFC 2046 (multiparts and
//! enclosed messages), RFC 1808, 3.2: "the multipart/* and message/* media types form a hierarchy".
//! [`structure`] finds the entities; [`heading`] reads the header fields of one; [`fields`] finds the
//! links in them.
//!
//! ```
//! use baselink::{document::UrlField, scan::message::entities};
//! let message = b"Base: <URL:http://a/>\nContent-Type: multipart/mixed; boundary=b\n\n\
//!                 --b\nContent-Type: text/html\n\n<a href=x>\n--b--\n";
//! let structure = entities(message);
//! assert_eq!(&*structure.entities[1].name, "1");
//! assert_eq!(&message[structure.entities[1].body.range()], b"<a href=x>");
//! let url = structure.entities[0].heading.url(message, UrlField::Base).unwrap();
//! assert_eq!(&*url.url, "http://a/");
//! ```
//!
//! Deliberately absent: transfer encodings, and what is in a body. It is the bytes that stand in the
//! message.

pub mod fields;
pub mod heading;
pub mod media_type;
pub mod structure;

pub use self::heading::{Field, Heading};
pub use self::media_type::MediaType;
pub use self::structure::{Entity, Kind, Opaque, Structure, entities, entities_named};
