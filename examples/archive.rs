//! Lists the links of a web archive (WARC, compressed or not). Each line has the URL of the page, a tab, and the
//! target.
//!
//! ```text
//! cargo run --example archive -- crawl.warc.gz
//! ```
//!
//! Deliberately absent: WACZ, HAR and `.webarchive`, for which `baselink_site::archive` has other types.

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use baselink::archive::{ArchiveEntry, Records};
use baselink::{Resolver, Rewriter};

fn main() -> Result<(), Box<dyn Error>> {
    let archive = env::args_os().nth(1).ok_or("usage: archive FILE")?;
    let rewriter = Rewriter::builder().resolver(Resolver::Whatwg).build()?;
    let mut out = BufWriter::new(io::stdout().lock());
    for entry in Records::new(File::open(archive)?) {
        let record = match entry? {
            ArchiveEntry::Record(record) => record,
            ArchiveEntry::Anomaly(anomaly) => {
                eprintln!("offset {}: {}", anomaly.offset.file, anomaly.message);
                continue;
            }
        };
        let Some((rewriter, document)) = rewriter.record(&record) else {
            continue;
        };
        let url = record.target_uri().unwrap_or_default();
        let url = String::from_utf8_lossy(&url);
        let mut written = Ok(());
        rewriter.links(&document, |found| {
            if let Some(target) = found.link.target {
                written = writeln!(out, "{url}\t{target}");
            }
            match written {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        written?;
    }
    Ok(out.flush()?)
}
