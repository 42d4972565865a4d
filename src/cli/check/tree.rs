//! The checked folder: its documents, and the numbers of their links by class.
//!
//! ```text
//! site/a.html, site/b/c.html  -->  CheckedTree { files: [a.html, b/c.html], collection, sum: { works: 9, pinned: 1, … } }
//! ```
//!
//! The collection of files is made first. While the documents are read, their ids are collected, and the fragments of
//! their links. Then only documents with a dead fragment are read again; all are, if their links are listed one by one.
//!
//! Deliberately absent: messages ([`super`]), and what becomes of each link ([`super::listing`]).

use std::{
    collections::{BTreeMap, HashMap},
    io,
    path::PathBuf,
    sync::Arc,
};

use baselink_text::{Format, Result, format::is_among, name};

use super::listing::{FileLinks, ListedSite, Lister, room};
use baselink_files::{
    walk::{Selection, TreeEntry},
    write::is_temporary,
};
use baselink_site::{
    archive::{Contents, Entry, Wanted},
    collection::{Collection, folder::name_of, is_disk, origin::RootUrl, url_below},
    purpose::{
        check::{Class, FindingRule, IgnoredUrls, are_there, targets::Targets},
        relocate::{Remedies, is_at_any_url, split_host},
        tally::{Counted, Tally},
    },
    reading::{
        CapturePlan, DocumentName, File, Input, Listener, all_in_order, collect, may_hold_resources,
    },
};

use crate::cli::{
    args::check::{Classes, ReportForm},
    expected_url::report_expected_url,
    files::{each_document, plan_of_archives, status_after, with_captures},
    output::{Output, count, ok_or_report},
    request::Documents,
    status::{ExitStatus, Failure, FileResult},
};

/// A folder, or archives, whose documents were checked.
#[derive(Default)]
pub struct CheckedTree {
    /// The captures of archives.
    pub captures: Vec<CapturePlan>,
    /// The archives, with their numbers of damaged records, and of links.
    pub archives: Vec<(PathBuf, usize, Tally)>,
    /// The files with links that fail, that may break or that a target lists; all for a report of tests.
    pub files: Vec<CheckedFile>,
    pub collection: Arc<Collection>,
    /// The numbers of documents, and of their links.
    pub tally: Tally,
    /// The targets of links, if they are shown.
    pub targets: Targets,
    /// The remedies of links, by the name of the document.
    pub remedies: HashMap<Vec<u8>, Arc<Remedies>>,
}

/// A file with findings.
pub struct CheckedFile {
    /// The path, or the URL of a document in an archive.
    pub path: PathBuf,
    /// Its path below the folder, with `/` between the names.
    pub name: Vec<u8>,
    pub tally: Tally,
}

/// The result of scanning a file: the links of its documents, if any. The flag is true for a fragment of an HTML page
/// that neither `--format` nor `--include` asked for.
type FileContent = (Option<Box<FileLinks>>, bool);

impl CheckedTree {
    /// Checks the folder or the archives, and reports files that cannot be read.
    pub fn read(lister: &Lister<'_>, output: &mut Output) -> FileResult<(Self, ExitStatus)> {
        let mut tree = Self::default();
        let status = if lister.request.is_of_archives {
            let documents = &lister.request.documents;
            let plan = plan_of_archives(documents, None, output)?;
            tree.read_archives(lister, plan, documents.files(), output)?
        } else {
            tree.read_folder(lister, output)?
        };
        let is_denied = |class| lister.request.deny.contains(class);
        tree.targets.put_in_order(is_denied);
        Ok((tree, status))
    }

    fn read_folder(&mut self, lister: &Lister<'_>, output: &mut Output) -> FileResult<ExitStatus> {
        let documents = &lister.request.documents;
        report_expected_url(documents, lister.request.to.as_ref(), false, output)?;
        let (collection, plans) = with_captures(documents, None, site(documents), output)?;
        let root = collection.root_url();
        let host = root.map(|root| RootUrl::of_file(split_host(root.as_str()).0));
        let site = (&collection, host.as_ref(), None);
        for problem in &collection.host_rules.problems {
            output.caution(problem);
        }
        let counting = Lister {
            list: Classes::default(),
            baseline: None,
            ..*lister
        };
        let (is_by_link, mut hidden) = (lister.is_by_link(), output.blank());
        let shown = if is_by_link {
            &mut hidden
        } else {
            &mut *output
        };
        let scan_first = |entry: &TreeEntry, file: File<'_>, output: &mut Output| {
            scan(&counting, site, entry, file, output)
        };
        let (mut first, mut ids, mut prefixed) = (Vec::new(), BTreeMap::new(), 0);
        let mut read = each_document(documents, shown, scan_first, |entry, mut found| {
            if let Some(links) = &mut found.0 {
                prefixed += links.tally[Counted::Prefixed];
                let number = collection.number_at(&name_of(&entry));
                ids.extend(number.zip(links.ids.take()));
            }
            if !is_by_link {
                first.push((entry, found));
            }
        })?;
        // If no link has the path of the root, the site is not built for it.
        let host = host.as_ref().filter(|_| prefixed > 0);
        let scan_again = |entry: &TreeEntry, file: File<'_>, output: &mut Output| {
            scan(lister, (&collection, host, Some(&ids)), entry, file, output)
        };
        let mut add = |entry, found| self.add(lister, entry, found);
        if is_by_link {
            // Findings are listed in the order of the files.
            read = each_document(documents, output, scan_again, add)?;
        } else {
            let settle = |(entry, found): (TreeEntry, FileContent)| {
                let links = found.0.as_ref();
                let is_final = links.is_none_or(|links| {
                    (prefixed > 0 || links.tally[Counted::Checked(FindingRule::NoPrefix)] == 0)
                        && are_there(&links.fragments, &ids)
                });
                let again = match (!is_final).then(|| File::open(&entry, documents, None)) {
                    Some(Ok(Ok(file))) => scan_again(&entry, file, &mut hidden.blank()).ok(),
                    _ => None,
                };
                let found = again.map_or(found, |(_, found)| found);
                (entry, found)
            };
            let all = first.into_iter();
            all_in_order(documents.jobs, all, settle, |(entry, found)| {
                add(entry, found)
            });
        }
        self.collection = Arc::clone(&collection);
        self.tally.merge(&read.tally);
        if documents.selection.include.is_empty() && documents.library.is_empty() {
            self.add_unlinked(lister.request.ignored.as_ref());
        }
        let mut status = read.status;
        for (plan, parts) in plans.into_iter().zip(&documents.library) {
            let files = parts.iter().cloned().map(Ok);
            status = status.max(self.read_archives(lister, plan, files, output)?);
        }
        Ok(status)
    }

    /// Adds the files to which no page leads, except hidden files and those that servers and crawlers find by their names.
    fn add_unlinked(&mut self, ignored: Option<&IgnoredUrls>) {
        /// Their names at the root.
        const KNOWN: &str = "\
            index.html index.htm 404.html robots.txt ads.txt humans.txt llms.txt sitemap.xml favicon.ico apple-touch-icon.png sw.js \
            CNAME _headers _redirects netlify.toml vercel.json";
        for number in 0..self.collection.count() {
            let path = self.collection.path(number);
            let is_hidden = path
                .split(|&byte| byte == b'/')
                .any(|name| name.starts_with(b"."));
            if is_hidden || is_among(path, KNOWN) || self.collection.is_used(number) {
                continue;
            }
            let url = self
                .collection
                .root_url()
                .and_then(|root| url_below(root, path));
            if let (Some(urls), Some(url)) = (ignored, url)
                && urls.contains(&url, &self.collection)
            {
                continue;
            }
            let name = String::from_utf8_lossy(path).into();
            self.targets.count((FindingRule::Unlinked, None, name), 0);
            self.tally
                .add(Counted::Checked(FindingRule::Unlinked), 1_usize);
        }
    }

    /// Adds a file of a folder with its links.
    fn add(&mut self, lister: &Lister<'_>, entry: TreeEntry, (links, is_part): FileContent) {
        self.tally.add(Counted::Part, is_part);
        if let Some(links) = links {
            let name = name_of(&entry);
            self.add_links(lister, (entry.path, name), *links);
        }
    }

    /// Adds a file with its links.
    fn add_links(
        &mut self,
        lister: &Lister<'_>,
        (path, name): (PathBuf, Vec<u8>),
        found: FileLinks,
    ) {
        let (file, room) = (self.files.len(), room(lister.request));
        let is_listed = !found.targets.is_empty();
        if !found.remedies.is_empty() {
            self.remedies.insert(name.clone(), found.remedies.into());
        }
        self.targets.merge(found.targets, file, room, lister.full);
        let tally = found.tally;
        self.tally.merge(&tally);
        self.tally.add(Counted::Document, 1_usize);
        let file = CheckedFile { path, name, tally };
        let mut tests = lister.request.reports(ReportForm::JUnit);
        if is_listed || tests.next().is_some() || file.severity(&lister.request.deny) > (0, 0) {
            self.files.push(file);
        }
    }

    /// Checks the documents of the archives in `files`, whose captures `plan` has. Each is named by its URL.
    fn read_archives(
        &mut self,
        lister: &Lister<'_>,
        plan: CapturePlan,
        files: impl Iterator<Item = Result<TreeEntry>>,
        output: &mut Output,
    ) -> FileResult<ExitStatus> {
        let documents = &lister.request.documents;
        let mut status = ExitStatus::Done;
        let wanted = Wanted::bodies(lister.request.strict);
        let scan = |number: usize, (_, entry): (&Input<'_>, &Entry), output: &mut Output| {
            scan_capture(lister, &plan, (number, entry), output)
        };
        for file in files {
            let mut tally = Tally::default();
            let done = |found: io::Result<Option<NamedLinks>>, _: &mut Output| {
                if let Some((named, found)) = found? {
                    tally.merge(&found.tally);
                    self.add_links(lister, named, found);
                }
                Ok(())
            };
            let read = file.map_err(Failure::from).and_then(|file| {
                let read = plan.each(&file, (wanted, documents), output, scan, done);
                output.finish_file(file.size);
                read.map(|(_, damaged)| (file.path, damaged))
            });
            if let Some((path, damaged)) = ok_or_report(read, output)? {
                self.archives.push((path, damaged, tally));
            } else {
                status = ExitStatus::Unusable;
            }
        }
        output.show_progress(None);
        self.captures.push(plan);
        Ok(status)
    }

    /// Warns about files whose names differ only in case.
    pub fn warn_of_case_conflicts(&self, output: &mut Output) {
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
            output.caution(format_args!(
                "{} and {}{more} differ only in case; a case-insensitive file system can hold only one of them",
                path(*one),
                path(*other)
            ));
        }
    }

    /// The number of findings that the baseline accepts.
    pub fn accepted(&self) -> usize {
        self.tally.sum(|what| matches!(what, Counted::Accepted(_)))
    }

    /// The number of findings that the baseline does not accept, by class.
    pub fn not_accepted(&self, is_asked: impl Fn(Class) -> bool) -> Vec<(Class, usize)> {
        let accepted = |class| self.tally[Counted::Accepted(class)];
        let remaining = |class| self.tally.of_class(class).saturating_sub(accepted(class));
        let classes = Class::ALL.into_iter().filter(|class| is_asked(*class));
        classes
            .map(|class| (class, remaining(class)))
            .filter(|(_, links)| *links > 0)
            .collect()
    }
}

impl CheckedFile {
    /// The numbers of links that fail, being in one of the classes `denied`, and of those that may break.
    pub fn severity(&self, denied: &Classes) -> (usize, usize) {
        let fails = self.tally.checked(|class| denied.contains(class));
        let breaks = self.tally.checked(|class| Classes::BROKEN.contains(&class));
        (fails, breaks)
    }
}

/// All files of the folder. An error is ignored here, because the walk over the documents reports it.
fn site(documents: &Documents) -> Collection {
    let selection = Selection {
        hidden: true,
        follow: documents.selection.follow,
        ..Selection::default()
    };
    let is_lasting =
        |entry: &TreeEntry| !entry.relative.last().is_some_and(|name| is_temporary(name));
    let mut collection = collect(documents, &selection, is_lasting).unwrap_or_default();
    collection.note_uses();
    collection
}

/// The path of a file, its path below the folder, and its links.
type NamedLinks = ((PathBuf, Vec<u8>), FileLinks);

/// Checks the document with this number of an archive; `None` if it does not look like one. Also returns the length of its body.
fn scan_capture(
    lister: &Lister<'_>,
    plan: &CapturePlan,
    (number, entry): (usize, &Entry),
    output: &mut Output,
) -> (io::Result<Option<NamedLinks>>, usize) {
    let path = PathBuf::from(plan.chosen.url(number));
    let Ok(body) = entry.body(plan.chosen.url(number), plan.name(number)) else {
        return (Ok(None), 0);
    };
    let length = body.bytes.len();
    let Some(options) = &body.options else {
        return (Ok(None), length);
    };
    let name = plan.collection().in_library(plan.name(number));
    let input = Input::whole(DocumentName::of(&path), options, &body.bytes);
    let mut found = FileLinks::default();
    let site = (plan.collection(), None, None);
    let checked = lister.document(site, (&path, &name), &input, &mut found, output);
    let named = checked.map(|document| {
        let is_empty = options.scan.is_probed(options.format) && document.links == 0;
        (!is_empty).then_some(((path, name), found))
    });
    (named, length)
}

/// True if `file` is a fragment of an HTML page that no option asks for.
fn is_part(documents: &Documents, file: &File<'_>) -> bool {
    let is_asked_for =
        documents.reading.format.is_some() || !documents.selection.include.is_empty();
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let is_page = file.format == Format::Html && !is_asked_for;
    matches!(&file.contents, Contents::Document(bytes) if is_page && Format::is_part(&name, bytes))
}

/// Checks the documents of a file.
fn scan(
    lister: &Lister<'_>,
    site: ListedSite<'_>,
    entry: &TreeEntry,
    file: File<'_>,
    output: &mut Output,
) -> io::Result<(ExitStatus, FileContent)> {
    let is_part = is_part(&lister.request.documents, &file);
    // The archives and mails of a library are read after its files.
    let is_library = !lister.request.documents.library.is_empty();
    if is_part || (is_library && may_hold_resources(file.format)) {
        return Ok((ExitStatus::Done, (None, is_part)));
    }
    let mut links = None;
    let name = name_of(entry);
    let no_work = |_: &Input<'_>, _: &mut Output| Ok(((), 0));
    let read = file.each(output, no_work, |(), input, _, output| {
        let options = input.options;
        let found: &mut Box<FileLinks> = links.get_or_insert_default();
        let document = lister.document(site, (&entry.path, &name), input, found, output)?;
        let varying = found.tally[Counted::Varying];
        if is_at_any_url(&name) && !lister.request.to.as_ref().is_some_and(is_disk) {
            let (links, page) = (
                ["relative link", "relative links"],
                baselink_text::name(&entry.path),
            );
            let what = format!(
                "of {page} work only at the root, but servers send this page at any URL; begin them with /"
            );
            output.notice_of(varying, links, &what);
        }
        if options.scan.is_probed(options.format) && document.links == 0 {
            links = None;
        }
        Ok(())
    });
    Ok((status_after(read, output)?, (links, is_part)))
}
