//! Archives that others wrote, as two readers of other makes read them, and archives that we write, whose digests
//! one of them checks. `tests/archives/warc_readers.py` runs the readers, warcio and fastwarc; where they differ from ours,
//! a row of `tests/archives/readers.rows` says how often, and who is right. `tests/archives/warc_links.py` finds the links in the
//! HTML by warcio and html5lib; where they differ, the row is in `tests/archives/links.rows`. What the extractor of Common
//! Crawl's WAT files expects in an archive of its own is in `tests/archives/link_extraction.rows`.
//!
//! Deliberately absent: links in CSS, and in what is not HTML.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

use baselink::archive::{ArchiveEntry, Record, Records, WarcWriter, Warcinfo};
use baselink::layer::charset::Charset;
use baselink::rewrite::record::{document, payload};
use baselink::scan::attributes::Group;
use baselink::scan::fields::MediaType;
use baselink::{Options, rewrite};
use sha1::{Digest, Sha1};

use crate::outside;

const COLUMNS: [&str; 5] = ["offset", "type", "id", "target", "block"];

/// What is known of a record, in the order of the columns.
type Row = [String; 5];

/// The lines that the script prints, split into fields, or nothing where the readers are absent.
fn readers(mode: &str, files: &[&Path]) -> Option<Vec<Vec<String>>> {
    let mut command = outside::warc_readers()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives/warc_readers.py");
    let done = command.arg(script).arg(mode).args(files).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    let lines = String::from_utf8_lossy(&done.stdout).into_owned();
    Some(lines.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
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
    let target = record.target_uri().map(|uri| String::from_utf8_lossy(&uri).into_owned());
    [
        record.offset.to_string(),
        or_none(record.text("WARC-Type")),
        or_none(record.text("WARC-Record-ID")),
        or_none(target),
        sha1(record.block()),
    ]
}

fn sha1(bytes: &[u8]) -> String {
    Sha1::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
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
    are_known(found.collect(), include_str!("readers.rows"));
}

/// Says that the differences `found` are those of `rows`, which have who is right after each.
fn are_known(found: BTreeSet<String>, rows: &str) {
    let rows = rows.lines().filter(|row| !row.starts_with('#'));
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

#[cfg(feature = "cli")]
#[test]
fn another_reader_and_parser_find_the_same_targets() {
    let Some(root) = outside::WARC.find() else { return };
    let Some(mut command) = outside::html_parser() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives/warc_links.py");
    command.arg(script).arg(env!("CARGO_BIN_EXE_baselink"));
    let done = command.args(outside::WARC.files(None)).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8(done.stdout).unwrap();
    let mut lines: Vec<_> = said.lines().collect();
    let same: usize = lines.pop().unwrap().parse().unwrap();
    assert!(same > 7_500, "{same}");
    // The last field of each is an example.
    let found = lines.iter().map(|line| {
        println!("{line}");
        let (difference, _) = line.rsplit_once('\t').unwrap();
        difference.strip_prefix(root.to_str().unwrap()).unwrap()[1..].to_owned()
    });
    are_known(found.collect(), include_str!("links.rows"));
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
        let writer = WarcWriter::new(&info, name.ends_with(".gz"));
        let mut written = Vec::new();
        writer.warcinfo(&mut written).unwrap();
        for source in &sources {
            writer.conversion(&mut written, source, "text/html", source.block()).unwrap();
        }
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&file, &written).unwrap();
        let Some(checked) = readers("check", &[&file]) else { return };
        let expected = std::iter::once("warcinfo").chain(sources.iter().map(|_| "conversion"));
        let expected: Vec<_> = expected.map(|name| [name, "True", ""]).collect();
        let checked: Vec<_> =
            checked.iter().map(|fields| [&*fields[0], &fields[1], &fields[2]]).collect();
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

/// The links of each record as `tests/archives/link_extraction.rows` has them, those of this `group` too.
fn listed(file: &Path, group: Option<Group>) -> Vec<String> {
    let mut options = Options::default();
    if let Some(group) = group {
        options.scan.groups.insert(group);
    }
    let mut listed = Vec::new();
    for record in &records(file) {
        let Some(found) = document(record, &options) else { continue };
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
fn another_extractor_expects_these_links() {
    let Some(root) = outside::WARC.find() else { return };
    let file = root.join("ia-web-commons/link-extraction-test.warc");
    let rows = include_str!("link_extraction.rows").lines().filter(|row| !row.starts_with('#'));
    let rows: Vec<Vec<_>> = rows.map(|row| row.splitn(6, '\t').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 5 + usize::from(row[4] == "theirs")));
    let by = |lists: &[&str]| {
        let some = rows.iter().filter(|row| lists.contains(&row[4]));
        let mut some: Vec<_> = some.map(|row| row[..4].join("\t")).collect();
        some.sort();
        some
    };
    assert_eq!(listed(&file, None), by(&["both"]));
    assert_eq!(listed(&file, Some(Group::Lazy)), by(&["both", "lazy"]));
}

/// What the records of an archive made of `file` are: type, whether the digests are true, what is wrong with them, the
/// record it refers to, SHA-1 of the block.
#[cfg(feature = "cli")]
fn expected(file: &Path) -> Vec<Vec<String>> {
    let row = |kind: &str, source: &str, block: Option<&[u8]>| {
        let block = block.map_or(String::new(), sha1);
        [kind, "True", "", source, &block].map(str::to_owned).to_vec()
    };
    let mut rows = vec![row("warcinfo", "None", None)];
    for record in &records(file) {
        let Some(found) = document(record, &Options::default()) else { continue };
        let Some(page) = payload(&found.bytes, found.options.format) else { continue };
        let media_type = MediaType::read(found.content_type.as_bytes()).unwrap();
        let charset = media_type.parameter("charset").and_then(Charset::for_label);
        let mut options = Options { format: media_type.format(), ..found.options.clone() };
        options.scan.charset = charset;
        let made = rewrite(&page, &options).output();
        if made != *page {
            let id = record.text("WARC-Record-ID").unwrap_or("None".to_owned());
            rows.push(row("conversion", &id, Some(&made)));
        }
    }
    rows
}

#[cfg(feature = "cli")]
#[test]
fn what_the_command_writes_is_true() {
    let mut documents = 0;
    for file in outside::WARC.files(None) {
        for name in ["rewritten.warc", "rewritten.warc.gz"] {
            let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            let _ = fs::remove_file(&out);
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_baselink"));
            command.args(["rewrite", "--no-config", "-q"]).arg(&file).arg("-o").arg(&out);
            let status = command.stderr(std::process::Stdio::null()).status().unwrap();
            let is_arc = file.to_str().unwrap().contains(".arc");
            assert_eq!((status.code(), out.exists()), (Some(2 * i32::from(is_arc)), !is_arc));
            if is_arc {
                continue;
            }
            let Some(mut checked) = readers("check", &[&out]) else { return };
            // What is in a warcinfo record is no matter of the input.
            checked[0][4].clear();
            let expected = expected(&file);
            documents += expected.len() - 1;
            assert_eq!(checked, expected, "{}", file.display());
        }
    }
    assert!(outside::WARC.find().is_none() || documents > 100, "{documents}");
}
