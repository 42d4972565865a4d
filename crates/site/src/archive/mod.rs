//! Web archives other than WARC, whose records are containers: [`Wacz`] opens the WARC files in a WACZ file, and
//! browsers save archives in formats of their own, [`Har`] and [`WebArchive`].
//!
//! ```text
//! a WACZ file   -->   the WARC files in it, and the titles of pages
//! {"log": {"entries": [{"request": {"url": "http://a/"}, …   -->   a [`HarEntry`] for each entry
//! ```
//!
//! Deliberately absent: CDX; writing archives; reading the documents in them.

mod attached;
mod har;
mod wacz;
mod webarchive;

pub use self::{
    attached::{Attached, has_har},
    har::{Har, HarEntry},
    wacz::{Wacz, WaczPage, is_archive_in_wacz},
    webarchive::{WebArchive, WebResource},
};
