//! Every file that was asked for, in its order, on several threads.
//!
//! ```text
//! docs  -  page.html   -->   docs/a.html  docs/b.css  …  (standard input)  page.html
//! ```
//!
//! Files are taken from the walk in batches; the threads share a batch, and go on with the next when
//! nothing is left of it. Each file writes to a page of its own, and the pages of a batch are shown in the
//! order of the files. What is printed therefore does not depend on the number of threads. A batch of one
//! file goes straight to the streams, so that a mailbox, which may be longer than memory, is never held.
//!
//! Deliberately absent: what is done with a file. The commands say it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baselink::error::{Error, Result, name, visible};
use baselink::tree::walk::{Entry, Kind, Walk, walk};
use baselink::tree::write::{is_temporary, most_pending};

use super::input::{File, Opened};
use super::output::{Output, Page, count};
use super::progress::{Progress, is_stopped};
use super::request::{Documents, Origin, is_standard_input};
use super::status::Status;

/// How many bytes a batch has at most, but for its last file.
const BYTES: u64 = 64 << 20;

/// Looks at what `--url` can mean for these documents.
///
/// # Errors
///
/// There is a folder, and no path can stand behind the URL.
pub(crate) fn check(documents: &Documents) -> Result<()> {
    match &documents.reading.origins.root_url {
        Some(url) if documents.has_folder() => {
            url.is_of_a_folder().map_err(|error| Error::new(format!("--url: {error}")))
        }
        _ => Ok(()),
    }
}

/// What came of the files of a batch; nothing of one that was stopped before.
type Worked<T> = Vec<Option<(Origin, Page, T)>>;

/// Does `work` for every file, on several threads, and `done` with what comes of it, batch by batch in
/// the order of the files. What cannot be found is reported, and the rest goes on; how much that is.
pub(crate) fn each<T: Send>(
    documents: &Documents,
    output: &mut Output,
    work: impl Fn(&Origin, &mut Output) -> io::Result<T> + Sync,
    done: impl FnMut(Vec<(Origin, Page, T)>, &mut Output) -> io::Result<()>,
) -> io::Result<usize> {
    let is_tree = documents.has_folder();
    if is_tree {
        output.count_what_is_odd();
    }
    let roots = || documents.roots().map(Path::to_owned).collect::<Vec<_>>();
    // What nobody can see need not be counted.
    let progress = (documents.progress && is_tree && io::stderr().is_terminal())
        .then(|| Progress::over(roots(), documents.selection.clone()));
    if let Some(progress) = &progress {
        output.show_progress(progress.clone());
    }
    say_what_is_missing(documents, output);
    let all = All::of(documents, output);
    let (failed, hidden) =
        through(all, &threads(documents)?, progress.as_ref(), output, work, done)?;
    output.end_progress();
    if is_tree {
        output.say_what_was_odd();
    }
    if hidden > 0 {
        let hidden = count(hidden, "hidden file or folder was", "hidden files or folders were");
        output.notice(&format_args!("{hidden} left out; --hidden takes them"));
    }
    Ok(failed)
}

/// The same for files that were found before. What is odd in them has been said.
pub(crate) fn each_again<T: Send>(
    documents: &Documents,
    entries: Vec<Entry>,
    output: &mut Output,
    work: impl Fn(&Origin, &mut Output) -> io::Result<T> + Sync,
    done: impl FnMut(Vec<(Origin, Page, T)>, &mut Output) -> io::Result<()>,
) -> io::Result<()> {
    let all = All {
        parts: vec![Part::Known(entries.into_iter())],
        next: None,
        hidden: 0,
        most: most_pending(),
    };
    through(all, &threads(documents)?, None, output, work, done).map(drop)
}

/// The threads that share the work.
pub(crate) fn threads(documents: &Documents) -> io::Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(documents.jobs).build();
    pool.map_err(io::Error::other)
}

/// Goes through all files. How many could not be found, and how many hidden ones were left out.
fn through<T: Send>(
    mut all: All<'_>,
    pool: &rayon::ThreadPool,
    progress: Option<&Progress>,
    output: &mut Output,
    work: impl Fn(&Origin, &mut Output) -> io::Result<T> + Sync,
    mut done: impl FnMut(Vec<(Origin, Page, T)>, &mut Output) -> io::Result<()>,
) -> io::Result<(usize, usize)> {
    let mut failed = 0;
    let one = |origin: Origin, output: &mut Output| {
        let result = work(&origin, output)?;
        if let Some(progress) = progress.filter(|_| !origin.is_folder()) {
            progress.done(origin.size());
        }
        Ok::<_, io::Error>((origin, result))
    };
    let on_page = |(origin, mut page): (Origin, Output)| {
        if is_stopped() {
            return Ok(None);
        }
        let (origin, result) = one(origin, &mut page)?;
        Ok(Some((origin, page.into_page(), result)))
    };
    let mut finish = |worked: Worked<T>, failures: Vec<Error>, output: &mut Output| {
        done(worked.into_iter().flatten().collect(), output)?;
        for failure in failures {
            output.error(&visible(&failure.to_string()));
            failed += 1;
        }
        Ok::<_, io::Error>(())
    };
    pool.in_place_scope(|scope| {
        let mut begun: VecDeque<(Begun<T>, Vec<Error>)> = VecDeque::new();
        loop {
            // Found while the threads work on what was found before.
            let (mut batch, failures) = all.batch();
            let is_last = (batch.is_empty() && failures.is_empty()) || is_stopped();
            let is_alone = batch.len() == 1;
            // What one batch gave is finished while they work on the next, which waits for them already.
            let left = if is_last || is_alone { 0 } else { AHEAD - 1 };
            while begun.len() > left
                && let Some((begun, failures)) = begun.pop_front()
            {
                finish(begun.end()?, failures, output)?;
            }
            if is_last {
                return Ok::<_, io::Error>(());
            }
            if is_alone {
                let alone = batch.pop().map(|origin| one(origin, output)).transpose()?;
                let alone = alone.map(|(origin, result)| (origin, Page::default(), result));
                finish(vec![alone], failures, output)?;
                continue;
            }
            let batch: Vec<_> = batch.into_iter().map(|origin| (origin, output.page())).collect();
            let pieces = pool.current_num_threads() * PIECES_EACH;
            begun.push_back((Begun::new(scope, batch, pieces, &on_page), failures));
        }
    })?;
    Ok((failed, all.hidden))
}

/// How many batches are begun at a time.
const AHEAD: usize = 2;

/// Into how many pieces a batch is divided for each thread, so that none waits long for another.
const PIECES_EACH: usize = 16;

/// A batch on which the threads work.
struct Begun<T> {
    /// What each piece gave, once it is done.
    pieces: Arc<Mutex<Vec<io::Result<Worked<T>>>>>,
    /// Closed when all are.
    end: Receiver<Infallible>,
}

impl<T: Send> Begun<T> {
    /// Has `work` done for all of `batch`, in about so many pieces.
    fn new<'s, W>(
        scope: &rayon::Scope<'s>,
        batch: Vec<(Origin, Output)>,
        pieces: usize,
        work: &'s W,
    ) -> Self
    where
        T: 's,
        W: Fn((Origin, Output)) -> io::Result<Option<(Origin, Page, T)>> + Sync,
    {
        let each = batch.len().div_ceil(pieces).max(1);
        let mut batch = batch.into_iter();
        let (open, end) = mpsc::channel();
        let done: Arc<Mutex<Vec<_>>> = Arc::default();
        loop {
            let piece: Vec<_> = batch.by_ref().take(each).collect();
            if piece.is_empty() {
                return Self { pieces: done, end };
            }
            let (done, open) = (Arc::clone(&done), open.clone());
            let number = lock(&done).len();
            lock(&done).push(Ok(Vec::new()));
            scope.spawn(move |_| {
                let worked = piece.into_iter().map(work).collect();
                if let Some(place) = lock(&done).get_mut(number) {
                    *place = worked;
                }
                drop(open);
            });
        }
    }

    /// Waits for its end: what came of its files, in their order.
    fn end(self) -> io::Result<Worked<T>> {
        // Nothing is ever sent.
        let _ = self.end.recv();
        let pieces = std::mem::take(&mut *lock(&self.pieces));
        pieces.into_iter().try_fold(Vec::new(), |mut all, piece| {
            all.extend(piece?);
            Ok(all)
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many files of a map are named that are not there.
const MISSING: usize = 5;

/// Says which files a map names that are not there.
fn say_what_is_missing(documents: &Documents, output: &mut Output) {
    let Some(map) = &documents.reading.origins.map else { return };
    let roots: Vec<_> = documents.roots().map(Path::to_owned).collect();
    let missing = map.missing(&roots);
    for sentence in missing.iter().take(MISSING) {
        output.caution(&visible(sentence));
    }
    if missing.len() > MISSING {
        let more = missing.len() - MISSING;
        output.caution(&format_args!("the map names {more} more files that are not there"));
    }
}

/// The files that were asked for.
struct All<'d> {
    /// Last first.
    parts: Vec<Part<'d>>,
    /// What was found and had no room in its batch.
    next: Option<Entry>,
    /// How many hidden files and folders were left out.
    hidden: usize,
    /// How many files a batch has at most: each may have a file open that is being written.
    most: usize,
}

enum Part<'d> {
    Standard,
    Below(Box<Walk<'d>>),
    /// Found before.
    Known(std::vec::IntoIter<Entry>),
}

impl<'d> All<'d> {
    fn of(documents: &'d Documents, output: &mut Output) -> Self {
        let is_standard = |path: &PathBuf| is_standard_input(path);
        let mut parts = Vec::new();
        for (number, paths) in documents.paths.split(is_standard).enumerate() {
            if number > 0 {
                parts.push(Part::Standard);
            }
            if !paths.is_empty() {
                let found = walk(paths, &documents.selection);
                for overlap in found.overlaps() {
                    output.caution(&visible(overlap));
                }
                parts.push(Part::Below(Box::new(found)));
            }
        }
        parts.reverse();
        Self { parts, next: None, hidden: 0, most: most_pending() }
    }

    /// The next files, and what could not be found before the last of them.
    fn batch(&mut self) -> (Vec<Origin>, Vec<Error>) {
        let (mut batch, mut failures, mut bytes) = (Vec::new(), Vec::new(), 0_u64);
        while batch.len() < self.most && bytes < BYTES {
            let found = match self.next.take() {
                Some(next) => Some(Ok(next)),
                None => match self.parts.last_mut() {
                    None => break,
                    Some(Part::Standard) if !batch.is_empty() => break,
                    Some(Part::Standard) => {
                        self.parts.pop();
                        batch.push(Origin::Standard);
                        break;
                    }
                    Some(Part::Below(walk)) => walk.next(),
                    Some(Part::Known(entries)) => entries.next().map(Ok),
                },
            };
            match found {
                None => {
                    if let Some(Part::Below(walk)) = self.parts.pop() {
                        self.hidden += walk.hidden();
                    }
                }
                Some(Err(failure)) => {
                    failures.push(failure);
                    // Where it stands among the files, it is said.
                    break;
                }
                Some(Ok(entry)) => {
                    // A large file is a batch of its own.
                    if entry.size >= BYTES && !batch.is_empty() {
                        self.next = Some(entry);
                        break;
                    }
                    bytes = bytes.saturating_add(entry.size);
                    batch.push(Origin::Entry(entry));
                }
            }
        }
        (batch, failures)
    }
}

/// What was found and not read.
#[derive(Default)]
pub(crate) struct Left {
    pub(crate) no_documents: usize,
    pub(crate) links: usize,
}

impl Left {
    /// Says how many symbolic links there were.
    pub(crate) fn say_links(&self, output: &mut Output) {
        if self.links > 0 {
            let links = count(self.links, "symbolic link was", "symbolic links were");
            output.notice(&format_args!("{links} left out; --follow reads what they lead to"));
        }
    }

    /// Says all of it, and whether nothing else was found.
    pub(crate) fn say(&self, documents: usize, output: &mut Output) {
        if documents == 0 {
            output.notice(&"no document was found");
        }
        if self.no_documents > 0 {
            let files = count(self.no_documents, "file is no document", "files are no documents");
            output.notice(&files);
        }
        self.say_links(output);
    }
}

/// What was found, by what the system says of it.
pub(crate) enum Found {
    /// To be opened.
    File,
    /// A folder: what is in it comes by itself.
    Folder,
    /// A symbolic link, which is not followed.
    Link,
    /// A temporary file of a run that was killed, or is still going on.
    Temporary,
}

/// What `origin` is. What was named is a file.
///
/// # Errors
///
/// A device, a pipe or a socket that was only found: to open one may take forever.
pub(crate) fn found(origin: &Origin) -> Result<Found> {
    let Origin::Entry(entry) = origin else { return Ok(Found::File) };
    match entry.kind {
        Kind::Folder => Ok(Found::Folder),
        _ if origin.is_named() => Ok(Found::File),
        Kind::File if entry.relative.last().is_some_and(|name| is_temporary(name)) => {
            Ok(Found::Temporary)
        }
        Kind::File => Ok(Found::File),
        Kind::Symlink => Ok(Found::Link),
        Kind::Special => {
            let path = name(&entry.path);
            Err(Error::new(format!("{path}: not a regular file; it was left out")))
        }
    }
}

/// What became of a file that was only to be read.
pub(crate) enum Became<T> {
    /// This.
    Done(T),
    NoDocument,
    /// A symbolic link, which was left out.
    Link,
    /// Why has been said.
    Unusable,
}

/// Opens what `origin` names, and does `work` with it, if it is a document; the status of that, and what
/// it gave. Where it is none and was only found, that is no failure.
pub(crate) fn each_document<T>(
    origin: &Origin,
    documents: &Documents,
    output: &mut Output,
    work: impl FnOnce(File<'_>, &mut Output) -> io::Result<(Status, T)>,
) -> io::Result<(Status, Became<T>)> {
    let opened = match found(origin) {
        Ok(Found::Link) => return Ok((Status::Done, Became::Link)),
        Ok(Found::Folder | Found::Temporary) => return Ok((Status::Done, Became::NoDocument)),
        Ok(Found::File) => File::open(origin, documents, None),
        Err(failure) => Err(failure),
    };
    let failure = match opened {
        Ok(Opened::Document(file)) => {
            output.passed_over(&file.passed_over);
            let (status, done) = work(file, output)?;
            return Ok((status, Became::Done(done)));
        }
        Ok(Opened::NoDocument(none)) if origin.is_named() => none.error(origin.path()),
        Ok(Opened::NoDocument(none)) => {
            output.no_document(none.remark());
            return Ok((Status::Done, Became::NoDocument));
        }
        Err(failure) => failure,
    };
    output.error(&failure);
    Ok((Status::Unusable, Became::Unusable))
}

/// What becomes of a status when a file could not be read to its end.
pub(crate) fn after(read: Result<()>, status: Status, output: &mut Output) -> Status {
    match read {
        Ok(()) => status,
        Err(error) => {
            output.error(&error);
            Status::Unusable
        }
    }
}
