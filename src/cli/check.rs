//! `baselink check`: what a move would do to the links of a folder.
//!
//! ```text
//! $ baselink check --url http://a.example/docs/ docs
//! docs/index.html:3:10: pinned (absolute)  a[href]
//!   3 | <a href="http://a.example/docs/up.html">Up</a>
//!     |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//!     = keeps pointing at http://a.example/docs/up.html
//!     = relative form: up.html
//! ```
//!
//! Each file is scanned once (`Tree::read`); then the links of each are judged, and those that are listed are
//! looked up in the file again, because what is kept of a scan has no lines.
//!
//! Deliberately absent: what a link's class is. `baselink::tree::relocate` says it.

mod baseline;
mod beside;
mod fix;
mod github;
mod listed;
mod listing;
mod report;
mod sarif;
mod text;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;

use baselink::base::lacks_only_scheme;
use baselink::diagnostic::{Code, Diagnostic};
use baselink::error::{Error, name};
use baselink::resolve::Profile;
use baselink::span::Span;
use baselink::tree::index::Index;
use baselink::tree::relocate::{Cause, Class, Finding, Fix, Move, Scanned, Scanning, findings};
use baselink::tree::walk::{Entry, Selection, walk};
use baselink::tree::write::is_temporary;
use rayon::prelude::*;

use self::baseline::Baseline;
use self::fix::Fixed;
use self::listed::Listed;
use super::files::{self, Became, Left, after, each_document};
use super::hint::say_scheme;
use super::output::{Output, count};
use super::places::Places;
use super::progress::{is_stopped, stop_between_files};
use super::request::{Check, CheckForm, Classes, Origin};
use super::status::Status;

/// Checks what was asked for.
pub(crate) fn run(asked: &Check, output: &mut Output) -> io::Result<Status> {
    let prepared = asked.documents.origins().and_then(|from| {
        beside::look(asked)?;
        let baseline = asked.baseline.as_deref().map(Baseline::read).transpose()?;
        Ok((Move { from, to: asked.to.clone() }, baseline))
    });
    let (moving, baseline) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            output.error(&error);
            return Ok(Status::Unusable);
        }
    };
    stop_between_files()?;
    let (mut tree, mut status) = Tree::read(asked, &moving, true, output)?;
    let mut fixed = None;
    if let Some(destination) = asked.fix.as_ref().filter(|_| !is_stopped()) {
        let done = fix::make(asked, destination, &tree, output)?;
        status = status.max(done.status);
        if done.is_written && done.files > 0 && !is_stopped() {
            (tree, _) = Tree::read(asked, &moving, false, &mut output.page())?;
        }
        fixed = Some(done);
    }
    if is_stopped() {
        return Ok(stopped(fixed.as_ref(), output));
    }
    let shows_diff = fixed.as_ref().is_some_and(|fixed| fixed.is_shown);
    let list = if shows_diff { Classes::default() } else { asked.list.clone() };
    let listed = listing::list(asked, &list, &tree, baseline.as_ref(), output)?;
    output.flush()?;
    // What is listed is not all then.
    if is_stopped() {
        return Ok(stopped(fixed.as_ref(), output));
    }
    status = status.max(listed.status);
    tree.say(fixed.as_ref(), output);
    if let Err(error) = beside::write(asked, &tree, &listed, output) {
        output.error(&error);
        status = Status::Unusable;
    }
    say_accepted(asked, baseline.as_ref(), &listed, output);
    let is_held = asked.write_baseline.is_some() || verdict(asked, &tree, &listed, output);
    Ok(if is_held { status } else { status.max(Status::NotHeld) })
}

/// Says that the work was stopped, and how much was changed before.
fn stopped(fixed: Option<&Fixed>, output: &mut Output) -> Status {
    match fixed.filter(|fixed| fixed.is_written).map_or(0, |fixed| fixed.files) {
        0 => output.error(&"stopped; nothing was changed"),
        changed => output.error(&format_args!(
            "stopped; {} changed, each of them whole",
            count(changed, "file was", "files were")
        )),
    }
    Status::Stopped
}

fn say_accepted(asked: &Check, baseline: Option<&Baseline>, listed: &Listed, output: &mut Output) {
    let (Some(baseline), Some(path)) = (baseline, &asked.baseline) else { return };
    let accepted = count(listed.accepted, "finding is", "findings are");
    let gone = match baseline.len().saturating_sub(listed.accepted) {
        0 => String::new(),
        gone => format!("; {gone} that it has {} gone", if gone == 1 { "is" } else { "are" }),
    };
    output.notice(&format_args!("{accepted} accepted by {}{gone}", name(path)));
}

/// Says which findings are denied, and whether none is.
fn verdict(asked: &Check, tree: &Tree, listed: &Listed, output: &mut Output) -> bool {
    let mut denied = Vec::new();
    for class in Class::ALL {
        let number = tree.sum.of(class).saturating_sub(listed.accepted_of(class));
        if asked.deny.contains(class) && number > 0 {
            denied.push(format!("{number} {}", class.name()));
        }
    }
    if denied.is_empty() {
        return true;
    }
    let fixes = match tree.sum.references {
        number if number > 0 && asked.fix.is_none() => {
            format!("; --fix makes {number} relative")
        }
        _ => String::new(),
    };
    output.error(&format_args!("links would break: {}{fixes}", denied.join(", ")));
    false
}

/// A folder whose files were scanned.
struct Tree {
    files: Vec<Checked>,
    /// The place of each file in that list.
    numbers: HashMap<PathBuf, usize>,
    /// How many files the folder has.
    size: usize,
    index: Index,
    moving: Move,
    /// Of all files together.
    sum: Tally,
    left: Left,
}

/// A file that was scanned.
struct Checked {
    entry: Entry,
    scanned: Scanned,
    tally: Tally,
}

/// How many links have what.
#[derive(Clone, Debug, Default)]
struct Tally {
    classes: BTreeMap<Class, usize>,
    /// That have a fix.
    fixes: usize,
    /// Of which the reference itself becomes another.
    references: usize,
    fixes_of: BTreeMap<Class, usize>,
    differing: usize,
    /// That are left because no base is known.
    without_base: usize,
    /// That lack nothing but a scheme.
    without_scheme: usize,
}

impl Tally {
    fn add(&mut self, reference: &str, finding: &Finding) {
        *self.classes.entry(finding.class).or_default() += 1;
        if finding.fix.is_some() {
            self.fixes += 1;
            *self.fixes_of.entry(finding.class).or_default() += 1;
        }
        self.references += usize::from(matches!(finding.fix, Some(Fix::Reference(_))));
        self.differing += usize::from(finding.differs);
        let is_without_base = finding.cause == Some(Cause::NoBase);
        self.without_base += usize::from(is_without_base);
        let lacks_only_scheme = lacks_only_scheme(reference, Profile::Rfc1808);
        self.without_scheme += usize::from(is_without_base && lacks_only_scheme);
    }

    fn merge(&mut self, other: &Self) {
        for (class, number) in &other.classes {
            *self.classes.entry(*class).or_default() += number;
        }
        for (class, number) in &other.fixes_of {
            *self.fixes_of.entry(*class).or_default() += number;
        }
        self.fixes += other.fixes;
        self.references += other.references;
        self.differing += other.differing;
        self.without_base += other.without_base;
        self.without_scheme += other.without_scheme;
    }

    fn of(&self, class: Class) -> usize {
        self.classes.get(&class).copied().unwrap_or_default()
    }

    fn of_all(&self, classes: &[Class]) -> usize {
        classes.iter().map(|class| self.of(*class)).sum()
    }

    fn links(&self) -> usize {
        self.of_all(&Class::ALL)
    }

    /// How many may break.
    fn broken(&self) -> usize {
        self.of_all(&Classes::BROKEN)
    }
}

impl Tree {
    /// Scans the files that were asked for, and judges their links. What cannot be read is said.
    fn read(
        asked: &Check,
        moving: &Move,
        is_first: bool,
        output: &mut Output,
    ) -> io::Result<(Self, Status)> {
        let documents = &asked.documents;
        let mut tree = Self {
            files: Vec::new(),
            numbers: HashMap::new(),
            size: 0,
            index: Index::new(moving.from.clone()),
            moving: moving.clone(),
            sum: Tally::default(),
            left: Left::default(),
        };
        let mut status = Status::Done;
        let work = |origin: &Origin, output: &mut Output| scan(asked, moving, origin, output);
        let failed = files::each(documents, output, work, |batch, output| {
            for (origin, page, (of_file, became)) in batch {
                output.append(page)?;
                status = status.max(of_file);
                match (origin, became) {
                    (Origin::Entry(entry), Became::Done(Some(scanned))) => tree.add(entry, scanned),
                    (_, Became::Link) => tree.left.links += 1,
                    (_, Became::Done(_) | Became::NoDocument | Became::Unusable) => {}
                }
            }
            Ok(())
        })?;
        tree.index_all(asked);
        if is_first {
            tree.say_doubles(output);
        }
        tree.judge_all(&files::threads(documents)?);
        Ok((tree, if failed > 0 { Status::Unusable } else { status }))
    }

    fn add(&mut self, entry: Entry, scanned: Scanned) {
        self.numbers.insert(entry.path.clone(), self.files.len());
        self.files.push(Checked { entry, scanned, tally: Tally::default() });
    }

    /// Makes the index of all files of the folder, those that were not asked for among them.
    fn index_all(&mut self, asked: &Check) {
        let follow = asked.documents.selection.follow;
        let selection = Selection { hidden: true, follow, ..Selection::default() };
        let roots = [asked.folder().to_owned()];
        let mut found = walk(&roots, &selection);
        for entry in found.by_ref().flatten() {
            if entry.relative.last().is_some_and(|name| is_temporary(name)) {
                continue;
            }
            self.size += 1;
            match self.numbers.get(&entry.path).map(|&number| &mut self.files[number].scanned) {
                Some(scanned) => {
                    let ids = scanned.ids.take();
                    self.index.add(&entry, scanned.retrieval.as_ref(), ids);
                }
                None => self.index.add_unread(&entry),
            }
        }
        for path in found.unread_below_roots() {
            self.index.add_unknown(path);
        }
    }

    /// Says which files would become one where case does not count.
    fn say_doubles(&self, output: &mut Output) {
        let doubles = self.index.doubles();
        if let Some((one, other)) = doubles.first() {
            let path = |number: usize| {
                let path = String::from_utf8_lossy(self.index.path(number)).into_owned();
                name(path.as_ref())
            };
            let more = match doubles.len() - 1 {
                0 => String::new(),
                more => format!(" (and {})", count(more, "more pair", "more pairs")),
            };
            output.caution(&format_args!(
                "{} and {}{more} differ only in case: where that does not count there is room for one",
                path(*one),
                path(*other)
            ));
        }
    }

    fn judge_all(&mut self, threads: &rayon::ThreadPool) {
        let (index, moving) = (&self.index, &self.moving);
        threads.install(|| {
            self.files.par_iter_mut().for_each(|file| {
                let found = findings(&file.scanned, index, moving);
                for (link, finding) in file.scanned.links().zip(&found) {
                    file.tally.add(link.reference, finding);
                }
            });
        });
        for file in &self.files {
            self.sum.merge(&file.tally);
        }
    }

    fn file(&self, origin: &Origin) -> Option<&Checked> {
        let number = self.numbers.get(origin.path())?;
        self.files.get(*number)
    }

    /// Says how many links have which class, and what became of the fixes.
    fn say(&self, fixed: Option<&Fixed>, output: &mut Output) {
        if let Some(fixed) = fixed {
            fixed.say(output);
        }
        if self.files.is_empty() {
            output.notice(&"no document was found");
            return;
        }
        let sum = &self.sum;
        output.notice(&format_args!(
            "{}, {}",
            count(self.files.len(), "document", "documents"),
            count(sum.links(), "link", "links")
        ));
        let width = sum.classes.values().map(|number| number.to_string().len()).max();
        for class in Class::ALL.iter().rev() {
            let number = sum.of(*class);
            if number == 0 {
                continue;
            }
            let fixes = match sum.fixes_of.get(class) {
                None => String::new(),
                Some(fixes) => format!(", {fixes} with a fix"),
            };
            let width = width.unwrap_or(0);
            output.notice(&format_args!("  {:9} {number:>width$}{fixes}", class.name()));
        }
        if sum.differing > 0 {
            let links = count(sum.differing, "link leads", "links lead");
            output.notice(&format_args!("{links} elsewhere under another resolver"));
        }
        if sum.without_base > 0 {
            let links = count(sum.without_base, "relative link has", "relative links have");
            output.notice(&format_args!(
                "{links} no base URL; say where the folder is now with --url, --url-map or --layout"
            ));
        }
        say_scheme(sum.without_scheme, output);
        self.left.say_links(output);
    }
}

/// What is found in a file; `None` where there is nothing in it.
fn scan(
    asked: &Check,
    moving: &Move,
    origin: &Origin,
    output: &mut Output,
) -> io::Result<(Status, Became<Option<Scanned>>)> {
    let file_name = origin.path().file_name().unwrap_or_default();
    let Origin::Entry(entry) = origin else { return Ok((Status::Done, Became::NoDocument)) };
    if asked.backup.as_ref().is_some_and(|suffix| suffix.ends(file_name)) {
        return Ok((Status::Done, Became::NoDocument));
    }
    each_document(origin, &asked.documents, output, |file, output| {
        let mut scanning: Option<Scanning> = None;
        let read = file.each(|input, options| {
            let scanning = scanning.get_or_insert_with(|| Scanning::begin(entry, options, moving));
            let known = scanning.so_far().diagnostics.len();
            scanning.add(input.bytes, input.offset, options);
            let scanned = scanning.so_far();
            let places = Places::in_charset(input, scanned.charset);
            for odd in scanned.diagnostics[known..].iter().filter(|odd| is_of_the_document(odd)) {
                let at = |offset: usize| offset.saturating_sub(input.offset);
                let span = Span::new(at(odd.span.start), at(odd.span.end));
                output.diagnostic(&places, &Diagnostic { span, ..odd.clone() });
            }
            Ok(())
        })?;
        Ok((after(read, Status::Done, output), scanning.map(Scanning::end)))
    })
}

/// Whether it is odd in itself, and not only when every link becomes absolute. That a base is relative is what a
/// tree that moves needs.
fn is_of_the_document(odd: &Diagnostic) -> bool {
    !matches!(
        odd.code,
        Code::ProfilesDiffer
            | Code::BaseRelative
            | Code::SignatureBroken
            | Code::BaseElementKept
            | Code::LineTooLong
            | Code::DigestWrong
            | Code::Doubt
    )
}

/// Says that a file is no longer what was scanned.
fn changed(origin: &Origin) -> Error {
    Error::new(format!("{}: it was changed while it was checked", name(origin.path())))
}

/// Whether `form` is one document, with a beginning and an end.
fn is_one_document(form: CheckForm) -> bool {
    form == CheckForm::Sarif
}
