//! The checked folder: its documents, and the numbers of their links by class.
//!
//! ```text
//! site/a.html, site/b/c.html  -->  CheckedTree { files: [a.html, b/c.html], collection, sum: { travels: 9, pinned: 1, … } }
//! ```
//!
//! The collection of files is made first, so that each document is scanned and judged in one pass. Links with
//! fragments get their final class when the ids of all documents are known.
//!
//! Deliberately absent: messages ([`super`]), and the findings, which a list finds again ([`super::listing`]).

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::collection::Collection;
use crate::collection::folder::name_of;
use crate::collection::origin::Origins;
use crate::files::walk::{EntryKind, Selection, TreeEntry};
use crate::files::write::is_temporary;
use crate::purpose::check::{
    Cause, CheckedDocument, Class, Finding, FragmentPlace, Ids, check, check_capture,
};
use baselink_rewrite::base::lacks_only_scheme;
use baselink_rewrite::{Options, report::LinkReport};
use baselink_text::diagnostic::{Code, Diagnostic};
use baselink_text::error::name;
use baselink_text::format::Format;
use baselink_url::Profile;

use super::targets::{self, Targets};
use crate::cli::advice::is_of_bases;
use crate::cli::archive_item::{Archived, Wanted};
use crate::cli::args::check::{Check, Classes};
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
    request: &'a Check,
    /// The captures, if archives are checked.
    pub(super) captures: Option<CapturePlan>,
    pub(super) origins: &'a Origins,
    pub(super) files: Vec<CheckedFile>,
    /// The index in `files` of each file, by its path.
    numbers: HashMap<PathBuf, usize>,
    /// The number of skipped files that are parts of HTML pages.
    pub(super) parts: usize,
    pub(super) collection: Arc<Collection>,
    /// The ids in each document, by the number of the document in the collection.
    ids: HashMap<usize, Ids>,
    /// The counts of all files together.
    pub(super) sum: ClassCounts,
    /// The targets of links in settled classes ([`is_settled`]).
    pub(super) targets: Targets,
    pub(super) skipped: SkipCounts,
}

/// True if links keep this class once the ids of all documents are known.
pub(super) fn is_settled(class: Class) -> bool {
    use Class::{Dangling, Escapes, Missing, MissingPage, Outside, Pinned};
    matches!(
        class,
        Outside | Pinned | Escapes | Dangling | Missing | MissingPage
    )
}

/// A file that was checked.
pub(super) struct CheckedFile {
    pub(super) entry: TreeEntry,
    /// Its path below the folder, with `/` between the names.
    pub(super) name: Vec<u8>,
    pub(super) counts: ClassCounts,
}

/// Links by class.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassCounts {
    pub(super) classes: BTreeMap<Class, usize>,
    /// The number of links that would break and that `baselink move` would fix.
    pub(super) movable: usize,
    pub(super) differing: usize,
    /// The number of links in the class `left` because no base is known.
    pub(super) without_base: usize,
    /// The number of links that begin with `/` and escape.
    pub(super) root_relative: usize,
    /// The number of links that lack only a scheme.
    pub(super) without_scheme: usize,
}

impl ClassCounts {
    /// Counts a link; a link without a finding travels.
    fn add(&mut self, request: &Check, link: &LinkReport, finding: Option<&Finding>) {
        let class = finding.map_or(Class::Travels, |finding| finding.class);
        *self.classes.entry(class).or_default() += 1;
        self.differing += usize::from(link.differs);
        let Some(finding) = finding else { return };
        let is_movable = match finding.cause {
            Some(Cause::Absolute | Cause::NetPath | Cause::DeclaredBase | Cause::RootRelative) => {
                true
            }
            Some(Cause::Canonical) => request.to.is_some(),
            _ => false,
        };
        self.movable += usize::from(is_movable);
        let is_without_base = finding.cause == Some(Cause::NoBase);
        self.without_base += usize::from(is_without_base);
        self.root_relative += usize::from(finding.cause == Some(Cause::RootRelative));
        let lacks_only_scheme = || lacks_only_scheme(&link.reference, Profile::Rfc1808);
        self.without_scheme += usize::from(is_without_base && lacks_only_scheme());
    }

    /// Moves a number of links from one class to another.
    fn reclassify(&mut self, from: Class, to: Class, links: usize) {
        *self.classes.entry(to).or_default() += links;
        let remaining = self.of(from).saturating_sub(links);
        self.classes.insert(from, remaining);
        self.classes.retain(|_, links| *links > 0);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (class, number) in &other.classes {
            *self.classes.entry(*class).or_default() += number;
        }
        self.movable += other.movable;
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

    /// The number of links that may break.
    pub(super) fn broken(&self) -> usize {
        Classes::BROKEN.iter().map(|class| self.of(*class)).sum()
    }
}

/// The fragments of the links in one file, each with the number of its links. They are grouped by the number of the
/// target, and by the class that the links have if the target has such an id.
type FragmentLinks = BTreeMap<(usize, Class), HashMap<String, usize>>;

/// The links of the documents in a file.
#[derive(Default)]
struct FileLinks {
    counts: ClassCounts,
    fragment_links: FragmentLinks,
    ids: Option<Ids>,
    targets: Targets,
}

/// The result of scanning a file: the links of its documents, if any. The flag is true for a fragment of an HTML page
/// that neither `--format` nor `--include` asked for.
type FileContent = (Option<Box<FileLinks>>, bool);

impl<'a> CheckedTree<'a> {
    /// Checks the folder, and reports files that cannot be read.
    pub(super) fn read(
        request: &'a Check,
        origins: &'a Origins,
        output: &mut Output,
    ) -> io::Result<(Self, ExitStatus)> {
        if request.is_of_archives {
            return Self::read_archives(request, origins, output);
        }
        let documents = &request.documents;
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
        let mut tree = Self::empty(request, origins);
        let collection = Arc::new(collection.unwrap_or_default());
        let (mut fragments_of_files, mut ids) = (Vec::new(), HashMap::new());
        let scan = |origin: &Origin, file: File<'_>, output: &mut Output| {
            scan(request, &collection, origin, file, output)
        };
        let read = each_document(documents, output, scan, |origin, (found, is_part)| {
            tree.parts += usize::from(is_part);
            if let (Origin::Entry(entry), Some(found)) = (origin, found) {
                let name = name_of(&entry);
                ids.extend(collection.number_at(&name).zip(found.ids));
                fragments_of_files.push(found.fragment_links);
                tree.add(
                    CheckedFile {
                        entry,
                        name,
                        counts: found.counts,
                    },
                    found.targets,
                );
            }
        })?;
        for (file, fragment_links) in tree.files.iter_mut().zip(fragments_of_files) {
            settle(&mut file.counts, fragment_links, &ids);
            tree.sum.merge(&file.counts);
        }
        (tree.skipped, tree.collection, tree.ids) = (read.skipped, collection, ids);
        Ok((tree, read.status))
    }

    fn empty(request: &'a Check, origins: &'a Origins) -> Self {
        Self {
            request,
            captures: None,
            origins,
            files: Vec::new(),
            numbers: HashMap::new(),
            parts: 0,
            collection: Arc::default(),
            ids: HashMap::new(),
            sum: ClassCounts::default(),
            targets: Targets::default(),
            skipped: SkipCounts::default(),
        }
    }

    /// Adds a file, with the targets of its links.
    fn add(&mut self, file: CheckedFile, mut targets: Targets) {
        let places = targets.values_mut().flat_map(|target| &mut target.places);
        places.for_each(|place| place.file = self.files.len());
        targets::merge(&mut self.targets, targets, targets::room(self.request));
        self.numbers
            .insert(file.entry.path.clone(), self.files.len());
        self.files.push(file);
    }

    /// Checks the documents of archives. Each is named by its URL.
    fn read_archives(
        request: &'a Check,
        origins: &'a Origins,
        output: &mut Output,
    ) -> io::Result<(Self, ExitStatus)> {
        let documents = &request.documents;
        let plan = CapturePlan::of(documents, None, false, output)?;
        let (mut tree, mut status) = (Self::empty(request, origins), ExitStatus::Done);
        let progress = progress(documents, output);
        for (number, (path, _)) in plan.archives.iter().enumerate() {
            let scan = |number: usize, (_, archived): (&Input<'_>, &Archived), _: &mut Output| {
                let CapturedDocument { body, options } = plan.document(number, archived).ok()?;
                let options = options?;
                let checked = check_capture(&body.bytes, &options, plan.collection());
                if options.scan.is_probed(body.format) && checked.report.links.is_empty() {
                    return None;
                }
                let path = PathBuf::from(plan.chosen.url(number));
                let input = Input::whole(DocumentName::of(&path), body.format, &body.bytes);
                let places = FilePlaces::in_charset(&input, checked.charset);
                let mut found = FileLinks::default();
                found.add(request, checked, &places);
                let size = body.bytes.len() as u64;
                Some((number, path.clone(), size, found))
            };
            let done = |found: Option<(usize, PathBuf, u64, FileLinks)>, _: &mut Output| {
                let Some((number, path, size, found)) = found else {
                    return Ok(());
                };
                tree.sum.merge(&found.counts);
                let root = path.as_path().into();
                let entry = TreeEntry {
                    root,
                    relative: Vec::new(),
                    path,
                    kind: EntryKind::File,
                    size,
                };
                let name = plan.name(number).to_vec();
                tree.add(
                    CheckedFile {
                        entry,
                        name,
                        counts: found.counts,
                    },
                    found.targets,
                );
                Ok(())
            };
            let read = plan.each((number, Wanted::Bodies), documents, output, scan, done);
            if ok_or_report(read, output)?.is_none() {
                status = ExitStatus::Unusable;
            }
            finish_archive(path, progress.as_ref());
        }
        output.show_progress(None);
        tree.captures = Some(plan);
        Ok((tree, status))
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

    /// The number of the file at `path`.
    pub(super) fn number_of(&self, path: &Path) -> Option<usize> {
        self.numbers.get(path).copied()
    }

    /// Checks a document of a file again.
    pub(super) fn check(
        &self,
        file: &CheckedFile,
        input: &Input<'_>,
        options: &Options,
    ) -> CheckedDocument<'_> {
        match &self.captures {
            None => check(
                &file.name,
                input.bytes,
                options,
                &self.collection,
                self.request.to.as_ref(),
            ),
            Some(plan) => check_capture(input.bytes, options, plan.collection()),
        }
    }

    /// The place that a fragment identifies in the resource with this number.
    pub(super) fn fragment_place(&self, number: usize, fragment: &str) -> Option<FragmentPlace> {
        Some(self.ids.get(&number)?.place(fragment))
    }
}

/// Corrects the classes of links with fragments, now that the ids of all documents are known.
fn settle(counts: &mut ClassCounts, fragment_links: FragmentLinks, ids: &HashMap<usize, Ids>) {
    for ((number, class), fragments) in fragment_links {
        let Some(ids) = ids.get(&number) else {
            continue;
        };
        for (fragment, links) in fragments {
            match (ids.place(&fragment), class) {
                (FragmentPlace::Nowhere(_), _) => {
                    counts.reclassify(class, Class::Fragment, links);
                }
                (FragmentPlace::Lines, Class::Travels) => {
                    counts.reclassify(class, Class::Lines, links);
                }
                (FragmentPlace::There | FragmentPlace::Lines, _) => {}
            }
        }
    }
}

fn scan(
    request: &Check,
    collection: &Arc<Collection>,
    origin: &Origin,
    file: File<'_>,
    output: &mut Output,
) -> io::Result<(ExitStatus, FileContent)> {
    let (mut links, mut is_part) = FileContent::default();
    let Origin::Entry(entry) = origin else {
        return Ok((ExitStatus::Done, (links, is_part)));
    };
    let documents = &request.documents;
    let is_asked_for =
        documents.reading.format.is_some() || !documents.selection.include.is_empty();
    let may_be_part = file.format == Format::Html && !is_asked_for;
    let file_name = entry.path.file_name().unwrap_or_default().to_string_lossy();
    let name = name_of(entry);
    let options = |_: &Input<'_>, options: &Options, _: &mut Output| Ok(options.clone());
    let read = source::each(file, output, options, |mut options, input, _, output| {
        if may_be_part && Format::is_part(&file_name, input.bytes) {
            is_part = true;
            return Ok(());
        }
        options.scan.ids = true;
        let document = check(
            &name,
            input.bytes,
            &options,
            collection,
            request.to.as_ref(),
        );
        if options.scan.is_probed(options.format) && document.report.links.is_empty() {
            return Ok(());
        }
        let places = FilePlaces::in_charset(input, document.charset);
        let found = document
            .report
            .diagnostics
            .iter()
            .filter(|found| is_of_the_document(found));
        found.for_each(|found| output.report_diagnostic(&places, found));
        links
            .get_or_insert_default()
            .add(request, document, &places);
        Ok(())
    });
    Ok((
        status_after(read.map(drop), ExitStatus::Done, output)?,
        (links, is_part),
    ))
}

impl FileLinks {
    fn add(&mut self, request: &Check, document: CheckedDocument<'_>, places: &FilePlaces<'_>) {
        let fragment_links = RefCell::new(&mut self.fragment_links);
        let count_link = |number: usize, fragment: &str, class: Class| {
            let mut fragment_links = fragment_links.borrow_mut();
            let in_resource = fragment_links.entry((number, class)).or_default();
            match in_resource.get_mut(fragment) {
                Some(links) => *links += 1,
                None => drop(in_resource.insert(fragment.to_owned(), 1)),
            }
            None
        };
        let before = self.counts.links();
        for (number, (link, finding)) in document.findings(&count_link, false).enumerate() {
            self.counts.add(request, link, finding.as_ref());
            let finding = finding.filter(|one| is_settled(one.class) && request.baseline.is_none());
            if let Some(finding) = finding.filter(|one| targets::are_shown(request, one.class)) {
                let at = (0, before + number);
                targets::add(&mut self.targets, request, at, (link, &finding), places);
            }
        }
        self.ids = document.ids;
    }
}

/// True if a diagnostic is about the document itself rather than about making its links absolute. A relative base is
/// no problem in a tree that moves.
fn is_of_the_document(found: &Diagnostic) -> bool {
    is_of_bases(found.code) && found.code != Code::BaseRelative
}
