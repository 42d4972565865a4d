//! Purposes of a collection: each chooses a new target or a class for a link.
//!
//! [`check`] finds the effect of a move on links, [`localize`](mod@localize) makes links lead to the resources of the
//! collection, [`relocate`](mod@relocate) makes them lead to the new place of what they led to, [`adapt`] changes what is not a URL in copies out of an archive.
//! The first three know a link by its [`LinkReport`](crate::report::LinkReport) and a collection by its
//! [`Collection`](crate::collection::Collection).
//!
//! ```text
//! check     (link, collection)  -->  pinned, escapes, dangling, travels, …
//! localize  (link, collection)  -->  ../b/y.html#z, or the absolute URL
//! relocate  (link, collection)  -->  /sub/b/y.html#z, for /b/y.html#z
//! ```
//!
//! Deliberately absent: the source of the resources.

pub mod adapt;
pub mod check;
pub mod entry_page;
pub mod localize;
pub mod relocate;
mod spelling;
