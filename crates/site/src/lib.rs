//! The resources of a site or an archive, and what the URL of a link means among them.
//!
//! [`archive`] opens web archives, [`reading`] reads the inputs of a run, [`collection`] finds the resource of a URL, and
//! [`purpose`] decides about each link of `localize`, `move` and `check`.
//!
//! ```
//! use baselink_site::collection::{Collection, ResourceKind};
//!
//! let mut collection = Collection::default();
//! collection.add(b"x.png", ResourceKind::File, ["http://a.example/x"]);
//! ```
//!
//! Deliberately absent: printing. The crate is internal to baselink, and makes no
//! promises about its names.

pub mod archive;
pub mod collection;
pub mod purpose;
pub mod reading;
