//! Archives that other programs wrote. Our reader is compared with two others, warcio and fastwarc, which
//! `tests/archives/warc_readers.py` runs. Each row of `tests/archives/readers.rows` counts the known differences of one
//! kind in one file, and names the reader that is right.
//!
//! `tests/archives/warc_links.py` finds the links in HTML with warcio and html5lib; `tests/archives/links.rows` lists
//! the known differences. `tests/archives/link_extraction.rows` lists the links that the extractor of Common Crawl's WAT
//! files expects in its own test archive.
//!
//! Deliberately absent: links in formats other than HTML.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

use baselink::archive::{ArchiveEntry, Record, Records};
use baselink_rewrite::record::{document, payload};
use baselink_rewrite::{Options, rewrite};
use baselink_scan::attributes::Group;
use md5::{Digest, Md5};

use crate::outside;

const COLUMNS: [&str; 5] = ["offset", "type", "id", "target", "block"];

/// The facts about a record, in the order of the columns.
type Row = [String; 5];

/// The fields of each line that `warc_readers.py` prints; `None` if the readers are absent.
fn readers(files: &[&Path]) -> Option<Vec<Vec<String>>> {
    let mut command = outside::warc_readers()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives/warc_readers.py");
    let output = command.arg(script).args(files).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(
        lines
            .lines()
            .map(|line| line.split('\t').map(str::to_owned).collect())
            .collect(),
    )
}

fn records(file: &Path) -> Vec<Record> {
    let entries = Records::new(File::open(file).unwrap()).map_while(Result::ok);
    let records = entries.filter_map(|entry| match entry {
        ArchiveEntry::Record(record) => Some(record),
        ArchiveEntry::Anomaly(_) => None,
    });
    records.collect()
}

fn row(record: &Record) -> Row {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "None".to_owned());
    let target = record
        .target_uri()
        .map(|uri| String::from_utf8_lossy(&uri).into_owned());
    [
        record.offset.to_string(),
        or_none(record.text("WARC-Type")),
        or_none(record.text("WARC-Record-ID")),
        or_none(target),
        md5(record.block()),
    ]
}

fn md5(bytes: &[u8]) -> String {
    Md5::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn two_other_readers_find_the_same_records() {
    let Some(root) = outside::WARC.find() else {
        return;
    };
    let files = outside::WARC.files(None);
    let paths: Vec<_> = files.iter().map(|file| file.as_path()).collect();
    let Some(lines) = readers(&paths) else { return };
    let mut compared = 0;
    // The number of differences by file, reader, and column or kind.
    let mut differences: BTreeMap<(String, &str, &str), usize> = BTreeMap::new();
    for file in paths {
        let ours: Vec<Row> = records(file).iter().map(row).collect();
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap();
        for reader in ["warcio", "fastwarc"] {
            let is_its = |line: &&Vec<String>| Path::new(&line[0]) == file && line[1] == reader;
            let theirs: Vec<_> = lines.iter().filter(is_its).map(|line| &line[2..]).collect();
            let mut differs = |what, times| {
                if times > 0 {
                    *differences
                        .entry((name.to_owned(), reader, what))
                        .or_default() += times;
                }
            };
            let gave_up = theirs.last().is_some_and(|last| last[0] == "error");
            let theirs = &theirs[..theirs.len() - usize::from(gave_up)];
            differs("gives up", usize::from(gave_up));
            differs("more", ours.len().saturating_sub(theirs.len()));
            differs("fewer", theirs.len().saturating_sub(ours.len()));
            for (ours, theirs) in ours.iter().zip(theirs) {
                compared += 1;
                for (at, column) in COLUMNS.into_iter().enumerate() {
                    differs(column, usize::from(ours[at] != theirs[at]));
                }
            }
        }
    }
    assert!(compared > 300, "{compared}");
    let found = differences
        .iter()
        .map(|((file, reader, what), times)| format!("{file}\t{reader}\t{what}\t{times}"));
    assert_known(found.collect(), include_str!("readers.rows"));
}

/// Panics unless the differences `found` are those of `rows`. The last field of a row says who is right.
fn assert_known(found: BTreeSet<String>, rows: &str) {
    let rows = rows.lines().filter(|row| !row.starts_with('#'));
    let known: BTreeSet<String> = rows
        .map(|row| {
            let (difference, reason) = row.rsplit_once('\t').unwrap();
            assert!(reason.ends_with('.'), "{row}");
            difference.to_owned()
        })
        .collect();
    let list = |set: BTreeSet<&String>| set.into_iter().cloned().collect::<Vec<_>>().join("\n");
    let (new, fixed) = (&found - &known, &known - &found);
    assert!(
        new.is_empty() && fixed.is_empty(),
        "new:\n{}\ngone:\n{}",
        list(new.iter().collect()),
        list(fixed.iter().collect())
    );
}

#[test]
fn another_reader_and_parser_find_the_same_targets() {
    let Some(root) = outside::WARC.find() else {
        return;
    };
    let Some(mut command) = outside::html_parser() else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives/warc_links.py");
    command.arg(script).arg(env!("CARGO_BIN_EXE_baselink"));
    let output = command.args(outside::WARC.files(None)).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let stdout = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<_> = stdout.lines().collect();
    let same: usize = lines.pop().unwrap().parse().unwrap();
    assert!(same > 7_500, "{same}");
    // The last field of a line is an example.
    let found = lines.iter().map(|line| {
        println!("{line}");
        let (difference, _) = line.rsplit_once('\t').unwrap();
        difference.strip_prefix(root.to_str().unwrap()).unwrap()[1..].to_owned()
    });
    assert_known(found.collect(), include_str!("links.rows"));
}

/// The links of each record in `file`, also those of `group`, in the format of `tests/archives/link_extraction.rows`.
fn listed(file: &Path, group: Option<Group>) -> Vec<String> {
    let mut options = Options::default();
    if let Some(group) = group {
        options.scan.groups.insert(group);
    }
    let mut listed = Vec::new();
    for record in &records(file) {
        let Some(found) = document(record, &options) else {
            continue;
        };
        for link in rewrite(&found.bytes, &found.options).report.links {
            let attribute = link.attribute.as_deref().unwrap_or("-");
            listed.push(format!(
                "{}\t{}\t{attribute}\t{}",
                record.offset, link.element, link.reference
            ));
        }
    }
    listed.sort();
    listed
}

#[test]
fn the_links_are_those_that_another_extractor_expects() {
    let Some(root) = outside::WARC.find() else {
        return;
    };
    let file = root.join("ia-web-commons/link-extraction-test.warc");
    let rows = include_str!("link_extraction.rows")
        .lines()
        .filter(|row| !row.starts_with('#'));
    let rows: Vec<Vec<_>> = rows.map(|row| row.splitn(6, '\t').collect()).collect();
    assert!(
        rows.iter()
            .all(|row| row.len() == 5 + usize::from(row[4] == "theirs"))
    );
    let listed_by = |listers: &[&str]| {
        let rows = rows.iter().filter(|row| listers.contains(&row[4]));
        let mut links: Vec<_> = rows.map(|row| row[..4].join("\t")).collect();
        links.sort();
        links
    };
    assert_eq!(listed(&file, None), listed_by(&["both"]));
    assert_eq!(
        listed(&file, Some(Group::Lazy)),
        listed_by(&["both", "lazy"])
    );
}

/// The payload of each document in `file` after rewriting.
fn expected(file: &Path) -> BTreeSet<Vec<u8>> {
    let mut all = BTreeSet::new();
    for record in &records(file) {
        let Some(found) = document(record, &Options::default()) else {
            continue;
        };
        let output = rewrite(&found.bytes, &found.options).output();
        all.extend(
            payload(&output, found.options.format)
                .ok()
                .map(|payload| payload.into_owned()),
        );
    }
    all
}

#[test]
fn the_output_contains_exactly_the_documents() {
    let mut documents = 0;
    for file in outside::WARC.files(None) {
        let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_baselink"));
        command
            .args(["rewrite", "--config", "none", "-q"])
            .arg(&file)
            .arg("-o")
            .arg(out.path());
        let status = command
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        let expected = expected(&file);
        let written = walkdir::WalkDir::new(out.path())
            .into_iter()
            .map(Result::unwrap);
        let written: Vec<_> = written
            .filter(|entry| entry.file_type().is_file())
            .collect();
        // The program does not read ARC, and some archives have no response with a document.
        let is_unusable = file.to_str().unwrap().contains(".arc") || written.is_empty();
        assert_eq!(
            status.code(),
            Some(2 * i32::from(is_unusable)),
            "{}",
            file.display()
        );
        for entry in written {
            assert!(
                expected.contains(&fs::read(entry.path()).unwrap()),
                "{}",
                entry.path().display()
            );
            documents += 1;
        }
    }
    assert!(
        outside::WARC.find().is_none() || documents > 50,
        "{documents}"
    );
}
