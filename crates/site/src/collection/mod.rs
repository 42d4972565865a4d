//! Resources and the URLs by which they were retrieved (RFC 1808, 3.3).
//!
//! A [`Collection`] finds the resource of a URL. Each resource has a name, which is a relative path, and URLs. If a
//! URL redirects to a resource, it is one of that resource's URLs. In the output of `localize` and `move`, a link to a
//! resource leads to its name. [`folder`] adds the files of a folder, [`origin`] determines their retrieval URLs, and
//! [`capture`] assigns file paths to resources in archives.
//!
//! ```
//! use baselink_rewrite::Options;
//! use baselink_site::collection::{Collection, ResourceKind};
//! use baselink_site::purpose::localize::{localize, options};
//!
//! let page: (&[u8], &str) = (b"a.example/list.html", "http://a.example/list?page=1");
//! let mut collection = Collection::default();
//! collection.add(page.0, ResourceKind::File, [page.1, "http://a.example/start"]);
//! collection.add(b"b.example/x.png", ResourceKind::File, ["http://b.example/x"]);
//!
//! let text = b"<img src=//b.example/x><a href=/start>a</a><a href=gone>b</a>";
//! let options = options(page.0, text, &collection.into(), false, &Options::at(page.1));
//! let local = b"<img src=../b.example/x.png><a href=list.html>a</a><a href=http://a.example/gone>b</a>";
//! assert_eq!(localize(text, &options, |(), _| ()).0.output(), local);
//! ```
//!
//! Deliberately absent: the bytes of resources, which the caller reads and passes to a purpose.

pub mod capture;
pub mod companion;
mod file_names;
pub mod folder;
pub mod host_rules;
mod index;
mod locate;
mod mirror_names;
mod missing;
mod near;
mod normal;
pub mod origin;
mod path;
mod plain;
pub mod rename_list;
mod renames;
pub mod same;
mod symlinks;

pub(crate) use baselink_url::reference::without_query;
pub(crate) use index::saturated;
pub use index::{Absence, Collection, ResourceKind, is_disk, url_below};
pub use locate::{FoundBy, FoundResource, Located, QueryUse, loads_sheet};
pub(crate) use locate::{OMITTED, names_prefix};
pub use missing::Missing;
pub(crate) use near::hashed;
pub(crate) use normal::{fragment_of, in_scope, normal};
pub(crate) use path::joined;
pub use path::{is_page_name, split_name, stem};
pub(crate) use plain::{LastPath, PlainPlace};
