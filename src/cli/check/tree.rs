//! The folder that is checked: its files, each scanned once, their index, and how many links have which class.
//!
//! ```text
//! site/a.html, site/b/c.html  -->  Tree { files: [Checked, Checked], index, sum: ClassCounts { travels: 9, pinned: 1, … } }
//! ```
//!
//! Deliberately absent: what is said of it ([`super`]), and the links themselves, which are found again for a list.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::{fs, io};

use baselink::base::lacks_only_scheme;
use baselink::collection::index::Index;
use baselink::diagnostic::{Code, Diagnostic};
use baselink::error::{Error, Result, name};
use baselink::files::walk::{EntryKind, Selection, TreeEntry, walk};
use baselink::files::write::{Original, is_temporary};
use baselink::format::Format;
use baselink::purpose::check::{
    Cause, Class, Finding, Fix, Move, ScannedFile, Scanning, findings, quick_findings,
};
use baselink::resolve::Profile;
use baselink::span::Span;

use crate::cli::advice::is_of_bases;
use crate::cli::failure::Failure;
use crate::cli::files::{Left, after, each_document};
use crate::cli::in_order::all_in_order;
use crate::cli::input::{File, OpenedInput};
use crate::cli::output::{Output, count};
use crate::cli::places::FilePlaces;
use crate::cli::request::{Check, Classes, Documents, Origin};
use crate::cli::status::ExitStatus;

/// So many files are judged by one thread at a time.
const FILES: usize = 16;

/// A folder whose files were scanned.
pub(super) struct CheckedTree {
    pub(super) files: Vec<Checked>,
    /// The place of each file in that list.
    pub(super) numbers: HashMap<PathBuf, usize>,
    /// How many files the folder has.
    pub(super) size: usize,
    /// How many of them are only parts of HTML that nobody asked for.
    pub(super) parts: usize,
    pub(super) index: Index,
    pub(super) moving: Move,
    /// Of all files together.
    pub(super) sum: ClassCounts,
    pub(super) left: Left,
}

/// A file that was scanned.
pub(super) struct Checked {
    pub(super) entry: TreeEntry,
    pub(super) scanned: ScannedFile,
    pub(super) counts: ClassCounts,
}

impl Checked {
    /// What is found of each of its links, as far as it `is_wanted`.
    pub(super) fn findings(
        &self,
        tree: &CheckedTree,
        is_wanted: impl Fn(Class) -> bool,
    ) -> Vec<Option<Finding>> {
        match is_wanted(Class::Travels) {
            true => {
                findings(&self.scanned, &tree.index, &tree.moving).into_iter().map(Some).collect()
            }
            false => quick_findings(&self.scanned, &tree.index, &tree.moving),
        }
    }
}

/// Links by class.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassCounts {
    pub(super) classes: BTreeMap<Class, usize>,
    /// How many of them have a fix.
    pub(super) fixes_of: BTreeMap<Class, usize>,
    /// Of which the reference itself becomes another.
    pub(super) references: usize,
    pub(super) differing: usize,
    /// That are left because no base is known.
    pub(super) without_base: usize,
    /// That begin with `/`, and escape.
    pub(super) root_relative: usize,
    /// That lack nothing but a scheme.
    pub(super) without_scheme: usize,
}

impl ClassCounts {
    /// Those of a file, in which these are the findings.
    pub(super) fn of_file(scanned: &ScannedFile, found: &[Option<Finding>]) -> Self {
        let mut counts = Self::default();
        let mut travelling = 0;
        for (link, finding) in scanned.links().zip(found) {
            match finding {
                Some(finding) => counts.add(link.reference, finding),
                None => {
                    travelling += 1;
                    counts.differing += usize::from(link.differs);
                }
            }
        }
        if travelling > 0 {
            *counts.classes.entry(Class::Travels).or_default() += travelling;
        }
        counts
    }

    fn add(&mut self, reference: &str, finding: &Finding) {
        *self.classes.entry(finding.class).or_default() += 1;
        if finding.fix.is_some() {
            *self.fixes_of.entry(finding.class).or_default() += 1;
        }
        self.references += usize::from(matches!(finding.fix, Some(Fix::Reference(_))));
        self.differing += usize::from(finding.differs);
        let is_without_base = finding.cause == Some(Cause::NoBase);
        self.without_base += usize::from(is_without_base);
        self.root_relative += usize::from(finding.cause == Some(Cause::RootRelative));
        let lacks_only_scheme = || lacks_only_scheme(reference, Profile::Rfc1808);
        self.without_scheme += usize::from(is_without_base && lacks_only_scheme());
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (class, number) in &other.classes {
            *self.classes.entry(*class).or_default() += number;
        }
        for (class, number) in &other.fixes_of {
            *self.fixes_of.entry(*class).or_default() += number;
        }
        self.references += other.references;
        self.differing += other.differing;
        self.without_base += other.without_base;
        self.root_relative += other.root_relative;
        self.without_scheme += other.without_scheme;
    }

    pub(super) fn of(&self, class: Class) -> usize {
        self.classes.get(&class).copied().unwrap_or_default()
    }

    pub(super) fn links(&self) -> usize {
        self.classes.values().sum()
    }

    /// How many have a fix.
    pub(super) fn fixes(&self) -> usize {
        self.fixes_of.values().sum()
    }

    /// How many may break.
    pub(super) fn broken(&self) -> usize {
        Classes::BROKEN.iter().map(|class| self.of(*class)).sum()
    }
}

impl CheckedTree {
    /// Scans the files that were asked for, whose links are judged next. What cannot be read is said.
    pub(super) fn read(
        asked: &Check,
        moving: &Move,
        is_first: bool,
        output: &mut Output,
    ) -> io::Result<(Self, ExitStatus)> {
        let documents = &asked.documents;
        let mut tree = Self {
            files: Vec::new(),
            numbers: HashMap::new(),
            size: 0,
            parts: 0,
            index: Index::new(moving.from.clone()),
            moving: moving.clone(),
            sum: ClassCounts::default(),
            left: Left::default(),
        };
        let is_asked_for =
            documents.reading.format.is_some() || !documents.selection.include.is_empty();
        let scan = |origin: &Origin, file: File<'_>, output: &mut Output| {
            scan(moving, is_asked_for, origin, file, output)
        };
        let read =
            each_document(documents, output, asked.backup.as_ref(), scan, |origin, found| match (
                origin, found,
            ) {
                (Origin::Entry(entry), FileContent::Document(scanned)) => tree.add(entry, *scanned),
                (_, FileContent::Part) => tree.parts += 1,
                _ => {}
            })?;
        tree.left = read.left;
        tree.index_all(asked);
        if is_first {
            tree.say_doubles(output);
        }
        Ok((tree, read.status))
    }

    fn add(&mut self, entry: TreeEntry, scanned: ScannedFile) {
        self.numbers.insert(entry.path.clone(), self.files.len());
        self.files.push(Checked { entry, scanned, counts: ClassCounts::default() });
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
                None if entry.kind == EntryKind::Symlink => match fs::read_link(&entry.path) {
                    Ok(says) => self.index.add_link(&entry, &says),
                    Err(_) => self.index.add_unread(&entry),
                },
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

    /// Judges the links of all files.
    pub(super) fn judge_all(&mut self, threads: usize) {
        let (index, moving, sum) = (&self.index, &self.moving, &mut self.sum);
        let judge = |files: &mut [Checked]| {
            let mut sum = ClassCounts::default();
            for file in files {
                file.counts = ClassCounts::of_file(
                    &file.scanned,
                    &quick_findings(&file.scanned, index, moving),
                );
                sum.merge(&file.counts);
            }
            sum
        };
        let chunks = self.files.chunks_mut(FILES);
        all_in_order(threads, chunks, judge, |of_files| sum.merge(&of_files));
    }

    pub(super) fn file(&self, origin: &Origin) -> Option<&Checked> {
        let number = self.numbers.get(origin.path())?;
        self.files.get(*number)
    }
}

/// What is found in a file.
enum FileContent {
    Document(Box<ScannedFile>),
    /// A part of HTML that nobody asked for.
    Part,
    Nothing,
}

fn scan(
    moving: &Move,
    is_asked_for: bool,
    origin: &Origin,
    file: File<'_>,
    output: &mut Output,
) -> io::Result<(ExitStatus, FileContent)> {
    let Origin::Entry(entry) = origin else { return Ok((ExitStatus::Done, FileContent::Nothing)) };
    let mut scanning: Option<Scanning> = None;
    let name = entry.path.file_name().unwrap_or_default().to_string_lossy();
    let may_be_part = file.format == Format::Html && !is_asked_for;
    let mut is_part = false;
    let read = file.each(|input, options| {
        is_part = may_be_part && Format::is_part(&name, input.bytes);
        if is_part {
            return Ok(());
        }
        let scanning = scanning.get_or_insert_with(|| Scanning::begin(entry, options, moving));
        let known = scanning.so_far().diagnostics.len();
        scanning.add(input.bytes, input.offset, options);
        let scanned = scanning.so_far();
        let places = FilePlaces::in_charset(input, scanned.charset);
        for found in scanned.diagnostics[known..].iter().filter(|found| is_of_the_document(found)) {
            let at = |offset: usize| offset.saturating_sub(input.offset);
            let span = Span::new(at(found.span.start), at(found.span.end));
            output.diagnostic(&places, &Diagnostic::new(found.code, span, found.message.clone()));
        }
        Ok(())
    });
    let read = Failure::nested(read)?;
    let found = match scanning {
        Some(scanning) => FileContent::Document(Box::new(scanning.end())),
        None if is_part => FileContent::Part,
        None => FileContent::Nothing,
    };
    Ok((after(read, ExitStatus::Done, output), found))
}

/// Whether a diagnostic is one of the document itself, and not only of one in which every link becomes absolute. That a
/// base is relative is what a tree that moves needs.
fn is_of_the_document(found: &Diagnostic) -> bool {
    is_of_bases(found.code) && found.code != Code::BaseRelative
}

/// Opens a file again that was scanned. Only one that is to be replaced has an `original`.
pub(super) fn open_again<'a>(
    origin: &'a Origin,
    documents: &Documents,
    original: Option<&Original>,
) -> Result<File<'a>> {
    match File::open(origin, documents, original)? {
        OpenedInput::Document(file) => Ok(file),
        OpenedInput::NoDocument(_) => Err(changed(origin)),
    }
}

/// Says that a file is no longer what was scanned.
pub(super) fn changed(origin: &Origin) -> Error {
    Error::new(format!("{}: it was changed while it was checked", name(origin.path())))
}
