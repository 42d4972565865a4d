//! Archives: what is done with the documents in them, on several threads.
//!
//! ```text
//! crawl.warc.gz  -->  crawl.warc.gz@524, an HTTP response from http://a/   links, base and rewrite go through them
//!                     crawl.warc.gz@9120: warning[member-broken]: …
//! ```
//!
//! One thread reads, and what it reads is worked on by others ([`in_order`]).
//!
//! Deliberately absent: what is in an archive ([`super::archived`]).

use std::io::{self, Read};
use std::iter;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use baselink::Options;
use baselink::archive::{Har, Records, Wacz, WebArchive};
use baselink::collection::message::resources;
use baselink::error::{Error, Result, cause, name};

use super::archived::{ArchiveContents, Archived, Item, Wanted};
use super::document_name::DocumentName;
use super::failure::{Failure, FileResult};
use super::in_order::{Bounds, in_order};
use super::input::{Archive, Input};
use super::output::Output;
use super::progress::is_stopped;

/// So many bytes of an archive are under way at a time, where no record is longer.
const UNDER_WAY: usize = 16 << 20;

/// Does `work` for every document of `archive`, on several threads where `output` is not that of one of several; and
/// `done` with what that gives, in the order of the archive. Gives the number of records with anomalies.
pub(crate) fn each<T: Send>(
    archive: Archive<'_>,
    output: &mut Output,
    work: impl Fn(&Input<'_>, &Archived, &mut Output) -> io::Result<T> + Sync,
    mut done: impl FnMut(T, (&Input<'_>, &Archived), &mut Output) -> FileResult<()> + Send,
) -> FileResult<usize> {
    let Archive { path, contents, options, jobs, wanted } = archive;
    let threads = if output.is_page() { 1 } else { jobs };
    let counts = output.count_diagnostics();
    let (mut numbers, mut anomalies) = (0.., 0);
    let mut through = |path: &Path, next: &mut dyn ItemSource, output: &mut Output| {
        let mut next = |spare: &dyn Fn() -> Vec<u8>| {
            let mut item = next.next(&options, wanted, spare)?;
            let number = numbers.next()?;
            if let Ok(item) = &mut item {
                item.said.retain(|_| wanted != Wanted::Captures);
                anomalies += usize::from(!item.said.is_empty());
                item.document.iter_mut().for_each(|document| document.number = number);
            }
            Some(item)
        };
        through(path, threads, &mut next, output, &work, &mut done)
    };
    let ended = match contents {
        ArchiveContents::Warc(reader) => through(path, &mut Records::new(reader), output),
        ArchiveContents::Har(reader) => match whole(reader).and_then(Har::read) {
            Ok(har) => {
                let mut entries = har.entries();
                let next = |options: &_| Some(Item::of_har(entries.next()?, options, wanted));
                through(path, &mut ItemFn(next), output)
            }
            Err(error) => Err(failure(path, &error)),
        },
        ArchiveContents::WebArchive(reader) => {
            match whole(reader).and_then(|bytes| WebArchive::read(&bytes)) {
                Ok(archive) => {
                    let mut resources = archive.resources.into_iter();
                    let mut anomalies = archive.anomalies.into_iter();
                    let next = |options: &_| match resources.next() {
                        Some(resource) => Some(Item::of_resource(resource, options, wanted)),
                        None => anomalies.next().map(Item::of_anomaly),
                    };
                    through(path, &mut ItemFn(next), output)
                }
                Err(error) => Err(failure(path, &error)),
            }
        }
        ArchiveContents::Message(bytes) => {
            let mut parts = (0..).zip(resources(&bytes, &options));
            let next = |options: &_| {
                parts.next().map(|(number, part)| Item::of_part(part, number, options))
            };
            through(path, &mut ItemFn(next), output)
        }
        ArchiveContents::Wacz(file) => match Wacz::open(file) {
            Ok(mut wacz) => {
                let in_wacz = wacz.names().map(|inner| path.join("archive").join(inner));
                // What is damaged hides nothing of the others.
                let mut latest = None;
                for (at, inner) in in_wacz.collect::<Vec<_>>().iter().enumerate() {
                    let read = match wacz.archive(at) {
                        Ok(reader) => through(inner, &mut Records::new(reader), output),
                        Err(error) => Err(failure(path, &error)),
                    };
                    if let Err(error) = Failure::nested(read)?
                        && let Some(earlier) = latest.replace(error)
                    {
                        output.error(&earlier);
                    }
                }
                latest.map_or(Ok(()), |error| Err(Failure::File(error)))
            }
            Err(error) => Err(failure(path, &error)),
        },
    };
    if counts {
        output.say_diagnostics();
    }
    ended.map(|()| anomalies)
}

/// What is wrong with the archive `path`.
fn failure(path: &Path, error: &Error) -> Failure {
    Failure::File(Error::new(format!("{}: {error}", name(path))))
}

/// All that `reader` has.
fn whole(mut reader: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = reader.read_to_end(&mut bytes);
    read.map_err(|error| Error::new(cause(&error)))?;
    Ok(bytes)
}

/// What gives the items of an archive.
trait ItemSource {
    /// The next one, whose document is read as `options` say, into the buffer that `spare` gives.
    fn next(
        &mut self,
        options: &Options,
        wanted: Wanted,
        spare: &dyn Fn() -> Vec<u8>,
    ) -> Option<Result<Item>>;
}

/// Gives the next item, which is read into the buffer that the argument gives.
type NextItem<'a> = &'a mut dyn FnMut(&dyn Fn() -> Vec<u8>) -> Option<Result<Item>>;

impl<R: Read> ItemSource for Records<R> {
    fn next(
        &mut self,
        options: &Options,
        wanted: Wanted,
        spare: &dyn Fn() -> Vec<u8>,
    ) -> Option<Result<Item>> {
        self.reuse(spare());
        Some(Iterator::next(self)?.map(|entry| Item::of(entry, options, wanted)))
    }
}

/// A function that gives the items of an archive in memory.
struct ItemFn<F>(F);

impl<F: FnMut(&Options) -> Option<Item>> ItemSource for ItemFn<F> {
    fn next(
        &mut self,
        options: &Options,
        _: Wanted,
        _: &dyn Fn() -> Vec<u8>,
    ) -> Option<Result<Item>> {
        self.0(options).map(Ok)
    }
}

/// Does `work` for all that `next` gives, and `done` with what comes of it.
fn through<T: Send>(
    path: &Path,
    threads: usize,
    next: NextItem<'_>,
    output: &mut Output,
    work: &(impl Fn(&Input<'_>, &Archived, &mut Output) -> io::Result<T> + Sync),
    done: &mut (impl FnMut(T, (&Input<'_>, &Archived), &mut Output) -> FileResult<()> + Send),
) -> FileResult<()> {
    let blank = output.page();
    let buffers: Mutex<Vec<Vec<u8>>> = Mutex::default();
    let lock = || buffers.lock().unwrap_or_else(PoisonError::into_inner);
    let spare = || lock().pop().unwrap_or_default();
    let items = iter::from_fn(|| {
        let item = next(&spare).filter(|_| !is_stopped())?;
        let document = item.as_ref().ok().and_then(|item| item.document.as_ref());
        let size = document.map_or(0, |document| document.bytes().len());
        Some((item, size))
    });
    let on_page = |item: Result<Item>| {
        let Item { is_anomaly, said, document } = item?;
        let of_document = document.map(|document| {
            let mut page = blank.page();
            let made = work(&input(path, &document), &document, &mut page);
            (made, page.into_page(), document)
        });
        Ok::<_, Error>((is_anomaly, said, of_document))
    };
    let (mut has_anomalies, mut has_records) = (false, false);
    let bounds = Bounds { threads, items: 8 * threads, size: UNDER_WAY };
    in_order(bounds, items, on_page, |result| {
        let (is_anomaly, said, of_document) = result.map_err(|error| failure(path, &error))?;
        has_anomalies |= is_anomaly;
        has_records |= !is_anomaly;
        for (offset, code, message) in said {
            output.of_a_place(&format!("{}@{offset}", name(path)), code, &message);
        }
        let Some((made, page, document)) = of_document else { return Ok::<_, Failure>(()) };
        output.reach(document.key.offset.file);
        output.append(page)?;
        done(made?, (&input(path, &document), &document), output)?;
        lock().push(document.into_buffer());
        Ok(())
    })?;
    match has_anomalies && !has_records && !is_stopped() {
        true => Err(failure(path, &Error::new("no WARC record can be read from it"))),
        false => Ok(()),
    }
}

fn input<'a>(path: &'a Path, document: &'a Archived) -> Input<'a> {
    let name = DocumentName { path, record: Some(&document.key) };
    Input::whole(name, document.options.format, document.bytes())
}
