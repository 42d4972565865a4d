//! The jobs on a page in memory, for each of the compared programs.
//!
//! Deliberately absent: files, which [`crate::processes`] reads and writes.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use baselink::{ListedLink, Totals};
use baselink_rewrite::{Options, edits, links, rewrite};

use crate::tools::Tools;
use crate::{dom, lol, table};

/// The jobs that the benchmark compares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Job {
    /// Copies the page.
    Copy,
    /// Finds every `<`.
    Angles,
    Fast,
    Exact,
    Lol,
    Dom,
    /// Lists the links with their targets.
    List,
    LolList,
}

impl Job {
    pub(crate) const ALL: [Self; 8] = [
        Self::Copy,
        Self::Angles,
        Self::Fast,
        Self::Exact,
        Self::Lol,
        Self::Dom,
        Self::List,
        Self::LolList,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Angles => "angles",
            Self::Fast => "fast",
            Self::Exact => "exact",
            Self::Lol => "lol",
            Self::Dom => "dom",
            Self::List => "list",
            Self::LolList => "lol-list",
        }
    }

    /// True if the instructions of the job are counted. Callgrind counts those of a copy by bytes, and the html5ever engine
    /// is only a reference.
    pub(crate) fn is_counted(self) -> bool {
        !matches!(self, Self::Copy | Self::Exact)
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|job| job.name() == name)
    }

    /// The job of lol_html that corresponds to this job.
    pub(crate) const fn peer(self) -> Self {
        match self {
            Self::List | Self::LolList => Self::LolList,
            _ => Self::Lol,
        }
    }

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Copy => "memcpy",
            Self::Angles => "every <",
            Self::Fast => "baselink fast",
            Self::Exact => "baselink exact",
            Self::Lol => "lol_html, handlers",
            Self::Dom => "html5ever + rcdom, round trip",
            Self::List => "baselink, list of links",
            Self::LolList => "lol_html, list of links",
        }
    }
}

impl Tools {
    /// Rewrites a file to another with the library, on one thread.
    pub(crate) fn stream(&self, from: &Path, to: &Path) {
        let page = fs::read(from).unwrap();
        let (edits, _) = edits(&page, &self.fast);
        edits
            .write_to(&page, &mut BufWriter::new(File::create(to).unwrap()))
            .unwrap();
    }

    /// Does `job` and writes the output to `out`, whose memory is reused.
    pub(crate) fn run(&self, job: Job, page: &[u8], out: &mut Vec<u8>) {
        out.clear();
        match job {
            Job::Copy => out.extend_from_slice(page),
            Job::Angles => {
                black_box(memchr::memchr_iter(b'<', page).fold(0, |sum, at| sum ^ at));
            }
            Job::Fast => drop(rewrite_into(page, &self.fast, out)),
            Job::Exact => drop(rewrite_into(page, &self.exact, out)),
            Job::Lol => lol::rewrite(self, page, out),
            Job::Dom => dom::rewrite(self, page, out),
            Job::List => list(page, &self.fast, out),
            Job::LolList => lol::list(self, page, out),
        }
        black_box(&out);
    }
}

/// Appends the rewritten page to `out`, without a report.
pub(crate) fn rewrite_into(page: &[u8], options: &Options, out: &mut Vec<u8>) -> Totals {
    let (edits, totals) = edits(page, options);
    edits.write_to(page, out).unwrap();
    totals
}

/// Writes a line for each link.
fn list(page: &[u8], options: &Options, out: &mut Vec<u8>) {
    let _ = links(page, options, &mut |ListedLink { link, .. }| {
        let attribute = link.attribute.as_deref().unwrap_or_default();
        let target = link.target.as_deref().unwrap_or_default();
        row(
            out,
            link.span.start,
            [&link.element, attribute, &link.reference, target],
        );
    });
}

/// Writes a line for the link at offset `at`: its element, attribute, reference and target. Both listings use this
/// function. It copies, because formatting takes longer than finding a link.
pub(crate) fn row(out: &mut Vec<u8>, at: usize, columns: [&str; 4]) {
    write!(out, "{at}").unwrap();
    for column in columns {
        out.push(b' ');
        out.extend_from_slice(column.as_bytes());
    }
    out.push(b'\n');
}

/// Checks that both scanners give the same bytes and rows, and that the peers change something. Returns the number of
/// links.
pub(crate) fn check(tools: &Tools, pages: &[Vec<u8>]) -> usize {
    let (mut links, mut edits) = (0, 0);
    for page in pages {
        let [fast, exact] = [&tools.fast, &tools.exact].map(|options| rewrite(page, options));
        assert!(
            fast.output() == exact.output(),
            "the scanners give different bytes"
        );
        assert!(
            fast.report.links == exact.report.links,
            "the scanners give different rows"
        );
        let mut short = Vec::new();
        rewrite_into(page, &tools.fast, &mut short);
        assert!(short == fast.output(), "rewrite_into gives different bytes");
        links += fast.report.links.len();
        edits += fast.edits.len();
    }
    let mut out = Vec::new();
    let changed = |job: Job, out: &mut Vec<u8>| {
        pages.iter().any(|page| {
            tools.run(job, page, out);
            out != page
        })
    };
    assert!(edits == 0 || (changed(Job::Lol, &mut out) && changed(Job::Dom, &mut out)));
    let lines = |job: Job, out: &mut Vec<u8>| {
        pages.iter().fold(0, |sum, page| {
            tools.run(job, page, out);
            sum + memchr::memchr_iter(b'\n', out).count()
        })
    };
    let listed = [lines(Job::List, &mut out), lines(Job::LolList, &mut out)];
    println!("  {listed:?} lines are listed by baselink and by lol_html");
    println!("  {links} links, {edits} edits; fast and exact give the same bytes and rows");
    links
}

/// Median time of each job over all pages, in seconds. The jobs take turns in every round.
pub(crate) fn measure(tools: &Tools, pages: &[Vec<u8>], rounds: usize) -> Vec<f64> {
    let mut taken = vec![Vec::new(); Job::ALL.len()];
    let mut out = Vec::new();
    for _ in 0..rounds {
        for (job, taken) in Job::ALL.into_iter().zip(&mut taken) {
            let started = Instant::now();
            let mut passes = 0_u32;
            while passes == 0 || started.elapsed() < Duration::from_millis(20) {
                for page in pages {
                    tools.run(job, page, &mut out);
                }
                passes += 1;
            }
            taken.push(started.elapsed().as_secs_f64() / f64::from(passes));
        }
    }
    taken.iter_mut().map(|taken| table::median(taken)).collect()
}

/// Median times for copying and for rewriting all messages, in seconds. The two take turns in every round.
pub(crate) fn measure_messages(tools: &Tools, messages: &[Vec<u8>], rounds: usize) -> [f64; 2] {
    let mut taken = [Vec::new(), Vec::new()];
    let mut out = Vec::new();
    for _ in 0..rounds {
        for (is_copy, taken) in [true, false].into_iter().zip(&mut taken) {
            let started = Instant::now();
            for message in messages {
                out.clear();
                match is_copy {
                    true => out.extend_from_slice(message),
                    false => drop(rewrite_into(message, &tools.message, &mut out)),
                }
                black_box(&out);
            }
            taken.push(started.elapsed().as_secs_f64());
        }
    }
    taken.each_mut().map(|taken| table::median(taken))
}
