//! A large document, rewritten window by window, without ever having all of it in memory.
//!
//! ```text
//! first look:  whole document --> its encoding, and whether a base or another encoding may be declared
//! then:        window --> links --> pieces of output
//!              what is not complete --> beginning of the next window
//! ```
//!
//! A `base` element governs what stands before it, too, and so does an encoding. A document that may declare
//! either where it was not expected is read into memory, and so is one in which the fast scanner cannot prove
//! what it sees. A window grows where something in it does not end: a script, a comment, a tag.
//!
//! ```
//! use baselink::{Options, rewrite_stream};
//! let mut document = std::io::Cursor::new(b"<a href=../x>".repeat(100_000));
//! let mut out = Vec::new();
//! let mut give = |piece: &mut Vec<u8>| Ok(out.append(piece));
//! let totals = rewrite_stream(&mut document, &Options::at("http://a/b/c"), 4_096, &mut give)?;
//! assert_eq!(totals.links(), 100_000);
//! assert_eq!(out, b"<a href=http://a/x>".repeat(100_000));
//! # Ok::<(), baselink::StreamError>(())
//! ```
//!
//! Deliberately absent: anything that is done otherwise than to a document in memory.

use std::fmt;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use self::StreamError::{Giving, Reading};
use super::writer::{self, Away, Give, Writer};
use super::{LEAST, Totals, in_pieces, is_simple, rest};
use crate::layer::charset::{Charset, Declaration, Detected};
use crate::rewrite::Options;
use crate::scan::block;
use crate::scan::html::flow::{self, Course, Stop, Window};
use crate::scan::html::{LONGEST_DECLARATION, may_declare};

/// A first look has at least so much before it.
const LEAST_LOOK: usize = 4 * LONGEST_DECLARATION;

/// Makes every relative link of `document` absolute, from its beginning on, as [`super::rewrite_to`] does. It
/// is read in windows of so many bytes; 256 KiB is a good size. The output comes in pieces, in order: `give`
/// takes what is in each, and leaves it empty; it may put another buffer in its place. An HTML document
/// without `<base`, whose encoding is declared within the first kilobyte or nowhere, takes a fixed amount of
/// memory, and as much as the longest comment, tag or text of an element in it. Any other takes as much as
/// its length.
///
/// # Errors
///
/// What was given is then of no use.
pub fn rewrite_stream<D: Read + Seek>(
    document: &mut D,
    options: &Options,
    window: usize,
    give: &mut dyn FnMut(&mut Vec<u8>) -> io::Result<()>,
) -> Result<Totals, StreamError> {
    let mut given = 0;
    if is_simple(options) {
        let mut buffer = vec![0; window.max(LEAST_LOOK)];
        if let Some(encoding) = look(document, &mut buffer, options).map_err(Reading)? {
            buffer.truncate(window.max(LEAST));
            match in_windows(document, buffer, encoding, options, give)? {
                Ok(totals) => return Ok(totals),
                Err(at) => given = at,
            }
        }
    }
    let mut bytes = Vec::new();
    document.rewind().map_err(Reading)?;
    document.read_to_end(&mut bytes).map_err(Reading)?;
    let mut piece = Vec::with_capacity(window);
    match given {
        0 => in_pieces(&bytes, options, &mut piece, give).map_err(Giving),
        given if given <= bytes.len() => {
            rest(&bytes, given, options, &mut piece, give).map_err(Giving)
        }
        _ => Err(Reading(has_changed())),
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

/// Reads on behind the first `filled` bytes of `buffer`, until it is full or the document ends; says whether
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

/// The encoding of a document; `None` where it, or a base, may be declared somewhere.
fn look(
    document: &mut (impl Read + Seek),
    buffer: &mut [u8],
    options: &Options,
) -> io::Result<Option<Detected>> {
    document.rewind()?;
    let mut filled = 0;
    let mut is_last = fill(document, buffer, &mut filled)?;
    let mut encoding = flow::encoding(&buffer[..filled], &options.scan);
    let is_assumed = encoding.declaration == Declaration::Assumed;
    if !encoding.charset.is_ascii_compatible() {
        return Ok(None);
    }
    let (mut at, mut checked) = (0, Some(0));
    loop {
        let bytes = &buffer[..filled];
        // Of what stands behind it is seen with the next window whether it declares anything.
        let end = if is_last { filled } else { filled - LONGEST_DECLARATION };
        while at < end {
            at = match is_assumed {
                true => block::find_tag(bytes, at, *b"bm"),
                false => block::find_tag(bytes, at, *b"b"),
            };
            let name = bytes.get(at + 1..at + 5);
            let is_base = name.is_some_and(|name| name.eq_ignore_ascii_case(b"base"));
            if at < end && (is_base || (is_assumed && may_declare(bytes, at))) {
                return Ok(None);
            }
            at += 1;
        }
        if is_assumed && let Some(from) = checked {
            checked = match std::str::from_utf8(&bytes[from..]) {
                Ok(_) => Some(filled),
                // A character that goes on in the next window.
                Err(error) if error.error_len().is_none() && !is_last => {
                    Some(from + error.valid_up_to())
                }
                Err(_) => None,
            };
        }
        if is_last {
            break;
        }
        // A character is shorter than a declaration.
        buffer.copy_within(end..filled, 0);
        checked = checked.map(|checked: usize| checked.saturating_sub(end));
        filled -= end;
        at = 0;
        is_last = fill(document, buffer, &mut filled)?;
    }
    if is_assumed {
        encoding.charset = Charset::assumed(checked.is_some());
    }
    Ok(Some(encoding))
}

/// Rewrites a document that declares no base, nor another encoding; `Err` says how much of it had been given
/// when it was found that it has to be seen whole.
fn in_windows(
    document: &mut (impl Read + Seek),
    mut buffer: Vec<u8>,
    encoding: Detected,
    options: &Options,
    give: &mut Give<'_>,
) -> Result<Result<Totals, usize>, StreamError> {
    let length = document.seek(SeekFrom::End(0)).map_err(Reading)?;
    document.rewind().map_err(Reading)?;
    let chain = writer::chain(encoding.charset, &[], options);
    let most = buffer.len() / 2;
    let mut piece = Vec::with_capacity(most);
    let mut away = Away { to: Some(give), most, is_known: true, ..Away::nowhere() };
    let mut writer = Writer::new(encoding, options, &chain, false, &mut piece, &mut away);
    let mut course = Course::new(encoding);
    let (mut from, mut filled, mut left) = (encoding.mark, 0, length);
    let stopped = loop {
        let is_last = fill(document, &mut buffer, &mut filled).map_err(Reading)?;
        let bytes = &buffer[..filled];
        let window = Window { bytes, from: from.min(filled), is_last };
        let reached = match flow::links_on(&window, &mut course, &options.scan, false, &mut writer)
        {
            Ok(reached) => reached,
            Err(stop) => break stop,
        };
        if is_last {
            match writer.end(bytes) {
                true => return Ok(Ok(writer.totals())),
                false => break Stop::Refused,
            }
        }
        if !writer.slide(bytes, reached.done) {
            break Stop::Refused;
        }
        course.slide(reached.done);
        from = reached.at - reached.done;
        buffer.copy_within(reached.done..filled, 0);
        filled -= reached.done;
        left = left.saturating_sub(reached.done as u64);
        // What is long is looked at again each time that there is more of it.
        if filled > buffer.len() / 2 {
            let least = buffer.len() + LEAST;
            let all = usize::try_from(left).unwrap_or(usize::MAX).saturating_add(1);
            buffer.resize(all.clamp(least, 2 * least), 0);
        }
    };
    match (away.failed, stopped) {
        (Some(error), _) => Err(Giving(error)),
        // A first look has seen that there is none.
        (None, Stop::Encoding(_) | Stop::Base) => Err(Reading(has_changed())),
        (None, Stop::HandedOver | Stop::Nested | Stop::Refused) => Ok(Err(away.given)),
    }
}
