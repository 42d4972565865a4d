//! Makes the links of a document mean the same wherever the document goes.
//!
//! baselink establishes the base URL of a document (RFC 1808, section 3), resolves each relative link against it,
//! and writes the result in place. Only the bytes of URLs change.
//!
//! ```
//! use baselink::Rewriter;
//! let rewriter = Rewriter::builder().url("http://a/x/y.html").build()?;
//! let rewritten = rewriter.rewrite(b"<base href=/docs/><a href=intro.html>");
//! assert_eq!(rewritten.verify(), Ok(())); // Proves that only URLs changed.
//! assert_eq!(
//!     &*rewritten.into_output(),
//!     b"<base href=http://a/docs/><a href=http://a/docs/intro.html>"
//! );
//! # Ok::<(), baselink_text::error::Error>(())
//! ```
//!
//! | task | function |
//! |---|---|
//! | rewrite a document, a message or a mailbox | [`Rewriter::rewrite`], [`Rewriter::rewrite_to`] |
//! | get the edits without a report | [`Rewriter::edits`] |
//! | list links with their targets | [`Rewriter::links`] |
//! | explain the base of a document | [`Rewriter::base`] |
//! | prove that only URLs changed | [`Rewritten::verify`] |
//! | resolve one reference, or make it relative | [`resolve`], [`relativize`] |
//!
//! The folder `examples/` has complete programs.
//!
//! # Map
//!
//! ```text
//! message ──container──> entities, each with a heading that may declare a base (RFC 1808, 3.2)
//!    │
//! bytes ──scan──> Document { links, declared bases } ──base──> BaseChain (RFC 1808, 3.1 to 3.4)
//!                    │                                            │
//!                    └── reference ──────────resolve──────────> target
//!                                                                 │
//! new bytes <──edit── Edits <──layer (lift)── new text of the link
//! ```
//!
//! `rewriter` is the public interface, and `rewrite` drives the modules above. `archive` reads web archives; `files`,
//! `collection` and `purpose` work on folders of documents. `docs/architecture.md` describes each module.
//!
//! # Glossary
//!
//! Most terms come from the specifications: *reference*, *base URL* ([`BaseChain`]) and *target* ([`Target`]) from
//! RFC 1808 and RFC 3986; *entity*, *heading*, *part* and *transfer encoding* from RFC 1808 and RFC 2045. The *retrieval
//! URL* is the URL from which a document was fetched (RFC 1808, 3.3). This crate adds these terms:
//!
//! - *link*: a reference at its position in a document ([`LinkReport`]);
//! - *outcome*: the result for a link, exactly one of a closed list ([`Outcome`]);
//! - *role*: the use of a link: embedded in the document, followed by a reader, or read by programs ([`Role`]);
//! - *profile*: the rules of resolution: RFC 1808, RFC 3986 or the URL Standard ([`Profile`]);
//! - *place*: an attribute or other syntax that holds references ([`Place`]);
//! - *group*: a named set of optional places ([`Group`]);
//! - *room*: a top-level module of this crate;
//! - *view*: decoded text with a map from each position to the bytes that it was decoded from;
//! - *layer*: one of several nested views, such as a CSS string in an HTML attribute;
//! - *lift*: to convert an edit of a view into an edit of the bytes beneath it.
//!
//! # Features
//!
//! - `cli` (default): the program `baselink` and the crates that only the program needs;
//! - `tree`: the modules `files`, `collection` and `purpose`, for folders of documents;
//! - `archive`: the module `archive`, for web archives; implies `codings`;
//! - `codings`: compressed bodies of HTTP responses (gzip, deflate, br, zstd);
//! - `serde`: `Serialize` for [`Report`], [`ListedLink`] and their fields, with the keys of `--json`.
//!
//! Without features the library also compiles for targets without files and threads, such as `wasm32-unknown-unknown`.
//!
//! # Stability
//!
//! The names on this page follow semantic versioning; enums and structs that will grow are non-exhaustive. The
//! module `archive` and the modules hidden from this page are exempt.
//!
//! # Deliberately absent
//!
//! The network. Only `files`, `collection` and `cli` access files; all other modules work on bytes and streams. A
//! document never causes an error: an anomaly becomes a [`Diagnostic`].

#![forbid(unsafe_code)]

// Lets the module `cli` name this crate `baselink`, as its users do.
extern crate self as baselink;

// Public for the program and the tests only; semantic versioning does not cover these modules.
pub mod archive;
#[doc(hidden)]
pub mod base;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod collection;
#[doc(hidden)]
pub mod container;
#[doc(hidden)]
pub mod diagnostic;
#[doc(hidden)]
pub mod document;
#[doc(hidden)]
pub mod edit;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod format;
#[doc(hidden)]
pub mod layer;
mod named;
mod pieces;
#[doc(hidden)]
pub mod purpose;
#[doc(hidden)]
pub mod reference;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod resolve;
#[doc(hidden)]
pub mod rewrite;
mod rewriter;
#[doc(hidden)]
pub mod scan;
#[doc(hidden)]
pub mod span;
#[doc(hidden)]
pub mod verify;

pub use base::{BaseChain, ContentLocationUse, Declared, Level, Rule, Source, Status};
pub use diagnostic::{Code, Diagnostic};
pub use document::Role;
pub use edit::{Edit, Edits};
pub use error::{Error, ErrorKind};
pub use format::Format;
pub use layer::charset::Charset;
pub use report::{EntityReport, LinkReport, Outcome, Reason, Report};
pub use resolve::{Base, Kept, Profile, Target, Unresolvable, Unusable, relativize, resolve};
pub use rewrite::{
    BaseElement, Choice, Dkim, Fragments, ListedLink, LocalCopies, Rewritten, Totals,
};
pub use rewriter::{Rewriter, RewriterBuilder};
pub use scan::attributes::{Group, Groups, Place};
pub use span::{Lines, Span};
pub use verify::Difference;

#[doc(hidden)]
pub use rewrite::{Destination, LinkBases, NearbyFiles, Options, edits, links, rewrite};
#[doc(hidden)]
pub use scan::{ScanOptions, scan, scan_as};

/// Runs the examples of the README as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
