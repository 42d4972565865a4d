//! Mutation tests: each mutation makes one of the program's own edits wrong, and [`verify`] must notice it.
//!
//! ```text
//! document --rewrite--> edits --mutation--> other edits --apply--> output --verify--> differences, or a fault of the proof
//!                         of the file: these imitate a fault of lifting
//!                         of the content of a part: these imitate a fault of the judge, and are lifted correctly
//! ```
//!
//! A mutation does not count if nobody could notice it: it yields the same bytes, or bytes that read alike. Bytes
//! read alike if the reference parser of the format (html5ever, quick-xml, cssparser; for encoded bodies the
//! decoder) sees the same as in the right output. Scripts have no such parser: they read alike if only meaningless
//! backslashes differ.
//!
//! Deliberately absent: documents that test scanners. Those are in `tests/`.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::pieces::{piece, style_sheet_pieces, tree_pieces, without_references};
use baselink_rewrite::container::entity::{ChangedBody, Structure};
use baselink_rewrite::container::fields::{EntityEdits, keep_lengths};
use baselink_rewrite::container::lift::lift;
use baselink_rewrite::container::units;
use baselink_rewrite::rewrite;
use baselink_text::edit::Edit;
use baselink_text::layer::digest::{content_md5, with_crlf};

/// A base with characters that most places must escape, each in its own way.
const BASE: &str = "http://a.example/it's(&amp)/\"<b>/c.html";

/// Documents with links in every kind of place, for each rewritable format: the file, and the groups to enable.
fn documents(format: Format) -> &'static [(&'static [u8], &'static str)] {
    match format {
        Format::Html => &[
            (b"<p>x<a href=\"x?a&amp;b\">t</a><a href='../y'>u</a><img src=z alt=''>", ""),
            (b"<img srcset=\"s 1x, t 2x\"><a ping='p q'>v</a><!--c--><a href=//h/x>w</a>", ""),
            (b"<style>a{b:url(c)}@import 'd';</style><p style=\"e:url('f') url(g)\">", ""),
            (b"<meta http-equiv=refresh content=\"0; url='r'\"><meta charset=latin1><a href=\xe9>", ""),
            (b"<iframe srcdoc=\"<a href='s'>t</a><p style=&quot;u:url(v)&quot;>\"></iframe>", ""),
            (b"<noscript><img src=n></noscript><!--[if IE]><img src='i'><![endif]-->", ""),
            (b"<svg><a xlink:href=\"a\"/><style>b{c:url(d)}</style></svg>", ""),
            (b"<script>import './m'; import(\"../n\")</script>", "scripts"),
        ],
        Format::Xhtml => &[(
            b"<html xmlns='http://www.w3.org/1999/xhtml'><body><a href=\"x?a&amp;b\">t</a>\
             <img src='&#x79;'/><style>z{b:url(c)}</style><p style='d:url(\"e\")'/></body></html>",
            "",
        )],
        Format::Svg => &[(
            b"<?xml-stylesheet href='p.css'?><svg xmlns='http://www.w3.org/2000/svg' \
             xmlns:x='http://www.w3.org/1999/xlink'><a x:href='a'/><image href=\"b\"/>\
             <style><![CDATA[c{d:url('e')}]]></style></svg>",
            "",
        )],
        Format::Xml => &[
            (
                b"<feed xmlns='http://www.w3.org/2005/Atom'><link href=\"a\"/><icon>b</icon><entry>\
                 <content type='html'>&lt;a href=\"c\">d&lt;/a></content></entry></feed>",
                "",
            ),
            (
                b"<rss version='2.0'><channel><link>a</link><item><link><![CDATA[b]]></link>\
                 <description><![CDATA[<a href='c'>d</a>]]></description></item></channel></rss>",
                "",
            ),
        ],
        Format::Css => &[(b"@import 'a'; @import \"b\"; c { d: url(e) url( 'f' ) image-set(\"g\" 1x) }", "")],
        Format::Script => &[(b"import './a'; import b from \"../c\"; import('/d')", "scripts")],
        Format::JsonFeed => {
            &[(b"{\"home_page_url\": \"a\", \"items\": [{\"url\": \"b\\u0063\"}]}", "manifest")]
        }
        Format::Manifest => &[(b"{\"start_url\": \"a\", \"icons\": [{\"src\": \"b\\u0063\"}]}", "manifest")],
        Format::Message => &[
            (
                b"Content-Type: text/html\nContent-Location: l\nContent-Length: 29\nLines: 2\n\n\
                 <a href=\"x\">t</a>\n<img src=y>",
                "headers",
            ),
            (
                b"Content-Type: multipart/mixed; boundary=b\nContent-Length: 364\n\npreamble\n--b\n\
                 Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n\
                 <p>=C3=A9<a href=3D\"x?a=3Db\">=\nt</a><a href=3D'y'>\n--b\nContent-Type: text/css\n\
                 Content-Transfer-Encoding: base64\n\nYSB7IGI6IHVybChjKTsgZDogdXJsKCdlJykgfQ==\n--b\n\
                 Content-Type: text/plain\n\n<URL:z> text\n--b\nContent-Type: message/rfc822\n\n\
                 Content-Type: text/html\n\n<a href=w>\n--b--\nepilogue\n",
                "text",
            ),
            (
                b"Content-Type: text/html\nContent-MD5: ftSENetKj9pPBW/r3s8DKQ==\nLink: <k>; rel=next\n\n<a href=x>",
                "headers",
            ),
        ],
        Format::Mbox => &[(
            b"From a\nContent-Type: text/html\n\n<a href=x>t</a>\n\nFrom b\nContent-Type: text/html\n\
             Content-Transfer-Encoding: quoted-printable\n\n<a href=3Dx>t</a>\n",
            "",
        )],
        Format::Http => &[
            (
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 29\r\nETag: \"1\"\r\n\
                 Link: <k>; rel=next\r\n\r\n<a href=\"x\">t</a>\n<img src=y>",
                "headers",
            ),
            (
                b"HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nTransfer-Encoding: chunked\r\n\r\n\
                 9\r\na{b:url(c\r\n2\r\n)}\r\n0\r\n\r\n",
                "",
            ),
        ],
        // Plain text is only rewritten as a part of a message, as above.
        Format::Plain => &[],
        // The content of an archive is a separate document or response, and is verified as such.
        Format::Warc | Format::Wacz | Format::Har | Format::WebArchive => &[],
        Format::Other => &[],
    }
}

/// A list of edits, the edited bytes, and the index of the edit to make wrong.
type MutationInput<'a> = (&'a [Edit<'static>], &'a [u8], usize);

/// A function that returns the wrong lists of a mutation.
type Mutation = fn(MutationInput<'_>) -> Vec<Vec<Edit<'static>>>;

/// The mutations.
const MUTATIONS: [(&str, Mutation); 9] =
    [
        ("left out", |(edits, _, at)| {
            vec![[&edits[..at], &edits[at + 1..]].concat()]
        }),
        ("made twice", |(edits, _, at)| {
            let Edit { span, new } = &edits[at];
            let again = Edit {
                span: Span::at(span.end),
                new: new.clone(),
            };
            vec![
                replaced(edits, at, *span, &[&**new, &**new].concat()),
                inserted(edits, at + 1, again),
            ]
        }),
        ("at a wrong place", |(edits, bytes, at)| {
            let Edit {
                span: Span { start, end },
                new,
            } = &edits[at];
            let mut wrong = Vec::new();
            for (to_left, to_right) in [(1, 1), (2, 2), (1, 0), (0, 1), (3, 0), (0, 3), (1, 2)] {
                // Longer, shorter, and moved in both directions.
                wrong.push((start.checked_sub(to_left), Some(end + to_right)));
                wrong.push((Some(start + to_left), end.checked_sub(to_right)));
                wrong.push((start.checked_sub(to_left), end.checked_sub(to_right)));
                wrong.push((Some(start + to_left), Some(end + to_right)));
            }
            let spans = wrong.into_iter().filter_map(|(start, end)| {
                let (start, end) = (start?, end?);
                (start <= end && end <= bytes.len()).then(|| Span::new(start, end))
            });
            spans.map(|span| replaced(edits, at, span, new)).collect()
        }),
        ("at another link", |(edits, _, at)| {
            let others = (0..edits.len()).filter(|&other| other != at);
            let new = &edits[at].new;
            let moved = |other: usize| {
                let twice = replaced(edits, other, edits[other].span, new);
                let swapped = replaced(&twice, at, edits[at].span, &edits[other].new);
                [twice, swapped]
            };
            others.flat_map(moved).collect()
        }),
        ("without a byte", |(edits, _, at)| {
            let Edit { span, new } = &edits[at];
            let without = |place: usize| [&new[..place], &new[place + 1..]].concat();
            (0..new.len())
                .map(|place| replaced(edits, at, *span, &without(place)))
                .collect()
        }),
        ("with a byte more", |(edits, _, at)| {
            let Edit { span, new } = &edits[at];
            let places = [0, new.len() / 3, new.len() / 2, new.len()];
            let bytes = b"\"'`&<>()\\ \t\n\r\x0c\0,;=#?%/.:{}[]x3\x80\xe9";
            let with = |place: usize, byte: u8| [&new[..place], &[byte], &new[place..]].concat();
            let all = places
                .iter()
                .flat_map(|&place| bytes.iter().map(move |&byte| (place, byte)));
            all.map(|(place, byte)| replaced(edits, at, *span, &with(place, byte)))
                .collect()
        }),
        ("without an escape", |(edits, _, at)| {
            let Edit { span, new } = &edits[at];
            let mut wrong = Vec::new();
            for (escape, text) in ESCAPES {
                let finds = memchr::memmem::find_iter(new, escape);
                wrong.extend(finds.map(|from| {
                    [&new[..from], text.as_bytes(), &new[from + escape.len()..]].concat()
                }));
            }
            wrong
                .iter()
                .map(|new| replaced(edits, at, *span, new))
                .collect()
        }),
        ("with a wrong target", |(edits, _, at)| {
            let Edit { span, new } = &edits[at];
            let changes: [(&[u8], &[u8]); 6] = [
                (b"http:", b"https:"),
                (b"http:", b"HTTP:"),
                (b"a.example", b"b.example"),
                (b"a.example", b"a.example:80"),
                (b"a.example", b"a.example/."),
                (b"/it", b"/it/.."),
            ];
            let wrong = changes.iter().filter_map(|(old, right)| {
                let from = memchr::memmem::find(new, old)?;
                Some([&new[..from], right, &new[from + old.len()..]].concat())
            });
            wrong.map(|new| replaced(edits, at, *span, &new)).collect()
        }),
        ("beside the links", |(edits, bytes, at)| {
            // Once for all edits: a byte anywhere is deleted, inserted, or changed.
            let places = (0..=bytes.len()).filter(|_| at == 0);
            let mut wrong = Vec::new();
            for place in places {
                let index = edits.partition_point(|edit| edit.span.start <= place);
                let mut edit = |end: usize, new: &[u8]| {
                    let edit = Edit {
                        span: Span::new(place, end),
                        new: new.to_vec().into(),
                    };
                    wrong.push(inserted(edits, index, edit));
                };
                for new in [" ", "\n", "x", "\"", "<", ">", "&", "\nFrom x"] {
                    edit(place, new.as_bytes());
                }
                if place < bytes.len() {
                    edit(place + 1, b"");
                    edit(place + 1, b"0");
                }
            }
            wrong
        }),
    ];

/// Escapes that places use for their terminators, and the characters they represent.
const ESCAPES: [(&[u8], &str); 22] = [
    (b"&amp;", "&"),
    (b"&quot;", "\""),
    (b"&#34;", "\""),
    (b"&#39;", "'"),
    (b"&apos;", "'"),
    (b"&lt;", "<"),
    (b"&gt;", ">"),
    (b"&#40;", "("),
    (b"&#41;", ")"),
    (b"\\22 ", "\""),
    (b"\\27 ", "'"),
    (b"\\3c ", "<"),
    (b"\\'", "'"),
    (b"\\\"", "\""),
    (b"\\(", "("),
    (b"\\)", ")"),
    (b"%22", "\""),
    (b"%27", "'"),
    (b"%28", "("),
    (b"%29", ")"),
    (b"%3C", "<"),
    (b"%3E", ">"),
];

fn replaced(edits: &[Edit<'static>], at: usize, span: Span, new: &[u8]) -> Vec<Edit<'static>> {
    let mut edits = edits.to_vec();
    edits[at] = Edit {
        span,
        new: new.to_vec().into(),
    };
    edits
}

fn inserted(edits: &[Edit<'static>], at: usize, edit: Edit<'static>) -> Vec<Edit<'static>> {
    [&edits[..at], &[edit], &edits[at..]].concat()
}

/// `list` as edits; `None` if they overlap, which [`Edits::push`] rejects, or end after `length`.
fn edits_of(list: &[Edit<'_>], length: usize) -> Option<Edits> {
    let mut edits = Edits::default();
    let is_inside = list.iter().all(|edit| edit.span.end <= length);
    list.iter()
        .try_for_each(|edit| edits.push(edit.span, &edit.new))
        .ok()?;
    is_inside.then_some(edits)
}

/// Everything that the reference parsers see in a file, and in the documents in its values.
fn reading(format: Format, charset: Charset, bytes: &[u8]) -> Vec<TreePiece> {
    let Some(container) = container::of(format) else {
        let seen = pieces(bytes, format, charset, false);
        return match format {
            Format::Html => with_values(seen),
            Format::Xhtml | Format::Svg | Format::Xml => {
                let faults = faults_of_xml(&charset.decode(bytes, 0).text).to_string();
                let mut all = with_values(seen.into_iter().map(without_references).collect());
                all.push(piece("faults", faults));
                all
            }
            Format::Css => seen,
            Format::Script => vec![piece("script", script(&charset.decode(bytes, 0).text))],
            _ => vec![piece("bytes", format!("{bytes:?}"))],
        };
    };
    let structure = (container.read)(bytes, &"".into());
    let mut seen = Vec::new();
    let mut at = 0;
    for entity in &structure.entities {
        seen.push(piece(
            "outside",
            format!("{:?}", &bytes[at..entity.heading.span.start]),
        ));
        let (content, body) = (entity.decode(bytes), &bytes[entity.body.range()]);
        for field in &entity.heading.fields {
            let value = String::from_utf8_lossy(&bytes[field.value.range()]).into_owned();
            // Bytes that read alike may differ in length and digest, so only the error of such a field is compared.
            let counted = match String::from_utf8_lossy(&bytes[field.name.range()]).as_ref() {
                "Content-Length" => value
                    .parse()
                    .ok()
                    .map(|stated: isize| (stated - body.len().cast_signed()).to_string()),
                "Content-MD5" => content
                    .as_ref()
                    .ok()
                    .map(|content| (content_md5(&with_crlf(&content.bytes)) == value).to_string()),
                _ => None,
            };
            let around = [
                field.span.start..field.value.start,
                field.value.end..field.span.end,
            ];
            seen.push(piece(
                "field",
                format!("{:?}", around.map(|part| &bytes[part])),
            ));
            seen.push(piece("value", counted.unwrap_or(value)));
        }
        at = entity.body.start;
        if entity.kind == EntityKind::Leaf {
            at = entity.body.end;
            let Ok(content) = content else {
                seen.push(piece("undecodable", format!("{body:?}")));
                continue;
            };
            let is_base64 = entity.transfer_encoding == TransferEncoding::Base64;
            let is_strict = !is_base64 || is_whole_base64(body);
            seen.push(piece("strict", is_strict.to_string()));
            // Other readers may assume another encoding, so content beyond ASCII is never like ASCII content.
            seen.push(piece("ascii", content.bytes.is_ascii().to_string()));
            seen.extend(reading(
                entity.media_type.format(),
                Charset::UTF_8,
                &content.bytes,
            ));
        }
    }
    seen.push(piece("outside", format!("{:?}", &bytes[at..])));
    seen
}

/// A script without meaningless backslashes (ECMA-262, 12.9.4, NonEscapeCharacter).
fn script(text: &str) -> String {
    let mut kept = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_escape = |next: &char| {
            "'\"\\bfnrtvxu\n\r\u{2028}\u{2029}".contains(*next) || next.is_ascii_digit()
        };
        match characters.peek() {
            Some(next) if character == '\\' && !is_escape(next) => {}
            Some(_) if character == '\\' => {
                kept.extend([character].into_iter().chain(characters.next()));
            }
            _ => kept.push(character),
        }
    }
    kept
}

/// The pieces of markup, with style sheets, scripts and documents in values parsed in turn. Text and comments are
/// parsed as markup, because some readers do so.
fn with_values(seen: Vec<TreePiece>) -> Vec<TreePiece> {
    let mut all = Vec::new();
    let mut around = String::new();
    for TreePiece { kind, text } in seen {
        let name = kind.rsplit(' ').next().unwrap();
        let inner = match kind.split(' ').next().unwrap() {
            "attribute" if name == "style" => style_sheet_pieces(&text),
            "attribute" if name == "srcdoc" => with_values(tree_pieces(&text)),
            "text" | "CDATA" if around == "style" => style_sheet_pieces(&text),
            "text" | "CDATA" if around == "script" => vec![piece("script", script(&text))],
            "text" | "CDATA" | "comment" => tree_pieces(&text),
            _ => vec![piece("", text)],
        };
        if !kind.starts_with("attribute") {
            around = name.to_owned();
        }
        all.push(piece(kind, ""));
        all.extend(inner);
    }
    all
}

/// The number of mutations, by outcome.
#[derive(Debug, Default)]
struct Count {
    /// Mutations that cannot be lifted to the file, such as 8-bit text in a 7bit body.
    refused: usize,
    /// Mutations that read alike.
    alike: usize,
    noticed: usize,
}

/// A mutation and the resulting file, if it can be made.
type Mutant<'a> = (&'static str, Option<FileRewrite<'a>>);

/// The mutants of `right`, which are edits of `bytes`. `apply` makes a file from each wrong list.
fn mutants<'a>(
    right: &Edits,
    bytes: &[u8],
    apply: impl Fn(Edits) -> Option<FileRewrite<'a>>,
) -> Vec<Mutant<'a>> {
    let list: Vec<Edit> = right.iter().map(Edit::into_owned).collect();
    let mut mutants = Vec::new();
    for (name, mutation) in MUTATIONS {
        for at in 0..list.len() {
            let wrong = mutation((&list, bytes, at));
            let edits = wrong
                .iter()
                .filter_map(|wrong| edits_of(wrong, bytes.len()));
            mutants.extend(edits.map(|edits| (name, apply(edits))));
        }
    }
    mutants
}

/// `right` with these edits for the content of its part at `index`; `None` if they cannot be lifted.
fn in_part<'a>(
    right: &FileRewrite<'a>,
    structure: &Structure,
    index: usize,
    edits: Edits,
) -> Option<FileRewrite<'a>> {
    let bytes = right.source;
    let mut wrong = right.clone();
    wrong.parts[index].edits = edits;
    let mut all = EntityEdits::default();
    let of_headings = fields::in_headings(&right.report.links, structure);
    for edit in right.edits.iter() {
        let is_of = |link: &&LinkReport| {
            link.span.start <= edit.span.start && edit.span.end <= link.span.end
        };
        if of_headings.iter().copied().any(|link| is_of(&link)) {
            let entity = structure
                .entities
                .iter()
                .rposition(|entity| entity.heading.span.start <= edit.span.start)?;
            all.in_headings.push((entity, edit.into_owned()));
        }
    }
    for part in &wrong.parts {
        let at = structure
            .entities
            .iter()
            .position(|entity| entity.body == part.body)?;
        let entity = &structure.entities[at];
        let decoded = entity.decode(bytes).ok()?;
        let edits = &part.edits;
        let lifted = lift(bytes, structure, entity, &decoded, edits).ok()?;
        let changed = ChangedBody {
            bytes,
            entity,
            decoded: &decoded,
            edits,
            lifted: &lifted,
        };
        let (described, _) = (structure.container.describe)(&changed);
        let described = described.into_iter().map(|edit| (at, edit));
        all.in_headings.extend(described);
        all.in_bodies.push((at, lifted));
    }
    if !structure.container.is_single {
        keep_lengths(bytes, structure, &mut all);
    }
    wrong.edits = all.all()?;
    Some(wrong)
}

/// Runs all mutations on `source`, a file of the format in `options`.
fn doubt(source: &[u8], options: &Options, count: &mut Count) {
    let right = rewrite(source, options);
    let (format, charset) = (options.format, right.totals.charset);
    let shown = String::from_utf8_lossy(source);
    assert_eq!(verify(&right), Ok(()), "{shown}");
    assert!(!right.edits.is_empty(), "{shown}");
    let output = right.output();
    let seen = reading(format, charset, &output);
    let of_file = |edits| {
        let mut wrong = right.clone();
        wrong.edits = edits;
        Some(wrong)
    };
    let mut all = mutants(&right.edits, source, of_file);
    if let Some(container) = container::of(format) {
        let structure = (container.read)(source, &options.scan.entity);
        for (index, part) in right.parts.iter().enumerate() {
            let entity = structure
                .entities
                .iter()
                .find(|entity| entity.body == part.body)
                .unwrap();
            let content = entity.decode(source).unwrap().bytes;
            let of_part = |edits| in_part(&right, &structure, index, edits);
            all.extend(mutants(&part.edits, &content, of_part));
        }
    }
    for (name, wrong) in all {
        let Some(wrong) = wrong else {
            count.refused += 1;
            continue;
        };
        let mutated = wrong.output();
        if mutated == output || reading(format, charset, &mutated) == seen {
            count.alike += 1;
            continue;
        }
        let made = String::from_utf8_lossy(&mutated);
        let right = String::from_utf8_lossy(&output);
        let is_noticed = verify(&wrong).is_err();
        assert!(
            is_noticed,
            "{format:?}, {name}: nobody notices\n{made}\ninstead of\n{right}"
        );
        count.noticed += 1;
    }
}

#[test]
fn every_wrong_edit_is_noticed() {
    println!(
        "{:10}{:>10}{:>10}{:>10}",
        "format", "noticed", "alike", "refused"
    );
    for format in Format::ALL {
        let mut count = Count::default();
        for (source, groups) in documents(format) {
            let scan = ScanOptions {
                groups: groups.parse().unwrap_or_default(),
                ..ScanOptions::default()
            };
            let options = Options {
                format,
                scan,
                ..Options::at(BASE)
            };
            for (name, unit) in units(format, source) {
                let entity = name.unwrap_or_default();
                let scan = ScanOptions {
                    entity,
                    ..options.scan.clone()
                };
                doubt(
                    &source[unit.range()],
                    &Options {
                        scan,
                        ..options.clone()
                    },
                    &mut count,
                );
            }
        }
        println!(
            "{:10}{:10}{:10}{:10}",
            format.name(),
            count.noticed,
            count.alike,
            count.refused
        );
        assert_eq!(documents(format).is_empty(), count.noticed == 0);
    }
}
