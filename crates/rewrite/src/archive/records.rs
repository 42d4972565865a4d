//! The records of an archive in sequence, and the anomalies between them.
//!
//! A record consists of a version line, named fields, an empty line, a block and two line ends (ISO 28500, 4). In a
//! compressed archive each record has its own gzip member (annex D).
//!
//! `Content-Length` gives the length of the block. The length is wrong if the member or the file ends earlier, or if
//! no record follows. If the member ends earlier, the block ends with it. Otherwise the block ends before the first
//! line in it that begins a record. Without such a line, the block keeps its length, or ends with the file.
//!
//! ```
//! use baselink_rewrite::archive::{ArchiveEntry, Records};
//! let archive = b"WARC/1.0\r\nContent-Length: 2\r\n\r\nok\r\n\r\n\
//!     WARC/1.0\r\nWARC-Type: resource\r\n\r\nof no length\r\n\r\n\
//!     WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 9\r\n\r\ncut";
//! let mut found = Vec::new();
//! for entry in Records::new(&archive[..]) {
//!     found.push(match entry? {
//!         ArchiveEntry::Record(record) => (record.offset.file, record.block().to_vec(), record.diagnostics.len()),
//!         ArchiveEntry::Anomaly(anomaly) => (anomaly.offset.file, Vec::new(), 1),
//!     });
//! }
//! assert_eq!(found, [(0, b"ok".to_vec(), 0), (37, Vec::new(), 1), (86, b"cut".to_vec(), 1)]);
//! # Ok::<(), baselink_text::Error>(())
//! ```
//!
//! Deliberately absent: verification of digests, reassembly of segments (ISO 28500, 7), and ARC.

use std::{
    borrow::Cow,
    io::{self, Read},
    mem,
};

use baselink_text::{Code, Error, ErrorKind, Result, Span, cause};

use super::{
    data::{Data, DataEvent, Member},
    record::{
        BEGINNING, Offset, Record, RecordHeading, STARTS, begins_record, record_start, without_end,
    },
};
use crate::container::http::LONGEST_HEADING;

/// The default maximum length of a block, in bytes.
pub const LONGEST_BLOCK: usize = 1 << 30;
/// The number of bytes to read first, which covers most headings.
const FIRST: usize = 2 << 10;
/// The number of bytes to read first for a record at the start of a member, which usually holds nothing else.
const MEMBER: usize = 64 << 10;
/// The minimum growth of a buffer.
const CHUNK: usize = 64 << 10;
/// The number of surplus bytes to read. Decompression is slow if a match might not fit into the buffer.
const READ_SURPLUS: usize = 320;
/// The number of bytes to read first when searching for a record.
const FIRST_SEARCH: usize = 512;
/// The number of bytes to read after a block: two line ends, of at most three bytes, and the start of a record.
const AFTER: usize = 6 + BEGINNING;
/// The number of bytes to read after a block if there are more line ends, or if a record must be searched for.
const FAR_AFTER: usize = 64 + STARTS;
/// The number of bytes that may be read again in any archive, in addition to twice the bytes read so far.
const REREAD_BUDGET: u64 = 1 << 20;

/// The message about an ARC file.
const ARC: &str = "an ARC file, the predecessor of WARC, which is not supported; convert it to WARC with `warcio recompress`";

/// An item in an archive.
///
/// ```
/// # use baselink_rewrite as baselink;
/// use baselink::archive::{ArchiveEntry, Records};
/// for entry in Records::new(&b"WARC/1.1\r\n\r\n"[..]) {
///     match entry? {
///         ArchiveEntry::Record(record) => println!("{:?}", record.target_uri()),
///         ArchiveEntry::Anomaly(anomaly) => println!("{}: {}", anomaly.offset, anomaly.message),
///     }
/// }
/// # Ok::<(), baselink_text::Error>(())
/// ```
#[derive(Debug)]
pub enum ArchiveEntry {
    /// A record.
    Record(Record),
    /// Bytes that are not a record, or a broken record.
    Anomaly(Anomaly),
}

/// A defect that prevents reading a record, or a fact about many records.
///
/// ```
/// # mod baselink { pub use {baselink_rewrite::archive, baselink_text::{Code, Error}}; }
/// use baselink::Code;
/// use baselink::archive::{ArchiveEntry, Records};
/// let archive = b"WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: x\r\n\r\n";
/// let entry = Records::new(&archive[..]).next().unwrap()?;
/// let ArchiveEntry::Anomaly(anomaly) = entry else { panic!() };
/// assert_eq!((anomaly.code, anomaly.offset.file), (Code::RecordBroken, 0));
/// # Ok::<(), baselink::Error>(())
/// ```
#[derive(Debug)]
pub struct Anomaly {
    /// The position of the anomaly.
    pub offset: Offset,
    /// The kind of anomaly.
    pub code: Code,
    /// A sentence for people, without a full stop.
    pub message: Cow<'static, str>,
}

/// Iterates over the records and anomalies of an archive, in order. An anomaly of the whole archive comes last.
/// Only an error of the reader, or an archive in another format, ends the sequence early.
///
/// Time is linear in the data. Memory is proportional to the longest block. Records with blocks above the
/// [limit](Records::limit), by default 1 GiB, are anomalies.
///
/// ```
/// # use baselink_rewrite as baselink;
/// use baselink::archive::{ArchiveEntry, Records};
/// let archive = b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/b\r\n\
///     Content-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>\r\n\r\n";
/// for entry in Records::new(&archive[..]) {
///     let ArchiveEntry::Record(record) = entry? else { continue };
///     println!("{} {}", record.offset, record.version());
/// }
/// # Ok::<(), baselink_text::Error>(())
/// ```
pub struct Records<R> {
    data: Data<R>,
    limit: usize,
    /// The buffer for bytes that are only searched.
    scratch: Vec<u8>,
    /// The member in which the current entry begins.
    member: Member,
    /// True if the next record must be searched for.
    must_search: bool,
    /// The number of bytes that were given back to be read again.
    reread: u64,
    /// Records of an unknown version, reported at the end of the archive.
    unknown: Option<UnknownVersion>,
    has_ended: bool,
}

/// Records of an unknown version of the format: the first, and their number.
struct UnknownVersion {
    offset: Offset,
    version: String,
    number: u64,
}

/// Data that was read, and the event at which reading stopped.
#[derive(Default)]
struct ReadAhead {
    bytes: Vec<u8>,
    /// The offset of the buffer in the data.
    position: u64,
    stop: Option<DataEvent>,
}

/// The bytes that follow a block.
#[derive(PartialEq, Eq)]
enum BlockFollower {
    /// A record, after line ends.
    Record,
    /// Only line ends.
    End,
    /// Something else, or the block is incomplete.
    Other,
}

impl ReadAhead {
    /// True if two line ends follow the block that ends at `end`.
    fn has_usual_end(&self, end: usize) -> bool {
        let after = self.bytes.get(end..).unwrap_or_default();
        matches!(
            &after[..line_ends(after)],
            b"\r\n\r\n" | b"\n\n" | b"\r\r\n\r\r\n"
        )
    }

    /// Classifies the bytes after the block that ends at `end`.
    fn after(&self, end: usize) -> BlockFollower {
        let Some(after) = self.bytes.get(end..) else {
            return BlockFollower::Other;
        };
        let after = &after[line_ends(after)..];
        // If the data go on after line ends, more of these follow than were read.
        if after.is_empty() && self.stop.is_some() {
            BlockFollower::End
        } else if after.is_empty() || begins_record(after) {
            BlockFollower::Record
        } else {
            BlockFollower::Other
        }
    }
}

/// The kind of the anomaly in place of a record, and a description.
type RecordFault = (Code, Cow<'static, str>);

/// The fault of a damaged member.
fn broken_member(why: String) -> RecordFault {
    (Code::MemberBroken, why.into())
}

/// The fault of other bytes, or of a broken record.
fn broken_record(why: impl Into<Cow<'static, str>>) -> RecordFault {
    (Code::RecordBroken, why.into())
}

impl<R: Read> Records<R> {
    /// Reads an archive from `reader`, compressed or not. `reader` needs no buffer of its own.
    pub fn new(reader: R) -> Self {
        Self {
            data: Data::new(reader),
            limit: LONGEST_BLOCK,
            scratch: Vec::new(),
            member: Member::default(),
            must_search: false,
            reread: 0,
            unknown: None,
            has_ended: false,
        }
    }

    /// Sets the maximum length of a block in bytes. Longer blocks are anomalies.
    pub fn limit(self, bytes: usize) -> Self {
        Self {
            limit: bytes.min(usize::MAX / 2),
            ..self
        }
    }

    /// The offset in the file at which the last entry ended. `None` if its gzip member goes on.
    pub fn end(&self) -> Option<u64> {
        self.data.offset()
    }

    fn next_entry(&mut self) -> Result<Option<ArchiveEntry>> {
        if mem::take(&mut self.must_search) {
            self.find_record()?;
        }
        let mut part = ReadAhead::default();
        loop {
            part.position = self.position();
            let length = if self.begins_member(part.position) {
                MEMBER
            } else {
                FIRST
            };
            self.fill(&mut part, length)?;
            let line_ends = line_ends(&part.bytes);
            if line_ends == 0 {
                break;
            }
            self.data
                .give_back(&part.bytes[line_ends..], part.stop.take());
            part.bytes.clear();
        }
        let offset = self.offset(part.position);
        if part.bytes.is_empty() {
            let (Member { file, .. }, fault) = match part.stop.take() {
                Some(DataEvent::Broken(member, why)) => (member, broken_member(why)),
                Some(DataEvent::Cut(member)) => {
                    let message = if self.data.is_compressed() {
                        "the archive ends at the start of a gzip member"
                    } else {
                        "the archive ends within a frame of Zstandard"
                    };
                    (member, (Code::RecordTruncated, message.into()))
                }
                _ => return Ok(None),
            };
            return Ok(Some(self.missing(Offset { file, within: 0 }, fault)));
        }
        self.fill_on(&mut part, BEGINNING)?;
        if !begins_record(&part.bytes) {
            if part.position == 0 && part.bytes.starts_with(b"filedesc://") {
                return Err(Error::of(ErrorKind::Syntax, ARC));
            }
            let fault = match part.stop.take() {
                Some(DataEvent::Broken(_, why)) => broken_member(why),
                stop => {
                    self.data.give_back(&part.bytes, stop);
                    broken_record("no record begins here")
                }
            };
            return Ok(Some(self.missing(offset, fault)));
        }
        let Some(length) = self.read_heading(&mut part)? else {
            let is_long = part.bytes.len() > LONGEST_HEADING;
            let fault = match part.stop.take() {
                None | Some(DataEvent::Member) if is_long => {
                    broken_record(format!("a heading of more than {LONGEST_HEADING} bytes"))
                }
                Some(DataEvent::Broken(_, why)) => broken_member(why),
                None | Some(DataEvent::Member) => broken_record("a heading without an end"),
                Some(_) => {
                    let message = "the archive ends within the heading of a record";
                    (Code::RecordTruncated, message.into())
                }
            };
            return Ok(Some(self.missing(offset, fault)));
        };
        let mut heading = RecordHeading::read(&part.bytes, length);
        if let Some(version) = heading.version.take() {
            let first = UnknownVersion {
                offset,
                version,
                number: 0,
            };
            self.unknown.get_or_insert(first).number += 1;
        }
        let limit = self.limit;
        let why = match heading.content_length(&part.bytes) {
            Some(block) if block <= limit as u64 => {
                return self.record(part, heading, offset, block as usize).map(Some);
            }
            Some(block) => broken_record(format!(
                "a record of {block} bytes, more than the limit of {limit}"
            )),
            None => broken_record("a record without a numeric Content-Length"),
        };
        self.data.give_back(&part.bytes[length..], part.stop.take());
        Ok(Some(self.missing(offset, why)))
    }

    /// Reads until `part` contains a whole heading, and returns its length.
    fn read_heading(&mut self, part: &mut ReadAhead) -> Result<Option<usize>> {
        let mut searched = 0;
        loop {
            if let Some(end) = heading_end(&part.bytes, searched) {
                return Ok(Some(end).filter(|&end| end <= LONGEST_HEADING));
            }
            let has_more = matches!(part.stop, None | Some(DataEvent::Member));
            if !has_more || searched == part.bytes.len() || searched >= LONGEST_HEADING {
                return Ok(None);
            }
            searched = part.bytes.len();
            self.fill_on(part, 2 * searched)?;
        }
    }

    /// Reads the rest of a record whose block has the stated `length`.
    fn record(
        &mut self,
        mut part: ReadAhead,
        mut heading: RecordHeading,
        offset: Offset,
        length: usize,
    ) -> Result<ArchiveEntry> {
        let start = heading.length;
        let end = start + length;
        self.fill(&mut part, end + AFTER)?;
        if !part.has_usual_end(end) {
            self.fill_on(&mut part, end + FAR_AFTER)?;
        }
        let block = Span::new(start, part.bytes.len().min(end));
        let after = part.after(end);
        // True if the member contains bytes of the record. If another record follows, all bytes are present, and only
        // the checksum of a broken member is wrong.
        let is_of = |member: Member| member.data < part.position + end as u64;
        match part.stop.take() {
            Some(DataEvent::Broken(member, why))
                if after != BlockFollower::Record && is_of(member) =>
            {
                return Ok(self.missing(offset, broken_member(why)));
            }
            Some(DataEvent::Cut(member)) if after == BlockFollower::End && is_of(member) => {
                let message = "the archive ends within this gzip member";
                heading.report(Code::RecordTruncated, block, message);
            }
            Some(DataEvent::Member) if part.bytes.len() < end => {
                let block = Span::new(start, start + without_end(&part.bytes[start..]).len());
                heading.report_length(block, length);
                return Ok(heading.entry(offset, part, block));
            }
            stop if after == BlockFollower::Other && !part.has_usual_end(end) => {
                return self.read_unterminated(part, heading, offset, end, stop);
            }
            stop => {
                // Some programs write one line end, or more than two. No byte is lacking.
                let next = end + line_ends(&part.bytes[end..]);
                if next == end {
                    let message = "this record is not followed by a line end: its Content-Length may be wrong";
                    heading.report(Code::RecordLength, block, message);
                }
                self.data.give_back(&part.bytes[next..], stop);
            }
        }
        Ok(heading.entry(offset, part, block))
    }

    /// Reads the rest of a record if neither another record nor the end of a member follows.
    fn read_unterminated(
        &mut self,
        mut part: ReadAhead,
        mut heading: RecordHeading,
        offset: Offset,
        end: usize,
        stop: Option<DataEvent>,
    ) -> Result<ArchiveEntry> {
        let start = heading.length;
        if let Some(at) = record_start(&part.bytes[start..]).filter(|at| start + at < end)
            && self.may_read_again(part.bytes.len() - start - at)
        {
            self.data.give_back(&part.bytes[start + at..], stop);
            let length = without_end(&part.bytes[start..start + at]).len();
            heading.report_length(Span::new(start, start + length), end - start);
            // The block is usually much shorter than the bytes read.
            part.bytes.truncate(start + length);
            part.bytes.shrink_to_fit();
            return Ok(heading.entry(offset, part, Span::new(start, start + length)));
        }
        let block = Span::new(start, part.bytes.len().min(end));
        if part.bytes.len() < end {
            heading.report(
                Code::RecordTruncated,
                block,
                "the archive ends within this record",
            );
            return Ok(heading.entry(offset, part, block));
        }
        self.data.give_back(&part.bytes[end..], stop);
        if let Some(why) = self.find_record()? {
            return Ok(self.missing(offset, broken_member(why)));
        }
        let message = "this record is not followed by a record: its Content-Length may be wrong";
        heading.report(Code::RecordLength, block, message);
        Ok(heading.entry(offset, part, block))
    }

    /// Counts `bytes` that are given back; returns false if the total would be too large. This bounds the time for
    /// hostile input.
    fn may_read_again(&mut self, bytes: usize) -> bool {
        let reread = self.reread + bytes as u64;
        let is_allowed = reread <= 2 * self.data.position + REREAD_BUDGET;
        if is_allowed {
            self.reread = reread;
        }
        is_allowed
    }

    /// Moves to the next record, or to the end, and returns the first damage on the way.
    fn find_record(&mut self) -> Result<Option<String>> {
        let mut damage = None;
        let mut part = ReadAhead {
            bytes: mem::take(&mut self.scratch),
            ..ReadAhead::default()
        };
        part.bytes.clear();
        let mut length = FIRST_SEARCH;
        loop {
            part.position = self.position();
            self.fill_on(&mut part, length)?;
            let found = if self.begins_member(part.position) && begins_record(&part.bytes) {
                Some(0)
            } else {
                record_start(&part.bytes)
            };
            let stop = part.stop.take();
            if let Some(at) = found {
                self.data.give_back(&part.bytes[at..], stop);
                break;
            }
            match stop {
                // The end of the buffer may contain the first bytes of a record.
                None => {
                    let at = part.bytes.len().saturating_sub(STARTS);
                    self.data.give_back(&part.bytes[at..], None);
                }
                Some(DataEvent::Broken(_, why)) => damage = damage.or(Some(why)),
                Some(_) => break,
            }
            part.bytes.clear();
            length = (2 * length).min(CHUNK);
        }
        self.scratch = part.bytes;
        Ok(damage)
    }

    /// Like [`fill`](Self::fill), but continues into further members at whose start no record begins.
    fn fill_on(&mut self, part: &mut ReadAhead, length: usize) -> Result<()> {
        self.fill(part, length)?;
        while part.bytes.len() < length && matches!(part.stop, Some(DataEvent::Member)) {
            if self.data.begins_record().map_err(read_error)? {
                break;
            }
            part.stop = None;
            self.fill(part, length)?;
        }
        Ok(())
    }

    /// Reads until `part` has `length` bytes, or its member ends. The result must not depend on how many bytes were
    /// available at once.
    fn fill(&mut self, part: &mut ReadAhead, length: usize) -> Result<()> {
        while part.bytes.len() < length && part.stop.is_none() {
            // The buffer grows with the data, so a false length cannot allocate memory.
            let read = part.bytes.len();
            let room = length.min((2 * read).max(CHUNK)) + READ_SURPLUS;
            part.bytes
                .try_reserve_exact(room - read)
                .map_err(|error| read_error(error.into()))?;
            match self.data.read(&mut part.bytes).map_err(read_error)? {
                DataEvent::Bytes => {}
                DataEvent::Member if read == 0 => self.member = self.data.member,
                stop => part.stop = Some(stop),
            }
            if part.bytes.len() > length {
                self.data.give_back(&part.bytes[length..], None);
                part.bytes.truncate(length);
            }
        }
        Ok(())
    }

    /// The offset of the next entry in the data. Also updates the member in which it begins.
    fn position(&mut self) -> u64 {
        let (position, latest) = (self.data.position, self.data.member);
        if latest.data <= position {
            self.member = latest;
        }
        position
    }

    /// True if a member begins at `position` in the data.
    fn begins_member(&self, position: u64) -> bool {
        self.data.is_compressed() && self.member.data == position
    }

    /// The offset in the file of `position` in the data.
    fn offset(&self, position: u64) -> Offset {
        if self.data.is_compressed() {
            Offset {
                file: self.member.file,
                within: position - self.member.data,
            }
        } else {
            Offset {
                file: position,
                within: 0,
            }
        }
    }

    /// The anomaly for a missing record. The next record must then be searched for.
    fn missing(&mut self, offset: Offset, (code, message): RecordFault) -> ArchiveEntry {
        self.must_search = true;
        ArchiveEntry::Anomaly(Anomaly {
            offset,
            code,
            message,
        })
    }
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<ArchiveEntry>;

    fn next(&mut self) -> Option<Result<ArchiveEntry>> {
        if self.has_ended {
            return None;
        }
        let next = self.next_entry().transpose();
        self.has_ended = !matches!(next, Some(Ok(_)));
        next.or_else(|| Some(Ok(ArchiveEntry::Anomaly(self.unknown.take()?.anomaly()))))
    }
}

impl UnknownVersion {
    fn anomaly(self) -> Anomaly {
        let Self {
            offset,
            version,
            number,
        } = self;
        let message = match number {
            1 => format!("a record of WARC {version} is read as WARC 1.1"),
            _ => format!(
                "{number} records of unknown versions are read as WARC 1.1; the first is this one, of WARC {version}"
            ),
        };
        Anomaly {
            offset,
            code: Code::RecordVersion,
            message: message.into(),
        }
    }
}

impl RecordHeading {
    /// Reports a block whose length is not the `stated` one.
    fn report_length(&mut self, block: Span, stated: usize) {
        let message = format!(
            "a Content-Length of {stated}, but a block of {} bytes",
            block.len()
        );
        self.report(Code::RecordLength, block, message);
    }

    fn entry(self, offset: Offset, part: ReadAhead, block: Span) -> ArchiveEntry {
        ArchiveEntry::Record(self.record(offset, part.bytes, block))
    }
}

fn read_error(error: io::Error) -> Error {
    Error::caused(ErrorKind::Read, cause(&error), error)
}

/// The number of leading line ends.
fn line_ends(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|&&byte| matches!(byte, b'\r' | b'\n'))
        .count()
}

/// The end of the heading at the start of `bytes`, after its empty line. The end is not in the first `searched`
/// bytes. A line may end with several CR before its LF.
fn heading_end(bytes: &[u8], searched: usize) -> Option<usize> {
    let mut line = memchr::memrchr(b'\n', &bytes[..searched]).map_or(0, |at| at + 1);
    while let Some(length) = memchr::memchr(b'\n', &bytes[line..]) {
        let content = &bytes[line..line + length];
        let is_empty = line > 0 && content.iter().all(|&byte| byte == b'\r');
        line += length + 1;
        if is_empty {
            return Some(line);
        }
    }
    None
}
