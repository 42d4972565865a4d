//! The open blocks and statements of CSS, determined after the text was skipped (CSS Syntax 3, 5.4).
//!
//! ```
//! use baselink_scan::{attributes::Groups, css};
//! // The second `@import` comes too late (Cascade 5, 2).
//! let sheet = "@import 'a.css'; p { color: red } @import 'b.css';";
//! assert_eq!(css::urls(sheet, Groups::default()).len(), 1);
//! ```
//!
//! Deliberately absent: the validity of declarations, and of selectors that are not plain.

use baselink_text::Span;

use super::tokens::{self, CssToken, is_among, is_name};

/// The open blocks and the statement at a position of the text.
#[derive(Default)]
pub struct Nesting {
    /// The offset up to which the blocks are known.
    at: usize,
    /// The closer of each open block.
    open: Vec<u8>,
    /// True inside a rule, a declaration or a value, so that no rule or declaration may begin here.
    is_inside: bool,
    /// The start of the statement at the top level.
    statement: usize,
    /// True if this statement is an at-rule.
    is_at_rule: bool,
    /// True after a token at the top level that begins no block.
    is_open: bool,
    /// True after an `@import`.
    has_imports: bool,
    /// True after a rule that is certainly valid, other than `@charset`, `@import` and a `@layer` without a block before them.
    is_late: bool,
    /// An identifier that begins a statement, if it may be the name of a custom property.
    name: Option<Span>,
    /// The number of blocks around the declaration of a custom property, and the name of the property.
    pub custom: Option<(usize, Span)>,
    /// The number of blocks around an outermost custom function, its call or another use of custom names, and the byte
    /// that ends it at this depth.
    custom_function: Option<(usize, u8)>,
}

impl Nesting {
    /// The closer of the block around the at-keyword at `at`, if the keyword begins an at-rule. `at` must not decrease
    /// from call to call.
    pub fn of_rule(&mut self, bytes: &[u8], at: usize) -> Option<Option<u8>> {
        self.advance(bytes, at);
        (!self.is_inside).then(|| self.open.last().copied())
    }

    /// True if an `@import` at this place has an effect (Cascade 5, 2).
    pub fn takes_imports(&self) -> bool {
        self.open.is_empty() && !self.is_late && self.begins_statement()
    }

    /// True if a string here may be substituted into another value (CSS Custom Properties 1, 3; CSS Mixins 1).
    pub fn may_be_substituted(&self) -> bool {
        self.custom.is_some() || self.custom_function.is_some()
    }

    /// True if a reference here is in the rule of a custom function, and not in a call.
    pub fn is_in_function(&self) -> bool {
        matches!(self.custom_function, Some((_, b'}')))
    }

    /// Reads the tokens that begin before `at`, which must not decrease from call to call.
    pub fn advance(&mut self, bytes: &[u8], at: usize) {
        while self.at < at {
            let start = self.at;
            let (token, end) = tokens::token(bytes, start);
            self.at = end;
            if token == CssToken::Blank {
                continue;
            }
            self.note_declaration(bytes, token, Span::new(start, end));
            self.note_function(token);
            if self.open.is_empty() {
                self.note_rule(bytes, token, start);
            }
            let is_end = match token {
                CssToken::Open(closer) => {
                    self.open.push(closer);
                    closer == b'}'
                }
                CssToken::Function(_) => {
                    self.open.push(b')');
                    false
                }
                CssToken::Close(closer) if self.open.last() == Some(&closer) => {
                    self.open.pop();
                    closer == b'}'
                }
                _ => token == CssToken::Semicolon,
            };
            self.is_inside = !(is_end && matches!(self.open.last(), None | Some(b'}')));
        }
    }

    /// Begins or ends the declaration of a custom property at a token. A `{}` block in its value does not end it.
    fn note_declaration(&mut self, bytes: &[u8], token: CssToken<'_>, span: Span) {
        let depth = self.open.len();
        match (self.custom, token) {
            (Some((around, _)), CssToken::Semicolon) if depth == around => self.custom = None,
            (Some((around, _)), CssToken::Close(closer)) => {
                let closes = depth == around && self.open.last() == Some(&closer);
                self.custom = self.custom.filter(|_| !closes);
            }
            (Some(_), _) => {}
            (None, CssToken::Ident(name)) if !self.is_inside => {
                let is_custom = is_custom(name) || is_name(name, "initial-value");
                self.name = is_custom.then_some(span);
            }
            (None, token) => {
                let is_colon = token == CssToken::Other && bytes[span.start] == b':';
                let name = self.name.take();
                self.custom = name.filter(|_| is_colon).map(|name| (depth, name));
            }
        }
    }

    /// Begins or ends a rule or call of a custom function at a token.
    fn note_function(&mut self, token: CssToken<'_>) {
        let depth = self.open.len();
        self.custom_function = match (self.custom_function, token) {
            (None, CssToken::Function(name)) if is_custom(name) => Some((depth, b')')),
            (None, CssToken::AtKeyword(name))
                if !self.is_inside && is_among(name, SUBSTITUTING) =>
            {
                Some((depth, b'}'))
            }
            (Some((around, b'}')), CssToken::Semicolon) if depth == around => None,
            (Some((around, closer)), CssToken::Close(found)) => {
                let closes = self.open.last() == Some(&found);
                let is_own = depth == around + 1 && found == closer;
                // A block around it may close first.
                self.custom_function
                    .filter(|_| !(closes && (is_own || depth <= around)))
            }
            (state, _) => state,
        };
    }

    /// Notes whether a valid rule ends the time of imports with the token at `at`, which is at the top level.
    fn note_rule(&mut self, bytes: &[u8], token: CssToken<'_>, at: usize) {
        if !self.is_inside && self.begins_statement() {
            (self.statement, self.is_at_rule) = (at, matches!(token, CssToken::AtKeyword(_)));
        }
        self.is_open = token != CssToken::Open(b'}');
        if self.is_late || !matches!(token, CssToken::Semicolon | CssToken::Open(b'}')) {
            return;
        }
        let is_block = token != CssToken::Semicolon;
        let prelude = &bytes[self.statement..at];
        if !self.is_at_rule {
            self.is_late = is_block && prelude.split(|&byte| byte == b',').all(is_plain_selector);
        } else if let (CssToken::AtKeyword(name), start) = tokens::token(bytes, self.statement) {
            let prelude = bytes[start..at].trim_ascii();
            let is_between = !is_block
                && self.has_imports
                && is_name(name, "layer")
                && prelude
                    .split(|byte| b",.".contains(byte))
                    .all(is_plain_name);
            self.is_late = is_between || is_plain_rule(name, prelude, is_block);
            self.has_imports |= !is_block && is_name(name, "import");
        }
    }

    /// True if a statement of the top level may begin after the last token: there, a semicolon ends only at-rules.
    fn begins_statement(&self) -> bool {
        !self.is_open || self.is_at_rule
    }
}

/// The at-rules whose strings may be substituted into values elsewhere (CSS Mixins 1).
const SUBSTITUTING: &str = "function mixin apply env";

/// True if `name` begins with two dashes, which may be escaped.
fn is_custom(name: &[u8]) -> bool {
    tokens::after(name, "--").is_some()
}

/// True if the at-rule `name` with this prelude is certainly valid.
fn is_plain_rule(name: &[u8], prelude: &[u8], is_block: bool) -> bool {
    if !is_block {
        return is_name(name, "namespace") && matches!(prelude, [.., b')' | b'"' | b'\'']);
    }
    is_among(name, WITH_ANY)
        || prelude.is_empty() && is_among(name, WITH_NONE)
        || is_among(name, WITH_NAME) && prelude.split(|&byte| byte == b'.').all(is_plain_name)
        || is_among(name, WITH_CONDITION) && matches!(prelude, [b'(', .., b')'])
}

/// The at-rules with a block after which Chromium reads no `@import`, whatever their prelude is.
const WITH_ANY: &str = "media function scope";

/// The at-rules with a block that have no prelude.
const WITH_NONE: &str = "font-face layer page view-transition starting-style";

/// The at-rules with a block whose prelude is a name. The name of a layer may have dots.
const WITH_NAME: &str =
    "layer keyframes -webkit-keyframes container counter-style font-palette-values position-try";

/// The at-rules with a block whose prelude is a condition.
const WITH_CONDITION: &str = "container supports";

/// True if `text` is certainly a valid selector: names, classes and ids with spaces between.
fn is_plain_selector(text: &[u8]) -> bool {
    let words = text.split(u8::is_ascii_whitespace);
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(is_plain_word)
}

fn is_plain_word(word: &[u8]) -> bool {
    match word {
        b"*" => true,
        [b'.' | b'#', name @ ..] | name => is_plain_name(name),
    }
}

/// True if `text` is certainly a name (CSS Syntax 3, 4.3.9).
fn is_plain_name(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let begins = text.starts_with(b"--") || text.first().is_some_and(u8::is_ascii_alphabetic);
    begins
        && text
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
}
