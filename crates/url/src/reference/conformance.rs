//! A recogniser for the grammar of references: RFC 1808 section 2.2, and the scheme-specific forms of RFC 1738
//! section 5.
//!
//! ```
//! use baselink_url::reference::conformance;
//! let violation = conformance("ftp://h/f;type=x").violation.unwrap();
//! assert_eq!((violation.at, violation.character), (15, Some('x')));
//! ```
//!
//! Deliberately absent: leniency. A reference that does not conform is resolved nevertheless.

use std::fmt;

use super::{Category, Grammar, Reference, scheme};

/// The conformance of a reference to the grammar.
#[derive(Clone, Debug)]
pub struct Conformance {
    /// The form of the reference.
    pub category: Category,
    /// True if the whole reference is derived from the grammar.
    pub conforms: bool,
    /// The first deviation from the grammar, if any.
    pub violation: Option<Violation>,
}

/// The first deviation of a reference from the grammar.
#[derive(Clone, Debug, Copy)]
pub struct Violation {
    /// The byte offset in the reference.
    pub at: usize,
    /// The character there; `None` at the end of the reference.
    pub character: Option<char>,
    /// The production that the character violates, by its name in the RFC.
    pub production: &'static str,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, production) = (self.at, self.production);
        match self.character {
            Some(c) if c.is_control() => {
                write!(
                    f,
                    "U+{:04X} at byte {at} does not match {production}",
                    u32::from(c)
                )
            }
            Some(c) => write!(f, "`{c}` at byte {at} does not match {production}"),
            None => write!(f, "the reference ends at byte {at} within {production}"),
        }
    }
}

/// Checks a reference against the grammar: RFC 1808 section 2.2, and RFC 1738 section 5 for the schemes http, ftp,
/// file, mailto, news, nntp, telnet, gopher, wais and prospero. A fragment may follow, as in RFC 1808's `URL`. The
/// two RFCs are taken literally: a URL may not contain `~`, and a `%` must begin an escape. Literal text,
/// such as `;type=` and the names of schemes, is compared without case, as RFC 822 section 2.1 defines for this
/// notation.
///
/// ```
/// use baselink_url::reference::conformance;
/// assert!(conformance("ftp://h/f;type=a#s").conforms);
/// let violation = conformance("http://u@h/").violation.unwrap();
/// assert_eq!((violation.at, violation.character, violation.production), (8, Some('@'), "hostname"));
/// ```
pub fn conformance(reference: &str) -> Conformance {
    let category = Reference::split(Grammar::Rfc1808, reference).category();
    let mut input = Productions {
        text: reference,
        at: 0,
    };
    let violation = input.url(category).err();
    Conformance {
        category,
        conforms: violation.is_none(),
        violation,
    }
}

/// Sets of characters, one bit each, so that a union of sets is a bitwise or. `ESCAPE` is `% hex hex`.
mod class {
    /// `unreserved = alpha | digit | safe | extra`
    pub(super) const UNRESERVED: u16 = 1;
    /// `escape = "%" hex hex`
    pub(super) const ESCAPE: u16 = 1 << 1;
    pub(super) const SEMICOLON: u16 = 1 << 2;
    pub(super) const SLASH: u16 = 1 << 3;
    pub(super) const QUESTION: u16 = 1 << 4;
    pub(super) const COLON: u16 = 1 << 5;
    pub(super) const AT: u16 = 1 << 6;
    pub(super) const AMPERSAND: u16 = 1 << 7;
    pub(super) const EQUALS: u16 = 1 << 8;
    /// The characters of `group` in RFC 1738.
    pub(super) const GROUP: u16 = 1 << 9;

    /// `uchar = unreserved | escape`
    pub(super) const UCHAR: u16 = UNRESERVED | ESCAPE;
    /// RFC 1808: `pchar = uchar | ":" | "@" | "&" | "="`
    pub(super) const PCHAR: u16 = UCHAR | COLON | AT | AMPERSAND | EQUALS;
    /// RFC 1808: `param = *( pchar | "/" )`, joined by ";"
    pub(super) const PARAMS: u16 = PCHAR | SLASH | SEMICOLON;
    /// RFC 1808: `net_loc = *( pchar | ";" | "?" )`
    pub(super) const NET_LOC: u16 = PCHAR | SEMICOLON | QUESTION;
    /// RFC 1738: `xchar = unreserved | reserved | escape`; RFC 1808: `uchar | reserved`
    pub(super) const XCHAR: u16 = PCHAR | SEMICOLON | SLASH | QUESTION;
    /// RFC 1738: `user` and `password`
    pub(super) const USER: u16 = UCHAR | SEMICOLON | QUESTION | AMPERSAND | EQUALS;
    /// RFC 1738: `hsegment` and `search`
    pub(super) const HSEGMENT: u16 = UCHAR | SEMICOLON | COLON | AT | AMPERSAND | EQUALS;
    /// RFC 1738: `fsegment` of ftp and file, and `psegment`
    pub(super) const FSEGMENT: u16 = UCHAR | QUESTION | COLON | AT | AMPERSAND | EQUALS;
    /// RFC 1738: `fieldname` and `fieldvalue`
    pub(super) const FIELD: u16 = UCHAR | QUESTION | COLON | AT | AMPERSAND;
    /// RFC 1738: `article`, before its "@"
    pub(super) const ARTICLE: u16 =
        UCHAR | SEMICOLON | SLASH | QUESTION | COLON | AMPERSAND | EQUALS;

    /// The sets that `byte` belongs to.
    pub(super) const fn of(byte: u8) -> u16 {
        let group = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'+' | b'_' => GROUP,
            _ => 0,
        };
        group
            | match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => UNRESERVED,
                // safe
                b'$' | b'-' | b'_' | b'.' | b'+' => UNRESERVED,
                // extra
                b'!' | b'*' | b'\'' | b'(' | b')' | b',' => UNRESERVED,
                b'%' => ESCAPE,
                b';' => SEMICOLON,
                b'/' => SLASH,
                b'?' => QUESTION,
                b':' => COLON,
                b'@' => AT,
                b'&' => AMPERSAND,
                b'=' => EQUALS,
                _ => 0,
            }
    }
}

/// A position in a reference. Every method consumes one production or reports where the text violates it.
struct Productions<'a> {
    text: &'a str,
    at: usize,
}

type Recognised = Result<(), Violation>;

impl Productions<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn violation<T>(&self, production: &'static str) -> Result<T, Violation> {
        let character = self.text[self.at..].chars().next();
        Err(Violation {
            at: self.at,
            character,
            production,
        })
    }

    /// `*set`
    fn many(&mut self, set: u16) -> Recognised {
        while let Some(byte) = self.peek() {
            let class = class::of(byte) & set;
            if class == 0 {
                break;
            }
            self.at += 1;
            if class == class::ESCAPE {
                for _ in 0..2 {
                    if !self.peek().is_some_and(|hex| hex.is_ascii_hexdigit()) {
                        return self.violation("escape");
                    }
                    self.at += 1;
                }
            }
        }
        Ok(())
    }

    /// `1*set`
    fn some(&mut self, set: u16, production: &'static str) -> Recognised {
        let start = self.at;
        self.many(set)?;
        if self.at == start {
            self.violation(production)
        } else {
            Ok(())
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn literal(&mut self, literal: &str, production: &'static str) -> Recognised {
        for byte in literal.bytes() {
            if !self
                .peek()
                .is_some_and(|found| found.eq_ignore_ascii_case(&byte))
            {
                return self.violation(production);
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Consumes an optional fragment at the end. Any other text violates `production`.
    /// RFC 1808: `URL = ( absoluteURL | relativeURL ) [ "#" fragment ]`
    fn end(&mut self, production: &'static str) -> Recognised {
        match self.peek() {
            None => Ok(()),
            Some(b'#') => {
                self.at += 1;
                self.many(class::XCHAR)?;
                if self.peek().is_none() {
                    Ok(())
                } else {
                    self.violation("fragment")
                }
            }
            Some(_) => self.violation(production),
        }
    }

    /// Consumes a reference of this category (RFC 1808 section 2.2).
    fn url(&mut self, category: Category) -> Recognised {
        match category {
            Category::AbsoluteUrl => self.absolute_url(),
            // net_path = "//" net_loc [ abs_path ]
            Category::NetPath => {
                self.at = 2;
                self.many(class::NET_LOC)?;
                if self.skip(b'/') {
                    self.rel_path()
                } else {
                    self.end("net_loc")
                }
            }
            // abs_path = "/" rel_path
            Category::AbsPath => {
                self.at = 1;
                self.rel_path()
            }
            Category::RelPath | Category::Fragment | Category::Empty => self.rel_path(),
        }
    }

    /// `rel_path = [ path ] [ ";" params ] [ "?" query ]`
    fn rel_path(&mut self) -> Recognised {
        // path = fsegment *( "/" segment ), fsegment = 1*pchar
        if self.peek() == Some(b'/') {
            return self.violation("fsegment");
        }
        self.many(class::PCHAR)?;
        while self.skip(b'/') {
            self.many(class::PCHAR)?;
        }
        let mut production = "pchar";
        if self.skip(b';') {
            self.many(class::PARAMS)?;
            production = "param";
        }
        if self.skip(b'?') {
            self.many(class::XCHAR)?;
            production = "query";
        }
        self.end(production)
    }

    /// RFC 1738 section 5: `url = httpurl | ftpurl | …`; RFC 1808's `absoluteURL` for the rest,
    /// where `*( uchar | reserved )` includes everything that `generic-RL` derives.
    fn absolute_url(&mut self) -> Recognised {
        let scheme = scheme(Grammar::Rfc1808, self.text).unwrap_or_default();
        self.at = scheme.len() + 1;
        match scheme.to_ascii_lowercase().as_str() {
            "http" => self.httpurl(),
            "ftp" => self.ftpurl(),
            "file" => self.fileurl(),
            "gopher" => self.gopherurl(),
            // mailtourl = "mailto:" encoded822addr
            "mailto" => {
                self.some(class::XCHAR, "encoded822addr")?;
                self.end("encoded822addr")
            }
            "news" => self.grouppart(),
            "nntp" => self.nntpurl(),
            // telneturl = "telnet://" login [ "/" ]
            "telnet" => {
                self.literal("//", "telneturl")?;
                let production = self.login()?;
                let production = if self.skip(b'/') {
                    "telneturl"
                } else {
                    production
                };
                self.end(production)
            }
            "wais" => self.waisurl(),
            "prospero" => self.prosperourl(),
            _ => {
                self.many(class::XCHAR)?;
                self.end("absoluteURL")
            }
        }
    }

    /// `httpurl = "http://" hostport [ "/" hpath [ "?" search ]]`
    fn httpurl(&mut self) -> Recognised {
        self.literal("//", "httpurl")?;
        let mut production = self.hostport()?;
        if self.skip(b'/') {
            // hpath = hsegment *[ "/" hsegment ]
            self.many(class::HSEGMENT | class::SLASH)?;
            production = "hsegment";
            if self.skip(b'?') {
                self.many(class::HSEGMENT)?;
                production = "search";
            }
        }
        self.end(production)
    }

    /// `ftpurl = "ftp://" login [ "/" fpath [ ";type=" ftptype ]]`
    fn ftpurl(&mut self) -> Recognised {
        self.literal("//", "ftpurl")?;
        let mut production = self.login()?;
        if self.skip(b'/') {
            self.many(class::FSEGMENT | class::SLASH)?;
            production = "fsegment";
            if self.peek() == Some(b';') {
                self.literal(";type=", "ftpurl")?;
                let types = [b'a', b'i', b'd'];
                if !self
                    .peek()
                    .is_some_and(|c| types.contains(&c.to_ascii_lowercase()))
                {
                    return self.violation("ftptype");
                }
                self.at += 1;
                production = "ftptype";
            }
        }
        self.end(production)
    }

    /// `fileurl = "file://" [ host | "localhost" ] "/" fpath`
    fn fileurl(&mut self) -> Recognised {
        self.literal("//", "fileurl")?;
        if !matches!(self.peek(), Some(b'/') | None) {
            self.host()?;
        }
        self.literal("/", "fileurl")?;
        self.many(class::FSEGMENT | class::SLASH)?;
        self.end("fsegment")
    }

    /// `gopherurl = "gopher://" hostport [ / [ gtype [ selector [ "%09" search [ "%09"
    /// gopher+_string ] ] ] ] ]`, where `selector = *xchar` derives the optional rest too.
    fn gopherurl(&mut self) -> Recognised {
        self.literal("//", "gopherurl")?;
        let mut production = self.hostport()?;
        if self.skip(b'/') {
            self.many(class::XCHAR)?;
            production = "selector";
        }
        self.end(production)
    }

    /// `newsurl = "news:" grouppart`, `grouppart = "*" | group | article`
    fn grouppart(&mut self) -> Recognised {
        let body_end = memchr::memchr(b'#', self.text.as_bytes()).unwrap_or(self.text.len());
        if memchr::memchr(b'@', &self.text.as_bytes()[self.at..body_end]).is_some() {
            // article = 1*[ uchar | ";" | "/" | "?" | ":" | "&" | "=" ] "@" host
            self.some(class::ARTICLE, "article")?;
            self.literal("@", "article")?;
            self.host()?;
            self.end("hostname")
        } else if self.skip(b'*') {
            self.end("grouppart")
        } else {
            self.group()?;
            self.end("group")
        }
    }

    /// `group = alpha *[ alpha | digit | "-" | "." | "+" | "_" ]`
    fn group(&mut self) -> Recognised {
        if !self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return self.violation("group");
        }
        self.many(class::GROUP)
    }

    /// `nntpurl = "nntp://" hostport "/" group [ "/" digits ]`
    fn nntpurl(&mut self) -> Recognised {
        self.literal("//", "nntpurl")?;
        let production = self.hostport()?;
        self.literal("/", production)?;
        self.group()?;
        if !self.skip(b'/') {
            return self.end("group");
        }
        self.digits("digits")?;
        self.end("digits")
    }

    /// `waisurl = waisdatabase | waisindex | waisdoc`
    fn waisurl(&mut self) -> Recognised {
        self.literal("//", "waisurl")?;
        let production = self.hostport()?;
        self.literal("/", production)?;
        self.many(class::UCHAR)?;
        if self.skip(b'?') {
            self.many(class::HSEGMENT)?;
            self.end("search")
        } else if self.skip(b'/') {
            self.many(class::UCHAR)?;
            self.literal("/", "wtype")?;
            self.many(class::UCHAR)?;
            self.end("wpath")
        } else {
            self.end("database")
        }
    }

    /// `prosperourl = "prospero://" hostport "/" ppath *[ fieldspec ]`
    fn prosperourl(&mut self) -> Recognised {
        self.literal("//", "prosperourl")?;
        let mut production = self.hostport()?;
        self.literal("/", production)?;
        self.many(class::FSEGMENT | class::SLASH)?;
        production = "psegment";
        while self.skip(b';') {
            // fieldspec = ";" fieldname "=" fieldvalue
            self.many(class::FIELD)?;
            self.literal("=", "fieldname")?;
            self.many(class::FIELD)?;
            production = "fieldvalue";
        }
        self.end(production)
    }

    /// `login = [ user [ ":" password ] "@" ] hostport`. The `@`, which neither `hostport` nor `user` derives,
    /// tells the two forms apart.
    fn login(&mut self) -> Result<&'static str, Violation> {
        let rest = &self.text.as_bytes()[self.at..];
        let end = memchr::memchr2(b'/', b'#', rest).unwrap_or(rest.len());
        if memchr::memchr(b'@', &rest[..end]).is_some() {
            self.many(class::USER)?;
            let mut production = "user";
            if self.skip(b':') {
                self.many(class::USER)?;
                production = "password";
            }
            self.literal("@", production)?;
        }
        self.hostport()
    }

    /// `hostport = host [ ":" port ]`. Returns its last production, `hostname` or `port`.
    fn hostport(&mut self) -> Result<&'static str, Violation> {
        self.host()?;
        if !self.skip(b':') {
            return Ok("hostname");
        }
        self.digits("port")?;
        Ok("port")
    }

    /// `digits = 1*digit`
    fn digits(&mut self, production: &'static str) -> Recognised {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return self.violation(production);
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    /// `host = hostname | hostnumber`, `hostname = *[ domainlabel "." ] toplabel`,
    /// `hostnumber = digits "." digits "." digits "." digits`
    fn host(&mut self) -> Recognised {
        let (mut labels, mut numeric) = (0, true);
        loop {
            // domainlabel = alphadigit | alphadigit *[ alphadigit | "-" ] alphadigit
            let start = self.at;
            if !self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric()) {
                return self.violation("hostname");
            }
            while self
                .peek()
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            {
                self.at += 1;
            }
            let label = &self.text.as_bytes()[start..self.at];
            labels += 1;
            numeric &= label.iter().all(u8::is_ascii_digit);
            if label.ends_with(b"-") {
                return self.violation("domainlabel");
            }
            if !self.skip(b'.') {
                // toplabel begins with a letter
                let top = label[0].is_ascii_alphabetic() || (numeric && labels == 4);
                return if top {
                    Ok(())
                } else {
                    self.violation("toplabel")
                };
            }
        }
    }
}
