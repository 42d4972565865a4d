//! The time that the Rust library takes for the jobs of `python.py`, which starts this program and requests each round.
//!
//! ```text
//! rust URL FILE...    for each line "rewrite" or "links" on standard input, prints a line with nanoseconds
//! ```
//!
//! Deliberately absent: the time to read files.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::hint::black_box;
use std::io::BufRead as _;
use std::ops::ControlFlow;
use std::time::Instant;

use baselink::Rewriter;

fn main() {
    // Cargo adds `--bench`.
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    let Some(url) = arguments.next() else { return };
    let pages: Vec<_> = arguments.map(|path| std::fs::read(path).unwrap()).collect();
    let rewriter = Rewriter::builder().url(url).build().unwrap();
    for job in std::io::stdin().lock().lines() {
        let start = Instant::now();
        for page in &pages {
            match job.as_deref() {
                Ok("rewrite") => {
                    let mut output = Vec::with_capacity(page.len() + page.len() / 8);
                    let (edits, _) = rewriter.edits(page);
                    edits.write_to(page, &mut output).unwrap();
                    black_box(output);
                }
                Ok("links") => {
                    let mut found = Vec::new();
                    rewriter.links(page, |link| {
                        found.push(link);
                        ControlFlow::Continue(())
                    });
                    black_box(found);
                }
                other => panic!("no job: {other:?}"),
            }
        }
        println!("{}", start.elapsed().as_nanos());
    }
}
