//! Speed of single parts, compared with other libraries for the same jobs.
//!
//! ```text
//! cargo bench --bench parts                  all parts
//! cargo bench --bench parts -- css           parts with this text in their name
//! ```
//!
//! Deliberately absent: the time of whole commands. `cargo bench --bench compare` measures it.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "compare/sets.rs"]
#[allow(dead_code, reason = "only some of the sets are wanted here")]
mod sets;

use baselink_rewrite::Options;
use baselink_rewrite::container::mbox::Messages;
use baselink_scan::attributes::Groups;
use baselink_scan::{ScanOptions, Scanner, css, value};
use baselink_text::layer::charset::Charset;
use baselink_text::layer::transfer::TransferEncoding;
use baselink_text::span::Span;
use baselink_url::{Base, Resolver};
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};

const URL: &str = "http://example.org/docs/guide/page.html";

/// The size of each input in bytes.
const SIZE: usize = 300_000;

fn main() {
    divan::main();
}

fn scan_with(bencher: Bencher, scanner: Scanner) {
    let page = sets::dense(SIZE);
    let options = ScanOptions {
        scanner,
        ..ScanOptions::default()
    };
    bencher
        .counter(BytesCount::new(page.len()))
        .bench(|| baselink_scan::scan(black_box(&page), &options));
}

#[divan::bench]
fn html_fast(bencher: Bencher) {
    scan_with(bencher, Scanner::Fast);
}

#[divan::bench]
fn html_exact(bencher: Bencher) {
    scan_with(bencher, Scanner::Exact);
}

#[divan::bench]
fn rewrite(bencher: Bencher) {
    let (page, options) = (sets::dense(SIZE), Options::at(URL));
    bencher.counter(BytesCount::new(page.len())).bench(|| {
        baselink_rewrite::rewrite(black_box(&page), &options)
            .edits
            .len()
    });
}

#[divan::bench]
fn edits_written(bencher: Bencher) {
    let (page, options) = (sets::dense(SIZE), Options::at(URL));
    let mut out = Vec::new();
    bencher
        .counter(BytesCount::new(page.len()))
        .bench_local(|| {
            out.clear();
            let (edits, totals) = baselink_rewrite::edits(black_box(&page), &options);
            edits.write_to(&page, &mut out).unwrap();
            totals
        });
}

/// References of many kinds, all of which have a target.
const REFERENCES: [&str; 8] = [
    "chapter4.html",
    "../api/module7/class12.html#method3",
    "/img/logo.png",
    "?page=2",
    "#top",
    "//example.com/x.js",
    "a/b/c/d/e.html?x=1&y=2",
    "./index.html",
];

#[divan::bench]
fn resolve_splice(bencher: Bencher) {
    let base = Base::new(Resolver::Rfc1808, URL);
    bencher
        .counter(ItemsCount::new(REFERENCES.len()))
        .bench(|| {
            REFERENCES
                .iter()
                .filter_map(|reference| base.splice(black_box(reference).as_bytes()))
                .count()
        });
}

#[divan::bench]
fn resolve_by_url_join(bencher: Bencher) {
    let base = url::Url::parse(URL).unwrap();
    bencher
        .counter(ItemsCount::new(REFERENCES.len()))
        .bench(|| {
            REFERENCES
                .iter()
                .filter_map(|reference| base.join(black_box(reference)).ok())
                .count()
        });
}

fn css_urls(bencher: Bencher, rule: &str) {
    let sheet = rule.repeat(SIZE / rule.len());
    bencher
        .counter(BytesCount::new(sheet.len()))
        .bench(|| css::urls(black_box(&sheet), Groups::default()).len());
}

#[divan::bench]
fn css_plain(bencher: Bencher) {
    css_urls(
        bencher,
        ".item > a:hover { color: #333; background: url(\"../img/a.png\") no-repeat }\n",
    );
}

#[divan::bench]
fn css_by_tokens(bencher: Bencher) {
    css_urls(
        bencher,
        ".item > a:hover { color: #333; background: image-set(\"../img/a.png\" 1x) }\n",
    );
}

#[divan::bench]
fn srcset(bencher: Bencher) {
    let value = "img/1.jpg 1x, img/1@2x.jpg 2x, ".repeat(SIZE / 31);
    bencher
        .counter(BytesCount::new(value.len()))
        .bench(|| value::srcset(black_box(&value)).len());
}

#[divan::bench(args = ["utf-8", "windows-1252", "gbk", "utf-16le"])]
fn decode(bencher: Bencher, label: &str) {
    let charset = Charset::for_label(label).unwrap();
    let text = "some text in ASCII, and then \u{e9}; ".repeat(SIZE / 33);
    let bytes = charset.encode(&text).unwrap();
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench(|| charset.decode(black_box(&bytes), 0).text.len());
}

#[divan::bench(args = ["quoted-printable", "base64"])]
fn transfer(bencher: Bencher, name: &str) {
    let line = match name {
        "base64" => "PGEgaHJlZj0iLi4veC5odG1sIj5ub3RoaW5nIGVsc2U8L2E+IGFuZCBvbiBpdCBnb2Vz\r\n",
        _ => "<a href=3D\"../x.html\">nothing else</a> and on it goes, to a soft break=\r\n",
    };
    let body = line.repeat(SIZE / line.len());
    let encoding = TransferEncoding::from_field(name.as_bytes());
    let span = Span::new(0, body.len());
    bencher
        .counter(BytesCount::new(body.len()))
        .bench(|| encoding.decode(black_box(body.as_bytes()), span).is_ok());
}

/// A message of three parts.
fn mail() -> String {
    let text = "A line of text that is neither short nor long, as people write them.\n";
    let part = text.repeat(SIZE / 3 / text.len());
    format!(
        "From: a@b.example\nContent-Type: multipart/mixed; boundary=\"x\"\n\n--x\n\n{part}--x\n\
         Content-Type: text/html\n\n{part}--x\nContent-Type: image/png\n\n{part}--x--\n"
    )
}

#[divan::bench]
fn entities(bencher: Bencher) {
    let mail = mail();
    bencher
        .counter(BytesCount::new(mail.len()))
        .bench(|| baselink_rewrite::container::mime::entities(black_box(mail.as_bytes())));
}

#[divan::bench]
fn mailbox(bencher: Bencher) {
    let mailbox = format!("From a@b.example Sat Nov 21 00:00:00 2026\n{}\n", mail()).repeat(4);
    bencher.counter(BytesCount::new(mailbox.len())).bench(|| {
        let mut reader = Messages::new(black_box(mailbox.as_bytes()));
        let mut count = 0;
        while let Ok(Some(_)) = reader.next_message() {
            count += 1;
        }
        count
    });
}
