//! The laws as properties of messages assembled from traps, also after some of their bytes were changed, removed or
//! repeated.
//!
//! Deliberately absent: the laws themselves, which are in `tests/referee/message.rs`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baselink::{BaseElement, Dkim, Fragments};
use baselink_rewrite::base::ContentLocationUse;
use baselink_rewrite::container::{Entity, entities};
use baselink_rewrite::{Options, rewrite};
use baselink_scan::attributes::{Group, Groups};
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use baselink_text::layer::digest::{content_md5, with_crlf};
use baselink_text::layer::transfer::TransferEncoding;
use baselink_url::Resolver;
use proptest::prelude::*;

#[path = "../referee/message.rs"]
mod referee;

use referee::{always, check_that_sinks_agree, hold, shown};

// Messages.

/// Pieces of bodies.
const TRAPS: &[&str] = &[
    "<a href=x>",
    "<a href=\"../y?a&amp;b=c\">",
    "<a href='i'>",
    "<a href=//h2/z>",
    "<a href='/w#f'>",
    "<a href=#f>",
    "<a href=''>",
    "<a href=http://abs/o/lute>",
    "<a href=mailto:m@n>",
    "<a href=\"\nFrom here\">",
    "<a href='../\n--x'>",
    "<a href=\"a \n b\">",
    "<a\nhref\n=\nq>",
    "<a href=From>",
    "<img src=\"cid:1@2\">",
    "<img src=i srcset=\"s 1x, t,u 2x\">",
    "<p style=\"background:url(&quot;c&quot;)\">",
    "<style>\n@import 'f';a{b:url(../c d)}\n</style>",
    "<base href=http://be/1/>",
    "<base href=rel/>",
    "<base href=//h3/p/>",
    "<base href=\"mailto:x\">",
    "<iframe srcdoc=\"<a href=&quot;q&quot;>\">",
    "<iframe srcdoc='<base href=s/><a href=i>'>",
    "<a href=&#x2e./h>",
    "<a href=\"\u{e9}/./\u{8868}\">",
    "<meta http-equiv=refresh content=\"1;url='r'\">",
    "<!--[if mso]><a href=mso><![endif]-->",
    "<noscript><img src=n></noscript>",
    "<script>x='<a href=no>'</script>",
    "<a href=\"{{t}}\">",
    "a{b:url(css)}",
    "a{b:url( 'http://abs/i' )}",
    "@import url(http://abs/c);",
    "a{b:url(http:\\2f /x)}",
    "a{b:image-set('set')}",
    "/* url(no) */",
    "a link <URL:../u> and <URL:http://v/> ",
    "<URL:\n w/\n x>",
    "text",
    "text which is long enough that the next one will have to be broken, as lines of text are",
    "\n",
    "\n\n",
    " \n",
    "\t",
    " ",
    ".\n",
    "\n.",
    "\nFrom x\n",
    "\n>From x\n",
    "\n--b0\n",
    "\n--b1 \n",
    "\n--b\n",
    "\n-- \n",
    "--",
    "=",
    "=3D",
    "=\n",
    "= \n",
    "==",
    "\u{e9}",
    "\u{8868}",
    "\u{0}",
    "\r",
    "<",
    "\"",
    "'>",
    "A: b\n",
    "-----BEGIN PGP SIGNED MESSAGE-----\n",
];

/// Header fields. [`Part::write`] replaces `{…}` by facts about the body.
const FIELDS: &[&str] = &[
    "Base: http://h/1/2",
    "Base: <URL:http://h/3/>",
    "BASE : <URL:\n http://h/4\n /5/ >",
    "Base: rel/",
    "Base: <../up/>",
    "Base: mailto:x",
    "Base:",
    "Content-Base: \"http://cb/x/\"",
    "Content-Base: sub/",
    "Content-Location: http://cl/p/q.html",
    "Content-Location: x",
    "Content-Location: i",
    "Content-Location: ../y?a&b=c",
    "Content-Location: =?utf-8?Q?http=3A//e/=C3=A9?=",
    "Content-Location:\n fold\n /ed",
    "Snapshot-Content-Location: http://snap/s/",
    "Snapshot-Content-Location: pt:x",
    "DKIM-Signature: v=1; bh=x",
    "ARC-Seal: i=1",
    "Content-MD5: {md5}",
    "Content-MD5: {md5}",
    "Content-MD5: {md5 as it stands}",
    "Content-MD5: AAAA",
    "Content-Length: {length}",
    "Content-Length: {length}",
    "Lines: {lines}",
    "Lines: {lines}",
    "Content-Length: 7",
    "Lines: 3",
    "Subject: =?utf-8?q?x?=",
    "odd line",
    "From: x",
    "Link: <../l>; rel=next, <k>",
    "List-Help: <h>, <mailto:x>",
    "Archived-At: <\n ar>",
    "X: {{t}}",
];

const TYPES: &[&str] = &[
    "",
    "Content-Type: text/html",
    "Content-Type: text/html; charset=utf-8",
    "Content-Type: text/html; charset=\"windows-1252\"",
    "Content-Type: text/html; charset=iso-2022-jp",
    "content-type : TEXT/HTML (c);\n charset*0=shift_; charset*1=jis",
    "Content-Type: text/html; charset=utf-16",
    "Content-Type: text/html; charset=utf-16le",
    "Content-Type: text/html; charset=x-nobody-knows",
    "Content-Type: text/html; charset=utf-7",
    "Content-Type: text/css",
    "Content-Type: text/css; charset=shift_jis",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Type: image/png",
    "Content-Type: message/external-body; access-type=URL; URL=\"ext/\"",
    "Content-Type: text/html\nContent-Type: text/plain",
];

const ENCODINGS: &[&str] = &[
    "",
    "7bit",
    "8bit",
    "binary",
    "quoted-printable",
    "Quoted-Printable (x)",
    "base64",
    "BASE64",
    "x-uuencode",
];

const SUBTYPES: &[&str] = &["mixed", "related", "alternative", "digest", "signed", "x"];

/// Boundaries, some of which are prefixes of others or occur in texts.
const BOUNDARIES: &[&str] = &["b0", "b1", "b", "b10", "-", "b0--", "--b", "a b", "="];

#[derive(Clone, Debug)]
enum Node {
    Leaf {
        media_type: &'static str,
        encoding: &'static str,
        text: Vec<&'static str>,
        choices: Vec<u8>,
    },
    Message {
        inner: Box<Part>,
    },
    Multipart {
        subtype: &'static str,
        boundary: &'static str,
        preamble: Option<&'static str>,
        parts: Vec<Part>,
        epilogue: Option<&'static str>,
        closed: bool,
    },
}

#[derive(Clone, Debug)]
struct Part {
    fields: Vec<&'static str>,
    separated: bool,
    node: Node,
}

fn any_of<T: Clone + std::fmt::Debug + 'static>(values: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(values)
}

fn mostly_true() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.9)
}

fn part(node: impl Strategy<Value = Node>) -> impl Strategy<Value = Part> {
    (
        prop::collection::vec(any_of(FIELDS), 0..4),
        prop::bool::weighted(0.97),
        node,
    )
        .prop_map(|(fields, separated, node)| Part {
            fields,
            separated,
            node,
        })
}

fn message() -> impl Strategy<Value = Part> {
    let leaf = (
        any_of(TYPES),
        any_of(ENCODINGS),
        prop::collection::vec(any_of(TRAPS), 0..12),
        prop::collection::vec(any::<u8>(), 1..24),
    )
        .prop_map(|(media_type, encoding, text, choices)| Node::Leaf {
            media_type,
            encoding,
            text,
            choices,
        });
    part(leaf).prop_recursive(4, 16, 4, |inner| {
        let multipart = (
            any_of(SUBTYPES),
            any_of(BOUNDARIES),
            prop::option::of(any_of(TRAPS)),
            prop::collection::vec(inner.clone(), 1..4),
            prop::option::of(any_of(TRAPS)),
            mostly_true(),
        )
            .prop_map(
                |(subtype, boundary, preamble, parts, epilogue, closed)| Node::Multipart {
                    subtype,
                    boundary,
                    preamble,
                    parts,
                    epilogue,
                    closed,
                },
            );
        let message = inner.prop_map(|inner| Node::Message {
            inner: Box::new(inner),
        });
        prop_oneof![3 => part(multipart), 1 => part(message)]
    })
}

/// The line ends of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LineEnds {
    Lf,
    CrLf,
    Mixed,
}

fn line_ends() -> impl Strategy<Value = LineEnds> {
    prop_oneof![
        4 => Just(LineEnds::Lf),
        4 => Just(LineEnds::CrLf),
        1 => Just(LineEnds::Mixed),
    ]
}

impl LineEnds {
    fn of(self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for (at, &byte) in bytes.iter().enumerate() {
            let crlf = self == Self::CrLf || (self == Self::Mixed && at % 3 == 0);
            if byte == b'\n' && crlf {
                out.push(b'\r');
            }
            out.push(byte);
        }
        out
    }
}

/// The encoded body of a leaf. `choices` determine the style of the encoder.
fn encoded(encoding: &str, content: &[u8], choices: &[u8]) -> Vec<u8> {
    let mut choices = choices.iter().copied().cycle();
    let mut choose = || choices.next().unwrap_or_default();
    match encoding {
        "base64" | "BASE64" => {
            let mut text = STANDARD.encode(content);
            let width = [76, 76, 76, 60, 4, 10, 1_000, 7][usize::from(choose() % 8)];
            if choose().is_multiple_of(5) {
                text.truncate(text.trim_end_matches('=').len());
            }
            let lines: Vec<&[u8]> = text.as_bytes().chunks(width).collect();
            let mut body = lines.join(&b'\n');
            body.extend_from_slice(
                [
                    &b"\n"[..],
                    b"\n",
                    b"",
                    b"\n\n",
                    b" \n",
                    b"\n-- \nlist",
                    b"=",
                    b"!",
                ][usize::from(choose() % 8)],
            );
            body
        }
        "quoted-printable" | "Quoted-Printable (x)" => {
            let (style, mut column) = (choose() % 4, 0);
            let mut body = Vec::new();
            for (at, &byte) in content.iter().enumerate() {
                let before_line_end = content.get(at + 1).is_none_or(|&next| next == b'\n');
                let must = (byte == b'=' && style != 3)
                    || byte >= 0x80
                    || (byte < b' ' && !b"\n\t".contains(&byte))
                    || (before_line_end && b" \t".contains(&byte) && style != 3);
                if byte == b'\n' && style != 1 {
                    body.push(byte);
                    column = 0;
                } else if must || style == 1 || choose() % 16 == 0 {
                    let hex = format!("={byte:02X}");
                    let hex = if choose() % 4 == 0 {
                        hex.to_ascii_lowercase()
                    } else {
                        hex
                    };
                    body.extend_from_slice(hex.as_bytes());
                    column += 3;
                } else {
                    body.push(byte);
                    column += 1;
                }
                let wide = column >= 73 && style != 2;
                if wide || choose().is_multiple_of(32) {
                    let soft = [&b"=\n"[..], b"=\n", b"= \n", b" =\n"];
                    body.extend_from_slice(soft[usize::from(choose() % 64).saturating_sub(60)]);
                    column = 0;
                }
            }
            body.extend_from_slice(
                [&b""[..], b"", b"\n", b"=", b"=\n", b" "][usize::from(choose() % 6)],
            );
            body
        }
        _ => content.to_vec(),
    }
}

impl Part {
    /// Writes the part with LF. Only the values of lengths and digests depend on `ends`.
    fn write(&self, ends: LineEnds) -> Vec<u8> {
        let mut heading = String::new();
        let mut content = Vec::new();
        let body = match &self.node {
            Node::Leaf {
                media_type,
                encoding,
                text,
                choices,
            } => {
                if !media_type.is_empty() {
                    heading = format!("{media_type}\n");
                }
                if !encoding.is_empty() {
                    heading.push_str(&format!("Content-Transfer-Encoding: {encoding}\n"));
                }
                let text = text.concat();
                let label = media_type
                    .split("charset=")
                    .nth(1)
                    .map(|label| label.trim_matches('"'));
                content = label
                    .and_then(Charset::for_label)
                    .and_then(|charset| charset.encode(&text))
                    .unwrap_or_else(|| text.into_bytes());
                encoded(encoding, &content, choices)
            }
            Node::Message { inner } => {
                heading.push_str("Content-Type: message/rfc822\n");
                inner.write(ends)
            }
            Node::Multipart {
                subtype,
                boundary,
                preamble,
                parts,
                epilogue,
                closed,
            } => {
                heading = format!("Content-Type: multipart/{subtype}; boundary=\"{boundary}\"\n");
                let mut body = preamble.map_or(Vec::new(), |text| format!("{text}\n").into_bytes());
                for part in parts {
                    body.extend_from_slice(format!("--{boundary}\n").as_bytes());
                    body.extend(part.write(ends));
                    body.push(b'\n');
                }
                if *closed {
                    body.extend_from_slice(format!("--{boundary}--").as_bytes());
                }
                body.extend(epilogue.map_or(Vec::new(), |text| format!("\n{text}").into_bytes()));
                body
            }
        };
        let lines = memchr::memchr_iter(b'\n', &body).count();
        let length = ends.of(&body).len();
        for field in &self.fields {
            let field = field
                .replace("{md5}", &content_md5(&with_crlf(&content)))
                .replace("{md5 as it stands}", &content_md5(&ends.of(&body)))
                .replace("{length}", &length.to_string())
                .replace("{lines}", &lines.to_string());
            // Some fields precede the type, others follow it.
            if field.len() % 2 == 0 {
                heading.insert_str(0, &format!("{field}\n"));
            } else {
                heading.push_str(&format!("{field}\n"));
            }
        }
        if self.separated {
            heading.push('\n');
        }
        [heading.into_bytes(), body].concat()
    }
}

// Options.

fn options() -> impl Strategy<Value = Options> {
    let base = prop::sample::select(vec![
        None,
        Some("http://a/b/c/d;p?q#f"),
        Some("http://a/x y/\"'<>`=/&amp;(,)"),
        Some("http://\u{e9}/\u{8868}/?q=a&b,"),
        Some("http://a"),
    ]);
    (base, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(base, is_label, keeps_dkim, text)| {
            let mut options = Options {
                format: Format::Message,
                content_location: if is_label {
                    ContentLocationUse::Label
                } else {
                    ContentLocationUse::Base
                },
                dkim: if keeps_dkim {
                    Dkim::Keep
                } else {
                    Dkim::Rewrite
                },
                ..base.map_or_else(Options::default, Options::at)
            };
            if text {
                options.scan.groups.insert(Group::Text);
            }
            options
        },
    )
}

/// A change of some bytes. Positions are in thousandths of the message.
#[derive(Clone, Debug)]
enum Damage {
    Flip(usize, u8),
    CutOff(usize),
    Repeat(usize, usize, usize),
    Remove(usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = || 0_usize..=1_000;
    prop_oneof![
        3 => (at(), prop_oneof![any::<u8>(), any_of(b"\n\r-=:<>\" ")]).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        1 => at().prop_map(Damage::CutOff),
        2 => (at(), 0_usize..60, at()).prop_map(|(from, length, to)| Damage::Repeat(from, length, to)),
        2 => (at(), 0_usize..20).prop_map(|(at, length)| Damage::Remove(at, length)),
    ]
}

fn damaged(mut bytes: Vec<u8>, damage: &[Damage]) -> Vec<u8> {
    for change in damage {
        let place = |at: usize| at * bytes.len() / 1_000;
        let span = |at: usize, length: usize| place(at)..(place(at) + length).min(bytes.len());
        match *change {
            Damage::Flip(at, byte) => {
                let at = place(at);
                if let Some(old) = bytes.get_mut(at) {
                    *old = byte;
                }
            }
            Damage::CutOff(at) => bytes.truncate(place(at)),
            Damage::Repeat(from, length, to) => {
                let (slice, to) = (bytes[span(from, length)].to_vec(), place(to));
                bytes.splice(to..to, slice);
            }
            Damage::Remove(at, length) => {
                let span = span(at, length);
                bytes.drain(span);
            }
        }
    }
    bytes
}

/// The links of a message with their outcomes, independent of line ends.
fn outcomes(bytes: &[u8], options: &Options) -> Vec<[Option<String>; 5]> {
    let plain = |text: &str| Some(text.replace('\r', ""));
    let links = rewrite(bytes, options).report.links;
    let rows = links.iter().map(|link| {
        [
            plain(&link.entity),
            plain(&link.element),
            plain(&link.reference),
            Some(format!("{:?}", link.outcome)),
            link.target.as_deref().and_then(plain),
        ]
    });
    rows.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 4_000 } else { 10_000 }))]

    #[test]
    fn messages_are_rewritten_exactly_and_once(message in message(), ends in line_ends(), options in options()) {
        hold(&ends.of(&message.write(ends)), &options);
    }

    #[test]
    fn damaged_messages_are_rewritten_safely(
        message in message(),
        ends in line_ends(),
        damage in prop::collection::vec(damage(), 1..5),
        options in options(),
    ) {
        hold(&damaged(ends.of(&message.write(ends)), &damage), &options);
    }

    /// Enabled groups also apply to headings.
    #[test]
    fn every_group_keeps_the_structure_of_a_message(
        message in message(),
        ends in line_ends(),
        damage in prop::collection::vec(damage(), 0..2),
        mut options in options(),
    ) {
        options.scan.groups = Groups::all();
        let bytes = damaged(ends.of(&message.write(ends)), &damage);
        let rewritten = rewrite(&bytes, &options);
        always(&bytes, &options, &rewritten, &rewritten.output());
    }

    #[test]
    fn policies_and_resolvers_keep_the_structure_of_a_message(
        message in message(),
        ends in line_ends(),
        mut options in options(),
        resolver in prop::sample::select(Resolver::ALL.to_vec()),
        fragments in any_of(&[Fragments::Rewrite, Fragments::Keep, Fragments::Auto]),
        base_element in any_of(&[BaseElement::Absolute, BaseElement::Keep]),
        groups in any::<bool>(),
    ) {
        if groups {
            options.scan.groups = Groups::all();
        }
        let fragments = Some(fragments);
        let options = Options { resolver, fragments, base_element, ..options };
        let bytes = ends.of(&message.write(ends));
        let rewritten = rewrite(&bytes, &options);
        always(&bytes, &options, &rewritten, &rewritten.output());
    }

    #[test]
    fn links_do_not_depend_on_line_ends(message in message(), mut options in options(), text in any::<bool>()) {
        if text {
            options.scan.groups = Groups::all();
        }
        let mut bytes = message.write(LineEnds::Lf);
        // A lone CR before LF would become half of a line end.
        bytes.retain(|&byte| byte != b'\r');
        // In unencoded UTF-16, the conversion would insert a CR into the middle of a character.
        let is_wide = |entity: &Entity| {
            let label = entity.media_type.parameter("charset").unwrap_or_default();
            label.starts_with("utf-16") && entity.transfer_encoding != TransferEncoding::Base64
        };
        if entities(&bytes).entities.iter().any(is_wide) {
            return Ok(());
        }
        let with_crlf = LineEnds::CrLf.of(&bytes);
        prop_assert_eq!(outcomes(&bytes, &options), outcomes(&with_crlf, &options), "{}", shown(&bytes));
    }
}

/// Fields that declare a base, labels (which are bases if they are absolute: RFC 2557, 4.2 and 5), and a field with a link.
const BASES: &[&str] = &[
    "Base: mailto:x",
    "Content-Base: http://cb/x/",
    "Content-Base: sub/",
    "Content-Location: http://cl/p/q.html",
    "Content-Location: i",
    "Content-Location: ../y",
    "Content-Location: #f",
    "Snapshot-Content-Location: http://snap/s/",
    "Snapshot-Content-Location: pt:x",
    "Snapshot-Content-Location: rel",
    "List-Help: <h>",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 4_000 } else { 10_000 }))]

    /// A label that becomes absolute must not become the base of links that stay relative, at any depth.
    #[test]
    fn nested_labels_are_rewritten_once(
        text in prop::collection::vec(any_of(&["<a href=x>", "<a href=#f>", "<base href=rel/>"]), 0..3),
        fields in prop::collection::vec(prop::collection::vec(any_of(BASES), 0..4), 2..6),
        are_multiparts in any::<u8>(),
        fragments in prop::option::of(any_of(&[Fragments::Rewrite, Fragments::Keep, Fragments::Auto])),
        mut options in options(),
    ) {
        let (media_type, encoding) = ("Content-Type: text/html", "");
        let leaf = Node::Leaf { media_type, encoding, text, choices: vec![0] };
        let levels = fields.into_iter().enumerate();
        let message = levels.fold(None, |inner: Option<Part>, (level, fields)| {
            let node = match inner {
                None => leaf.clone(),
                Some(inner) if are_multiparts >> level & 1 == 0 => Node::Message { inner: Box::new(inner) },
                Some(inner) => {
                    let boundary = ["b0", "b1", "b2", "b3", "b4", "b5"][level];
                    let (preamble, epilogue) = (None, None);
                    let (subtype, parts, closed) = ("related", vec![inner], true);
                    Node::Multipart { subtype, boundary, preamble, parts, epilogue, closed }
                }
            };
            Some(Part { fields, separated: true, node })
        });
        options.scan.groups = Groups::all();
        options.fragments = fragments;
        let bytes = message.unwrap().write(LineEnds::Lf);
        let rewritten = rewrite(&bytes, &options);
        always(&bytes, &options, &rewritten, &rewritten.output());
    }
}

/// Pieces with few or no relative links. Plain absolute links are counted without a report.
const ABSOLUTE: &[&str] = &[
    "<a href=http://a/b>",
    "<img src=\"cid:1@2\">",
    "<a href='mailto:m@n'>",
    "<p style=\"background:url(http://a/c)\">",
    "<style>\n@import 'http://f/';a{b:url(x:y)}\n</style>",
    "<img srcset=\"http://s/ 1x\">",
    "<a href=\" http://a\">",
    "<a href=http&#58;//a>",
    "<meta charset=windows-1252>",
    "<meta charset=utf-16>",
    "<iframe srcdoc=\"<a href=http://q/>\">",
    "<!--[if mso]><a href=http://mso/><![endif]-->",
    "<noscript><img src=http://n/></noscript>",
    "<svg><a href=http://s/></a></svg>",
    "<a href=x>",
    "<a href=#f>",
    "<a href=''>",
    "<a href=\"{{t}}\">",
    "<base href=http://be/1/>",
    "<base target=t>",
    "-----BEGIN PGP SIGNED MESSAGE-----\n",
    "text ",
    "\n",
    "=",
    "\u{e9}",
];

proptest! {
    #[test]
    fn absolute_links_are_counted_as_they_are_listed(
        text in prop::collection::vec(any_of(ABSOLUTE), 0..6),
        encoding in any_of(ENCODINGS),
        media_type in any_of(TYPES),
        fields in prop::collection::vec(any_of(FIELDS), 0..4),
        choices in prop::collection::vec(any::<u8>(), 1..24),
        ends in line_ends(),
        options in options(),
    ) {
        let node = Node::Leaf { media_type, encoding, text, choices };
        let bytes = ends.of(&Part { fields, separated: true, node }.write(ends));
        check_that_sinks_agree(&rewrite(&bytes, &options), &options);
        let keeping = Options { base_element: BaseElement::Keep, ..options.clone() };
        check_that_sinks_agree(&rewrite(&bytes, &keeping), &keeping);
        let options = Options { resolver: Resolver::Whatwg, ..options };
        check_that_sinks_agree(&rewrite(&bytes, &options), &options);
    }
}
