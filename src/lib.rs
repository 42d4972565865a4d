//! baselink makes the links of a document mean the same wherever the document goes.
//!
//! It establishes the base URL of a document by RFC 1808, section 3, resolves every relative link
//! against it, and rewrites the links in place: the bytes of URLs change, and no other byte.
//!
//! ```text
//! message --entities--> a base for each heading, outermost first (3.2)
//!    part --decode--> bytes
//!
//! bytes --scan--> Document { links, declared bases, parts }
//!                    |              |
//!                    |           base: BaseChain (3.1 > 3.2 > 3.3 > 3.4)
//!                    |              |
//!                    +-- reference --resolve--> target
//!                                       |
//! bytes' <--edit-- Edits <--layer (lift)-- new URL text
//! ```
//!
//! # Glossary
//!
//! - *reference*: what an author wrote to point at something, relative or absolute (RFC 1808, 2.2);
//! - *link*: a reference with the place where it stands ([`document::Link`]);
//! - *base URL*: what a relative reference is relative to ([`base::BaseChain`]);
//! - *target*: the absolute URL that a reference means ([`resolve::Target`]);
//! - *entity*: a document or message, or one inside another (RFC 1808, 3.2; RFC 2045, 2.4);
//! - *heading*: the header fields of a message or of a part of it (RFC 1808, 3.1);
//! - *transfer encoding*: how the bytes of a part stand in the message (RFC 2045, 6);
//! - *outcome*: what became of a link; each has exactly one ([`Outcome`]).
//!
//! # Operations
//!
//! Rewrite a page:
//!
//! ```
//! let page = b"<base href=/docs/><a href=intro.html>";
//! let rewritten = baselink::rewrite(page, &baselink::Options::at("http://a/x/y.html"));
//! assert_eq!(
//!     rewritten.output(),
//!     b"<base href=http://a/docs/><a href=http://a/docs/intro.html>"
//! );
//! ```
//!
//! List its links with what becomes of them:
//!
//! ```
//! use baselink::{Options, Outcome, examine};
//! let report = examine(b"<img src=x.png><a href=mailto:a@b>", &Options::at("http://a/"));
//! let outcomes: Vec<_> = report.links.iter().map(|link| link.outcome).collect();
//! assert_eq!(outcomes, [Outcome::Rewritten, Outcome::Absolute]);
//! ```
//!
//! Ask for its base, and why:
//!
//! ```
//! let report = baselink::examine(b"<base href=http://b/>", &baselink::Options::at("http://a/"));
//! let chain = &report.entities[0].chain;
//! assert_eq!(chain.base.as_deref(), Some("http://b/"));
//! assert_eq!(chain.rule.section(), "3.1");
//! ```
//!
//! Resolve one reference, and go back:
//!
//! ```
//! use baselink::resolve::{Profile, relativize, resolve};
//! let base = "http://a/b/c/d;p?q#f";
//! assert_eq!(resolve(Profile::Rfc1808, base, "../g").unwrap(), "http://a/b/g");
//! assert_eq!(relativize(Profile::Rfc1808, base, "http://a/b/g"), "../g");
//! ```
//!
//! Prove that nothing but URLs changed:
//!
//! ```
//! use baselink::{Options, rewrite, verify};
//! let page = b"<p class=a><a href='x'>y</a>";
//! let options = Options::at("http://a/");
//! let rewritten = rewrite(page, &options);
//! assert_eq!(verify::verify(&rewritten, &options), Ok(()));
//! ```
//!
//! Rewrite a message, in which each part has a base of its own:
//!
//! ```
//! use baselink::{Options, format::Format, rewrite};
//! let message = b"Base: <URL:http://a/>\nContent-Type: multipart/mixed; boundary=b\n\n\
//!     --b\nContent-Type: text/html\n\n<a href=x>\n\
//!     --b\nBase: <URL:http://b/>\nContent-Type: text/html\n\n<a href=x>\n--b--\n";
//! let options = Options { format: Format::Message, ..Options::default() };
//! let rewritten = rewrite(message, &options);
//! let targets: Vec<_> = rewritten.report.links.iter().map(|link| link.in_output()).collect();
//! assert_eq!(targets, ["http://a/x", "http://b/x"]);
//! assert_eq!(rewritten.report.entities[1].chain.rule.section(), "3.2");
//! ```
//!
//! The messages of a mailbox come from [`scan::mbox`], one at a time.
//!
//! # Features
//!
//! - `cli` (default): the program `baselink`, with the crates that only it needs;
//! - `tree`: the module `tree`, for folders of documents;
//! - neither: everything else, also on targets without files and threads, such as `wasm32-unknown-unknown`.
//!
//! # Deliberately absent
//!
//! The network; and files, but for the module `tree`: all else gets bytes and gives bytes. A document never fails:
//! whatever is odd becomes a [`diagnostic::Diagnostic`].

#![forbid(unsafe_code)]

pub mod base;
pub mod diagnostic;
pub mod document;
pub mod edit;
pub mod error;
pub mod format;
pub mod layer;
pub mod reference;
pub mod report;
pub mod resolve;
pub mod rewrite;
pub mod rewriter;
pub mod scan;
pub mod span;
#[cfg(feature = "tree")]
pub mod tree;
pub mod verify;

pub use error::{Error, ErrorKind};
pub use report::{EntityReport, LinkReport, Outcome, Reason, Report};
pub use rewrite::{
    BaseElement, Beside, Choice, Destination, Fragments, LinkBases, ListedLink, LocalCopies,
    Options, Rewritten, StreamError, Totals, edits, examine, links, links_stream, rewrite,
    rewrite_into, rewrite_stream, rewrite_to,
};
pub use rewriter::{Rewriter, RewriterBuilder};
pub use scan::{ScanOptions, scan, scan_as};

/// The example of the README, so that it is run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
