//! The codings of HTTP bodies, with their names in header fields (RFC 9110, 8.4.1; RFC 9112, 7).
//!
//! ```text
//! x-gzip  -->  gzip
//! ```
//!
//! Deliberately absent: decoding.

use crate::named;

named! {
    /// A coding of a body, by its name in header fields.
    pub enum Coding {
        /// RFC 9112, 7.1.
        Chunked = "chunked",
        /// RFC 1952.
        Gzip = "gzip",
        /// RFC 1950; some servers send bare RFC 1951 data instead (RFC 9110, 8.4.1.2).
        Deflate = "deflate",
        /// RFC 7932.
        Brotli = "br",
        /// RFC 8878.
        Zstd = "zstd",
    }
}

/// The decoded bytes, and a description of the damage if they are incomplete.
pub type Undone = (Vec<u8>, Option<&'static str>);

/// The coding called `name`, in any case; `None` if it is unknown, `Some(None)` if the body stays as it is. `x-gzip` is an
/// alias of `gzip` (RFC 9110, 8.4.1.3).
pub fn coding(name: &[u8]) -> Option<Option<Coding>> {
    let name = str::from_utf8(name).ok()?.to_ascii_lowercase();
    let known = match name.as_str() {
        "" | "identity" | "none" => return Some(None),
        "x-gzip" => "gzip",
        known => known,
    };
    Coding::from_name(known).map(Some)
}
