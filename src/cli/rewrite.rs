//! `baselink rewrite`: every relative link becomes absolute; and how `localize` rewrites files.
//!
//! ```text
//! $ baselink rewrite --url http://a/b/page.html page.html -o absolute.html
//! page.html: base http://a/b/page.html (3.3 retrieval); 2 links: 1 rewritten, 1 absolute
//! ```
//!
//! A file is read, rewritten and written to its end by one thread ([`one`]). What replaces another gets
//! its name, which makes it count, with a batch of files at once ([`settle`]), because each wait for the
//! disk is long; a new file of an output folder waits for nothing. Where nothing is asked of single
//! links, no report is made of them.
//!
//! Deliberately absent: what becomes of a link ([`work`]), where bytes go ([`target`]), and what is said in
//! the end ([`told`]).

mod aside;
mod examined;
mod mailbox;
pub(super) mod target;
mod told;
mod work;

use std::io;
use std::path::{Path, PathBuf};

use baselink::Options;
use baselink::error::{Result, name};
use baselink::format::Format;
use baselink::tree::maildir::{is_maildir, is_message};

use self::examined::{Examined, examined, written};
use self::target::{Pending, Sink, Target, Written};
use self::told::{Told, Totals};
pub(crate) use self::work::Work;
use super::files::{self, Found};
use super::input::{File, Input, NoDocument, Opened};
use super::output::{Output, Page, count};
use super::places::Places;
use super::progress::{is_stopped, stop_between_files};
use super::record;
use super::request::{Destination, Origin, Rewrite};
use super::status::Status;

/// Makes every relative link absolute.
pub(crate) fn run(asked: &Rewrite, output: &mut Output) -> io::Result<Status> {
    rewrite(asked, &Work::Absolute, output)
}

/// Rewrites what was asked for, so that its links become what `work` says.
pub(crate) fn rewrite(asked: &Rewrite, work: &Work, output: &mut Output) -> io::Result<Status> {
    let target = match Target::of(&asked.destination, &asked.documents) {
        Ok(target) => target,
        Err(error) => {
            output.error(&error);
            return Ok(Status::Unusable);
        }
    };
    if target.writes_files() {
        output.goes_aside();
    }
    // Whoever types what is rewritten ends it in another way.
    let reads_files = asked.documents.roots().count() == asked.documents.paths.len();
    if target.writes_files() && reads_files {
        stop_between_files()?;
    }
    let (mut totals, mut status) = (Totals::default(), Status::Done);
    let of_one = |origin: &Origin, output: &mut Output| one(asked, work, &target, origin, output);
    let failed = files::each(&asked.documents, output, of_one, |batch, output| {
        status = status.max(settle(asked, work, batch, &mut totals, output)?);
        Ok(())
    })?;
    totals.unusable += failed;
    if let Err(sentences) = target.finish() {
        sentences.iter().for_each(|sentence| output.caution(sentence));
    }
    let done = totals.files();
    if asked.documents.has_folder() {
        totals.summary(work, target.writes_files(), output);
    }
    if is_stopped() {
        output.error(&format_args!(
            "stopped after {}, each of them whole; the same command does the rest",
            count(done, "file", "files")
        ));
        return Ok(Status::Stopped);
    }
    Ok(if failed > 0 { Status::Unusable } else { status })
}

/// What became of a file.
enum Became {
    Rewritten(Box<Document>),
    /// It is no document, and stands at this place of the output folder.
    Copied(PathBuf),
    /// It is no document, and was left.
    NoDocument,
    /// It is a folder; what is in it comes by itself.
    Folder,
    /// It is a symbolic link, and was left out.
    Link,
    /// It is what an earlier run kept, and was left.
    Backup,
    /// It is a message that somebody is writing, and was left.
    Delivery,
    /// It could not be used; why has been said.
    Unusable,
}

/// A document that was rewritten.
struct Document {
    format: Format,
    told: Told,
    status: Status,
    written: Written,
}

fn one(
    asked: &Rewrite,
    work: &Work,
    target: &Target<'_>,
    origin: &Origin,
    output: &mut Output,
) -> io::Result<Became> {
    let became = match files::found(origin) {
        Ok(Found::Folder) => target.folder(origin).map(|()| Became::Folder),
        Ok(Found::Link) => Ok(Became::Link),
        Ok(Found::Temporary) => Ok(Became::NoDocument),
        Ok(Found::File) if is_backup(asked, origin) => Ok(Became::Backup),
        Ok(Found::File) if target.replaces_inputs() && is_delivery(origin) => Ok(Became::Delivery),
        Ok(Found::File) => document(asked, work, target, origin, output)?,
        Err(error) => Err(error),
    };
    Ok(became.unwrap_or_else(|error| {
        output.error(&error);
        Became::Unusable
    }))
}

/// Whether it was found under the name of a backup, as `--backup` gives them.
fn is_backup(asked: &Rewrite, origin: &Origin) -> bool {
    let name = origin.path().file_name().unwrap_or_default();
    !origin.is_named() && asked.backup.as_ref().is_some_and(|suffix| suffix.ends(name))
}

/// Whether it was found in the `tmp` of a Maildir (maildir(5)): whoever writes it there must find it
/// there.
pub(super) fn is_delivery(origin: &Origin) -> bool {
    let folder = origin.path().parent().filter(|folder| folder.ends_with("tmp"));
    !origin.is_named() && folder.and_then(Path::parent).is_some_and(is_maildir)
}

/// Whether the short way serves: nothing is asked of single links, and it is likely to be one.
fn is_short(
    asked: &Rewrite,
    work: &Work,
    sink: &Sink<'_>,
    path: &Path,
    options: &Options,
    output: &Output,
) -> bool {
    let asks_links = asked.verify || asked.strict || output.is_verbose();
    // A message that is read as something else still has a name with its size.
    let is_file = !matches!(sink, Sink::Diff(_)) && !is_message(path);
    matches!(work, Work::Absolute)
        && !asks_links
        && is_file
        && options.allow_short_way(options.format)
}

/// The outer error is one of standard output.
fn document(
    asked: &Rewrite,
    work: &Work,
    target: &Target<'_>,
    origin: &Origin,
    output: &mut Output,
) -> io::Result<Result<Became>> {
    let mut sink = match target.begin(origin) {
        Ok(sink) => sink,
        Err(error) => return Ok(Err(error)),
    };
    let file = match File::open(origin, &asked.documents, sink.original()) {
        Ok(Opened::Document(file)) => file,
        Ok(Opened::NoDocument(none)) => return no_document(none, origin, sink, output),
        Err(error) => return Ok(Err(error)),
    };
    let format = file.format;
    output.passed_over(&file.passed_over);
    sink.reads(file.metadata.as_ref());
    // A thread that is one of several has its own files to work on.
    let is_shared = format == Format::Mbox && asked.documents.jobs > 1 && !output.is_page();
    let mailbox = if is_shared { file.into_mailbox() } else { Err(Box::new(file)) };
    let file = match mailbox {
        Err(file) => *file,
        Ok(mailbox) => {
            let done = mailbox::rewrite((asked, work), origin, mailbox, &mut sink, output)?;
            let ended = done.and_then(|(told, status)| Ok((told, status, sink.end()?)));
            return Ok(ended.map(|(told, status, written)| {
                Became::Rewritten(Box::new(Document { format, told, status, written }))
            }));
        }
    };
    let (mut told, mut status, mut failed) = (Told::default(), Status::Done, Ok(()));
    if let Some((large, options)) = file.large() {
        let options = work.options(origin, &options);
        if is_short(asked, work, &sink, origin.path(), &options, output) {
            let jobs = asked.documents.jobs;
            let short = sink.add_large((origin.path(), large), &options, jobs, output)?;
            let places = short.and_then(|short| {
                told.add_short(&short);
                let (mut from, odd) = (large, &short.diagnostics);
                let places = Places::in_file_of(origin.path(), &mut from, short.charset, odd)?;
                Ok((short, places))
            });
            let ended = places.and_then(|(short, places)| {
                output.diagnostics(&places, &short.diagnostics);
                told.add_odd(asked, &short.diagnostics, &places);
                told.hints.add_large(large, origin.path(), &options, &short)?;
                sink.end()
            });
            return Ok(ended.map(|written| {
                Became::Rewritten(Box::new(Document { format, told, status, written }))
            }));
        }
    }
    let read = file.each(|input, options| {
        if failed.is_err() {
            return Ok(());
        }
        let options = work.options(origin, options);
        if is_short(asked, work, &sink, input.path, &options, output) {
            match sink.add_short(input, &options, output)? {
                Ok(short) => {
                    let places = Places::in_charset(input, Some(short.charset));
                    output.diagnostics(&places, &short.diagnostics);
                    told.add_odd(asked, &short.diagnostics, &places);
                    told.add_short(&short);
                    told.hints.add_totals(input, &options, &short);
                }
                Err(error) => failed = Err(error),
            }
        } else {
            let one = examined((asked, work), input, &options, output);
            status = status.max(one.status());
            told.hints.add(input, &options, &one.report);
            failed = taken(one, input, work, &mut told, &mut sink, output)?;
        }
        Ok(())
    })?;
    let ended = read.and(failed).and_then(|()| sink.end());
    Ok(ended.map(|written| Became::Rewritten(Box::new(Document { format, told, status, written }))))
}

/// What becomes of a file that is no document: of an output folder's it is copied, else it is left, and an
/// error where it was named. The outer error is one of standard output.
fn no_document(
    mut none: NoDocument,
    origin: &Origin,
    sink: Sink<'_>,
    output: &mut Output,
) -> io::Result<Result<Became>> {
    let path = origin.path();
    if let (Origin::Standard, Sink::Standard) = (origin, &sink) {
        // A filter hands on what it cannot use: there may be no other copy of it.
        let copied = none.copy_to(path, output.out())?;
        return Ok(copied.and(Err(none.error(path))));
    }
    if origin.is_named() && none.remark().is_some() {
        return Ok(Err(none.error(path)));
    }
    output.no_document(none.remark());
    Ok(match sink.copy() {
        Some(copied) => copied.map(|(to, lost)| {
            for lost in lost {
                output.caution(&format_args!("{}: {lost}", name(path)));
            }
            Became::Copied(to)
        }),
        None if origin.is_named() => Err(none.error(path)),
        None => Ok(Became::NoDocument),
    })
}

/// Takes in what became of `input`, behind what came before it; the outer error is one of standard output.
fn taken(
    examined: Examined,
    input: &Input<'_>,
    work: &Work,
    told: &mut Told,
    sink: &mut Sink<'_>,
    output: &mut Output,
) -> io::Result<Result<()>> {
    told.odd.extend(examined.odd);
    told.add(&examined.report, work);
    written((&examined.edits, examined.is_proved), input, sink, output)
}

/// Gives the files of a batch their new contents, and says what became of each.
fn settle(
    asked: &Rewrite,
    work: &Work,
    mut batch: Vec<(Origin, Page, Became)>,
    totals: &mut Totals,
    output: &mut Output,
) -> io::Result<Status> {
    let pending = |became: &mut Became| match became {
        Became::Rewritten(document) => document.written.take_pending(),
        _ => None,
    };
    let (numbers, pending): (Vec<usize>, Vec<Pending>) = batch
        .iter_mut()
        .enumerate()
        .filter_map(|(number, (_, _, became))| Some((number, pending(became)?)))
        .unzip();
    let mut committed = numbers.into_iter().zip(Pending::commit_all(pending)).peekable();
    let mut status = Status::Done;
    for (number, (origin, page, became)) in batch.into_iter().enumerate() {
        output.append(page)?;
        let path = origin.path();
        let json = |format, to: Option<PathBuf>, told: &Told, output: &mut Output| {
            let to = to.as_deref().map(|to| to.to_string_lossy());
            let (tally, odd) = (&told.tally, &told.odd);
            match work {
                _ if !asked.json => Ok(()),
                Work::Absolute => output.json(&record::File::of(path, format, to, tally, odd)),
                Work::Local { .. } => {
                    output.json(&record::Localized::of(path, format, to, tally, odd))
                }
            }
        };
        let mut document = match became {
            Became::Rewritten(document) => document,
            Became::Copied(to) => {
                totals.copied += 1;
                json(Format::Other, Some(to), &Told::default(), output)?;
                continue;
            }
            Became::NoDocument => {
                totals.left.no_documents += 1;
                json(Format::Other, None, &Told::default(), output)?;
                continue;
            }
            Became::Folder => continue,
            Became::Link => {
                totals.left.links += 1;
                continue;
            }
            Became::Backup => {
                totals.backups += 1;
                continue;
            }
            Became::Delivery => {
                totals.deliveries += 1;
                continue;
            }
            Became::Unusable => {
                totals.unusable += 1;
                status = Status::Unusable;
                continue;
            }
        };
        if let Some((_, committed)) = committed.next_if(|(of, _)| *of == number) {
            match committed {
                Ok((to, remarks)) => document.written = Written::To(to, remarks),
                Err(error) => {
                    output.error(&error);
                    totals.unusable += 1;
                    status = Status::Unusable;
                    continue;
                }
            }
        }
        let Document { format, told, status: held, written } = *document;
        status = status.max(held);
        for remark in written.remarks() {
            output.caution(&format_args!("{}: {remark}", name(path)));
        }
        output.flush()?;
        let is_written = !matches!(written, Written::Nowhere);
        let to = written.path();
        let leaves_copies =
            to.as_deref().is_some_and(|to| leaves_copies(asked, &origin, to, &told));
        json(format, to, &told, output)?;
        told.summary(path, format, is_written, output);
        if leaves_copies {
            told.say_copies(path, output);
            totals.without_copies += 1;
        }
        let is_message = matches!(format, Format::Message | Format::Mbox);
        if is_message && asked.documents.reading.options.fragments.is_none() {
            told.say_fragments(path, output);
        }
        let origins = &asked.documents.reading.origins;
        let is_copy = match &origin {
            Origin::Entry(entry) => {
                origins.keeps_local_copies && origins.companions.has(&entry.path)
            }
            Origin::Standard => false,
        };
        totals.add(format, told, is_copy);
    }
    Ok(status)
}

/// Whether a file was written `to` a place where what a browser saved with it does not lie.
fn leaves_copies(asked: &Rewrite, origin: &Origin, to: &Path, told: &Told) -> bool {
    let (Destination::Path { only_documents, .. }, Origin::Entry(entry)) =
        (&asked.destination, origin)
    else {
        return false;
    };
    let are_copied =
        !origin.is_named() && !only_documents && asked.documents.selection.include.is_empty();
    told.tally.local_copies() > 0 && !are_copied && to.parent() != entry.path.parent()
}
