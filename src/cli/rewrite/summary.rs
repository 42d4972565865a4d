//! The messages about a rewritten file, and about the run.
//!
//! ```text
//! page.html: base http://a/b/page.html (3.3 retrieval); 2 links: 1 rewritten, 1 already absolute
//! 12 files: 9 rewritten, 1 with nothing to rewrite, 2 copied
//!   html  10 files, 310 links: 290 rewritten, 20 already absolute
//! ```
//!
//! Deliberately absent: deciding when to print them.

use std::{cmp::Reverse, collections::BTreeMap, io, mem, path::Path, sync::Arc};

use baselink_rewrite::{LinkBases, Reason, Rule, Source, Totals};
use baselink_text::{Charset, Diagnostic, Format, name, visible};

use baselink_site::{
    collection::{
        origin::{is_assumed, without_assumed_hosts},
        split_name,
    },
    purpose::{
        generator::{GENERATORS, Generator},
        leftovers::Traces,
        link_result::LinkResult,
        rewriting::{DocumentLinks, LinksToMissing, MissingTargets, RewriteKind},
        tally::{Adaptation, Counted, Tally},
    },
    reading::{FilePlaces, Input, SkipReason},
};

use crate::cli::{
    args::output::Rewrite,
    base_hints::{BaseHints, LACKING, ONLY_SCHEME},
    files::{report_only_others, report_unread},
    json_records,
    link_counts::links_in_words,
    output::{Output, by_place, count, url_for_list},
    results::RewriteRun,
    status::ExitStatus,
};
use baselink_files::{stop::is_stopped, walk::TreeEntry};

/// The end of messages about links to local copies that were not copied.
const NOT_WRITTEN: &str = "to files that a browser saved with it, which were not copied; copy the folder (page_files), too";

/// The items that browsers refuse to load from disk, and their nouns.
const REFUSED: [(Counted, [&str; 2]); 8] = [
    (Counted::RefusedModule, ["module script", "module scripts"]),
    (Counted::RefusedIntegrity, ["integrity or crossorigin"; 2]),
    (
        Counted::RefusedUse,
        ["use of another SVG file", "uses of other SVG files"],
    ),
    (Counted::RefusedTrack, ["track", "tracks"]),
    (
        Counted::RefusedSheet,
        ["XSLT style sheet", "XSLT style sheets"],
    ),
    (
        Counted::RefusedText,
        [
            "page of docsify without its text",
            "pages of docsify without their text",
        ],
    ),
    (
        Counted::RefusedIndex,
        ["index for a search", "indexes for searches"],
    ),
    (
        Counted::RefusedRouter,
        [
            "page of Gatsby with its scripts (they would leave it; move --relative keeps them)",
            "pages of Gatsby with their scripts (they would leave them; move --relative keeps the scripts)",
        ],
    ),
];

/// The summary of a file.
#[derive(Default)]
pub struct FileSummary {
    pub tally: Tally,
    pub status: ExitStatus,
    pub diagnostics: Vec<json_records::DiagnosticRecord>,
    /// Hints for links without a base.
    pub hints: BaseHints,
    missing: MissingTargets,
    /// The base of the first document, with its source.
    base: Option<BaseAndSource>,
    link_bases: LinkBases,
}

/// A base, with the rule and the source that gave it.
type BaseAndSource = (Option<Arc<str>>, Rule, Source);

impl FileSummary {
    /// Adds a document of the file.
    pub fn add(&mut self, totals: &Totals, links: DocumentLinks, kind: &RewriteKind) {
        let tally = &mut self.tally;
        if kind.results().of_changed.is_none() {
            tally.add_totals(totals);
        } else {
            tally.merge(&links.tally);
            let [relative, absolute] = totals.kept;
            tally.add(Counted::Link(kind.results().of_kept, None), relative);
            tally.add(Counted::Link(LinkResult::Absolute, None), absolute);
            merge_missing(&mut self.missing, links.missing);
        }
        tally.add(Counted::Fragment, totals.fragments);
        tally.add(Counted::Document, 1_usize);
        tally.add(Counted::Entity, totals.entities);
        let base = || (totals.base.clone(), totals.rule, totals.source);
        self.base.get_or_insert_with(base);
        self.link_bases.merge(totals.of_links.clone());
    }

    /// True if a link has no base.
    pub fn lacks_base(&self) -> bool {
        self.tally.of_result(LinkResult::NoBase) > 0
    }

    /// The number of links to local copies.
    pub fn local_copies(&self) -> usize {
        self.tally
            .links(|_, reason| reason == Some(Reason::LocalCopy))
    }

    /// True if a link or an old URL outside links changed.
    fn has_changes(&self) -> bool {
        self.tally.links(|result, _| result.is_change()) + self.tally[Counted::ReplacedUrl] > 0
    }

    /// Adds the summary of later documents.
    pub fn merge(&mut self, later: Self) {
        self.tally.merge(&later.tally);
        self.status = self.status.max(later.status);
        self.diagnostics.extend(later.diagnostics);
        self.hints.merge(later.hints);
        merge_missing(&mut self.missing, later.missing);
        self.base = self.base.take().or(later.base);
        self.link_bases.merge(later.link_bases);
    }

    /// Adds the diagnostics of a document, if `--json` records them.
    pub fn add_diagnostics(
        &mut self,
        request: &Rewrite,
        found: &[Diagnostic],
        places: &FilePlaces<'_>,
    ) {
        if request.json {
            let found = by_place(found).into_iter();
            self.diagnostics
                .extend(found.map(|one| json_records::DiagnosticRecord::of(one, places)));
        }
    }

    /// Adds the traces of the old place of the tree in `input`, and reports old URLs with `--verbose`.
    pub fn add_leftovers(
        &mut self,
        request: &Rewrite,
        left: &Traces,
        input: &Input<'_>,
        output: &mut Output,
    ) {
        self.tally.merge(&left.tally);
        if left.urls.is_empty() || !(request.json || output.is_verbose()) {
            return;
        }
        let places = FilePlaces::of(input, Charset::UTF_8);
        if output.is_verbose() {
            output.report_diagnostics(&places, &left.urls);
        }
        self.add_diagnostics(request, &left.urls, &places);
    }

    /// Prints the record of the file for `--json`. `to` is the result.
    pub fn print(
        &self,
        run: RewriteRun<'_>,
        path: &Path,
        format: Format,
        to: Option<&Path>,
        output: &mut Output,
    ) -> io::Result<()> {
        if !run.request.json {
            return Ok(());
        }
        output.json(&json_records::FileRecord {
            path: path.to_string_lossy(),
            format,
            output: to.map(Path::to_string_lossy),
            links: (&self.tally, run.kind.results().all),
            verified: run
                .request
                .changes
                .verify
                .then_some(self.tally[Counted::VerifiedEdit]),
            diagnostics: &self.diagnostics,
        })
    }

    /// Reports the base of the file and the number of its links by result.
    pub fn report(&self, path: &Path, format: Format, written: bool, output: &mut Output) {
        if !output.reports_files() {
            return;
        }
        let (name, tally, outermost) = (name(path), &self.tally, self.base.as_ref());
        let url = outermost.and_then(|(url, ..)| url.as_ref());
        let text = |url: &Option<Arc<str>>, rule: Rule, source: Source| {
            if url.as_deref().is_some_and(is_assumed) {
                return String::new();
            }
            let base = url.as_deref().map_or("none".into(), visible);
            format!("base {base} ({} {})", rule.section(), source.name())
        };
        let holds_others = format.has_headings() || format.is_archive();
        let holds_many = format.holds_many() || format.is_archive();
        let base = match (holds_others, &self.link_bases) {
            (true, LinkBases::Several) => "different base URLs".to_owned(),
            (true, LinkBases::One(one, rule, source)) if one.as_ref() != url => {
                text(one, *rule, *source)
            }
            (true, LinkBases::None) if holds_many => String::new(),
            _ => outermost
                .map(|(url, rule, source)| text(url, *rule, *source))
                .unwrap_or_default(),
        };
        let what = match format.has_headings() {
            _ if format.is_archive() => count(tally[Counted::Document], "document", "documents"),
            true if format.holds_many() => count(tally[Counted::Document], "message", "messages"),
            true => count(tally[Counted::Entity], "entity", "entities"),
            false => String::new(),
        };
        let unwritten = if written { "" } else { "; nothing was written" };
        let mut about = vec![what, base];
        about.retain(|part| !part.is_empty());
        let end = if about.is_empty() { "" } else { "; " };
        let about = about.join(", ");
        output.notice_of_file(format_args!(
            "{name}: {about}{end}{}{unwritten}",
            links_in_words(tally)
        ));
        let advice = self.hints.url().unwrap_or("give one with --url");
        match (
            tally.of_result(LinkResult::NoBase),
            self.has_changes() || tally.of_result(LinkResult::Local) > 0,
        ) {
            (0, _) => {}
            (_, false) => output.notice_of_file(format_args!(
                "{name}: no base URL: nothing was rewritten; {advice}"
            )),
            (number, _) => output.notice_of_file(format_args!(
                "{name}: no base URL for {number} of the links; {advice}"
            )),
        }
        output.notice_in(path, self.hints.without_scheme, LACKING, ONLY_SCHEME);
    }

    /// Reports links to files that a browser saved with the page and that were not copied with it.
    pub fn report_local_copies(&self, path: &Path, output: &mut Output) {
        let lead = ["link leads", "links lead"];
        output.notice_in(path, self.local_copies(), lead, NOT_WRITTEN);
    }

    /// Reports rewritten references of a message that are only a fragment, and the option that keeps them.
    pub fn report_fragments(&self, path: &Path, output: &mut Output) {
        output.notice_in(
            path,
            self.tally[Counted::Fragment],
            [
                "rewritten link is only a fragment and now leads",
                "rewritten links are only fragments and now lead",
            ],
            "out of the message; --fragments auto keeps such links inside",
        );
    }
}

/// The summary of the run.
#[derive(Default)]
pub struct RunSummary {
    pub tally: Tally,
    formats: BTreeMap<&'static str, Tally>,
    /// The paths of files that a browser saved with a page and that have links without a base.
    copies_without_base: Vec<Vec<u8>>,
    hints: BaseHints,
    missing: MissingTargets,
    /// The paths of files that may name old URLs.
    naming_old_urls: Vec<Vec<u8>>,
    /// The paths of pages with hashes of files that changed.
    with_outdated_integrity: Vec<Vec<u8>>,
    /// The paths of scripts that have paths from the old root.
    with_root_paths: Vec<Vec<u8>>,
}

/// Adds the numbers of links in `more`.
fn merge_missing(all: &mut MissingTargets, mut more: MissingTargets) {
    if all.len() < more.len() {
        mem::swap(all, &mut more);
    }
    for (target, links) in more {
        all.entry(target).or_default().merge(&links);
    }
}

impl RunSummary {
    /// Adds a file with this format, or one that counts as something else unless it changes.
    pub fn add(&mut self, kind: Result<Format, Counted>, mut summary: FileSummary, is_copy: bool) {
        let is_baseless = summary.lacks_base() && !is_copy;
        let has_changes = summary.has_changes();
        let what = kind.err().filter(|_| !has_changes);
        summary.tally.add(what.unwrap_or(Counted::File), 1_usize);
        summary.tally.add(Counted::Rewritten, has_changes);
        summary.tally.add(Counted::WithoutBase, is_baseless);
        if let Ok(format) = kind {
            let of_format = self.formats.entry(format.name()).or_default();
            of_format.merge(&summary.tally);
        }
        self.tally.merge(&summary.tally);
        self.hints.merge(summary.hints);
        merge_missing(&mut self.missing, summary.missing);
    }

    /// Adds a file to the lists of files with traces of the old place of the tree, and of local copies that lack a base.
    pub fn list(&mut self, entry: &TreeEntry, tally: &Tally, lacks_base: bool) {
        let path = entry.below_root().into_os_string().into_encoded_bytes();
        if lacks_base {
            self.copies_without_base.push(path.clone());
        }
        if tally[Counted::NamingOldUrls] > 0 {
            self.naming_old_urls.push(path.clone());
        }
        if tally[Counted::OutdatedIntegrity] > 0 {
            self.with_outdated_integrity.push(path.clone());
        }
        if tally[Counted::RootPaths] > 0 {
            self.with_root_paths.push(path);
        }
    }

    /// The number of files that are not documents, and were copied as they are.
    fn copied(&self) -> usize {
        self.tally.sum(|what| matches!(what, Counted::Copied(_)))
    }

    /// The number of files done.
    pub fn files(&self) -> usize {
        self.tally[Counted::File] + self.copied()
    }

    /// Reports the files by result, and the links by format. Returns an error status if there are files but
    /// no documents.
    pub fn report(&self, kind: &RewriteKind, are_written: bool, output: &mut Output) -> ExitStatus {
        let [done, to_do, unchanged] = match kind {
            RewriteKind::Absolute => ["rewritten", "to rewrite", "with nothing to rewrite"],
            _ => ["changed", "to change", "with nothing to change"],
        };
        let changed = if are_written { done } else { to_do };
        let others = match kind {
            RewriteKind::Moved(_, Some(_)) => "renamed",
            _ => "copied",
        };
        let changed_files = self.tally[Counted::Rewritten];
        let unchanged_files = self.tally[Counted::File] - changed_files;
        let skipped = |why| self.tally[Counted::Skipped(why)];
        let numbers = [
            (changed_files, [changed; 2]),
            (unchanged_files, [unchanged; 2]),
            (self.copied(), [others; 2]),
            (
                skipped(SkipReason::NonDocument),
                ["not a document", "not documents"],
            ),
            (
                skipped(SkipReason::Archive),
                ["archive skipped", "archives skipped"],
            ),
            (
                skipped(SkipReason::Backup),
                ["backup skipped", "backups skipped"],
            ),
            (
                skipped(SkipReason::Delivery),
                ["delivery skipped", "deliveries skipped"],
            ),
            (skipped(SkipReason::Unusable), ["could not be used"; 2]),
        ];
        let files = numbers.iter().map(|(number, _)| number).sum();
        let files = count(files, "file", "files");
        match in_words(numbers) {
            None => output.notice("no files found"),
            Some(parts) => output.notice(format_args!("{files}: {parts}")),
        }
        let status = if is_stopped() {
            ExitStatus::Done
        } else {
            report_only_others(&self.tally, self.tally[Counted::File], output)
        };
        let formats = self.formats.iter().map(|(name, tally)| {
            let files = count(tally[Counted::File], "file", "files");
            (name, files, links_in_words(tally))
        });
        let formats: Vec<_> = formats.collect();
        let names = formats.iter().map(|(name, ..)| name.len()).max();
        let numbers = formats.iter().map(|(_, files, _)| files.len()).max();
        let (names, numbers) = (names.unwrap_or_default(), numbers.unwrap_or_default());
        for (name, files, links) in formats {
            output.notice(format_args!("  {name:names$}  {files:>numbers$}, {links}"));
        }
        report_unread(&self.tally, output);
        let what = "relative links and no base URL; give one with --url, --url-map or --layout";
        // A URL would make a library a site.
        if !kind.renamed().is_some_and(|files| files.has_captures) {
            let files = self.tally[Counted::WithoutBase];
            output.notice_of(files, ["file has", "files have"], what);
        }
        output.notice_of_files(
            &self.copies_without_base,
            [
                "file that a browser saved with a page has",
                "files that browsers saved with pages have",
            ],
            "relative links and no base URL, which only --url-map can give",
        );
        output.notice_of(
            self.tally[Counted::WithoutCopies],
            ["file leads", "files lead"],
            NOT_WRITTEN,
        );
        self.hints.report(output);
        let [before, lists] = if matches!(kind, RewriteKind::Moved(..)) {
            [", as before the move", ""]
        } else {
            ["", ", --missing - lists all"]
        };
        self.report_missing([before, lists], output);
        self.report_adaptations("", output);
        self.report_refused(output);
        output.notice_of_files(
            &self.with_outdated_integrity,
            ["page has", "pages have"],
            "an integrity of a changed style sheet or script, which browsers will refuse; --adapt removes it",
        );
        self.report_leftovers(output);
        if !are_written {
            output.notice("nothing was written");
        }
        status
    }

    /// The URLs of the tree that have no file and that `takes` accepts, in order, each with the recorded URL or the name of a document
    /// that links to it.
    pub fn missing_urls(&self, takes: impl Fn(&str, &LinksToMissing) -> bool) -> Vec<[String; 2]> {
        let urls = self.missing.iter().filter(|(url, links)| takes(url, links));
        let mut urls: Vec<_> = urls
            .map(|(url, links)| {
                [
                    url_for_list(url),
                    links.place.as_deref().unwrap_or_default().into(),
                ]
            })
            .collect();
        urls.sort_unstable();
        urls
    }

    /// Reports what `--verify` proved.
    pub fn report_verified(&self, output: &mut Output) {
        let documents = self.tally[Counted::Verified];
        if documents > 0 {
            let edits = count(self.tally[Counted::VerifiedEdit], "edit", "edits");
            let documents = count(documents, "document", "documents");
            output.notice(format_args!(
                "verified: {edits} in {documents}, nothing else changed"
            ));
        }
    }

    /// Reports the number of images, style sheets and the like that pages of archives load and the archives lack.
    pub fn report_embedded(&self, output: &mut Output) {
        let embedded = self.missing.values().filter(|links| links.is_embedded);
        let are = ["embedded resource is", "embedded resources are"];
        output.notice_of(embedded.count(), are, "missing; baselink check lists them");
    }

    /// Reports the files with traces of the old place of the tree.
    fn report_leftovers(&self, output: &mut Output) {
        output.notice_of(
            self.tally[Counted::ReplacedUrl],
            ["old URL outside links was", "old URLs outside links were"],
            "replaced",
        );
        // Files of servers come first, because they are easily forgotten, and pages last, because many only mention a URL.
        let first = [&b"robots.txt"[..], b"CNAME", b".htaccess"];
        let mut naming = self.naming_old_urls.clone();
        naming.sort_by_key(|path| !first.contains(&split_name(path).1));
        let is_page =
            |path: &Vec<u8>| Format::detect(Some(&String::from_utf8_lossy(path)), b"").is_page();
        let (pages, others): (Vec<_>, Vec<_>) = naming.into_iter().partition(is_page);
        let what = if output.is_verbose() {
            "may still name old URLs"
        } else {
            "may still name old URLs (-v lists the URLs)"
        };
        output.notice_of_files(&others, ["file", "files"], what);
        output.notice_of_files(&pages, ["page", "pages"], what);
        output.notice_of_files(
            &self.with_root_paths,
            ["script has", "scripts have"],
            "paths from the old root and may break",
        );
        let built = |[name, ..]: &Generator| self.tally[Counted::Built(name)];
        let generator = GENERATORS.into_iter().max_by_key(built);
        if let Some([name, _, setting]) = generator.filter(|one| built(one) > 0)
            && !self.with_root_paths.is_empty()
        {
            output.notice(format_args!(
                "{name} builds a site for another path with {setting}"
            ));
        }
    }

    /// Reports the adaptations, and then `hint`.
    pub fn report_adaptations(&self, hint: &str, output: &mut Output) {
        if let Some(adapted) = adapted_text(&self.tally) {
            output.notice(format_args!("adapted: {adapted}{hint}"));
        }
    }

    /// Reports resources that browsers refuse to load from disk.
    pub fn report_refused(&self, output: &mut Output) {
        let numbers = REFUSED.map(|(what, words)| (self.tally[what], words));
        if let Some(parts) = in_words(numbers) {
            let removable = self.tally[Counted::RefusedIntegrity];
            let hint = if removable > 0 {
                "; --adapt removes integrity and crossorigin"
            } else {
                ""
            };
            output.notice(format_args!(
                "browsers load only from a server, not from disk: {parts}{hint}"
            ));
        }
    }

    fn report_missing(&self, [before, lists]: [&str; 2], output: &mut Output) {
        /// The largest number of URLs that are named.
        const NAMED: usize = 10;
        if self.missing.is_empty() {
            return;
        }
        let urls = count(
            self.missing.len(),
            "URL of the folder has",
            "URLs of the folder have",
        );
        let links = self.missing.values().map(|links| links.number).sum();
        let links = count(links, "link leads", "links lead");
        let hint = if output.is_verbose() {
            String::new()
        } else {
            format!("; -v shows them{lists}")
        };
        output.notice(format_args!(
            "{urls} no file, and {links} there{before}{hint}"
        ));
        if !output.is_verbose() {
            return;
        }
        let numbers = self.missing.iter().map(|(url, links)| (url, links.number));
        let mut urls: Vec<_> = numbers.collect();
        urls.sort_by_key(|&(url, number)| (Reverse(number), url));
        for (url, number) in urls.iter().take(NAMED) {
            let url = without_assumed_hosts(url);
            output.notice(format_args!("  {number:>4}  {url}"));
        }
        if urls.len() > NAMED {
            output.notice(format_args!("  and {} more", urls.len() - NAMED));
        }
    }
}

/// The adaptations in words.
pub fn adapted_text(tally: &Tally) -> Option<String> {
    let words = |kind| match kind {
        Adaptation::Charset => ["charset declared", "charsets declared"],
        Adaptation::Integrity => ["integrity or crossorigin removed"; 2],
        Adaptation::Policy => ["security policy disabled", "security policies disabled"],
        Adaptation::Shadow => [
            "attribute of a shadow root renamed",
            "attributes of shadow roots renamed",
        ],
        Adaptation::Descriptor => [
            "descriptor of an image changed",
            "descriptors of images changed",
        ],
        Adaptation::Quiet => [
            "change against scripts and the network",
            "changes against scripts and the network",
        ],
    };
    in_words(Adaptation::ALL.map(|kind| (tally[Counted::Adapted(kind)], words(kind))))
}

/// Numbers with their nouns, in singular and plural; `None` if all are zero.
fn in_words<'w>(numbers: impl IntoIterator<Item = (usize, [&'w str; 2])>) -> Option<String> {
    let numbers = numbers.into_iter().filter(|(number, _)| *number > 0);
    let texts: Vec<_> = numbers
        .map(|(number, [one, more])| count(number, one, more))
        .collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}
