//! Shows the base of a message or document, and of everything inside it: what was found on each level of RFC 1808,
//! section 3, and why it was taken or passed over.
//!
//! ```text
//! cargo run --example base -- message.eml
//! ```
//!
//! Deliberately absent: a retrieval URL. A message mostly has none.

use std::error::Error;
use std::{env, fs};

use baselink::Rewriter;

fn main() -> Result<(), Box<dyn Error>> {
    let Some(file) = env::args_os().nth(1) else {
        return Err("usage: base FILE".into());
    };
    let bytes = fs::read(file)?;
    for entity in &Rewriter::builder().build()?.rewrite(&bytes).report.entities {
        let chain = &entity.chain;
        println!(
            "'{}' {}: {}",
            chain.entity,
            entity.media_type,
            chain.base.as_deref().unwrap_or("-")
        );
        for level in &chain.levels {
            let value = level.value.as_deref().unwrap_or("-");
            println!(
                "    {} {} {value}: {}",
                level.rule.section(),
                level.status.name(),
                level.reason
            );
        }
    }
    Ok(())
}
