//! A large document, rewritten window by window, without ever having all of it in memory.
//!
//! ```text
//! first look:  document, in as many parts as there are handles
//!              --> its encoding, and whether a base or another encoding may be declared
//! then:        window --> links --> pieces of output
//!              what is not complete --> beginning of the next window
//! ```
//!
//! A `base` element governs what is before it, too, and so does an encoding. A document that may declare
//! either where it was not expected is read into memory, and so is one in which the walk cannot prove
//! what it sees. A window grows where something in it does not end: a script, a comment, a tag.
//!
//! ```
//! use baselink::{Options, rewrite_stream};
//! let document = std::io::Cursor::new(b"<a href=../x>".repeat(100_000));
//! let mut out = Vec::new();
//! let mut give = |piece: &mut Vec<u8>| Ok(out.append(piece));
//! let totals = rewrite_stream(&mut [document], &Options::at("http://a/b/c"), 4_096, &mut give)?;
//! assert_eq!(totals.links(), 100_000);
//! assert_eq!(out, b"<a href=http://a/x>".repeat(100_000));
//! # Ok::<(), baselink::StreamError>(())
//! ```
//!
//! Deliberately absent: anything that is done otherwise than to a document in memory.

use std::fmt;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

use self::StreamError::{Giving, Reading};
use super::driver::{Driver, Ended};
use super::file;
use super::opened::{Opened, Task};
use super::options::Options;
use super::rows::{RowFn, Rows, rows};
use super::sink::LinkSink;
use super::totals::Totals;
use super::write::{LEAST, Write};
use crate::format::Format;
use crate::layer::charset::{Charset, Declaration, Detected, first_not_utf_8};
use crate::scan::Scanner;
use crate::scan::html::prelude::{LONGEST_DECLARATION, may_declare_base};
use crate::scan::html::saved::HEAD;
use crate::scan::html::sink::Stopped;
use crate::scan::html::walk::Unproved;

/// A first look has at least so much before it.
const LEAST_LOOK: usize = 4 * LONGEST_DECLARATION;

/// Makes every relative link of a document absolute, as [`super::rewrite_to`] does. `handles` read it, each with
/// a place of its own in it; the first look is divided among them, and the first then reads it in windows of
/// so many bytes. 1 MiB is a good size. The output comes in pieces, in order: `give` takes what is in each,
/// and leaves it empty; it may put another buffer in its place. An HTML document without `<base`, whose
/// encoding is declared within the first kilobyte or nowhere, takes a fixed amount of memory, and as much as
/// the longest comment, tag or text of an element in it. Any other takes as much as its length.
///
/// # Errors
///
/// What was given is then of no use.
pub fn rewrite_stream<D: Read + Seek + Send>(
    handles: &mut [D],
    options: &Options,
    window: usize,
    give: &mut dyn FnMut(&mut Vec<u8>) -> io::Result<()>,
) -> Result<Totals, StreamError> {
    if let Some((opened, document)) = open(handles, window, options)? {
        let mut piece = Vec::with_capacity(window / 2);
        let write = Write::in_pieces(&mut piece, give);
        let mut driver = Driver::of(Task::of(options, false), &opened.chain, opened.known(), write);
        in_windows(document, window, &opened, options, &mut driver).map_err(
            |stopped| match stopped {
                Stopped::Engine(error) => Reading(error),
                Stopped::Sink(error) => Giving(error),
            },
        )?;
        return Ok(driver.totals());
    }
    let bytes = read(handles)?;
    let mut piece = Vec::with_capacity(window);
    file::write(&bytes, options, Write::in_pieces(&mut piece, give)).map_err(Giving)
}

/// Gives `row` every link of a document, as [`super::links`] does. `handles` read it, as in [`rewrite_stream`], and the
/// memory is that of one.
///
/// # Errors
///
/// When the document cannot be read. Rows that were given are right.
pub fn links_stream<D: Read + Seek + Send>(
    handles: &mut [D],
    options: &Options,
    window: usize,
    row: &mut RowFn<'_>,
) -> Result<Totals, StreamError> {
    if let Some((opened, document)) = open(handles, window, options)? {
        let mut driver =
            Driver::of(Task::of(options, true), &opened.chain, opened.known(), Rows::new(row));
        if let Err(Stopped::Engine(error)) =
            in_windows(document, window, &opened, options, &mut driver)
        {
            return Err(Reading(error));
        }
        return Ok(driver.totals());
    }
    Ok(rows(&read(handles)?, options, row))
}

/// A document that can be read window by window, with its base.
fn open<'h, D: Read + Seek + Send>(
    handles: &'h mut [D],
    window: usize,
    options: &Options,
) -> Result<Option<(Opened, &'h mut D)>, StreamError> {
    if options.format != Format::Html || options.scan.scanner != Scanner::Fast {
        return Ok(None);
    }
    let found = look(handles, window.max(LEAST_LOOK), options).map_err(Reading)?;
    let (Some(found), [document, ..]) = (found, handles) else { return Ok(None) };
    let head = head(document).map_err(Reading)?;
    let mut opened = Opened::tentative(Task::of(options, false), &head, found);
    // A window may be shorter than what is to be looked at.
    opened.meta.look(&head, found.charset);
    Ok(Some((opened, document)))
}

fn read<D: Read + Seek>(handles: &mut [D]) -> Result<Vec<u8>, StreamError> {
    match handles {
        [document, ..] => whole(document).map_err(Reading),
        [] => Ok(Vec::new()),
    }
}

/// Why a document was not rewritten to its end.
#[derive(Debug)]
pub enum StreamError {
    /// It could not be read, or became another meanwhile.
    Reading(io::Error),
    /// Who was given the output said so.
    Giving(io::Error),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Reading(error) | Giving(error)) = self;
        error.fmt(f)
    }
}

impl std::error::Error for StreamError {}

fn has_changed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "it was changed while it was read")
}

/// All of a document, in no more memory than it needs.
fn whole(document: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = usize::try_from(document.seek(SeekFrom::End(0))?).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(length).map_err(|_| ErrorKind::OutOfMemory)?;
    document.rewind()?;
    document.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The first bytes of a document, which is then at its start again.
fn head(document: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    document.rewind()?;
    document.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    document.rewind()?;
    Ok(head)
}

/// Reads on, after the first `filled` bytes of `buffer`, until it is full or the document ends; says whether
/// that ends.
fn fill(document: &mut impl Read, buffer: &mut [u8], filled: &mut usize) -> io::Result<bool> {
    while *filled < buffer.len() {
        match document.read(&mut buffer[*filled..]) {
            Ok(0) => return Ok(true),
            Ok(length) => *filled += length,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// The encoding of a document; `None` where it, or a base, may be declared somewhere, or nobody reads it.
fn look<D: Read + Seek + Send>(
    handles: &mut [D],
    window: usize,
    options: &Options,
) -> io::Result<Option<Detected>> {
    let count = handles.len() as u64;
    let [first, others @ ..] = handles else { return Ok(None) };
    let length = first.seek(SeekFrom::End(0))?;
    first.rewind()?;
    let (mut buffer, mut filled) = (vec![0; window], 0);
    fill(first, &mut buffer, &mut filled)?;
    let mut encoding = Charset::detect(&buffer[..filled], options.scan.charset);
    if !encoding.charset.is_ascii_compatible() {
        return Ok(None);
    }
    let is_assumed = encoding.declaration == Declaration::Assumed;
    let part = |number: u64| {
        let end = |number: u64| length / count * number;
        end(number)..if number + 1 == count { length } else { end(number + 1) }
    };
    let mut own = part(0);
    let looked: io::Result<Vec<_>> = thread::scope(|scope| {
        let mut begun = Vec::new();
        for (number, handle) in (1..).zip(others) {
            let look = move || look_at(handle, part(number), &mut vec![0; window], is_assumed);
            match thread::Builder::new().spawn_scoped(scope, look) {
                Ok(thread) => begun.push(thread),
                // The first looks at the rest, too.
                Err(_) => {
                    own = 0..length;
                    break;
                }
            }
        }
        let first = look_at(first, own, &mut buffer, is_assumed);
        let others = begun
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(first).chain(others).collect()
    });
    let looked = looked?;
    if looked.contains(&Looked::Declares) {
        return Ok(None);
    }
    if is_assumed {
        let mut not_utf_8 = looked.into_iter().filter_map(|looked| match looked {
            Looked::Bytes(at) => Some(at),
            Looked::Declares | Looked::Text => None,
        });
        encoding.not_utf_8 = not_utf_8.next();
        encoding.charset = Charset::assumed(encoding.not_utf_8.is_none());
    }
    Ok(Some(encoding))
}

/// What a first look at a part of a document has seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looked {
    /// It may declare a base, or an encoding where none is known.
    Declares,
    /// Nothing of the kind; the characters that begin in it are those of UTF-8.
    Text,
    /// Some of them are not, the first of these at this place.
    Bytes(usize),
}

fn look_at(
    document: &mut (impl Read + Seek),
    part: Range<u64>,
    buffer: &mut [u8],
    is_assumed: bool,
) -> io::Result<Looked> {
    document.seek(SeekFrom::Start(part.start))?;
    let (mut start, mut filled) = (part.start, 0);
    let mut checked = None;
    let mut not_utf_8 = None;
    loop {
        let is_end = fill(document, buffer, &mut filled)?;
        let bytes = &buffer[..filled];
        let left = usize::try_from(part.end - start).unwrap_or(usize::MAX);
        // Whether later bytes declare anything is seen with the next window.
        let known = filled.saturating_sub(LONGEST_DECLARATION);
        let is_last = is_end || left <= known;
        let end = if is_last { left.min(filled) } else { known };
        if may_declare_base(bytes, end, is_assumed) {
            return Ok(Looked::Declares);
        }
        if is_assumed && not_utf_8.is_none() {
            // A character that begins before the part belongs to the part before.
            let from = checked.unwrap_or(if start > 0 { continued(bytes, 0) } else { 0 });
            let to = if is_last { continued(bytes, end).max(from) } else { filled };
            let text = bytes.get(from..to).map_or(Err(0), |text| first_not_utf_8(text, is_last));
            let in_document =
                |at: usize| usize::try_from(start).unwrap_or(usize::MAX).saturating_add(from + at);
            not_utf_8 = text.err().map(in_document);
            checked = text.ok().map(|length| (from + length).saturating_sub(end));
        }
        if is_last {
            return Ok(not_utf_8.map_or(Looked::Text, Looked::Bytes));
        }
        buffer.copy_within(end..filled, 0);
        filled -= end;
        start += end as u64;
    }
}

/// Where the bytes from `at` on end that continue a character of UTF-8.
fn continued(bytes: &[u8], at: usize) -> usize {
    let is_within = |byte: &&u8| (0x80..0xc0).contains(*byte);
    at + bytes[at..].iter().take(3).take_while(is_within).count()
}

/// Tells `driver` of a document that declares no base, nor another encoding.
fn in_windows<S: LinkSink>(
    document: &mut (impl Read + Seek),
    window: usize,
    opened: &Opened,
    options: &Options,
    driver: &mut Driver<'_, S>,
) -> Result<(), Stopped<io::Error, S::End>> {
    let length = document.seek(SeekFrom::End(0)).map_err(Stopped::Engine)?;
    document.rewind().map_err(Stopped::Engine)?;
    let mut buffer = vec![0; window.max(LEAST)];
    let (mut windows, mut from) = opened.windows(&options.scan);
    let (mut filled, mut offset) = (0, 0);
    let stopped = loop {
        let is_last = fill(document, &mut buffer, &mut filled).map_err(Stopped::Engine)?;
        let bytes = &buffer[..filled];
        let at = from.min(filled);
        let reached = match windows.links(bytes, at, is_last, &options.scan, driver) {
            Ok(reached) => reached,
            Err(Stopped::Sink(end)) => return Err(ended(end)),
            Err(Stopped::Engine(Unproved { at, .. })) => break at,
        };
        if is_last {
            return driver.sink.end(bytes).map_err(Stopped::Sink);
        }
        let done = reached.done;
        driver.sink.slide(bytes, done).map_err(Stopped::Sink)?;
        windows.slide(done);
        offset += done;
        driver.move_window(offset);
        from = reached.at - done;
        buffer.copy_within(done..filled, 0);
        filled -= done;
        // What is long is looked at again each time that there is more of it.
        if filled > buffer.len() / 2 {
            let least = buffer.len() + LEAST;
            let left = length.saturating_sub(offset as u64);
            let all = usize::try_from(left).unwrap_or(usize::MAX).saturating_add(1);
            buffer.resize(all.clamp(least, 2 * least), 0);
        }
    };
    drop(buffer);
    let bytes = whole(document).map_err(Stopped::Engine)?;
    if offset + stopped > bytes.len() {
        return Err(Stopped::Engine(has_changed()));
    }
    driver.move_window(0);
    driver.sink.widen(offset);
    let document = opened.whole(&bytes, &options.scan);
    let place = (offset, stopped);
    windows.rest(&document, place, &options.scan, driver).map_err(ended)?;
    driver.sink.end(&bytes).map_err(Stopped::Sink)
}

fn ended<E>(ended: Ended<E>) -> Stopped<io::Error, E> {
    match ended {
        // A first look has seen that nothing is.
        Ended::Declared => Stopped::Engine(has_changed()),
        Ended::Sink(end) => Stopped::Sink(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time, and is interrupted before each.
    struct Interrupted(&'static [u8], bool);

    impl Read for Interrupted {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            match self.1 {
                true => Err(ErrorKind::Interrupted.into()),
                false => self.0.read(&mut into[..1]),
            }
        }
    }

    #[test]
    fn an_interrupted_read_goes_on() -> io::Result<()> {
        let (mut buffer, mut filled) = ([0; 3], 0);
        let mut document = Interrupted(b"abcd", false);
        assert!(!fill(&mut document, &mut buffer, &mut filled)?);
        assert_eq!((&buffer, filled), (b"abc", 3));
        filled = 0;
        assert!(fill(&mut document, &mut buffer, &mut filled)?);
        assert_eq!((buffer[0], filled), (b'd', 1));
        Ok(())
    }
}
