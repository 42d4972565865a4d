//! The exact engine: html5ever decides what is there, this file finds the bytes.
//!
//! html5ever's tokenizer and tree builder run over the document with a proxy between them. Input is
//! fed in pieces that end before each `<` and after each `>`, so a tag's token arrives with the piece
//! that ends it. Where the tag begins follows from silence: between a tag's `<` and its `>` the
//! tokenizer emits nothing. When its token arrives, the tag is read from there, and *verified* against the
//! token: name, attribute names, their order, their values.
//!
//! Every byte of 0x80 and above is fed as U+007F. No name that matters has either, so the markup is
//! the same in every ASCII-compatible encoding, valid or not, and offsets need no correction.
//!
//! ```
//! use baselink::scan::Scanner;
//! let options = baselink::ScanOptions { scanner: Scanner::Exact, ..Default::default() };
//! let document = baselink::scan(b"<title><a href=x></title><svg><a href=y></svg>", &options);
//! assert_eq!(document.links.len(), 1);
//! ```
//!
//! Deliberately absent: an answer at any price. html5ever is quadratic in the depth of a tree and in
//! the attributes of one tag; past a bound this engine stops, and the best effort of [`super::walk`] remains.

mod tree;

use std::cell::RefCell;
use std::ops::Range;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, StartTag, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use self::tree::{Node, Tree};
use super::sink::{Sink, TextModel, TreeFacts};
use super::tag::{self, MOST_ATTRIBUTES, RawAttribute, RawTag};
use crate::layer::{View, escape};
use crate::scan::attributes::Namespace;
use crate::span::Span;

/// Calls into the tree that are always granted, and how many more for each byte.
///
/// Real pages stay below 3 a byte; nesting a few thousand deep is the first to run out.
const FREE_CALLS: u64 = 4_000_000;
const CALLS_PER_BYTE: u64 = 32;

/// As many attributes as are allowed take no fewer bytes.
const FEWEST_BYTES: usize = 2 * MOST_ATTRIBUTES;

/// How much is fed from one allocation.
const WINDOW: usize = 64 * 1024;

/// The bound at which the engine stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The tag at this offset has more than 1,000 attributes.
    Attributes(usize),
    /// Up to this offset the tree took more work than its size allows: it nests too deep.
    Nesting(usize),
    /// The tag that ends at this offset is not where the bytes say it is.
    Unverified(usize),
}

/// Tells `sink` of every token of `range` of `bytes` that can matter; `scripting` as in HTML, 13.2.4.5.
pub(crate) fn scan<S: Sink>(
    bytes: &[u8],
    range: Range<usize>,
    scripting: bool,
    sink: &mut S,
) -> Result<TreeFacts, Bound> {
    let bytes = &bytes[..range.end];
    let mut text = Text::None;
    let watch = Watch {
        bytes,
        tag: None,
        declaration: None,
        section: None,
        text: None,
        at: range.start,
        spoke: false,
        found: Vec::new(),
        bound: None,
        unchecked: 0,
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
    while at < range.end && !sink.is_done() {
        let window_end = range.end.min(at + WINDOW);
        let window = StrTendril::from(ascii(&bytes[at..window_end]));
        let window_start = at;
        while at < window_end && !sink.is_done() {
            let end = if bytes[at] == b'<' {
                at + 1
            } else {
                memchr::memchr2(b'<', b'>', &bytes[at..window_end]).map_or(window_end, |length| {
                    at + length + usize::from(bytes[at + length] == b'>')
                })
            };
            let opening = bytes[at] == b'<';
            if !opening {
                tokenizer.sink.watch.borrow_mut().check(end)?;
            }
            tokenizer.sink.watch.borrow_mut().at = end;
            feed(window.subtendril((at - window_start) as u32, (end - at) as u32));
            let mut watch = tokenizer.sink.watch.borrow_mut();
            watch.settle(at, opening)?;
            for found in watch.found.drain(..) {
                found.tell(bytes, &mut text, sink);
            }
            let granted = FREE_CALLS + CALLS_PER_BYTE * (end - range.start) as u64;
            if tokenizer.sink.builder.sink.calls() > granted {
                return Err(Bound::Nesting(end));
            }
            at = end;
        }
    }
    tokenizer.end();
    for found in tokenizer.sink.watch.borrow_mut().found.drain(..) {
        found.tell(bytes, &mut text, sink);
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
enum PlacedToken {
    Start { tag: RawTag, namespace: Namespace, text: TextModel },
    End(RawTag),
    Comment(Span),
}

/// The text that goes on after the tag that was told last.
#[derive(Clone, Copy, PartialEq)]
enum Text {
    None,
    /// Raw text or RCDATA.
    OfElement,
    /// That of a `style` element in SVG, which may have tags in it.
    OfSvgStyle,
}

impl PlacedToken {
    /// Tells `sink` of it, and that the `open` text ends where it does.
    fn tell<S: Sink>(self, bytes: &[u8], open: &mut Text, sink: &mut S) {
        let is_style = |tag: &RawTag| tag.is_named(bytes, "style");
        match self {
            Self::Start { tag, namespace, text } => {
                let follows = match text {
                    TextModel::RawText | TextModel::Rcdata => Text::OfElement,
                    TextModel::Markup
                        if namespace == Namespace::Svg && is_style(&tag) && !tag.self_closing =>
                    {
                        Text::OfSvgStyle
                    }
                    TextModel::Markup | TextModel::Plaintext => Text::None,
                };
                if std::mem::replace(open, follows) != Text::None {
                    sink.end_text(tag.span.start);
                }
                sink.start_tag(&tag, namespace, text);
            }
            Self::End(tag) => {
                if *open == Text::OfElement || *open == Text::OfSvgStyle && is_style(&tag) {
                    *open = Text::None;
                    sink.end_text(tag.span.start);
                }
                sink.end_tag(&tag);
            }
            Self::Comment(span) => sink.comment(span),
        }
    }
}

/// What is known of the place that the tokenizer has reached.
struct Watch<'a> {
    bytes: &'a [u8],
    /// Where the tag begins that is being tokenized, as far as is known.
    tag: Option<usize>,
    /// Where the comment or declaration that is being tokenized begins.
    declaration: Option<usize>,
    /// Where the last `<![` is, which begins a comment outside of foreign content.
    section: Option<usize>,
    /// The name of the element whose raw text or RCDATA is being tokenized: only its end tag counts.
    text: Option<Span>,
    /// The end of what has been fed.
    at: usize,
    /// Whether characters were emitted since the last piece was fed.
    spoke: bool,
    found: Vec<PlacedToken>,
    /// Why the tag whose token has arrived was not found.
    bound: Option<Bound>,
    /// How long the tag that is being tokenized may become before its attributes are counted.
    unchecked: usize,
}

impl Watch<'_> {
    /// Stops where the tag that is being tokenized has too many attributes before `to`, which html5ever would
    /// compare with each other.
    fn check(&mut self, to: usize) -> Result<(), Bound> {
        match self.tag {
            // Read again at twice the length only, so that a long tag takes linear time.
            Some(start) if to - start >= self.unchecked => {
                self.unchecked = 2 * (to - start);
                self.read(start, to).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn read(&self, start: usize, to: usize) -> Result<Option<RawTag>, Bound> {
        let tag = tag::read_bounded(&self.bytes[..to], start, MOST_ATTRIBUTES);
        tag.map_err(|_| Bound::Attributes(start))
    }

    /// Draws the conclusions from what was, or was not, emitted for the piece just fed, which begins at `from`.
    fn settle(&mut self, from: usize, opening: bool) -> Result<(), Bound> {
        if self.spoke {
            self.spoke = false;
            self.tag = None;
            self.declaration = None;
            self.section = None;
        }
        if let Some(bound) = self.bound {
            return Err(bound);
        }
        // What was emitted for `<` belongs to what lies before it.
        if opening && self.tag.is_none() && self.declaration.is_none() && self.may_count(from) {
            match self.bytes[from + 1..] {
                [b'a'..=b'z' | b'A'..=b'Z', ..] | [b'/', b'a'..=b'z' | b'A'..=b'Z', ..] => {
                    self.tag = Some(from);
                    self.unchecked = FEWEST_BYTES;
                }
                // In foreign content `<![CDATA[` is text, which no token of its own ends.
                [b'!', b'[', ..] => self.section = Some(from),
                [b'/', b'>', ..] => {}
                [b'!' | b'?' | b'/', ..] => self.declaration = Some(from),
                _ => {}
            }
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
    fn take_tag(&mut self, token: &Tag) -> Result<RawTag, Bound> {
        let raw = match self.tag.take() {
            Some(start) => self.read(start, self.at)?,
            None => None,
        };
        raw.filter(|raw| raw.span.end == self.at && agree(self.bytes, raw, token))
            .ok_or(Bound::Unverified(self.at))
    }
}

/// True if the tag in the bytes is the tag of the token, as far as [`ascii`] lets html5ever see it.
fn agree(bytes: &[u8], raw: &RawTag, token: &Tag) -> bool {
    let text = ascii(&bytes[raw.span.range()]);
    let Some(raw) = tag::read(text.as_bytes(), 0) else {
        return false;
    };
    // In lower case, NUL replaced (HTML, 13.2.5.8).
    let is_name = |span: Span, name: &str| {
        text[span.range()].to_ascii_lowercase().replace('\0', "\u{fffd}") == name
    };
    let value = |raw: &RawAttribute| {
        let written = raw.value.map_or("", |value| &text[value.range()]);
        escape::character_references(View::of_str(written, 0)).text
    };
    let attributes = tag::distinct(text.as_bytes(), &raw);
    raw.end_tag != (token.kind == StartTag)
        && is_name(raw.name, &token.name)
        && attributes.len() == token.attrs.len()
        && attributes.iter().zip(&token.attrs).all(|(raw, attribute)| {
            is_name(raw.name, &attribute.name.local) && value(raw) == *attribute.value
        })
}

/// Sits between html5ever's tokenizer and its tree builder, and listens.
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
                match watch.take_tag(token) {
                    Ok(raw) => {
                        self.builder.sink.enter_tag(raw.span.start);
                        tag = Some(raw);
                    }
                    Err(bound) => watch.bound = Some(bound),
                }
                watch.declaration = None;
                watch.section = None;
            }
            Token::CommentToken(_) => {
                let mut watch = self.watch.borrow_mut();
                watch.tag = None;
                if let Some(start) = watch.take_comment() {
                    let comment = PlacedToken::Comment(Span::new(start, watch.at));
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
                PlacedToken::End(tag)
            } else {
                PlacedToken::Start { tag, namespace: self.builder.sink.namespace(), text }
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
