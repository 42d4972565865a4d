//! Makes the links of a message or a mailbox absolute, and prints the base of each part and its rule to standard
//! error.
//!
//! ```text
//! cargo run --example mail < message.eml > absolute.eml
//! ```
//!
//! Deliberately absent: large mailboxes. `Rewriter::rewrite_to` reads them message by message, without a report.

use std::error::Error;
use std::io::{self, Read, Write};

use baselink::{Dkim, Fragments, Rewriter};

fn main() -> Result<(), Box<dyn Error>> {
    let mut mail = Vec::new();
    io::stdin().lock().read_to_end(&mut mail)?;
    // `//host/…` gets a scheme, `#top` stays in the mail, and signed messages keep their bytes.
    let rewriter = Rewriter::builder()
        .assume_scheme("https")
        .fragments(Fragments::Auto);
    let rewritten = rewriter.dkim(Dkim::Keep).build()?.rewrite(&mail);
    for entity in &rewritten.report.entities {
        let chain = &entity.chain;
        let base = chain.base.as_deref().unwrap_or("no base");
        eprintln!(
            "'{}' {}: {base} ({} {})",
            chain.entity,
            entity.media_type,
            chain.rule.section(),
            chain.rule.title()
        );
    }
    io::stdout().lock().write_all(&rewritten.into_output())?;
    Ok(())
}
