//! Converts a page to Markdown with absolute links: the converter gets the page after its links have become absolute.
//!
//! ```text
//! cargo run --example markdown -- https://example.org/docs/page.html page.html pandoc -f html -t gfm
//! ```
//!
//! Deliberately absent: a converter. Any program that reads HTML from standard input and writes Markdown will do.

use std::error::Error;
use std::io::Write;
use std::process::{Command, Stdio};
use std::{env, fs};

use baselink::{Fragments, Resolver, Rewriter};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [url, file, converter, options @ ..] = arguments.as_slice() else {
        return Err("usage: markdown URL FILE CONVERTER [OPTION]...".into());
    };
    // Resolves as browsers do; `#top` stays a link within the page.
    let rewriter = Rewriter::builder()
        .url(url)
        .resolver(Resolver::Whatwg)
        .fragments(Fragments::Auto);
    let page = fs::read(file)?;
    let absolute = rewriter.build()?.rewrite(&page).into_output();
    let mut child = Command::new(converter)
        .args(options)
        .stdin(Stdio::piped())
        .spawn()?;
    child
        .stdin
        .take()
        .ok_or("no standard input")?
        .write_all(&absolute)?;
    let status = child.wait()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{converter}: {status}").into())
    }
}
