//! Lists the links of a file: its place, what became of it, the reference as written, and its target.
//!
//! ```text
//! cargo run --example links -- http://example.org/docs/page.html page.html
//! ```
//!
//! Deliberately absent: folders, and several files.

use std::error::Error;
use std::{env, fs};

use baselink::Rewriter;

fn main() -> Result<(), Box<dyn Error>> {
    let (Some(url), Some(file)) = (env::args().nth(1), env::args_os().nth(2)) else {
        return Err("usage: links URL FILE".into());
    };
    let rewriter = Rewriter::builder().url(url).build()?;
    rewriter.links(&fs::read(file)?, |found| {
        let (line, column, link) = (found.line, found.column, found.link);
        let target = link.target.as_deref().unwrap_or("-");
        println!("{line}:{column}: {} {} {target}", link.outcome.name(), link.reference);
    });
    Ok(())
}
