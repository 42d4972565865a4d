//! The URLs of CSS, parsed recursively from the tokens of cssparser: a slow transcription of the rules in
//! `scan/css.rs`, for tests only.

use baselink_scan::attributes::{Group, Groups};
use baselink_scan::css::CssUrl;
use baselink_scan::document::Certainty;
use baselink_text::layer::spelling::Form;
use baselink_text::layer::{View, escape};
use baselink_text::span::Span;
use cssparser::{Parser, Token};

/// The rule that decides which strings in a list of component values are URLs.
#[derive(Clone, Copy, PartialEq)]
enum Strings {
    None,
    /// The first token is a URL if it is a string.
    First,
    All,
    /// A string right after `src` and `=` is a URL. The number counts how many of these two tokens came last.
    Source(u8),
}

/// True if the at-rule `name` with this prelude certainly ends the time of imports: it is valid, and Chromium reads no
/// `@import` after it.
fn is_certain_rule(name: &str, prelude: &str, is_block: bool, has_imports: bool) -> bool {
    let prelude = prelude.trim_matches([' ', '\t', '\n', '\r', '\u{c}']);
    let is_condition = prelude.len() > 1 && prelude.starts_with('(') && prelude.ends_with(')');
    match (&*name.to_ascii_lowercase(), is_block) {
        ("media", true) => true,
        ("font-face" | "page" | "starting-style" | "scope" | "view-transition", true) => {
            prelude.is_empty()
        }
        ("layer", true) => prelude.is_empty() || is_certain_word(prelude),
        ("keyframes" | "-webkit-keyframes" | "counter-style" | "font-feature-values", true) => {
            is_certain_word(prelude)
        }
        ("container", true) => is_condition || is_certain_word(prelude),
        ("supports", true) => is_condition,
        ("layer", false) => has_imports && is_certain(prelude),
        ("namespace", false) => prelude.ends_with([')', '"', '\'']),
        _ => false,
    }
}

/// True if `prelude` is certainly a list of valid selectors: names, classes and ids.
fn is_certain(prelude: &str) -> bool {
    prelude.split(',').all(|selector| {
        let words: Vec<_> = selector.split_ascii_whitespace().collect();
        !words.is_empty() && words.into_iter().all(is_certain_word)
    })
}

fn is_certain_word(word: &str) -> bool {
    let name = word.strip_prefix(['.', '#']).unwrap_or(word);
    let is_of_name = |one: char| one.is_ascii_alphanumeric() || "-_".contains(one);
    word == "*"
        || name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(is_of_name)
}

/// The context of a list of component values.
#[derive(Clone, Copy)]
struct Place {
    strings: Strings,
    /// True if URLs do not count here.
    silent: bool,
}

/// The reason why a list of component values ended.
#[derive(PartialEq)]
enum End {
    Closed,
    Semicolon,
    Curly,
}

struct Reader<'a> {
    css: &'a str,
    at: usize,
    groups: Groups,
    found: Vec<CssUrl>,
}

/// The URLs of `css`, in order.
pub(crate) fn urls(css: &str, groups: Groups) -> Vec<CssUrl> {
    let mut reader = Reader {
        css,
        at: 0,
        groups,
        found: Vec::new(),
    };
    reader.statements(
        Place {
            strings: Strings::None,
            silent: false,
        },
        None,
    );
    reader.found
}

impl<'a> Reader<'a> {
    /// The next token that is not white space, a comment, `<!--` or `-->`, and its span.
    fn next(&mut self) -> Option<(Token<'a>, Span)> {
        loop {
            let start = self.at;
            let mut parser = Parser::new(&self.css[start..]);
            let token = parser
                .next_including_whitespace_and_comments()
                .ok()?
                .clone();
            self.at = match &token {
                Token::BadUrl(_) => bad_url_end(self.css, start),
                _ => start + parser.position().byte_index(),
            };
            match token {
                Token::WhiteSpace(_) | Token::Comment(_) | Token::CDO | Token::CDC => {}
                token => return Some((token, Span::new(start, self.at))),
            }
        }
    }

    /// The place of the first `{` from `at` on. It may be in a string, but not in a prelude that is certainly valid.
    fn open_curly(&self, at: usize) -> usize {
        self.css[at..]
            .find('{')
            .map_or(self.css.len(), |length| at + length)
    }

    /// Reads rules and declarations up to `closer`, or to the end if there is no `closer` (CSS Syntax 3, 5.4.1 and
    /// 5.4.4).
    fn statements(&mut self, place: Place, closer: Option<&Token>) {
        let place = Place {
            strings: Strings::None,
            ..place
        };
        let mut is_late = closer.is_some();
        let mut has_imports = false;
        // At the top level, a semicolon ends only at-rules.
        let mut is_broken = false;
        while let Some((token, span)) = self.next() {
            match &token {
                Token::Semicolon => is_broken = true,
                token if Some(token) == closer => return,
                Token::AtKeyword(name) => {
                    let is = |keyword: &&str| name.eq_ignore_ascii_case(keyword);
                    let silent = ["namespace", "document", "-moz-document", "supports"]
                        .iter()
                        .any(is);
                    let is_import = is(&"import");
                    let place_of_prelude = Place {
                        strings: if is_import {
                            Strings::First
                        } else {
                            Strings::None
                        },
                        silent: place.silent || silent || (is_import && (is_late || is_broken)),
                    };
                    let start = span.end;
                    let opens = self.open_curly(start);
                    let end = self.list(place_of_prelude, place, closer, true);
                    let is_block = end == End::Curly;
                    let stop = if is_block {
                        opens
                    } else {
                        self.at.saturating_sub(1).max(start)
                    };
                    let is_valid = !is_broken && end != End::Closed;
                    // At the end of the text, the last character is no `;`.
                    let prelude = self.css.get(start..stop).unwrap_or_default();
                    is_late |= is_valid && is_certain_rule(name, prelude, is_block, has_imports);
                    has_imports |= is_valid && is_import;
                    is_broken &= end != End::Curly;
                    if end == End::Closed {
                        return;
                    }
                }
                _ => {
                    let curly = self.component(&token, span, place, place);
                    let opens = self.open_curly(span.start);
                    if !curly {
                        let end = self.list(place, place, closer, true);
                        if end == End::Closed {
                            return;
                        }
                        let is_valid = !is_broken && is_certain(&self.css[span.start..opens]);
                        is_late |= end == End::Curly && is_valid;
                        is_broken = end == End::Semicolon;
                    } else {
                        is_broken = false;
                    }
                }
            }
        }
    }

    /// Reads component values up to `closer`. A statement also ends at its `;` or block. `block` is the context of a
    /// block, `place` of everything else.
    fn list(
        &mut self,
        place: Place,
        block: Place,
        closer: Option<&Token>,
        is_statement: bool,
    ) -> End {
        let mut place = place;
        while let Some((token, span)) = self.next() {
            if Some(&token) == closer {
                return End::Closed;
            }
            if is_statement && token == Token::Semicolon {
                return End::Semicolon;
            }
            let block = if is_statement { block } else { place };
            if self.component(&token, span, place, block) && is_statement {
                return End::Curly;
            }
            place.strings = match (place.strings, &token) {
                (Strings::All, _) => Strings::All,
                (Strings::Source(_), Token::Ident(name)) if name.eq_ignore_ascii_case("src") => {
                    Strings::Source(1)
                }
                (Strings::Source(1), Token::Delim('=')) => Strings::Source(2),
                (Strings::Source(_), _) => Strings::Source(0),
                (Strings::None | Strings::First, _) => Strings::None,
            };
        }
        End::Closed
    }

    /// Reads the component value that begins with `token`, and returns true if it is a `{}` block.
    fn component(&mut self, token: &Token<'a>, span: Span, place: Place, block: Place) -> bool {
        let inside = Place {
            strings: Strings::None,
            ..place
        };
        match token {
            Token::QuotedString(value) => {
                let is_url = matches!(
                    place.strings,
                    Strings::First | Strings::All | Strings::Source(2)
                );
                let quote = self.css[span.range()].chars().next().unwrap();
                let raw = &self.css[span.start + 1..span.end];
                let raw = if is_closed(raw, quote) {
                    &raw[..raw.len() - 1]
                } else {
                    raw
                };
                self.url(
                    is_url,
                    Span::new(span.start + 1, span.start + 1 + raw.len()),
                    Form::CssString(quote),
                    value,
                    place,
                );
            }
            Token::UnquotedUrl(value) => {
                let text = &self.css[span.range()];
                let start = span.start + text.find('(').unwrap() + 1;
                let raw = &self.css[start..span.end];
                let start = span.end - raw.trim_start_matches(is_space).len();
                let raw = &self.css[start..span.end];
                let raw = if is_closed(raw, ')') {
                    &raw[..raw.len() - 1]
                } else {
                    raw
                };
                let mut end = raw.trim_end_matches(is_space).len();
                // The white space may belong to an escape.
                end = (end..=raw.len())
                    .rev()
                    .find(|&end| decoded(&raw[..end], Form::CssToken) == **value)
                    .unwrap_or(end);
                self.url(
                    true,
                    Span::new(start, start + end),
                    Form::CssToken,
                    value,
                    place,
                );
            }
            Token::Function(name) => {
                let (strings, group, silent) = match &*name.to_ascii_lowercase() {
                    "url" | "src" => (Strings::First, None, false),
                    "image-set" | "-webkit-image-set" | "image" | "cross-fade"
                    | "-webkit-cross-fade" | "filter" => (Strings::All, None, false),
                    "var" | "env" if place.strings == Strings::All => (Strings::All, None, false),
                    "supports" | "expression" => (Strings::None, None, true),
                    "target-counter" | "target-counters" | "target-text" => {
                        (Strings::First, Some(Group::Rare), false)
                    }
                    "alphaimageloader" => (Strings::Source(0), Some(Group::Rare), false),
                    _ => (Strings::None, None, false),
                };
                let is_off = group.is_some_and(|group| !self.groups.contains(group));
                let inside = Place {
                    strings,
                    silent: place.silent || silent || is_off,
                };
                self.list(inside, inside, Some(&Token::CloseParenthesis), false);
            }
            Token::ParenthesisBlock => {
                self.list(inside, inside, Some(&Token::CloseParenthesis), false);
            }
            Token::SquareBracketBlock => {
                self.list(inside, inside, Some(&Token::CloseSquareBracket), false);
            }
            Token::CurlyBracketBlock => {
                self.statements(block, Some(&Token::CloseCurlyBracket));
                return true;
            }
            _ => {}
        }
        false
    }

    fn url(&mut self, is_url: bool, span: Span, form: Form, value: &str, place: Place) {
        assert_eq!(
            decoded(&self.css[span.range()], form),
            value,
            "{:?}",
            self.css
        );
        if is_url && !place.silent {
            self.found.push(CssUrl {
                span,
                form,
                certainty: Certainty::Certain,
            });
        }
    }
}

/// The decoded form of `raw`.
fn decoded(raw: &str, form: Form) -> String {
    escape::css(View::of_str(raw, 0), form == Form::CssToken).text
}

/// True if `raw` ends with an unescaped `end`.
fn is_closed(raw: &str, end: char) -> bool {
    let before = raw.strip_suffix(end);
    before.is_some_and(|before| (before.len() - before.trim_end_matches('\\').len()) % 2 == 0)
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

/// The end of the bad-url-token that begins at `start`: after the first unescaped parenthesis (CSS Syntax 3, 4.3.6
/// and 4.3.14). cssparser ends the token earlier if the backslash of an escape made it bad.
fn bad_url_end(css: &str, start: usize) -> usize {
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
