//! Makes the relative links of a file absolute.
//!
//! ```text
//! cargo run --example rewrite -- http://example.org/docs/page.html page.html > absolute.html
//! ```
//!
//! Deliberately absent: options. `baselink rewrite` has them.

use std::error::Error;
use std::io::{self, Write};
use std::{env, fs};

use baselink::Rewriter;

fn main() -> Result<(), Box<dyn Error>> {
    let (Some(url), Some(file)) = (env::args().nth(1), env::args_os().nth(2)) else {
        return Err("usage: rewrite URL FILE".into());
    };
    let rewriter = Rewriter::builder().url(url).build()?;
    let page = fs::read(file)?;
    let rewritten = rewriter.rewrite(&page);
    for diagnostic in &rewritten.report.diagnostics {
        eprintln!("{}: {}", diagnostic.code.name(), diagnostic.message);
    }
    // Where nothing changes, this is the page itself.
    io::stdout().write_all(&rewritten.into_output())?;
    Ok(())
}
