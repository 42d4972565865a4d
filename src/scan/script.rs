//! The URLs of JavaScript: what a script imports (ECMAScript, 16.2.2, 16.2.3 and 13.3.10), and what it makes relative to
//! its module with `new URL("…", import.meta.url)`; the places of the group `imports`.
//!
//! A specifier is a URL where it begins with `/`, `./` or `../`, or has a scheme (HTML, 8.1.5.1, "resolve a URL-like
//! module specifier"); else it is a name for an import map, and no link. Each is resolved against the URL of the
//! script, in a `script` element against the document base URL (HTML, 8.1.3.2, "base URL").
//!
//! ```
//! use baselink::scan::script::{Goal, urls};
//! let module = "import a from './a.js'; import(b + 'b.js');\nnew URL('c.png', import.meta.url)";
//! let found = urls(module, Goal::Module).unwrap().into_iter().map(|url| &module[url.span.range()]);
//! assert_eq!(found.collect::<Vec<_>>(), ["./a.js", "c.png"]);
//! ```
//!
//! Deliberately absent: strings that a program computes, templates (even without substitutions), and whatever else
//! takes a URL: `fetch`, `Worker`, `importScripts`. Each would be a guess.

mod tokens;

pub use self::tokens::{Fault, Goal};
use self::tokens::{Kind, Token, Tokens};
use crate::span::Span;

/// So many tokens the longest pattern has, with what comes before it.
const LONGEST: usize = 13;

/// A URL in a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptUrl {
    /// The inside of the string.
    pub span: Span,
    /// What quotes it.
    pub quote: char,
    /// Whether it is the specifier of a module, which may be no URL.
    pub is_specifier: bool,
}

/// Every specifier and URL of `script`, in order, those with escapes too.
///
/// # Errors
///
/// What is not read to its end holds none: what comes before may have been misread.
pub fn urls(script: &str, goal: Goal) -> Result<Vec<ScriptUrl>, Fault> {
    // Escapes are not allowed in either word.
    if memchr::memmem::find(script.as_bytes(), b"import").is_none()
        && memchr::memmem::find(script.as_bytes(), b"export").is_none()
    {
        return Ok(Vec::new());
    }
    let mut reader = Reader { script, recent: Vec::new(), declaration: None, found: Vec::new() };
    let mut tokens = Tokens::of(script, goal);
    while let Some(token) = tokens.next_token()? {
        if goal != Goal::Classic {
            reader.declaration(token);
        }
        reader.recent.push(token);
        reader.call();
        if reader.recent.len() > 64 * LONGEST {
            reader.recent.drain(..63 * LONGEST);
        }
    }
    Ok(reader.found)
}

/// The declaration that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Declaration {
    /// After `import`.
    Import,
    /// After `export`.
    Export,
    /// In what is imported or exported, up to `from` and a string.
    Clause,
}

struct Reader<'a> {
    script: &'a str,
    /// The last tokens.
    recent: Vec<Token>,
    declaration: Option<Declaration>,
    found: Vec<ScriptUrl>,
}

impl Reader<'_> {
    /// The token so many before the last one, 0 for that.
    fn back(&self, number: usize) -> Option<&Token> {
        self.recent.len().checked_sub(number + 1).map(|at| &self.recent[at])
    }

    fn is_name(&self, number: usize, name: &str) -> bool {
        self.back(number).is_some_and(|token| {
            token.kind == Kind::Name && &self.script[token.span.range()] == name
        })
    }

    fn is_mark(&self, number: usize, mark: u8) -> bool {
        self.back(number).is_some_and(|token| token.kind == Kind::Mark(mark))
    }

    fn find(&mut self, text: Token, is_specifier: bool) {
        if let Kind::Text(quote) = text.kind {
            let span = Span::new(text.span.start + 1, text.span.end - 1);
            self.found.push(ScriptUrl { span, quote: char::from(quote), is_specifier });
        }
    }

    /// Takes in the next token of an import or export declaration (16.2.2, 16.2.3), if it is one.
    fn declaration(&mut self, token: Token) {
        let is = |name: &str| token.kind == Kind::Name && &self.script[token.span.range()] == name;
        let is_clause = matches!(token.kind, Kind::Name | Kind::Mark(b'{' | b'}' | b',' | b'*'));
        let next = match (self.declaration, token.kind) {
            _ if is("import") && self.may_begin(token) => Some(Declaration::Import),
            _ if is("export") && self.may_begin(token) => Some(Declaration::Export),
            (None, _) => return,
            (Some(Declaration::Import), Kind::Text(_)) => {
                self.find(token, true);
                None
            }
            (Some(Declaration::Import), Kind::Name | Kind::Mark(b'{' | b'*')) => {
                Some(Declaration::Clause)
            }
            (Some(Declaration::Export), Kind::Mark(b'{' | b'*')) => Some(Declaration::Clause),
            (Some(Declaration::Clause), Kind::Text(_)) if token.is_outermost => {
                if self.is_name(0, "from") {
                    self.find(token, true);
                }
                None
            }
            // A name that is a string.
            (Some(Declaration::Clause), Kind::Text(_)) => Some(Declaration::Clause),
            // After the names comes nothing else.
            (Some(Declaration::Clause), Kind::Name) if self.is_mark(0, b'}') && !is("from") => None,
            (Some(Declaration::Clause), _) if is_clause => Some(Declaration::Clause),
            _ => None,
        };
        self.declaration = next;
    }

    /// Whether `token`, `import` or `export`, may begin a declaration.
    fn may_begin(&self, token: Token) -> bool {
        token.is_outermost
            && !self.is_mark(0, b'.')
            && self.declaration != Some(Declaration::Clause)
    }

    /// Looks for a call that ends with the last token, or whose first argument does.
    fn call(&mut self) {
        if !self.is_mark(0, b')') && !self.is_mark(0, b',') {
            return;
        }
        let text = |reader: &Self, number| {
            reader.back(number).copied().filter(|token| matches!(token.kind, Kind::Text(_)))
        };
        if let Some(argument) = text(self, 1).filter(|_| self.is_mark(2, b'(')) {
            // `import.source(…)` and `import.defer(…)`
            let has_phase = self.is_name(3, "source") || self.is_name(3, "defer");
            let phase = if has_phase && self.is_mark(4, b'.') { 2 } else { 0 };
            if self.is_name(3 + phase, "import") && !self.is_mark(4 + phase, b'.') {
                self.find(argument, true);
            }
        }
        // A comma may follow the last argument.
        let last = usize::from(self.is_mark(1, b','));
        let is_own_url = self.is_name(last + 1, "url")
            && self.is_mark(last + 2, b'.')
            && self.is_name(last + 3, "meta")
            && self.is_mark(last + 4, b'.')
            && self.is_name(last + 5, "import")
            && self.is_mark(last + 6, b',');
        let is_new_url = self.is_mark(last + 8, b'(')
            && self.is_name(last + 9, "URL")
            && self.is_name(last + 10, "new")
            && !self.is_mark(last + 11, b'.');
        if let Some(argument) = text(self, last + 7)
            && self.is_mark(0, b')')
            && is_own_url
            && is_new_url
        {
            self.find(argument, false);
        }
    }
}
