//! The tokens of JavaScript (ECMAScript, 12), as far as needed to find the ends of strings, templates, comments
//! and regular expressions.
//!
//! The grammar decides if `/` begins a regular expression (12, "the lexical goal"). The necessary state is the
//! meaning of the last token, and a stack of the open brackets that records the effect of closing each.
//!
//! ```text
//! if (a) /b/.test(c) / d    -->    if ( a ) /b/ . test ( c ) / d
//! ```
//!
//! Deliberately absent: a check that the tokens form a program. Reading stops at an invalid token or an unmatched
//! bracket, because the meaning of the rest would be a guess.

use memchr::{memchr, memmem};

use baselink_text::span::Span;

/// The goal symbol for reading a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A module (ECMAScript, 16.2).
    Module,
    /// A script that is not a module (16.1), in which `<!--` and `-->` begin comments (B.1.1).
    Classic,
    /// A file that may be either.
    File,
}

/// The reason why a text was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptFault {
    /// The offset of the fault.
    pub at: usize,
    /// A description of the fault: a clause without a full stop.
    pub what: &'static str,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name or a keyword.
    Name,
    /// A string with this quotation mark.
    Text(u8),
    /// A punctuator, or one character of a longer one such as `==`. `?.` counts as `.`.
    Mark(u8),
    /// Anything else, including `=>`, `...`, `??`, `++` and `--`.
    Other,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The whole token, including the quotation marks of a string.
    pub(super) span: Span,
    /// True if no bracket is open where the token begins.
    pub(super) is_outermost: bool,
}

/// The kind of an open bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    /// The parentheses after `if`, `for`, `while` and `with`: a statement follows.
    Control,
    /// The parentheses of a function.
    Parameters { is_expression: bool },
    /// Other parentheses.
    Parentheses,
    /// `[`
    Square,
    /// A block of statements, or a list of names. `is_operand` is true if the block ends an operand, such as a
    /// function expression, so that a `/` after it divides.
    Block { is_operand: bool },
    /// The body of a class. `is_operand` is true if the class is an operand, so that a `/` after it divides.
    Class { is_operand: bool },
    /// An object literal.
    Object,
    /// `${` in a template.
    Substitution,
}

/// An open bracket.
struct Frame {
    opened: Bracket,
    /// The number of `?` so far that still lack their `:`.
    conditionals: u32,
}

/// The last token, as far as the meaning of the next one depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastToken {
    /// `.` or `?.`: a name follows, never a keyword.
    Dot,
    /// `=>`
    Arrow,
    /// `if`, `for`, `while` or `with`.
    Control,
    /// `else`, `do`, `try`, `catch` or `finally`: a block may follow.
    Block,
    Class,
    /// `import` or `export`.
    Module,
    Default,
    /// The parentheses of a function.
    Parameters {
        is_expression: bool,
    },
    Other,
}

/// Words after which a `/` does not divide, besides those handled in [`Tokens::word`].
#[rustfmt::skip]
const OPERATORS: &[&[u8]] = &[
    b"await", b"break", b"case", b"const", b"continue", b"debugger", b"delete", b"extends", b"in",
    b"instanceof", b"let", b"new", b"return", b"switch", b"throw", b"typeof", b"var", b"void",
    b"yield",
];

/// Words that begin a statement or one of its clauses, but are names in an object literal or in the body of a class.
#[rustfmt::skip]
const STATEMENTS: &[&[u8]] = &[
    b"break", b"case", b"catch", b"const", b"continue", b"debugger", b"default", b"do", b"else",
    b"export", b"finally", b"for", b"if", b"let", b"return", b"switch", b"throw", b"try", b"var",
    b"while", b"with",
];

/// The tokens of a text.
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    goal: Goal,
    at: usize,
    /// The open brackets, after a frame for the text itself.
    frames: Vec<Frame>,
    last: LastToken,
    /// True if the last token ends an operand, so that a following `/` divides.
    is_operand: bool,
    /// True if a statement may begin.
    is_statement: bool,
    /// `Some` if the parentheses of a function come next; true if the function is an expression.
    function: Option<bool>,
    /// Classes whose bodies have not begun: the depth of each, and true if it is an expression.
    classes: Vec<(usize, bool)>,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(text: &'a str, goal: Goal) -> Self {
        let bytes = text.as_bytes();
        let at = if bytes.starts_with(b"#!") {
            line_end(bytes, 0)
        } else {
            0
        };
        Self {
            bytes,
            goal,
            at,
            frames: vec![Frame {
                opened: Bracket::Block { is_operand: false },
                conditionals: 0,
            }],
            last: LastToken::Other,
            is_operand: false,
            is_statement: true,
            function: None,
            classes: Vec::new(),
        }
    }

    /// The next token; `None` at the end.
    pub(super) fn next_token(&mut self) -> Result<Option<Token>, ScriptFault> {
        self.skip()?;
        let (start, is_outermost) = (self.at, self.frames.len() == 1);
        let rest = &self.bytes[start..];
        let Some(&first) = rest.first() else {
            return match is_outermost {
                true => Ok(None),
                false => Err(ScriptFault {
                    at: start,
                    what: "a bracket is not closed",
                }),
            };
        };
        let kind = match first {
            b'"' | b'\'' => {
                self.at = string_end(self.bytes, start)?;
                self.operand();
                TokenKind::Text(first)
            }
            b'`' => self.template(start + 1)?,
            b'0'..=b'9' => self.number(),
            b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => self.number(),
            b'/' if !self.is_operand => {
                self.at = regular_expression_end(self.bytes, start)?;
                self.operand();
                TokenKind::Other
            }
            b'}' if self.frame().opened == Bracket::Substitution => {
                self.pop();
                self.template(start + 1)?
            }
            _ if is_of_name(first) || first == b'#' || rest.starts_with(b"\\u") => {
                let prefix = usize::from(first == b'#');
                self.at = name_end(self.bytes, start + prefix);
                self.word(start);
                TokenKind::Name
            }
            _ => self.mark(first)?,
        };
        // Only a star and a name can come between `function` and its parentheses.
        if !matches!(kind, TokenKind::Name | TokenKind::Mark(b'*')) {
            self.function = None;
        }
        Ok(Some(Token {
            kind,
            span: Span::new(start, self.at),
            is_outermost,
        }))
    }

    fn frame(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Records that the last token ended an operand.
    fn operand(&mut self) {
        (self.last, self.is_operand, self.is_statement) = (LastToken::Other, true, false);
    }

    /// Records that an operand follows.
    fn operator(&mut self, last: LastToken) {
        (self.last, self.is_operand, self.is_statement) = (last, false, false);
    }

    /// Records that a statement may follow.
    fn statement(&mut self, last: LastToken) {
        (self.last, self.is_operand, self.is_statement) = (last, false, true);
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<(), ScriptFault> {
        let bytes = self.bytes;
        let mut is_line_start = self.at == 0;
        loop {
            let rest = &bytes[self.at..];
            match rest {
                [b'\n' | b'\r', ..] => (self.at, is_line_start) = (self.at + 1, true),
                [b'\t' | 0xb | 0xc | b' ', ..] => self.at += 1,
                [b'/', b'/', ..] => self.at = line_end(bytes, self.at),
                [b'/', b'*', ..] => {
                    let Some(length) = memmem::find(&rest[2..], b"*/") else {
                        return Err(ScriptFault {
                            at: self.at,
                            what: "a comment is not closed",
                        });
                    };
                    is_line_start |= line_end(&rest[..length + 2], 0) < length + 2;
                    self.at += length + 4;
                }
                [b'<', b'!', b'-', b'-', ..] if self.goal != Goal::Module => {
                    self.markup_comment()?
                }
                [b'-', b'-', b'>', ..] if is_line_start && self.goal != Goal::Module => {
                    self.markup_comment()?;
                }
                [0x80..=0xff, ..] => match space_length(rest) {
                    0 => return Ok(()),
                    length => {
                        is_line_start |= is_separator(rest);
                        self.at += length;
                    }
                },
                _ => return Ok(()),
            }
        }
    }

    fn markup_comment(&mut self) -> Result<(), ScriptFault> {
        if self.goal == Goal::File {
            let what = "a comment like those of HTML, which modules do not allow, begins";
            return Err(ScriptFault { at: self.at, what });
        }
        self.at = line_end(self.bytes, self.at);
        Ok(())
    }

    /// Reads the text of a template from `at` to its end or to a substitution.
    fn template(&mut self, mut at: usize) -> Result<TokenKind, ScriptFault> {
        loop {
            match &self.bytes[at.min(self.bytes.len())..] {
                [] => {
                    return Err(ScriptFault {
                        at: self.at,
                        what: "a template is not closed",
                    });
                }
                [b'\\', ..] => at += 2,
                [b'`', ..] => {
                    self.at = at + 1;
                    self.operand();
                    return Ok(TokenKind::Other);
                }
                [b'$', b'{', ..] => {
                    self.at = at + 2;
                    self.open(Bracket::Substitution);
                    self.operator(LastToken::Other);
                    return Ok(TokenKind::Other);
                }
                _ => at += 1,
            }
        }
    }

    /// Reads a number (12.9.3), even if it is invalid.
    fn number(&mut self) -> TokenKind {
        let rest = &self.bytes[self.at..];
        let has_base = rest[0] == b'0' && rest.get(1).is_some_and(|byte| b"xXoObB".contains(byte));
        let (mut length, mut is_fraction, mut is_exponent) = (0, has_base, has_base);
        while let Some(&byte) = rest.get(length) {
            match byte {
                b'.' if !is_fraction => is_fraction = true,
                b'e' | b'E' if !is_exponent => {
                    (is_fraction, is_exponent) = (true, true);
                    length += usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
                }
                b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {}
                _ => break,
            }
            length += 1;
        }
        self.at += length;
        self.operand();
        TokenKind::Other
    }

    /// Updates the state for the word from `start` to the current offset.
    fn word(&mut self, start: usize) {
        let word = &self.bytes[start..self.at];
        let in_members = matches!(self.frame().opened, Bracket::Object | Bracket::Class { .. });
        if self.last == LastToken::Dot || (in_members && STATEMENTS.contains(&word)) {
            return self.operand();
        }
        let is_declared = self.is_statement
            || self.is_operand
            || matches!(self.last, LastToken::Module | LastToken::Default);
        match word {
            b"if" | b"for" | b"while" | b"with" => self.operator(LastToken::Control),
            b"await" if self.last == LastToken::Control => {}
            b"else" | b"do" => self.statement(LastToken::Block),
            b"try" | b"catch" | b"finally" => self.operator(LastToken::Block),
            b"import" | b"export" => self.operator(LastToken::Module),
            b"default" => self.operator(LastToken::Default),
            b"function" => {
                self.operator(LastToken::Other);
                self.function = Some(!is_declared);
            }
            b"class" if !(in_members && self.is_member_name()) => {
                self.classes.push((self.frames.len(), !is_declared));
                self.operator(LastToken::Class);
            }
            b"of" if self.is_operand && self.frame().opened == Bracket::Control => {
                self.operator(LastToken::Other);
            }
            _ if OPERATORS.contains(&word) => self.operator(LastToken::Other),
            _ => self.operand(),
        }
    }

    /// True if `class` is the name of a member, judged by the text after it.
    fn is_member_name(&self) -> bool {
        let rest = self.bytes[self.at..].trim_ascii_start();
        matches!(rest.first(), Some(b'(' | b':' | b'=' | b',' | b';' | b'}'))
    }

    /// Reads a punctuator.
    fn mark(&mut self, first: u8) -> Result<TokenKind, ScriptFault> {
        let rest = &self.bytes[self.at..];
        let at = self.at;
        self.at += 1;
        match (first, &rest[1..]) {
            (b'(', _) => {
                let opened = match (self.function.take(), self.last) {
                    (Some(is_expression), _) => Bracket::Parameters { is_expression },
                    (None, LastToken::Control) => Bracket::Control,
                    _ => Bracket::Parentheses,
                };
                self.open(opened);
                self.operator(LastToken::Other);
            }
            (b'[', _) => {
                self.open(Bracket::Square);
                self.operator(LastToken::Other);
            }
            (b'{', _) => self.open_brace(),
            (b')' | b']' | b'}', _) => self.close(first, at)?,
            (b';', _) => {
                self.frame().conditionals = 0;
                self.statement(LastToken::Other);
            }
            (b':', _) => {
                let frame = self.frame();
                let is_label =
                    frame.conditionals == 0 && matches!(frame.opened, Bracket::Block { .. });
                frame.conditionals = frame.conditionals.saturating_sub(1);
                match is_label {
                    true => self.statement(LastToken::Other),
                    false => self.operator(LastToken::Other),
                }
            }
            (b'?', [b'.', after, ..]) if !after.is_ascii_digit() => {
                self.at += 1;
                self.operator(LastToken::Dot);
                return Ok(TokenKind::Mark(b'.'));
            }
            (b'?', [b'?', ..]) => return Ok(self.long_operator(1)),
            (b'?', _) => {
                let frame = self.frame();
                frame.conditionals = frame.conditionals.saturating_add(1);
                self.operator(LastToken::Other);
            }
            (b'=', [b'>', ..]) => {
                self.at += 1;
                self.operator(LastToken::Arrow);
                return Ok(TokenKind::Other);
            }
            (b'.', [b'.', b'.', ..]) => return Ok(self.long_operator(2)),
            (b'.', _) => self.operator(LastToken::Dot),
            // `++` and `--` may be postfix or prefix; in both cases, `is_operand` does not change.
            (b'+', [b'+', ..]) | (b'-', [b'-', ..]) => {
                self.at += 1;
                (self.last, self.is_statement) = (LastToken::Other, false);
                return Ok(TokenKind::Other);
            }
            (b'\\', _) | (..=b' ', _) | (0x7f, _) => {
                return Err(ScriptFault {
                    at,
                    what: "an invalid token begins",
                });
            }
            _ => self.operator(LastToken::Other),
        }
        Ok(TokenKind::Mark(first))
    }

    /// Skips the `more` characters after the first one of an operator.
    fn long_operator(&mut self, more: usize) -> TokenKind {
        self.at += more;
        self.operator(LastToken::Other);
        TokenKind::Other
    }

    fn open(&mut self, opened: Bracket) {
        self.frames.push(Frame {
            opened,
            conditionals: 0,
        });
    }

    fn pop(&mut self) {
        self.frames.pop();
        while self
            .classes
            .last()
            .is_some_and(|(depth, _)| *depth > self.frames.len())
        {
            self.classes.pop();
        }
    }

    fn open_brace(&mut self) {
        let depth = self.frames.len();
        let class = self.classes.last().copied().filter(|(at, _)| *at == depth);
        let class = class.filter(|_| self.is_operand || self.last == LastToken::Class);
        let opened = match (self.last, class) {
            (LastToken::Arrow, _) => Bracket::Block { is_operand: false },
            (LastToken::Parameters { is_expression }, _) => Bracket::Block {
                is_operand: is_expression,
            },
            (_, Some((_, is_operand))) => {
                self.classes.pop();
                Bracket::Class { is_operand }
            }
            (LastToken::Block | LastToken::Module, _) => Bracket::Block { is_operand: false },
            _ if self.is_operand || self.is_statement => Bracket::Block { is_operand: false },
            _ => Bracket::Object,
        };
        self.open(opened);
        match opened {
            Bracket::Block { .. } => self.statement(LastToken::Other),
            _ => self.operator(LastToken::Other),
        }
    }

    fn close(&mut self, mark: u8, at: usize) -> Result<(), ScriptFault> {
        let opened = self.frame().opened;
        let closing = match opened {
            Bracket::Control | Bracket::Parameters { .. } | Bracket::Parentheses => b')',
            Bracket::Square => b']',
            _ => b'}',
        };
        if closing != mark || self.frames.len() == 1 {
            return Err(ScriptFault {
                at,
                what: "a closing bracket matches no opening bracket",
            });
        }
        self.pop();
        match opened {
            Bracket::Control => self.statement(LastToken::Other),
            Bracket::Block { is_operand: false } | Bracket::Class { is_operand: false } => {
                self.statement(LastToken::Other);
            }
            Bracket::Parameters { is_expression } => {
                self.operand();
                self.last = LastToken::Parameters { is_expression };
            }
            _ => self.operand(),
        }
        Ok(())
    }
}

/// The end of the line that contains `at`.
fn line_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    while let Some(length) = bytes[end..]
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r' | 0xe2))
    {
        end += length;
        if bytes[end] != 0xe2 || is_separator(&bytes[end..]) {
            return end;
        }
        end += 1;
    }
    bytes.len()
}

/// True if a text begins with U+2028 or U+2029, which end lines (12.3).
fn is_separator(rest: &[u8]) -> bool {
    matches!(rest, [0xe2, 0x80, 0xa8 | 0xa9, ..])
}

/// The length of the white space beyond ASCII (12.2) at the start of a text.
fn space_length(rest: &[u8]) -> usize {
    match rest {
        [0xc2, 0xa0, ..] => 2,
        [0xef, 0xbb, 0xbf, ..]
        | [0xe1, 0x9a, 0x80, ..]
        | [0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf, ..]
        | [0xe2, 0x81, 0x9f, ..]
        | [0xe3, 0x80, 0x80, ..] => 3,
        _ => 0,
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'$' | b'_' | 0x80..)
}

/// The end of the name that continues at `at`. An escape in it begins with `\u`.
fn name_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        match byte {
            0x80.. if space_length(&bytes[at..]) > 0 => break,
            b'\\' if bytes[at..].starts_with(b"\\u{") => {
                at += memchr(b'}', &bytes[at..]).map_or(bytes.len() - at, |length| length + 1);
            }
            b'\\' if bytes[at..].starts_with(b"\\u") => at = (at + 6).min(bytes.len()),
            _ if is_of_name(byte) => at += 1,
            _ => break,
        }
    }
    at
}

/// The end of the string that begins at `start` (12.9.4).
fn string_end(bytes: &[u8], start: usize) -> Result<usize, ScriptFault> {
    let mut at = start + 1;
    loop {
        match &bytes[at.min(bytes.len())..] {
            [] | [b'\n' | b'\r', ..] => {
                return Err(ScriptFault {
                    at: start,
                    what: "a string is not closed",
                });
            }
            [b'\\', b'\r', b'\n', ..] => at += 3,
            [b'\\', ..] => at += 2,
            [byte, ..] if *byte == bytes[start] => return Ok(at + 1),
            _ => at += 1,
        }
    }
}

/// The end of the regular expression that begins at `start` (12.9.5), including its flags.
fn regular_expression_end(bytes: &[u8], start: usize) -> Result<usize, ScriptFault> {
    let (mut at, mut is_class) = (start + 1, false);
    loop {
        let rest = &bytes[at.min(bytes.len())..];
        match rest {
            [] | [b'\n' | b'\r', ..] | [b'\\', b'\n' | b'\r', ..] => {
                return Err(ScriptFault {
                    at: start,
                    what: "a regular expression is not closed",
                });
            }
            [b'\\', ..] => at += 1,
            [b'[', ..] => is_class = true,
            [b']', ..] => is_class = false,
            [b'/', ..] if !is_class => return Ok(name_end(bytes, at + 1)),
            _ if is_separator(rest) => {
                return Err(ScriptFault {
                    at: start,
                    what: "a regular expression is not closed",
                });
            }
            _ => {}
        }
        at += 1;
    }
}
