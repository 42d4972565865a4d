//! Archives that others wrote, as two readers of other makes read them, and archives that we write, whose digests
//! one of them checks. `tests/warc_readers.py` runs the readers, warcio and fastwarc; where they differ from ours,
//! a row of `tests/archive_readers.rows` says how often, and who is right.
//!
//! Deliberately absent: what is in the blocks.
#![cfg(feature = "archive")]
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

use baselink::archive::{Entry, Record, Records, Warcinfo, Writer};
use sha1::{Digest, Sha1};

mod outside;

const COLUMNS: [&str; 5] = ["offset", "type", "id", "target", "block"];

/// What is known of a record, in the order of the columns.
type Row = [String; 5];

/// The lines that the script prints, split into fields, or nothing where the readers are absent.
fn readers(mode: &str, files: &[&Path]) -> Option<Vec<Vec<String>>> {
    let mut command = outside::warc_readers()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/warc_readers.py");
    let done = command.arg(script).arg(mode).args(files).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    let lines = String::from_utf8_lossy(&done.stdout).into_owned();
    Some(lines.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

fn records(file: &Path) -> Vec<Record> {
    let entries = Records::new(File::open(file).unwrap()).map_while(Result::ok);
    let records = entries.filter_map(|entry| match entry {
        Entry::Record(record) => Some(record),
        Entry::Anomaly(_) => None,
    });
    records.collect()
}

fn row(record: &Record) -> Row {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "None".to_owned());
    let target = record.target_uri().map(|uri| String::from_utf8_lossy(&uri).into_owned());
    let block = Sha1::digest(record.block());
    [
        record.offset.to_string(),
        or_none(record.text("WARC-Type")),
        or_none(record.text("WARC-Record-ID")),
        or_none(target),
        block.iter().map(|byte| format!("{byte:02x}")).collect(),
    ]
}

#[test]
fn two_other_readers_find_the_same_records() {
    let Some(root) = outside::WARC.find() else { return };
    let files = outside::WARC.files(None);
    let paths: Vec<_> = files.iter().map(|file| file.as_path()).collect();
    let Some(lines) = readers("read", &paths) else { return };
    let mut compared = 0;
    // How often each column differs, by file and reader.
    let mut differences: BTreeMap<(String, &str, &str), usize> = BTreeMap::new();
    for file in paths {
        let ours: Vec<Row> = records(file).iter().map(row).collect();
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap();
        for reader in ["warcio", "fastwarc"] {
            let is_its = |line: &&Vec<String>| Path::new(&line[0]) == file && line[1] == reader;
            let theirs: Vec<_> = lines.iter().filter(is_its).map(|line| &line[2..]).collect();
            let mut differs = |what, times| {
                if times > 0 {
                    *differences.entry((name.to_owned(), reader, what)).or_default() += times;
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
    let found: BTreeSet<String> = found.collect();
    let rows = include_str!("archive_readers.rows").lines().filter(|row| !row.starts_with('#'));
    let known: BTreeSet<String> = rows
        .map(|row| {
            let (difference, reason) = row.rsplit_once('\t').unwrap();
            assert!(reason.ends_with('.'), "{row}");
            difference.to_owned()
        })
        .collect();
    let list = |set: BTreeSet<&String>| set.into_iter().cloned().collect::<Vec<_>>().join("\n");
    let (new, gone) = (&found - &known, &known - &found);
    assert!(
        new.is_empty() && gone.is_empty(),
        "new:\n{}\ngone:\n{}",
        list(new.iter().collect()),
        list(gone.iter().collect())
    );
}

#[test]
fn the_digests_of_what_is_written_are_true() {
    let Some(root) = outside::WARC.find() else { return };
    let sources = records(&root.join("resiliparse/warcfile.warc.gz"));
    for name in ["written.warc", "written.warc.gz"] {
        let info = Warcinfo {
            software: "baselink",
            date: 1_700_000_000,
            filename: Some(name),
            is_part_of: None,
        };
        let writer = Writer::new(&info, name.ends_with(".gz"));
        let mut written = Vec::new();
        writer.warcinfo(&mut written).unwrap();
        for source in &sources {
            writer.conversion(&mut written, source, "text/html", source.block()).unwrap();
        }
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&file, &written).unwrap();
        let Some(checked) = readers("check", &[&file]) else { return };
        let expected = std::iter::once("warcinfo").chain(sources.iter().map(|_| "conversion"));
        let expected: Vec<_> =
            expected.map(|name| vec![name.to_owned(), "True".into(), String::new()]).collect();
        assert_eq!(checked, expected);
        // The other way round: a digest that is not true is seen.
        if !name.ends_with(".gz") {
            let at = written.windows(5).rposition(|five| five == b"sha1:").unwrap() + 5;
            written[at] = if written[at] == b'A' { b'B' } else { b'A' };
            fs::write(&file, &written).unwrap();
            assert_eq!(readers("check", &[&file]).unwrap().last().unwrap()[1], "False");
        }
    }
}
