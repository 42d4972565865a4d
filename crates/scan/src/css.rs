//! The URLs of CSS in style sheets, style attributes and presentation attributes. CSS Syntax 3 defines the tokens.
//! The places of URLs are from Values 4 (4.5), Cascade 5 (2), Images 4 (2), Filter Effects 1 (`filter()`) and
//! Generated Content 3 (cross-references).
//!
//! A URL is a url-token, the string of `url()` or `src()`, or a string in one of the few other places where the
//! standards read a string as a URL. Spans are byte offsets in the given text. The text of a span is still
//! escaped; [`escape::css`] decodes it.
//!
//! ```
//! use baselink_scan::{attributes::Groups, css};
//! let sheet = "@import 'a.css'; p { background: url(b.png) } q { content: 'c' }";
//! let urls: Vec<_> = css::urls(sheet, Groups::default())
//!     .iter()
//!     .map(|url| &sheet[url.span.range()])
//!     .collect();
//! assert_eq!(urls, ["a.css", "b.png"]);
//! ```
//!
//! Five cases are special:
//!
//! - A declaration inside `supports()` or the prelude of `@supports` is parsed but never applied, so a URL in it is
//!   not reported.
//! - The fallback of `var()` and `env()` is read in its context. Inside `image-set()`, a string in it is a URL.
//! - A url-token, string or function that ends only at the end of the text counts like any other.
//! - An `@import` counts only at the top level, before every other rule that is certainly valid (Cascade 5, 2).
//! - A string that a substitution could make a URL counts only if it would lead out of a copy
//!   ([`Certainty::IfLeadsOut`]): in a custom property, in `@function`, in the arguments of a custom function, and at any
//!   depth inside a function in which strings are URLs.
//!
//! The tokenizer (`css/tokens.rs`) belongs to this crate, and most tokens are skipped unread. In a neutral block,
//! where only `url()` makes a URL, the scanner stops only at six bytes: quotes, `(`, `/`, `@` and `\`. Which blocks
//! are open is determined afterwards, and only if the meaning of an at-keyword depends on it.
//!
//! Deliberately absent: grammars. All three kinds of CSS have the same tokens, invalid CSS is scanned like valid
//! CSS, and a url-token is a URL in any property. CSS inside a string (`-ms-filter`) is not scanned.

use baselink_text::{
    Span, View,
    format::starts_with,
    layer::{escape, spelling::Form},
};

use super::{
    attributes::{Group, Groups},
    document::Certainty,
    sieve::Sieve,
};

mod nesting;
mod tokens;
pub mod uses;

use nesting::Nesting;
use tokens::{CssToken, is_among, is_name};

/// A URL of CSS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CssUrl {
    /// The text of the url-token without white space around it, or of the string.
    pub span: Span,
    /// The form of that text: [`Form::CssToken`] or [`Form::CssString`].
    pub form: Form,
    /// The certainty that the text is a URL.
    pub certainty: Certainty,
}

impl CssUrl {
    /// Decodes the URL from its escaped form `raw`.
    pub(crate) fn decode(self, raw: View) -> View {
        escape::css(raw, self.form == Form::CssToken)
    }
}

/// The meaning of strings in the arguments of a function.
#[derive(Clone, Copy)]
enum Arguments {
    /// Strings that are URLs, if the group, if any, is enabled. Otherwise nothing inside is a URL.
    Strings(Strings, Option<Group>),
    /// Strings are URLs if the function is an argument of one in which every string is a URL.
    Inherited,
    /// Nothing inside is a URL, not even a url-token.
    Nothing,
}

/// The first argument is a URL if it is a string.
const FIRST: Arguments = Arguments::Strings(Strings::Next, None);

/// Every string is a URL.
const EVERY: Arguments = Arguments::Strings(Strings::All, None);

/// Like [`FIRST`], but in the group `rare`.
const TARGET: Arguments = Arguments::Strings(Strings::Next, Some(Group::Rare));

/// The functions in which strings are URLs, or nothing is a URL. Names are ASCII case-insensitive.
const FUNCTIONS: &[(&str, Arguments)] = &[
    ("url src", FIRST),
    (
        "image-set -webkit-image-set image cross-fade -webkit-cross-fade filter",
        EVERY,
    ),
    ("var env", Arguments::Inherited),
    ("supports expression", Arguments::Nothing),
    ("target-counter target-counters target-text", TARGET),
    (
        "alphaimageloader",
        Arguments::Strings(Strings::Source(0), Some(Group::Rare)),
    ),
];

/// A filter for the names of [`FUNCTIONS`].
const FUNCTION_NAMES: Sieve = {
    let mut names = Sieve::of("");
    let mut at = 0;
    while at < FUNCTIONS.len() {
        names = names.and(FUNCTIONS[at].0);
        at += 1;
    }
    names
};

/// The arguments of the function `name`; `None` if it is not in [`FUNCTIONS`].
fn arguments(name: &[u8]) -> Option<Arguments> {
    if !FUNCTION_NAMES.passes(name) && !name.contains(&b'\\') {
        return None;
    }
    FUNCTIONS
        .iter()
        .find(|(known, _)| is_among(name, known))
        .map(|&(_, arguments)| arguments)
}

/// The at-rules whose prelude contains no links: names, match patterns, conditions.
const SILENT_PRELUDES: &str = "namespace document -moz-document supports";

/// The strings directly inside an open block that are URLs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strings {
    None,
    /// A string that is the next token, ignoring white space and comments.
    Next,
    All,
    /// A string after `src` and `=`. The number of these two tokens already seen.
    Source(u8),
}

/// An open block or function, or the whole text.
#[derive(Clone, Copy)]
struct Block {
    /// The byte that closes it; `None` if there is none.
    closer: Option<u8>,
    strings: Strings,
    /// True if nothing inside is a URL.
    silent: bool,
    /// True if nothing up to the `;` or `{}` that ends this at-rule is a URL.
    silent_prelude: bool,
    /// The certainty of URLs up to the same place.
    certainty: Certainty,
    /// True if strings of an enclosing block are URLs, or may be.
    enclosed: bool,
}

impl Block {
    const NEUTRAL: Self = Self {
        closer: None,
        strings: Strings::None,
        silent: false,
        silent_prelude: false,
        certainty: Certainty::Certain,
        enclosed: false,
    };

    fn inside(self, closer: u8) -> Self {
        let is_curly = closer == b'}';
        Self {
            closer: Some(closer),
            strings: Strings::None,
            // A prelude ends where the block of its rule begins.
            silent: self.silent || (self.silent_prelude && !is_curly),
            silent_prelude: false,
            certainty: if is_curly {
                Certainty::Certain
            } else {
                self.certainty
            },
            enclosed: self.enclosed || self.strings != Strings::None,
        }
    }

    fn of_function(self, name: &[u8], groups: Groups) -> Self {
        let mut block = self.inside(b')');
        match arguments(name) {
            Some(Arguments::Strings(strings, group)) => {
                block.strings = strings;
                block.silent |= group.is_some_and(|group| !groups.contains(group));
            }
            Some(Arguments::Inherited) if self.strings == Strings::All => {
                block.strings = Strings::All;
            }
            Some(Arguments::Nothing) => block.silent = true,
            None | Some(Arguments::Inherited) => {}
        }
        block
    }

    /// True if only `url()` makes a URL until a function or an at-rule begins. Closing an inner block changes nothing.
    fn is_neutral(self) -> bool {
        self.strings == Strings::None && !(self.silent || self.silent_prelude || self.enclosed)
    }

    /// True if the block contains rules and declarations, not a value.
    fn has_statements(self) -> bool {
        matches!(self.closer, None | Some(b'}'))
    }

    /// Ends a rule or declaration.
    fn end_statement(&mut self) {
        self.strings = Strings::None;
        self.silent_prelude = false;
        self.certainty = Certainty::Certain;
    }

    /// Begins an at-rule with the at-keyword `name`. An import that is not `in_time` has no effect.
    fn begin_at_rule(&mut self, name: &[u8], in_time: bool, groups: Groups) {
        let is_import = is_name(name, "import");
        let is_late = is_import && !in_time;
        if is_late && groups.has_loaded() {
            self.certainty = Certainty::IfLeadsOut;
        }
        if is_import && (in_time || groups.has_loaded()) {
            self.strings = Strings::Next;
        }
        self.silent_prelude = is_among(name, SILENT_PRELUDES) || (is_late && !groups.has_loaded());
    }

    /// Updates the state for a token without a meaning of its own.
    fn pass(&mut self, token: CssToken<'_>) {
        self.strings = match (self.strings, token) {
            (Strings::All, _) => Strings::All,
            (Strings::Source(_), CssToken::Ident(name)) if is_name(name, "src") => {
                Strings::Source(1)
            }
            (Strings::Source(1), CssToken::Equals) => Strings::Source(2),
            (Strings::Source(_), _) => Strings::Source(0),
            (Strings::None | Strings::Next, _) => Strings::None,
        };
    }

    fn string_is_url(self) -> bool {
        matches!(
            self.strings,
            Strings::Next | Strings::All | Strings::Source(2)
        )
    }

    fn is_reported(self) -> bool {
        !self.silent && !self.silent_prelude
    }
}

/// The addresses of `@import` that a preload scanner may find in the text of a `style`, wherever they are: for each, the span of
/// `import` and that of the address. Such a scanner knows neither the type of the element nor the grammar of CSS. In Chromium, an
/// address ends at white space, or at a `;` after a closing quote or parenthesis. Firefox takes all before the closing one.
pub fn imports(text: &str) -> impl Iterator<Item = [Span; 2]> {
    let bytes = text.as_bytes();
    import_rules(bytes).flat_map(move |at| {
        let after = bytes[at..].trim_ascii_start();
        let start = bytes.len() - after.len();
        let ends = |(length, byte): &(usize, u8)| {
            byte.is_ascii_whitespace() || (*byte == b';' && is_closed(&after[..*length]))
        };
        let end = (0..).zip(after.iter().copied()).find(ends);
        let mut span = Span::new(start, end.map_or(bytes.len(), |(length, _)| start + length));
        let value = &bytes[span.range()];
        if starts_with(value, "url(") && value.ends_with(b")") {
            span = Span::new(start + 4, span.end - 1);
        }
        if let [quote @ (b'"' | b'\''), .., last] = bytes[span.range()]
            && quote == last
        {
            span = Span::new(span.start + 1, span.end - 1);
        }
        let addresses = [Some(span), in_marks(bytes, after)].into_iter().flatten();
        addresses.map(move |address| [Span::new(at - "import".len(), at), address])
    })
}

/// The span of what is in the quotes, or in the parentheses of `url()`, at the start of `after`, the end of `bytes`.
fn in_marks(bytes: &[u8], after: &[u8]) -> Option<Span> {
    let is_function = starts_with(after, "url(");
    let value = after[if is_function { 4 } else { 0 }..].trim_ascii_start();
    let (end, value) = match value {
        [quote @ (b'"' | b'\''), rest @ ..] => (*quote, rest),
        _ if is_function => (b')', value),
        _ => return None,
    };
    let start = bytes.len() - value.len();
    let length = memchr::memchr(end, value).unwrap_or(value.len());
    Some(Span::new(start, start + length))
}

/// True if the address `value` ends with a quote that closes it, or with a parenthesis.
fn is_closed(value: &[u8]) -> bool {
    match value {
        [] | [_] | [.., b'\\', _] => false,
        [quote @ (b'"' | b'\''), .., last] => quote == last,
        [.., last] => *last == b')',
    }
}

/// True if a preload scanner may find an `@import` in the text of a `style`. It reads the text without NUL.
pub fn may_import(text: &[u8]) -> bool {
    memchr::memchr(0, text).is_some() || import_rules(text).next().is_some()
}

/// The ends of the at-keywords `@import` in the bytes of a `style`.
fn import_rules(text: &[u8]) -> impl Iterator<Item = usize> {
    let ends = memchr::memchr_iter(b'@', text).map(|at| at + "@import".len());
    ends.filter(|&end| {
        let name = text.get(end - "import".len()..end);
        name.is_some_and(|name| name.eq_ignore_ascii_case(b"import"))
    })
}

/// Every URL of `css`, in order.
///
/// Includes empty and fragment-only URLs.
pub fn urls(css: &str, groups: Groups) -> Vec<CssUrl> {
    Urls::of(css.as_bytes(), groups).collect()
}

/// The URLs of CSS, in order, in any encoding in which every ASCII byte is an ASCII character.
///
/// Takes linear time, and memory only for open blocks.
#[derive(Default)]
pub(crate) struct Urls<'a> {
    bytes: &'a [u8],
    groups: Groups,
    /// The next position of a byte from each half of those that can matter in neutral blocks.
    marks: [usize; 2],
    /// The offset up to which the bytes are read.
    at: usize,
    /// The open blocks from the outermost that is not neutral to the innermost; empty if the innermost is neutral.
    blocks: Vec<Block>,
    nesting: Nesting,
    /// The end of the bytes in which a search for the end of a silent prelude failed. No search begins before it, so
    /// the time stays linear.
    doubtful: usize,
    /// True if the text may declare custom properties; `None` until it was searched.
    may_have_custom: Option<bool>,
}

impl<'a> Urls<'a> {
    pub(crate) fn of(bytes: &'a [u8], groups: Groups) -> Self {
        Self {
            bytes,
            groups,
            ..Self::default()
        }
    }

    /// The name of the custom property whose value contains `url`, the last URL found (CSS Custom Properties 1, 2);
    /// `initial-value` in the rule of a custom property, and `result` in that of a custom function. `None` for a URL that needs no
    /// base.
    pub(crate) fn custom_property(&mut self, url: CssUrl) -> Option<&'a [u8]> {
        let text = &self.bytes[url.span.range()];
        if text.starts_with(b"#") || text.starts_with(b"data:") || !self.may_have_custom() {
            return None;
        }
        self.nesting.advance(self.bytes, url.span.start);
        let name = self.nesting.custom.map(|(_, name)| name);
        name.map(|name| &self.bytes[name.range()])
            .or_else(|| self.nesting.is_in_function().then_some(b"result"))
    }

    /// True if the text may contain a declaration of a custom property or function. Both dashes of its name may be escaped.
    fn may_have_custom(&mut self) -> bool {
        let bytes = self.bytes;
        let begins = |at: usize| {
            at.checked_sub(1)
                .map(|before| bytes[before])
                .is_none_or(|byte| byte.is_ascii_whitespace() || b";{}/".contains(&byte))
        };
        *self.may_have_custom.get_or_insert_with(|| {
            memchr::memchr2_iter(b'-', b'\\', bytes).any(|at| {
                let is_dash = matches!(bytes[at..], [b'-', b'-' | b'\\', ..] | [b'\\', ..]);
                is_dash && begins(at)
            })
        })
    }

    /// Skips from one byte that can matter to the next, until the end of a URL, the start of a block that is not
    /// neutral, or the end of the text.
    #[inline]
    fn skip(&mut self) -> Option<CssUrl> {
        let bytes = self.bytes;
        loop {
            let (before, at) = (self.at, self.next_mark());
            self.at = match bytes[at..] {
                [] => at,
                [b'/', b'*', ..] => tokens::comment_end(bytes, at),
                [quote @ (b'"' | b'\''), ..] => {
                    let (token, end) = tokens::string(bytes, at);
                    self.at = end;
                    if let CssToken::String(span) = token
                        && self.may_become_url(span)
                    {
                        return Some(CssUrl {
                            span,
                            form: Form::CssString(char::from(quote)),
                            certainty: Certainty::IfLeadsOut,
                        });
                    }
                    end
                }
                [b'(', ..] => {
                    let name = &bytes[word_start(bytes, before, at)..at];
                    self.at = at + 1;
                    if name.eq_ignore_ascii_case(b"url") {
                        let (url, end) = url(bytes, at + 1);
                        self.at = end;
                        if url.is_some() {
                            return url;
                        }
                    } else if FUNCTION_NAMES.passes(name) && self.enter(name) {
                        return None;
                    }
                    continue;
                }
                [b'@', ..] => {
                    self.at = tokens::word_end(bytes, at + 1);
                    let name = &bytes[at + 1..self.at];
                    let is_sought = is_name(name, "import") || is_among(name, SILENT_PRELUDES);
                    if is_sought && self.begin_at_rule(name, at) {
                        return None;
                    }
                    continue;
                }
                [b'\\', ..] => {
                    let (token, end) = tokens::token(bytes, word_start(bytes, before, at));
                    self.at = end.max(at + 1);
                    match token {
                        CssToken::Url(span) => {
                            return Some(CssUrl {
                                span,
                                form: Form::CssToken,
                                certainty: Certainty::Certain,
                            });
                        }
                        CssToken::Function(name) if self.enter(name) => return None,
                        _ => continue,
                    }
                }
                _ => at + 1,
            };
            if self.at == bytes.len() {
                return None;
            }
        }
    }

    /// The position of the next byte that can matter in a neutral block; the length of the bytes if there is none.
    fn next_mark(&mut self) -> usize {
        let (bytes, at) = (self.bytes, self.at);
        let [one, two] = &mut self.marks;
        if *one <= at {
            let found = memchr::memchr3(b'(', b'"', b'\'', &bytes[at..]);
            *one = found.map_or(bytes.len(), |length| at + length);
        }
        if *two <= at {
            let found = memchr::memchr3(b'/', b'@', b'\\', &bytes[at..]);
            *two = found.map_or(bytes.len(), |length| at + length);
        }
        *one.min(two)
    }

    /// True if the string at `span`, which is not a URL itself, may become one by a substitution, and a copy must guard it.
    fn may_become_url(&mut self, span: Span) -> bool {
        let text = &self.bytes[span.range()];
        // Without a sign of a path, a reference leads out of no folder. A mere `/` names no file.
        let is_sign = |byte: &u8| b"/\\:".contains(byte);
        if !self.groups.has_loaded()
            || !text.iter().any(is_sign)
            || text
                .iter()
                .all(|byte| is_sign(byte) || b". ".contains(byte))
        {
            return false;
        }
        let is_enclosed = self.blocks.last().is_some_and(|block| block.enclosed);
        self.nesting.advance(self.bytes, span.start);
        is_enclosed || self.nesting.may_be_substituted()
    }

    /// Enters the function `name` in a neutral block. Returns true if the function's block is not neutral.
    fn enter(&mut self, name: &[u8]) -> bool {
        let block = Block::NEUTRAL.of_function(name, self.groups);
        if !block.is_neutral() {
            self.blocks.push(block);
        }
        !block.is_neutral()
    }

    /// Processes the at-keyword `name` at `at`, the last token read. If it begins an at-rule whose prelude must be read
    /// token by token, enters the block around the rule and returns true.
    fn begin_at_rule(&mut self, name: &[u8], at: usize) -> bool {
        if is_among(name, SILENT_PRELUDES) && self.at >= self.doubtful {
            match prelude_end(self.bytes, self.at) {
                Ok(end) => {
                    self.at = end;
                    return false;
                }
                Err(doubtful) => self.doubtful = doubtful,
            }
        }
        let Some(closer) = self.nesting.of_rule(self.bytes, at) else {
            return false;
        };
        let mut block = Block {
            closer,
            ..Block::NEUTRAL
        };
        block.begin_at_rule(name, self.nesting.takes_imports(), self.groups);
        self.blocks.push(block);
        true
    }

    /// Reads the next token in a block that is not neutral.
    fn step(&mut self) -> Option<CssUrl> {
        let (token, end) = tokens::token(self.bytes, self.at);
        let start = std::mem::replace(&mut self.at, end);
        let may_become_url = matches!(token, CssToken::String(span) if self.may_become_url(span));
        let block = self.blocks.last_mut()?;
        let mut found = None;
        let inner = match token {
            CssToken::Blank => return None,
            CssToken::String(span) => {
                let (is_url, is_reported) = (block.string_is_url(), block.is_reported());
                let certainty = if is_url {
                    block.certainty
                } else {
                    Certainty::IfLeadsOut
                };
                if is_reported && (is_url || may_become_url) {
                    found = Some(CssUrl {
                        span,
                        form: Form::CssString(char::from(self.bytes[start])),
                        certainty,
                    });
                }
                None
            }
            CssToken::Url(span) => {
                let url = CssUrl {
                    span,
                    form: Form::CssToken,
                    certainty: block.certainty,
                };
                found = block.is_reported().then_some(url);
                None
            }
            CssToken::AtKeyword(name) => {
                block.pass(token);
                if self.nesting.of_rule(self.bytes, start).is_some() {
                    block.begin_at_rule(name, self.nesting.takes_imports(), self.groups);
                }
                return None;
            }
            CssToken::Semicolon if block.has_statements() => {
                block.end_statement();
                return None;
            }
            CssToken::Function(name) => Some(block.of_function(name, self.groups)),
            CssToken::Open(closer) => Some(block.inside(closer)),
            // CSS Syntax 3, 5.4.8: only its own closer ends a block. Any other closer is a token inside it.
            CssToken::Close(closer) if block.closer == Some(closer) => {
                self.blocks.pop();
                if let Some(block) = self.blocks.last_mut()
                    && closer == b'}'
                    && block.has_statements()
                {
                    block.end_statement();
                }
                return None;
            }
            _ => None,
        };
        block.pass(token);
        self.blocks.extend(inner);
        found
    }
}

impl Iterator for Urls<'_> {
    type Item = CssUrl;

    #[inline]
    fn next(&mut self) -> Option<CssUrl> {
        while self.at < self.bytes.len() {
            let found = if self.blocks.is_empty() {
                self.skip()
            } else {
                let found = self.step();
                if self.blocks.last().is_some_and(|block| block.is_neutral()) {
                    self.blocks.clear();
                }
                found
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// The end of the prelude that begins at `at`.
///
/// # Errors
///
/// Fails with the end of the first token that would be a URL outside of a prelude, or that makes the end uncertain.
fn prelude_end(bytes: &[u8], mut at: usize) -> Result<usize, usize> {
    let mut depth = 0_usize;
    while at < bytes.len() {
        let (token, end) = tokens::token(bytes, at);
        match token {
            CssToken::Semicolon | CssToken::Open(b'}') if depth == 0 => return Ok(at),
            CssToken::Open(b')') | CssToken::Function(_) => depth += 1,
            CssToken::Close(b')') if depth > 0 => depth -= 1,
            CssToken::String(_) | CssToken::Url(_) | CssToken::Open(_) | CssToken::Close(_) => {
                return Err(end);
            }
            _ => {}
        }
        at = end;
    }
    Ok(at)
}

/// The URL of the `url(` that ends at `at`, and the end of its token or string. `None` for a bad URL.
fn url(bytes: &[u8], at: usize) -> (Option<CssUrl>, usize) {
    let inside = tokens::space_end(bytes, at);
    let (form, (token, end)) = match bytes.get(inside) {
        Some(&quote @ (b'"' | b'\'')) => (
            Form::CssString(char::from(quote)),
            tokens::string(bytes, inside),
        ),
        _ => (Form::CssToken, tokens::url_token(bytes, at)),
    };
    let url = match token {
        CssToken::String(span) | CssToken::Url(span) => Some(CssUrl {
            span,
            form,
            certainty: Certainty::Certain,
        }),
        _ => None,
    };
    (url, end)
}

/// The start of the token whose ident code points end at `at`, but not before `before`, the end of another token.
fn word_start(bytes: &[u8], before: usize, at: usize) -> usize {
    let length = bytes[before..at]
        .iter()
        .rev()
        .take_while(|byte| tokens::is_of_name(**byte))
        .count();
    let start = at - length;
    match bytes[before..start] {
        // A hash.
        [.., b'#'] => start - 1,
        // The two dashes belong to the CDO `<!--`.
        [.., b'<', b'!'] if bytes[start..at].starts_with(b"--") => start + 2,
        _ => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(css: &str, groups: Groups, expected: &[&str]) {
        let found: Vec<_> = urls(css, groups)
            .iter()
            .map(|url| &css[url.span.range()])
            .collect();
        assert_eq!(found, expected, "{css:?}");
    }

    /// An input, and its raw URLs.
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
        // Modifiers (CSS Values 4, 4.5.3) contain no URLs.
        ("url('c' integrity('d') crossorigin(anonymous))", &["c"]),
        ("url('c' 'd')", &["c"]),
        ("src('c')", &["c"]),
        ("src( /**/ 'c' /**/ )", &["c"]),
        ("SRC('c')", &["c"]),
        ("src(c)", &[]),
        ("src(var(--c))", &[]),
        ("src(var(--c, 'd'))", &[]),
        // Empty and local URLs are reported, and the caller decides.
        ("url()", &[""]),
        ("url( )", &[""]),
        ("url('')", &[""]),
        ("url(#c)", &["#c"]),
        ("url('#c')", &["#c"]),
        // Raw text stays escaped; white space can be part of an escape.
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
        (
            "url(data:image/png;base64,AA==)",
            &["data:image/png;base64,AA=="],
        ),
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
        // 4.3.5: a backslash at the end of a string is ignored.
        (r"url('a\", &[r"a\"]),
        // 4.3.7: a backslash at the end of a url-token is U+FFFD.
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
        (
            "@import url(a) supports((b: 'c') and (d: url('e')));",
            &["a"],
        ),
        ("@import 'a' 'b';", &["a"]),
        ("@import layer 'a';", &[]),
        ("@import;'a'", &[]),
        ("@import 'a'; @import 'b'; c{d:e} @import 'f';", &["a", "b"]),
        // Bug 170: Cascade 5, 2. Only valid rules end the time of imports.
        (
            "a{b:c} @import url(d); @import url('e') layer(f) supports(g: url(h)); i{j:url(k)}",
            &["k"],
        ),
        ("*,\n.a b #c-d {} @import 'e'", &[]),
        ("a > b {} @import 'c'; a:b {} @import 'd'", &["c", "d"]),
        ("@media x{} @import 'a';", &[]),
        ("@layer a{} @import 'b';", &[]),
        ("@namespace 'a'; @import 'b';", &[]),
        (
            "@charset 'a'; @layer b, c; @unknown d; @import 'e'; @import url(g)",
            &["e", "g"],
        ),
        ("@import 'a'; @layer b; @import 'c';", &["a"]),
        (
            "@layer a, b{} @supports c{} @keyframes {} @page d e{} @import 'f';",
            &["f"],
        ),
        ("@supports not (a:b){} @import 'c';", &["c"]),
        ("a:!b{} @import 'c';", &["c"]),
        ("a{b:c}; @import 'd';", &[]),
        ("x; a{} @import 'b'; c{} @import 'd';", &["b"]),
        ("a,{} >b{} .1{} @unknown {} @import 'c';", &["c"]),
        ("@charset 'a'; @import 'b';", &["b"]),
        ("@layer a; @import 'b';", &["b"]),
        ("<!-- @import 'a'; -->", &["a"]),
        ("@media screen { @import 'a'; }", &[]),
        (
            "@unknown { @import 'a'; @import url(b); } @import 'c'",
            &["c"],
        ),
        // 5.4.2: where a rule may not begin, an at-keyword is a mere token.
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
        (
            "image-set('a' type('image/avif'), 'b' type(\"image/png\") 2x)",
            &["a", "b"],
        ),
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
        (
            "image-set(cross-fade('a', image('b')) 1x, 'c'",
            &["a", "b", "c"],
        ),
    ];

    /// Places where a string or `url()` is reported, and places where it is not.
    const PLACES: &[Row] = &[
        // CSS Namespaces 3, 2.
        ("@namespace 'a'; b{c:url(d)}", &["d"]),
        ("@namespace a url(b); @NAMESPACE url('c');", &[]),
        // CSS Conditional, the draft of 2012.
        (
            "@document url(a), url-prefix('b') { c { d: url(e) } } f{g:url(h)}",
            &["e", "h"],
        ),
        (
            "@-moz-document url('a'), domain(b) { c { d: url(e) } }",
            &["e"],
        ),
        // CSS Conditional 3, 6: conditions.
        ("@supports (a: url(b)) { c { d: url(e) } }", &["e"]),
        (
            "@supports not (a: image-set('b')) { c { d: image-set('e') } }",
            &["e"],
        ),
        ("@media (a) { b { c: url(d) } }", &["d"]),
        // CSS Fonts 4, 4.3.
        (
            "@font-face { src: local('a'), url(b) format('c'), url('d') tech(e) }",
            &["b", "d"],
        ),
        ("@font-face { src: local(a), url('b') format(c) }", &["b"]),
        // CSS Counter Styles 3, 3.
        (
            "@counter-style a { symbols: 'b' url(c); prefix: 'd'; additive-symbols: 1 url('e') }",
            &["c", "e"],
        ),
        ("@color-profile --a { src: url(b) }", &["b"]),
        ("@page { background: url(a) }", &["a"]),
        (
            "@property --a { syntax: '<url>'; initial-value: url(b) }",
            &["b"],
        ),
        // CSS Variables 1, 2; CSS Values 5, attr().
        (
            ":root { --a: url(b); --c: 'd'; --e:{f:url(g)} }",
            &["b", "g"],
        ),
        ("@container style(--a: url(b)) { c { d: e } }", &["b"]),
        ("a { b: attr(href) attr(c, 'd') }", &[]),
        ("a { content: 'b' url(c) counter(d, 'e') }", &["c"]),
        // Selectors 4, 6: selectors match the attribute as written.
        ("[href='a'], [b=\"c\"] { d: url(e) }", &["e"]),
        (":is([a='b']) :not([c='d']) {}", &[]),
        (
            "a { quotes: 'b' 'c'; behavior: url(d); -moz-binding: url('e#f') }",
            &["d", "e#f"],
        ),
        ("a { & b { c: url(d) } e: url(f) }", &["d", "f"]),
        ("a { width: expression(b('url(c)') + url(d)) }", &[]),
        // 5.4.8: a closer that does not match is ignored.
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
        (
            "filter: progid:dximagetransform.microsoft.alphaimageloader(a='b' , SRC = \"c\")",
            &["c"],
        ),
        ("filter: alpha(src='a')", &[]),
        ("AlphaImageLoader('a', src 'b', = 'c', src=d 'e')", &[]),
    ];

    #[test]
    fn every_place_of_a_url() {
        for row in [URL, IMPORT, IMAGES, PLACES].concat() {
            check(row.0, Groups::default(), row.1);
            check(row.0, Groups::all(), row.1);
        }
    }

    #[test]
    fn groups_are_opt_in() {
        for (rows, group) in [(GCPM, Group::Rare), (IE, Group::Rare)] {
            let mut groups = Groups::default();
            groups.insert(group);
            for (css, expected) in rows {
                check(css, Groups::default(), &[]);
                check(css, groups, expected);
                check(css, Groups::all(), expected);
            }
        }
        check("target-text(url(a)) url(b)", Groups::default(), &["b"]);
    }

    #[test]
    fn forms() {
        let forms: Vec<_> = urls("url(a) url('b') url(\"c\") url(", Groups::default())
            .iter()
            .map(|url| url.form)
            .collect();
        assert_eq!(
            forms,
            [
                Form::CssToken,
                Form::CssString('\''),
                Form::CssString('"'),
                Form::CssToken
            ]
        );
    }

    #[test]
    fn half_a_million_of_anything() {
        for piece in [
            "(",
            "[",
            "{",
            "a(",
            "url('",
            "url('a'",
            "image-set(",
            "@import ",
            "}",
            "\\",
        ] {
            let css = piece.repeat(500_000);
            let found = urls(&css, Groups::all());
            assert!(found.len() <= 500_000, "{piece:?}");
        }
        assert_eq!(
            urls(&"url(a)".repeat(100_000), Groups::all()).len(),
            100_000
        );
        let deep = format!("{}url(a){}url(b)", "(".repeat(500_000), ")".repeat(500_000));
        check(&deep, Groups::all(), &["a", "b"]);
    }
}
