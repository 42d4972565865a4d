//! Counts the links between the hosts of a crawl, on all cores. Each archive is a task, as with Spark.
//!
//! ```text
//! cargo run --release --example crawl -- crawl/*.warc.gz
//! ```
//!
//! Deliberately absent: the public suffix list. `www.example.org` and `example.org` are two hosts.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::{env, thread};

use baselink::archive::{ArchiveEntry, Records};
use baselink::{Resolver, Rewriter};

/// The number of links from one host to another.
type Edges = BTreeMap<(String, String), usize>;

/// The host of an http or https URL, with its port.
fn host(url: &str) -> Option<&str> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))?;
    rest.split(['/', '?', '#']).next()?.rsplit('@').next()
}

/// Adds the edges of `archive` to `edges`.
fn count(archive: &str, rewriter: &Rewriter, edges: &mut Edges) -> Result<(), Box<dyn Error>> {
    for entry in Records::new(File::open(archive)?) {
        let ArchiveEntry::Record(record) = entry? else {
            continue;
        };
        let Some((rewriter, document)) = rewriter.record(&record) else {
            continue;
        };
        let url = record.target_uri().unwrap_or_default();
        let url = String::from_utf8_lossy(&url);
        let Some(source) = host(&url) else { continue };
        rewriter.links(&document, |found| {
            let target = found.link.target.as_deref().and_then(host);
            if let Some(target) = target.filter(|target| *target != source) {
                *edges
                    .entry((source.to_owned(), target.to_owned()))
                    .or_default() += 1;
            }
            ControlFlow::Continue(())
        });
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let archives: Vec<String> = env::args().skip(1).collect();
    let queue = Mutex::new(archives.iter());
    let next = || queue.lock().ok()?.next();
    let rewriter = Rewriter::builder().resolver(Resolver::Whatwg).build()?;
    let task = || {
        let mut edges = Edges::new();
        while let Some(archive) = next() {
            if let Err(error) = count(archive, &rewriter, &mut edges) {
                eprintln!("{archive}: {error}");
            }
        }
        edges
    };
    let mut all = Edges::new();
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let tasks: Vec<_> = (0..cores).map(|_| scope.spawn(task)).collect();
        for (edge, links) in tasks
            .into_iter()
            .flat_map(|task| task.join().unwrap_or_default())
        {
            *all.entry(edge).or_default() += links;
        }
    });
    for ((source, target), links) in all {
        println!("{source}\t{target}\t{links}");
    }
    Ok(())
}
