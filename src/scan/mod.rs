//! Finding links: where a document's URLs stand, as written.
//!
//! Deliberately absent: bases and resolution. A scanner reports, it never decides.

pub mod attributes;
