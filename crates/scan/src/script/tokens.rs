//! The tokens of JavaScript (ECMAScript, 12), as far as needed to find the ends of strings, templates, comments
//! and regular expressions.
//!
//! The grammar decides if `/` begins a regular expression (12, "the lexical goal"). The last token and the open brackets
//! tell nearly always; after `}`, a `/` is assumed not to divide.
//!
//! ```text
//! if (a) /b/.test(c) / d    -->    if ( a ) /b/ . test ( c ) / d
//! ```
//!
//! Deliberately absent: a check that the tokens form a program. Reading stops at an invalid token or an unmatched
//! bracket, because the meaning of the rest would be a guess.

use baselink_text::Span;
use memchr::{memchr, memmem};

use crate::document::SyntaxFault;

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

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
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
#[derive(Clone, Copy)]
pub struct Token {
    pub kind: TokenKind,
    /// The whole token, including the quotation marks of a string.
    pub span: Span,
    /// True if no bracket is open where the token begins.
    pub is_outermost: bool,
}

/// An open bracket.
#[derive(PartialEq, Eq)]
enum Bracket {
    /// The parenthesis after `if`, `for`, `while` or `with`.
    Control,
    Parenthesis,
    Square,
    Brace,
    /// `${` in a template.
    Substitution,
}

/// The meaning of the last token, if it matters to the next one.
#[derive(PartialEq, Eq)]
enum LastToken {
    /// `.` or `?.`, after which every word is a name.
    Dot,
    /// `if`, `for`, `while` or `with`.
    Control,
    Other,
}

/// The tokens of a text.
pub struct Tokens<'a> {
    bytes: &'a [u8],
    goal: Goal,
    /// The offset of the next byte.
    at: usize,
    /// The open brackets.
    open: Vec<Bracket>,
    last: LastToken,
    /// True if the last token ends an operand, so that a `/` divides.
    is_operand: bool,
}

impl<'a> Tokens<'a> {
    pub fn of(text: &'a str, goal: Goal) -> Self {
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
            open: Vec::new(),
            last: LastToken::Other,
            is_operand: false,
        }
    }

    /// The next token; `None` at the end.
    pub fn next_token(&mut self) -> Result<Option<Token>, SyntaxFault> {
        self.skip()?;
        let (start, is_outermost) = (self.at, self.open.is_empty());
        let rest = &self.bytes[start..];
        let Some(&first) = rest.first() else {
            return if is_outermost {
                Ok(None)
            } else {
                Err(SyntaxFault::new(start, "a bracket is not closed"))
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
            b'}' if self.open.last() == Some(&Bracket::Substitution) => {
                self.open.pop();
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
        Ok(Some(Token {
            kind,
            span: Span::new(start, self.at),
            is_outermost,
        }))
    }

    /// Notes a token that ends an operand.
    fn operand(&mut self) {
        (self.last, self.is_operand) = (LastToken::Other, true);
    }

    /// Notes a token after which an operand may begin.
    fn operator(&mut self, last: LastToken) {
        (self.last, self.is_operand) = (last, false);
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<(), SyntaxFault> {
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
                        return Err(SyntaxFault::new(self.at, "a comment is not closed"));
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

    fn markup_comment(&mut self) -> Result<(), SyntaxFault> {
        if self.goal == Goal::File {
            return Err(SyntaxFault::new(
                self.at,
                "a comment like those of HTML, which modules do not allow, begins",
            ));
        }
        self.at = line_end(self.bytes, self.at);
        Ok(())
    }

    /// Reads the text of a template from `at` to its end or to a substitution.
    fn template(&mut self, mut at: usize) -> Result<TokenKind, SyntaxFault> {
        loop {
            match &self.bytes[at.min(self.bytes.len())..] {
                [] => {
                    return Err(SyntaxFault::new(self.at, "a template is not closed"));
                }
                [b'\\', ..] => at += 2,
                [b'`', ..] => {
                    self.at = at + 1;
                    self.operand();
                    return Ok(TokenKind::Other);
                }
                [b'$', b'{', ..] => {
                    self.at = at + 2;
                    self.open.push(Bracket::Substitution);
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
        match word {
            _ if self.last == LastToken::Dot => self.operand(),
            b"if" | b"for" | b"while" | b"with" => self.operator(LastToken::Control),
            b"await" if self.last == LastToken::Control => {}
            b"of" if self.is_operand && self.open.last() == Some(&Bracket::Control) => {
                self.operator(LastToken::Other);
            }
            // After these words, a `/` does not divide.
            b"await" | b"break" | b"case" | b"catch" | b"const" | b"continue" | b"debugger"
            | b"default" | b"delete" | b"do" | b"else" | b"export" | b"extends" | b"finally"
            | b"import" | b"in" | b"instanceof" | b"let" | b"new" | b"return" | b"switch"
            | b"throw" | b"try" | b"typeof" | b"var" | b"void" | b"yield" => {
                self.operator(LastToken::Other)
            }
            _ => self.operand(),
        }
    }

    /// Reads a punctuator.
    fn mark(&mut self, first: u8) -> Result<TokenKind, SyntaxFault> {
        let rest = &self.bytes[self.at..];
        let at = self.at;
        self.at += 1;
        match (first, &rest[1..]) {
            (b'(', _) if self.last == LastToken::Control => self.open(Bracket::Control),
            (b'(', _) => self.open(Bracket::Parenthesis),
            (b'[', _) => self.open(Bracket::Square),
            (b'{', _) => self.open(Bracket::Brace),
            (b')' | b']' | b'}', _) => self.close(first, at)?,
            (b'?', [b'.', after, ..]) if !after.is_ascii_digit() => {
                self.at += 1;
                self.operator(LastToken::Dot);
                return Ok(TokenKind::Mark(b'.'));
            }
            (b'?', [b'?', ..]) => return Ok(self.long_operator(1)),
            (b'=', [b'>', ..]) => return Ok(self.long_operator(1)),
            (b'.', [b'.', b'.', ..]) => return Ok(self.long_operator(2)),
            (b'.', _) => self.operator(LastToken::Dot),
            // `++` and `--` may be postfix or prefix; in both cases, `is_operand` does not change.
            (b'+', [b'+', ..]) | (b'-', [b'-', ..]) => {
                self.at += 1;
                self.last = LastToken::Other;
                return Ok(TokenKind::Other);
            }
            (b'\\', _) | (..=b' ', _) | (0x7f, _) => {
                return Err(SyntaxFault::new(at, "an invalid token begins"));
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

    fn open(&mut self, bracket: Bracket) {
        self.open.push(bracket);
        self.operator(LastToken::Other);
    }

    /// Processes a closing bracket. A `/` after `}` begins a regular expression: nobody divides an object, a function or a
    /// class.
    fn close(&mut self, mark: u8, at: usize) -> Result<(), SyntaxFault> {
        let open = self.open.pop();
        let is_closed = match open {
            Some(Bracket::Control | Bracket::Parenthesis) => mark == b')',
            Some(Bracket::Square) => mark == b']',
            Some(Bracket::Brace | Bracket::Substitution) => mark == b'}',
            None => false,
        };
        if !is_closed {
            return Err(SyntaxFault::new(
                at,
                "a closing bracket matches no opening bracket",
            ));
        }
        match open {
            Some(Bracket::Control | Bracket::Brace) => self.operator(LastToken::Other),
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

pub fn is_of_name(byte: u8) -> bool {
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
fn string_end(bytes: &[u8], start: usize) -> Result<usize, SyntaxFault> {
    let mut at = start + 1;
    loop {
        match &bytes[at.min(bytes.len())..] {
            [] | [b'\n' | b'\r', ..] => {
                return Err(SyntaxFault::new(start, "a string is not closed"));
            }
            [b'\\', b'\r', b'\n', ..] => at += 3,
            [b'\\', ..] => at += 2,
            [byte, ..] if *byte == bytes[start] => return Ok(at + 1),
            _ => at += 1,
        }
    }
}

/// The end of the regular expression that begins at `start` (12.9.5), including its flags.
fn regular_expression_end(bytes: &[u8], start: usize) -> Result<usize, SyntaxFault> {
    let (mut at, mut is_class) = (start + 1, false);
    loop {
        let rest = &bytes[at.min(bytes.len())..];
        if matches!(rest, [] | [b'\n' | b'\r', ..] | [b'\\', b'\n' | b'\r', ..])
            || is_separator(rest)
        {
            return Err(SyntaxFault::new(
                start,
                "a regular expression is not closed",
            ));
        }
        match rest {
            [b'\\', ..] => at += 1,
            [b'[', ..] => is_class = true,
            [b']', ..] => is_class = false,
            [b'/', ..] if !is_class => return Ok(name_end(bytes, at + 1)),
            _ => {}
        }
        at += 1;
    }
}
