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
//! | compare a target with the captures of an archive | [`capture_key`] |
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

mod rewriter;
mod rewritten;

#[cfg(feature = "codings")]
pub use baselink_rewrite::archive;
pub use baselink_scan::attributes::Group;
pub use baselink_text::{Edits, Span};
pub use baselink_url::{
    Base, Kept, Resolver, Target, Unresolvable, Unusable, capture_key, relativize, resolve,
};
pub use rewriter::{Rewriter, RewriterBuilder};
pub use rewritten::Rewritten;

/// The base of a document and its explanation, from [`Rewriter::base`].
///
/// ```
/// use baselink::Rewriter;
/// let chain = Rewriter::builder().url("http://a/b").build()?.base(b"<base href=/c/>");
/// assert_eq!(chain.base.as_deref(), Some("http://a/c/"));
/// for level in &chain.chain {
///     println!("{} {}: {}", level.rule.section(), level.status.name(), level.reason);
/// }
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::BaseChain;

/// A policy for `base` elements, for [`RewriterBuilder::base_element`].
///
/// ```
/// use baselink::{BaseElement, Rewriter};
/// let rewriter = Rewriter::builder().url("http://a/").base_element(BaseElement::Keep).build()?;
/// let output = rewriter.rewrite_str("<base href=/b/><a href=x>");
/// assert_eq!(output, "<base href=/b/><a href=http://a/b/x>");
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::BaseElement;

/// The answer of the closure of [`Rewriter::rewrite_links`].
///
/// ```
/// use baselink::{Choice, Rewriter, Role};
/// let rewriter = Rewriter::builder().url("http://a/").build()?;
/// let rewritten = rewriter.rewrite_links(b"<a href=b><img src='c'>", |link| match link.role {
///     Role::Embedded => Choice::Reference(format!("/proxy?a&u={}", link.reference)),
///     _ => Choice::Target,
/// });
/// assert_eq!(rewritten.output(), b"<a href=http://a/b><img src='/proxy?a&amp;u=c'>");
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::Choice;

/// A reading of `Content-Location`, for [`RewriterBuilder::content_location`].
///
/// ```
/// use baselink::{ContentLocationUse, Rewriter};
/// let part = b"Content-Type: text/html\nContent-Location: http://cache/1\n\n<a href=x>";
/// let builder = Rewriter::builder().url("http://a/");
/// let base = |builder: baselink::RewriterBuilder| builder.build().unwrap().base(part).base;
/// assert_eq!(base(builder.clone()).as_deref(), Some("http://cache/1"));
/// let label = builder.content_location(ContentLocationUse::Label);
/// assert_eq!(base(label).as_deref(), Some("http://a/"));
/// ```
pub use baselink_rewrite::ContentLocationUse;

/// A policy for signed mail, for [`RewriterBuilder::dkim`].
///
/// ```
/// use baselink::{Dkim, Reason, Rewriter};
/// let mail = b"DKIM-Signature: v=1\nContent-Type: text/html\n\n<a href=x>";
/// let rewriter = Rewriter::builder().url("http://a/").dkim(Dkim::Keep).build()?;
/// assert_eq!(rewriter.rewrite(mail).report.links[0].reason, Some(Reason::Dkim));
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::Dkim;

/// A document or a part of it, in [`Report::entities`].
///
/// ```
/// use baselink::{Format, Rewriter};
/// let rewritten = Rewriter::builder().build()?.rewrite(b"<iframe srcdoc='&lt;a href=x>'>");
/// let [page, inner] = &rewritten.report.entities[..] else { panic!() };
/// assert_eq!((page.parent, page.format), (None, Format::Html));
/// assert_eq!((inner.parent, &*inner.chain.entity), (Some(0), "1"));
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::EntityReport;

/// A policy for links such as `#top`, for [`RewriterBuilder::fragments`].
///
/// ```
/// use baselink::{Fragments, Rewriter};
/// let rewriter = Rewriter::builder().url("http://a/").fragments(Fragments::Keep).build()?;
/// assert_eq!(rewriter.rewrite_str("<a href='#b'><a href=c>"), "<a href='#b'><a href=http://a/c>");
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::Fragments;

/// A place where a base is looked for, in [`BaseChain::chain`].
///
/// ```
/// use baselink::{Rewriter, Status};
/// let chain = Rewriter::builder().url("http://a/").build()?.base(b"<base href=http://b/>");
/// let level = &chain.chain[2];
/// assert_eq!((level.value.as_deref(), level.status), (Some("http://a/"), Status::PassedOver));
/// assert_eq!(level.reason, "an inner level gave the base");
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::Level;

/// A link of a document, in [`Report::links`].
///
/// ```
/// use baselink::{Outcome, Rewriter};
/// let page = b"<a href='x?y&amp;z'>";
/// let link = Rewriter::builder().url("http://a/").build()?.rewrite(page).report.links.remove(0);
/// assert_eq!((&*link.element, link.attribute.as_deref()), ("a", Some("href")));
/// assert_eq!((&*link.reference, &page[link.span.range()]), ("x?y&z", &b"x?y&amp;z"[..]));
/// assert_eq!((link.target.as_deref(), link.outcome), (Some("http://a/x?y&z"), Outcome::Rewritten));
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::LinkReport;

/// A link that [`Rewriter::links`] visits.
///
/// ```
/// use baselink::Rewriter;
/// use std::ops::ControlFlow;
/// let mut rows = Vec::new();
/// Rewriter::builder().url("http://a/").build()?.links(b"<p>\n<img src=x>", |found| {
///     rows.push(format!("{}:{} {}", found.line, found.column, found.link.in_output()));
///     ControlFlow::Continue(())
/// });
/// assert_eq!(rows, ["2:10 http://a/x"]);
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::ListedLink;

/// A policy for the files of a saved page, for [`RewriterBuilder::local_copies`].
///
/// ```
/// use baselink::{LocalCopies, Rewriter};
/// let page = "<!-- saved from url=(0009)http://a/ -->\n<img src='./Page_files/b.png'>";
/// let builder = Rewriter::builder().url("http://a/");
/// assert_eq!(builder.clone().build()?.rewrite_str(page), page);
/// let output = builder.local_copies(LocalCopies::Rewrite).build()?.rewrite_str(page).into_owned();
/// assert!(output.ends_with("<img src='http://a/Page_files/b.png'>"));
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::LocalCopies;

/// The result for a link, in [`LinkReport::outcome`]; [`Totals`] counts them.
///
/// ```
/// use baselink::{Outcome, Rewriter};
/// let totals = Rewriter::builder().build()?.rewrite(b"<a href=x><a href=http://b/>").totals;
/// assert_eq!((totals.count(Outcome::Absolute), totals.count(Outcome::NoBase)), (1, 1));
/// assert_eq!(Outcome::NoBase.name(), "no-base");
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::Outcome;

/// The cause of an [`Outcome`], in [`LinkReport::reason`].
///
/// ```
/// use baselink::{Reason, Rewriter};
/// let rewritten = Rewriter::builder().url("http://a/").build()?.rewrite(b"<img src=''>");
/// let reason = rewritten.report.links[0].reason.unwrap();
/// assert_eq!((reason, reason.name()), (Reason::Empty, "empty"));
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::Reason;

/// The links of a document and the bases that they had, from [`Rewriter::rewrite`].
///
/// ```
/// use baselink::{Outcome, Rewriter};
/// let report = Rewriter::builder().url("http://a/").build()?.rewrite(b"<a href=x>").report;
/// assert_eq!(report.count(Outcome::Rewritten), 1);
/// for link in &report.links {
///     println!("{} -> {}", link.reference, link.target.as_deref().unwrap_or("?"));
/// }
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::Report;

/// A section of RFC 1808, in [`BaseChain::rule`] and [`Level::rule`].
///
/// ```
/// use baselink::{Rewriter, Rule};
/// let chain = Rewriter::builder().url("http://a/").build()?.base(b"<p>");
/// assert_eq!((chain.rule, chain.rule.section()), (Rule::Retrieval, "3.3"));
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::Rule;

/// A kind of declaration of a base, in [`BaseChain::source`] and [`Level::source`].
///
/// ```
/// use baselink::{Rewriter, Source};
/// let chain = Rewriter::builder().build()?.base(b"<base href=http://a/>");
/// assert_eq!((chain.source, chain.source.name()), (Source::BaseElement, "base-element"));
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::Source;

/// The numbers of links by outcome, from [`Rewriter::edits`] and [`Rewriter::links`].
///
/// ```
/// use baselink::{Outcome, Reason, Rewriter};
/// let (_, totals) = Rewriter::builder().url("http://a/").build()?.edits(b"<a href=x><img src=''>");
/// assert_eq!((totals.links(), totals.count(Outcome::Rewritten)), (2, 1));
/// let left: Vec<_> = totals.counts().filter(|(outcome, ..)| *outcome == Outcome::Left).collect();
/// assert_eq!(left, [(Outcome::Left, Some(Reason::Empty), 1)]);
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::Totals;

/// The origin of an inherited base, in [`BaseChain::declared`].
///
/// ```
/// use baselink::{Rewriter, Source};
/// let mail = b"Base: http://a/\nContent-Type: multipart/mixed; boundary=b\n\n\
///     --b\nContent-Type: text/html\n\n<a href=x>\n--b--\n";
/// let report = Rewriter::builder().build()?.rewrite(mail).report;
/// let declared = report.entities[1].chain.declared.as_ref().unwrap();
/// assert_eq!((&*declared.entity, declared.source), ("", Source::BaseHeader));
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::base::Declared;

/// The success of a level, in [`Level::status`].
///
/// ```
/// use baselink::{Rewriter, Status};
/// let chain = Rewriter::builder().url("http://a/").build()?.base(b"<base href=http://b/>");
/// let found: Vec<_> = chain.chain.iter().map(|level| level.status).collect();
/// assert_eq!(found, [Status::Taken, Status::Absent, Status::PassedOver, Status::PassedOver]);
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::base::Status;

/// An iterator over a mailbox, whose messages [`Rewriter::rewrite`] takes.
///
/// ```
/// use baselink::{Messages, Rewriter};
/// let mailbox = b"From a Thu\nBase: http://a/\nContent-Type: text/html\n\n<a href=x>\n\n\
///     From b Fri\nSubject: y\n\nz\n";
/// let rewriter = Rewriter::builder().build()?;
/// for message in Messages::new(&mailbox[..]) {
///     println!("{}", rewriter.rewrite(&message?).report.links.len());
/// }
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_rewrite::container::mbox::Messages;

/// A type of content, in [`LinkReport::kind`].
///
/// ```
/// use baselink::{Kind, Rewriter};
/// let page = b"<img src=x.php><script src=y></script>";
/// let links = Rewriter::builder().build()?.rewrite(page).report.links;
/// assert_eq!([links[0].kind, links[1].kind], [Kind::Image, Kind::Script]);
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_scan::Kind;

/// A use of a link, in [`LinkReport::role`].
///
/// ```
/// use baselink::{Rewriter, Role};
/// let page = b"<img src=x><a href=y><link rel=canonical href=z>";
/// let links = Rewriter::builder().build()?.rewrite(page).report.links;
/// let roles: Vec<_> = links.iter().map(|link| link.role).collect();
/// assert_eq!(roles, [Role::Embedded, Role::Navigation, Role::Metadata]);
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_scan::Role;

/// The optional places for [`RewriterBuilder::enable`].
///
/// ```
/// use baselink::{Group, Groups, Rewriter};
/// let mut groups = Groups::default();
/// groups.insert(Group::Lazy);
/// assert_eq!(groups, "lazy".parse()?);
/// let rewriter = Rewriter::builder().url("http://a/").enable(groups).build()?;
/// assert_eq!(rewriter.rewrite_str("<img data-src=/x>"), "<img data-src=http://a/x>");
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_scan::attributes::Groups;

/// An attribute for [`RewriterBuilder::attributes`].
///
/// ```
/// use baselink::{Place, Rewriter};
/// let place: Place = "*[data-sheet]=css".parse()?;
/// let rewriter = Rewriter::builder().url("http://a/").attributes([place]).build()?;
/// assert_eq!(rewriter.rewrite_str("<p data-sheet='a{b:url(c)}'>"), "<p data-sheet='a{b:url(http://a/c)}'>");
/// assert!("div[data-sheet]=json".parse::<Place>().is_err());
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_scan::attributes::Place;

/// An encoding for [`RewriterBuilder::charset`].
///
/// ```
/// use baselink::{Charset, Rewriter};
/// assert_eq!(Charset::for_label("latin1").map(Charset::name), Some("windows-1252"));
/// let rewriter = Rewriter::builder().url("http://a/").charset("utf-16le".parse()?).build()?;
/// let page: Vec<u8> = "<a href=x>".encode_utf16().flat_map(u16::to_le_bytes).collect();
/// assert_eq!(rewriter.rewrite(&page).report.links[0].target.as_deref(), Some("http://a/x"));
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_text::Charset;

/// The kind of a [`Diagnostic`].
///
/// ```
/// use baselink::{Code, Rewriter};
/// let totals = Rewriter::builder().build()?.rewrite(b"WARC/1.1\r\n").totals;
/// assert_eq!(totals.diagnostics[0].code, Code::FormatUnread);
/// assert_eq!(Code::FormatUnread.name(), "format-unread");
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_text::Code;

/// An entry of [`Report::diagnostics`] and [`Totals::diagnostics`].
///
/// ```
/// use baselink::{Code, Rewriter};
/// let page = b"<base href=/b/><a href=x>";
/// let rewritten = Rewriter::builder().url("http://a/").build()?.rewrite(page);
/// let [found] = &rewritten.report.diagnostics[..] else { panic!() };
/// assert_eq!((found.code, &page[found.span.range()]), (Code::BaseRelative, &b"<base href=/b/>"[..]));
/// assert_eq!(rewritten.lines().place(found.span.start), (1, 1));
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_text::Diagnostic;

/// A change in [`Edits`].
///
/// ```
/// use baselink::Rewriter;
/// let (edits, _) = Rewriter::builder().url("http://a/b").build()?.edits(b"<a href=c>");
/// let edit = edits.iter().next().unwrap();
/// assert_eq!((edit.span.range(), &*edit.new), (8..8, &b"http://a/"[..]));
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_text::Edit;

/// The error of [`RewriterBuilder::build`] and of most other functions of this crate that can fail.
///
/// ```
/// use baselink::Rewriter;
/// let error = Rewriter::builder().url("a/b.html").build().unwrap_err();
/// assert_eq!(error.to_string(), "'a/b.html' cannot be a base URL: give an absolute URL, with a scheme");
/// assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::InvalidInput);
/// ```
pub use baselink_text::Error;

/// The value of [`Error::kind`].
///
/// ```
/// use baselink::{ErrorKind, Rewriter};
/// let rewriter = Rewriter::builder().build()?;
/// let error = rewriter.rewrite_to(&b"<p>"[..], &mut [0; 2][..]).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Write);
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_text::ErrorKind;

/// A format for [`RewriterBuilder::format`].
///
/// ```
/// use baselink::{Format, Rewriter};
/// assert_eq!(Format::detect(Some("feed"), b"<?xml version='1.0'?><rss>"), Format::Xml);
/// let rewriter = Rewriter::builder().url("http://a/").format("css".parse()?).build()?;
/// assert_eq!(rewriter.rewrite_str("@import 'b'"), "@import 'http://a/b'");
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_text::Format;

/// The lines of a document, from [`Rewritten::lines`].
///
/// ```
/// use baselink::Rewriter;
/// let rewritten = Rewriter::builder().build()?.rewrite(b"<p>\n<a href=x>");
/// let start = rewritten.report.links[0].span.start;
/// assert_eq!(rewritten.lines().place(start), (2, 9));
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_text::Lines;

/// The result of [`RewriterBuilder::build`] and of most other functions of this crate that can fail.
///
/// ```
/// use baselink::Rewriter;
/// fn rewriter_of(site: &str) -> baselink::Result<Rewriter> {
///     Rewriter::builder().url(site).assume_scheme("https").build()
/// }
/// assert!(rewriter_of("http://a/").is_ok());
/// ```
pub use baselink_text::Result;

/// The error of [`Rewritten::verify`].
///
/// ```
/// use baselink::{Edits, Rewriter};
/// let mut rewritten = Rewriter::builder().url("http://a/").build()?.rewrite(b"<a href=x>");
/// assert_eq!(rewritten.verify(), Ok(()));
/// rewritten.edits = Edits::default();
/// let differences = rewritten.verify().unwrap_err();
/// assert_eq!(differences.messages, ["'x' became 'x' instead of 'http://a/x'"]);
/// # Ok::<(), baselink::Error>(())
/// ```
pub use baselink_verify::Differences;

/// Runs the examples of the README as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
