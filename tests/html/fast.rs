//! The walk over HTML against html5ever: whatever it can prove, it finds byte for byte as the other does. And the
//! sinks against each other: the same bytes, numbers and rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use baselink::base::{Retrieval, Source};
use baselink::document::{Document, FallbackReason};
use baselink::resolve::Profile;
use baselink::scan::Scanner;
use baselink::scan::attributes::Groups;
use baselink::{
    BaseElement, Beside, Fragments, LinkReport, ListedLink, Options, Outcome, ScanOptions, edits,
    links, rewrite, scan,
};

use crate::outside;
use crate::traps::TRAPS;

#[path = "../referee/html.rs"]
mod referee;

use referee::{compare, difference};

/// The options with which every document is scanned.
fn variants() -> [ScanOptions; 3] {
    let places = ["div[data-x]=url", "*[y]=srcset"].map(|place| place.parse().unwrap());
    [
        ScanOptions::default(),
        ScanOptions { ids: true, ..ScanOptions::default() },
        ScanOptions { groups: Groups::all(), places: places.to_vec(), ..ScanOptions::default() },
    ]
}

/// Every reason why html5ever was asked for something in `document`.
fn reasons(document: &Document, found: &mut Vec<FallbackReason>) {
    found.extend(document.fallback);
    document.parts.iter().for_each(|part| reasons(part, found));
}

/// The surroundings of a document: a page `q` with its companion folder, and any file that a crawler may have
/// saved.
#[derive(Debug)]
enum Folder {
    OfAPage,
    /// The document is in the companion folder itself.
    Companion,
    OfACrawl,
}

impl Beside for Folder {
    fn stem(&self) -> &str {
        "q"
    }
    fn has_folder(&self, name: &str) -> bool {
        name == "q_files"
    }
    fn is_in_companion(&self) -> bool {
        matches!(self, Self::Companion)
    }
    fn has_copy(&self, path: &str) -> bool {
        self.is_in_companion() && path.len() == 1
    }
    fn is_companion(&self, folder: &str) -> bool {
        folder == "y_files"
    }
    fn page_url(&self, path: &str) -> Option<String> {
        path.ends_with('y').then(|| "http://page/".to_owned())
    }
    fn is_crawled(&self) -> bool {
        matches!(self, Self::OfACrawl)
    }
    fn host(&self, folder: &str) -> Option<String> {
        folder.contains('.').then(|| folder.to_owned())
    }
    fn has_file(&self, _: &str) -> bool {
        true
    }
}

/// The options with which every document is rewritten.
fn ways() -> Vec<Options> {
    let [plain, all, _] = variants();
    let at = |url: &str, scan: &ScanOptions| Options { scan: scan.clone(), ..Options::at(url) };
    let usual = at("http://a/b/c/d;p?q", &plain);
    vec![
        Options { scan: plain.clone(), ..Options::default() },
        Options { fragments: Some(Fragments::Auto), ..at("http://a/&/'c", &plain) },
        Options { fragments: Some(Fragments::Keep), ..at("http://a", &all) },
        Options { assumed_scheme: Some("https".into()), ..Options::default() },
        Options { profile: Profile::Rfc3986, base_element: BaseElement::Keep, ..usual.clone() },
        Options { profile: Profile::Whatwg, ..usual.clone() },
        at("mailto:x@y", &plain),
        Options { beside: Some(Arc::new(Folder::OfAPage)), ..usual.clone() },
        Options { beside: Some(Arc::new(Folder::Companion)), ..usual.clone() },
        Options { beside: Some(Arc::new(Folder::OfACrawl)), ..usual.clone() },
        Options {
            retrieval: Some(Retrieval::of("http://a.b/c/d", Source::Layout)),
            beside: Some(Arc::new(Folder::OfACrawl)),
            ..usual.clone()
        },
        at("http://a/b=c/d-?e", &all),
        at("http://a/?id=1&x", &plain),
        usual,
    ]
}

/// The difference between edits with and without a report, and rows, of `bytes`; `None` if there is none.
fn other_output(bytes: &[u8], options: &Options) -> Option<String> {
    let (edits, totals) = edits(bytes, options);
    let out = edits.apply(bytes);
    let rewritten = rewrite(bytes, options);
    let report = &rewritten.report;
    let wanted = rewritten.output();
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if out != wanted {
        return Some(format!("counted:\n{}\nreported:\n{}", shown(&out), shown(&wanted)));
    }
    let mut counts = BTreeMap::new();
    for link in &report.links {
        *counts.entry((link.outcome, link.reason)).or_default() += 1;
    }
    let is_otherwise = |link: &&LinkReport| link.differs && link.outcome == Outcome::Rewritten;
    let own = totals.counts().map(|(outcome, reason, number)| ((outcome, reason), number));
    let chain = &report.entities[0].chain;
    let same = own.collect::<BTreeMap<_, usize>>() == counts
        && Outcome::ALL.iter().all(|outcome| totals.count(*outcome) == report.count(*outcome))
        && totals.links() == report.links.len()
        && totals.without_scheme
            == report.links.iter().filter(|link| link.lacks_only_scheme()).count()
        && totals.differing == report.links.iter().filter(is_otherwise).count()
        && (&totals.base, totals.rule, totals.source) == (&chain.base, chain.rule, chain.source)
        && totals.charset == report.entities[0].charset
        && totals.changed != rewritten.edits.is_empty()
        && totals.diagnostics == report.diagnostics;
    let mut rows = Vec::new();
    let listed = links(bytes, options, &mut |found| {
        rows.push(found);
    });
    let lines = totals.charset.lines(bytes);
    let own = report.links.iter().map(|link| {
        let (line, column) = lines.place(link.span.start);
        ListedLink { link: link.clone(), line, column }
    });
    let own: Vec<_> = own.collect();
    if rows != own || listed.links() != own.len() {
        let at = rows.iter().zip(&own).take_while(|(row, own)| row == own).count();
        return Some(format!("listed:\n{:#?}\nreported:\n{:#?}", rows.get(at), own.get(at)));
    }
    (!same).then(|| format!("{totals:?}\n{counts:?}\n{:?}", report.diagnostics))
}

#[track_caller]
fn same(bytes: &[u8]) {
    for options in variants() {
        if let Some(difference) = difference(bytes, &options) {
            panic!("{}\n{difference}", String::from_utf8_lossy(bytes));
        }
    }
    // One of the ways, the length saying which, and the usual one.
    let ways = ways();
    for options in [&ways[bytes.len() % ways.len()], &ways[ways.len() - 1]] {
        if let Some(difference) = other_output(bytes, options) {
            panic!("{}\n{difference}", String::from_utf8_lossy(bytes));
        }
    }
}

/// Compares the input also in contexts that are scanned separately, and in foreign content.
fn same_everywhere(input: &str) {
    same(input.as_bytes());
    same(format!("<a href=x>{input}<a href=y><base href=z>").as_bytes());
    same(format!("<noscript>{input}</noscript><a href=y>").as_bytes());
    same(format!("<!--[if IE]>{input}<![endif]--><a href=y>").as_bytes());
    same(format!("<iframe srcdoc='{input}'></iframe><a href=y>").as_bytes());
    same(format!("<svg>{input}<a href=y>").as_bytes());
    same(format!("<math><mi>{input}<a href=y>").as_bytes());
    same(format!("<svg><desc>{input}</desc></svg><a href=y>").as_bytes());
    same(format!("<template>{input}</template><base href=y><a href=y>").as_bytes());
    same(format!("<table>{input}</table><base href=y><a href=y>").as_bytes());
}

#[test]
fn the_engines_agree_on_tokenizer_tests() {
    let mut inputs = 0;
    for path in outside::TOKENIZER.files(Some("test")) {
        let suite: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for test in suite["tests"].as_array().into_iter().flatten() {
            let input = test["input"].as_str().unwrap();
            inputs += 1;
            if !path.ends_with("namedEntities.test") || inputs % 40 == 0 {
                same_everywhere(input);
            }
        }
    }
    assert!(inputs == 0 || inputs > 5_000, "{inputs}");
}

#[test]
fn the_engines_agree_on_tree_construction_tests() {
    let mut inputs = 0;
    for path in outside::TREES.files(Some("dat")) {
        let suite = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for test in format!("\n{suite}").split("\n#data\n").skip(1) {
            inputs += 1;
            same_everywhere(test.split("\n#errors").next().unwrap());
        }
    }
    assert!(inputs == 0 || inputs > 1_000, "{inputs}");
}

/// Pieces of the kind that tree construction and the tokenizer disagree about.
const MORE_TRAPS: &[&str] = &[
    "<svg>",
    "<svg>",
    "</svg>",
    "</svg>",
    "<svg/>",
    "<math>",
    "</math>",
    "<g>",
    "</g>",
    "<path/>",
    "</path>",
    "<title>",
    "</title>",
    "<title/>",
    "<desc>",
    "</desc>",
    "<foreignObject>",
    "</foreignObject>",
    "<mi>",
    "</mi>",
    "<mtext>",
    "</mtext>",
    "<mglyph>",
    "<malignmark/>",
    "<annotation-xml>",
    "<annotation-xml encoding=text/html>",
    "</annotation-xml>",
    "<annotation-xml encoding='application/xhtml+xml'>",
    "<![CDATA[",
    "]]>",
    "<style>",
    "</style>",
    "<style type=text/css>",
    "a{b:url(c)}",
    "<script>",
    "</script>",
    "<script src=s>",
    "<!--",
    "-->",
    "--!>",
    "<!-->",
    "<!--->",
    "<!",
    "<?",
    "</",
    "<",
    ">",
    "-",
    "</scrip",
    "<div>",
    "</div>",
    "<p>",
    "</p>",
    "<span>",
    "</span>",
    "<b>",
    "</b>",
    "<a href=x>",
    "</a>",
    "<font>",
    "<font size=1>",
    "</font>",
    "<li>",
    "<h1>",
    "<ul>",
    "<img src=i>",
    "<image href=i>",
    "<br>",
    "</br>",
    "<table>",
    "</table>",
    "<tr>",
    "<td>",
    "</td>",
    "<caption>",
    "<colgroup>",
    "</colgroup>",
    "<col>",
    "<select>",
    "<option>",
    "</select>",
    "<input>",
    "<form>",
    "</form>",
    "<button>",
    "<template>",
    "</template>",
    "<base href=1>",
    "<base href=2>",
    "<base>",
    "<base target=_top>",
    "<frameset>",
    "<frame src=f>",
    "</frameset>",
    "<body>",
    "</body>",
    "<html>",
    "</html>",
    "<head>",
    "</head>",
    "<noscript>",
    "</noscript>",
    "<noframes>",
    "</noframes>",
    "<noembed>",
    "</noembed>",
    "<xmp>",
    "</xmp>",
    "<iframe>",
    "</iframe>",
    "<textarea>",
    "</textarea>",
    "<plaintext>",
    "<plaintexu>",
    "<use href=u>",
    "<rect fill='url(#a) url(b)'>",
    "<rect style='fill:url(c)'>",
    "<a xlink:href=l>",
    "<mrow href=m>",
    "<!DOCTYPE html>",
    " ",
    "\n",
    "x",
    "\0",
    "é",
    "<é>",
    "<gé>",
    "</gé>",
    "<g\0>",
    "</g\0>",
    "'",
    "\"",
    "=",
    "/",
    "/>",
    "<a b='",
    "<a b=\"",
    "<a href=",
    "<a href",
    "<a/href=x>",
    "<a =href=x>",
    "<a href=x href=y>",
    "<a HREF='z'b=c>",
    "<link href=k rel=x>",
    "<div data-x=d y='a 1x'>",
    "<meta name=og:image content=o>",
    "<param value=v valuetype=ref>",
    "<object data=d codebase=c>",
    "<!--[if IE]><a href=c><![endif]-->",
    "<!--[if IE]><svg><![endif]-->",
    "<a href=../x?y&amp;z>",
    "<a href='x?y&z'>",
    "<a href=#f>",
    "<img src='#f'>",
    "<a href=''>",
    "<img src=>",
    "<a href=http://b/c>",
    "<a href=http:c>",
    "<a href=//h/>",
    "<a href='x/../y'>",
    "<a href=' x '>",
    "<a href>",
    "<a href=\"x y\">",
    "<a href=é>",
    "<a href=%41>",
    "<a href=__a__>",
    "<a href='{{a}}'>",
    "<a href=;x>",
    "<a href=.>",
    "<a href=?>",
    "<p style='a:url(&quot;b&quot;)'>",
    "<p style=a:url(b)>",
    "<p style='color:red'>",
    "<style>a{b:url(c)}</style>",
    "<base href=//h/p/>",
    "<base href='mailto:x'>",
    "<base href=é/>",
    "<set attributename=href to=t>",
    "<iframe srcdoc='<svg><a href=x></svg>'>",
    "<?import implementation=n>",
];

/// HTML in integration points, in and around which an end tag may close several elements. A title and a CDATA section hold
/// links in SVG, and none in HTML.
const NESTED: &[&str] = &[
    "<svg><desc>",
    "<svg><desc>",
    "<svg><foreignObject>",
    "<svg><title>",
    "<math><mi>",
    "<svg>",
    "</svg>",
    "<math>",
    "</math>",
    "<g>",
    "</g>",
    "<desc>",
    "</desc>",
    "<foreignObject>",
    "</foreignObject>",
    "<mi>",
    "</mi>",
    "<annotation-xml encoding=text/html>",
    "<title><a href=t></title>",
    "<title><a href=t></title>",
    "<![CDATA[<a href=c>]]>",
    "<![CDATA[<a href=c>]]>",
    "<style>a{b:url(c)}</style>",
    "<div>",
    "<div>",
    "</div>",
    "</div>",
    "<p>",
    "<p>",
    "</p>",
    "</p>",
    "<b>",
    "<b>",
    "</b>",
    "</b>",
    "<code id=c>",
    "</code>",
    "<span>",
    "</span>",
    "<font color=c>",
    "</font>",
    "<pre>",
    "<section>",
    "<br>",
    "<input type=hidden>",
    "<image href=i>",
    "<textarea><a href=t></textarea>",
    "<script src=s></script>",
    "<table>",
    "<td>",
    "</table>",
    "<select>",
    "<template>",
    "</template>",
    "<base href=1>",
    "<a href=x>",
];

/// Labels of diagrams are HTML in SVG, which the walk follows as long as they only nest.
#[test]
fn the_walk_reads_html_labels_in_svg() {
    let label = "<foreignObject width=9><div xmlns=http://www.w3.org/1999/xhtml><span class=nodeLabel><p>A<br/>\
                 <img src=y><b>b</b></p></span></div></foreignObject>";
    let diagram = format!(
        "<svg><style>g{{fill:url(#x)}}</style><switch><g><rect/>{label}<text>A</text></g></switch></svg>"
    );
    for (page, reason) in [
        (diagram.clone(), None),
        // Depth does not matter.
        (format!("<svg><desc>{}", "<div>".repeat(100)), None),
        // The `div` closes the `p`.
        ("<svg><desc><p><div>".to_owned(), Some(FallbackReason::IntegrationPoint)),
        ("<svg><desc><p><svg><desc><div>".to_owned(), None),
        // An end tag may close more than its element.
        ("<svg><desc><div><b></div>".to_owned(), Some(FallbackReason::EndTag)),
        ("<svg><desc><g><svg><g></desc>".to_owned(), Some(FallbackReason::IntegrationPoint)),
        ("<svg><desc><div><svg><g></div>".to_owned(), Some(FallbackReason::EndTag)),
    ] {
        let page = format!("<a href=x>{page}<img src=z>");
        same(page.as_bytes());
        let document = scan(page.as_bytes(), &ScanOptions::default());
        assert_eq!(document.fallback, reason, "{page}");
    }
}

/// A base in a table cell follows one that the tree moves before the table (HTML, 13.2.6.1), even after much
/// output.
#[test]
fn a_foster_parented_base_is_found() {
    for links in [1, 100] {
        let link = "<a href=x>y</a>".repeat(links);
        let page = format!(
            "<table><td><base href=http://c/>{link}</td></tr><base href=http://d/></table>{link}"
        );
        same(page.as_bytes());
        let out = rewrite(page.as_bytes(), &Options::at("http://a/")).output();
        let wanted = "<a href=http://d/x>y</a>".repeat(links);
        assert!(String::from_utf8(out).unwrap().ends_with(&wanted));
    }
}

/// A declaration after the first 1024 bytes, inside and outside apparent markup.
#[test]
fn late_declarations() {
    let padding = "x".repeat(1_100);
    for head in [
        "",
        "<base href=b/>",
        // Read in two encodings, it is two bases.
        "<base href='//h\u{a0}/é/'>",
        "<svg>",
        "<title>",
        "<noscript>",
        "<!--",
        "<frameset>",
        "<svg></b>",
    ] {
        for label in ["utf-8", "windows-1252", "shift_jis", "gb18030", "iso-2022-jp", "euc-kr"] {
            for behind in ["", "</title>", "</noscript>", "-->", "<meta charset=big5>"] {
                let page = format!(
                    "{padding}{head}<meta charset={label}><a href=x><a href='é表?é'>{behind}\
                     <META content='text/html; charset=koi8-r' http-equiv=content-type><a href=z>"
                );
                same(page.as_bytes());
                same(&[page.as_bytes(), b"\xe9<a href=\xe9>"].concat());
            }
        }
    }
}

/// Numbers that look random: Marsaglia's xorshift.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

fn joined(pieces: &[&str]) -> Vec<u8> {
    pieces.concat().into_bytes()
}

/// `BASELINK_TRAPS` sets the number of documents; the default is quick.
#[test]
fn the_engines_agree_on_traps() {
    let few = if cfg!(debug_assertions) { 20_000 } else { 100_000 };
    let asked = std::env::var("BASELINK_TRAPS").ok().and_then(|count| count.parse().ok());
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let mut handed_over = 0_u64;
    let count: u64 = asked.unwrap_or(few);
    let (variants, ways) = (variants(), ways());
    for number in 0..count {
        let list = [TRAPS, MORE_TRAPS, MORE_TRAPS, NESTED][numbers.below(4)];
        let length = 1 + numbers.below(16);
        let mut pieces: Vec<&str> = (0..length).map(|_| list[numbers.below(list.len())]).collect();
        pieces.push("<a href=end>");
        let options = &variants[(number % 2) as usize];
        let bytes = joined(&pieces);
        let fast = scan(&bytes, options);
        let mut found = Vec::new();
        reasons(&fast, &mut found);
        handed_over += u64::from(!found.is_empty());
        let exact = scan(&bytes, &ScanOptions { scanner: Scanner::Exact, ..options.clone() });
        let way = &ways[(number % ways.len() as u64) as usize];
        let other = |pieces: &[&str]| {
            let bytes = joined(pieces);
            difference(&bytes, options).or_else(|| other_output(&bytes, way))
        };
        if compare(fast, exact).is_none() && other_output(&bytes, way).is_none() {
            continue;
        }
        let mut at = 0;
        while at < pieces.len() {
            let mut shorter = pieces.clone();
            shorter.remove(at);
            match other(&shorter) {
                Some(_) => pieces = shorter,
                None => at += 1,
            }
        }
        panic!("{pieces:?} {way:?}\n{}", other(&pieces).unwrap_or_default());
    }
    // Were html5ever asked for most, little would have been compared.
    assert!(count < 1_000 || handed_over < count * 7 / 10, "{handed_over} of {count}");
}

#[test]
fn the_engines_agree_on_real_pages() {
    let pages = outside::PAGES.files(Some("html"));
    let mut handed_over = BTreeMap::new();
    for path in &pages {
        let page = std::fs::read(path).unwrap();
        for options in variants() {
            let difference = difference(&page, &options);
            assert_eq!(difference, None, "{}", path.display());
        }
        for options in ways() {
            let difference = other_output(&page, &options);
            assert!(difference.is_none(), "{}", path.display());
        }
        let mut found = Vec::new();
        reasons(&scan(&page, &ScanOptions::default()), &mut found);
        for reason in found {
            eprintln!("{}: {reason:?}", path.display());
            *handed_over.entry(reason).or_insert(0) += 1;
        }
    }
    let count: usize = handed_over.values().sum();
    assert!(count * 50 <= pages.len(), "{count} of {} pages: {handed_over:?}", pages.len());
}

/// Shapes that would be too slow as a tree or as an attribute list. Each is a quarter of a megabyte long.
#[test]
fn the_engines_agree_on_hostile_shapes() {
    let many = |count: usize| (0..count).map(|number| format!("a{number} ")).collect::<String>();
    for document in [
        // 1,000 attributes are the most that html5ever is given.
        format!("<svg><a {}href=x>", many(999)),
        format!("<a {}href=x>", many(1_000)),
        format!("</a {}><a href=x>", many(1_001)),
        format!("<a href=x><a {}", many(1_001)),
        format!("<script>a<b {};</script><a href=x>", many(1_001)),
        format!("<script></script {}><a href=x>", many(1_001)),
        format!("<plaintext>a<b {}", many(1_001)),
        format!("<svg><![CDATA[<b {}]]><a href=x>", many(1_001)),
        format!("<!-- <b {} --><a href=x>", many(1_001)),
        format!("<title><b {}</title><a href=x>", many(1_001)),
    ] {
        same(document.as_bytes());
    }
    for shape in [
        "<",
        "<a",
        "<a ",
        "<a href=\"",
        "<a href='x",
        "</",
        "<!",
        "<!--",
        "<!-- --",
        "<![CDATA[",
        "<?",
        "&",
        "<script>",
        "<script><!--",
        "<!--<script ",
        "</script ",
        "</scrip",
        "<style>",
        "<svg>",
        "<svg><g>",
        "<svg><desc>",
        "<svg><style>",
        "<svg><title/>",
        "<math><mi>",
        "<svg><foreignObject><div>",
        "</svg>",
        "<svg></g>",
        "<template>",
        "<noscript>",
        "<noembed>",
        "<!--[if x]>",
        "<table>",
        "<td>",
        "<base href=x>",
        "<base>",
        "<iframe srcdoc='",
        "<plaintext>",
        "<frameset>",
        "<p><a href=x>",
        "<b><i><p>",
        "\0",
        "<a =",
        "<title>",
        "<textarea></textarea ",
        "<meta ",
        "<meta charset=x>",
        "<meta '",
    ] {
        same(shape.repeat(250_000 / shape.len()).as_bytes());
    }
}
