//! Rewrites a file into another. A mailbox is read message by message.
//!
//! ```text
//! cargo run --example stream -- http://example.org/archive/ big.html absolute.html
//! ```
//!
//! Deliberately absent: a safe replacement of the output. The module `files::write` has it.

use std::env;
use std::error::Error;
use std::fs::File;

use baselink::{Outcome, Rewriter};

fn main() -> Result<(), Box<dyn Error>> {
    let paths = (env::args_os().nth(2), env::args_os().nth(3));
    let (Some(url), (Some(from), Some(to))) = (env::args().nth(1), paths) else {
        return Err("usage: stream URL FROM TO".into());
    };
    let rewriter = Rewriter::builder().url(url).build()?;
    let totals = rewriter.rewrite_to(File::open(from)?, File::create(to)?)?;
    println!("{} of {} links rewritten", totals.count(Outcome::Rewritten), totals.links());
    Ok(())
}
