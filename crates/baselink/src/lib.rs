//! Makes the links of a document mean the same wherever the document goes.
//!
//! baselink establishes the base URL of a document (RFC 1808, section 3), resolves each relative link against it,
//! and writes the result in place. Only the bytes of URLs change.
//!
//! ```
//! use baselink::Rewriter;
//! let rewriter = Rewriter::builder().url("http://a/x/y.html").build()?;
//! let rewritten = rewriter.rewrite(b"<base href=/docs/><a href=intro.html>");
//! rewritten.verify()?; // Proves that only URLs changed.
//! assert_eq!(
//!     &*rewritten.into_output(),
//!     b"<base href=http://a/docs/><a href=http://a/docs/intro.html>"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | task | function |
//! |---|---|
//! | rewrite a document, a message or a mailbox | [`Rewriter::rewrite`], [`Rewriter::rewrite_to`] |
//! | rewrite a string | [`Rewriter::rewrite_str`] |
//! | rewrite the next document, from another URL | [`Rewriter::at`] |
//! | read the messages of a mailbox | [`Messages`] |
//! | get the edits without a report | [`Rewriter::edits`] |
//! | list links with their targets | [`Rewriter::links`] |
//! | explain the base of a document | [`Rewriter::base`] |
//! | choose the reference of each link | [`Rewriter::rewrite_links`] |
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
//! This crate is the public interface of `baselink-text`, `baselink-url`, `baselink-scan`, `baselink-rewrite` and
//! `baselink-verify`, which are internal and may change in any version. `docs/architecture.md` describes them.
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
//! - *resolver*: the rules by which references are resolved: RFC 1808, RFC 3986 or the URL Standard ([`Resolver`]);
//! - *place*: an attribute or other syntax that holds references ([`Place`]);
//! - *group*: a named set of optional places ([`Group`]);
//! - *view*: decoded text with a map from each position to the bytes that it was decoded from;
//! - *layer*: one of several nested views, such as a CSS string in an HTML attribute;
//! - *lift*: to convert an edit of a view into an edit of the bytes beneath it.
//!
//! # Features
//!
//! - `codings` (default): compressed bodies of HTTP responses (gzip, deflate, br, zstd), and the module `archive`.
//!
//! The library also compiles for targets without files and threads, such as `wasm32-unknown-unknown`.
//!
//! # Stability
//!
//! The names on this page follow semantic versioning, with one exception: enums and structs may get values and fields in
//! any version, so a `match` needs `_`. The module `archive` is exempt, and so is all that this page does not show.
//!
//! # Deliberately absent
//!
//! The network and files: all functions work on bytes and streams. A document never causes an error: an anomaly
//! becomes a [`Diagnostic`].

#![forbid(unsafe_code)]

mod rewriter;
mod rewritten;

#[cfg(feature = "codings")]
pub use baselink_rewrite::archive;
pub use baselink_rewrite::{
    BaseChain, BaseElement, Choice, ContentLocationUse, Dkim, EntityReport, Fragments, Level,
    LinkReport, ListedLink, LocalCopies, Outcome, Reason, Report, Rule, Source, Totals,
    base::{Declared, Status},
    container::mbox::Messages,
};
pub use baselink_scan::{
    Kind, Role,
    attributes::{Group, Groups, Place},
};
pub use baselink_text::{
    Charset, Code, Diagnostic, Edit, Edits, Error, ErrorKind, Format, Lines, Result, Span,
};
pub use baselink_url::{Base, Kept, Resolver, Target, Unresolvable, Unusable, relativize, resolve};
pub use baselink_verify::Differences;
pub use rewriter::{Rewriter, RewriterBuilder};
pub use rewritten::Rewritten;

/// Runs the examples of the README as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
