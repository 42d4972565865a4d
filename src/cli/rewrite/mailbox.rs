//! Mailboxes: their messages are rewritten several at a time, and written in their order.
//!
//! ```text
//! mailbox --read--> batch --a thread--> pieces with their edits --in order--> Sink
//! ```
//!
//! One thread reads, the others rewrite. Whoever is done with the batch whose turn it is to be written writes
//! it, and what is done behind it. A batch is one megabyte, or one message that is longer; so memory is that
//! of some batches and what is made of them, whatever the length of the mailbox. Messages that stand one
//! behind the other are written as one piece, where nothing is to be said between them.
//!
//! Deliberately absent: what a message is. `baselink::scan::mbox` knows that.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use baselink::Options;
use baselink::edit::Edits;
use baselink::error::{Error, Result, cause, name};
use baselink::format::Format;
use baselink::scan::mbox::{Batch, Messages, Place};
use rayon::ThreadPool;

use super::examined::{examined, written};
use super::target::Sink;
use super::told::Told;
use super::work::Work;
use crate::cli::input::{Input, Mailbox};
use crate::cli::output::{Output, Page};
use crate::cli::request::{Origin, Rewrite};
use crate::cli::status::Status;

/// How many bytes a batch has, but for its last message.
const BYTES: usize = 1 << 20;
/// How many batches are read and not written, beside those that threads work on.
const BEHIND: usize = 2;
/// How many bytes of long messages are read and not written, but for one message that is longer.
const HELD: usize = 16 << 20;

/// A batch with what is known of where it stands.
struct Part {
    batch: Batch,
    /// How many lines of the file come before each message, its envelope being one of them.
    lines: Vec<usize>,
}

/// A document in a batch: a message, or several that are written as one.
struct Whereabouts {
    /// In the batch: what belongs to no message, the document, and what belongs to none again.
    ends: [usize; 4],
    /// How many lines of the file come before the document.
    lines: usize,
    entity: Arc<str>,
}

impl Part {
    /// `batch`, behind `lines` lines, which become more.
    fn behind(lines: &mut usize, batch: Batch) -> Self {
        let mut counted = 0;
        let mut of_messages = Vec::with_capacity(batch.messages.len());
        for end in batch.messages.iter().map(|place| place.message.start).chain([batch.bytes.len()])
        {
            *lines += memchr::memchr_iter(b'\n', &batch.bytes[counted..end]).count();
            counted = end;
            of_messages.push(*lines);
        }
        Self { batch, lines: of_messages }
    }

    fn input<'b>(&'b self, place: &Whereabouts, path: &'b Path) -> Input<'b> {
        let (bytes, [before, start, end, behind]) = (&self.batch.bytes, place.ends);
        let offset = self.batch.messages.first().map_or(0, |first| first.offset);
        Input {
            path,
            format: Format::Mbox,
            before: &bytes[before..start],
            bytes: &bytes[start..end],
            after: &bytes[end..behind],
            offset: usize::try_from(offset).unwrap_or(usize::MAX).saturating_add(start),
            lines: place.lines,
            entity: Arc::clone(&place.entity),
        }
    }
}

/// What was made of a batch.
struct Done {
    part: Part,
    pieces: Vec<Piece>,
    told: Told,
    status: Status,
}

/// What is written at once, behind what is to be said before.
struct Piece {
    page: Page,
    place: Whereabouts,
    edits: Edits,
    /// Whether more may be written with it.
    is_open: bool,
    is_proved: bool,
}

/// What is asked for, of every message.
#[derive(Clone, Copy)]
struct Asked<'a> {
    asked: &'a Rewrite,
    work: &'a Work,
    origin: &'a Origin,
    mailbox: (&'a Path, &'a Options),
    /// Whether messages may be written together: what shows changes shows them one by one.
    joins: bool,
}

impl Asked<'_> {
    /// Rewrites the messages of a batch; `blank` is a page that looks like the output.
    fn done(self, part: Part, blank: &Output) -> Done {
        let Self { asked, work, origin, mailbox: (path, options), joins } = self;
        let mut options = options.clone();
        let (mut told, mut status) = (Told::default(), Status::Done);
        let mut pieces: Vec<Piece> = Vec::new();
        let mut page = blank.page();
        let places = part.batch.messages.iter().zip(&part.lines);
        for (&Place { number, span, message, .. }, &lines) in places {
            let entity: Arc<str> = number.to_string().into();
            options.scan.entity = Arc::clone(&entity);
            let ends = [span.start, message.start, message.end, span.end];
            let place = Whereabouts { ends, lines, entity };
            let input = part.input(&place, path);
            let one = examined((asked, work), &input, &work.options(origin, &options), &mut page);
            status = status.max(one.status());
            told.odd.extend(one.odd);
            told.add(&one.report, work);
            told.hints.add(&input, &options, &one.report);
            let (is_open, is_proved) = (joins && one.is_proved, one.is_proved);
            let joined =
                pieces.last_mut().filter(|last| last.is_open && is_open && !page.has_said());
            if let Some(Piece { place, edits, .. }) = joined {
                join(edits, one.edits, message.start - place.ends[1]);
                place.ends[2..].fill(span.end);
                continue;
            }
            let page = std::mem::replace(&mut page, blank.page()).into_page();
            if !is_open {
                pieces.push(Piece { page, place, edits: one.edits, is_open, is_proved });
                continue;
            }
            let mut edits = Edits::default();
            join(&mut edits, one.edits, message.start - span.start);
            let ends = [span.start, span.start, span.end, span.end];
            let place = Whereabouts { ends, ..place };
            pieces.push(Piece { page, place, edits, is_open, is_proved });
        }
        Done { part, pieces, told, status }
    }
}

/// Adds the edits of a message that stands at `start`, behind all those before.
fn join(edits: &mut Edits, of_message: Edits, start: usize) {
    // Messages do not reach into each other, so that nothing is refused.
    let _ = edits.append(of_message, start);
}

/// Writes what is done.
struct Writer<'a, 't> {
    path: &'a Path,
    sink: &'a mut Sink<'t>,
    output: &'a mut Output,
    told: Told,
    status: Status,
}

impl Writer<'_, '_> {
    /// Writes a batch; the outer error is one of standard output.
    fn write(&mut self, done: &mut Done) -> io::Result<Result<()>> {
        self.told.merge(std::mem::take(&mut done.told));
        self.status = self.status.max(done.status);
        for Piece { page, place, edits, is_proved, .. } in done.pieces.drain(..) {
            self.output.append(page)?;
            let input = done.part.input(&place, self.path);
            if let Err(error) = written((&edits, is_proved), &input, self.sink, self.output)? {
                return Ok(Err(error));
            }
        }
        Ok(match done.part.batch.failed.take() {
            Some(error) => Err(Error::new(format!("{}: {}", name(self.path), cause(&error)))),
            None => Ok(()),
        })
    }
}

/// Where batches come when they are done.
struct Desk<'a, 't> {
    state: Mutex<State<'a, 't>>,
    moved: Condvar,
}

struct State<'a, 't> {
    /// `None` while a thread writes.
    writer: Option<Writer<'a, 't>>,
    /// What is done and not written, by its number.
    done: BTreeMap<usize, Done>,
    /// Which is to be written next.
    due: usize,
    /// How many bytes are read and not written.
    held: usize,
    /// Buffers of what was written.
    spare: Vec<Vec<u8>>,
    /// The first error, which ends it all.
    failed: Option<io::Result<Error>>,
    /// Whether a thread did not come to an end.
    is_broken: bool,
}

impl<'a, 't> Desk<'a, 't> {
    fn lock(&self) -> MutexGuard<'_, State<'a, 't>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until fewer than `most` batches up to `number` are to be written, and of long messages not too much,
    /// and gives a buffer; `None` where there will be no need of one.
    fn wait(&self, number: usize, most: usize) -> Option<Vec<u8>> {
        let is_full = |state: &mut State<'_, '_>| {
            let is_much = state.held >= HELD.max(most * BYTES) && number > state.due;
            let goes_on = state.failed.is_none() && !state.is_broken;
            (number >= state.due + most || is_much) && goes_on
        };
        let waited = self.moved.wait_while(self.lock(), is_full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let goes_on = state.failed.is_none() && !state.is_broken;
        goes_on.then(|| state.spare.pop().unwrap_or_default())
    }

    /// Takes in a batch, and writes all whose turn it is, unless another thread does.
    fn take(&self, number: usize, done: Done) {
        let mut state = self.lock();
        state.done.insert(number, done);
        while state.failed.is_none()
            && let Some(mut writer) = state.writer.take()
        {
            let due = state.due;
            let Some(mut done) = state.done.remove(&due) else {
                state.writer = Some(writer);
                break;
            };
            drop(state);
            let written = writer.write(&mut done);
            state = self.lock();
            state.writer = Some(writer);
            state.due += 1;
            state.held -= done.part.batch.bytes.len();
            state.spare.push(done.part.batch.bytes);
            state.failed = match written {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(Ok(error)),
                Err(error) => Some(Err(error)),
            };
            self.moved.notify_all();
        }
    }
}

/// Sees to it that nobody waits for a thread that panicked.
struct Watch<'d, 'a, 't>(&'d Desk<'a, 't>);

impl Drop for Watch<'_, '_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().is_broken = true;
            self.0.moved.notify_all();
        }
    }
}

/// Rewrites the messages of `mailbox` on the threads of `pool`, of which the present one is none. The
/// outer error is one of standard output, the inner one of reading or writing.
pub(super) fn rewrite(
    (asked, work): (&Rewrite, &Work),
    origin: &Origin,
    mailbox: Mailbox<'_>,
    pool: &ThreadPool,
    sink: &mut Sink<'_>,
    output: &mut Output,
) -> io::Result<Result<(Told, Status)>> {
    let Mailbox { path, reader, options } = mailbox;
    let joins = !matches!(sink, Sink::Diff(_));
    let all = Asked { asked, work, origin, mailbox: (path, &options), joins };
    let blank = output.page();
    let writer = Writer { path, sink, output, told: Told::default(), status: Status::Done };
    let desk = Desk {
        state: Mutex::new(State {
            writer: Some(writer),
            done: BTreeMap::new(),
            due: 0,
            held: 0,
            spare: Vec::new(),
            failed: None,
            is_broken: false,
        }),
        moved: Condvar::new(),
    };
    let (mut messages, mut lines) = (Messages::new(reader), 0);
    let most = pool.current_num_threads() + BEHIND;
    pool.in_place_scope(|scope| {
        let (desk, blank) = (&desk, &blank);
        for number in 0.. {
            let Some(spare) = desk.wait(number, most) else { break };
            let part = Part::behind(&mut lines, messages.next_batch(BYTES, spare));
            let is_last = part.batch.failed.is_some() || part.batch.bytes.len() < BYTES;
            desk.lock().held += part.batch.bytes.len();
            scope.spawn(move |_| {
                let _watch = Watch(desk);
                desk.take(number, all.done(part, blank));
            });
            if is_last {
                break;
            }
        }
    });
    let state = desk.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match (state.failed, state.writer) {
        (Some(failed), _) => failed.map(Err),
        (None, Some(Writer { told, status, .. })) => Ok(Ok((told, status))),
        (None, None) => Ok(Ok((Told::default(), Status::Done))),
    }
}
