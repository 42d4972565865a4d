//! The URLs of CSS: style sheets, style attributes and presentation attributes alike (CSS Syntax 3
//! for the tokens; CSS Values 4, 4.5, Cascade 5, 2, Images 4, 2, `filter()` of Filter Effects 1 and
//! the cross-references of Generated Content 3 for the places).
//!
//! A URL is a url-token, the string of `url()` or `src()`, or a string in one of the few other
//! places where the standards read a string as a URL. Spans are bytes of the text as it was given,
//! and what they hold is still escaped; [`escape::css`] and [`escape::css_url_token`] read it.
//!
//! ```
//! use baselink::scan::css::{self, Options};
//! let sheet = "@import 'a.css'; p { background: url(b.png) } q { content: 'c' }";
//! let urls: Vec<_> = css::urls(sheet, Options::default())
//!     .iter()
//!     .map(|url| &sheet[url.span.range()])
//!     .collect();
//! assert_eq!(urls, ["a.css", "b.png"]);
//! ```
//!
//! A style sheet of its own is a [`Document`] whose links have no element; its base is its own URL.
//!
//! Four readings. A declaration inside `supports()` or the prelude of `@supports` is parsed and
//! never applied, so a URL there leads nowhere and is not reported. The fallback of `var()` and
//! `env()` stands where they stand: a string there is a URL inside `image-set()`. A token whose raw
//! text does not decode to the value that the tokenizer gave it is not reported. What the end of the
//! text ends (a url-token, a string, a function) is a token like others.
//!
//! Deliberately absent: grammars. All three kinds of CSS are the same tokens, what is invalid is
//! scanned like the rest, and a url-token counts in any property. Nor is CSS inside a string
//! (`-ms-filter`) looked for.

use std::sync::Arc;

use cssparser::{Parser, Token};

use super::attributes::{self, Groups};
use super::sieve::Sieve;
use super::{ScanOptions, block, value};
use crate::document::{Against, Decoded, Document, Link};
use crate::format::Format;
use crate::layer::charset::Charset;
use crate::layer::spelling::{self, Carrier, Spelling};
use crate::layer::{View, escape};
use crate::span::Span;

/// Which opt-in groups are looked for, besides what always is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What [`Group::Gcpm`] names.
    pub gcpm: bool,
    /// What [`Group::Ie`] names.
    pub ie: bool,
}

impl From<&Groups> for Options {
    fn from(groups: &Groups) -> Self {
        let [gcpm, ie] =
            [attributes::Group::Gcpm, attributes::Group::Ie].map(|group| groups.contains(group));
        Self { gcpm, ie }
    }
}

/// An opt-in group of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// `target-counter()`, `target-counters()`, `target-text()`.
    Gcpm,
    /// `AlphaImageLoader(src='…')` of Internet Explorer, which resolves it against the document
    /// and not against the style sheet.
    Ie,
}

/// How a URL is written, which decides what must be escaped in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A url-token: no quotes.
    Token,
    /// A string in these quotes.
    String(char),
}

impl Form {
    /// The URL that is written as `raw`.
    pub(crate) fn decode(self, raw: View) -> View {
        match self {
            Self::Token => escape::css_url_token(raw),
            Self::String(_) => escape::css(raw),
        }
    }
}

impl From<Form> for spelling::Form {
    fn from(form: Form) -> Self {
        match form {
            Form::Token => Self::CssToken,
            Form::String(quote) => Self::CssString(quote),
        }
    }
}

/// A URL of CSS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CssUrl {
    /// The inside of the url-token, without the white space around it, or of the string.
    pub span: Span,
    /// Which of them it is.
    pub form: Form,
    /// The opt-in group of its place.
    pub group: Option<Group>,
}

/// What a function makes of its arguments.
#[derive(Clone, Copy)]
enum Arguments {
    /// The first one is a URL if it is a string.
    First,
    /// Every string is a URL.
    Strings,
    /// A string is a URL where the function itself stands among such.
    Inherited,
    /// Nothing inside is a URL, not even a url-token.
    Nothing,
    /// As `First`, in the group GCPM.
    Target,
    /// The string of `src=` is a URL.
    Source,
}

/// The functions whose strings, or lack of them, matter. Names are ASCII case-insensitive.
const FUNCTIONS: &[(&str, Arguments)] = &[
    ("url", Arguments::First),
    ("src", Arguments::First),
    ("image-set", Arguments::Strings),
    ("-webkit-image-set", Arguments::Strings),
    ("image", Arguments::Strings),
    ("cross-fade", Arguments::Strings),
    ("-webkit-cross-fade", Arguments::Strings),
    ("filter", Arguments::Strings),
    ("var", Arguments::Inherited),
    ("env", Arguments::Inherited),
    ("supports", Arguments::Nothing),
    ("expression", Arguments::Nothing),
    ("target-counter", Arguments::Target),
    ("target-counters", Arguments::Target),
    ("target-text", Arguments::Target),
    ("alphaimageloader", Arguments::Source),
];

/// The at-rules whose prelude holds no link: names, match patterns, conditions.
const SILENT_PRELUDES: &[&str] = &["namespace", "document", "-moz-document", "supports"];

/// Which strings directly inside an open block are URLs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strings {
    None,
    /// One that is the very next token, white space and comments aside.
    Next,
    All,
    /// One behind `src` and `=`; this many of the two have been seen.
    Source(u8),
}

/// What closes an open block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closer {
    Parenthesis,
    Square,
    Curly,
    /// The end of the text.
    End,
}

/// An open block or function, or the text as a whole.
#[derive(Clone, Copy)]
struct Block {
    closer: Closer,
    strings: Strings,
    group: Option<Group>,
    /// Nothing inside is a URL.
    silent: bool,
    /// Nothing up to the `;` or `{}` that ends this at-rule is a URL.
    silent_prelude: bool,
    /// A rule or declaration may begin here: an at-keyword begins an at-rule.
    start: bool,
}

impl Block {
    fn inside(self, closer: Closer, strings: Strings) -> Self {
        // A prelude ends where the block of its rule begins.
        let silent = self.silent || (self.silent_prelude && closer != Closer::Curly);
        let start = closer == Closer::Curly;
        Self { closer, strings, group: self.group, silent, silent_prelude: false, start }
    }

    fn of_function(self, name: &str) -> Self {
        let known = FUNCTIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut block = self.inside(Closer::Parenthesis, Strings::None);
        match known.map(|&(_, arguments)| arguments) {
            Some(Arguments::First) => block.strings = Strings::Next,
            Some(Arguments::Strings) => block.strings = Strings::All,
            Some(Arguments::Inherited) if self.strings == Strings::All => {
                block.strings = Strings::All;
            }
            None | Some(Arguments::Inherited) => {}
            Some(Arguments::Nothing) => block.silent = true,
            Some(Arguments::Target) => {
                block.strings = Strings::Next;
                block.group = Some(Group::Gcpm);
            }
            Some(Arguments::Source) => {
                block.strings = Strings::Source(0);
                block.group = Some(Group::Ie);
            }
        }
        block
    }

    /// Whether it holds rules and declarations, and not a value.
    fn has_statements(self) -> bool {
        matches!(self.closer, Closer::Curly | Closer::End)
    }

    /// A rule or declaration has ended.
    fn end_statement(&mut self) {
        self.strings = Strings::None;
        self.silent_prelude = false;
        self.start = true;
    }

    /// The at-keyword `name` has begun an at-rule.
    fn begin_at_rule(&mut self, name: &str) {
        if name.eq_ignore_ascii_case("import") {
            self.strings = Strings::Next;
        }
        self.silent_prelude =
            SILENT_PRELUDES.iter().any(|silent| silent.eq_ignore_ascii_case(name));
    }

    /// A token that means nothing by itself has gone by.
    fn pass(&mut self, token: &Token) {
        self.start = false;
        self.strings = match (self.strings, token) {
            (Strings::All, _) => Strings::All,
            (Strings::Source(_), Token::Ident(name)) if name.eq_ignore_ascii_case("src") => {
                Strings::Source(1)
            }
            (Strings::Source(1), Token::Delim('=')) => Strings::Source(2),
            (Strings::Source(_), _) => Strings::Source(0),
            (Strings::None | Strings::Next, _) => Strings::None,
        };
    }

    fn string_is_url(self) -> bool {
        matches!(self.strings, Strings::Next | Strings::All | Strings::Source(2))
    }

    fn is_reported(self, options: Options) -> bool {
        let enabled = match self.group {
            None => true,
            Some(Group::Gcpm) => options.gcpm,
            Some(Group::Ie) => options.ie,
        };
        enabled && !self.silent && !self.silent_prelude
    }
}

/// Scans `bytes` as a style sheet.
///
/// Linear in time and memory. Spans are those of `bytes`, or of the decoded text where the encoding is
/// not ASCII-compatible. A link has no element: the name is empty.
#[must_use]
pub fn scan(bytes: &[u8], options: &ScanOptions) -> Document {
    let found = Charset::detect_style_sheet(bytes, options.charset);
    let mut document = Document::empty(Arc::clone(&options.entity), Format::Css, found.charset);
    let view = found.charset.decode(&bytes[found.mark..], found.mark);
    if found.charset.is_ascii_compatible() {
        document.links = links(&view, options);
        return document;
    }
    let View { text, map } = view;
    document.links = links(&View::of_str(&text, 0), options);
    let spelling =
        Spelling { form: spelling::Form::Document, carrier: Carrier::Raw, enclosed: false };
    document.decoded = Some(Decoded { text, map, spelling, pieces: Vec::new() });
    document
}

fn links(view: &View, options: &ScanOptions) -> Vec<Link> {
    let urls = urls(&view.text, Options::from(&options.groups));
    urls.into_iter().filter_map(|url| link(view, url)).collect()
}

/// The link at `url` of the style sheet in `view`.
fn link(view: &View, url: CssUrl) -> Option<Link> {
    let decoded = url.form.decode(view.slice(url.span)?);
    let reference = value::trimmed(&decoded.text);
    Some(Link {
        element: String::new(),
        attribute: None,
        reference: decoded.text[reference.range()].to_owned(),
        against: Against::Document,
        empty_resolves: false,
        fragment_identifies: true,
        map: decoded.map.slice(reference),
        holder: decoded.map.covering(reference),
        spelling: Spelling { form: url.form.into(), carrier: Carrier::Raw, enclosed: false },
    })
}

/// The tokens of a text with their places, those inside blocks and functions, too.
pub(crate) struct Tokens<'a> {
    css: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn of(css: &'a str) -> Self {
        Self { css, at: 0 }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (Token<'a>, Span);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        // A parser would skip a block. The tokenizer never looks back, so a fresh parser from here on
        // sees the same tokens, and it costs nothing to make one.
        let mut parser = Parser::new(&self.css[start..]);
        let token = parser.next_including_whitespace_and_comments().ok()?.clone();
        self.at = match &token {
            Token::BadUrl(_) => behind_bad_url(self.css, start),
            _ => start + parser.position().byte_index(),
        };
        Some((token, Span::new(start, self.at)))
    }
}

/// Every URL of `css`, in order.
///
/// Empty and fragment-only URLs are among them.
#[must_use]
pub fn urls(css: &str, options: Options) -> Vec<CssUrl> {
    plain(css.as_bytes(), Some(options)).unwrap_or_else(|| urls_of_tokens(css, options))
}

/// The bytes at which something can begin that matters where there are no escapes.
const MARKS: [u8; 7] = *b"/\"'(@\\\0";

/// The same where no string is a URL but that of `url()`: then only comments, strings and what is silent
/// are to be told from the rest, which takes a small part of the time. `None` where there may be more, or
/// something odd.
///
/// `bytes` are in any encoding whose bytes of ASCII stand for themselves wherever they are. All others
/// belong to names (CSS Syntax 3, 4.2, "ident code point").
pub(crate) fn plain_urls(bytes: &[u8]) -> Option<Vec<CssUrl>> {
    plain(bytes, None)
}

/// The same. With options, `AlphaImageLoader()` of Internet Explorer is read, too.
fn plain(bytes: &[u8], options: Option<Options>) -> Option<Vec<CssUrl>> {
    let mut found = Vec::new();
    let mut marks = Marks { bytes, next: [0; 2] };
    let mut at = 0;
    // It belongs to names, as U+FFFD.
    if memchr::memchr(0, bytes).is_some() {
        return None;
    }
    loop {
        at = marks.find(at);
        at = match bytes[at..] {
            [] => return Some(found),
            [b'/', b'*', ..] => match comment_end(bytes, at) {
                Some(end) => end,
                None => return Some(found),
            },
            [b'"' | b'\'', ..] => plain_string_end(bytes, at)? + 1,
            [b'(', ..] => plain_function(bytes, at, options, &mut found)?,
            [b'@', ..] => plain_at_rule(bytes, at)?,
            [b'\\', ..] => plain_escape_end(bytes, at)?,
            _ => at + 1,
        };
    }
}

/// Where the next of [`MARKS`] stands, NUL aside.
struct Marks<'a> {
    bytes: &'a [u8],
    /// Where one of each half of them stands.
    next: [usize; 2],
}

impl Marks<'_> {
    /// Looks from `at` on, which may not decrease; the length of the bytes where there is none.
    fn find(&mut self, at: usize) -> usize {
        let [one, two] = &mut self.next;
        if *one <= at {
            let found = memchr::memchr3(b'(', b'"', b'\'', &self.bytes[at..]);
            *one = found.map_or(self.bytes.len(), |length| at + length);
        }
        if *two <= at {
            let found = memchr::memchr3(b'/', b'@', b'\\', &self.bytes[at..]);
            *two = found.map_or(self.bytes.len(), |length| at + length);
        }
        *one.min(two)
    }
}

/// Behind the comment at `at`; `None` where the text ends in it.
fn comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    let body = &bytes[at + 2..];
    let end = memchr::memchr_iter(b'/', body).find(|&slash| body[..slash].ends_with(b"*"))?;
    Some(at + 2 + end + 1)
}

/// Where the string that the quote at `at` opens has its other quote.
fn plain_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let mut end = at + 1;
    loop {
        end = block::find_any(bytes, end, [quote, b'\\'], b' ');
        match *bytes.get(end)? {
            b'\\' if *bytes.get(end + 1)? >= b' ' => end += 2,
            byte => return (byte == quote).then_some(end),
        }
    }
}

/// Behind the name that goes on with the escape at `at`. Were it the name of a function, it would have to
/// be read.
fn plain_escape_end(bytes: &[u8], at: usize) -> Option<usize> {
    let is_hex = |byte: &&u8| byte.is_ascii_hexdigit();
    let digits = bytes[at + 1..].iter().take(6).take_while(is_hex).count();
    let mut end = at + 1 + digits.max(1);
    if *bytes.get(at + 1)? < b' ' {
        return None;
    }
    match *bytes.get(end)? {
        // It may be half of a line end.
        b'\r' => return None,
        byte if digits > 0 && is_space(byte) => end += 1,
        _ => {}
    }
    end += bytes[end.min(bytes.len())..].iter().take_while(|&&byte| is_of_name(byte)).count();
    (*bytes.get(end)? != b'(').then_some(end)
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// Whether a byte belongs to a name (CSS Syntax 3, 4.2, "ident code point").
fn is_of_name(byte: u8) -> bool {
    OF_NAMES[usize::from(byte)]
}

const OF_NAMES: [bool; 256] = {
    let mut of_names = [false; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        of_names[at] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || !byte.is_ascii();
        at += 1;
    }
    of_names
};

/// The name of a function without the dashes that it begins with.
fn bare(name: &[u8]) -> &[u8] {
    let dashes = name.iter().take_while(|&&byte| byte == b'-').count();
    &name[dashes..]
}

/// For the names of [`FUNCTIONS`], without the dashes.
const FUNCTION_NAMES: Sieve = {
    let mut names = [""; FUNCTIONS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = match FUNCTIONS[at].0.as_bytes() {
            [b'-', ..] => FUNCTIONS[at].0.split_at(1).1,
            _ => FUNCTIONS[at].0,
        };
        at += 1;
    }
    Sieve::of(names)
};

/// Goes on behind the `(` at `at`; where it is that of `url(`, behind the URL, and where nothing inside can
/// be one, behind its end.
fn plain_function(
    bytes: &[u8],
    at: usize,
    options: Option<Options>,
    found: &mut Vec<CssUrl>,
) -> Option<usize> {
    let start = bytes[..at].iter().rposition(|&one| !is_of_name(one)).map_or(0, |last| last + 1);
    let name = &bytes[start..at];
    if start > 0 && !name.is_empty() && matches!(bytes[start - 1], b'#' | b'@' | b'\\') {
        return None;
    }
    if name.eq_ignore_ascii_case(b"expression") {
        return silent_end(bytes, at + 1, true);
    }
    if !name.eq_ignore_ascii_case(b"url") {
        if let Some(options) = options
            && name.eq_ignore_ascii_case(b"alphaimageloader")
        {
            return plain_source(bytes, at + 1, options, found);
        }
        // Dashes before the name may belong to a `<!--`.
        let name = bare(name);
        let is_other = FUNCTION_NAMES.passes(name)
            && FUNCTIONS.iter().any(|(known, arguments)| {
                !matches!(arguments, Arguments::Inherited)
                    && name.eq_ignore_ascii_case(bare(known.as_bytes()))
            });
        return (!is_other).then_some(at + 1);
    }
    let inside = at + 1 + bytes[at + 1..].iter().position(|&byte| !is_space(byte))?;
    if let quote @ (b'"' | b'\'') = bytes[inside] {
        let end = plain_string_end(bytes, inside)?;
        let span = Span::new(inside + 1, end);
        found.push(CssUrl { span, form: Form::String(char::from(quote)), group: None });
        return Some(end + 1);
    }
    let end = block::find_any(bytes, inside, *b"\"'()\\\x7f", b' ' + 1);
    let behind = end + bytes[end..].iter().position(|&byte| !is_space(byte))?;
    if end == inside || bytes[behind] != b')' {
        return None;
    }
    found.push(CssUrl { span: Span::new(inside, end), form: Form::Token, group: None });
    Some(behind + 1)
}

/// Goes through the arguments of `AlphaImageLoader()` from `at` on ([`Strings::Source`]), where those are names,
/// `=`, `,` and strings, and behind their end.
fn plain_source(
    bytes: &[u8],
    mut at: usize,
    options: Options,
    found: &mut Vec<CssUrl>,
) -> Option<usize> {
    let mut seen = 0;
    loop {
        let byte = *bytes.get(at)?;
        match byte {
            _ if is_space(byte) => at += 1,
            b'a'..=b'z' | b'A'..=b'Z' => {
                let length = bytes[at..].iter().take_while(|&&byte| is_of_name(byte)).count();
                let name = &bytes[at..at + length];
                at += length;
                if matches!(bytes.get(at), None | Some(b'(' | b'\\' | 0)) {
                    return None;
                }
                seen = u8::from(name.eq_ignore_ascii_case(b"src"));
            }
            b'=' | b',' => {
                seen = if byte == b'=' && seen == 1 { 2 } else { 0 };
                at += 1;
            }
            b'"' | b'\'' => {
                let end = plain_string_end(bytes, at)?;
                if seen == 2 && options.ie {
                    let span = Span::new(at + 1, end);
                    let form = Form::String(char::from(byte));
                    found.push(CssUrl { span, form, group: Some(Group::Ie) });
                }
                seen = 0;
                at = end + 1;
            }
            b')' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// Goes on behind the name of the at-rule at `at`, or where its prelude ends if that is silent.
fn plain_at_rule(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at + 1..];
    let (name, behind) = rest.split_at(rest.iter().take_while(|&&byte| is_of_name(byte)).count());
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    let end = at + 1 + name.len();
    if behind.first() == Some(&b'\\') {
        return None;
    }
    if is("import") {
        // A string would be the URL, a function is found as everywhere.
        let next = behind.trim_ascii_start().first()?;
        return next.is_ascii_alphabetic().then_some(end);
    }
    if !name.is_empty()
        && behind.first() == Some(&b'(')
        && !SILENT_PRELUDES.iter().any(|one| is(one))
    {
        return Some(end + 1);
    }
    match SILENT_PRELUDES.iter().any(|silent| is(silent)) {
        true => silent_end(bytes, end, false),
        false => Some(end),
    }
}

/// Behind the `)` that closes the function whose arguments begin at `at`, or where the prelude that begins
/// there ends. `None` where more stands in it than parentheses, names, strings and comments.
fn silent_end(bytes: &[u8], mut at: usize, is_function: bool) -> Option<usize> {
    let mut depth = 0;
    loop {
        let is_mark = |byte: &u8| MARKS.contains(byte) || b"[{}];)".contains(byte);
        at += bytes[at..].iter().position(is_mark)?;
        at = match bytes[at..] {
            [b'/', b'*', ..] => comment_end(bytes, at)?,
            [b'/', ..] => at + 1,
            // In an at-rule that is out of place it may be a URL.
            [b'"' | b'\'', ..] if is_function => plain_string_end(bytes, at)? + 1,
            [b'(', ..] if bytes[at.saturating_sub(3)..at].eq_ignore_ascii_case(b"url") => {
                return None;
            }
            [b'(', ..] => {
                depth += 1;
                at + 1
            }
            [b')', ..] if depth == 0 && is_function => return Some(at + 1),
            [b')', ..] if depth > 0 => {
                depth -= 1;
                at + 1
            }
            [b';' | b'{', ..] if depth == 0 && !is_function => return Some(at),
            [b';', ..] => at + 1,
            _ => return None,
        };
    }
}

/// The same token by token.
fn urls_of_tokens(css: &str, options: Options) -> Vec<CssUrl> {
    let mut found = Vec::new();
    let mut outer: Vec<Block> = Vec::new();
    let mut block = Block {
        closer: Closer::End,
        strings: Strings::None,
        group: None,
        silent: false,
        silent_prelude: false,
        start: true,
    };
    for (token, Span { start, end }) in Tokens::of(css) {
        let inner = match &token {
            Token::WhiteSpace(_) | Token::Comment(_) | Token::CDO | Token::CDC => continue,
            Token::QuotedString(value) => {
                if block.string_is_url() && block.is_reported(options) {
                    let (inside, quote) = inside_string(&css[start..end]);
                    let (span, form) = (inside.shifted(start), Form::String(quote));
                    if decodes_to(&css[span.range()], form, value) {
                        found.push(CssUrl { span, form, group: block.group });
                    }
                }
                None
            }
            Token::UnquotedUrl(value) => {
                if block.is_reported(options) {
                    let span = inside_url_token(&css[start..end]).shifted(start);
                    if decodes_to(&css[span.range()], Form::Token, value) {
                        found.push(CssUrl { span, form: Form::Token, group: block.group });
                    }
                }
                None
            }
            Token::AtKeyword(name) => {
                let begins = block.has_statements() && block.start;
                block.pass(&token);
                if begins {
                    block.begin_at_rule(name);
                }
                continue;
            }
            Token::Semicolon if block.has_statements() => {
                block.end_statement();
                continue;
            }
            Token::Function(name) => Some(block.of_function(name)),
            Token::ParenthesisBlock => Some(block.inside(Closer::Parenthesis, Strings::None)),
            Token::SquareBracketBlock => Some(block.inside(Closer::Square, Strings::None)),
            Token::CurlyBracketBlock => Some(block.inside(Closer::Curly, Strings::None)),
            Token::CloseParenthesis | Token::CloseSquareBracket | Token::CloseCurlyBracket => {
                // CSS Syntax 3, 5.4.8: only its own closer ends a block, any other is a token of it.
                if Some(block.closer) == closer_of(&token)
                    && let Some(enclosing) = outer.pop()
                {
                    let closed = std::mem::replace(&mut block, enclosing);
                    if closed.closer == Closer::Curly && block.has_statements() {
                        block.end_statement();
                    }
                    continue;
                }
                None
            }
            _ => None,
        };
        block.pass(&token);
        if let Some(inner) = inner {
            outer.push(std::mem::replace(&mut block, inner));
        }
    }
    found
}

fn closer_of(token: &Token) -> Option<Closer> {
    match token {
        Token::CloseParenthesis => Some(Closer::Parenthesis),
        Token::CloseSquareBracket => Some(Closer::Square),
        Token::CloseCurlyBracket => Some(Closer::Curly),
        _ => None,
    }
}

fn decodes_to(raw: &str, form: Form, value: &str) -> bool {
    form.decode(View::of_str(raw, 0)).text == value
}

/// The inside of a string-token (CSS Syntax 3, 4.3.5), and its quote. The end of the text ends it
/// as well.
fn inside_string(token: &str) -> (Span, char) {
    let bytes = token.as_bytes();
    let quote = if bytes.first() == Some(&b'\'') { b'\'' } else { b'"' };
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            _ if byte == quote => break,
            _ => at += 1,
        }
    }
    (Span::new(1, at.min(bytes.len())), char::from(quote))
}

/// The inside of a url-token without white space (CSS Syntax 3, 4.3.6). The end of the text ends it
/// as well.
fn inside_url_token(token: &str) -> Span {
    let bytes = token.as_bytes();
    // The name is some spelling of `url`, and no escape of one of its letters holds a parenthesis.
    let mut start = memchr::memchr(b'(', bytes).map_or(bytes.len(), |open| open + 1);
    while bytes.get(start).copied().is_some_and(is_whitespace) {
        start += 1;
    }
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at = after_escape(bytes, at),
            b')' => break,
            _ if is_whitespace(byte) => break,
            _ => at += 1,
        }
    }
    Span::new(start, at.min(bytes.len()))
}

/// Behind the escape at `at`, as far as it can hold white space or a parenthesis (CSS Syntax 3,
/// 4.3.7).
fn after_escape(bytes: &[u8], at: usize) -> usize {
    let digits = bytes[at + 1..].iter().take(6).take_while(|byte| byte.is_ascii_hexdigit()).count();
    if digits == 0 {
        return at + 2;
    }
    let at = at + 1 + digits;
    match bytes.get(at..) {
        Some([b'\r', b'\n', ..]) => at + 2,
        Some(&[byte, ..]) if is_whitespace(byte) => at + 1,
        _ => at,
    }
}

/// Behind the bad-url-token that begins at `start`: at the first parenthesis that no escape holds (CSS
/// Syntax 3, 4.3.6 and 4.3.14). cssparser ends it earlier where the backslash of an escape is what
/// makes it bad.
fn behind_bad_url(css: &str, start: usize) -> usize {
    let bytes = css.as_bytes();
    let mut at = start;
    while let Some(offset) = memchr::memchr2(b')', b'\\', &bytes[at..]) {
        at += offset + 1;
        if bytes[at - 1] == b')' {
            return at;
        }
        if !matches!(bytes.get(at), None | Some(b'\n' | b'\r' | 0x0c)) {
            at += 1;
        }
    }
    bytes.len()
}

/// CSS Syntax 3, 4.2, with the newlines of 3.3.
const fn is_whitespace(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Options = Options { gcpm: true, ie: true };

    /// What is found without tokens is what the tokens say, on texts put together from traps.
    #[test]
    fn plain_urls_are_those_of_the_tokens() {
        const PIECES: &[&str] = &[
            "url(",
            "URL(",
            "url( ",
            "a",
            "b.png",
            ")",
            " )",
            "\"",
            "'",
            "url('c')",
            "url(\"d\" )",
            "url(e)",
            "-url(",
            "--url(",
            "#url(",
            "@url(",
            "1url(",
            ".url(",
            "1e3url(",
            "+url(",
            "u+1url(",
            "<!--",
            "-->",
            "/*",
            "*/",
            "/",
            "*",
            "\\",
            "\n",
            "\r",
            "\u{c}",
            "\t",
            " ",
            "\0",
            "\u{7f}",
            "é",
            "éurl(",
            "{",
            "}",
            "[",
            "]",
            "(",
            ";",
            ":",
            ",",
            "=",
            "src",
            "src(",
            "image-set(",
            "-webkit-image-set(",
            "-image-set(",
            "filter(",
            "var(",
            "env(",
            "supports(",
            "expression(",
            "@import",
            "@import 'f';",
            "@import url(g);",
            "@import url(\"k\") layer(l);",
            "@import\nurl( m ) 'n';",
            "@import",
            "@media(",
            "@media(a:b){c{d:url(o)}}",
            "@(",
            "url(\"p\\\"q\")",
            "url('\\72 s\\t')",
            "@supports",
            "@supports (a:b){",
            "@namespace x url(h);",
            "@media",
            "@-moz-document url(i){",
            "target-text(",
            "AlphaImageLoader(",
            "alphaImageLoader(src='t', b=\"u\")",
            "-AlphaImageLoader(src='t')",
            "x.AlphaImageLoader( a , Src = \"v\\77\")",
            "'w'",
            "progid:",
            "rgba(1,2)",
            "%",
            "5%url(",
            "#",
            "\\66 ",
            "\\:",
            "\\75 rl(",
            "u\\72l(",
            "\"\\f101\"",
            "'\\'",
            "@supports not (a:b) {",
            "@supports (",
            "expression(a",
            "expression(this.b(')'))",
            "var(--x)",
            "@im\\70ort 'y'",
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % bound
        };
        let (mut plain_ones, mut of_explorer) = (0, 0);
        for _ in 0..200_000 {
            let length = 1 + below(8);
            let css: String = (0..length).map(|_| PIECES[below(PIECES.len())]).collect();
            for options in [Options::default(), ALL] {
                let tokens = || urls_of_tokens(&css, options);
                if let Some(found) = plain_urls(css.as_bytes()) {
                    plain_ones += usize::from(!found.is_empty());
                    assert_eq!(found, tokens(), "{css:?}");
                }
                if let Some(found) = plain(css.as_bytes(), Some(options)) {
                    of_explorer += usize::from(found.iter().any(|one| one.group.is_some()));
                    assert_eq!(found, tokens(), "{css:?}");
                }
            }
        }
        assert!(plain_ones > 4_000 && of_explorer > 1_000, "{plain_ones} {of_explorer}");
    }

    fn check(css: &str, options: Options, expected: &[&str]) {
        let found: Vec<_> = urls(css, options).iter().map(|url| &css[url.span.range()]).collect();
        assert_eq!(found, expected, "{css:?}");
    }

    /// Input, and the raw URLs in it.
    type Row = (&'static str, &'static [&'static str]);

    /// CSS Values 4, 4.5 and CSS Syntax 3, 4.3.4 to 4.3.7 and 4.3.14.
    const URL: &[Row] = &[
        ("a{b:url(c)}", &["c"]),
        ("b:url(c),url(d) no-repeat;e:url(f)", &["c", "d", "f"]),
        ("url( \t\r\n\u{c}c\n )", &["c"]),
        ("url('c')", &["c"]),
        ("url( \n\"c\" )", &["c"]),
        ("url('c' /**/ )", &["c"]),
        ("URL(c) uRl('d')", &["c", "d"]),
        // 4.3.11: a name may be escaped.
        (r"u\72l(c)", &["c"]),
        (r"\75 \72 \6c ('c')", &["c"]),
        (r"u\72 l( c )", &["c"]),
        (r"\u\r\l(c)", &["c"]),
        // Modifiers (CSS Values 4, 4.5.3) hold no URLs.
        ("url('c' integrity('d') crossorigin(anonymous))", &["c"]),
        ("url('c' 'd')", &["c"]),
        ("src('c')", &["c"]),
        ("src( /**/ 'c' /**/ )", &["c"]),
        ("SRC('c')", &["c"]),
        ("src(c)", &[]),
        ("src(var(--c))", &[]),
        ("src(var(--c, 'd'))", &[]),
        // Empty and local ones are for the caller to judge.
        ("url()", &[""]),
        ("url( )", &[""]),
        ("url('')", &[""]),
        ("url(#c)", &["#c"]),
        ("url('#c')", &["#c"]),
        // Raw insides stay escaped; white space can belong to an escape.
        (r"url(a\)b)", &[r"a\)b"]),
        (r"url(a\ b)", &[r"a\ b"]),
        (r"url(a\20 b)", &[r"a\20 b"]),
        (r"url(\41 )", &[r"\41 "]),
        ("url(a\\20\r\nb)", &["a\\20\r\nb"]),
        (r"url(\000041b )", &[r"\000041b"]),
        (r"url('a\'b')", &[r"a\'b"]),
        ("url('a\\\nb')", &["a\\\nb"]),
        ("url('a\\\r\nb')", &["a\\\r\nb"]),
        (r#"url("a'b)")"#, &["a'b)"]),
        ("url(a\0b) url('a\0b')", &["a\0b", "a\0b"]),
        ("url(é/ü.png) url('😀')", &["é/ü.png", "😀"]),
        ("url(a/*b*/c)", &["a/*b*/c"]),
        ("url(data:image/png;base64,AA==)", &["data:image/png;base64,AA=="]),
        ("url(a{b};c)", &["a{b};c"]),
        // 4.3.6 and 4.3.14: bad urls; 4.3.5: bad strings.
        ("url(a b)", &[]),
        ("url(a'b) url(c)", &["c"]),
        ("url(a(b) url(c)", &["c"]),
        ("url(a\\\nb)", &[]),
        ("url(a\u{1}b)", &[]),
        ("url(/**/ 'a')", &[]),
        ("url('a\n') url(b)", &[]),
        ("url('a\n) url(b)", &["b"]),
        (r"url(a b\) c) url(d)", &["d"]),
        (r"url(a \) url(b) url(c)", &["c"]),
        (r"url(a \\) url(b)", &["b"]),
        ("url(a\\\n) url(b)", &["b"]),
        (r"u\72l(a \é\) b) url(c)", &["c"]),
        ("url(a b\\", &[]),
        // 4.3.5 and 4.3.6: the end of the text ends a token, and 5.4.9 a function.
        ("url(a", &["a"]),
        ("url(a  ", &["a"]),
        ("url(", &[""]),
        ("url('a", &["a"]),
        ("url('a'", &["a"]),
        (r"url(a\)", &[r"a\)"]),
        (r"url('a\'", &[r"a\'"]),
        // 4.3.5: a backslash at the end of a string is nothing.
        (r"url('a\", &[r"a\"]),
        // 4.3.7: at the end of a url-token it is U+FFFD.
        (r"url(a\", &[r"a\"]),
        // 4.3.2: comments.
        ("/*url(a)*/url(b)/*url(c)", &["b"]),
        ("<!-- a{b:url(c)} -->", &["c"]),
    ];

    /// CSS Cascade 5, 2.
    const IMPORT: &[Row] = &[
        ("@import 'a';", &["a"]),
        ("@import \"a\"", &["a"]),
        ("@import/**/'a';", &["a"]),
        ("@IMPORT 'a';", &["a"]),
        (r"@i\6dport 'a';", &["a"]),
        ("@import url(a);", &["a"]),
        ("@import url( 'a' );", &["a"]),
        ("@import src('a');", &["a"]),
        ("@import 'a' screen and (min-width: 1px), print;", &["a"]),
        ("@import 'a' layer(b.c) supports(d: url(e)) screen;", &["a"]),
        ("@import url(a) supports((b: 'c') and (d: url('e')));", &["a"]),
        ("@import 'a' 'b';", &["a"]),
        ("@import layer 'a';", &[]),
        ("@import;'a'", &[]),
        ("@import 'a'; @import 'b'; c{d:e} @import 'f';", &["a", "b", "f"]),
        ("@charset 'a'; @import 'b';", &["b"]),
        ("@layer a; @import 'b';", &["b"]),
        ("<!-- @import 'a'; -->", &["a"]),
        ("@media screen { @import 'a'; }", &["a"]),
        // 5.4.2: elsewhere than where a rule may begin, an at-keyword is a mere token.
        ("a{b: @import 'c'}", &[]),
        ("(@import 'a')", &[]),
        ("@media @import 'a';", &[]),
        ("a @import 'b'", &[]),
        ("import 'a'", &[]),
        ("@import 'a\n; c{d:url(e)}", &["e"]),
    ];

    /// CSS Images 4, 2; Filter Effects 1, `filter()`.
    const IMAGES: &[Row] = &[
        ("image-set('a' 1x, \"b\" 2x)", &["a", "b"]),
        ("image-set(url(a) 1x, url('b') 2x)", &["a", "b"]),
        ("-webkit-image-set('a' 1x, url(b) 2x)", &["a", "b"]),
        ("image-set('a' type('image/avif'), 'b' type(\"image/png\") 2x)", &["a", "b"]),
        ("IMAGE-SET('a')", &["a"]),
        ("image-set(linear-gradient(red, blue) 1x, 'a' 2x)", &["a"]),
        ("image-set(('a'))", &[]),
        ("image-set(var(--a, 'b') 1x)", &["b"]),
        ("image-set(attr(data-a, 'b') 1x)", &[]),
        ("image('a', red)", &["a"]),
        ("image(rtl 'a')", &["a"]),
        ("image(url(a))", &["a"]),
        ("cross-fade('a' 50%, url(b))", &["a", "b"]),
        ("-webkit-cross-fade(url(a), url('b'), 50%)", &["a", "b"]),
        ("filter('a', blur(1px))", &["a"]),
        ("filter(url(a), url(#b))", &["a", "#b"]),
        ("image-set(cross-fade('a', image('b')) 1x, 'c'", &["a", "b", "c"]),
    ];

    /// Places where a string or url() is none of ours, and places where it is.
    const PLACES: &[Row] = &[
        // CSS Namespaces 3, 2.
        ("@namespace 'a'; b{c:url(d)}", &["d"]),
        ("@namespace a url(b); @NAMESPACE url('c');", &[]),
        // CSS Conditional, the draft of 2012.
        ("@document url(a), url-prefix('b') { c { d: url(e) } } f{g:url(h)}", &["e", "h"]),
        ("@-moz-document url('a'), domain(b) { c { d: url(e) } }", &["e"]),
        // CSS Conditional 3, 6: conditions.
        ("@supports (a: url(b)) { c { d: url(e) } }", &["e"]),
        ("@supports not (a: image-set('b')) { c { d: image-set('e') } }", &["e"]),
        ("@media (a) { b { c: url(d) } }", &["d"]),
        // CSS Fonts 4, 4.3.
        ("@font-face { src: local('a'), url(b) format('c'), url('d') tech(e) }", &["b", "d"]),
        ("@font-face { src: local(a), url('b') format(c) }", &["b"]),
        // CSS Counter Styles 3, 3.
        (
            "@counter-style a { symbols: 'b' url(c); prefix: 'd'; additive-symbols: 1 url('e') }",
            &["c", "e"],
        ),
        ("@color-profile --a { src: url(b) }", &["b"]),
        ("@page { background: url(a) }", &["a"]),
        ("@property --a { syntax: '<url>'; initial-value: url(b) }", &["b"]),
        // CSS Variables 1, 2; CSS Values 5, attr().
        (":root { --a: url(b); --c: 'd'; --e:{f:url(g)} }", &["b", "g"]),
        ("@container style(--a: url(b)) { c { d: e } }", &["b"]),
        ("a { b: attr(href) attr(c, 'd') }", &[]),
        ("a { content: 'b' url(c) counter(d, 'e') }", &["c"]),
        // Selectors 4, 6: they match the attribute as it is written.
        ("[href='a'], [b=\"c\"] { d: url(e) }", &["e"]),
        (":is([a='b']) :not([c='d']) {}", &[]),
        ("a { quotes: 'b' 'c'; behavior: url(d); -moz-binding: url('e#f') }", &["d", "e#f"]),
        ("a { & b { c: url(d) } e: url(f) }", &["d", "f"]),
        ("a { width: expression(b('url(c)') + url(d)) }", &[]),
        // 5.4.8: a closer that does not match closes nothing.
        ("image-set(] } 'a')", &["a"]),
        ("} ) ] url(a)", &["a"]),
        ("@namespace (;}) url(a); url(b)", &["b"]),
    ];

    const GCPM: &[Row] = &[
        ("target-counter(url(a), page)", &["a"]),
        ("target-counter('a', page)", &["a"]),
        ("target-counters('a', b, 'c')", &["a"]),
        ("target-text(url('a'), before)", &["a"]),
        ("Target-Text(attr(href url), 'a')", &[]),
    ];

    const IE: &[Row] = &[
        (
            "filter:progid:DXImageTransform.Microsoft.AlphaImageLoader(src='a', sizingMethod='b');",
            &["a"],
        ),
        ("filter: progid:dximagetransform.microsoft.alphaimageloader(a='b' , SRC = \"c\")", &["c"]),
        ("filter: alpha(src='a')", &[]),
        ("AlphaImageLoader('a', src 'b', = 'c', src=d 'e')", &[]),
    ];

    #[test]
    fn every_place_of_a_url() {
        for row in [URL, IMPORT, IMAGES, PLACES].concat() {
            check(row.0, Options::default(), row.1);
            check(row.0, ALL, row.1);
        }
    }

    #[test]
    fn groups_are_opt_in() {
        for (rows, group, options) in [
            (GCPM, Group::Gcpm, Options { gcpm: true, ie: false }),
            (IE, Group::Ie, Options { gcpm: false, ie: true }),
        ] {
            for (css, expected) in rows {
                check(css, Options::default(), &[]);
                check(css, options, expected);
                assert!(urls(css, ALL).iter().all(|url| url.group == Some(group)), "{css:?}");
            }
        }
        check("target-text(url(a)) url(b)", Options::default(), &["b"]);
    }

    #[test]
    fn forms() {
        let forms: Vec<_> = urls("url(a) url('b') url(\"c\") url(", Options::default())
            .iter()
            .map(|url| url.form)
            .collect();
        assert_eq!(forms, [Form::Token, Form::String('\''), Form::String('"'), Form::Token]);
    }

    /// What the scan of `bytes` finds: the encoding, and each reference with its place.
    fn scanned(bytes: &[u8], charset: &str) -> (&'static str, Vec<(String, Span)>) {
        let options =
            ScanOptions { charset: Charset::for_label(charset), ..ScanOptions::default() };
        let document = scan(bytes, &options);
        let links = document.links.iter().map(|link| (link.reference.clone(), link.span()));
        (document.charset.name(), links.collect())
    }

    #[test]
    fn a_style_sheet_is_a_document() {
        let document = scan(b"@import ' a\\62 ' ;", &ScanOptions::default());
        assert_eq!((document.format, document.links.len()), (Format::Css, 1));
        let link = &document.links[0];
        assert_eq!((link.element.as_str(), link.attribute.as_deref()), ("", None));
        assert_eq!((link.reference.as_str(), link.span()), ("ab", Span::new(10, 15)));
        assert_eq!(link.against, Against::Document);
        assert!(link.fragment_identifies && !link.empty_resolves);
        assert_eq!(link.spelling.form, spelling::Form::CssString('\''));
    }

    #[test]
    fn every_encoding_leads_to_the_bytes() {
        let one = |charset, reference: &str, start, end| {
            (charset, vec![(reference.to_owned(), Span::new(start, end))])
        };
        assert_eq!(scanned(b"url(\xc3\xa9)", ""), one("UTF-8", "\u{e9}", 4, 6));
        assert_eq!(scanned(b"url(\xe9x)", ""), one("UTF-8", "\u{fffd}x", 4, 6));
        assert_eq!(scanned(b"\xef\xbb\xbfurl(a)", "koi8-r"), one("UTF-8", "a", 7, 8));
        assert_eq!(scanned(b"url(\x95\x5c)", "shift_jis"), one("Shift_JIS", "\u{8868}", 4, 6));
        assert_eq!(scanned(b"@charset \"koi8-r\";url(\xc1)", ""), one("KOI8-R", "\u{430}", 22, 23));
        assert_eq!(scanned(b"\xff\xfeu\0r\0l\0(\0a\0)\0", ""), one("UTF-16LE", "a", 4, 5));
        let document = scan(b"\xff\xfeu\0r\0l\0(\0a\0)\0", &ScanOptions::default());
        let decoded = document.decoded.map(|decoded| decoded.map.covering(Span::new(4, 5)));
        assert_eq!(decoded, Some(Span::new(10, 12)));
    }

    #[test]
    fn half_a_million_of_anything() {
        for piece in ["(", "[", "{", "a(", "url('", "url('a'", "image-set(", "@import ", "}", "\\"]
        {
            let css = piece.repeat(500_000);
            let found = urls(&css, ALL);
            assert!(found.len() <= 500_000, "{piece:?}");
        }
        assert_eq!(urls(&"url(a)".repeat(100_000), ALL).len(), 100_000);
        let deep = format!("{}url(a){}url(b)", "(".repeat(500_000), ")".repeat(500_000));
        check(&deep, ALL, &["a", "b"]);
    }
}
