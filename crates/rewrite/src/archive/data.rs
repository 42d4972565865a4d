//! The uncompressed bytes of an archive, and the starts of its gzip members.
//!
//! A compressed archive is a series of gzip members (RFC 1952, 2.2), one for each record (ISO 28500, annex D).
//! Members are decompressed one at a time into the caller's buffer. The search for the next member after a broken
//! one starts at the second byte of the broken one, because damage may hide its end.
//!
//! ```
//! use baselink_rewrite::archive::{ArchiveEntry, Records};
//! // Data that begins neither as a record nor as a member is treated as uncompressed.
//! let entries: Vec<_> = Records::new(&b"WARC?"[..]).collect::<Result<_, _>>()?;
//! assert!(matches!(&entries[..], [ArchiveEntry::Anomaly(one)] if one.offset.file == 0));
//! # Ok::<(), baselink_text::Error>(())
//! ```
//!
//! Deliberately absent: the parsing of records.

use std::{
    collections::VecDeque,
    io::{self, Read},
};

use flate2::{Decompress, FlushDecompress, Status};
use memchr::memmem;

use super::{
    record::{BEGINNING, STARTS, begins_record, record_start},
    zstd::{WithoutZstd, ZstdFault},
};

/// The number of bytes to read at a time.
const CHUNK: usize = 128 << 10;
/// The number of bytes that are kept for going back in search of a member.
const LOOKBACK: usize = 1 << 20;
/// The first bytes of a gzip member: its magic number and the only compression method (RFC 1952, 2.3.1).
const MAGIC: &[u8] = b"\x1f\x8b\x08";
/// The flags reserved by RFC 1952, 2.3.1.2, which "must be zero".
const RESERVED: u8 = 0xe0;
/// The largest window of deflate, as a power of two (RFC 1951, 2).
const WINDOW_BITS: u8 = 15;

/// A gzip member, or the whole of an uncompressed archive.
#[derive(Clone, Copy, Debug, Default)]
pub struct Member {
    /// The offset of the member in the file.
    pub file: u64,
    /// The offset of its first byte in the uncompressed data.
    pub data: u64,
}

/// The next event in the data.
pub enum DataEvent {
    /// Bytes were read, at least one.
    Bytes,
    /// A member begins.
    Member,
    /// A damaged member, or bytes that are not a member, and a description. No more of its bytes follow.
    Broken(Member, String),
    /// The file ends within this member, or within a frame of Zstandard.
    Cut(Member),
    /// The archive ends.
    End,
}

/// Data that was read ahead or given back.
enum PendingData {
    /// Bytes, and the number of them that are consumed.
    Bytes(Vec<u8>, usize),
    /// Another event.
    Other(DataEvent),
}

enum DataState {
    /// Nothing was read yet.
    New,
    /// The archive is uncompressed.
    Plain,
    /// The position is before a member or at the end.
    Between,
    /// The position is in a member.
    Inside,
}

/// The data of the archive in `reader`.
pub struct Data<R> {
    reader: WithoutZstd<R>,
    /// True if `reader` is at its end.
    ended: bool,
    state: DataState,
    inflate: Decompress,
    /// Bytes of the file. Those before `at` are consumed, and those from `end` on are invalid.
    raw: Vec<u8>,
    at: usize,
    end: usize,
    /// The offset of `raw` in the file.
    offset: u64,
    /// The total number of bytes by which searches for members went back.
    reread: u64,
    /// The data that precedes everything else: bytes that were given back, and events read ahead.
    waiting: VecDeque<PendingData>,
    /// The offset of the next byte in the uncompressed data.
    pub position: u64,
    /// The most recent member.
    pub member: Member,
}

impl<R: Read> Data<R> {
    pub fn new(reader: R) -> Self {
        Self {
            reader: WithoutZstd::new(reader),
            ended: false,
            state: DataState::New,
            inflate: Decompress::new_gzip(WINDOW_BITS),
            raw: Vec::new(),
            at: 0,
            end: 0,
            offset: 0,
            reread: 0,
            waiting: VecDeque::new(),
            position: 0,
            member: Member::default(),
        }
    }

    /// True if the archive is compressed, which is known after the first read.
    pub fn is_compressed(&self) -> bool {
        matches!(self.state, DataState::Between | DataState::Inside)
    }

    /// The offset of the next byte in the file; `None` within a gzip member, and in an archive compressed by Zstandard.
    pub fn offset(&self) -> Option<u64> {
        if !self.is_compressed() {
            return (self.reader.decoded == 0).then_some(self.position);
        }
        if self.position == self.member.data {
            return Some(self.member.file);
        }
        let next = self.waiting.front();
        let has_ended = matches!(next, Some(PendingData::Other(DataEvent::End)));
        has_ended.then_some(self.offset + self.at as u64)
    }

    /// Takes back `bytes`, which were read last, and the event that followed them.
    pub fn give_back(&mut self, bytes: &[u8], next: Option<DataEvent>) {
        self.position -= bytes.len() as u64;
        if let Some(next) = next {
            self.waiting.push_front(PendingData::Other(next));
        }
        if bytes.is_empty() {
            return;
        }
        match self.waiting.front_mut() {
            Some(PendingData::Bytes(_, at)) if bytes.len() <= *at => *at -= bytes.len(),
            _ => self
                .waiting
                .push_front(PendingData::Bytes(bytes.to_vec(), 0)),
        }
    }

    /// Reads the next event. Bytes are appended to `into`, which must have free capacity and never grows.
    pub fn read(&mut self, into: &mut Vec<u8>) -> io::Result<DataEvent> {
        let before = into.len();
        let next = loop {
            match self.waiting.pop_front() {
                Some(PendingData::Bytes(bytes, at)) if at == bytes.len() => {}
                Some(PendingData::Bytes(bytes, at)) => {
                    let at = at + append(into, &bytes[at..]);
                    self.waiting.push_front(PendingData::Bytes(bytes, at));
                    break DataEvent::Bytes;
                }
                Some(PendingData::Other(next)) => break next,
                None => break self.new_data(into)?,
            }
        };
        self.position += (into.len() - before) as u64;
        Ok(next)
    }

    /// True if a record begins at the start of the member that [`Data::read`] just reported.
    pub fn begins_record(&mut self) -> io::Result<bool> {
        match self.waiting.front() {
            Some(PendingData::Bytes(bytes, at)) => return Ok(begins_record(&bytes[*at..])),
            Some(PendingData::Other(_)) => return Ok(false),
            None => {}
        }
        let (mut first, mut other) = (Vec::with_capacity(BEGINNING), None);
        while first.len() < BEGINNING && other.is_none() && matches!(self.state, DataState::Inside)
        {
            let next = self.decompress(&mut first)?;
            other = next.filter(|next| !matches!(next, DataEvent::Bytes));
        }
        let is_record = begins_record(&first);
        self.waiting.push_front(PendingData::Bytes(first, 0));
        self.waiting.extend(other.map(PendingData::Other));
        Ok(is_record)
    }

    /// Reads the next event from the file.
    fn new_data(&mut self, into: &mut Vec<u8>) -> io::Result<DataEvent> {
        if let DataState::New = self.state {
            self.state = self.detect()?;
        }
        loop {
            match self.state {
                DataState::New | DataState::Plain => return self.copy(into),
                DataState::Between => return self.begin_member(),
                DataState::Inside => {
                    if let Some(next) = self.decompress(into)? {
                        return Ok(next);
                    }
                }
            }
        }
    }

    /// Detects from the first bytes whether the archive is compressed. If they begin neither a member nor a record,
    /// the archive is compressed if a member, but no record, begins in its first 1 MiB.
    fn detect(&mut self) -> io::Result<DataState> {
        while self.end < MAGIC.len() && self.fill()? {}
        if self.raw[..self.end].starts_with(MAGIC) {
            return Ok(DataState::Between);
        }
        // Line ends may precede a record. The result must not depend on how many more bytes have been read.
        while self.end < STARTS && self.fill()? {}
        if begins_record(self.raw[..self.end.min(STARTS)].trim_ascii_start()) {
            return Ok(DataState::Plain);
        }
        while self.end < LOOKBACK && self.fill()? {}
        let first = &self.raw[..self.end.min(LOOKBACK)];
        let is_compressed = record_start(first).is_none() && magic(first).is_some();
        Ok(if is_compressed {
            DataState::Between
        } else {
            DataState::Plain
        })
    }

    /// Copies bytes of an uncompressed archive.
    fn copy(&mut self, into: &mut Vec<u8>) -> io::Result<DataEvent> {
        if self.at < self.end || self.fill()? {
            self.at += append(into, &self.raw[self.at..self.end]);
            return Ok(DataEvent::Bytes);
        }
        let end = Member {
            file: self.position,
            data: self.position,
        };
        Ok(match self.reader.fault.take() {
            None => DataEvent::End,
            Some(ZstdFault::Cut) => DataEvent::Cut(end),
            Some(ZstdFault::Damaged(why)) => DataEvent::Broken(end, why.into()),
        })
    }

    /// Begins the next member.
    fn begin_member(&mut self) -> io::Result<DataEvent> {
        // Skips zero padding, such as that of tapes, as gzip does.
        loop {
            let zeros = self.raw[self.at..self.end]
                .iter()
                .take_while(|&&byte| byte == 0)
                .count();
            self.at += zeros;
            if self.at < self.end || !self.fill()? {
                break;
            }
        }
        while self.end - self.at <= MAGIC.len() && self.fill()? {}
        let member = Member {
            file: self.offset + self.at as u64,
            data: self.position,
        };
        match &self.raw[self.at..self.end] {
            [] => Ok(DataEvent::End),
            short if short.len() <= MAGIC.len() && MAGIC.starts_with(short) => {
                self.at = self.end;
                Ok(DataEvent::Cut(member))
            }
            waiting if is_member(waiting) => {
                self.inflate.reset(true);
                self.member = member;
                self.state = DataState::Inside;
                Ok(DataEvent::Member)
            }
            _ => {
                self.find_member()?;
                let length = self.offset + self.at as u64 - member.file;
                let why = format!("{length} bytes that are not a gzip member");
                Ok(DataEvent::Broken(member, why))
            }
        }
    }

    /// Moves to the next potential member, or to the end.
    fn find_member(&mut self) -> io::Result<()> {
        loop {
            if let Some(found) = magic(&self.raw[self.at..self.end]) {
                self.at += found;
                // The flags may be in the next bytes.
                if self.end - self.at > MAGIC.len() || !self.fill()? {
                    return Ok(());
                }
                continue;
            }
            // The last bytes may begin a member.
            self.at = self.at.max(self.end.saturating_sub(MAGIC.len()));
            if !self.fill()? {
                self.at = self.end;
                return Ok(());
            }
        }
    }

    /// Decompresses more of the current member; returns `None` at its end.
    fn decompress(&mut self, into: &mut Vec<u8>) -> io::Result<Option<DataEvent>> {
        loop {
            let (read, before) = (self.inflate.total_in(), into.len());
            let waiting = &self.raw[self.at..self.end];
            let status = self
                .inflate
                .decompress_vec(waiting, into, FlushDecompress::None);
            self.at += (self.inflate.total_in() - read) as usize;
            let written = into.len() - before;
            match status {
                Err(error) => {
                    let broken = self.leave_broken(error.message())?;
                    if written == 0 {
                        return Ok(Some(broken));
                    }
                    self.waiting.push_back(PendingData::Other(broken));
                }
                Ok(Status::StreamEnd) => self.state = DataState::Between,
                Ok(_) if written > 0 => {}
                Ok(_) if self.at < self.end => return self.leave_broken(None).map(Some),
                Ok(_) if self.fill()? => continue,
                Ok(_) => return Ok(Some(self.leave_cut())),
            }
            return Ok((written > 0).then_some(DataEvent::Bytes));
        }
    }

    /// Leaves a member that cannot be decompressed.
    fn leave_broken(&mut self, why: Option<&str>) -> io::Result<DataEvent> {
        let Member { file, .. } = self.member;
        let is_sum = why.is_some_and(|why| why.ends_with("check"));
        let why = if is_sum {
            "its checksum is wrong"
        } else {
            "it cannot be decompressed"
        };
        self.state = DataState::Between;
        self.at = self.back_to(self.second_byte());
        self.find_member()?;
        Ok(DataEvent::Broken(
            self.member,
            format!("a damaged gzip member at {file}: {why}"),
        ))
    }

    /// Leaves a member that the end of the file cuts off. If a member with a record begins within its bytes, reading
    /// continues there.
    fn leave_cut(&mut self) -> DataEvent {
        let Member { file, .. } = self.member;
        self.state = DataState::Between;
        let mut at = self.second_byte();
        while let Some(found) = magic(&self.raw[at..self.end]) {
            at += found;
            let mut first = [0; BEGINNING];
            let mut inflate = Decompress::new_gzip(WINDOW_BITS);
            let candidate = &self.raw[at..self.end];
            let inflated = inflate.decompress(candidate, &mut first, FlushDecompress::None);
            if inflated.is_ok() && begins_record(&first) {
                self.at = self.back_to(at);
                let why = format!("a damaged gzip member at {file}: it has no end");
                return DataEvent::Broken(self.member, why);
            }
            at += 1;
        }
        self.at = self.end;
        DataEvent::Cut(self.member)
    }

    /// The index in `raw` at which to search for the next member after a broken one.
    fn second_byte(&self) -> usize {
        (self.member.file.saturating_sub(self.offset) as usize + 1).min(self.end)
    }

    /// Returns `at`, an index in `raw` to go back to. Returns the current index instead if the bytes to read again
    /// would total more than eight times the bytes read so far, plus 1 MiB. This bounds the time for hostile input.
    fn back_to(&mut self, at: usize) -> usize {
        let reread = self.reread + self.at.saturating_sub(at) as u64;
        if reread > 8 * (self.offset + self.end as u64) + LOOKBACK as u64 {
            return self.at;
        }
        self.reread = reread;
        at
    }

    /// Reads more bytes, and returns true if there were any. Moves the bytes that are still needed to the start of
    /// `raw`: unread bytes, and up to 1 MiB of the current member, because it may turn out to be broken.
    fn fill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let start = match self.state {
            DataState::Inside => self.member.file.saturating_sub(self.offset) as usize,
            _ => self.at,
        };
        let keep = start.max(self.end.saturating_sub(LOOKBACK)).min(self.at);
        if self.end - keep <= CHUNK || self.raw.len() - self.end < CHUNK {
            self.raw.copy_within(keep..self.end, 0);
            self.offset += keep as u64;
            self.at -= keep;
            self.end -= keep;
        }
        if self.raw.len() < self.end + CHUNK {
            self.raw
                .resize((self.end + CHUNK).max(2 * self.raw.len()), 0);
        }
        let read = read_once(&mut self.reader, &mut self.raw[self.end..self.end + CHUNK])?;
        self.end += read;
        self.ended = read == 0;
        Ok(read > 0)
    }
}

/// Appends as many bytes from the start of `bytes` as `into` has room for, and returns their number.
fn append(into: &mut Vec<u8>, bytes: &[u8]) -> usize {
    let length = bytes.len().min(into.capacity() - into.len());
    into.extend_from_slice(&bytes[..length]);
    length
}

/// True if `bytes` may begin a member.
fn is_member(bytes: &[u8]) -> bool {
    bytes
        .strip_prefix(MAGIC)
        .is_some_and(|rest| rest.first().is_none_or(|flags| flags & RESERVED == 0))
}

/// The index in `bytes` at which a member may begin.
fn magic(bytes: &[u8]) -> Option<usize> {
    memmem::find_iter(bytes, MAGIC).find(|&at| is_member(&bytes[at..]))
}

/// Performs one read, and retries if it is interrupted.
fn read_once(reader: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
