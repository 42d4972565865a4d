//! Makes the links of a feed absolute, from standard input to standard output, and prints their number to standard
//! error.
//!
//! ```text
//! curl -s https://example.org/feed.xml | cargo run --example feed -- https://example.org/feed.xml > absolute.xml
//! ```
//!
//! Deliberately absent: the network. After a redirect, pass the last URL.

use std::env;
use std::error::Error;
use std::io;

use baselink::{Format, Outcome, Rewriter};

fn main() -> Result<(), Box<dyn Error>> {
    let url = env::args().nth(1).ok_or("usage: feed URL < FEED")?;
    // A feed that begins with a comment looks like HTML, so the format is given.
    let rewriter = Rewriter::builder().url(url).format(Format::Xml).build()?;
    let totals = rewriter.rewrite_to(io::stdin().lock(), io::stdout().lock())?;
    eprintln!(
        "{} of {} links rewritten",
        totals.count(Outcome::Rewritten),
        totals.links()
    );
    Ok(())
}
