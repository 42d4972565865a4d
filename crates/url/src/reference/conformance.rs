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

use super::{Category, Reference, scheme};
use crate::resolver::Resolver;

/// The conformance of a reference to the grammar.
#[derive(Debug, serde::Serialize)]
pub struct Conformance {
    /// The form of the reference.
    pub category: Category,
    /// True if the whole reference is derived from the grammar.
    pub conforms: bool,
    /// The first deviation from the grammar, if any.
    pub violation: Option<Violation>,
}

/// The first deviation of a reference from the grammar.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Violation {
    /// The byte offset in the reference.
    pub at: usize,
    /// The character there; `None` at the end of the reference.
    pub character: Option<char>,
    /// The production that the character violates, by its name in the RFC.
    pub production: &'static str,
    /// The deviation as a sentence.
    pub message: String,
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
    let category = Reference::split(Resolver::Rfc1808, reference).category();
    let mut input = Productions {
        text: reference,
        at: 0,
        production: "",
    };
    let violation = input.url(category).err();
    Conformance {
        category,
        conforms: violation.is_none(),
        violation,
    }
}

/// RFC 1738: `xchar = unreserved | reserved | escape`; RFC 1808: `uchar | reserved`. Without `uchar`, as all sets of
/// [`Productions::many`].
const XCHAR: &str = ";/?:@&=";

/// A position in a reference. Every method consumes a part of it or reports where the text violates a production.
struct Productions<'a> {
    text: &'a str,
    at: usize,
    /// The production of the text before `at`, which any text violates that it cannot be followed by.
    production: &'static str,
}

type Recognised<T = ()> = Result<T, Violation>;

impl Productions<'_> {
    fn peek(&self) -> Option<&u8> {
        self.text.as_bytes().get(self.at)
    }

    fn violation<T>(&self, production: &'static str) -> Recognised<T> {
        let at = self.at;
        let character = self.text[at..].chars().next();
        let message = match character {
            Some(c) if c.is_control() => {
                let number = u32::from(c);
                format!("U+{number:04X} at byte {at} does not match {production}")
            }
            Some(c) => format!("`{c}` at byte {at} does not match {production}"),
            None => format!("the reference ends at byte {at} within {production}"),
        };
        Err(Violation {
            at,
            character,
            production,
            message,
        })
    }

    /// Consumes one byte that `is` accepts.
    fn one(&mut self, production: &'static str, is: impl Fn(&u8) -> bool) -> Recognised {
        if !self.peek().is_some_and(is) {
            return self.violation(production);
        }
        self.production = production;
        self.at += 1;
        Ok(())
    }

    fn all(&mut self, is: impl Fn(&u8) -> bool) {
        while self.peek().is_some_and(&is) {
            self.at += 1;
        }
    }

    /// `*( uchar | others )`, `uchar = unreserved | escape`, `escape = "%" hex hex`
    fn many(&mut self, production: &'static str, others: &str) -> Recognised {
        loop {
            // unreserved = alpha | digit | safe | extra
            self.all(|byte| {
                byte.is_ascii_alphanumeric()
                    || b"$-_.+!*'(),".contains(byte)
                    || others.as_bytes().contains(byte)
            });
            if !self.skip(b'%') {
                self.production = production;
                return Ok(());
            }
            self.one("escape", u8::is_ascii_hexdigit)?;
            self.one("escape", u8::is_ascii_hexdigit)?;
        }
    }

    /// `1*( uchar | others )`
    fn some(&mut self, production: &'static str, others: &str) -> Recognised {
        let start = self.at;
        self.many(production, others)?;
        if self.at == start {
            self.violation(production)
        } else {
            Ok(())
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(&byte);
        self.at += usize::from(found);
        found
    }

    /// `[ byte *( uchar | others ) ]`. True if it is there.
    fn option(&mut self, byte: u8, production: &'static str, others: &str) -> Recognised<bool> {
        let found = self.skip(byte);
        if found {
            self.many(production, others)?;
        }
        Ok(found)
    }

    fn literal(&mut self, production: &'static str, literal: &str) -> Recognised {
        for byte in literal.bytes() {
            self.one(production, |found| found.eq_ignore_ascii_case(&byte))?;
        }
        Ok(())
    }

    /// Consumes a reference of this category (RFC 1808 section 2.2), with the optional fragment at its end:
    /// `URL = ( absoluteURL | relativeURL ) [ "#" fragment ]`
    fn url(&mut self, category: Category) -> Recognised {
        match category {
            Category::AbsoluteUrl => self.absolute_url()?,
            // net_path = "//" net_loc [ abs_path ]
            Category::NetPath => {
                self.at = 2;
                self.many("net_loc", ":@&=;?")?;
                if self.skip(b'/') {
                    self.rel_path()?;
                }
            }
            // abs_path = "/" rel_path
            Category::AbsPath => {
                self.at = 1;
                self.rel_path()?;
            }
            Category::RelPath | Category::Fragment | Category::Empty => self.rel_path()?,
        }
        self.option(b'#', "fragment", XCHAR)?;
        if self.peek().is_some() {
            return self.violation(self.production);
        }
        Ok(())
    }

    /// `rel_path = [ path ] [ ";" params ] [ "?" query ]`
    fn rel_path(&mut self) -> Recognised {
        // path = fsegment *( "/" segment ), fsegment = 1*pchar
        if self.peek() == Some(&b'/') {
            return self.violation("fsegment");
        }
        self.many("pchar", ":@&=/")?;
        // params = param *( ";" param ), param = *( pchar | "/" )
        self.option(b';', "param", ":@&=/;")?;
        self.option(b'?', "query", XCHAR)?;
        Ok(())
    }

    /// RFC 1738 section 5: `url = httpurl | ftpurl | …`; RFC 1808's `absoluteURL` for the rest,
    /// where `*( uchar | reserved )` includes everything that `generic-RL` derives.
    fn absolute_url(&mut self) -> Recognised {
        let scheme = scheme(Resolver::Rfc1808, self.text).unwrap_or_default();
        self.at = scheme.len() + 1;
        match scheme.to_ascii_lowercase().as_str() {
            // httpurl = "http://" hostport [ "/" hpath [ "?" search ]], hpath = hsegment *[ "/" hsegment ]
            "http" => {
                self.hostport("httpurl")?;
                if self.option(b'/', "hsegment", ";:@&=/")? {
                    self.option(b'?', "search", ";:@&=")?;
                }
            }
            // ftpurl = "ftp://" login [ "/" fpath [ ";type=" ftptype ]], fpath = fsegment *[ "/" fsegment ]
            "ftp" => {
                self.login("ftpurl")?;
                if self.option(b'/', "fsegment", "?:@&=/")? && self.skip(b';') {
                    self.literal("ftpurl", "type=")?;
                    self.one("ftptype", |found| b"AIDaid".contains(found))?;
                }
            }
            // fileurl = "file://" [ host | "localhost" ] "/" fpath
            "file" => {
                self.literal("fileurl", "//")?;
                if !matches!(self.peek(), Some(b'/') | None) {
                    self.host()?;
                }
                self.literal("fileurl", "/")?;
                self.many("fsegment", "?:@&=/")?;
            }
            // gopherurl = "gopher://" hostport [ / [ gtype [ selector [ "%09" search [ "%09" gopher+_string ] ] ] ] ],
            // where `selector = *xchar` derives the optional rest too.
            "gopher" => {
                self.hostport("gopherurl")?;
                self.option(b'/', "selector", XCHAR)?;
            }
            // mailtourl = "mailto:" encoded822addr, encoded822addr = 1*xchar
            "mailto" => self.some("encoded822addr", XCHAR)?,
            // newsurl = "news:" grouppart
            "news" => self.grouppart()?,
            // nntpurl = "nntp://" hostport "/" group [ "/" digits ]
            "nntp" => {
                self.hostport("nntpurl")?;
                self.literal(self.production, "/")?;
                self.group()?;
                if self.skip(b'/') {
                    self.digits("digits")?;
                }
            }
            // telneturl = "telnet://" login [ "/" ]
            "telnet" => {
                self.login("telneturl")?;
                if self.skip(b'/') {
                    self.production = "telneturl";
                }
            }
            // waisurl = waisdatabase | waisindex | waisdoc
            "wais" => {
                self.hostport("waisurl")?;
                self.literal(self.production, "/")?;
                self.many("database", "")?;
                if !self.option(b'?', "search", ";:@&=")? && self.option(b'/', "wtype", "")? {
                    self.literal("wtype", "/")?;
                    self.many("wpath", "")?;
                }
            }
            // prosperourl = "prospero://" hostport "/" ppath *[ fieldspec ], ppath = psegment *[ "/" psegment ],
            // fieldspec = ";" fieldname "=" fieldvalue
            "prospero" => {
                self.hostport("prosperourl")?;
                self.literal(self.production, "/")?;
                self.many("psegment", "?:@&=/")?;
                while self.option(b';', "fieldname", "?:@&")? {
                    self.literal("fieldname", "=")?;
                    self.many("fieldvalue", "?:@&")?;
                }
            }
            _ => self.many("absoluteURL", XCHAR)?,
        }
        Ok(())
    }

    /// True if an `@` comes before any of `ends`: it tells apart two forms of which only one derives it.
    fn has_at(&self, ends: [u8; 2]) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        memchr::memchr3(b'@', ends[0], ends[1], rest).is_some_and(|at| rest[at] == b'@')
    }

    /// `grouppart = "*" | group | article`
    fn grouppart(&mut self) -> Recognised {
        if self.has_at([b'#'; 2]) {
            // article = 1*[ uchar | ";" | "/" | "?" | ":" | "&" | "=" ] "@" host
            self.some("article", ";/?:&=")?;
            self.literal("article", "@")?;
            self.host()
        } else if self.skip(b'*') {
            self.production = "grouppart";
            Ok(())
        } else {
            self.group()
        }
    }

    /// `group = alpha *[ alpha | digit | "-" | "." | "+" | "_" ]`
    fn group(&mut self) -> Recognised {
        self.one("group", u8::is_ascii_alphabetic)?;
        self.all(|byte| byte.is_ascii_alphanumeric() || b"-.+_".contains(byte));
        Ok(())
    }

    /// `"//" login`, `login = [ user [ ":" password ] "@" ] hostport`
    fn login(&mut self, url: &'static str) -> Recognised {
        self.literal(url, "//")?;
        if self.has_at([b'/', b'#']) {
            self.many("user", ";?&=")?;
            self.option(b':', "password", ";?&=")?;
            self.literal(self.production, "@")?;
        }
        self.host_and_port()
    }

    /// `"//" hostport`
    fn hostport(&mut self, url: &'static str) -> Recognised {
        self.literal(url, "//")?;
        self.host_and_port()
    }

    /// `hostport = host [ ":" port ]`
    fn host_and_port(&mut self) -> Recognised {
        self.host()?;
        if self.skip(b':') {
            self.digits("port")?;
        }
        Ok(())
    }

    /// `digits = 1*digit`
    fn digits(&mut self, production: &'static str) -> Recognised {
        self.one(production, u8::is_ascii_digit)?;
        self.all(u8::is_ascii_digit);
        Ok(())
    }

    /// `host = hostname | hostnumber`, `hostname = *[ domainlabel "." ] toplabel`,
    /// `hostnumber = digits "." digits "." digits "." digits`
    fn host(&mut self) -> Recognised {
        let (mut labels, mut numeric) = (0, true);
        loop {
            // domainlabel = alphadigit | alphadigit *[ alphadigit | "-" ] alphadigit
            let start = self.at;
            self.one("hostname", u8::is_ascii_alphanumeric)?;
            self.all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
            let label = &self.text.as_bytes()[start..self.at];
            labels += 1;
            numeric &= label.iter().all(u8::is_ascii_digit);
            if label.ends_with(b"-") {
                return self.violation("domainlabel");
            }
            if !self.skip(b'.') {
                // toplabel begins with a letter
                if label[0].is_ascii_alphabetic() || (numeric && labels == 4) {
                    return Ok(());
                }
                return self.violation("toplabel");
            }
        }
    }
}
