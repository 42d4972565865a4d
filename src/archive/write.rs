//! Records of an archive that is written (ISO 28500:2017): a `warcinfo` record, and `conversion` records with what
//! was made of the documents of other records.
//!
//! The same input gives the same bytes. The id of a record is a UUID of version 5 (RFC 9562, 5.5) made of what it
//! is about, and a gzip member says no time. A conversion has the date of the record that it was made of, as in
//! the WET files of Common Crawl: it says when the document was retrieved.
//!
//! The digests are SHA-1 in base32, as in ISO 28500:2017, 5.8: what writes archives writes these, so what reads them
//! checks these. They find accidents, which needs no better digest.
//!
//! ```
//! use baselink::archive::{ArchiveEntry, Records, WarcWriter, Warcinfo};
//! let archive = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n\
//!     WARC-Target-URI: <http://a/ b>\r\nWARC-Date: 2024-05-18T01:58:10Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
//! let Some(Ok(ArchiveEntry::Record(record))) = Records::new(&archive[..]).next() else { panic!() };
//! let info = Warcinfo { software: "s/1", date: 1_000_000_000, filename: None, is_part_of: None };
//! let (writer, mut written) = (WarcWriter::new(&info, false), Vec::new());
//! writer.conversion(&mut written, &record, "text/html", b"<p>")?;
//! let written = String::from_utf8_lossy(&written);
//! let lines: Vec<_> = written.lines().filter(|line| !line.contains("-ID: ")).collect();
//! assert_eq!(lines, [
//!     "WARC/1.1",
//!     "WARC-Type: conversion",
//!     "WARC-Date: 2024-05-18T01:58:10Z",
//!     "WARC-Refers-To: <urn:uuid:1>",
//!     "WARC-Target-URI: http://a/ b",
//!     "WARC-Block-Digest: sha1:MOW2KXALUIJKLMPY2WTQREDYR4AJOK7U",
//!     "WARC-Payload-Digest: sha1:MOW2KXALUIJKLMPY2WTQREDYR4AJOK7U",
//!     "Content-Type: text/html",
//!     "Content-Length: 3",
//!     "",
//!     "<p>",
//!     "",
//! ]);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Deliberately absent: the clock, and every record of a server's answer, which is never written anew.

use std::io::{self, Write};

use flate2::{Compression, GzBuilder};
use sha1::{Digest, Sha1};

use super::record::Record;

/// The standard that the records are written by.
const CONFORMS_TO: &str =
    "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/";
/// RFC 9562, 6.6: the namespace of names that are URLs, as the ids of records are.
const NAMESPACE: [u8; 16] = *b"\x6b\xa7\xb8\x11\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8";
/// The operating system that RFC 1952, 2.3.1, calls unknown.
const UNKNOWN: u8 = 255;

/// What a `warcinfo` record says (ISO 28500:2017, 6.2).
#[derive(Clone, Copy, Debug)]
pub struct Warcinfo<'a> {
    /// What wrote the archive.
    pub software: &'a str,
    /// When, in seconds since 1970.
    pub date: u64,
    /// The name of the archive.
    pub filename: Option<&'a str>,
    /// What the archive is a part of.
    pub is_part_of: Option<&'a str>,
}

/// What writes the records of one archive. Each is a gzip member where the archive is compressed, and can be
/// written by itself.
#[derive(Clone, Debug)]
pub struct WarcWriter {
    is_compressed: bool,
    date: String,
    filename: Option<String>,
    /// The block of the `warcinfo` record.
    info: Vec<u8>,
    /// The id of the `warcinfo` record.
    id: String,
}

impl WarcWriter {
    /// For an archive about which `info` is said.
    #[must_use]
    pub fn new(info: &Warcinfo<'_>, is_compressed: bool) -> Self {
        let mut block = Vec::new();
        field(&mut block, "software", info.software.as_bytes());
        field(&mut block, "format", b"WARC File Format 1.1");
        field(&mut block, "conformsTo", CONFORMS_TO.as_bytes());
        if let Some(whole) = info.is_part_of {
            field(&mut block, "isPartOf", whole.as_bytes());
        }
        let (date, filename) = (date(info.date), info.filename.map(str::to_owned));
        let id = uuid([date.as_bytes(), info.filename.unwrap_or_default().as_bytes(), &block]);
        Self { is_compressed, date, filename, info: block, id }
    }

    /// Writes the `warcinfo` record, which is the first of the archive.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn warcinfo(&self, out: &mut impl Write) -> io::Result<()> {
        let mut heading = self.begun("warcinfo", &self.id, self.date.as_bytes());
        if let Some(filename) = &self.filename {
            field(&mut heading, "WARC-Filename", filename.as_bytes());
        }
        field(&mut heading, "WARC-Block-Digest", digest(&self.info).as_bytes());
        self.write(out, heading, "application/warc-fields", &self.info)
    }

    /// Writes a `conversion` record: `payload`, of the media type `content_type`, was made of the document of
    /// `record`.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn conversion(
        &self,
        out: &mut impl Write,
        record: &Record,
        content_type: &str,
        payload: &[u8],
    ) -> io::Result<()> {
        let (digest, target) = (digest(payload), record.target_uri().unwrap_or_default());
        let date = record.date().filter(|date| is_date(date));
        let date = date.as_deref().unwrap_or(&self.date);
        let of = record.id().unwrap_or_default();
        let id = uuid([of.as_bytes(), &target, digest.as_bytes()]);
        let mut heading = self.begun("conversion", &id, date.as_bytes());
        field(&mut heading, "WARC-Warcinfo-ID", bracketed(&self.id).as_bytes());
        if !of.is_empty() {
            field(&mut heading, "WARC-Refers-To", bracketed(&of).as_bytes());
        }
        // Without the angle brackets of ISO 28500:2009, which that of 2017 has no more.
        if !target.is_empty() {
            field(&mut heading, "WARC-Target-URI", &target);
        }
        field(&mut heading, "WARC-Block-Digest", digest.as_bytes());
        field(&mut heading, "WARC-Payload-Digest", digest.as_bytes());
        self.write(out, heading, content_type, payload)
    }

    /// The beginning of a heading.
    fn begun(&self, record_type: &str, id: &str, date: &[u8]) -> Vec<u8> {
        let mut heading = b"WARC/1.1\r\n".to_vec();
        field(&mut heading, "WARC-Type", record_type.as_bytes());
        field(&mut heading, "WARC-Record-ID", bracketed(id).as_bytes());
        field(&mut heading, "WARC-Date", date);
        heading
    }

    /// Ends `heading`, and writes the record.
    fn write(
        &self,
        out: &mut impl Write,
        mut heading: Vec<u8>,
        content_type: &str,
        block: &[u8],
    ) -> io::Result<()> {
        field(&mut heading, "Content-Type", content_type.as_bytes());
        field(&mut heading, "Content-Length", block.len().to_string().as_bytes());
        heading.extend(b"\r\n");
        if !self.is_compressed {
            return write_all(out, [&heading, block, b"\r\n\r\n"]);
        }
        let member = GzBuilder::new().mtime(0).operating_system(UNKNOWN);
        let mut member = member.write(out, Compression::default());
        write_all(&mut member, [&heading, block, b"\r\n\r\n"])?;
        member.finish().map(drop)
    }
}

fn write_all(out: &mut impl Write, pieces: [&[u8]; 3]) -> io::Result<()> {
    pieces.into_iter().try_for_each(|piece| out.write_all(piece))
}

/// Adds a field; what would end it is a space.
fn field(heading: &mut Vec<u8>, name: &str, value: &[u8]) {
    heading.extend(name.as_bytes());
    heading.extend(b": ");
    heading
        .extend(value.iter().map(|&byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte }));
    heading.extend(b"\r\n");
}

fn bracketed(id: &str) -> String {
    format!("<{id}>")
}

/// A labelled digest (ISO 28500:2017, 5.8).
fn digest(bytes: &[u8]) -> String {
    const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let digest = Sha1::digest(bytes);
    // 160 bits: 32 characters, and no padding (RFC 4648, 6).
    let character = |at: usize| {
        let (byte, bit) = (at * 5 / 8, at * 5 % 8);
        let two = u16::from_be_bytes([digest[byte], *digest.get(byte + 1).unwrap_or(&0)]);
        char::from(BASE32[usize::from(two >> (11 - bit) & 31)])
    };
    format!("sha1:{}", (0..32).map(character).collect::<String>())
}

/// A UUID of version 5 (RFC 9562, 5.5) for the name that is `pieces` with spaces between them.
fn uuid(pieces: [&[u8]; 3]) -> String {
    let digest = Sha1::new().chain_update(NAMESPACE).chain_update(pieces.join(&b' ')).finalize();
    let mut bytes: [u8; 16] = std::array::from_fn(|at| digest[at]);
    bytes[6] = bytes[6] & 0x0f | 0x50;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let [a, b, c, d, e] = [0..4, 4..6, 6..8, 8..10, 10..16].map(|range| hex(&bytes[range]));
    format!("urn:uuid:{a}-{b}-{c}-{d}-{e}")
}

/// Whether `date` is one of ISO 28500:2017, 5.4: `2024-05-18T01:58:10Z`, maybe with a fraction of a second.
fn is_date(date: &str) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00";
    let Some((seconds, rest)) = date.as_bytes().split_at_checked(FORM.len()) else { return false };
    let is_formed = seconds.iter().zip(FORM).all(|(&byte, &form)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    });
    let fraction = rest.strip_suffix(b"Z").map(|rest| rest.strip_prefix(b".").unwrap_or(rest));
    is_formed && fraction.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
}

/// The date that is so many seconds after the start of 1970, by the proleptic Gregorian calendar.
fn date(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March, so that a leap day is the last: 719,468 days are before 1970 from the first of
    // March of the year 0, and 400 years have 146,097.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year + u64::from(month >= 10);
    let month = if month < 10 { month + 3 } else { month - 9 };
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_ids_and_dates_are_those_of_other_programs() {
        // `printf abc | sha1sum | xxd -r -p | base32`
        assert_eq!(digest(b"abc"), "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
        // Python's `uuid.uuid5(uuid.NAMESPACE_URL, "a b c")`
        assert_eq!(uuid([b"a", b"b", b"c"]), "urn:uuid:0d42ffec-87ba-57c1-946f-71d2199e6828");
        // `date -u -d @…`
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(date(seconds), expected);
        }
    }

    #[test]
    fn a_date_is_one_of_the_standard() {
        for (date, expected) in [
            ("2024-05-18T01:58:10Z", true),
            ("2024-05-18T01:58:10.123456789Z", true),
            ("2008-10-294T05:21:46-0700", false),
            ("2024-05-18T01:58:10", false),
            ("2024-05-18", false),
            ("", false),
        ] {
            assert_eq!(is_date(date), expected, "{date}");
        }
    }
}
