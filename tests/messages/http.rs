//! Laws of HTTP responses: a rewritten response is complete and keeps its meaning, only URLs change, and any bytes can be
//! read as a response.
//!
//! ```text
//! body with gzip and chunked, or false fields about them  -->  body without codings, right Content-Length
//! ```
//!
//! Deliberately absent: single cases, which are in `fixtures/http`.

use std::io::Write as _;

use baselink::{Outcome, Reason};
use baselink_rewrite::container::http::response;
use baselink_rewrite::{Options, edits, rewrite};
use baselink_text::diagnostic::Code;
use baselink_text::format::Format;
use baselink_verify::verify;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use proptest::prelude::*;

fn options() -> Options {
    Options {
        format: Format::Http,
        ..Options::at("http://h.example/a/b.html")
    }
}

/// The parts of a generated response, whose heading may be wrong about the body.
#[derive(Clone, Debug)]
struct Parts {
    page: String,
    /// The codings of the body, outermost last.
    codings: Vec<&'static str>,
    /// The value of `Content-Encoding`.
    content: Vec<&'static str>,
    /// The value of `Transfer-Encoding`.
    transfer: Vec<&'static str>,
    /// The error in `Content-Length`, if the field is present.
    length_error: Option<i8>,
    other_fields: Vec<&'static str>,
    is_truncated: bool,
}

const PIECES: [&str; 8] = [
    "<a href=../x>",
    "<img src='y.png'>",
    "<p>text\r\n",
    "<a href=\"http://z.example/\">",
    "5\r\nabcde\r\n0\r\n\r\n",
    "<base href=/q/>",
    "\u{1f8b}",
    "HTTP/1.1 200 OK\r\n\r\n",
];

fn parts() -> impl Strategy<Value = Parts> {
    let codings = || prop::collection::vec(prop::sample::select(vec!["gzip", "deflate"]), 0..3);
    let others = vec![
        "ETag: \"a\"",
        "Digest: x",
        "Content-Range: bytes 0-1/2",
        "X: y",
        "no field",
    ];
    (
        prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..8),
        codings(),
        prop::option::weighted(0.2, codings()),
        any::<bool>(),
        prop::bool::weighted(0.2),
        prop::option::of(prop::sample::select(vec![0_i8, 0, 0, -1, 3])),
        prop::collection::vec(prop::sample::select(others), 0..3),
        prop::bool::weighted(0.1),
    )
        .prop_map(
            |(
                pieces,
                applied,
                declared,
                is_chunked,
                is_misdeclared,
                length_error,
                other_fields,
                is_truncated,
            )| {
                let content = declared.unwrap_or_else(|| applied.clone());
                let mut codings = applied;
                codings.extend(is_chunked.then_some("chunked"));
                let transfer = if is_chunked != is_misdeclared {
                    vec!["chunked"]
                } else {
                    Vec::new()
                };
                let page = pieces.concat();
                Parts {
                    page,
                    codings,
                    content,
                    transfer,
                    length_error,
                    other_fields,
                    is_truncated,
                }
            },
        )
}

impl Parts {
    fn bytes(&self) -> Vec<u8> {
        let mut body = self.page.clone().into_bytes();
        for coding in &self.codings {
            body = match *coding {
                "gzip" => {
                    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                    encoder.write_all(&body).unwrap();
                    encoder.finish().unwrap()
                }
                "deflate" => {
                    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
                    encoder.write_all(&body).unwrap();
                    encoder.finish().unwrap()
                }
                _ => {
                    let mut chunks = Vec::new();
                    for chunk in body.chunks(7) {
                        write!(chunks, "{:X}\r\n", chunk.len()).unwrap();
                        chunks.extend_from_slice(chunk);
                        chunks.extend_from_slice(b"\r\n");
                    }
                    chunks.extend_from_slice(b"0\r\n\r\n");
                    chunks
                }
            };
        }
        if self.is_truncated {
            body.truncate(body.len() / 2);
        }
        let mut fields = vec!["Content-Type: text/html; charset=utf-8".to_owned()];
        let list = |names: &[&str]| names.join(", ");
        fields.extend(
            (!self.content.is_empty())
                .then(|| format!("Content-Encoding: {}", list(&self.content))),
        );
        fields.extend(
            (!self.transfer.is_empty())
                .then(|| format!("Transfer-Encoding: {}", list(&self.transfer))),
        );
        fields.extend(self.length_error.map(|error| {
            format!(
                "Content-Length: {}",
                body.len().saturating_add_signed(error.into())
            )
        }));
        fields.extend(self.other_fields.iter().map(|&field| field.to_owned()));
        let mut bytes = format!("HTTP/1.1 200 OK\r\n{}\r\n\r\n", fields.join("\r\n")).into_bytes();
        bytes.extend_from_slice(&body);
        bytes
    }
}

/// Bug 200: if the last line of a heading was not a field, the heading had no end and its body was kept. Browsers ignore
/// such a line. Without any empty line, the body stays.
#[test]
fn only_an_empty_line_ends_a_heading() {
    let lines = [
        "Power by: x",
        "no colon",
        ": x",
        "N\u{e4}me: x",
        "<!-- x -->",
        "HTTP/1.1 200 OK",
        "--x",
        "-->",
        "\0",
    ];
    for line in lines {
        for end in ["\n", "\r\n", "\r\r\n"] {
            let with = |before: &str, link: &str| {
                let lines = [
                    "HTTP/1.1 200 OK",
                    "Content-Type: text/html",
                    line,
                    before,
                    link,
                ];
                lines.join(end).into_bytes()
            };
            let response = with("", "<a href=x>");
            let rewritten = rewrite(&response, &options());
            assert_eq!(
                rewritten.output(),
                with("", "<a href=http://h.example/a/x>"),
                "{line:?}"
            );
            let codes: Vec<_> = rewritten
                .report
                .diagnostics
                .iter()
                .map(|one| one.code)
                .collect();
            assert_eq!(codes, [Code::FieldMalformed], "{line:?}");
            let undivided = with("<!-- y -->", "<a href=x>");
            assert_eq!(
                rewrite(&undivided, &options()).output(),
                undivided,
                "{line:?}"
            );
        }
    }
}

/// The decoded body of a response, and true if the body has codings.
fn body(bytes: &[u8]) -> (Option<Vec<u8>>, bool) {
    let structure = response(bytes, &"".into());
    let entity = &structure.entities[0];
    let decoded = entity.transfer_encoding.decode(bytes, entity.body);
    (
        decoded.ok().map(|body| body.bytes.into_owned()),
        !entity.transfer_encoding.is_identity(),
    )
}

fn check_laws(bytes: &[u8]) -> Result<(), TestCaseError> {
    let options = options();
    let rewritten = rewrite(bytes, &options);
    let output = rewritten.output();
    // Without a base, nothing changes.
    let without = Options {
        retrieval: None,
        ..options.clone()
    };
    if rewrite(bytes, &without).report.entities[0]
        .chain
        .base
        .is_none()
    {
        prop_assert_eq!(rewrite(bytes, &without).output(), bytes);
    }
    prop_assert_eq!(verify(&rewritten), Ok(()), "{}", output.escape_ascii());
    let again = rewrite(&output, &options);
    prop_assert!(again.edits.is_empty(), "{}", output.escape_ascii());
    // All functions report the same.
    let (edits, totals) = edits(bytes, &options);
    prop_assert_eq!(&edits.apply(bytes), &output);
    let (report, second) = (&rewritten.report, rewrite(bytes, &options).report);
    prop_assert_eq!(totals.links(), report.links.len());
    let mut listed = Vec::new();
    let listing = baselink_rewrite::links(bytes, &options, &mut |found| {
        listed.push(found.link);
    });
    prop_assert_eq!(
        Outcome::ALL.map(|outcome| listing.count(outcome)),
        Outcome::ALL.map(|outcome| totals.count(outcome))
    );
    prop_assert_eq!(&listed, &report.links);
    prop_assert_eq!(&second.links, &report.links);
    prop_assert_eq!(second.entities.len(), report.entities.len());
    // The body changes in the same way as the page alone.
    if report.entities[0].format == Format::Html
        && let (Some(old), Some(new)) = (body(bytes).0, body(&output).0)
    {
        let has_reason = |reason| report.links.iter().any(|link| link.reason == Some(reason));
        let page = Options {
            format: Format::Html,
            ..options.clone()
        };
        let page = Options {
            scan: baselink_scan::ScanOptions {
                charset: baselink_text::layer::charset::Charset::for_label("utf-8"),
                ..page.scan.clone()
            },
            ..page
        };
        // Such as a body that is declared as chunked, has no chunks, and begins with a zero byte.
        let mut codes = report.diagnostics.iter().map(|one| one.code);
        let is_unread = codes.any(|code| code == Code::TransferUndecodable);
        let is_kept = is_unread || has_reason(Reason::Transfer) || has_reason(Reason::Doubt);
        let expected = match is_kept {
            true => old.clone(),
            false => rewrite(&old, &page).output(),
        };
        prop_assert_eq!(&new, &expected);
        if old != new {
            prop_assert!(!body(&output).1, "{}", output.escape_ascii());
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_rewritten_response_keeps_its_meaning(parts in parts()) {
        check_laws(&parts.bytes())?;
    }

    #[test]
    fn any_bytes_can_be_read_as_a_response(
        start in prop::sample::select(vec!["", "HTTP/1.1 200 OK\r\n", "HTTP/2 301 \nLocation: x\n", "HTTP"]),
        pieces in prop::collection::vec(prop::sample::select(vec![
            "\r\n", "\n", "Content-Type: text/html\r\n", "Content-Length: 5\r\n", "Content-Length: -1\n",
            "Content-Length: 99999999999999999999\n", "Transfer-Encoding: chunked\r\n",
            "Content-Encoding: br\n", "Content-Encoding: foo, gzip\n", "Power by: x\r\n", "Content-Encoding: gzip, zstd, gzip, br, br\n", "HTTP/1.1 200 OK\r\n",
            "<a href=x>", "0\r\n\r\n", "ffffffffffffffff\r\n", " folded\r\n", "\u{0}", "Content-Type: text/css\n",
        ]), 0..12),
    ) {
        let bytes = [start.as_bytes(), pieces.concat().as_bytes()].concat();
        check_laws(&bytes)?;
    }
}

/// The links of a long response are listed while it is read, with the outcomes that they have at its end: absolute links
/// may make it too long.
#[test]
fn links_of_a_long_response_are_listed_with_their_last_outcome() {
    let page = "<a href=x><a href=&#120;>\n".repeat(4_000);
    let response = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
    for (folder, outcome) in [(1, Outcome::Rewritten), (400, Outcome::NotEditable)] {
        let base = format!("http://h.example/{}/", "a".repeat(folder));
        let options = Options {
            format: Format::Http,
            ..Options::at(&base)
        };
        let (edits, totals) = edits(response.as_bytes(), &options);
        assert_eq!(edits.is_empty(), outcome == Outcome::NotEditable);
        let mut rows = Vec::new();
        let listing = baselink_rewrite::links(response.as_bytes(), &options, &mut |found| {
            rows.push((found.line, found.column, found.link.outcome));
        });
        assert_eq!(rows[7_999], (4_003, 19, outcome));
        assert!(rows.iter().all(|(.., one)| *one == outcome));
        assert_eq!(
            (listing.count(outcome), totals.count(outcome)),
            (8_000, 8_000)
        );
        assert_eq!(listing.diagnostics, totals.diagnostics);
    }
}
