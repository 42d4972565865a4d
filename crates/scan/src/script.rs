//! The URLs of JavaScript, if the group `scripts` is enabled: the imports of a script (ECMAScript, 16.2.2, 16.2.3
//! and 13.3.10), and URLs resolved against the module's own URL with `new URL("…", import.meta.url)`.
//!
//! A specifier is a URL if it begins with `/`, `./` or `../`, or has a scheme (HTML, 8.1.5.1, "resolve a URL-like
//! module specifier"). Otherwise it is a name for an import map and not a link. Each URL is resolved against the URL
//! of the script or, in an inline script, against the document base URL (HTML, 8.1.4.1, "base URL").
//!
//! ```
//! use baselink_scan::script::{Goal, urls};
//! let module = "import a from './a.js'; import(b + 'b.js');\nnew URL('c.png', import.meta.url)";
//! let found = urls(module, Goal::Module).unwrap().into_iter().map(|url| &module[url.span.range()]);
//! assert_eq!(found.collect::<Vec<_>>(), ["./a.js", "c.png"]);
//! ```
//!
//! Deliberately absent: computed strings, templates (even without substitutions), and other functions that take a
//! URL (`fetch`, `Worker`, `importScripts`). To rewrite any of these would be a guess.

mod tokens;

use baselink_text::Span;

pub use self::tokens::Goal;
use self::tokens::{Token, TokenKind, Tokens, is_of_name};
use crate::document::SyntaxFault;

/// The number of tokens in the longest pattern, including the token before the call.
const LONGEST: usize = 13;

/// A URL in a script.
#[derive(Debug)]
pub struct ScriptUrl {
    /// The text inside the quotes of the string.
    pub span: Span,
    /// The quotation mark of the string.
    pub quote: char,
    /// True for the specifier of a module. It need not be a URL.
    pub is_specifier: bool,
}

/// Every specifier and URL of `script`, in order. They may contain escapes.
///
/// # Errors
///
/// Fails if `script` cannot be read to its end, because the part before the error may have been misread.
pub fn urls(script: &str, goal: Goal) -> Result<Vec<ScriptUrl>, SyntaxFault> {
    match may_have_urls(script.as_bytes()) {
        true => read_urls(script, goal),
        false => Ok(Vec::new()),
    }
}

fn read_urls(script: &str, goal: Goal) -> Result<Vec<ScriptUrl>, SyntaxFault> {
    let mut finder = UrlFinder {
        script,
        recent: Vec::new(),
        declaration: None,
        found: Vec::new(),
    };
    let mut tokens = Tokens::of(script, goal);
    while let Some(token) = tokens.next_token()? {
        finder.recent.push(token);
        if goal != Goal::Classic {
            finder.declaration(token);
        }
        finder.call();
        if finder.recent.len() > 64 * LONGEST {
            finder.recent.drain(..63 * LONGEST);
        }
    }
    Ok(finder.found)
}

/// True if a script in an encoding that extends ASCII contains one of the keywords before a URL, and text that may follow.
/// The keyword cannot contain escapes.
pub(super) fn may_have_urls(script: &[u8]) -> bool {
    ["import", "export"].iter().any(|word| {
        memchr::memmem::find_iter(script, word.as_bytes()).any(|at| {
            let (before, rest) = (&script[..at], &script[at + word.len()..]);
            let ends_name = |last: &u8| last.is_ascii_alphanumeric() || b"$_".contains(last);
            !before.last().is_some_and(ends_name) && may_precede_url(*word == "import", rest)
        })
    })
}

/// True if `text` may follow `import` or `export` before a URL. Words in the strings of a search index nearly never do.
fn may_precede_url(is_import: bool, text: &[u8]) -> bool {
    let mut after = text.trim_ascii_start();
    let is_apart = after.len() < text.len();
    // Comments, escapes, and white space beyond ASCII are not read here.
    let is_read = |next: &u8| !matches!(next, b'/' | b'\\' | b'<' | b'-' | 0x0b | 0x80..);
    match after {
        [b'{' | b'*', ..] => return true,
        [b'<' | b'-', ..] => return is_apart,
        [next, ..] if !is_read(next) => return true,
        _ if !is_import => return false,
        [b'(', rest @ ..] => {
            let next = rest.trim_ascii_start().first();
            return next.is_some_and(|next| b"\"'".contains(next) || !is_read(next));
        }
        [b'.', next, ..] => return !next.is_ascii_alphabetic() || b"msd".contains(next),
        [b'"' | b'\'', next, ..] => return !b",:])};".contains(next),
        _ => {}
    }
    // In `import defer * as a from`, one name precedes the mark.
    for _ in 0..4 {
        let name = after.iter().take_while(|byte| is_of_name(**byte)).count();
        if name == 0 || !is_apart {
            return false;
        }
        let (name, rest) = after.split_at(name);
        after = rest.trim_ascii_start();
        let may_continue = |next: &u8| b",{*".contains(next) || !is_read(next);
        if name == b"from" || after.first().is_some_and(may_continue) {
            return true;
        }
    }
    true
}

/// The position in the current declaration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ImportDeclaration {
    /// After `import`.
    Import,
    /// After `export`.
    Export,
    /// From the first imported or exported name to the string after `from`.
    Clause,
}

/// A search for patterns of tokens.
struct UrlFinder<'a> {
    script: &'a str,
    /// The last tokens, at least as many as the longest pattern has.
    recent: Vec<Token>,
    declaration: Option<ImportDeclaration>,
    found: Vec<ScriptUrl>,
}

impl UrlFinder<'_> {
    /// The token that came `number` tokens before the last one.
    fn back(&self, number: usize) -> Option<&Token> {
        self.recent.iter().nth_back(number)
    }

    /// True if the token that came `number` tokens before the last one is `text`, a name or a mark.
    fn is(&self, number: usize, text: &str) -> bool {
        self.back(number).is_some_and(|token| match token.kind {
            TokenKind::Name => &self.script[token.span.range()] == text,
            TokenKind::Mark(mark) => [mark] == *text.as_bytes(),
            TokenKind::Text(_) | TokenKind::Other => false,
        })
    }

    /// True if `texts` are the tokens up to the one that came `number` tokens before the last one.
    fn are(&self, number: usize, texts: &[&str]) -> bool {
        let mut texts = texts.iter().rev().zip(number..);
        texts.all(|(text, number)| self.is(number, text))
    }

    /// Adds the text inside the quotes of `text`, if that token is a string.
    fn add(&mut self, text: Token, is_specifier: bool) {
        if let TokenKind::Text(quote) = text.kind {
            self.found.push(ScriptUrl {
                span: Span::new(text.span.start + 1, text.span.end - 1),
                quote: char::from(quote),
                is_specifier,
            });
        }
    }

    /// Processes the last token, if it is part of an import or export declaration (16.2.2, 16.2.3).
    fn declaration(&mut self, token: Token) {
        let is_clause = matches!(
            token.kind,
            TokenKind::Name | TokenKind::Mark(b'{' | b'}' | b',' | b'*')
        );
        let next = match (self.declaration, token.kind) {
            _ if self.is(0, "import") && self.may_begin(token) => Some(ImportDeclaration::Import),
            _ if self.is(0, "export") && self.may_begin(token) => Some(ImportDeclaration::Export),
            (None, _) => return,
            (Some(ImportDeclaration::Import), TokenKind::Text(_)) => {
                self.add(token, true);
                None
            }
            (Some(ImportDeclaration::Import), TokenKind::Name)
            | (
                Some(ImportDeclaration::Import | ImportDeclaration::Export),
                TokenKind::Mark(b'{' | b'*'),
            ) => Some(ImportDeclaration::Clause),
            (Some(ImportDeclaration::Clause), TokenKind::Text(_))
                if token.is_outermost && self.is(1, "from") =>
            {
                self.add(token, true);
                None
            }
            // A string may be a name in the list of names, or after `as`.
            (Some(ImportDeclaration::Clause), TokenKind::Text(_))
                if !token.is_outermost || self.is(1, "as") =>
            {
                Some(ImportDeclaration::Clause)
            }
            // Only `from` can follow the list of names.
            (Some(ImportDeclaration::Clause), TokenKind::Name)
                if self.is(1, "}") && !self.is(0, "from") =>
            {
                None
            }
            (Some(ImportDeclaration::Clause), _) if is_clause => Some(ImportDeclaration::Clause),
            _ => None,
        };
        self.declaration = next;
    }

    /// True if `token`, `import` or `export`, may begin a declaration.
    fn may_begin(&self, token: Token) -> bool {
        token.is_outermost
            && !self.is(1, ".")
            && self.declaration != Some(ImportDeclaration::Clause)
    }

    /// Recognises a call if the last token is its `)`, or the `,` after its first argument.
    fn call(&mut self) {
        if !self.is(0, ")") && !self.is(0, ",") {
            return;
        }
        if let Some(&argument) = self.back(1)
            && self.is(2, "(")
        {
            // `import.source(…)` and `import.defer(…)`
            let has_phase = self.is(3, "source") || self.is(3, "defer");
            let phase = if has_phase && self.is(4, ".") { 2 } else { 0 };
            if self.is(3 + phase, "import") && !self.is(4 + phase, ".") {
                self.add(argument, true);
            }
        }
        // A comma may follow the last argument.
        let last = usize::from(self.is(1, ","));
        if let Some(&argument) = self.back(last + 7)
            && self.is(0, ")")
            && self.are(last + 1, &[",", "import", ".", "meta", ".", "url"])
            && self.are(last + 8, &["new", "URL", "("])
            && !self.is(last + 11, ".")
        {
            self.add(argument, false);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::is_url_like;

    /// The URLs of a script, or `None` if it cannot be read.
    fn found(script: &str, goal: Goal) -> Option<Vec<&str>> {
        let urls = urls(script, goal).ok()?;
        Some(
            urls.into_iter()
                .map(|url| &script[url.span.range()])
                .collect(),
        )
    }

    fn check(goal: Goal, script: &str, expected: &[&str]) {
        assert_eq!(found(script, goal).as_deref(), Some(expected), "{script}");
    }

    #[test]
    fn declarations_of_modules() {
        for (script, expected) in [
            ("import'a'", &["a"] as &[_]),
            ("import a from'a'\nimport b,{c as d,}from\"b\"", &["a", "b"]),
            ("import*as a from 'a';import from from 'b'", &["a", "b"]),
            ("import {default as a, 'x y' as b, from} from 'c'", &["c"]),
            (
                "import source a from 'a'; import defer * as b from 'b'",
                &["a", "b"],
            ),
            (
                "export*from'a';export*as b from'b';export*as 'x'from'c'",
                &["a", "b", "c"],
            ),
            ("export {a} from 'a'; export {b}; let from\n'c'", &["a"]),
            ("export {a}\nfrom\n'a'", &["a"]),
            ("export default 'a'; export const b = 'b', from = 'c'", &[]),
            ("export default from\n'a'", &[]),
            ("const f = () => {}\nimport 'a'", &["a"]),
            (
                "x.import\n'a'; ({ import: 'b' }); class A { import\n'c'(){} }",
                &[],
            ),
            ("{ import 'a' }", &[]),
            ("import.meta.url + 'a'", &[]),
            (
                "/* c */ import /* d */ 'a' // import 'b'\nimport 'c'",
                &["a", "c"],
            ),
        ] {
            check(Goal::Module, script, expected);
            check(Goal::File, script, expected);
            check(Goal::Classic, script, &[]);
        }
    }

    #[test]
    fn calls_in_any_script() {
        for (script, expected) in [
            ("import('a')", &["a"] as &[_]),
            (
                "import ( /* b */ 'a' , { with: { type: 'json' } } )",
                &["a"],
            ),
            (
                "await import('a'); x = import('b').then(() => import('c'))",
                &["a", "b", "c"],
            ),
            ("import.source('a'); import.defer('b',)", &["a", "b"]),
            (
                "import('a' + b); import(b, 'a'); import(`a`); import(('a'))",
                &[],
            ),
            (
                "x.import('a'); x?.import('b'); this.#import('c'); ximport('d'); import$('e')",
                &[],
            ),
            ("x.import.source('a')", &[]),
            (
                "new URL('a', import.meta.url); new URL(\"b\",import.meta.url,).href",
                &["a", "b"],
            ),
            (
                "new URL('a', import.meta.url + b); URL('c', import.meta.url)",
                &[],
            ),
            (
                "new x.URL('a', import.meta.url); x.new URL('b', import.meta.url)",
                &[],
            ),
            ("new URL('a', meta.url); new URL(`b`, import.meta.url)", &[]),
            (
                "`import('a') ${import('b')} ${`${import('c')}`} import('d')`",
                &["b", "c"],
            ),
            (
                "'import(\\'a\\')'; \"import('b')\"; /import('c')/; // import('d')\n",
                &[],
            ),
            ("#!/usr/bin/env import('a')\nimport('b')", &["b"]),
        ] {
            check(Goal::Module, script, expected);
            check(Goal::File, script, expected);
            check(Goal::Classic, script, expected);
        }
    }

    /// ECMAScript, 12: where the grammar allows a regular expression, `/` begins one.
    #[test]
    fn regular_expressions_and_divisions() {
        // `import('a')` is a call if the first `/` divides, and not if it begins a regular expression.
        for (is_expression, before) in [
            (false, "a "),
            (false, "a++ "),
            (false, "(a) "),
            (false, "a[0] "),
            (false, "1 "),
            (false, "1.5e+3 "),
            (false, "'b' "),
            (false, "`b` "),
            (false, "`${b}` "),
            (false, "this "),
            (false, "a.return "),
            (false, "a?.if(b) "),
            (false, "/b/g "),
            (true, ""),
            (true, "; "),
            (true, "= "),
            (true, "return "),
            (true, "typeof "),
            (true, "x = y ? "),
            (true, "x = y ? 1 : "),
            (true, "x?.5:"),
            (true, "if (b) "),
            (true, "while (b) "),
            (true, "for await (const x of y) "),
            (true, "for (const x of "),
            (true, "else "),
            (true, "{} "),
            (true, "if (b) {} "),
            (true, "function f() {} "),
            (true, "export default function () {} "),
            (true, "class A {} "),
            (true, "class A extends B { c() {} static {} } "),
            (true, "label: {} "),
            (true, "switch (b) { case 1: {} "),
            (true, "x = () => {}\n"),
            (true, "do "),
            (true, "x = [...a, "),
            (true, "a => "),
            (true, "!"),
        ] {
            let open = before.matches(['(', '{', '[']).count();
            let closed = before.matches([')', '}', ']']).count();
            let rest = match open - closed {
                0 => "",
                _ if before.contains("switch") => "}",
                _ if before.contains('[') => "]",
                _ => ");",
            };
            // Two divisions with a call between them, or a regular expression that contains something like a call.
            let script = format!("{before}/ import('a') /1{rest}");
            let expected: &[&str] = if is_expression { &[] } else { &["a"] };
            check(Goal::Module, &script, expected);
        }
    }

    #[test]
    fn markup_comments() {
        let script = "import('a')\n<!-- import('b')\n/**/--> import('c')\na --> import('d')";
        check(Goal::Classic, script, &["a", "d"]);
        assert_eq!(found(script, Goal::File), None);
        check(Goal::Module, "a <!--b; import('a')", &["a"]);
        check(Goal::Module, "'<!--'; import('a')", &["a"]);
    }

    #[test]
    fn a_script_that_cannot_be_read_has_no_urls() {
        for script in [
            "import 'a'; 'b",
            "import 'a'; 'b\n'",
            "import 'a'; `b",
            "import 'a'; `b${c`",
            "import 'a'; /b",
            "import 'a'; = /b\n/",
            "import 'a'; /*",
            "import 'a'; (",
            "import 'a'; (]",
            "import 'a'; }",
            "import 'a'; <p>don't</p>",
            "import 'a'; \u{1}",
        ] {
            assert_eq!(found(script, Goal::Module), None, "{script}");
        }
        // Without a keyword before a URL, the script is not read.
        for script in [
            "'",
            "'a.import system in b', \"b/import.rst\", {\"import\": [7, 'export': 1, 'import (a)', a_import (), export default 'c",
        ] {
            check(Goal::Module, script, &[]);
        }
    }

    #[test]
    fn half_a_million_of_anything() {
        for open in [
            "(", "[", "{", "x={", "`${", "class ", "a?", "/*", "//", "import(", "\\u{", "=",
        ] {
            let script = format!("import 'a';{}", open.repeat(500_000));
            let _ = urls(&script, Goal::File);
        }
        let script = "import('a'),".repeat(200_000);
        assert_eq!(urls(&script, Goal::File).unwrap().len(), 200_000);
    }

    proptest! {
        /// Tests that no text causes a panic, and that each URL is the inside of a string.
        #[test]
        fn any_text_is_read(
            pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24),
            goal in prop::sample::select(&[Goal::Module, Goal::Classic, Goal::File][..]),
        ) {
            let script = pieces.concat();
            for url in read_urls(&script, goal).unwrap_or_default() {
                let is_link = !url.is_specifier || is_url_like(&script[url.span.range()]);
                prop_assert!(!is_link || may_have_urls(script.as_bytes()));
                let (start, end) = (url.span.start - 1, url.span.end + url.quote.len_utf8());
                let string = &script[start..end];
                prop_assert!(string.starts_with(url.quote) && string.ends_with(url.quote));
            }
        }
    }

    const PIECES: &[&str] = &[
        "import",
        "export",
        " from",
        "'/a'",
        "\"x:b\"",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        ".",
        "*",
        "new ",
        "URL",
        "meta",
        "url",
        "import.meta.url",
        "`",
        "${",
        "/",
        "//",
        "/*",
        "*/",
        "\n",
        "\\",
        "'",
        " ",
        "x",
        "1",
        "=>",
        "class ",
        "function ",
        "if",
        "?",
        ":",
        ";",
        "<!--",
        "-->",
        "é",
        "\u{2028}",
        "\u{feff}",
        "#",
        "\\u{61}",
        "\\u",
    ];
}
