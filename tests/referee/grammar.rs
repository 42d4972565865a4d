//! The grammars of RFC 1808 section 2.2 and RFC 1738 section 5 as text, and a matcher for their notation. The matcher
//! follows all alternatives at once, as a set of offsets, and has no other knowledge of URLs.
//!
//! Deliberately absent: speed.

use std::collections::{BTreeSet, HashMap};

/// RFC 1808 section 2.2. A URL with a scheme that RFC 1738 section 5 defines must match `specificURL` below instead
/// of `genericURL`.
const RFC1808: &str = r##"
    relativeURL = net_path | abs_path | rel_path
    genericURL  = scheme ":" *( uchar | reserved )
    net_path    = "//" net_loc [ abs_path ]
    abs_path    = "/"  rel_path
    rel_path    = [ path ] [ ";" params ] [ "?" query ]
    path        = fsegment *( "/" segment )
    fsegment    = pchar *pchar
    segment     = *pchar
    params      = param *( ";" param )
    param       = *( pchar | "/" )
    scheme      = schemechar *schemechar
    schemechar  = alpha | digit | "+" | "-" | "."
    net_loc     = *( pchar | ";" | "?" )
    query       = *( uchar | reserved )
    fragment    = *( uchar | reserved )
    pchar       = uchar | ":" | "@" | "&" | "="
    uchar       = unreserved | escape
    unreserved  = alpha | digit | safe | extra
    escape      = "%" hex hex
    safe        = "$" | "-" | "_" | "." | "+"
    extra       = "!" | "*" | "'" | "(" | ")" | ","
    reserved    = ";" | "/" | "?" | ":" | "@" | "&" | "="
"##;

/// RFC 1738 section 5 with two new names: `fsegment` is `ftpsegment`, since RFC 1808 has an `fsegment` too, and
/// `search` is `hsearch`. Brackets that mean repetition are written as parentheses.
const RFC1738: &str = r##"
    specificURL    = httpurl | ftpurl | newsurl | nntpurl | telneturl | gopherurl | waisurl | mailtourl | fileurl | prosperourl
    login          = [ user [ ":" password ] "@" ] hostport
    hostport       = host [ ":" port ]
    host           = hostname | hostnumber
    hostname       = *( domainlabel "." ) toplabel
    domainlabel    = alphadigit | alphadigit *( alphadigit | "-" ) alphadigit
    toplabel       = alpha | alpha *( alphadigit | "-" ) alphadigit
    alphadigit     = alpha | digit
    hostnumber     = digits "." digits "." digits "." digits
    port           = digits
    user           = *( uchar | ";" | "?" | "&" | "=" )
    password       = *( uchar | ";" | "?" | "&" | "=" )
    ftpurl         = "ftp://" login [ "/" fpath [ ";type=" ftptype ] ]
    fpath          = ftpsegment *( "/" ftpsegment )
    ftpsegment     = *( uchar | "?" | ":" | "@" | "&" | "=" )
    ftptype        = "A" | "I" | "D" | "a" | "i" | "d"
    fileurl        = "file://" [ host | "localhost" ] "/" fpath
    httpurl        = "http://" hostport [ "/" hpath [ "?" hsearch ] ]
    hpath          = hsegment *( "/" hsegment )
    hsegment       = *( uchar | ";" | ":" | "@" | "&" | "=" )
    hsearch        = *( uchar | ";" | ":" | "@" | "&" | "=" )
    gopherurl      = "gopher://" hostport [ "/" [ gtype [ selector [ "%09" hsearch [ "%09" gopherstring ] ] ] ] ]
    gtype          = xchar
    selector       = *xchar
    gopherstring   = *xchar
    mailtourl      = "mailto:" encoded822addr
    encoded822addr = xchar *xchar
    newsurl        = "news:" grouppart
    grouppart      = "*" | group | article
    group          = alpha *( alpha | digit | "-" | "." | "+" | "_" )
    article        = articlechar *articlechar "@" host
    articlechar    = uchar | ";" | "/" | "?" | ":" | "&" | "="
    nntpurl        = "nntp://" hostport "/" group [ "/" digits ]
    telneturl      = "telnet://" login [ "/" ]
    waisurl        = waisdatabase | waisindex | waisdoc
    waisdatabase   = "wais://" hostport "/" database
    waisindex      = "wais://" hostport "/" database "?" hsearch
    waisdoc        = "wais://" hostport "/" database "/" wtype "/" wpath
    database       = *uchar
    wtype          = *uchar
    wpath          = *uchar
    prosperourl    = "prospero://" hostport "/" ppath *fieldspec
    ppath          = psegment *( "/" psegment )
    psegment       = *( uchar | "?" | ":" | "@" | "&" | "=" )
    fieldspec      = ";" fieldname "=" fieldvalue
    fieldname      = *( uchar | "?" | ":" | "@" | "&" )
    fieldvalue     = *( uchar | "?" | ":" | "@" | "&" )
    xchar          = unreserved | reserved | escape
    digits         = digit *digit
"##;

/// The schemes of RFC 1738 section 5.
const SPECIFIC: [&str; 10] = [
    "http", "ftp", "news", "nntp", "telnet", "gopher", "wais", "mailto", "file", "prospero",
];

type Offsets = BTreeSet<usize>;

struct Matcher<'a> {
    productions: HashMap<&'static str, Vec<&'static str>>,
    input: &'a [u8],
}

/// True if the grammar derives `reference`: `URL = ( absoluteURL | relativeURL ) [ "#" fragment ]`
pub(crate) fn derives(reference: &str) -> bool {
    let mut productions = HashMap::new();
    for line in [RFC1808, RFC1738].iter().flat_map(|text| text.lines()) {
        if let Some((name, right)) = line.split_once(" = ") {
            productions.insert(name.trim(), right.split_whitespace().collect());
        }
    }
    let matcher = Matcher {
        productions,
        input: reference.as_bytes(),
    };
    let start = Offsets::from([0]);
    let name = reference.split_once(':').map_or("", |(name, _)| name);
    let has_scheme = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let production = match has_scheme {
        false => "relativeURL",
        true if SPECIFIC.contains(&name.to_ascii_lowercase().as_str()) => "specificURL",
        true => "genericURL",
    };
    let before_fragment = matcher.element(production, &start);
    let hash = matcher.element("\"#\"", &before_fragment);
    let whole = reference.len();
    before_fragment.contains(&whole) || matcher.element("fragment", &hash).contains(&whole)
}

impl Matcher<'_> {
    /// The possible ends of a rule, a literal or a repetition that begins at one of `from`.
    fn element(&self, element: &'static str, from: &Offsets) -> Offsets {
        if from.is_empty() {
            return Offsets::new();
        }
        if let Some(repeated) = element
            .strip_prefix('*')
            .filter(|repeated| !repeated.is_empty())
        {
            return repeatedly(from, |from| self.element(repeated, from));
        }
        if let Some(literal) = element.strip_prefix('"') {
            let literal = literal.strip_suffix('"').unwrap().as_bytes();
            let ends = |at: &usize| {
                let end = at + literal.len();
                let found = self.input.get(*at..end)?;
                found.eq_ignore_ascii_case(literal).then_some(end)
            };
            return from.iter().filter_map(ends).collect();
        }
        let byte = |test: fn(&u8) -> bool| {
            from.iter()
                .filter(|at| self.input.get(**at).is_some_and(test))
                .map(|at| at + 1)
                .collect()
        };
        match element {
            "alpha" => byte(u8::is_ascii_alphabetic),
            "digit" => byte(u8::is_ascii_digit),
            "hex" => byte(u8::is_ascii_hexdigit),
            rule => self.alternatives(&self.productions[rule], from),
        }
    }

    /// The possible ends of the right side of a production that begins at one of `from`.
    fn alternatives(&self, tokens: &[&'static str], from: &Offsets) -> Offsets {
        let mut ends = Offsets::new();
        let mut here = from.clone();
        let mut rest = tokens;
        while let Some((&token, after)) = rest.split_first() {
            rest = after;
            match token {
                "|" => {
                    ends.append(&mut here);
                    here.clone_from(from);
                }
                "[" | "(" | "*(" => {
                    let (group, after) = rest.split_at(closing(rest));
                    rest = &after[1..];
                    here = match token {
                        "[" => &here | &self.alternatives(group, &here),
                        "(" => self.alternatives(group, &here),
                        _ => repeatedly(&here, |from| self.alternatives(group, from)),
                    };
                }
                _ => here = self.element(token, &here),
            }
        }
        ends.append(&mut here);
        ends
    }
}

fn repeatedly(from: &Offsets, once: impl Fn(&Offsets) -> Offsets) -> Offsets {
    let mut all = from.clone();
    let mut new = from.clone();
    while !new.is_empty() {
        new = &once(&new) - &all;
        all.extend(&new);
    }
    all
}

/// The index of the bracket that closes a group, whose first token is `tokens[0]`.
fn closing(tokens: &[&str]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "[" | "(" | "*(" => depth += 1,
            "]" | ")" if depth == 0 => return at,
            "]" | ")" => depth -= 1,
            _ => {}
        }
    }
    panic!("unclosed group in {tokens:?}")
}
