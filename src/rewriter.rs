//! The front door: a [`Rewriter`] is told once what is known of documents and what is wanted, and then rewrites
//! any number of them (RFC 1808, sections 3 and 4).
//!
//! ```
//! use std::borrow::Cow;
//! use baselink::Rewriter;
//! let rewriter = Rewriter::builder().url("http://a/b/c.html").build()?;
//! assert_eq!(&*rewriter.rewrite(b"<a href=d>").into_output(), b"<a href=http://a/b/d>");
//! // What does not change is not copied.
//! assert!(matches!(rewriter.rewrite(b"<a href=http://d/>").into_output(), Cow::Borrowed(_)));
//! # Ok::<(), baselink::Error>(())
//! ```
//!
//! A mailbox (RFC 4155) is rewritten message by message; entities of its messages are named `1`, `2.1` and so on,
//! the number of the message first.
//!
//! Deliberately absent: names of files, and what lies beside a file. A folder of documents has the module `tree`.

#[cfg(feature = "archive")]
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use crate::base::{self, BaseChain, ContentLocationUse, Outer, Retrieval};
use crate::container::mbox::Messages;
use crate::container::units;
use crate::document::{Against, Document};
use crate::edit::Edits;
use crate::error::{Error, Result, cause};
use crate::format::Format;
use crate::layer::charset::Charset;
use crate::report::{LinkReport, Report};
use crate::resolve::{Base, Profile, hierarchical_scheme};
use crate::rewrite::{
    self, BaseElement, Choice, Destination, Dkim, Fragments, LocalCopies, Options, Rewritten,
};
use crate::rewrite::{ListedLink, Totals};
use crate::scan::attributes::{Groups, Place};
use crate::span::{Lines, Span};

/// So many bytes tell the format of a document.
const HEAD: u64 = 4_096;

/// Rewrites documents. [`Rewriter::builder`] makes one.
#[derive(Clone, Debug)]
pub struct Rewriter {
    options: Options,
    /// True if the format of each document is told by its first bytes.
    detects: bool,
}

/// What a [`Rewriter`] is to know and to do. Without any call it resolves by RFC 1808, knows no retrieval URL, and
/// tells formats by the first bytes.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct RewriterBuilder {
    options: Options,
    url: Option<String>,
    format: Option<Format>,
    assumed_scheme: Option<String>,
}

/// A closure that chooses what is written in the place of links.
struct Chosen<F>(F);

impl<F> fmt::Debug for Chosen<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chosen(..)")
    }
}

impl<F: Fn(&LinkReport) -> Choice + Send + Sync> Destination for Chosen<F> {
    fn choose(&self, link: &LinkReport, _: &Against) -> Choice {
        self.0(link)
    }
}

impl RewriterBuilder {
    /// The absolute URL by which the documents were retrieved (RFC 1808, 3.3).
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// The rules by which references are resolved.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.options.profile = profile;
        self
    }

    /// What the documents are.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// The encoding of the documents. A byte order mark takes precedence.
    pub fn charset(mut self, charset: Charset) -> Self {
        self.options.scan.charset = Some(charset);
        self
    }

    /// What becomes of references that are a fragment only. By default they are resolved, but only where a browser
    /// would leave the page ([`Fragments::Auto`]) in a page that says that it was saved.
    pub fn fragments(mut self, fragments: Fragments) -> Self {
        self.options.fragments = Some(fragments);
        self
    }

    /// What becomes of the `base` element.
    pub fn base_element(mut self, policy: BaseElement) -> Self {
        self.options.base_element = policy;
        self
    }

    /// What becomes of links to the files that a browser saved with a page.
    pub fn local_copies(mut self, policy: LocalCopies) -> Self {
        self.options.local_copies = policy;
        self
    }

    /// The scheme of references that begin with `//`, where there is no base (RFC 1808, 3.4).
    /// URLs of that scheme name a host, as those of `https` do.
    pub fn assumed_scheme(mut self, scheme: impl Into<String>) -> Self {
        self.assumed_scheme = Some(scheme.into());
        self
    }

    /// The use of `Content-Location` as a base (RFC 2557, 5), as `Base` and `Content-Base` are.
    pub fn content_location(mut self, meaning: ContentLocationUse) -> Self {
        self.options.content_location = meaning;
        self
    }

    /// What becomes of messages with a DKIM or ARC signature.
    pub fn dkim(mut self, policy: Dkim) -> Self {
        self.options.dkim = policy;
        self
    }

    /// Counts further places as links. [`Groups`] are parsed from names separated by commas, or `all`.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewriter = Rewriter::builder().url("http://a/").enable("headers".parse()?).build()?;
    /// let message = b"List-Archive: <x>\nSubject: y\n\nz";
    /// assert_eq!(&*rewriter.rewrite(message).into_output(), b"List-Archive: <http://a/x>\nSubject: y\n\nz");
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn enable(mut self, groups: Groups) -> Self {
        self.options.scan.groups.extend(groups);
        self
    }

    /// Counts an attribute as a link. A [`Place`] is parsed from `ELEMENT[ATTRIBUTE]=SYNTAX`; the syntax is `url`, `urls`,
    /// `srcset`, `css` or `html`.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewriter = Rewriter::builder().url("http://a/").place("*[data-src]=url".parse()?).build()?;
    /// assert_eq!(&*rewriter.rewrite(b"<p data-src=x>").into_output(), b"<p data-src=http://a/x>");
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn place(mut self, place: Place) -> Self {
        self.options.scan.places.push(place);
        self
    }

    /// Asks `choose` what is written in the place of each link that has a target and may be changed, also of absolute
    /// ones.
    ///
    /// ```
    /// use baselink::{Choice, Rewriter};
    /// let rewriter = Rewriter::builder().url("http://b/").choose(|link| {
    ///     let target = link.target.as_deref().unwrap_or_default();
    ///     target.strip_prefix("http://a/").map_or(Choice::Target, |local| Choice::Reference(local.into()))
    /// });
    /// let page = b"<a href='http://a/x?y&amp;z'></a><a href=c></a>";
    /// let rewritten = rewriter.build()?.rewrite(page);
    /// assert_eq!(&*rewritten.into_output(), b"<a href='x?y&amp;z'></a><a href=http://b/c></a>");
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn choose(
        mut self,
        choose: impl Fn(&LinkReport) -> Choice + Send + Sync + 'static,
    ) -> Self {
        self.options.destination = Some(Arc::new(Chosen(choose)));
        self
    }

    /// The rewriter.
    ///
    /// # Errors
    ///
    /// A URL that is not absolute ([`ErrorKind::Url`](crate::error::ErrorKind::Url)); an assumed scheme that is not a
    /// hierarchical one ([`ErrorKind::Argument`](crate::error::ErrorKind::Argument)).
    ///
    /// ```
    /// use baselink::{ErrorKind, Rewriter};
    /// let error = Rewriter::builder().url("b/c.html").build().unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Url);
    /// ```
    pub fn build(self) -> Result<Rewriter> {
        let mut options = self.options;
        if let Some(url) = self.url {
            Base::parse(options.profile, &url)?;
            options.retrieval = Some(Retrieval::url(url));
        }
        if let Some(scheme) = self.assumed_scheme {
            options.assumed_scheme = Some(hierarchical_scheme(&scheme)?.into());
        }
        options.format = self.format.unwrap_or_default();
        Ok(Rewriter { options, detects: self.format.is_none() })
    }
}

impl Rewriter {
    /// A rewriter that is told what is known step by step.
    pub fn builder() -> RewriterBuilder {
        RewriterBuilder::default()
    }

    /// Makes every relative link of a document absolute.
    #[must_use]
    pub fn rewrite<'a>(&self, bytes: &'a [u8]) -> Rewritten<'a> {
        let options = self.options_for(bytes);
        if !options.format.holds_many() {
            return rewrite::rewrite(bytes, &options);
        }
        let (mut edits, mut report) = (Edits::default(), Report::default());
        let mut totals = Totals::default();
        for (name, message) in units(options.format, bytes) {
            let one = rewrite::rewrite(&bytes[message.range()], &named(&options, name));
            // Messages do not overlap.
            if edits.append(&one.edits, message.start).is_ok() {
                report.append(one.report, message.start);
                totals.append(one.totals, message.start);
            }
        }
        Rewritten { source: bytes, edits, parts: Vec::new(), report, totals, options }
    }

    /// The edits that make every relative link of a document absolute, and the outcome of the links in numbers. Without a
    /// report this takes a fraction of the time of [`rewrite`](Self::rewrite).
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let page = b"<a href=x>";
    /// let (edits, totals) = Rewriter::builder().url("http://a/").build()?.edits(page);
    /// assert_eq!(edits.apply(page), b"<a href=http://a/x>");
    /// assert!(totals.changed);
    /// # Ok::<(), baselink::Error>(())
    /// ```
    #[must_use]
    pub fn edits(&self, bytes: &[u8]) -> (Edits, Totals) {
        let options = self.options_for(bytes);
        if !options.format.holds_many() {
            return rewrite::edits(bytes, &options);
        }
        let (mut edits, mut totals) = (Edits::default(), Totals::default());
        for (name, message) in units(options.format, bytes) {
            let (one, of_one) = rewrite::edits(&bytes[message.range()], &named(&options, name));
            // Messages do not overlap.
            if edits.append(&one, message.start).is_ok() {
                totals.append(of_one, message.start);
            }
        }
        (edits, totals)
    }

    /// Makes every relative link of the document that `reader` gives absolute, and writes the result to `writer`.
    ///
    /// A mailbox is read and written message by message. Any other document is read to its end first, since a base may
    /// follow what it governs: memory grows with its length.
    ///
    /// # Errors
    ///
    /// Those of `reader` and `writer`. What was written is then of no use.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let page = &b"<a href=x><base href=/b/>"[..];
    /// let mut out = Vec::new();
    /// Rewriter::builder().url("http://a/").build()?.rewrite_to(page, &mut out)?;
    /// assert_eq!(out, b"<a href=http://a/b/x><base href=http://a/b/>");
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn rewrite_to(&self, mut reader: impl Read, mut writer: impl Write) -> Result<Totals> {
        let mut bytes = Vec::new();
        reader.by_ref().take(HEAD).read_to_end(&mut bytes).map_err(reading)?;
        let options = self.options_for(&bytes);
        if options.format.holds_many() {
            return mailbox_to(bytes.as_slice().chain(reader), &options, &mut writer);
        }
        reader.read_to_end(&mut bytes).map_err(reading)?;
        let (edits, totals) = rewrite::edits(&bytes, &options);
        write_edits(&edits, &bytes, &totals, &mut writer).map_err(writing)?;
        writer.flush().map_err(writing)?;
        Ok(totals)
    }

    /// Gives every link of a document to `visit`, in the order of the document: where it is, its base, its target,
    /// and what [`rewrite`](Self::rewrite) makes of it. Of an HTML document no link is kept.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewriter = Rewriter::builder().url("http://a/b").build()?;
    /// let mut found = Vec::new();
    /// rewriter.links(b"<img src=x.png>\n<a href=mailto:c@d>", |one| found.push((one.line, one.link.target)));
    /// assert_eq!(found, [(1, Some("http://a/x.png".into())), (2, Some("mailto:c@d".into()))]);
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn links(&self, bytes: &[u8], mut visit: impl FnMut(ListedLink)) -> Totals {
        let options = self.options_for(bytes);
        if !options.format.holds_many() {
            return rewrite::links(bytes, &options, &mut visit);
        }
        let lines = Lines::of(bytes);
        let mut totals = Totals::default();
        for (name, Span { start, end }) in units(options.format, bytes) {
            let options = named(&options, name);
            let its = rewrite::links(&bytes[start..end], &options, &mut |mut found| {
                found.link.span = found.link.span.shifted(start);
                (found.line, found.column) = lines.place(found.link.span.start);
                visit(found);
            });
            totals.append(its, start);
        }
        totals
    }

    /// The document of a `record` of a web archive, and a rewriter for it: the same as this one, but with the format, the
    /// encoding and the retrieval URL that the record says. `None` where it has no document that is read.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// use baselink::archive::{ArchiveEntry, Records};
    /// let archive = b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/b/c\r\n\
    ///     Content-Type: text/html\r\nContent-Length: 10\r\n\r\n<a href=d>\r\n\r\n";
    /// let rewriter = Rewriter::builder().build()?;
    /// for entry in Records::new(&archive[..]) {
    ///     let ArchiveEntry::Record(record) = entry? else { continue };
    ///     let Some((rewriter, document)) = rewriter.record(&record) else { continue };
    ///     rewriter.links(&document, |found| assert_eq!(found.link.target.as_deref(), Some("http://a/b/d")));
    /// }
    /// # Ok::<(), baselink::Error>(())
    /// ```
    #[cfg(feature = "archive")]
    #[must_use]
    pub fn record<'r>(&self, record: &'r crate::archive::Record) -> Option<(Self, Cow<'r, [u8]>)> {
        let found = rewrite::record::document(record, &self.options)?;
        Some((Self { options: found.options, detects: false }, found.bytes))
    }

    /// The base of a document, with what was found on every level and why it was taken or passed over. Of a message
    /// it is that of its outermost heading, of a mailbox that of its first message; [`rewrite`](Self::rewrite) has
    /// those of all entities.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewriter = Rewriter::builder().url("http://a/").build()?;
    /// let chain = rewriter.base(b"<base href=http://b/>");
    /// assert_eq!(chain.base.as_deref(), Some("http://b/"));
    /// assert_eq!(chain.rule.section(), "3.1");
    /// # Ok::<(), baselink::Error>(())
    /// ```
    #[must_use]
    pub fn base(&self, bytes: &[u8]) -> BaseChain {
        let options = self.options_for(bytes);
        let first = units(options.format, bytes).next();
        let first = first.map_or(bytes, |(_, first)| &bytes[first.range()]);
        let entities = rewrite::rewrite(first, &options).report.entities;
        entities.into_iter().next().map_or_else(
            || {
                let nothing = Document::empty("".into(), options.format, Charset::UTF_8);
                let outer = Outer::Retrieval(options.retrieval.as_ref());
                base::establish(&nothing, outer, options.profile)
            },
            |outermost| outermost.chain,
        )
    }

    /// The options for a document of a known format; of HTML if no format was given.
    #[doc(hidden)]
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    fn options_for(&self, head: &[u8]) -> Options {
        let mut options = self.options.clone();
        if self.detects {
            options.format = Format::detect(None, head);
        }
        options
    }
}

fn named(options: &Options, name: Option<Arc<str>>) -> Options {
    let mut options = options.clone();
    options.scan.entity = name.unwrap_or(options.scan.entity);
    options
}

/// Rewrites a mailbox, a message at a time.
fn mailbox_to(mailbox: impl Read, options: &Options, writer: &mut impl Write) -> Result<Totals> {
    let mut messages = Messages::new(mailbox);
    let mut totals = Totals::default();
    while let Some(one) = messages.next_message().map_err(reading)? {
        let Span { start, end } = one.message;
        let message = &one.bytes[start..end];
        let named = named(options, Some(one.number.to_string().into()));
        let (edits, its) = rewrite::edits(message, &named);
        writer.write_all(&one.bytes[..start]).map_err(writing)?;
        write_edits(&edits, message, &its, writer).map_err(writing)?;
        writer.write_all(&one.bytes[end..]).map_err(writing)?;
        let offset = usize::try_from(one.offset).unwrap_or(usize::MAX);
        totals.append(its, offset.saturating_add(start));
    }
    writer.flush().map_err(writing)?;
    Ok(totals)
}

fn reading(error: io::Error) -> Error {
    Error::system(format!("the document could not be read: {}", cause(&error)), error)
}

fn writing(error: io::Error) -> Error {
    Error::system(format!("the output could not be written: {}", cause(&error)), error)
}

/// Writes a document with its edits, if there was memory to make them.
fn write_edits(
    edits: &Edits,
    source: &[u8],
    totals: &Totals,
    writer: &mut impl Write,
) -> io::Result<()> {
    if totals.lacks_memory {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    edits.write_to(source, writer)
}
