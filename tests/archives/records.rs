//! Web archives: the expectations of `fixtures/archive/expected.rows`, laws, and hostile archives.
//!
//! Deliberately absent: archives of other programs, which `tests/archives/readers.rs` tests.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::Path;

use baselink::archive::{
    Anomaly, ArchiveEntry, Offset, Record, RecordContent, RecordType, Records,
};
use baselink_site::archive::Wacz;
use baselink_text::{Result, diagnostic::Code};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::collection::vec;
use proptest::prelude::*;

fn entries(archive: &[u8]) -> Vec<ArchiveEntry> {
    Records::new(archive).collect::<Result<_, _>>().unwrap()
}

fn offset(entry: &ArchiveEntry) -> Offset {
    match entry {
        ArchiveEntry::Record(record) => record.offset,
        ArchiveEntry::Anomaly(anomaly) => anomaly.offset,
    }
}

fn record(entry: &ArchiveEntry) -> Option<&Record> {
    if let ArchiveEntry::Record(record) = entry {
        Some(record)
    } else {
        None
    }
}

fn anomaly(entry: &ArchiveEntry) -> Option<&Anomaly> {
    if let ArchiveEntry::Anomaly(anomaly) = entry {
        Some(anomaly)
    } else {
        None
    }
}

fn records(entries: &[ArchiveEntry]) -> Vec<&Record> {
    entries.iter().filter_map(record).collect()
}

fn anomalies(entries: &[ArchiveEntry]) -> Vec<&Anomaly> {
    entries.iter().filter_map(anomaly).collect()
}

fn member(data: &[u8]) -> Vec<u8> {
    let mut member = GzEncoder::new(Vec::new(), Compression::default());
    member.write_all(data).unwrap();
    member.finish().unwrap()
}

fn inflated(members: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    flate2::read::MultiGzDecoder::new(members)
        .read_to_end(&mut data)
        .unwrap();
    data
}

fn type_name(record_type: RecordType) -> String {
    format!("{record_type:?}").to_lowercase()
}

/// `bytes` as a field of a row: decoded as Latin-1, with line ends escaped.
fn text(bytes: &[u8]) -> String {
    let text: String = bytes.iter().copied().map(char::from).collect();
    text.replace('\r', "\\r").replace('\n', "\\n")
}

/// The row of an entry, without file and offset. An anomaly gets the identifier `id_of_anomaly`.
fn row(entry: &ArchiveEntry, id_of_anomaly: &str) -> String {
    let record = match entry {
        ArchiveEntry::Record(record) => record,
        ArchiveEntry::Anomaly(anomaly) => {
            return format!("-\t{id_of_anomaly}\t-\t-\t-\t{}", anomaly.code.name());
        }
    };
    let id = record.id().unwrap();
    let document = match record.document() {
        RecordContent::Http => "http".to_owned(),
        RecordContent::Entity(media_type) => media_type.to_string(),
        RecordContent::None => "-".to_owned(),
    };
    let codes: Vec<_> = record
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code.name())
        .collect();
    [
        type_name(record.record_type),
        id.strip_prefix("urn:x:").unwrap().to_owned(),
        record.target_uri().map_or("-".to_owned(), |uri| text(&uri)),
        document,
        text(record.block()),
        if codes.is_empty() {
            "-".to_owned()
        } else {
            codes.join(",")
        },
    ]
    .join("\t")
}

#[test]
fn every_archive_of_the_fixtures_matches_its_rows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/archive");
    let rows = fs::read_to_string(folder.join("expected.rows")).unwrap();
    let rows: Vec<Vec<_>> = rows
        .lines()
        .skip(1)
        .map(|row| row.splitn(3, '\t').collect())
        .collect();
    for file in ["plain.warc", "members.warc.gz", "whole.warc.gz"] {
        let archive = fs::read(folder.join(file)).unwrap();
        let expected: Vec<_> = rows.iter().filter(|row| row[0] == file).collect();
        let found = entries(&archive);
        for (entry, expected) in found.iter().zip(&expected) {
            let id = expected[2].split('\t').nth(1).unwrap();
            assert_eq!(row(entry, id), expected[2], "{file}");
            let offset = offset(entry);
            let at = &archive[offset.file as usize..];
            match expected[1] {
                "is" => {
                    let heading = &text(&at[..at.len().min(100)]);
                    let begins = ["WARC/", "words"]
                        .iter()
                        .any(|begin| heading.starts_with(begin));
                    assert!(begins && heading.contains(id), "{id}: {heading}");
                }
                "member" | "0" => {
                    assert!(at.starts_with(b"\x1f\x8b") && offset.within == 0, "{id}")
                }
                "within" => {
                    let record = &inflated(&archive)[offset.within as usize..];
                    assert!(offset.file == 0 && record.starts_with(b"WARC/"), "{id}");
                }
                _ => assert!(at.starts_with(id.as_bytes()), "{id}"),
            }
        }
        assert_eq!(found.len(), expected.len(), "{file}");
    }
}

#[test]
fn an_arc_file_is_named_in_the_error() {
    let arc = b"filedesc://a.arc 127.0.0.1 20140301000000 text/plain 0\n1 0 A\n\n";
    for archive in [arc.to_vec(), member(arc)] {
        let mut records = Records::new(&archive[..]);
        let error = records.next().unwrap().unwrap_err().to_string();
        assert!(
            error.contains("ARC") && error.contains("warcio recompress"),
            "{error}"
        );
        assert!(records.next().is_none());
    }
}

/// Bug 201: a heading with CR CR LF ended the archive. Records with such line ends are found like others, also after a
/// record whose Content-Length is wrong.
#[test]
fn a_heading_may_have_several_cr_before_lf() {
    let record = |length: usize| {
        let heading = format!(
            "WARC/1.0\nWARC-Type: resource\nno field\nContent-Length: {length}\nodd: \nodd\n\n"
        );
        [
            heading.replace('\n', "\r\r\n").as_bytes(),
            b"ok\r\r\n\r\r\n",
        ]
        .concat()
    };
    for lengths in [[2, 2, 2], [2, 9, 2]] {
        let archive = lengths.map(record);
        for archive in [
            archive.concat(),
            archive.map(|record| member(&record)).concat(),
        ] {
            let found = entries(&archive);
            assert_eq!(
                (records(&found).len(), anomalies(&found).len()),
                (3, 0),
                "{lengths:?}"
            );
            for (record, length) in records(&found).iter().zip(lengths) {
                let is_right = length == 2;
                assert!(record.block().starts_with(b"ok"), "{lengths:?}");
                assert_eq!(record.block().len() == 2, is_right, "{lengths:?}");
                let lines = "2 lines in the heading are not named fields";
                assert_eq!(&*record.diagnostics[0].message, lines);
                assert_eq!(
                    record.diagnostics.len(),
                    if is_right { 1 } else { 2 },
                    "{lengths:?}"
                );
            }
        }
    }
}

/// Bug 72: an archive with an unknown version produced a diagnostic for each record.
#[test]
fn an_unknown_version_is_reported_once_with_a_count() {
    let record = |version: &str| {
        let heading = format!("WARC/{version}\r\nWARC-Type: resource\r\nContent-Length: 2\r\n");
        [heading.as_bytes(), b"\r\nok\r\n\r\n"].concat()
    };
    let old = [record("1.0"), record("0.9").repeat(800), record("1.2")].concat();
    for archive in [member(&old), old] {
        let found = entries(&archive);
        let offset = offset(&found[1]);
        let message = "801 records of unknown versions are read as WARC 1.1; the first is this one, of WARC 0.9";
        assert!(records(&found).len() == 802 && found.len() == 803);
        assert!(
            records(&found)
                .iter()
                .all(|record| record.diagnostics.is_empty())
        );
        let [anomaly] = anomalies(&found)[..] else {
            panic!()
        };
        assert_eq!(
            (anomaly.offset, anomaly.code, &*anomaly.message),
            (offset, Code::RecordVersion, message)
        );
    }
}

/// A resource record, with the angle brackets that wget writes around URLs.
fn resource(number: usize, block: &[u8]) -> Vec<u8> {
    let heading = format!(
        "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:{number}>\r\n\
         WARC-Target-URI: <http://a/{number}>\r\nContent-Type: text/css\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [heading.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// An archive with a record for each block. `form` 0 is not compressed, 1 compresses each record, 2 the whole archive.
fn archive(blocks: &[Vec<u8>], form: usize) -> Vec<u8> {
    let records = blocks
        .iter()
        .enumerate()
        .map(|(number, block)| resource(number, block));
    match form {
        0 => records.collect::<Vec<_>>().concat(),
        1 => records
            .map(|record| member(&record))
            .collect::<Vec<_>>()
            .concat(),
        _ => member(&records.collect::<Vec<_>>().concat()),
    }
}

/// Blocks that contain no start of a record.
fn blocks() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let bytes = prop_oneof![
        vec(any::<u8>(), 0..200),
        "[a-z\r\n<>=\"]{0,5000}".prop_map(String::into_bytes)
    ];
    vec(bytes, 1..8)
}

/// Pieces of archives, whole and broken.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let good = resource(7, b"*{}");
    let texts = [
        &b"WARC/1.0\r\n"[..],
        b"WARC/1.1\n",
        b"WARC/",
        b"WARC-Type: response\r\n",
        b"Content-Length: 3\r\n",
        b"Content-Length: 40\r\n\r\n",
        b"Content-Length: 99999999999\r\n\r\n",
        b"\r\n",
        b"\r\n\r\n",
        b"\n\n",
        b"xyz",
        b"\x1f\x8b\x08\0",
        b"\0\0\0\0\0\0",
    ];
    let mut known: Vec<Vec<u8>> = texts.map(<[u8]>::to_vec).to_vec();
    let whole = member(&good);
    known.extend([
        whole[..20].to_vec(),
        whole[20..].to_vec(),
        member(b""),
        member(b"W"),
        whole,
        good,
    ]);
    let piece = prop_oneof![4 => proptest::sample::select(known), 1 => vec(any::<u8>(), 0..20)];
    vec(piece, 0..25).prop_map(|pieces| pieces.concat())
}

/// An entry with all its properties, as text.
fn describe(entry: &ArchiveEntry) -> String {
    match entry {
        ArchiveEntry::Record(record) => {
            let (heading, block) = (text(record.heading()), text(record.block()));
            format!(
                "{} {heading} {block} {:?}",
                record.offset, record.diagnostics
            )
        }
        ArchiveEntry::Anomaly(anomaly) => format!("{anomaly:?}"),
    }
}

fn is_same(record: &Record, other: &Record) -> bool {
    (record.heading(), record.block()) == (other.heading(), other.block())
}

/// A reader that returns at most the given number of bytes at a time.
struct SmallReads<'a>(&'a [u8], usize);

impl Read for SmallReads<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = into.len().min(self.1);
        self.0.read(&mut into[..length])
    }
}

/// Bug 38: the result depended on the size of reads. If the first read ended after the heading of a record, the record
/// of a damaged gzip member was accepted, although the checksum covers all data (RFC 1952, 2.3.1). The headings of this
/// test end before and after the first read. Found by coverage-guided fuzzing.
#[test]
fn results_do_not_depend_on_buffered_bytes() {
    let slowly = |bytes: &[u8]| -> Vec<_> {
        Records::new(SmallReads(bytes, 1))
            .map(|entry| describe(&entry.unwrap()))
            .collect()
    };
    let at_once = |bytes: &[u8]| entries(bytes).iter().map(describe).collect::<Vec<_>>();
    let record = |long: usize, after: &str| {
        let long = "a".repeat(long);
        format!("WARC/1.1\r\nX: {long}\r\nContent-Length: 2\r\n\r\nok{after}").into_bytes()
    };
    for long in (1_900..2_400).step_by(20) {
        let mut damaged = member(&record(
            long,
            &format!("\r\n\r\n{}", "no record ".repeat(4)),
        ));
        let sum = damaged.len() - 8;
        damaged[sum] ^= 1;
        assert_eq!(slowly(&damaged), at_once(&damaged), "{long}");
        // The first read ends within the heading.
        if long > 2_048 {
            assert!(
                matches!(&entries(&damaged)[..], [ArchiveEntry::Anomaly(anomaly)] if anomaly.offset.within == 0)
            );
        }
    }
    // Bytes with reserved flags do not begin a member (RFC 1952, 2.3.1.2), even if the flags are read separately from
    // the magic number.
    let intact = member(&record(1, "\r\n\r\n"));
    let flagged = [&intact, &b"x\x1f\x8b\x08\xe0yz"[..], &intact].concat();
    assert_eq!(slowly(&flagged), at_once(&flagged));
    // Bug 43: white space longer than the first read, followed by a possible record or member.
    for spaces in 0..60 {
        let spaced = [&b"\t".repeat(spaces)[..], &b"WARC/1\x1f\x8b\x08"[..]].concat();
        assert_eq!(slowly(&spaced), at_once(&spaced), "{spaces}");
    }
    for line_ends in (2..400).step_by(3) {
        let followed = record(1, &format!("{}no record", "\n".repeat(line_ends)));
        for bytes in [member(&followed), followed] {
            assert_eq!(slowly(&bytes), at_once(&bytes), "{line_ends}");
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_to_their_end(bytes in pieces()) {
        let found = entries(&bytes);
        // The anomaly about versions comes last, with the offset of the first record that it concerns.
        let is_in_order = |entry: &&ArchiveEntry| {
            anomaly(entry).is_none_or(|anomaly| anomaly.code != Code::RecordVersion)
        };
        let offsets: Vec<_> = found.iter().filter(is_in_order).map(offset).collect();
        prop_assert!(offsets.is_sorted_by(|offset, next| offset < next), "{offsets:?}");
        prop_assert!(found.iter().map(offset).all(|offset| offset.file < bytes.len() as u64));
        let compressed = member(&bytes);
        // If the archive is not compressed, heading and block are in the file.
        let is_plain = bytes.starts_with(b"WARC/1");
        for record in records(&found).into_iter().filter(|_| is_plain) {
            let at = &bytes[record.offset.file as usize..];
            prop_assert!(at.starts_with(&[record.heading(), record.block()].concat()));
        }
        // The compressed archive has the same records.
        if is_plain {
            let again = entries(&compressed);
            let (again, found) = (records(&again), records(&found));
            prop_assert_eq!(again.len(), found.len());
            prop_assert!(again.iter().zip(&found).all(|(record, other)| is_same(record, other)));
        }
    }

    #[test]
    fn results_do_not_depend_on_the_size_of_reads(bytes in pieces(), length in 1_usize..50) {
        let expected = entries(&bytes);
        let records = Records::new(SmallReads(&bytes, length));
        let found: Vec<_> = records.map(|entry| describe(&entry.unwrap())).collect();
        prop_assert_eq!(found, expected.iter().map(describe).collect::<Vec<_>>());
    }

    #[test]
    fn a_truncated_archive_yields_the_records_before_the_cut(
        blocks in blocks(),
        form in 0_usize..3,
        cut in any::<prop::sample::Index>(),
    ) {
        let archive = archive(&blocks, form);
        let (whole, cut) = (entries(&archive), entries(&archive[..cut.index(archive.len())]));
        prop_assert_eq!(records(&whole).len(), blocks.len());
        let (whole, found) = (records(&whole), records(&cut));
        for (record, other) in whole.iter().zip(&found) {
            prop_assert_eq!(record.heading(), other.heading());
            prop_assert!(is_same(record, other) || !other.diagnostics.is_empty());
            prop_assert!(record.block().starts_with(other.block()));
        }
        let incomplete = found.iter().filter(|record| !record.diagnostics.is_empty()).count();
        prop_assert!(anomalies(&cut).len() + incomplete <= 1);
        prop_assert!(found.len() <= whole.len());
        prop_assert!(anomalies(&cut).is_empty() || matches!(cut.last(), Some(ArchiveEntry::Anomaly(_))));
    }

    #[test]
    fn a_changed_byte_damages_only_its_record_and_is_reported(
        blocks in blocks(),
        at in any::<prop::sample::Index>(),
        change in 1_u8..,
    ) {
        let mut archive = archive(&blocks, 1);
        let whole = entries(&archive);
        let at = at.index(archive.len());
        archive[at] ^= change;
        let found = entries(&archive);
        let whole = records(&whole);
        let hit = whole.iter().rposition(|record| record.offset.file <= at as u64).unwrap();
        let remaining = records(&found);
        for (number, record) in whole.iter().enumerate().filter(|(number, _)| *number != hit) {
            let same = remaining.iter().find(|other| other.id() == record.id());
            prop_assert!(same.is_some_and(|other| other.block() == record.block()), "{number}, {hit}");
        }
        let is_intact = remaining.iter().any(|record| {
            record.block() == whole[hit].block() && record.id() == whole[hit].id()
        });
        let is_reported = !anomalies(&found).is_empty()
            || remaining.iter().any(|record| !record.diagnostics.is_empty());
        prop_assert!(is_intact || is_reported);
    }
}

#[test]
fn endless_data_is_neither_buffered_nor_reread() {
    let begin = |fields: &str| format!("WARC/1.0\r\n{fields}").into_bytes();
    let good = [b"\r\n\r\n", &resource(1, b"*{}")[..]].concat();
    let size = 100 << 20;
    for (start, filler) in [
        (begin("WARC-Type: "), b'x'),
        (begin("Content-Length: 9223372036854775808\r\n\r\n"), b'x'),
        (begin("Content-Length: 1\r\n\r\nx"), b'\n'),
        (begin("Content-Length: 1\r\n\r\n"), 0),
        (Vec::new(), b'\n'),
    ] {
        let archive = start
            .chain(std::io::repeat(filler).take(size))
            .chain(&good[..]);
        let found: Vec<_> = Records::new(archive).collect::<Result<_, _>>().unwrap();
        assert_eq!(
            records(&found).last().unwrap().id().unwrap(),
            "urn:x:1",
            "{filler}"
        );
        assert!(found.len() <= 2, "{filler}");
    }
}

#[test]
fn a_member_that_inflates_to_much_takes_little_memory() {
    let zeros = vec![0; 64 << 20];
    let bomb = member(&[&resource(1, b"*{}")[..], &zeros].concat());
    let archive = [&bomb.repeat(4)[..], &member(&resource(2, b"*{}"))].concat();
    let found: Vec<_> = Records::new(&archive[..])
        .limit(1000)
        .collect::<Result<_, _>>()
        .unwrap();
    let found = records(&found);
    assert_eq!(found.len(), 5);
    for record in found {
        // The text contains each byte that the record keeps.
        assert!(format!("{record:?}").len() <= 5 << 20);
    }
}

#[test]
fn records_around_many_empty_and_truncated_members_are_found() {
    let last = member(&resource(1, b"*{}"));
    for piece in [
        member(b""),
        b"\x1f\x8b\x08\0".to_vec(),
        member(b"x"),
        b"\x1f\x8b\x08\0\0\0\0\0\0\0\0\x04\0\xfb\xff".to_vec(),
    ] {
        let archive = [&last[..], &piece.repeat((4 << 20) / piece.len()), &last].concat();
        let found = entries(&archive);
        assert_eq!(records(&found).len(), 2, "{piece:?}");
        assert!(anomalies(&found).len() <= 1, "{piece:?}");
    }
}

#[test]
fn false_lengths_do_not_cause_repeated_reading() {
    for length in [10_000_usize, 1_000_000, 100_000_000] {
        let heading =
            format!("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: {length}\r\n\r\n");
        let archive = [heading.as_bytes(), b"x\r\n\r\n"].concat().repeat(50_000);
        let found = entries(&archive);
        // The anomaly about versions comes last, with the offset of the first record that it concerns.
        let is_in_order = |entry: &&ArchiveEntry| {
            anomaly(entry).is_none_or(|anomaly| anomaly.code != Code::RecordVersion)
        };
        let offsets: Vec<_> = found.iter().filter(is_in_order).map(offset).collect();
        assert!(offsets.is_sorted() && !found.is_empty(), "{length}");
    }
}

#[test]
fn a_block_has_at_most_the_declared_length() {
    let archive = [resource(1, &[b'x'; 101]), resource(2, &[b'x'; 100])].concat();
    let found: Vec<_> = Records::new(&archive[..])
        .limit(100)
        .collect::<Result<_, _>>()
        .unwrap();
    let message = "a record of 101 bytes, more than the limit of 100";
    assert_eq!(anomalies(&found)[0].message, message);
    assert_eq!(records(&found)[0].id().unwrap(), "urn:x:2");
}

#[test]
fn an_error_of_the_reader_ends_the_archive() {
    struct Failing<'a>(&'a [u8]);
    impl Read for Failing<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(into)? {
                0 => Err(std::io::ErrorKind::TimedOut.into()),
                read => Ok(read),
            }
        }
    }
    let archive = [resource(1, &[b'x'; 5000]), resource(2, &[b'x'; 5000])].concat();
    let mut records = Records::new(Failing(&archive[..6000]));
    assert!(matches!(records.next(), Some(Ok(ArchiveEntry::Record(_)))));
    assert!(records.next().unwrap().is_err());
    assert!(records.next().is_none());
}

/// A WACZ file that contains `files`.
fn wacz(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        let method = if name.ends_with(".gz") || name.ends_with(".wacz") {
            zip::CompressionMethod::Stored
        } else {
            zip::CompressionMethod::Deflated
        };
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        zip.start_file(*name, options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn a_wacz_file_yields_only_its_archives() {
    let (plain, compressed) = (resource(1, b"*{}"), member(&resource(2, b"*{}")));
    let file = wacz(&[
        ("datapackage.json", b"{}"),
        ("archive/data.warc.gz", &compressed),
        ("archive/../../data.warc", &plain),
        ("archive/..\\data.warc", &plain),
        ("archive/readme.txt", b"x"),
        ("indexes/data.warc", b"x"),
        ("archive/b.warc", &plain),
    ]);
    let id = |name: &str, archive: Result<&mut dyn Read>| {
        let entry = Records::new(archive.unwrap()).next().unwrap().unwrap();
        format!("{name} {}", record(&entry).unwrap().id().unwrap())
    };
    let expected = ["archive/data.warc.gz urn:x:2", "archive/b.warc urn:x:1"];
    assert_eq!(of_each_archive(file, id), expected);
}

/// The results of `read` for the names and bytes of all archives in the WACZ file `file`.
fn of_each_archive<T>(
    file: Vec<u8>,
    mut read: impl FnMut(&str, Result<&mut dyn Read>) -> T,
) -> Vec<T> {
    let mut found = Vec::new();
    let mut wacz = Wacz::open(Cursor::new(file)).unwrap();
    let ended: Result<()> = wacz.each(|name, archive| {
        found.push(read(name, archive));
        Ok(())
    });
    ended.unwrap();
    found
}

/// The names of all archives in the WACZ file `file`, and the reasons why some cannot be opened.
fn all_archives(file: Vec<u8>) -> Vec<String> {
    of_each_archive(file, |name, archive| match archive {
        Ok(archive) => format!("{name} {}", Records::new(archive).count()),
        Err(error) => error.to_string(),
    })
}

/// Bug 360: Browsertrix zips the WACZ files of a crawl together. The folder of archives may be in another, or have its
/// name of WACZ 0.1, and names may be in capitals.
#[test]
fn wacz_files_in_a_wacz_file_and_other_forms_are_read() {
    let one = resource(1, b"*{}");
    let page = b"{\"url\":\"http://a/1\"}\n";
    let inner = wacz(&[("archive/A.WARC", &one), ("pages/pages.jsonl", page)]);
    let older = wacz(&[("export/warcs/b.warc", &one), ("export/pages.jsonl", page)]);
    let file = wacz(&[("x.wacz", &inner), ("c/y.wacz", &older)]);
    assert_eq!(pages(&file).len(), 2);
    let expected = ["x.wacz/archive/A.WARC 1", "c/y.wacz/export/warcs/b.warc 1"];
    assert_eq!(all_archives(file.clone()), expected);
    // Below the second level and in damaged files, nothing is read.
    let without = "not a WACZ file: it has no WARC file in its folder archive/";
    let deeper = wacz(&[("z.wacz", &file), ("x.wacz", &inner)]);
    let expected = [&format!("z.wacz: {without}"), "x.wacz/archive/A.WARC 1"];
    assert_eq!(all_archives(deeper), expected);
    let cut = &inner[..inner.len() - 9];
    let expected = "z.wacz: not a WACZ file: it is not a readable zip file, or its end is missing";
    assert_eq!(all_archives(wacz(&[("z.wacz", cut)])), [expected]);
    // `wacz` compresses this name.
    let expected = ["z.WACZ/archive/A.WARC 1"];
    assert_eq!(all_archives(wacz(&[("z.WACZ", &inner)])), expected);
}

/// The declared size of an entry is not allocated, and an archive that lacks bytes is an error.
#[test]
fn a_wacz_file_may_declare_any_size() {
    let mut file = wacz(&[("archive/a.warc", &resource(1, b"*{}"))]);
    let directory = file
        .windows(4)
        .rposition(|signature| signature == b"PK\x01\x02");
    // The decompressed size, in the local header and in the directory (APPNOTE.TXT, 4.3.7 and 4.3.12).
    for at in [22, directory.unwrap() + 24] {
        file[at..at + 4].copy_from_slice(&0xffff_fffe_u32.to_le_bytes());
    }
    let first = |_: &str, archive: Result<&mut dyn Read>| {
        let mut entries = Records::new(archive.unwrap());
        entries.next().unwrap().is_ok()
    };
    assert_eq!(of_each_archive(file, first), [true]);
}

/// WACZ 1.1.1, 5.2.2: the first line of a list is its heading. `pages.jsonl` comes before `extraPages.jsonl`.
#[test]
fn a_wacz_file_lists_its_pages() {
    let file = wacz(&[
        ("archive/a.warc", b"WARC/1.1\r\n"),
        ("pages/extraPages.jsonl", b"{\"url\":\"http://a/2\"}\n"),
        (
            "pages/pages.jsonl",
            b"{\"format\":\"json-pages-1.0\",\"id\":\"pages\",\"title\":\"All\"}\n\
              {\"id\":\"1\",\"url\":\"http://a/1\",\"title\":\"One\",\"ts\":\"2026-01-02T03:04:05Z\"}\nnot JSON\n",
        ),
        ("pages/notes.txt", b"{\"url\":\"http://a/3\"}\n"),
    ]);
    let expected = [("http://a/1", Some("One")), ("http://a/2", None)];
    let expected = expected.map(|(url, title)| (url.to_owned(), title.map(str::to_owned)));
    assert_eq!(pages(&file), expected);
}

/// The URLs and titles of the pages that the WACZ file `file` lists.
fn pages(file: &[u8]) -> Vec<(String, Option<String>)> {
    let (mut found, mut wacz) = (Vec::new(), Wacz::open(Cursor::new(file)).unwrap());
    wacz.each_page(|page| found.push((page.url, page.title)));
    found
}

/// Bug 553: several lists of 64 MiB were read into memory. Together they have 16 MiB, or 256 times the length of the file.
#[test]
fn lists_of_pages_share_a_limit() {
    let one = resource(1, b"*{}");
    let lines = b"{\"url\":\"u\"}\n".repeat(1 << 20);
    let last = b"{\"url\":\"last\"}\n";
    let best = zip::write::SimpleFileOptions::default().compression_level(Some(9));
    let file = |number: usize| {
        let start = Cursor::new(wacz(&[("archive/a.warc", &one[..])]));
        let mut zip = zip::ZipWriter::new_append(start).unwrap();
        for name in &["pages/a.jsonl", "pages/b.jsonl"][..number] {
            zip.start_file(*name, best).unwrap();
            zip.write_all(&lines).unwrap();
        }
        zip.start_file("pages/z.jsonl", best).unwrap();
        zip.write_all(last).unwrap();
        zip.finish().unwrap().into_inner()
    };
    assert_eq!(lines.len(), 12 << 20);
    assert_eq!(pages(&file(1)).len(), (1 << 20) + 1);
    let found = pages(&file(2)).len();
    assert!((1 << 20..3 << 19).contains(&found), "{found}");
    // A line of more than 4 MiB is skipped.
    let long = [
        b"{\"url\":\"u\",\"text\":\"",
        &b"x".repeat(4 << 20)[..],
        b"\"}\n",
        last,
    ]
    .concat();
    let file = wacz(&[("archive/a.warc", &one), ("pages/pages.jsonl", &long)]);
    assert_eq!(pages(&file), [("last".to_owned(), None)]);
}

/// Bug 553: lists of pages could share their bytes.
#[test]
fn lists_of_pages_that_overlap_give_an_error() {
    let list = b"x".repeat(5_000);
    let files: &[(&str, &[u8])] = &[
        ("archive/a.warc", b"x"),
        ("pages/a.gz", &list),
        ("pages/b.gz", b"x"),
    ];
    let mut file = wacz(files);
    let directory = file
        .windows(4)
        .rposition(|signature| signature == b"PK\x01\x02");
    let local = file
        .windows(10)
        .position(|name| name == b"pages/a.gz")
        .unwrap()
        - 30;
    let (entry, local) = (directory.unwrap(), u32::try_from(local).unwrap());
    for (at, value) in [(20, 5_000_u32), (24, 5_000), (42, local)] {
        file[entry + at..entry + at + 4].copy_from_slice(&value.to_le_bytes());
    }
    let error = Wacz::open(Cursor::new(file)).err().unwrap().to_string();
    assert!(error.starts_with("its files overlap"), "{error}");
}

/// Bug 556: an archive of gzip members that is compressed again could contain a thousand times a thousand times its length.
#[test]
fn an_archive_that_is_compressed_twice_is_limited() {
    let zeros = member(&vec![0; 64 << 20]).repeat(40);
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(
        "archive/a.warc.gz",
        zip::write::SimpleFileOptions::default(),
    )
    .unwrap();
    zip.write_all(&zeros).unwrap();
    assert!(zeros.len() > 2 << 20);
    let length = |_: &str, archive: Result<&mut dyn Read>| {
        std::io::copy(archive.unwrap(), &mut std::io::sink()).unwrap()
    };
    let file = zip.finish().unwrap().into_inner();
    assert_eq!(of_each_archive(file, length), [1 << 20]);
}

/// Bug 287: entries of a zip file may share their bytes, so that a file of 1 MB contains terabytes.
#[test]
fn archives_of_a_wacz_file_that_overlap_give_an_error() {
    let content = vec![b'x'; 5_000];
    let mut file = wacz(&[("archive/a.warc.gz", &content), ("archive/b.warc.gz", b"x")]);
    let directory = file
        .windows(4)
        .rposition(|signature| signature == b"PK\x01\x02");
    let entry = directory.unwrap();
    // The sizes and the offset of the local header (APPNOTE.TXT, 4.3.12).
    for (at, value) in [(20, 5_000_u32), (24, 5_000), (42, 0)] {
        file[entry + at..entry + at + 4].copy_from_slice(&value.to_le_bytes());
    }
    let error = Wacz::open(Cursor::new(file)).err().unwrap().to_string();
    assert!(error.starts_with("its files overlap"), "{error}");
}

#[test]
fn files_that_are_not_wacz_give_an_error() {
    let plain = resource(1, b"*{}");
    let whole = wacz(&[("archive/a.warc", &plain)]);
    let error = |file: &[u8]| match Wacz::open(Cursor::new(file)) {
        Err(error) => error.to_string(),
        Ok(mut wacz) => wacz
            .each(|_, archive| archive.map(drop))
            .unwrap_err()
            .to_string(),
    };
    for cut in [0, 1, 20, whole.len() - 10] {
        assert_eq!(
            error(&whole[..cut]),
            "not a WACZ file: it is not a readable zip file, or its end is missing"
        );
    }
    let other = wacz(&[("a.warc", &plain)]);
    assert_eq!(
        error(&other),
        "not a WACZ file: it has no WARC file in its folder archive/"
    );
    // Bit 0 of the flags, in the local header and in the directory (APPNOTE.TXT, 4.4.4).
    let mut encrypted = whole.clone();
    let directory = encrypted
        .windows(4)
        .position(|signature| signature == b"PK\x01\x02")
        .unwrap();
    encrypted[6] |= 1;
    encrypted[directory + 8] |= 1;
    assert_eq!(
        error(&encrypted),
        "archive/a.warc is encrypted and cannot be read"
    );
    let mut method = whole;
    (method[8], method[directory + 10]) = (14, 14);
    assert_eq!(
        error(&method),
        "archive/a.warc is compressed with Lzma, which is not supported"
    );
}

/// Bug 399: Zstandard frames were not read. Those of `site.warc.zst` need the dictionary before them, which is compressed too.
#[test]
fn frames_of_zstandard_have_the_same_records() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/archive");
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let (plain, compressed) = (entries(&read("site.warc")), read("site.warc.zst"));
    let found = entries(&compressed);
    let contents = |all: &[ArchiveEntry]| -> Vec<_> {
        let all = records(all).into_iter();
        all.map(|one| (one.id(), one.offset.file, one.block().to_vec()))
            .collect()
    };
    assert_eq!(contents(&found), contents(&plain));
    // Damage ends the archive with an error, or with fewer records.
    for at in 0..compressed.len() {
        let _ = Records::new(&compressed[..at]).count();
        let mut damaged = compressed.clone();
        damaged[at] ^= 0x10;
        let _ = Records::new(&damaged[..]).count();
    }
}

/// A frame of Zstandard with these blocks, each with its type and the size in its header (RFC 8878, 3.1.1).
fn frame(blocks: &[(u32, usize, &[u8])]) -> Vec<u8> {
    // A window of 1 MiB, and no size of the content.
    let mut frame = b"\x28\xb5\x2f\xfd\x00\x50".to_vec();
    for (at, (kind, size, content)) in blocks.iter().enumerate() {
        let is_last = u32::from(at + 1 == blocks.len());
        let header = u32::try_from(*size).unwrap() << 3 | kind << 1 | is_last;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(*content);
    }
    frame
}

/// A frame with a block that is not compressed.
fn plain_frame(content: &[u8]) -> Vec<u8> {
    frame(&[(0, content.len(), content)])
}

/// Bug 562: an archive of Zstandard that is cut off was an error, without the records before the cut.
#[test]
fn an_archive_of_zstandard_that_is_cut_yields_what_is_whole() {
    let [first, second] = [resource(1, b"*{}"), resource(2, b"p{}")];
    let frames = [plain_frame(&first), plain_frame(&second)];
    let whole = frames.concat();
    let ids = |found: &[ArchiveEntry]| -> Vec<_> {
        let found = records(found).into_iter();
        found
            .map(|one| (one.id().unwrap(), one.diagnostics.len()))
            .collect()
    };
    assert_eq!(
        ids(&entries(&whole)),
        [("urn:x:1".into(), 0), ("urn:x:2".into(), 0)]
    );
    for cut in frames[0].len() + 1..whole.len() {
        let found = entries(&whole[..cut]);
        assert_eq!(ids(&found), [("urn:x:1".to_owned(), 0)], "{cut}");
        assert_eq!(anomalies(&found)[0].code, Code::RecordTruncated, "{cut}");
    }
    // One frame with several blocks, of which the last is cut: its first blocks are read.
    let (start, end) = second.split_at(second.len() - 5);
    let blocks: [(u32, usize, &[u8]); 3] = [
        (0, first.len(), &first),
        (0, start.len(), start),
        (0, end.len(), end),
    ];
    let one = frame(&blocks);
    let found = entries(&one[..one.len() - 1]);
    assert_eq!(ids(&found), [("urn:x:1".into(), 0), ("urn:x:2".into(), 1)]);
    // Damage is not the end of the archive.
    let damaged = [
        &frames[0][..],
        b"\x28\xb5\x2f\xfd\x00\x50\xff\xff\xff",
        &frames[1],
    ]
    .concat();
    let found = entries(&damaged);
    assert_eq!(ids(&found), [("urn:x:1".to_owned(), 0)]);
    assert_eq!(anomalies(&found)[0].code, Code::MemberBroken);
}

/// Bug 563: only a frame with a dictionary was skipped at the start.
#[test]
fn frames_of_zstandard_to_be_skipped_are_skipped() {
    let record = plain_frame(&resource(1, b"*{}"));
    for first in [0x50, 0x5e, 0x5f] {
        let skipped = [&[first, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        assert!(baselink::archive::is_archive(&skipped));
        for archive in [
            [&skipped[..], &record].concat(),
            [&record[..], &skipped].concat(),
        ] {
            let found = entries(&archive);
            assert_eq!(
                (records(&found).len(), anomalies(&found).len()),
                (1, 0),
                "{first:x}"
            );
        }
    }
}

/// Bug 555: a block of four bytes stands for 128 KiB. The data have at most 16 MiB, or 256 times the length of the archive.
#[test]
fn data_of_zstandard_are_limited() {
    let record = |length: usize, block: &[u8]| {
        let mut record = resource(2, b"*{}");
        let at = record
            .windows(4)
            .position(|end| end == b"\r\n\r\n")
            .unwrap();
        record.truncate(at);
        let text = String::from_utf8(record)
            .unwrap()
            .replace("Length: 3", &format!("Length: {length}"));
        [text.as_bytes(), b"\r\n\r\n", block].concat()
    };
    let found = |megabytes: usize| {
        let heading = record(megabytes << 20, b"");
        let mut blocks: Vec<(u32, usize, &[u8])> = vec![(1, 1 << 17, b"a"); megabytes * 8];
        blocks.insert(0, (0, heading.len(), &heading));
        blocks.push((0, 4, b"\r\n\r\n"));
        entries(&[plain_frame(&resource(1, b"*{}")), frame(&blocks)].concat())
    };
    let ok = found(14);
    assert_eq!((records(&ok).len(), anomalies(&ok).len()), (2, 0));
    let beyond = found(18);
    let anomaly = anomalies(&beyond)[0];
    assert_eq!(
        (records(&beyond).len(), anomaly.code),
        (1, Code::MemberBroken)
    );
    assert!(anomaly.message.contains("256 times"), "{}", anomaly.message);
}
