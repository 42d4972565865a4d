//! The growth of the time for hostile documents with their size. Linear time doubles when the size does.
//!
//! Deliberately absent: checks of the output, which are in `tests/html/hostile.rs`.

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use baselink_rewrite::{Options, rewrite};
use baselink_scan::Scanner;
use baselink_text::format::Format;

use super::jobs::rewrite_into;

use crate::Asked;
use crate::URL;
use crate::table::{self, Table};
use crate::tools::options;

/// The minimum time for repeated rewrites of one document, because the system clock ticks only every few
/// milliseconds.
const SHORTEST: Duration = Duration::from_millis(60);

/// The processor time of this thread, on Linux only. It excludes other load on the machine.
fn processor_time() -> Option<Duration> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(times.split(' ').next()?.parse().ok()?))
}

/// A function that makes a document of about this size in bytes.
type Shape = fn(usize) -> Vec<u8>;

/// Shapes of HTML that could make a scanner slow.
const PAGES: [(&str, Shape); 16] = [
    ("unclosed quotes", |size| repeat("", "<a href=\"", size)),
    ("one unclosed quote", |size| {
        repeat("<a href=\"", "x> ", size)
    }),
    ("< only", |size| repeat("", "<", size)),
    ("attributes of one tag", |size| {
        let mut page = b"<a ".to_vec();
        for number in 0..size / 9 {
            page.extend_from_slice(format!("a{number:05}=b ").as_bytes());
        }
        page.push(b'>');
        page
    }),
    ("../ in one reference", |size| {
        [&repeat("<a href=\"", "../", size)[..], b"\">"].concat()
    }),
    ("nested svg", |size| repeat("", "<svg><g>", size)),
    ("nested div", |size| repeat("", "<div>", size)),
    ("many <base>", |size| repeat("", "<base href=x>", size)),
    ("a comment that never ends", |size| {
        repeat("<!--", " --", size)
    }),
    ("comments that never begin", |size| repeat("", "<!- ", size)),
    ("</scrip", |size| repeat("<script>", "</scrip", size)),
    ("<!--<script", |size| {
        repeat("<script>", "<!--<script ", size)
    }),
    ("character references", |size| {
        repeat("<a href=\"", "&amp", size)
    }),
    ("candidates of a srcset", |size| {
        repeat("<img srcset=\"", "a (,", size)
    }),
    ("url( in a style sheet", |size| {
        repeat("<style>", "a{b:url(", size)
    }),
    ("formatting elements", |size| repeat("", "<b><i><p>", size)),
];

/// Shapes of messages that could make the walk over entities slow.
const MESSAGES: [(&str, Shape); 5] = [
    ("deep multiparts", |size| {
        let mut message = String::new();
        let mut number = 0;
        while message.len() < size {
            message.push_str(&format!(
                "Content-Type: multipart/mixed; boundary=b{number}\n\n--b{number}\n"
            ));
            number += 1;
        }
        message.into_bytes()
    }),
    ("soft breaks only", |size| {
        let head =
            "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<a href=3D\"x";
        repeat(head, "=\n", size)
    }),
    ("a link over soft breaks", |size| {
        let head = "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n";
        repeat(head, "<a href=3D\"x=\n\">=\n", size)
    }),
    ("boundary lines", |size| {
        repeat(
            "Content-Type: multipart/mixed; boundary=b\n\n",
            "--b\n\n",
            size,
        )
    }),
    ("header fields", |size| {
        repeat("Content-Type: text/html\n", "Base: x\n", size)
    }),
];

fn repeat(before: &str, shape: &str, size: usize) -> Vec<u8> {
    [before, &shape.repeat(size / shape.len())]
        .concat()
        .into_bytes()
}

/// Rewrites a document. Only some ways write the output to `out`.
type Way = fn(document: &[u8], &Options, out: &mut Vec<u8>) -> usize;

/// Rewriting without a report, with a report, and with a report and html5ever as the scanner.
const WAYS: [(Scanner, Way); 3] = [
    (Scanner::Fast, |document, options, out| {
        out.clear();
        rewrite_into(document, options, out).links()
    }),
    (Scanner::Fast, |document, options, _| {
        rewrite(document, options).edits.len()
    }),
    (Scanner::Exact, |document, options, _| {
        rewrite(document, options).edits.len()
    }),
];

/// Prints the table of all shapes from a process whose allocator keeps its memory. By default, glibc returns larger
/// blocks to the system, so above some size each pass pays for the memory again. That would add a step to the time
/// that has nothing to do with the document.
pub(crate) fn in_kept_memory(asked: &Asked) {
    const KEPT: &str = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=8589934592";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([WORD, &asked.rounds.to_string(), &asked.hostile.to_string()]);
    let status = command.env("GLIBC_TUNABLES", KEPT).status().unwrap();
    assert!(
        status.success(),
        "the process with the hostile documents ended: {status}"
    );
}

/// The first argument of the process that measures growth.
pub(crate) const WORD: &str = "--growth";

/// Prints the table of all shapes: milliseconds for documents of `n` bytes, and the factors from n to 2n and from 2n
/// to 4n, each from the best of several rounds.
pub(crate) fn growth(rounds: usize, n: usize) {
    println!(
        "\nhostile documents of {}, then 2 and 4 times as much",
        table::megabytes(n as u64)
    );
    let columns = [
        "short ms",
        "2n",
        "4n",
        "report ms",
        "2n",
        "4n",
        "exact ms",
        "2n",
        "4n",
    ];
    let mut rows = Table::new(&columns);
    let mut largest: f64 = 0.0;
    for (title, shape) in PAGES {
        rows.row(title, &row((rounds, n), shape, Format::Html, &mut largest));
    }
    for (title, shape) in MESSAGES {
        rows.row(
            title,
            &row((rounds, n), shape, Format::Message, &mut largest),
        );
    }
    rows.print();
    println!(
        "  the largest factor: {}; wanted: less than 2.3",
        table::ratio(largest)
    );
}

fn row(
    (rounds, n): (usize, usize),
    shape: Shape,
    format: Format,
    largest: &mut f64,
) -> Vec<String> {
    let documents = [1, 2, 4].map(|times| shape(times * n));
    let mut cells = Vec::new();
    let mut out = Vec::new();
    for (scanner, way) in WAYS {
        let options = Options {
            format,
            ..options(scanner, URL)
        };
        let mut best = [f64::INFINITY; 3];
        for _ in 0..rounds {
            for (document, best) in documents.iter().zip(&mut best) {
                let (started, before) = (Instant::now(), processor_time());
                let mut passes = 0_u32;
                while passes == 0 || started.elapsed() < SHORTEST {
                    black_box(way(document, &options, &mut out));
                    passes += 1;
                }
                let taken = match (before, processor_time()) {
                    (Some(before), Some(after)) => after - before,
                    _ => started.elapsed(),
                };
                *best = best.min(taken.as_secs_f64() / f64::from(passes));
            }
        }
        // Disturbances only make a run longer, and a quotient of disturbed runs says nothing.
        let [one, two, four] = best;
        *largest = largest.max(two / one).max(four / two);
        cells.extend([
            table::number(one * 1e3),
            table::ratio(two / one),
            table::ratio(four / two),
        ]);
    }
    cells
}
