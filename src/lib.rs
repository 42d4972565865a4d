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
//! - *link*: a reference at its place in a document ([`LinkReport`]);
//! - *base URL*: what a relative reference is resolved against; [`BaseChain`] has the one that counts, and those that
//!   were passed over (RFC 1808, 3);
//! - *target*: the absolute URL to which a reference resolves ([`Target`]);
//! - *outcome*: what became of a link; each has exactly one ([`Outcome`]);
//! - *role*: what a link is to its document: needed by it, followed by a reader, or read by programs ([`Role`]);
//! - *entity*: a document or message, or one inside another (RFC 1808, 3.2; RFC 2045, 2.4), with a name such as `2.1`;
//! - *heading*: the header fields of a message or of an entity in it (RFC 1808, 3.1);
//! - *part*: an entity of a multipart message, whose body may be encoded (RFC 2045, 2.5);
//! - *transfer encoding*: how the body of a part is encoded in the message (RFC 2045, 6);
//! - *view*: decoded text with a map from each place to the bytes that it was decoded from; *layers* are views of
//!   views, such as a CSS string in an attribute, and an edit is *lifted* through them to the bytes of the file.
//!
//! # Operations
//!
//! A [`Rewriter`] is told once what is known of the documents. Rewrite a page:
//!
//! ```
//! use baselink::Rewriter;
//! let rewriter = Rewriter::builder().url("http://a/x/y.html").build()?;
//! let rewritten = rewriter.rewrite(b"<base href=/docs/><a href=intro.html>");
//! assert_eq!(
//!     &*rewritten.into_output(),
//!     b"<base href=http://a/docs/><a href=http://a/docs/intro.html>"
//! );
//! # Ok::<(), baselink::Error>(())
//! ```
//!
//! List its links with what becomes of them:
//!
//! ```
//! use baselink::{Outcome, Rewriter};
//! let rewriter = Rewriter::builder().url("http://a/").build()?;
//! let mut outcomes = Vec::new();
//! rewriter.links(b"<img src=x.png><a href=mailto:a@b>", |found| outcomes.push(found.link.outcome));
//! assert_eq!(outcomes, [Outcome::Rewritten, Outcome::Absolute]);
//! # Ok::<(), baselink::Error>(())
//! ```
//!
//! Ask for its base, and why:
//!
//! ```
//! let rewriter = baselink::Rewriter::builder().url("http://a/").build()?;
//! let chain = rewriter.base(b"<base href=http://b/>");
//! assert_eq!(chain.base.as_deref(), Some("http://b/"));
//! assert_eq!(chain.rule.section(), "3.1");
//! # Ok::<(), baselink::Error>(())
//! ```
//!
//! Resolve one reference, and go back:
//!
//! ```
//! use baselink::{Profile, relativize, resolve};
//! let base = "http://a/b/c/d;p?q#f";
//! assert_eq!(resolve(Profile::Rfc1808, base, "../g"), Ok("http://a/b/g".to_owned()));
//! assert_eq!(relativize(Profile::Rfc1808, base, "http://a/b/g"), "../g");
//! ```
//!
//! Prove that nothing but URLs changed:
//!
//! ```
//! let rewriter = baselink::Rewriter::builder().url("http://a/").build()?;
//! let rewritten = rewriter.rewrite(b"<p class=a><a href='x'>y</a>");
//! assert_eq!(rewritten.verify(), Ok(()));
//! # Ok::<(), baselink::Error>(())
//! ```
//!
//! Rewrite a message, in which each part has a base of its own:
//!
//! ```
//! let message = b"Base: <URL:http://a/>\nContent-Type: multipart/mixed; boundary=b\n\n\
//!     --b\nContent-Type: text/html\n\n<a href=x>\n\
//!     --b\nBase: <URL:http://b/>\nContent-Type: text/html\n\n<a href=x>\n--b--\n";
//! let rewritten = baselink::Rewriter::builder().build()?.rewrite(message);
//! let targets: Vec<_> = rewritten.report.links.iter().map(|link| link.in_output()).collect();
//! assert_eq!(targets, ["http://a/x", "http://b/x"]);
//! assert_eq!(rewritten.report.entities[1].chain.rule.section(), "3.2");
//! # Ok::<(), baselink::Error>(())
//! ```
//!
//! [`Rewriter::rewrite_to`] rewrites a stream, a mailbox among them. `examples/` has programs that run.
//!
//! # Features
//!
//! - `cli` (default): the program `baselink`, with the crates that only it needs;
//! - `tree`: the modules `files`, `collection` and `purpose`, for folders of documents;
//! - `archive`: the module `archive`, for web archives, and `codings`;
//! - `codings`: compressed bodies of HTTP responses (gzip, deflate, br, zstd);
//! - `serde`: [`Report`], [`ListedLink`] and what is in them implement `Serialize`, with the keys of `--json`;
//! - none: everything else, also on targets without files and threads, such as `wasm32-unknown-unknown`.
//!
//! # Stability
//!
//! The names on this page are the library, and keep to semantic versioning; enums and structs that will grow are
//! non-exhaustive. Two things are outside of that promise: the module `archive`, and modules that
//! are hidden here, which the program and its tests use.
//!
//! # Deliberately absent
//!
//! The network. Files, too, outside of the modules `files` and `collection`: all else takes bytes and returns bytes. A document
//! never fails: an anomaly becomes a [`Diagnostic`].

#![forbid(unsafe_code)]

// The command line names the library as other users of it do.
#[cfg(feature = "cli")]
extern crate self as baselink;

// The rooms, for the program and the tests. They are no part of the library's promise, and change as they must.
#[cfg(feature = "archive")]
pub mod archive;
#[doc(hidden)]
pub mod base;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "tree")]
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
#[cfg(feature = "tree")]
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod format;
#[doc(hidden)]
pub mod layer;
mod named;
mod pieces;
#[cfg(feature = "tree")]
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
pub use rewrite::{Beside, Destination, LinkBases, Options, edits, links, rewrite};
#[doc(hidden)]
pub use scan::{ScanOptions, scan, scan_as};

/// The example of the README, so that it is run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
