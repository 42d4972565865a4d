//! The mailboxes to measure with: real messages if they exist, otherwise generated ones.
//!
//! Deliberately absent: formats of mailboxes other than mbox.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baselink_rewrite::container::mbox::Messages;
use baselink_text::layer::transfer::TransferEncoding;

const BUFFER: usize = 1 << 20;

/// Messages to measure, with a description of the set.
pub(crate) fn messages() -> (&'static str, Vec<Vec<u8>>) {
    let corpus = messages_of_the_corpus();
    match corpus.is_empty() {
        true => ("generated messages", generated_messages()),
        false => ("messages of ../shared/corpus/mail", corpus),
    }
}

/// Writes `messages` one after the other, repeatedly, until the mailbox has `size` bytes. Returns the number of
/// bytes.
pub(crate) fn write_mailbox(path: &Path, messages: &[Vec<u8>], size: u64) -> u64 {
    let mut file = BufWriter::with_capacity(BUFFER, File::create(path).unwrap());
    let mut written = 0;
    for message in messages.iter().cycle() {
        if written >= size {
            break;
        }
        let end: &[u8] = if message.ends_with(b"\n") {
            b"\n"
        } else {
            b"\n\n"
        };
        for piece in [
            b"From a@b Thu Jan  1 00:00:00 1970\n".as_slice(),
            message,
            end,
        ] {
            file.write_all(piece).unwrap();
            written += piece.len() as u64;
        }
    }
    file.into_inner().unwrap().sync_all().unwrap();
    written
}

/// Makes links of `messages` relative, because most links of real mail are absolute and need no work. In HTML without
/// base64, absolute references become network-path references (RFC 1808, 2.2). If the HTML is not in quoted-printable
/// either, some more links are added before and after it.
pub(crate) fn made_relative(messages: &[Vec<u8>]) -> Vec<Vec<u8>> {
    messages
        .iter()
        .map(|message| made_relative_one(message))
        .collect()
}

const MORE: &[u8] = b"<p class=a>x &amp; y<a href=\"../p?q&amp;r\">z</a> <img src='i.png' srcset=\"l 1x, m 2x\"> \
    <img src=j>\n<b style=\"background: url(k)\">b</b> <!--[if mso]><img src=\"n.png\"><![endif]-->\n";

fn made_relative_one(message: &[u8]) -> Vec<u8> {
    let mut relative = Vec::with_capacity(message.len() + 2 * MORE.len());
    let mut copied = 0;
    for entity in baselink_rewrite::container::mime::entities(message).entities {
        let is_html = entity.media_type.essence == "text/html";
        let encoding = entity.transfer_encoding;
        if !is_html || !(encoding.is_identity() || encoding == TransferEncoding::QuotedPrintable) {
            continue;
        }
        let more = if encoding.is_identity() { MORE } else { b"" };
        relative.extend_from_slice(&message[copied..entity.body.start]);
        relative.extend_from_slice(more);
        let body = &message[entity.body.range()];
        let mut at = 0;
        for scheme in memchr::memmem::find_iter(body, b"://") {
            let before = body[at..scheme].to_ascii_lowercase();
            let length = ["https", "http"]
                .iter()
                .find(|name| before.ends_with(name.as_bytes()));
            let Some(length) = length.map(|name| name.len()) else {
                continue;
            };
            let start = scheme - length;
            if start > at && matches!(body[start - 1], b'"' | b'\'' | b'=' | b'(') {
                relative.extend_from_slice(&body[at..start]);
                at = scheme + 1;
            }
        }
        relative.extend_from_slice(&body[at..]);
        relative.extend_from_slice(more);
        copied = entity.body.end;
    }
    relative.extend_from_slice(&message[copied..]);
    relative
}

fn messages_of_the_corpus() -> Vec<Vec<u8>> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/mail")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path)
            } else {
                files.push(path)
            }
        }
    }
    files.sort();
    let mut found = Vec::new();
    for path in files {
        let bytes = std::fs::read(path).unwrap();
        let mut messages = Messages::new(bytes.as_slice());
        while let Some(message) = messages.next_message().unwrap() {
            found.push(message.bytes[message.message.range()].to_vec());
        }
    }
    found
}

/// Messages of 2 to 400 KB, each with a text, a page with relative links and a file. Three quarters of the pages are
/// in quoted-printable, the others in base64.
fn generated_messages() -> Vec<Vec<u8>> {
    (0..64_usize)
        .map(|number| {
            let mut page = "<html><body>\n".to_owned();
            for row in 0..=number % 13 * 20 {
                let _ = writeln!(
                    page,
                    "<p class=\"row\">Item {row} of {number}: <a href=\"/shop/item.php?id={row}&amp;\
                     from={number}\">see</a> <img src='img/{row}.png' width=\"80\" alt=\"\"></p>"
                );
            }
            page.push_str("</body></html>\n");
            let (encoding, body) = match number % 4 {
                0 => ("base64", in_base64(page.as_bytes())),
                _ => ("quoted-printable", in_quoted_printable(&page)),
            };
            let file: Vec<u8> = (0..number % 7 * 40_000).map(|at| (at * at % 251) as u8).collect();
            format!(
                "From: a@example.org\nTo: b@example.org\nSubject: message {number}\n\
                 MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=outer\n\n\
                 --outer\nContent-Type: multipart/alternative; boundary=inner\n\n\
                 --inner\nContent-Type: text/plain\n\nMessage {number}, see the page.\n\
                 --inner\nContent-Type: text/html; charset=utf-8\n\
                 Content-Transfer-Encoding: {encoding}\n\n{body}\n--inner--\n\
                 --outer\nContent-Type: application/octet-stream\n\
                 Content-Transfer-Encoding: base64\n\n{}\n--outer--\n",
                in_base64(&file)
            )
            .into_bytes()
        })
        .collect()
}

fn in_base64(bytes: &[u8]) -> String {
    let lines = bytes.chunks(57).map(|line| STANDARD.encode(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// The quoted-printable form (RFC 2045, 6.7) of ASCII text whose lines do not end in white space.
fn in_quoted_printable(text: &str) -> String {
    let mut encoded = String::new();
    for line in text.lines() {
        let mut width = 0;
        for character in line.chars() {
            let length = if character == '=' { 3 } else { 1 };
            if width + length > 75 {
                encoded.push_str("=\n");
                width = 0;
            }
            width += length;
            match character {
                '=' => encoded.push_str("=3D"),
                character => encoded.push(character),
            }
        }
        encoded.push('\n');
    }
    encoded
}
