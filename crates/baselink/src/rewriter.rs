//! The public interface: a [`Rewriter`] holds the options and rewrites any number of documents (RFC 1808, sections
//! 3 and 4).
//!
//! ```
//! use std::borrow::Cow;
//! use baselink::Rewriter;
//! let rewriter = Rewriter::builder().url("http://a/b/c.html").build()?;
//! assert_eq!(&*rewriter.rewrite(b"<a href=d>").into_output(), b"<a href=http://a/b/d>");
//! // An unchanged document is not copied.
//! assert!(matches!(rewriter.rewrite(b"<a href=http://d/>").into_output(), Cow::Borrowed(_)));
//! # Ok::<(), baselink::Error>(())
//! ```
//!
//! A mailbox (RFC 4155) is rewritten message by message. The name of an entity in it starts with the number of the
//! message, as in `1` or `2.1`.
//!
//! Deliberately absent: file names and neighboring files.

use std::{
    borrow::Cow,
    cell::RefCell,
    fmt,
    io::{self, Read, Write},
    ops::ControlFlow,
    sync::Arc,
};

use baselink_rewrite::{
    self as rewrite, BaseChain, BaseElement, Choice, ContentLocationUse, Destination, Dkim,
    Fragments, Lack, LinkLines, LinkReport, LinkSink, ListedLink, LocalCopies, Options, PlainLink,
    Retrieval, Totals, Within,
    base::{self, Outer},
    container::{mbox::Messages, units},
};
use baselink_scan::{
    Against, Document,
    attributes::{Groups, Place},
};
use baselink_text::{Charset, Edits, Error, ErrorKind, Format, Lines, Result, Span, cause};
use baselink_url::{Base, Resolver, hierarchical_scheme};

use crate::rewritten::Rewritten;

/// The number of leading bytes from which [`Rewriter::rewrite_to`] detects the format of a document.
const HEAD: u64 = 4_096;

/// Rewrites documents. Created by [`Rewriter::builder`].
#[derive(Clone, Debug)]
pub struct Rewriter {
    options: Options,
    /// True if the format of each document is detected from its first bytes.
    detects: bool,
}

/// Configures a [`Rewriter`]. By default it resolves by RFC 1808, has no retrieval URL, and detects the format of
/// each document from its first bytes.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct RewriterBuilder {
    options: Options,
    url: Option<String>,
    format: Option<Format>,
    assumed_scheme: Option<String>,
}

/// A closure that chooses the new text of links.
struct ChoiceClosure<F>(RefCell<F>);

impl<F> fmt::Debug for ChoiceClosure<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChoiceClosure(..)")
    }
}

impl<F: FnMut(&LinkReport) -> Choice> Destination for ChoiceClosure<F> {
    fn choose(&self, link: &LinkReport, _: &Against) -> (Choice, Option<Lack>) {
        ((self.0.borrow_mut())(link), None)
    }
}

/// A function that receives links until it ends the visit.
struct Visitor<'a, F> {
    lines: LinkLines<'a>,
    visit: F,
    has_ended: bool,
}

impl<F: FnMut(ListedLink) -> ControlFlow<()>> Visitor<'_, F> {
    fn take(&mut self, link: ListedLink) {
        self.has_ended = self.has_ended || (self.visit)(link).is_break();
    }
}

impl<F: FnMut(ListedLink) -> ControlFlow<()>> LinkSink for Visitor<'_, F> {
    fn plain(&mut self, _: &PlainLink<'_>, _: Within<'_>) -> bool {
        self.has_ended
    }

    fn link(&mut self, link: LinkReport, _: Within<'_>, outermost: Charset) {
        let listed = self.lines.listed(link, outermost);
        self.take(listed);
    }
}

impl RewriterBuilder {
    /// Sets the absolute URL from which the documents were retrieved (RFC 1808, 3.3).
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Sets the rules by which references are resolved.
    pub fn resolver(mut self, resolver: Resolver) -> Self {
        self.options.resolver = resolver;
        self
    }

    /// Sets the format of all documents instead of detecting it.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets the encoding of the documents. A byte order mark takes precedence.
    pub fn charset(mut self, charset: Charset) -> Self {
        self.options.scan.charset = Some(charset);
        self
    }

    /// Sets the treatment of references that consist of a fragment only. By default they are resolved
    /// ([`Fragments::Rewrite`]). In a saved page, they are resolved only if a browser would leave the page
    /// ([`Fragments::Auto`]).
    pub fn fragments(mut self, fragments: Fragments) -> Self {
        self.options.fragments = Some(fragments);
        self
    }

    /// Sets the treatment of the `base` element.
    pub fn base_element(mut self, policy: BaseElement) -> Self {
        self.options.base_element = policy;
        self
    }

    /// Sets the treatment of links to files that a browser saved with a page.
    pub fn local_copies(mut self, policy: LocalCopies) -> Self {
        self.options.local_copies = policy;
        self
    }

    /// Sets the scheme of references that begin with `//` in a document without a base (RFC 1808, 3.4). It
    /// must be a scheme whose URLs name a host, such as `https`.
    pub fn assume_scheme(mut self, scheme: impl Into<String>) -> Self {
        self.assumed_scheme = Some(scheme.into());
        self
    }

    /// Sets the meaning of `Content-Location` (RFC 2557, 5): a base, or only a label.
    pub fn content_location(mut self, meaning: ContentLocationUse) -> Self {
        self.options.content_location = meaning;
        self
    }

    /// Sets the treatment of messages with a DKIM or ARC signature.
    pub fn dkim(mut self, policy: Dkim) -> Self {
        self.options.dkim = policy;
        self
    }

    /// Finds links in further places. [`Groups`] parse from a comma-separated list of names, or from `all`.
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

    /// Treats further attributes as links. A [`Place`] parses from `ELEMENT[ATTRIBUTE]=SYNTAX`; the syntax is `url`,
    /// `urls`, `srcset`, `css` or `html`.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewriter = Rewriter::builder().url("http://a/").attributes(["*[data-src]=url".parse()?]).build()?;
    /// assert_eq!(&*rewriter.rewrite(b"<p data-src=x>").into_output(), b"<p data-src=http://a/x>");
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn attributes(mut self, attributes: impl IntoIterator<Item = Place>) -> Self {
        let places = &mut self.options.scan.places;
        *places = places.iter().cloned().chain(attributes).collect();
        self
    }

    /// Builds the rewriter.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Url`] if [`Base::parse`] rejects the URL, and
    /// [`ErrorKind::Argument`] unless URLs of the assumed scheme name a host.
    ///
    /// ```
    /// use baselink::{ErrorKind, Rewriter};
    /// let error = Rewriter::builder().url("b/c.html").build().unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Url);
    /// ```
    pub fn build(self) -> Result<Rewriter> {
        let mut options = self.options;
        if let Some(url) = self.url {
            set_url(&mut options, url)?;
        }
        if let Some(scheme) = self.assumed_scheme {
            options.assumed_scheme = Some(hierarchical_scheme(&scheme)?.into());
        }
        options.format = self.format.unwrap_or_default();
        Ok(Rewriter {
            options,
            detects: self.format.is_none(),
        })
    }
}

impl Rewriter {
    /// Returns a builder with the default options.
    pub fn builder() -> RewriterBuilder {
        RewriterBuilder::default()
    }

    /// A rewriter with the same options for documents from another URL.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Url`] if [`Base::parse`] rejects the URL.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewriter = Rewriter::builder().build()?;
    /// for url in ["http://a/", "http://b/"] {
    ///     assert_eq!(rewriter.at(url)?.rewrite_str("<a href='x'>"), format!("<a href='{url}x'>"));
    /// }
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn at(&self, url: impl Into<String>) -> Result<Self> {
        let mut rewriter = self.clone();
        set_url(&mut rewriter.options, url.into())?;
        Ok(rewriter)
    }

    /// A rewriter for text, which is UTF-8, whatever it declares. [`RewriterBuilder::charset`] is the encoding of its queries.
    #[doc(hidden)]
    #[must_use]
    pub fn for_text(mut self) -> Self {
        let queries = self.options.scan.charset.replace(Charset::UTF_8);
        self.options.query_charset = queries;
        self
    }

    /// Makes every relative link of a document absolute. The text is never decoded again, whatever encoding it declares;
    /// [`RewriterBuilder::charset`] is the encoding of its queries. If a part of a message would get bytes of another
    /// encoding, the text is returned unchanged.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewriter = Rewriter::builder().url("http://a/").build()?;
    /// assert_eq!(rewriter.rewrite_str("<meta charset=latin1>é <a href=x>"), "<meta charset=latin1>é <a href=http://a/x>");
    /// # Ok::<(), baselink::Error>(())
    /// ```
    #[must_use]
    pub fn rewrite_str<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let (edits, _) = self.clone().for_text().edits(text.as_bytes());
        if edits.is_empty() {
            return text.into();
        }
        String::from_utf8(edits.apply(text.as_bytes())).map_or(text.into(), Cow::Owned)
    }

    /// Makes every relative link of a document absolute. In a message, each part has its own base:
    ///
    /// ```
    /// let message = b"Base: <URL:http://a/>\nContent-Type: multipart/mixed; boundary=b\n\n\
    ///     --b\nContent-Type: text/html\n\n<a href=x>\n\
    ///     --b\nBase: <URL:http://b/>\nContent-Type: text/html\n\n<a href=x>\n--b--\n";
    /// let rewritten = baselink::Rewriter::builder().build()?.rewrite(message);
    /// let targets: Vec<_> = rewritten.report.links.iter().map(|link| link.in_output()).collect();
    /// assert_eq!(targets, ["http://a/x", "http://b/x"]);
    /// assert_eq!(rewritten.report.entities[1].chain.rule.section(), "3.2");
    /// # Ok::<(), baselink::Error>(())
    /// ```
    #[must_use]
    pub fn rewrite<'a>(&self, bytes: &'a [u8]) -> Rewritten<'a> {
        self.rewrite_units(bytes, rewrite::rewrite)
    }

    /// Writes the reference that `choose` returns for each link, relative or absolute, that has a target and may be changed. The
    /// reference is escaped for its place.
    ///
    /// `choose` may be called twice for a link. The span of the link is not known yet: it counts from the start of the decoded
    /// document that contains the link.
    ///
    /// ```
    /// use baselink::{Choice, Rewriter};
    /// let mut images = Vec::new();
    /// let page = b"<a href=x><img src='http://a/i.png?b&amp;c'>";
    /// let rewritten = Rewriter::builder().url("http://a/").build()?.rewrite_links(page, |link| {
    ///     let Some(name) = link.target.as_deref().and_then(|url| url.strip_prefix("http://a/i.png")) else {
    ///         return Choice::Kept;
    ///     };
    ///     images.push(name.to_owned());
    ///     Choice::Reference(format!("/images/{}{name}", images.len()))
    /// });
    /// assert_eq!(&*rewritten.into_output(), b"<a href=x><img src='/images/1?b&amp;c'>");
    /// # Ok::<(), baselink::Error>(())
    /// ```
    #[must_use]
    pub fn rewrite_links<'a>(
        &self,
        bytes: &'a [u8],
        choose: impl FnMut(&LinkReport) -> Choice,
    ) -> Rewritten<'a> {
        let destination = ChoiceClosure(RefCell::new(choose));
        self.rewrite_units(bytes, |unit, options| {
            rewrite::rewrite_links(unit, options, &destination)
        })
    }

    /// Rewrites the document, or each message of a mailbox.
    fn rewrite_units<'a>(
        &self,
        bytes: &'a [u8],
        rewrite: impl Fn(&'a [u8], &Options) -> rewrite::FileRewrite<'a>,
    ) -> Rewritten<'a> {
        let options = self.options_for(bytes);
        let mut rewritten = Rewritten::new(bytes);
        for (name, span) in units(options.format, bytes) {
            rewritten.add(span, rewrite(&bytes[span.range()], &named(&options, name)));
        }
        rewritten
    }

    /// Returns the edits that make every relative link of a document absolute, and the totals of outcomes. Much
    /// faster than [`rewrite`](Self::rewrite), which also reports each link.
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
            let options = named(&options, name);
            let (message_edits, message_totals) = rewrite::edits(&bytes[message.range()], &options);
            // Cannot fail: messages do not overlap.
            if edits.append(&message_edits, message.start).is_ok() {
                totals.append(message_totals, message.start);
            }
        }
        (edits, totals)
    }

    /// Reads a document from `reader`, makes its relative links absolute, and writes the result to `writer`.
    ///
    /// A mailbox is processed message by message. Any other document is first read into memory as a whole, because a
    /// base may follow the links that it governs.
    ///
    /// # Errors
    ///
    /// Returns errors of `reader` and `writer`. After an error the output is incomplete.
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
        reader
            .by_ref()
            .take(HEAD)
            .read_to_end(&mut bytes)
            .map_err(reading)?;
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

    /// Calls `visit` with every link of a document, in document order: its position, base, target and outcome.
    /// The links of most HTML documents are not buffered. After [`ControlFlow::Break`], the other links are only counted.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// use std::ops::ControlFlow;
    /// let rewriter = Rewriter::builder().url("http://a/b").build()?;
    /// let mut found = Vec::new();
    /// rewriter.links(b"<img src=x.png>\n<a href=mailto:c@d>", |one| {
    ///     found.push((one.line, one.link.target));
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(found, [(1, Some("http://a/x.png".into())), (2, Some("mailto:c@d".into()))]);
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn links(&self, bytes: &[u8], visit: impl FnMut(ListedLink) -> ControlFlow<()>) -> Totals {
        let options = self.options_for(bytes);
        let mut visitor = Visitor {
            lines: LinkLines::of(bytes),
            visit,
            has_ended: false,
        };
        if !options.format.holds_many() {
            return rewrite::links_to(bytes, &options, &mut visitor);
        }
        let lines = Lines::of(bytes);
        let mut totals = Totals::default();
        for (name, Span { start, end }) in units(options.format, bytes) {
            let options = named(&options, name);
            let message = rewrite::links(&bytes[start..end], &options, &mut |mut found| {
                found.link.span = found.link.span.shifted(start);
                (found.line, found.column) = lines.place(found.link.span.start);
                visitor.take(found);
            });
            totals.append(message, start);
        }
        totals
    }

    /// Returns the document of a `record` of a web archive, and a rewriter with the format, encoding and retrieval
    /// URL of the record. Returns `None` if the record has no document in a known format.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// use baselink::archive::{ArchiveEntry, Records};
    /// use std::ops::ControlFlow;
    /// let archive = b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/b/c\r\n\
    ///     Content-Type: text/html\r\nContent-Length: 10\r\n\r\n<a href=d>\r\n\r\n";
    /// let rewriter = Rewriter::builder().build()?;
    /// for entry in Records::new(&archive[..]) {
    ///     let ArchiveEntry::Record(record) = entry? else { continue };
    ///     let Some((rewriter, document)) = rewriter.record(&record) else { continue };
    ///     rewriter.links(&document, |found| {
    ///         assert_eq!(found.link.target.as_deref(), Some("http://a/b/d"));
    ///         ControlFlow::Continue(())
    ///     });
    /// }
    /// # Ok::<(), baselink::Error>(())
    /// ```
    #[cfg(feature = "codings")]
    #[must_use]
    pub fn record<'r>(
        &self,
        record: &'r baselink_rewrite::archive::Record,
    ) -> Option<(Self, Cow<'r, [u8]>)> {
        let found = rewrite::record::document(record, &self.options)?;
        Some((
            Self {
                options: found.options,
                detects: false,
            },
            found.bytes,
        ))
    }

    /// Returns the base of a document, with the reason why each level was used or passed over. For a message, this is
    /// the base of the outermost entity; for a mailbox, that of the first message. [`rewrite`](Self::rewrite) reports
    /// the bases of all entities.
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
        let (name, span) = first.unwrap_or((None, Span::new(0, bytes.len())));
        let options = named(&options, name);
        rewrite::base(&bytes[span.range()], &options).unwrap_or_else(|| {
            let nothing = Document::empty("".into(), options.format, Charset::UTF_8);
            let outer = Outer::Retrieval(options.retrieval.as_ref());
            base::establish(&nothing, outer, options.resolver)
        })
    }

    /// The format in which a document that begins with `head` is read: the one that was set, or else the detected one. Text
    /// in no known format is HTML. [`Format::Other`] and archives are not read.
    ///
    /// ```
    /// use baselink::{Format, Rewriter};
    /// let rewriter = Rewriter::builder().build()?;
    /// assert_eq!(rewriter.format(b"hello <a href=x>"), Format::Html);
    /// assert_eq!(rewriter.format(b"WARC/1.1\r\n"), Format::Warc);
    /// # Ok::<(), baselink::Error>(())
    /// ```
    #[must_use]
    pub fn format(&self, head: &[u8]) -> Format {
        if !self.detects {
            return self.options.format;
        }
        #[cfg(feature = "codings")]
        if baselink_rewrite::archive::is_archive(head) {
            return Format::Warc;
        }
        match Format::of_document(head) {
            // Only a text has an encoding.
            Format::Other if self.options.scan.charset.is_some() => Format::Html,
            format => format,
        }
    }

    /// The options for a document. The format is HTML unless one was set.
    #[doc(hidden)]
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    fn options_for(&self, head: &[u8]) -> Options {
        let mut options = self.options.clone();
        options.format = self.format(head);
        options
    }
}

/// Sets the URL from which documents were retrieved.
fn set_url(options: &mut Options, url: String) -> Result<()> {
    Base::parse(options.resolver, &url)?;
    options.retrieval = Some(Retrieval::url(url));
    Ok(())
}

fn named(options: &Options, name: Option<Arc<str>>) -> Options {
    let mut options = options.clone();
    options.scan.entity = name.unwrap_or(options.scan.entity);
    options
}

/// Rewrites a mailbox, one message at a time.
fn mailbox_to(mailbox: impl Read, options: &Options, writer: &mut impl Write) -> Result<Totals> {
    let mut messages = Messages::new(mailbox);
    let mut totals = Totals::default();
    while let Some(unit) = messages.next_message().map_err(reading)? {
        let Span { start, end } = unit.message;
        let message = &unit.bytes[start..end];
        let named = named(options, Some(unit.number.to_string().into()));
        let (edits, message_totals) = rewrite::edits(message, &named);
        writer.write_all(&unit.bytes[..start]).map_err(writing)?;
        write_edits(&edits, message, &message_totals, writer).map_err(writing)?;
        writer.write_all(&unit.bytes[end..]).map_err(writing)?;
        let offset = usize::try_from(unit.offset).unwrap_or(usize::MAX);
        totals.append(message_totals, offset.saturating_add(start));
    }
    writer.flush().map_err(writing)?;
    Ok(totals)
}

fn reading(error: io::Error) -> Error {
    Error::caused(
        ErrorKind::Read,
        format!("the document could not be read: {}", cause(&error)),
        error,
    )
}

fn writing(error: io::Error) -> Error {
    Error::caused(
        ErrorKind::Write,
        format!("the output could not be written: {}", cause(&error)),
        error,
    )
}

/// Writes a document with its edits. Fails if memory ran out before the edits could be checked.
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
