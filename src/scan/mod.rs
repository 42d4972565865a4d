//! Scanners: where the references of a document stand, as they are written.
//!
//! A scanner reports and decides nothing: no base, no resolution, no policy about which of the
//! references that it found are rewritten.
//!
//! ```
//! use baselink::scan::value;
//! let srcset = "a.png, b.png 2x";
//! let urls: Vec<_> = value::srcset(srcset).iter().map(|span| &srcset[span.range()]).collect();
//! assert_eq!(urls, ["a.png", "b.png"]);
//! ```
//!
//! Deliberately absent: failure. Any text is scanned; where it makes no sense, nothing is found.

pub mod css;
pub mod json;
pub mod value;
