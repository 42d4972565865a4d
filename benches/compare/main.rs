//! Speed of baselink and of other programs for the same job, on the same bytes in the same run.
//!
//! ```text
//! cargo bench --bench compare                    everything; takes ten minutes and 4 GB of disk
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
    if asked.wants("pages") {
        let (what, pages) = sets::pages(asked.pages);
        in_process(&asked, (&what, URL), &pages);
        println!("  wanted of baselink fast: 4.50 of lol_html, 0.25 of every <");
    }
    if asked.wants("bases") {
        let (what, pages) = sets::pages(asked.pages);
        println!("\n{what}, from these URLs");
        instructions::by_base(&asked, &pages);
    }
    if asked.wants("docs") {
        let pages = sets::pages_in(&asked.docs, asked.pages);
        match pages.is_empty() {
            true => println!(
                "\nnotice: {} has no pages; see --docs",
                asked.docs.display()
            ),
            false => in_process(
                &asked,
                ("documentation, each page below the root", SHORT),
                &pages,
            ),
        }
    }
    if asked.wants("dense") {
        in_process(
            &asked,
            ("a page of links, made here", URL),
            &[sets::dense(asked.dense)],
        );
        println!("  wanted of baselink fast: 7.00 of lol_html");
    }
    if asked.wants("small") {
        let pages = sets::small(asked.small);
        in_process(&asked, ("small pages, made here", URL), &pages);
        processes::small(&asked, &pages);
    }
    if asked.wants("big") {
        processes::big(&asked);
    }
    if asked.wants("mail") {
        let (what, messages) = mail::messages();
        of_messages(&asked, what, &messages);
        let relative = mail::made_relative(&messages);
        of_messages(&asked, &format!("{what}, made relative"), &relative);
    }
    if asked.wants("mbox") {
        processes::mailbox(&asked);
    }
    if asked.wants("hostile") {
        hostile::in_kept_memory(&asked);
    }
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

/// Prints the table of a set whose pages are in memory, all with the same URL.
fn in_process(asked: &Asked, (what, url): (&str, &str), pages: &[Vec<u8>]) {
    let bytes: usize = pages.iter().map(Vec::len).sum();
    println!(
        "\n{what}: {} in {}, in process, one thread",
        pages.len(),
        table::megabytes(bytes as u64)
    );
    let tools = tools::Tools::new(url);
    jobs::check(&tools, pages);
    let seconds = jobs::measure(&tools, pages, asked.rounds);
    let mut rows = table::Table::new(&["MB/s", "of lol_html", "of every <", "instr/byte"]);
    let of = |job| seconds[Job::ALL.iter().position(|other| *other == job).unwrap()];
    let instructions = instructions::per_byte(asked, pages, url);
    for (index, job) in Job::ALL.into_iter().enumerate() {
        rows.row(
            job.title(),
            &[
                table::number(bytes as f64 / 1e6 / seconds[index]),
                table::ratio(of(job.peer()) / seconds[index]),
                table::ratio(of(Job::Angles) / seconds[index]),
                instructions[index].map_or("-".to_owned(), table::number),
            ],
        );
    }
    rows.print();
}
