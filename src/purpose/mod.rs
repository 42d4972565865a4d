//! The purposes of commands that work on the links of a collection.
//!
//! [`check`] determines the effect of a move on links. [`localize`](mod@localize) makes links lead to resources of
//! the collection. [`relocate`](mod@relocate) makes links lead to the new places of their targets. All three receive
//! each link as a [`LinkReport`](baselink_rewrite::report::LinkReport), and look up its target in a
//! [`Collection`](crate::collection::Collection). [`adapt`] changes parts other than URLs in copies out of an archive.
//!
//! ```text
//! check     (link, collection)  -->  pinned, escapes, dangling, travels, …
//! localize  (link, collection)  -->  ../b/y.html#z, or the absolute URL
//! relocate  (link, collection)  -->  /sub/b/y.html#z, for /b/y.html#z
//! ```
//!
//! Deliberately absent: reading the resources.

pub mod adapt;
pub mod check;
mod custom_property;
pub mod entry_page;
pub mod localize;
mod on_disk;
pub mod relocate;
mod spelling;
