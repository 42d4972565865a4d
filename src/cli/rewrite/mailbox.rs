//! Mailboxes: their messages are rewritten several at a time, and written in their order.
//!
//! ```text
//! mailbox --read--> batch --threads--> messages with their edits --in order--> Sink
//! ```
//!
//! While the threads share a batch, the next one is read, so that they go on with it, and what is done of
//! this one is written. A batch is one megabyte, or one message that is longer; so memory is that of two
//! batches and what is made of them, whatever the length of the mailbox.
//!
//! Deliberately absent: what a message is. `baselink::scan::mbox` knows that.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, mpsc};

use baselink::error::{Error, Result, cause, name};
use baselink::format::Format;
use baselink::scan::mbox::Messages;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::target::Sink;
use super::told::Told;
use super::{Examined, Work, examined, taken};
use crate::cli::Status;
use crate::cli::args::Rewrite;
use crate::cli::files::Origin;
use crate::cli::input::{Input, Mailbox};
use crate::cli::output::{Output, Page};

/// How many bytes a batch has, but for its last message.
const BYTES: usize = 1 << 20;
/// How many messages a thread takes at once; whoever writes is woken as rarely.
const AT_ONCE: usize = 8;
/// How many batches are with the threads: one more than they work on.
const BEGUN: usize = 2;

/// Messages by their place in the batch, with what is said of each.
type Done = Vec<(usize, (Examined, Page))>;

/// Messages that stand one behind the other.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    messages: Vec<Place>,
    /// Why there are no more.
    failed: Option<io::Error>,
}

/// Where a message is.
struct Place {
    /// Its number, as its name.
    entity: Arc<str>,
    /// In the batch: what belongs to no message, the message, and what belongs to none again.
    starts: [usize; 4],
    /// How many bytes and lines of the file come before the message.
    offset: usize,
    lines: usize,
}

impl Batch {
    /// Reads the next messages; behind `lines` lines, which become more. Shorter than the others is the
    /// last one.
    fn read(messages: &mut Messages<Box<dyn Read>>, lines: &mut usize) -> Self {
        let mut batch = Self { bytes: Vec::with_capacity(BYTES + BYTES / 8), ..Self::default() };
        while batch.bytes.len() < BYTES {
            match messages.next_message() {
                Ok(Some(found)) => {
                    let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
                    let (start, end) = (found.message.start, found.message.end);
                    let first = batch.bytes.len();
                    let offset = usize::try_from(found.offset).unwrap_or(usize::MAX);
                    *lines += count(&found.bytes[..start]);
                    batch.messages.push(Place {
                        entity: found.number.to_string().into(),
                        starts: [0, start, end, found.bytes.len()].map(|at| first + at),
                        offset: offset.saturating_add(start),
                        lines: *lines,
                    });
                    *lines += count(&found.bytes[start..]);
                    batch.bytes.extend_from_slice(found.bytes);
                }
                Ok(None) => break,
                Err(error) => {
                    batch.failed = Some(error);
                    break;
                }
            }
        }
        batch
    }

    fn input<'b>(&'b self, place: &Place, path: &'b Path) -> Input<'b> {
        let [before, start, end, behind] = place.starts;
        Input {
            path,
            format: Format::Mbox,
            before: &self.bytes[before..start],
            bytes: &self.bytes[start..end],
            after: &self.bytes[end..behind],
            offset: place.offset,
            lines: place.lines,
            entity: Arc::clone(&place.entity),
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
    let (mut told, mut status, mut lines) = (Told::default(), Status::Done, 0);
    let mut messages = Messages::new(reader);
    let options = &options;
    pool.in_place_scope(|scope| {
        // What is with the threads, and what comes from them.
        let mut begun: VecDeque<(Arc<Batch>, Receiver<Done>)> = VecDeque::new();
        let mut is_last = false;
        loop {
            while begun.len() < BEGUN && !is_last {
                let batch = Arc::new(Batch::read(&mut messages, &mut lines));
                is_last = batch.failed.is_some() || batch.bytes.len() < BYTES;
                let (give, taken) = mpsc::channel();
                begun.push_back((Arc::clone(&batch), taken));
                let pages: Vec<_> = batch.messages.iter().map(|_| output.page()).collect();
                scope.spawn(move |_| {
                    let one = |(number, (place, mut page)): (usize, (&Place, Output))| {
                        let input = batch.input(place, path);
                        let mut options = options.clone();
                        options.scan.entity = Arc::clone(&input.entity);
                        let options = work.options(origin, &options);
                        let one = examined((asked, work), &input, &options, &mut page);
                        (number, (one, page.into_page()))
                    };
                    let places = batch.messages.par_iter().zip(pages).enumerate();
                    places.chunks(AT_ONCE).for_each_with(give, |give, some| {
                        // Nobody takes them any more where writing failed.
                        let _ = give.send(some.into_iter().map(one).collect());
                    });
                });
            }
            let Some((batch, taken_of)) = begun.pop_front() else {
                return Ok(Ok((told, status)));
            };
            let mut early: Vec<_> = batch.messages.iter().map(|_| None).collect();
            let mut due = 0;
            for some in taken_of {
                for (number, one) in some {
                    early[number] = Some(one);
                }
                while let Some((one, page)) = early.get_mut(due).and_then(Option::take) {
                    output.append(page)?;
                    status = status.max(one.status());
                    let input = batch.input(&batch.messages[due], path);
                    if let Err(error) = taken(one, &input, work, &mut told, sink, output)? {
                        return Ok(Err(error));
                    }
                    due += 1;
                }
            }
            if let Some(error) = &batch.failed {
                return Ok(Err(Error::new(format!("{}: {}", name(path), cause(error)))));
            }
        }
    })
}
