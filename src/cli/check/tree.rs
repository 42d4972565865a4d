//! The checked folder: its documents, and the numbers of their links by class.
//!
//! ```text
//! site/a.html, site/b/c.html  -->  CheckedTree { files: [a.html, b/c.html], collection, sum: { travels: 9, pinned: 1, … } }
//! ```
//!
//! The collection of files is made first, so that each document is scanned and judged in one pass. Links with
//! fragments get their final class when the ids of all documents are known.
//!
//! Deliberately absent: messages ([`super`]), and what becomes of each link ([`super::listing`]).

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::collection::Collection;
use crate::collection::folder::name_of;
use crate::collection::origin::Origins;
use crate::files::walk::{Selection, TreeEntry};
use crate::files::write::is_temporary;
use crate::purpose::check::{Class, FragmentPlace, Ids, check, check_capture};
use baselink_rewrite::Options;
use baselink_text::diagnostic::{Code, Diagnostic};
use baselink_text::error::name;
use baselink_text::format::Format;

use super::counts::ClassCounts;
use super::listed::ListedFinding;
use super::listing::{FileKey, FileLinks, Lister, Waiting, fragment};
use super::targets::{self, TargetSummary, Targets};
use crate::cli::advice::is_of_bases;
use crate::cli::archive_item::{Archived, Wanted};
use crate::cli::capture_plan::{CapturePlan, CapturedDocument, finish_archive};
use crate::cli::collection;
use crate::cli::document_name::DocumentName;
use crate::cli::files::{SkipCounts, each_document, progress, status_after};
use crate::cli::input::{File, Input};
use crate::cli::output::{Output, count, ok_or_report};
use crate::cli::places::FilePlaces;
use crate::cli::request::Origin;
use crate::cli::source;
use crate::cli::status::ExitStatus;

/// A folder, or archives, whose documents were checked.
pub(super) struct CheckedTree<'a> {
    /// The captures, if archives are checked.
    pub(super) captures: Option<CapturePlan>,
    pub(super) origins: &'a Origins,
    pub(super) files: Vec<CheckedFile>,
    /// The number of skipped files that are parts of HTML pages.
    pub(super) parts: usize,
    pub(super) collection: Arc<Collection>,
    /// The counts of all files together.
    pub(super) sum: ClassCounts,
    /// The number of findings that the baseline accepts, by class.
    accepted: BTreeMap<Class, usize>,
    /// The targets of links, if they are shown.
    pub(super) targets: Vec<TargetSummary>,
    pub(super) skipped: SkipCounts,
}

/// A file that was checked.
pub(super) struct CheckedFile {
    /// The path, or the URL of a document in an archive.
    pub(super) path: PathBuf,
    /// Its path below the folder, with `/` between the names.
    pub(super) name: Vec<u8>,
    pub(super) counts: ClassCounts,
}

/// The results of all files so far.
#[derive(Default)]
struct Gathered {
    targets: Targets,
    /// The ids in each document, by the number of the document in the collection.
    ids: HashMap<usize, Ids>,
    waiting: Waiting,
    late: Vec<(usize, usize, ListedFinding)>,
}

/// The result of scanning a file: the links of its documents, if any. The flag is true for a fragment of an HTML page
/// that neither `--format` nor `--include` asked for.
type FileContent = (Option<Box<FileLinks>>, bool);

impl<'a> CheckedTree<'a> {
    /// Checks the folder or the archives, and reports files that cannot be read.
    pub(super) fn read(
        lister: &Lister<'_>,
        origins: &'a Origins,
        output: &mut Output,
    ) -> io::Result<(Self, ExitStatus)> {
        let mut tree = Self {
            captures: None,
            origins,
            files: Vec::new(),
            parts: 0,
            collection: Arc::default(),
            sum: ClassCounts::default(),
            accepted: BTreeMap::new(),
            targets: Vec::new(),
            skipped: SkipCounts::default(),
        };
        let mut gathered = Gathered::default();
        let status = match lister.request.is_of_archives {
            true => tree.read_archives(lister, &mut gathered, output)?,
            false => tree.read_folder(lister, &mut gathered, output)?,
        };
        tree.settle(lister, gathered, output)?;
        Ok((tree, status))
    }

    fn read_folder(
        &mut self,
        lister: &Lister<'_>,
        gathered: &mut Gathered,
        output: &mut Output,
    ) -> io::Result<ExitStatus> {
        let documents = &lister.request.documents;
        collection::report_expected_path(documents, output);
        let follow = documents.selection.follow;
        let selection = Selection {
            hidden: true,
            follow,
            ..Selection::default()
        };
        let is_lasting =
            |entry: &TreeEntry| !entry.relative.last().is_some_and(|name| is_temporary(name));
        // An error is ignored here, because the later walk over the documents reports it.
        let collection = collection::of_folder(documents, &selection, is_lasting, true);
        let collection = Arc::new(collection.unwrap_or_default());
        for problem in &collection.host_rules.problems {
            output.caution(problem);
        }
        let scan = |origin: &Origin, file: File<'_>, output: &mut Output| {
            scan(lister, &collection, origin, file, output)
        };
        let read = each_document(documents, output, scan, |origin, (found, is_part)| {
            self.parts += usize::from(is_part);
            if let (Origin::Entry(entry), Some(found)) = (origin, found) {
                let name = name_of(&entry);
                let number = collection.number_at(&name);
                self.add(lister, (entry.path, name, number), *found, gathered);
            }
        })?;
        (self.skipped, self.collection) = (read.skipped, collection);
        Ok(read.status)
    }

    /// Adds a file with its links.
    fn add(
        &mut self,
        lister: &Lister<'_>,
        (path, name, number): (PathBuf, Vec<u8>, Option<usize>),
        found: FileLinks,
        gathered: &mut Gathered,
    ) {
        let (file, room) = (self.files.len(), targets::room(lister.request));
        for mut target in found.targets.into_values() {
            target.places.iter_mut().for_each(|place| place.file = file);
            targets::merge(&mut gathered.targets, target, room);
        }
        gathered.ids.extend(number.zip(found.ids));
        let late = found.late.into_iter();
        gathered
            .late
            .extend(late.map(|(ids_of, row)| (file, ids_of, row)));
        for (class, groups) in found.waiting {
            let all = gathered.waiting.entry(class).or_default();
            for (url, mut group) in groups {
                let ids = gathered.ids.get(&group.ids_of);
                let place = ids.map(|ids| ids.place(fragment(&url)));
                if place == Some(FragmentPlace::There) && !targets::are_shown(lister.request, class)
                {
                    continue;
                }
                group.files.push((file, group.target.links));
                let places = group.target.places.iter_mut();
                places.for_each(|place| place.file = file);
                match all.get_mut(&url) {
                    Some(known) => {
                        known.files.append(&mut group.files);
                        known.target.merge(group.target, room);
                    }
                    None => drop(all.insert(url, group)),
                }
            }
        }
        for (class, number) in found.accepted {
            *self.accepted.entry(class).or_default() += number;
        }
        self.files.push(CheckedFile {
            path,
            name,
            counts: found.counts,
        });
    }

    /// Decides about the links that wait for ids, now that the ids of all documents are known.
    fn settle(
        &mut self,
        lister: &Lister<'_>,
        gathered: Gathered,
        output: &mut Output,
    ) -> io::Result<()> {
        let Gathered {
            mut targets,
            ids,
            waiting,
            late,
        } = gathered;
        let (request, room) = (lister.request, targets::room(lister.request));
        let place = |ids_of: usize, url: &str| Some(ids.get(&ids_of)?.place(fragment(url)));
        for (class, groups) in waiting {
            for (url, mut group) in groups {
                let place = place(group.ids_of, &url);
                let files = std::mem::take(&mut group.files);
                let target = group.settle(request, place);
                for (file, links) in files {
                    self.files[file]
                        .counts
                        .reclassify(class, target.class, links);
                }
                if targets::are_shown(request, target.class) {
                    targets::merge(&mut targets, target, room);
                }
            }
        }
        let mut late = late.into_iter().peekable();
        while let Some((number, ..)) = late.peek() {
            let (number, mut found) = (*number, FileLinks::default());
            let file = &mut self.files[number];
            let key = FileKey {
                path: &file.path,
                name: &file.name,
                number: None,
            };
            while let Some((_, ids_of, mut row)) = late.next_if(|(other, ..)| *other == number) {
                row.settle(place(ids_of, row.url()), &mut file.counts);
                lister.take(key, &mut found, &row, output)?;
            }
            for (class, number) in found.accepted {
                *self.accepted.entry(class).or_default() += number;
            }
            for mut target in found.targets.into_values() {
                target
                    .places
                    .iter_mut()
                    .for_each(|place| place.file = number);
                targets::merge(&mut targets, target, room);
            }
        }
        for file in &self.files {
            self.sum.merge(&file.counts);
        }
        self.targets = targets::in_order(targets);
        Ok(())
    }

    /// Checks the documents of archives. Each is named by its URL.
    fn read_archives(
        &mut self,
        lister: &Lister<'_>,
        gathered: &mut Gathered,
        output: &mut Output,
    ) -> io::Result<ExitStatus> {
        let documents = &lister.request.documents;
        let plan = CapturePlan::of(documents, None, output)?;
        let mut status = ExitStatus::Done;
        let progress = progress(documents, output);
        for (number, (path, _)) in plan.archives.iter().enumerate() {
            let scan =
                |number: usize, (_, archived): (&Input<'_>, &Archived), output: &mut Output| {
                    scan_capture(lister, &plan, (number, archived), output)
                };
            let done = |found: io::Result<Option<(usize, FileLinks)>>, _: &mut Output| {
                if let Some((number, found)) = found? {
                    let path = PathBuf::from(plan.chosen.url(number));
                    let name = plan.name(number).to_vec();
                    self.add(lister, (path, name, None), found, gathered);
                }
                Ok(())
            };
            let read = plan.each((number, Wanted::Bodies), documents, output, scan, done);
            if ok_or_report(read, output)?.is_none() {
                status = ExitStatus::Unusable;
            }
            finish_archive(path, progress.as_ref());
        }
        output.show_progress(None);
        self.captures = Some(plan);
        Ok(status)
    }

    /// Warns about files whose names differ only in case.
    pub(super) fn warn_of_case_conflicts(&self, output: &mut Output) {
        let doubles = self.collection.doubles();
        if let Some((one, other)) = doubles.first() {
            let path = |number: usize| {
                let path = String::from_utf8_lossy(self.collection.path(number)).into_owned();
                name(path.as_ref())
            };
            let more = match doubles.len() - 1 {
                0 => String::new(),
                more => format!(" (and {})", count(more, "more pair", "more pairs")),
            };
            output.caution(&format_args!(
                "{} and {}{more} differ only in case; a case-insensitive file system can hold only one of them",
                path(*one),
                path(*other)
            ));
        }
    }

    /// The number of findings that the baseline accepts.
    pub(super) fn accepted(&self) -> usize {
        self.accepted.values().sum()
    }

    /// The number of findings that the baseline does not accept, by class.
    pub(super) fn not_accepted(&self, is_asked: impl Fn(Class) -> bool) -> Vec<(Class, usize)> {
        let accepted = |class| self.accepted.get(&class).copied().unwrap_or_default();
        let remaining = |class: Class| self.sum.of(class).saturating_sub(accepted(class));
        let classes = Class::ALL.iter().copied().filter(|class| is_asked(*class));
        classes
            .map(|class| (class, remaining(class)))
            .filter(|(_, links)| *links > 0)
            .collect()
    }
}

/// Checks a document of an archive; `None` if there is none.
fn scan_capture(
    lister: &Lister<'_>,
    plan: &CapturePlan,
    (number, archived): (usize, &Archived),
    output: &mut Output,
) -> io::Result<Option<(usize, FileLinks)>> {
    let Ok(CapturedDocument {
        body,
        options: Some(options),
    }) = plan.document(number, archived)
    else {
        return Ok(None);
    };
    let path = PathBuf::from(plan.chosen.url(number));
    let input = Input::whole(DocumentName::of(&path), body.format, &body.bytes);
    let key = FileKey {
        path: &path,
        name: plan.name(number),
        number: None,
    };
    let mut found = FileLinks::default();
    let checked = lister.document((key, &input), &mut found, output, |link| {
        check_capture(&body.bytes, &options, plan.collection(), link)
    })?;
    let is_empty = options.scan.is_probed(body.format) && checked.links == 0;
    Ok((!is_empty).then_some((number, found)))
}

/// Checks the documents of a file.
fn scan(
    lister: &Lister<'_>,
    collection: &Arc<Collection>,
    origin: &Origin,
    file: File<'_>,
    output: &mut Output,
) -> io::Result<(ExitStatus, FileContent)> {
    let (mut links, mut is_part) = FileContent::default();
    let Origin::Entry(entry) = origin else {
        return Ok((ExitStatus::Done, (links, is_part)));
    };
    let documents = &lister.request.documents;
    let is_asked_for =
        documents.reading.format.is_some() || !documents.selection.include.is_empty();
    let may_be_part = file.format == Format::Html && !is_asked_for;
    let file_name = entry.path.file_name().unwrap_or_default().to_string_lossy();
    let name = name_of(entry);
    let key = FileKey {
        path: &entry.path,
        name: &name,
        number: collection.number_at(&name),
    };
    let goal = (collection, lister.request.to.as_ref());
    let options = |_: &Input<'_>, options: &Options, _: &mut Output| Ok(options.clone());
    let read = source::each(file, output, options, |mut options, input, _, output| {
        if may_be_part && Format::is_part(&file_name, input.bytes) {
            is_part = true;
            return Ok(());
        }
        options.scan.ids = true;
        let found = links.get_or_insert_default();
        let document = lister.document((key, input), found, output, |link| {
            check(&name, input.bytes, &options, goal, lister.needs_all(), link)
        })?;
        let places = FilePlaces::in_charset(input, document.charset);
        let found = document
            .diagnostics
            .iter()
            .filter(|found| is_of_the_document(found));
        found.for_each(|found| output.report_diagnostic(&places, found));
        if options.scan.is_probed(options.format) && document.links == 0 {
            links = None;
        }
        Ok(())
    });
    Ok((
        status_after(read.map(drop), ExitStatus::Done, output)?,
        (links, is_part),
    ))
}

/// True if a diagnostic is about the document itself rather than about making its links absolute. A relative base is
/// no problem in a tree that moves.
fn is_of_the_document(found: &Diagnostic) -> bool {
    is_of_bases(found.code) && found.code != Code::BaseRelative
}
