//! Purposes of a collection: each says of a link where it is to lead, or to which class it belongs.
//!
//! [`check`] says what a move does to links, [`localize`](mod@localize) makes them lead to the resources that are there.
//! Both know a link by its [`LinkReport`](crate::report::LinkReport) and a collection by its
//! [`Collection`](crate::collection::Collection).
//!
//! ```text
//! check     (link, collection)  -->  pinned, escapes, dangling, travels, …
//! localize  (link, collection)  -->  ../b/y.html#z, or the absolute URL
//! ```
//!
//! Deliberately absent: where the resources come from.

pub mod check;
pub mod localize;
mod spelling;
