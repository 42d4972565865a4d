//! Commands' treatment of the links of a collection: three modules choose a target or a class for each link.
//!
//! [`check`] determines the effect of a move on links. [`localize`](mod@localize) makes links lead to resources of
//! the collection. [`relocate`](mod@relocate) makes links lead to the new places of their targets. [`adapt`]
//! changes other things than URLs in copies out of an archive. The first three receive a link as a
//! [`LinkReport`](crate::report::LinkReport), and a [`Collection`](crate::collection::Collection).
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
