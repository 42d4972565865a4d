//! Lists the links of a file: what became of each, the reference as written, and its target.
//!
//! ```text
//! cargo run --example links -- http://example.org/docs/page.html page.html
//! ```
//!
//! Deliberately absent: lines and columns. A link has the place of its bytes.

use std::error::Error;
use std::{env, fs};

use baselink::Rewriter;

fn main() -> Result<(), Box<dyn Error>> {
    let (Some(url), Some(file)) = (env::args().nth(1), env::args_os().nth(2)) else {
        return Err("usage: links URL FILE".into());
    };
    let rewriter = Rewriter::builder().url(url).build()?;
    rewriter.links(&fs::read(file)?, |link| {
        let target = link.target.as_deref().unwrap_or("-");
        println!("{}: {} {} {target}", link.span.start, link.outcome.name(), link.reference);
    });
    Ok(())
}
