//! The documents and captures of archives, processed on several threads.
//!
//! ```text
//! crawl.warc.gz  -->  crawl.warc.gz@524, an HTTP response from http://a/
//!                     crawl.warc.gz@9120: warning[member-broken]: …
//! ```
//!
//! The calling thread reads the archive; others work on the documents ([`in_order`]).
//!
//! Deliberately absent: the items of an archive ([`super::archived`]).

use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::{iter, mem};

use crate::archive::{Har, Wacz, WebArchive};
use crate::collection::message::resources;
use baselink_rewrite::Options;
use baselink_rewrite::archive::Records;
use baselink_text::error::{Error, Result, cause, name};

use super::archived::{ArchiveContents, Archived, Item, Wanted};
use super::document_name::DocumentName;
use super::failure::{Failure, FileResult};
use super::in_order::{Bounds, in_order};
use super::input::{Archive, Input};
use super::output::Output;
use super::progress::is_stopped;

/// The total size of the documents under way at which reading waits.
const UNDER_WAY: usize = 16 << 20;

/// Calls `work` for every document or capture of `archive`, and `done` with each result, in the order of the archive.
/// Uses several threads, unless `output` already belongs to a worker thread. Returns the number of records with
/// anomalies.
pub(crate) fn each<T: Send>(
    archive: Archive<'_>,
    output: &mut Output,
    work: impl Fn(&Input<'_>, &Archived, &mut Output) -> io::Result<T> + Sync,
    mut done: impl FnMut(T, (&Input<'_>, &Archived), &mut Output) -> FileResult<()> + Send,
) -> FileResult<usize> {
    let Archive {
        path,
        contents,
        options,
        jobs,
        wanted,
    } = archive;
    let threads = if output.is_buffered() { 1 } else { jobs };
    let counts = output.count_diagnostics();
    let (mut numbers, mut anomalies) = (0.., 0);
    let mut process = |path: &Path, next: NextItem<'_>, output: &mut Output| {
        let mut next = |spare: &dyn Fn() -> Vec<u8>| {
            let mut item = next(spare)?;
            let number = numbers.next()?;
            if let Ok(item) = &mut item {
                item.messages.retain(|_| wanted != Wanted::Captures);
                anomalies += usize::from(!item.messages.is_empty());
                item.document
                    .iter_mut()
                    .for_each(|document| document.number = number);
            }
            Some(item)
        };
        process_items(path, threads, &mut next, output, &work, &mut done)
    };
    let ended = process_contents(path, contents, (&options, wanted), &mut process, output);
    if counts {
        output.report_counted_diagnostics();
    }
    ended.map(|()| anomalies)
}

/// A function that returns the next item of an archive; its argument provides a buffer for the bytes.
type NextItem<'a> = &'a mut dyn FnMut(&dyn Fn() -> Vec<u8>) -> Option<Result<Item>>;

/// Calls `process` with the items of the archive `path`, which has these `contents`.
fn process_contents(
    path: &Path,
    contents: ArchiveContents,
    (options, wanted): (&Options, Wanted),
    process: &mut dyn FnMut(&Path, NextItem<'_>, &mut Output) -> FileResult<()>,
    output: &mut Output,
) -> FileResult<()> {
    let failed = |error: Error| failure(path, &error);
    match contents {
        ArchiveContents::Warc(reader) => {
            process(path, &mut records(reader, options, wanted), output)
        }
        ArchiveContents::Har(reader) => {
            let har = read_whole(reader).and_then(Har::read).map_err(failed)?;
            let mut items = har
                .entries()
                .map(|entry| Item::of_har(entry, options, wanted));
            process(path, &mut |_| items.next().map(Ok), output)
        }
        ArchiveContents::WebArchive(reader) => {
            let bytes = read_whole(reader).map_err(failed)?;
            let WebArchive {
                resources,
                anomalies,
                ..
            } = WebArchive::read(&bytes).map_err(failed)?;
            let found = resources
                .into_iter()
                .map(|one| Item::of_resource(one, options, wanted));
            let mut items = found.chain(anomalies.into_iter().map(Item::of_anomaly));
            process(path, &mut |_| items.next().map(Ok), output)
        }
        ArchiveContents::Message(bytes) => {
            let parts = resources(&bytes, options).into_iter().zip(0..);
            let mut items = parts.map(|(part, number)| Item::of_part(part, number, options));
            process(path, &mut |_| items.next().map(Ok), output)
        }
        ArchiveContents::Wacz(file) => {
            let mut wacz = Wacz::open(file).map_err(failed)?;
            let in_wacz = wacz.names().map(|inner| path.join("archive").join(inner));
            // A damaged inner archive does not stop the others.
            let mut latest = None;
            for (at, inner) in in_wacz.collect::<Vec<_>>().iter().enumerate() {
                let read = wacz.archive(at).map_err(failed).and_then(|reader| {
                    process(inner, &mut records(reader, options, wanted), output)
                });
                if let Err(error) = Failure::separate(read)?
                    && let Some(earlier) = latest.replace(error)
                {
                    output.error(&earlier);
                }
            }
            latest.map_or(Ok(()), |error| Err(Failure::File(error)))
        }
    }
}

/// Returns the items of the WARC records in `reader`.
fn records<R: Read>(
    reader: R,
    options: &Options,
    wanted: Wanted,
) -> impl FnMut(&dyn Fn() -> Vec<u8>) -> Option<Result<Item>> {
    let mut records = Records::new(reader);
    move |spare| {
        records.reuse(spare());
        Some(
            records
                .next()?
                .map(|entry| Item::of(entry, options, wanted)),
        )
    }
}

/// Converts an error about a part of the archive `path` into one about the archive.
fn failure(path: &Path, error: &Error) -> Failure {
    Failure::File(Error::file(path, &error.to_string()))
}

/// Reads all of `reader`.
fn read_whole(mut reader: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = reader.read_to_end(&mut bytes);
    read.map_err(|error| Error::new(cause(&error)))?;
    Ok(bytes)
}

/// Calls `work` for the document of each item from `next`, and `done` with each result, in order. Reports anomalies.
fn process_items<T: Send>(
    path: &Path,
    threads: usize,
    next: NextItem<'_>,
    output: &mut Output,
    work: &(impl Fn(&Input<'_>, &Archived, &mut Output) -> io::Result<T> + Sync),
    done: &mut (impl FnMut(T, (&Input<'_>, &Archived), &mut Output) -> FileResult<()> + Send),
) -> FileResult<()> {
    let blank = output.buffered();
    let buffers: Mutex<Vec<Vec<u8>>> = Mutex::default();
    let lock = || buffers.lock().unwrap_or_else(PoisonError::into_inner);
    let spare = || lock().pop().unwrap_or_default();
    let items = iter::from_fn(|| {
        let mut item = next(&spare).filter(|_| !is_stopped())?;
        if let Ok(Item { unused, .. }) = &mut item
            && !unused.is_empty()
        {
            lock().push(mem::take(unused));
        }
        let document = item.as_ref().ok().and_then(|item| item.document.as_ref());
        let size = document.map_or(0, |document| document.bytes().len());
        Some((item, size))
    });
    let work_buffered = |item: Result<Item>| {
        let Item {
            is_anomaly,
            messages,
            document,
            ..
        } = item?;
        let of_document = document.map(|document| {
            let mut buffer = blank.buffered();
            let result = work(&input(path, &document), &document, &mut buffer);
            (result, buffer.into_buffer(), document)
        });
        Ok::<_, Error>((is_anomaly, messages, of_document))
    };
    let (mut has_anomalies, mut has_records) = (false, false);
    let bounds = Bounds {
        threads,
        items: 8 * threads,
        size: UNDER_WAY,
    };
    in_order(bounds, items, work_buffered, |result| {
        let (is_anomaly, messages, of_document) = result.map_err(|error| failure(path, &error))?;
        has_anomalies |= is_anomaly;
        has_records |= !is_anomaly;
        for (offset, code, message) in messages {
            output.diagnostic_at(&format!("{}@{offset}", name(path)), code, &message);
        }
        let Some((result, buffer, document)) = of_document else {
            return Ok::<_, Failure>(());
        };
        output.advance_to(document.key.offset.file);
        output.append(buffer)?;
        done(result?, (&input(path, &document), &document), output)?;
        lock().push(document.into_buffer());
        Ok(())
    })?;
    match has_anomalies && !has_records && !is_stopped() {
        true => Err(failure(path, &Error::new("no WARC record could be read"))),
        false => Ok(()),
    }
}

fn input<'a>(path: &'a Path, document: &'a Archived) -> Input<'a> {
    let name = DocumentName {
        path,
        record: Some(&document.key),
    };
    Input::whole(name, document.options.format, document.bytes())
}
