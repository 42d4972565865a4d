//! Speed of baselink and of other programs for the same job, on the same bytes in the same run.
//!
//! ```text
//! cargo bench --bench compare                    everything; takes an hour and 4 GB of disk
//! cargo bench --bench compare -- --quick         everything on little data, to see that it works
//! cargo bench --bench compare -- --set pages     one set: pages, bases, docs, dense, small, big, mail, mbox, hostile
//! ```
//!
//! Further options: `--rounds N`, `--pages SIZE`, `--dense SIZE`, `--big SIZE`, `--mbox SIZE`, `--small COUNT`,
//! `--hostile SIZE` (sizes as `128M`), `--docs DIR` for the pages of the set `docs`, `--folder DIR` for the large files
//! (a memory file system, say), `--python PATH` for an interpreter that has lxml.
//!
//! All jobs make the links of a page absolute, those of [`baselink_scan::attributes`]. What a peer cannot do is left
//! out, in its favour: `style` attributes and style sheets, `srcdoc`, and bases in the page. All jobs resolve with
//! [`baselink_url::Base`], so they differ only in how they find links and write the page.
//!
//! Deliberately absent: conclusions for other machines. The ratios of one run mean something, the numbers do not.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_precision_loss,
    missing_docs
)]

#[path = "../measured/callgrind.rs"]
mod callgrind;
mod dom;
mod hostile;
mod instructions;
mod jobs;
mod lol;
mod mail;
mod processes;
mod sets;
mod table;
mod tools;

use std::path::PathBuf;

use callgrind::{Goal, Goals};
use jobs::Job;

/// The retrieval URL of the pages of most sets.
const URL: &str = "http://example.org/docs/guide/page.html";

/// The folder of pages in Debian's package python3.11-doc, and the URL that each of them gets.
const DOCS: &str = "/usr/share/doc/python3.11/html";
const SHORT: &str = "http://example.org/page.html";

/// The options from the command line.
struct Asked {
    sets: Vec<String>,
    rounds: usize,
    /// The maximum size of a set of real pages, in bytes.
    pages: usize,
    dense: usize,
    /// The number of small files, of about 6 KB each.
    small: usize,
    big: u64,
    mbox: u64,
    /// The bytes of the smallest document of each hostile shape.
    hostile: usize,
    /// The folder with the pages of the set `docs`.
    docs: PathBuf,
    folder: PathBuf,
    python: String,
}

impl Asked {
    fn read(arguments: &[String]) -> Self {
        let has = |name: &str| arguments.iter().any(|argument| argument == name);
        let after = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name)?;
            Some(
                arguments
                    .get(at + 1)
                    .unwrap_or_else(|| panic!("{name} needs a value"))
                    .clone(),
            )
        };
        let number = |name: &str, quick: u64, whole: u64| {
            let usual = if has("--quick") { quick } else { whole };
            after(name).map_or(usual, |size| table::size(&size))
        };
        let short = |name: &str, quick: u64, whole: u64| {
            usize::try_from(number(name, quick, whole)).unwrap()
        };
        let sets = arguments.windows(2).filter(|pair| pair[0] == "--set");
        Self {
            sets: sets.map(|pair| pair[1].clone()).collect(),
            rounds: short("--rounds", 3, 7),
            pages: short("--pages", 3_000_000, 1_000_000_000),
            dense: short("--dense", 500_000, 6_000_000),
            small: short("--small", 300, 10_000),
            big: number("--big", 4_000_000, 128_000_000),
            mbox: number("--mbox", 8_000_000, 1_000_000_000),
            hostile: short("--hostile", 50_000, 1_000_000),
            docs: after("--docs").map_or(DOCS.into(), PathBuf::from),
            folder: after("--folder").map_or(env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from),
            python: after("--python").unwrap_or_else(|| "python3".to_owned()),
        }
    }

    fn wants(&self, set: &str) -> bool {
        self.sets.is_empty() || self.sets.iter().any(|name| name == set)
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Runs a job as a separate process.
    if let [word, job, paths @ ..] = arguments.as_slice()
        && word == "--as"
    {
        let job = Job::named(job).unwrap_or_else(|| panic!("{job}: not a job"));
        return processes::run_job(job, paths);
    }
    if let [word, rounds, size] = arguments.as_slice()
        && word == hostile::WORD
    {
        let number = |text| usize::try_from(table::size(text)).unwrap();
        return hostile::growth(number(rounds), number(size));
    }
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("this takes long: run it by `cargo bench --bench compare`, or with -- --quick");
        return;
    }
    let asked = Asked::read(&arguments);
    println!(
        "one run, medians of {} rounds; MB are 1,000,000 bytes",
        asked.rounds
    );
    let mut goals = Goals::default();
    if asked.wants("pages") {
        let (what, pages) = sets::pages(asked.pages);
        let of = in_process(&asked, (&what, URL), &pages);
        goals.add(
            "real pages: speed of lol_html",
            Goal::AtLeast(5.0),
            of.rewriting,
        );
        goals.add(
            "real pages: instructions a byte",
            Goal::AtMost(4.0),
            of.cost,
        );
        let work = "listing links of real pages: speed of lol_html";
        goals.add(work, Goal::AtLeast(2.5), of.listing);
    }
    if asked.wants("bases") {
        let (what, pages) = sets::pages(asked.pages);
        println!("\n{what}, from these URLs");
        instructions::by_base(&asked, &pages);
    }
    if asked.wants("docs") {
        let pages = sets::pages_in(&asked.docs, asked.pages);
        if pages.is_empty() {
            let folder = asked.docs.display();
            println!("\nnotice: {folder} has no pages; see --docs");
        } else {
            let what = "documentation, each page below the root";
            let of = in_process(&asked, (what, SHORT), &pages);
            let work = "documentation: speed of lol_html";
            goals.add(work, Goal::AtLeast(5.0), of.rewriting);
        }
    }
    if asked.wants("dense") {
        let page = sets::dense(asked.dense);
        in_process(&asked, ("a page of links, made here", URL), &[page]);
    }
    if asked.wants("small") {
        let pages = sets::small(asked.small);
        in_process(&asked, ("small pages, made here", URL), &pages);
        processes::small(&asked, &pages, &mut goals);
    }
    if asked.wants("big") {
        processes::big(&asked, &mut goals);
    }
    if asked.wants("mail") {
        let (what, messages) = mail::messages();
        of_messages(&asked, what, &messages);
        let relative = mail::made_relative(&messages);
        of_messages(&asked, &format!("{what}, made relative"), &relative);
    }
    if asked.wants("mbox") {
        processes::mailbox(&asked, &mut goals);
    }
    if asked.wants("hostile") {
        hostile::in_kept_memory(&asked);
    }
    goals.print();
}

/// Measures how fast messages are rewritten.
fn of_messages(asked: &Asked, what: &str, messages: &[Vec<u8>]) {
    let bytes: usize = messages.iter().map(Vec::len).sum();
    println!(
        "\n{what}: {} in {}, in process, one thread",
        messages.len(),
        table::megabytes(bytes as u64)
    );
    let tools = tools::Tools::new(URL);
    let [copied, rewritten] = jobs::measure_messages(&tools, messages, asked.rounds);
    let mut rows = table::Table::new(&["MB/s", "of memcpy"]);
    for (title, seconds) in [("memcpy", copied), ("baselink", rewritten)] {
        let speed = table::number(bytes as f64 / 1e6 / seconds);
        rows.row(title, &[speed, table::ratio(copied / seconds)]);
    }
    rows.print();
}

/// More instructions than any processor executes in a second: six in each cycle at 5 GHz.
const MOST_PER_SECOND: f64 = 6.0 * 5e9;

/// The results of baselink for a set of pages.
struct OfPages {
    /// The speed of rewriting and of listing links, relative to lol_html.
    rewriting: f64,
    listing: f64,
    /// The instructions of rewriting, for each byte.
    cost: f64,
}

/// Prints the table of a set whose pages are in memory, all with the same URL.
fn in_process(asked: &Asked, (what, url): (&str, &str), pages: &[Vec<u8>]) -> OfPages {
    let bytes = pages.iter().map(Vec::len).sum::<usize>() as f64;
    println!(
        "\n{what}: {} in {}, in process, one thread",
        pages.len(),
        table::megabytes(bytes as u64)
    );
    let tools = tools::Tools::new(url);
    let links = jobs::check(&tools, pages) as f64;
    let tags = pages.iter().map(|page| start_tags(page)).sum::<usize>() as f64;
    println!("  {tags} start tags (\"<\" before a letter)");
    let seconds = jobs::measure(&tools, pages, asked.rounds);
    let mut rows = table::Table::new(&[
        "MB/s",
        "of lol_html",
        "of every <",
        "instr/byte",
        "instr/tag",
        "instr/link",
    ]);
    let of = |job| seconds[Job::ALL.iter().position(|other| *other == job).unwrap()];
    let instructions = instructions::of_jobs(asked, pages, url);
    let mut cost = f64::NAN;
    for ((job, seconds), executed) in Job::ALL.into_iter().zip(&seconds).zip(instructions) {
        let ratio = of(job.peer()) / seconds;
        let rate = executed.unwrap_or(0.0) / seconds;
        assert!(
            rate < MOST_PER_SECOND,
            "{}: {rate:e} instructions in a second are more than a processor executes, so a figure is wrong",
            job.title()
        );
        if job == Job::Fast {
            cost = executed.unwrap_or(f64::NAN) / bytes;
        }
        let each = |count: f64| executed.map_or("-".to_owned(), |all| table::number(all / count));
        rows.row(
            job.title(),
            &[
                table::number(bytes / 1e6 / seconds),
                table::ratio(ratio),
                table::ratio(of(Job::Angles) / seconds),
                each(bytes),
                each(tags),
                each(links),
            ],
        );
    }
    rows.print();
    OfPages {
        rewriting: of(Job::Lol) / of(Job::Fast),
        listing: of(Job::LolList) / of(Job::List),
        cost,
    }
}

/// The number of `<` before a letter.
fn start_tags(page: &[u8]) -> usize {
    let is_tag = |pair: &&[u8]| pair[0] == b'<' && pair[1].is_ascii_alphabetic();
    page.windows(2).filter(is_tag).count()
}
