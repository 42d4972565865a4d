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
use std::io::{self, Read, Seek, Write};
use std::ops::ControlFlow;
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
use crate::rewrite::{ListedLink, StreamError, Totals};
use crate::span::{Lines, Span};
use crate::verify::{self, Difference};

/// How many bytes of a stream are in memory at a time, where a document can be read in pieces.
const WINDOW: usize = 1 << 20;

/// So many bytes tell the format of a document.
const HEAD: u64 = 4_096;

/// Rewrites documents. [`Rewriter::builder`] makes one.
#[derive(Clone, Debug)]
pub struct Rewriter {
    options: Options,
    /// Whether the format of each document is told by its first bytes.
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
    charset: Option<String>,
    assumed_scheme: Option<String>,
    groups: Vec<String>,
    places: Vec<String>,
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

    /// The encoding of the documents, by a label of the Encoding Standard. A byte order mark counts more.
    pub fn charset(mut self, label: impl Into<String>) -> Self {
        self.charset = Some(label.into());
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

    /// Whether `Content-Location` may be a base (RFC 2557, 5), as `Base` and `Content-Base` are.
    pub fn content_location(mut self, meaning: ContentLocationUse) -> Self {
        self.options.content_location = meaning;
        self
    }

    /// What becomes of messages with a DKIM or ARC signature.
    pub fn dkim(mut self, policy: Dkim) -> Self {
        self.options.dkim = policy;
        self
    }

    /// Counts further places as links: groups by their names, separated by commas, or `all`.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewriter = Rewriter::builder().url("http://a/").enable("headers").build()?;
    /// let message = b"List-Archive: <x>\nSubject: y\n\nz";
    /// assert_eq!(&*rewriter.rewrite(message).into_output(), b"List-Archive: <http://a/x>\nSubject: y\n\nz");
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn enable(mut self, groups: impl Into<String>) -> Self {
        self.groups.push(groups.into());
        self
    }

    /// Counts an attribute as a link, written `ELEMENT[ATTRIBUTE]=SYNTAX`; the syntax is `url`, `urls`, `srcset`,
    /// `css` or `html`.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewriter = Rewriter::builder().url("http://a/").place("*[data-src]=url").build()?;
    /// assert_eq!(&*rewriter.rewrite(b"<p data-src=x>").into_output(), b"<p data-src=http://a/x>");
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn place(mut self, place: impl Into<String>) -> Self {
        self.places.push(place.into());
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
    /// A URL that is not absolute ([`ErrorKind::Url`](crate::error::ErrorKind::Url)); a label, scheme, group or place
    /// that is none ([`ErrorKind::Argument`](crate::error::ErrorKind::Argument)).
    ///
    /// ```
    /// use baselink::{ErrorKind, Rewriter};
    /// let error = Rewriter::builder().url("b/c.html").build().unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Url);
    /// ```
    pub fn build(self) -> Result<Rewriter> {
        let mut options = self.options;
        if let Some(url) = self.url {
            Base::absolute(options.profile, &url)?;
            options.retrieval = Some(Retrieval::url(url));
        }
        if let Some(scheme) = self.assumed_scheme {
            options.assumed_scheme = Some(hierarchical_scheme(&scheme)?.into());
        }
        if let Some(label) = self.charset {
            let unknown = || Error::new(format!("unknown encoding '{label}'"));
            options.scan.charset = Some(Charset::for_label(&label).ok_or_else(unknown)?);
        }
        for groups in self.groups {
            options.scan.groups.extend(groups.parse()?);
        }
        for place in self.places {
            options.scan.places.push(place.parse()?);
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
        let mut totals = Totals::none();
        for (name, message) in units(options.format, bytes) {
            let one = rewrite::rewrite(&bytes[message.range()], &named(&options, name));
            // Messages do not overlap.
            if edits.append(one.edits, message.start).is_ok() {
                report.append(one.report, message.start);
                totals.append(one.totals, message.start);
            }
        }
        Rewritten::new(bytes, edits, report, totals)
    }

    /// Makes every relative link of a document absolute, and puts the result after what `out` holds. Without a report it
    /// takes a fraction of the time of [`rewrite`](Self::rewrite).
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let mut out = Vec::new();
    /// let totals = Rewriter::builder().url("http://a/").build()?.rewrite_into(b"<a href=x>", &mut out);
    /// assert_eq!(out, b"<a href=http://a/x>");
    /// assert!(totals.changed);
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn rewrite_into(&self, bytes: &[u8], out: &mut Vec<u8>) -> Totals {
        let options = self.options_for(bytes);
        if !options.format.holds_many() {
            return rewrite::rewrite_into(bytes, &options, out);
        }
        // Memory can always be read and written.
        mailbox_to(bytes, &options, out).unwrap_or_else(|_| Totals::none())
    }

    /// Makes every relative link of the document that `reader` gives absolute, and writes the result to `writer`.
    ///
    /// A mailbox is read and written message by message. Any other document is read to its end first, since a base may
    /// follow what it governs: memory grows with its length. What can be read twice, such as a file, takes less memory
    /// with [`rewrite_file_to`](Self::rewrite_file_to).
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
        reader.by_ref().take(HEAD).read_to_end(&mut bytes).map_err(StreamError::Reading)?;
        let options = self.options_for(&bytes);
        if options.format.holds_many() {
            return mailbox_to(bytes.as_slice().chain(reader), &options, &mut writer)
                .map_err(Error::from);
        }
        reader.read_to_end(&mut bytes).map_err(StreamError::Reading)?;
        let mut buffer = Vec::with_capacity(WINDOW);
        let totals = rewrite::rewrite_to(&bytes, &options, &mut buffer, &mut writer);
        let totals = totals.map_err(StreamError::Giving)?;
        writer.flush().map_err(StreamError::Giving)?;
        Ok(totals)
    }

    /// Does what [`rewrite_to`](Self::rewrite_to) does with a document in memory, and gathers the result in `buffer`, as
    /// [`rewrite_to`](rewrite::rewrite_to) does.
    #[doc(hidden)]
    pub fn rewrite_bytes_to(
        &self,
        bytes: &[u8],
        buffer: &mut Vec<u8>,
        writer: &mut impl Write,
    ) -> io::Result<Totals> {
        let options = self.options_for(bytes);
        if !options.format.holds_many() {
            return rewrite::rewrite_to(bytes, &options, buffer, writer);
        }
        mailbox_to(bytes, &options, writer).map_err(|error| match error {
            StreamError::Reading(error) | StreamError::Giving(error) => error,
        })
    }

    /// Does what [`rewrite_to`](Self::rewrite_to) does with a document that can be read twice, from its start.
    ///
    /// HTML that declares no base is read and written in pieces after a first look, so that memory does not grow with
    /// its length. Any other document is read as a whole.
    ///
    /// # Errors
    ///
    /// Those of `file` and `writer`. What was written is then of no use.
    ///
    /// ```
    /// use std::io::Cursor;
    /// use baselink::Rewriter;
    /// let page = Cursor::new(b"<a href=../x>".repeat(100_000));
    /// let mut out = Vec::new();
    /// let totals = Rewriter::builder().url("http://a/b/c").build()?.rewrite_file_to(page, &mut out)?;
    /// assert_eq!(totals.links(), 100_000);
    /// assert_eq!(out, b"<a href=http://a/x>".repeat(100_000));
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn rewrite_file_to(
        &self,
        mut file: impl Read + Seek + Send,
        mut writer: impl Write,
    ) -> Result<Totals> {
        let mut head = Vec::new();
        file.rewind()
            .and_then(|()| file.by_ref().take(HEAD).read_to_end(&mut head))
            .and_then(|_| file.rewind())
            .map_err(StreamError::Reading)?;
        let options = self.options_for(&head);
        if options.format.holds_many() {
            return mailbox_to(file, &options, &mut writer).map_err(Error::from);
        }
        let mut give = |piece: &mut Vec<u8>| {
            writer.write_all(piece)?;
            piece.clear();
            Ok(())
        };
        let totals = rewrite::rewrite_stream(&mut [file], &options, WINDOW, &mut give)?;
        writer.flush().map_err(StreamError::Giving)?;
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
            return rewrite::links(bytes, &options, &mut |found| {
                visit(found);
                ControlFlow::Continue(())
            });
        }
        let lines = Lines::of(bytes);
        let mut totals = Totals::none();
        for (name, Span { start, end }) in units(options.format, bytes) {
            let options = named(&options, name);
            let its = rewrite::links(&bytes[start..end], &options, &mut |mut found| {
                found.link.span = found.link.span.shifted(start);
                (found.line, found.column) = lines.place(found.link.span.start);
                visit(found);
                ControlFlow::Continue(())
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
        let entities = rewrite::examine(first, &options).entities;
        entities.into_iter().next().map_or_else(
            || {
                let nothing = Document::empty("".into(), options.format, Charset::UTF_8);
                let outer = Outer::Retrieval(options.retrieval.as_ref());
                base::establish(&nothing, outer, options.profile)
            },
            |outermost| outermost.chain,
        )
    }

    /// Proves that what [`rewrite`](Self::rewrite) made of a document differs from it in the reported links only,
    /// by parsing both.
    ///
    /// # Errors
    ///
    /// The first differences, in the order of the document.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewriter = Rewriter::builder().url("http://a/").build()?;
    /// let rewritten = rewriter.rewrite(b"<p class=a><a href='x'>y</a>");
    /// assert_eq!(rewriter.verify(&rewritten), Ok(()));
    /// # Ok::<(), baselink::Error>(())
    /// ```
    pub fn verify(&self, rewritten: &Rewritten<'_>) -> std::result::Result<(), Vec<Difference>> {
        let source = rewritten.source();
        let options = self.options_for(source);
        if !options.format.holds_many() {
            return verify::verify(rewritten, &options);
        }
        let mut edits = Edits::default();
        for (name, message) in units(options.format, source) {
            let options = named(&options, name);
            let one = rewrite::rewrite(&source[message.range()], &options);
            verify::verify(&one, &options)?;
            let _ = edits.append(one.edits, message.start);
        }
        match edits == rewritten.edits {
            true => Ok(()),
            false => {
                Err(vec![Difference { message: "the edits are not those of its messages".into() }])
            }
        }
    }

    /// Where the lines begin of what was `rewritten`, to which the spans of its report belong.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewriter = Rewriter::builder().url("http://a/").build()?;
    /// let rewritten = rewriter.rewrite(b"<p>\n<a href=x>");
    /// let place = rewritten.report.links[0].span.start;
    /// assert_eq!(rewriter.lines(&rewritten).place(place), (2, 9));
    /// # Ok::<(), baselink::Error>(())
    /// ```
    #[must_use]
    pub fn lines(&self, rewritten: &Rewritten<'_>) -> Lines {
        let source = rewritten.source();
        match self.options_for(source).format.has_headings() {
            true => Lines::of(source),
            false => rewritten.totals.charset.lines(source),
        }
    }

    /// What it does with documents of a known format; where it was told none, that of HTML.
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
fn mailbox_to(
    mailbox: impl Read,
    options: &Options,
    writer: &mut impl Write,
) -> std::result::Result<Totals, StreamError> {
    let mut messages = Messages::new(mailbox);
    let mut totals = Totals::none();
    let mut out = Vec::new();
    while let Some(one) = messages.next_message().map_err(StreamError::Reading)? {
        out.clear();
        out.extend_from_slice(&one.bytes[..one.message.start]);
        let message = &one.bytes[one.message.range()];
        let its = rewrite::rewrite_into(
            message,
            &named(options, Some(one.number.to_string().into())),
            &mut out,
        );
        out.extend_from_slice(&one.bytes[one.message.end..]);
        writer.write_all(&out).map_err(StreamError::Giving)?;
        let start = usize::try_from(one.offset).unwrap_or(usize::MAX);
        totals.append(its, start.saturating_add(one.message.start));
    }
    writer.flush().map_err(StreamError::Giving)?;
    Ok(totals)
}

#[doc(hidden)]
impl From<StreamError> for Error {
    fn from(error: StreamError) -> Self {
        let (what, error) = match error {
            StreamError::Reading(error) => ("the document could not be read", error),
            StreamError::Giving(error) => ("the output could not be written", error),
        };
        Self::system(format!("{what}: {}", cause(&error)), error)
    }
}
