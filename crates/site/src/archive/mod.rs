//! Archives, each of which yields an [`Entry`] for each record or resource: WARC ([`record`]), WACZ files of WARC archives
//! ([`Wacz`]), those that browsers save ([`http_archive`], [`web_archive`]), and messages with their parts ([`message`]).
//!
//! ```text
//! a WACZ file   -->   the WARC files in it, and the titles of pages
//! {"log": {"entries": [{"request": {"url": "http://a/"}, …   -->   an [`Entry`] for each element
//! ```
//!
//! Deliberately absent: CDX; writing archives; reading the documents in them.

mod attached;
mod digest;
mod entry;
mod har;
pub mod message;
mod open;
pub mod record;
mod wacz;
mod webarchive;

pub use self::{
    attached::{Attached, has_har},
    entry::{ArchivedResource, CapturedBody, Entry, EntryContents, MessagePart, RecordKey, Wanted},
    har::http_archive,
    open::{Contents, Entries},
    wacz::{Wacz, WaczPage, is_archive_in_wacz},
    webarchive::web_archive,
};
