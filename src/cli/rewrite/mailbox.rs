//! Mailboxes, whose messages are rewritten several at a time and written in order.
//!
//! ```text
//! mailbox --read--> batch --a thread--> pieces with their edits --in order--> FileSink
//! ```
//!
//! One thread reads batches, the others rewrite them ([`in_order`]). A batch has about one megabyte, or a single
//! longer message, so memory does not depend on the length of the mailbox. Adjacent messages are written as one
//! piece, unless there is output between them.
//!
//! Deliberately absent: finding messages, which `baselink_rewrite::container::mbox` does.

use std::iter;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use baselink_rewrite::Options;
use baselink_rewrite::container::mbox::{Batch, MessagePlace, Messages};
use baselink_text::edit::Edits;
use baselink_text::error::Error;
use baselink_text::format::Format;

use super::document::{RewrittenDocument, rewrite_document, write_document};
use super::kind::RewriteKind;
use super::summary::FileSummary;
use super::target::FileSink;
use crate::cli::document_name::DocumentName;
use crate::cli::failure::FileResult;
use crate::cli::in_order::{Bounds, in_order};
use crate::cli::input::{Input, Mailbox};
use crate::cli::output::{BufferedOutput, Output};
use crate::cli::request::{Origin, Rewrite};

/// The size of a batch in bytes, without its last message.
const BYTES: usize = 1 << 20;
/// The number of batches read and not yet written, besides those that threads work on.
const AHEAD: usize = 2;
/// The number of bytes of long messages read and not yet written; a single message may be longer.
const LONG: usize = 16 << 20;

/// A batch with line numbers of the file.
struct NumberedBatch {
    batch: Batch,
    /// The number of lines before each message in the file, including its envelope.
    lines: Vec<usize>,
}

/// A document in a batch: a message, or several that are written as one.
struct BatchPlace {
    /// Offsets in the batch: the start of the bytes before the document, its start, its end, and the end of the bytes
    /// after it.
    ends: [usize; 4],
    /// The number of lines before the document in the file.
    lines: usize,
    entity: Arc<str>,
}

impl NumberedBatch {
    /// Numbers the lines of `batch`, which follows `lines` lines, and adds its lines to `lines`.
    fn after(lines: &mut usize, batch: Batch) -> Self {
        let mut counted = 0;
        let mut of_messages = Vec::with_capacity(batch.messages.len());
        for end in batch
            .messages
            .iter()
            .map(|place| place.message.start)
            .chain([batch.bytes.len()])
        {
            *lines += memchr::memchr_iter(b'\n', &batch.bytes[counted..end]).count();
            counted = end;
            of_messages.push(*lines);
        }
        Self {
            batch,
            lines: of_messages,
        }
    }

    fn input<'b>(&'b self, place: &BatchPlace, path: &'b Path) -> Input<'b> {
        let (bytes, [before, start, end, after]) = (&self.batch.bytes, place.ends);
        let offset = self.batch.messages.first().map_or(0, |first| first.offset);
        Input {
            name: DocumentName::of(path),
            format: Format::Mbox,
            before: &bytes[before..start],
            bytes: &bytes[start..end],
            after: &bytes[end..after],
            offset: usize::try_from(offset)
                .unwrap_or(usize::MAX)
                .saturating_add(start),
            lines: place.lines,
            entity: Arc::clone(&place.entity),
        }
    }
}

/// The result of rewriting a batch.
struct RewrittenBatch {
    part: NumberedBatch,
    pieces: Vec<BatchPiece>,
    summary: FileSummary,
}

/// A piece that is written at once, and the output before it.
struct BatchPiece {
    buffer: BufferedOutput,
    place: BatchPlace,
    rewritten: RewrittenDocument,
    /// True if the next message may be joined to the piece.
    is_open: bool,
}

/// The task for every message of a mailbox.
#[derive(Clone, Copy)]
struct MailboxTask<'a> {
    request: &'a Rewrite,
    kind: &'a RewriteKind,
    origin: &'a Origin,
    mailbox: (&'a Path, &'a Options),
    /// True if messages may be written together; a diff shows them one by one.
    joins: bool,
}

impl MailboxTask<'_> {
    /// Rewrites the messages of a batch; `blank` is a buffer with the settings of the output.
    fn rewrite_batch(self, part: NumberedBatch, blank: &Output) -> RewrittenBatch {
        let Self {
            request,
            kind,
            origin,
            mailbox: (path, options),
            joins,
        } = self;
        let mut options = options.clone();
        let mut summary = FileSummary::default();
        let mut pieces: Vec<BatchPiece> = Vec::new();
        let mut buffer = blank.buffered();
        let places = part.batch.messages.iter().zip(&part.lines);
        for (
            &MessagePlace {
                number,
                span,
                message,
                ..
            },
            &lines,
        ) in places
        {
            let entity: Arc<str> = number.to_string().into();
            options.scan.entity = Arc::clone(&entity);
            let ends = [span.start, message.start, message.end, span.end];
            let place = BatchPlace {
                ends,
                lines,
                entity,
            };
            let input = part.input(&place, path);
            let of_message = kind.options(origin, input.bytes, &options);
            let document = rewrite_document(
                (request, kind),
                &input,
                &of_message,
                &mut summary,
                &mut buffer,
            );
            let is_open = joins && document.is_proved;
            let joined = pieces
                .last_mut()
                .filter(|last| last.is_open && is_open && !buffer.has_messages());
            if let Some(BatchPiece {
                place, rewritten, ..
            }) = joined
            {
                join(
                    &mut rewritten.edits,
                    &document.edits,
                    message.start - place.ends[1],
                );
                place.ends[2..].fill(span.end);
                continue;
            }
            let buffer = std::mem::replace(&mut buffer, blank.buffered()).into_buffer();
            if !is_open {
                pieces.push(BatchPiece {
                    buffer,
                    place,
                    rewritten: document,
                    is_open,
                });
                continue;
            }
            let mut edits = Edits::default();
            join(&mut edits, &document.edits, message.start - span.start);
            let ends = [span.start, span.start, span.end, span.end];
            let place = BatchPlace { ends, ..place };
            let rewritten = RewrittenDocument {
                edits,
                is_proved: true,
            };
            pieces.push(BatchPiece {
                buffer,
                place,
                rewritten,
                is_open,
            });
        }
        RewrittenBatch {
            part,
            pieces,
            summary,
        }
    }
}

/// Appends the edits of a message that begins at `start`.
fn join(edits: &mut Edits, of_message: &Edits, start: usize) {
    // Messages do not overlap, so no edit is refused.
    let _ = edits.append(of_message, start);
}

/// Rewrites the messages of `mailbox` on several threads.
pub(super) fn rewrite(
    (request, kind): (&Rewrite, &RewriteKind),
    origin: &Origin,
    mailbox: Mailbox<'_>,
    sink: &mut FileSink<'_>,
    output: &mut Output,
) -> FileResult<FileSummary> {
    let Mailbox {
        path,
        reader,
        options,
    } = mailbox;
    let joins = !matches!(sink, FileSink::Diff(_));
    let all = MailboxTask {
        request,
        kind,
        origin,
        mailbox: (path, &options),
        joins,
    };
    let blank = output.buffered();
    let mut summary = FileSummary::default();
    let (mut messages, mut lines, mut is_last) = (Messages::new(reader), 0, false);
    // Buffers of written batches, for reuse.
    let spare: Mutex<Vec<Vec<u8>>> = Mutex::default();
    let buffers = || spare.lock().unwrap_or_else(PoisonError::into_inner);
    let parts = iter::from_fn(|| {
        if is_last {
            return None;
        }
        let buffer = buffers().pop().unwrap_or_default();
        let part = NumberedBatch::after(&mut lines, messages.next_batch(BYTES, buffer));
        let size = part.batch.bytes.len();
        is_last = part.batch.failed.is_some() || size < BYTES;
        Some((part, size))
    });
    let threads = request.documents.jobs;
    let items = threads + AHEAD;
    let bounds = Bounds {
        threads,
        items,
        size: LONG.max(items * BYTES),
    };
    let write = |done: RewrittenBatch| -> FileResult<()> {
        let RewrittenBatch {
            mut part,
            pieces,
            summary: of_batch,
        } = done;
        summary.merge(of_batch);
        for BatchPiece {
            buffer,
            place,
            rewritten,
            ..
        } in pieces
        {
            output.append(buffer)?;
            write_document(&rewritten, &part.input(&place, path), sink, output)?;
        }
        if let Some(error) = part.batch.failed.take() {
            return Err(Error::io(path, error).into());
        }
        buffers().push(part.batch.bytes);
        Ok(())
    };
    in_order(bounds, parts, |part| all.rewrite_batch(part, &blank), write)?;
    Ok(summary)
}
