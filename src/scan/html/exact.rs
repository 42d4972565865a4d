//! The exact scanner: html5ever decides what is there, this file finds the bytes.
//!
//! html5ever's tokenizer and tree builder run over the document with a proxy between them. Input is
//! fed in pieces that end before each `<` and behind each `>`, so a tag's token arrives with the piece
//! that ends it. Where the tag begins follows from silence: between a tag's `<` and its `>` the
//! tokenizer emits nothing. A [`TagReader`] reads the same bytes beside it, and each tag that it
//! reads is *verified* against the token: name, attribute names, their order, their values.
//!
//! Every byte of 0x80 and above is fed as U+007F. No name that matters has either, so the markup is
//! the same in every ASCII-compatible encoding, valid or not, and offsets need no correction.
//!
//! ```
//! use baselink::scan::html::{exact, Event};
//! let bytes = b"<title><a></title><svg><a href=x></svg>";
//! let mut tags = Vec::new();
//! let tree = exact::scan(bytes, 0..bytes.len(), true, &mut |event| {
//!     if let Event::StartTag { tag, .. } = event {
//!         tags.push(String::from_utf8_lossy(&bytes[tag.name.range()]).into_owned());
//!     }
//! });
//! assert_eq!(tags, ["title", "svg", "a"]);
//! assert!(tree.is_ok());
//! ```
//!
//! Deliberately absent: an answer at any price. html5ever is quadratic in the depth of a tree and in
//! the attributes of one tag; past a bound this scanner stops, and [`super::tokens`] takes over.

use std::cell::RefCell;
use std::ops::Range;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, StartTag, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use super::tag::{self, Progress, RawTag, TagReader};
use super::tree::{Node, Tree};
use super::{Event, Namespace, TextModel, TreeFacts};
use crate::layer::{View, escape};
use crate::span::Span;

/// Attributes of one tag beyond which html5ever's search for repeated ones takes too long.
pub(super) const MOST_ATTRIBUTES: usize = 1_000;

/// Calls into the tree that are always granted, and how many more for each byte.
///
/// Real pages stay below 3 a byte; nesting a few thousand deep is the first to run out.
const FREE_CALLS: u64 = 4_000_000;
const CALLS_PER_BYTE: u64 = 32;

/// How much is fed from one allocation.
const WINDOW: usize = 64 * 1024;

/// Why the exact scanner stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The tag at this offset has more than 1,000 attributes.
    Attributes(usize),
    /// Up to this offset the tree took more work than its size allows: it nests too deep.
    Nesting(usize),
    /// The tag that ends at this offset is not where the bytes say it is.
    Unverified(usize),
}

/// Scans `range` of `bytes` as an HTML document and reports every token that can matter to `event`,
/// in source order; offsets are those of `bytes`. `scripting` as in HTML, 13.2.4.5.
///
/// # Errors
///
/// Why it stopped; what was reported until then must be thrown away.
pub fn scan(
    bytes: &[u8],
    range: Range<usize>,
    scripting: bool,
    event: &mut dyn FnMut(Event<'_>),
) -> Result<TreeFacts, Stopped> {
    let watch = Watch {
        bytes,
        reader: None,
        declaration: None,
        section: None,
        text: None,
        at: range.start,
        spoke: false,
        found: Vec::new(),
        unverified: None,
    };
    let options = TreeBuilderOpts { scripting_enabled: scripting, ..TreeBuilderOpts::default() };
    let proxy =
        Proxy { builder: TreeBuilder::new(Tree::new(), options), watch: RefCell::new(watch) };
    let tokenizer =
        Tokenizer::new(proxy, TokenizerOpts { discard_bom: false, ..TokenizerOpts::default() });
    let queue = BufferQueue::default();
    let feed = |piece: StrTendril| {
        queue.push_back(piece);
        // A script or an encoding declaration makes the tokenizer pause; nothing is to be done then.
        while !matches!(tokenizer.feed(&queue), html5ever::TokenizerResult::Done) {}
    };
    let mut at = range.start;
    while at < range.end {
        let window_end = range.end.min(at + WINDOW);
        let window = StrTendril::from(ascii(&bytes[at..window_end]));
        let window_start = at;
        while at < window_end {
            let end = if bytes[at] == b'<' {
                at + 1
            } else {
                memchr::memchr2(b'<', b'>', &bytes[at..window_end]).map_or(window_end, |length| {
                    at + length + usize::from(bytes[at + length] == b'>')
                })
            };
            let opening = bytes[at] == b'<';
            if !opening {
                tokenizer.sink.watch.borrow_mut().advance(at, end)?;
            }
            tokenizer.sink.watch.borrow_mut().at = end;
            feed(window.subtendril((at - window_start) as u32, (end - at) as u32));
            let mut watch = tokenizer.sink.watch.borrow_mut();
            watch.settle(at, end, opening)?;
            for found in watch.found.drain(..) {
                event(found.event());
            }
            let granted = FREE_CALLS + CALLS_PER_BYTE * (end - range.start) as u64;
            if tokenizer.sink.builder.sink.calls() > granted {
                return Err(Stopped::Nesting(end));
            }
            at = end;
        }
    }
    tokenizer.end();
    for found in tokenizer.sink.watch.borrow_mut().found.drain(..) {
        event(found.event());
    }
    let tree = &tokenizer.sink.builder.sink;
    let is_crowded = tree.steps() > FREE_CALLS + CALLS_PER_BYTE * range.len() as u64;
    Ok(TreeFacts { bases: tree.bases(), is_crowded })
}

/// `bytes` with everything that is not ASCII as U+007F.
fn ascii(bytes: &[u8]) -> String {
    let mut ascii = bytes.to_vec();
    if !bytes.is_ascii() {
        for byte in &mut ascii {
            if !byte.is_ascii() {
                *byte = 0x7f;
            }
        }
    }
    String::from_utf8(ascii).unwrap_or_default()
}

/// What the tokenizer emitted, with its place.
enum Found {
    Start { tag: RawTag, namespace: Namespace, text: TextModel },
    End(RawTag),
    Comment(Span),
}

impl Found {
    fn event(&self) -> Event<'_> {
        match self {
            Self::Start { tag, namespace, text } => {
                Event::StartTag { tag, namespace: *namespace, text: *text }
            }
            Self::End(tag) => Event::EndTag { tag },
            Self::Comment(span) => Event::Comment { span: *span },
        }
    }
}

/// What is known of the place that the tokenizer has reached.
struct Watch<'a> {
    bytes: &'a [u8],
    /// Reads the tag that the last `<` may open.
    reader: Option<TagReader>,
    /// Where the comment or declaration that is being tokenized begins.
    declaration: Option<usize>,
    /// Where the last `<![` stands, which is a comment outside of foreign content.
    section: Option<usize>,
    /// The name of the element whose raw text or RCDATA is being tokenized: only its end tag counts.
    text: Option<Span>,
    /// The end of what has been fed.
    at: usize,
    /// Whether characters were emitted since the last piece was fed.
    spoke: bool,
    found: Vec<Found>,
    unverified: Option<usize>,
}

impl Watch<'_> {
    /// Lets the reader, if there is one, read `from..to` beside the tokenizer.
    fn advance(&mut self, from: usize, to: usize) -> Result<(), Stopped> {
        let Some(reader) = &mut self.reader else {
            return Ok(());
        };
        let start = reader.tag().span.start;
        match reader.read(self.bytes, from, to) {
            Progress::More | Progress::Complete => {
                if reader.tag().attributes.len() > MOST_ATTRIBUTES {
                    return Err(Stopped::Attributes(start));
                }
            }
            Progress::Declaration => {
                self.reader = None;
                self.declaration = Some(start);
            }
            Progress::NotATag => {
                self.reader = None;
                if self.bytes[start..to].starts_with(b"<![") {
                    self.section = Some(start);
                }
            }
        }
        Ok(())
    }

    /// Draws the conclusions from what was, or was not, emitted for the piece just fed.
    fn settle(&mut self, from: usize, to: usize, opening: bool) -> Result<(), Stopped> {
        if self.spoke {
            self.spoke = false;
            self.reader = None;
            self.declaration = None;
            self.section = None;
        }
        if let Some(at) = self.unverified {
            return Err(Stopped::Unverified(at));
        }
        if opening {
            // What was emitted for `<` belongs to what stands before it.
            self.advance(from, to)?;
            if self.reader.is_none() && self.declaration.is_none() && self.may_count(from) {
                self.reader = Some(TagReader::new(from));
            }
        } else if self.reader.as_ref().is_some_and(TagReader::is_complete) {
            // What reads as a tag was none: it stands in a comment or a CDATA section.
            self.reader = None;
        }
        Ok(())
    }

    /// Whether the `<` at `at` may begin something else than text.
    fn may_count(&self, at: usize) -> bool {
        self.text.is_none_or(|name| {
            let end = self.bytes.get(at + 2..at + 2 + name.len());
            self.bytes.get(at + 1) == Some(&b'/')
                && end.is_some_and(|end| end.eq_ignore_ascii_case(&self.bytes[name.range()]))
        })
    }

    /// Where the comment whose token has arrived begins.
    fn take_comment(&mut self) -> Option<usize> {
        let declaration = self.declaration.take();
        let section = self.section.take().filter(|&start| {
            let end = memchr::memchr(b'>', &self.bytes[start..self.at]);
            end.is_none_or(|length| start + length + 1 == self.at)
        });
        section.or(declaration)
    }

    /// The bytes of the tag whose token has arrived, if they are what the token says.
    fn take_tag(&mut self, token: &Tag) -> Option<RawTag> {
        let reader = self.reader.take().filter(TagReader::is_complete)?;
        let raw = reader.into_tag();
        (raw.span.end == self.at && agree(self.bytes, &raw, token)).then_some(raw)
    }
}

/// Whether the tag in the bytes is the tag of the token.
fn agree(bytes: &[u8], raw: &RawTag, token: &Tag) -> bool {
    // Names that differ in bytes of 0x80 and above only are the same name to the tokenizer here.
    let attributes = if bytes[raw.span.range()].is_ascii() {
        tag::distinct(bytes, raw)
    } else {
        tag::distinct_by(raw, |one| ascii(&bytes[one.name.range()]).to_ascii_lowercase())
    };
    raw.end_tag != (token.kind == StartTag)
        && same_name(&bytes[raw.name.range()], &token.name)
        && attributes.len() == token.attrs.len()
        && attributes.iter().zip(&token.attrs).all(|(raw, attribute)| {
            same_name(&bytes[raw.name.range()], &attribute.name.local)
                && same_value(
                    raw.value.map_or(&[][..], |value| &bytes[value.range()]),
                    &attribute.value,
                )
        })
}

/// Whether a name as written is the token's: in lower case, NUL replaced (HTML, 13.2.5.8).
fn same_name(raw: &[u8], name: &str) -> bool {
    if raw.contains(&0) || !raw.is_ascii() {
        return ascii(raw).to_ascii_lowercase().replace('\0', "\u{fffd}") == name;
    }
    raw.eq_ignore_ascii_case(name.as_bytes())
}

fn same_value(raw: &[u8], value: &str) -> bool {
    if raw == value.as_bytes() {
        return true;
    }
    escape::character_references(View::of_str(&ascii(raw), 0)).text == value
}

/// Stands between html5ever's tokenizer and its tree builder, and listens.
struct Proxy<'a> {
    builder: TreeBuilder<Node, Tree>,
    watch: RefCell<Watch<'a>>,
}

impl TokenSink for Proxy<'_> {
    type Handle = Node;

    fn process_token(&self, token: Token, line_number: u64) -> TokenSinkResult<Node> {
        let mut tag = None;
        match &token {
            Token::TagToken(token) => {
                let mut watch = self.watch.borrow_mut();
                let raw = watch.take_tag(token);
                if raw.is_none() {
                    watch.unverified = Some(watch.at);
                }
                watch.declaration = None;
                watch.section = None;
                if let Some(raw) = &raw {
                    self.builder.sink.enter_tag(raw.span.start);
                }
                tag = raw;
            }
            Token::CommentToken(_) => {
                let mut watch = self.watch.borrow_mut();
                watch.reader = None;
                if let Some(start) = watch.take_comment() {
                    let comment = Found::Comment(Span::new(start, watch.at));
                    watch.found.push(comment);
                }
            }
            Token::DoctypeToken(_) | Token::CharacterTokens(_) | Token::NullCharacterToken => {
                self.watch.borrow_mut().spoke = true;
            }
            Token::EOFToken | Token::ParseError(_) => {}
        }
        let result = self.builder.process_token(token, line_number);
        if let Some(tag) = tag {
            let text = match &result {
                TokenSinkResult::RawData(RawKind::Rcdata) => TextModel::Rcdata,
                TokenSinkResult::RawData(_) => TextModel::RawText,
                TokenSinkResult::Plaintext => TextModel::Plaintext,
                _ => TextModel::Markup,
            };
            self.watch.borrow_mut().text =
                (!tag.end_tag && text != TextModel::Markup).then_some(tag.name);
            let found = if tag.end_tag {
                Found::End(tag)
            } else {
                Found::Start { tag, namespace: self.builder.sink.namespace(), text }
            };
            self.watch.borrow_mut().found.push(found);
        }
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
