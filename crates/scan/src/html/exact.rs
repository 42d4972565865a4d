//! The exact engine: html5ever decides on the markup, and this file finds its bytes.
//!
//! html5ever's tokenizer and tree builder run over the document with a proxy between them. Input is fed in pieces
//! that end before and after each `<` and after each `>`, so a tag's token arrives with the piece that ends the tag.
//! Between the `<` and the `>` of a tag, the tokenizer emits nothing. The tag therefore begins at the first `<` since
//! the tokenizer last emitted something. The tag is read from there and *verified* against its token: the name, and
//! the names, order and values of the attributes.
//!
//! Every byte of 0x80 and above is fed as U+007F. No name that matters contains such a byte or U+007F. The markup is
//! therefore the same in every ASCII-compatible encoding, valid or not, and offsets need no correction.
//!
//! ```
//! use baselink_scan::Scanner;
//! let options = baselink_scan::ScanOptions { scanner: Scanner::Exact, ..Default::default() };
//! let document = baselink_scan::scan(b"<title><a href=x></title><svg><a href=y></svg>", &options);
//! assert_eq!(document.links.len(), 1);
//! ```
//!
//! Deliberately absent: a result for every document. html5ever takes quadratic time in the depth of a tree and in
//! the attributes of one tag. Beyond a bound, this engine stops, and the best effort of [`super::walk`] is the
//! fallback.

mod tree;

use std::{cell::RefCell, ops::Range};

use baselink_text::{Charset, Span, layer::charset::masked};
use html5ever::{
    tendril::StrTendril,
    tokenizer::{
        BufferQueue, StartTag, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
        states::RawKind,
    },
    tree_builder::{TreeBuilder, TreeBuilderOpts},
};

use self::tree::{MarkedNode, Node, Tree, TreePlace};
use super::{
    sink::{Sink, TextModel, TreeFacts},
    tag::{self, RawTag},
};
use crate::attributes::Namespace;

/// The number of calls into the tree that are allowed in addition to [`CALLS_PER_BYTE`].
const FREE_CALLS: u64 = 4_000_000;

/// The number of calls into the tree that are allowed for each byte.
///
/// Real pages stay below 3 per byte. Only nesting some thousand levels deep exceeds the limit.
const CALLS_PER_BYTE: u64 = 32;

/// The maximum number of attributes in one tag. Beyond it, html5ever's search for repeated attributes takes too
/// long.
const MOST_ATTRIBUTES: usize = 1_000;

/// The minimum size of a tag with the maximum number of attributes.
const FEWEST_BYTES: usize = 2 * MOST_ATTRIBUTES;

/// The number of bytes that are fed from one allocation.
const WINDOW: usize = 64 * 1024;

/// The offset at which the engine stopped, and the reason.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound(pub usize, pub &'static str);

/// Reports every tag and comment in `range` of `bytes` to `sink`. `scripting` is the flag of HTML, 13.2.4.5.
pub fn scan<S: Sink>(
    bytes: &[u8],
    range: Range<usize>,
    scripting: bool,
    sink: &mut S,
) -> Result<TreeFacts, Bound> {
    let bytes = &bytes[..range.end];
    let mut open = TextState::default();
    let watch = Watch {
        bytes,
        tag: None,
        declaration: None,
        section: None,
        text: None,
        at: range.start,
        has_text: false,
        found: Vec::new(),
        bound: None,
        next_check: 0,
    };
    let options = TreeBuilderOpts {
        scripting_enabled: scripting,
        ..TreeBuilderOpts::default()
    };
    let proxy = Proxy {
        builder: TreeBuilder::new(Tree::new(), options),
        watch: RefCell::new(watch),
    };
    let tokenizer = Tokenizer::new(
        proxy,
        TokenizerOpts {
            discard_bom: false,
            ..TokenizerOpts::default()
        },
    );
    let queue = BufferQueue::default();
    let feed = |piece: StrTendril| {
        queue.push_back(piece);
        // The tokenizer pauses at a script or an encoding declaration, which need no action.
        while !matches!(tokenizer.feed(&queue), html5ever::TokenizerResult::Done) {}
    };
    // Markup in text follows more than a byte order mark.
    if !scripting && range.start > 3 {
        // Text opens the body, where markup for readers without scripts stands.
        feed("x".into());
    }
    let mut at = range.start;
    while at < range.end && !sink.is_done() {
        let window_end = range.end.min(at + WINDOW);
        let window = StrTendril::from(masked(&bytes[at..window_end]));
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
            watch.update(at, opening)?;
            for found in watch.found.drain(..) {
                found.report(bytes, &mut open, sink)?;
            }
            // The tree takes more work than its size allows only if it nests too deep.
            let granted = FREE_CALLS + CALLS_PER_BYTE * (end - range.start) as u64;
            if tokenizer.sink.builder.sink.calls() > granted {
                return Err(Bound(
                    end,
                    "elements before this place are nested too deeply",
                ));
            }
            at = end;
        }
    }
    tokenizer.end();
    for found in tokenizer.sink.watch.borrow_mut().found.drain(..) {
        found.report(bytes, &mut open, sink)?;
    }
    open.interrupt_style(range.end, sink);
    let tree = &tokenizer.sink.builder.sink;
    Ok(TreeFacts {
        bases: tree.bases(),
        has_costly_lists: tree.steps() > FREE_CALLS + CALLS_PER_BYTE * range.len() as u64,
    })
}

/// A token emitted by the tokenizer, with its place.
enum PlacedToken {
    Tag {
        tag: RawTag,
        /// The namespace of the element, and the text after it, if this is a start tag.
        namespace: Namespace,
        text: TextModel,
        place: TreePlace,
    },
    Comment(Span),
}

/// The text that is open after the last reported tag.
#[derive(Default)]
struct TextState {
    /// True for raw text and RCDATA.
    is_raw: bool,
    /// The marked elements that are open, outermost first.
    marked: Vec<MarkedNode>,
    /// The start of the text, if the current node is a `style` in SVG.
    style: Option<usize>,
}

impl TextState {
    /// Reports the text of a `style` in SVG, which ends or pauses at `at`.
    fn interrupt_style<S: Sink>(&mut self, at: usize, sink: &mut S) {
        if let Some(start) = self.style.take().filter(|start| *start < at) {
            sink.style_text(Span::new(start, at));
        }
    }

    /// Reports the text before `tag`, and the end of each `style` in SVG that the tag closes. Fails if the tag closes an
    /// `annotation-xml` with HTML that only its own end tag or that of `math` should close: html5ever misses it in the
    /// lists of HTML, 13.2.4.2 and 13.2.6.5.
    fn enter<S: Sink>(
        &mut self,
        (bytes, tag): (&[u8], &RawTag),
        place: TreePlace,
        sink: &mut S,
    ) -> Result<(), Bound> {
        let at = tag.span.start;
        let closes_annotation = tag.end_tag
            && ["annotation-xml", "math"]
                .iter()
                .any(|name| tag.is_named(bytes, name));
        self.interrupt_style(at, sink);
        if std::mem::take(&mut self.is_raw) {
            sink.end_text(at);
        }
        while let Some(closed) = self
            .marked
            .pop_if(|open| open.id > place.around && Some(*open) != place.own)
        {
            if closed.is_style {
                sink.end_style(at);
            } else if !closes_annotation {
                let why = "html5ever cannot read the tag that ends here, in an annotation-xml";
                return Err(Bound(tag.span.end, why));
            }
        }
        if let Some(own) = place.own {
            if self.marked.last() != Some(&own) {
                self.marked.push(own);
            }
            self.style = own.is_style.then_some(tag.span.end);
        }
        Ok(())
    }
}

impl PlacedToken {
    /// Reports the token to `sink`, and before it the end of the `open` text, if the token ends that text.
    fn report<S: Sink>(
        self,
        bytes: &[u8],
        open: &mut TextState,
        sink: &mut S,
    ) -> Result<(), Bound> {
        match self {
            Self::Tag {
                tag,
                namespace,
                text,
                place,
            } => {
                open.enter((bytes, &tag), place, sink)?;
                if tag.end_tag {
                    sink.end_tag(&tag);
                } else {
                    open.is_raw = matches!(text, TextModel::RawText | TextModel::Rcdata);
                    sink.start_tag(&tag, namespace, text);
                }
            }
            Self::Comment(span) => sink.comment(span),
        }
        Ok(())
    }
}

/// The state of the search for the tokens' positions.
struct Watch<'a> {
    bytes: &'a [u8],
    /// The start of the tag that is being tokenized, if known.
    tag: Option<usize>,
    /// The start of the comment or declaration that is being tokenized, if known.
    declaration: Option<usize>,
    /// The offset of the last `<![`, which begins a comment outside of foreign content.
    section: Option<usize>,
    /// The name of the element whose raw text or RCDATA is being tokenized. Only its end tag is markup.
    text: Option<Span>,
    /// The end of the bytes fed so far.
    at: usize,
    /// True if the last piece made the tokenizer emit characters or a DOCTYPE.
    has_text: bool,
    found: Vec<PlacedToken>,
    /// The reason why the tag of the last token could not be verified.
    bound: Option<Bound>,
    /// The length of the current tag at which its attributes are counted next.
    next_check: usize,
}

impl Watch<'_> {
    /// Fails if the tag that is being tokenized has too many attributes before `to`, because html5ever would
    /// compare them pairwise.
    fn check(&mut self, to: usize) -> Result<(), Bound> {
        match self.tag {
            // The tag is read ahead, and again only at twice the length, so that a long tag takes linear time.
            Some(start) if to - start >= self.next_check => {
                self.next_check = 2 * (to - start);
                let end = self.bytes.len().min(start + self.next_check);
                if tag::count_attributes(&self.bytes[..end], start) > MOST_ATTRIBUTES {
                    return Err(Bound(start, "this tag has more than 1,000 attributes"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Updates the state after the piece that begins at `from` was fed. `opening` is true if the piece is a `<`.
    fn update(&mut self, from: usize, opening: bool) -> Result<(), Bound> {
        if self.has_text {
            self.has_text = false;
            self.tag = None;
            self.declaration = None;
            self.section = None;
        }
        if let Some(bound) = self.bound {
            return Err(bound);
        }
        // Characters emitted with a `<` belong to the text before it.
        let is_known = self.tag.is_some() || self.declaration.is_some();
        if opening && !is_known && self.may_begin_markup(from) {
            match self.bytes[from + 1..] {
                [b'a'..=b'z' | b'A'..=b'Z', ..] | [b'/', b'a'..=b'z' | b'A'..=b'Z', ..] => {
                    self.tag = Some(from);
                    self.next_check = FEWEST_BYTES;
                }
                // In foreign content, `<![CDATA[` begins text, and no token marks the end of that text.
                [b'!', b'[', ..] => self.section = Some(from),
                [b'/', b'>', ..] => {}
                [b'!' | b'?' | b'/', ..] => self.declaration = Some(from),
                _ => {}
            }
        }
        Ok(())
    }

    /// True if the `<` at `at` may begin markup.
    fn may_begin_markup(&self, at: usize) -> bool {
        self.text.is_none_or(|name| {
            let end = self.bytes.get(at + 2..at + 2 + name.len());
            self.bytes.get(at + 1) == Some(&b'/')
                && end.is_some_and(|end| end.eq_ignore_ascii_case(&self.bytes[name.range()]))
        })
    }

    /// The start of the comment whose token has arrived.
    fn take_comment(&mut self) -> Option<usize> {
        let declaration = self.declaration.take();
        self.section
            .take()
            .filter(|&start| {
                memchr::memchr(b'>', &self.bytes[start..self.at])
                    .is_none_or(|length| start + length + 1 == self.at)
            })
            .or(declaration)
    }

    /// The tag whose token has arrived, as read from the bytes. Fails if it does not match the token.
    fn take_tag(&mut self, token: &Tag) -> Result<RawTag, Bound> {
        let start = self.tag.take();
        let raw = start.and_then(|start| tag::read(&self.bytes[..self.at], start));
        raw.filter(|raw| raw.span.end == self.at && matches_token(self.bytes, raw, token))
            .ok_or(Bound(
                self.at,
                "html5ever and the scanner disagree about the tag that ends here",
            ))
    }
}

/// True if the tag in the bytes, after the conversion by [`masked`], equals the token.
fn matches_token(bytes: &[u8], raw: &RawTag, token: &Tag) -> bool {
    let text = masked(&bytes[raw.span.range()]);
    let Some(raw) = tag::read(text.as_bytes(), 0) else {
        return false;
    };
    // In lower case, with NUL replaced (HTML, 13.2.5.8).
    let is_name = |span: Span, name: &str| {
        text[span.range()]
            .to_ascii_lowercase()
            .replace('\0', "\u{fffd}")
            == name
    };
    let attributes = tag::distinct(text.as_bytes(), &raw);
    raw.end_tag != (token.kind == StartTag)
        && is_name(raw.name, &token.name)
        && attributes.len() == token.attrs.len()
        && attributes.iter().zip(&token.attrs).all(|(raw, attribute)| {
            is_name(raw.name, &attribute.name.local)
                && raw.decoded(text.as_bytes(), Charset::UTF_8).text == *attribute.value
        })
}

/// A proxy between html5ever's tokenizer and its tree builder that records each token with its position.
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
                self.watch.borrow_mut().has_text = true;
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
            // The answer is irrelevant: the tree builder asks the tree for the name of the current node.
            self.builder
                .adjusted_current_node_present_but_not_in_html_namespace();
            let tree = &self.builder.sink;
            let found = PlacedToken::Tag {
                tag,
                namespace: tree.namespace(),
                text,
                place: tree.place(),
            };
            self.watch.borrow_mut().found.push(found);
        }
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder
            .adjusted_current_node_present_but_not_in_html_namespace()
    }
}
