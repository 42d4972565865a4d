//! The judge of links. It determines the rule for each link in a document of a folder or of an archive.
//!
//! ```text
//! link, current target, target after the move  -->  Finding { rule: ClimbsOut, … }
//! ```
//!
//! Of [alternatives](crate::purpose::alternatives), only one must be available. Missing ones are then served.
//!
//! Deliberately absent: computing the bases after the move, which is in [`super::bases`]; and the rules for links to what an
//! archive lacks, which are in [`super::captured`].

use std::cell::OnceCell;

use baselink_rewrite::{
    BaseChain, LinkLines, LinkReport, LinkSink, Options, Outcome, PlainLink, Reason, Source,
    SourceKind, Within, base,
};
use baselink_scan::{Program, Role};
use baselink_text::{Charset, format::starts_with};
use baselink_url::{Base, Category, Resolver, is_of_own_network, is_template, scheme_of};

use super::{
    bases::{MovedBase, MovedBases, MovedCollection, declares_none},
    captured::CapturedUrls,
    finding::{CheckedLink, CheckedSite, Finding, RepeatedLinks},
    ids::{FragmentList, FragmentPlace},
};
use crate::{
    collection::{
        FoundBy, FoundResource, LastPath, Located, PlainPlace, QueryUse, fragment_of, is_disk,
        names_prefix,
        origin::{RootUrl, is_assumed, without_assumed},
        url_below,
    },
    purpose::{
        alternatives::{AlternativeLinks, alternatives},
        custom_property::in_sheet,
        finding_rule::{
            Class,
            FindingRule::{self, *},
        },
        needs,
        relocate::split_host,
        spelling::{category, names_base},
        tally::{Counted, Tally},
        words::Words,
    },
};

/// Judges the links of one document, in order. More than ten fields: facts about the document, and what is known of its links.
pub struct LinkJudge<'a> {
    site: CheckedSite<'a>,
    /// The links that have alternatives; searched for when a link lacks its target.
    alternatives: OnceCell<AlternativeLinks>,
    goal: MovedCollection<'a>,
    /// True if every URL is known to be inside or outside the collection. If false, only the URLs of resources are
    /// known to be inside.
    is_extent_known: bool,
    /// The program that saved the document, if the URL of the document comes from its comment.
    saved_by: Option<Program>,
    /// True if a program may have changed references so that they lead to files. The report then contains the targets
    /// of the original references, so the judge resolves the changed references itself.
    is_crawled: bool,
    /// The number of the document in the collection.
    number: Option<usize>,
    bases: MovedBases<'a>,
    lines: LinkLines<'a>,
    /// The encoding of the document; UTF-8 for a message.
    charset: Charset,
    /// The length of the URL of the root, if the move changes only this part of the URL of the document.
    plain_root: Option<usize>,
    /// The path of the last link that was judged by its bytes, and its file.
    last_path: LastPath,
    /// The fragments of the links so far, if ids are not known.
    fragments: FragmentList,
    /// The numbers of links to files of the folder that contain the path of the root, and of those that depend on the URL of the
    /// document.
    forms: [usize; 2],
    /// The numbers of links that need no report, by rule; `None` for rules by which all links need one.
    counted: [Option<usize>; FindingRule::ALL.len()],
    /// The URLs to which the links of a document in an archive lead.
    captured: CapturedUrls,
    found: &'a mut dyn FnMut(CheckedLink),
}

impl LinkSink for LinkJudge<'_> {
    fn plain(&mut self, link: &PlainLink<'_>, (chain, _): Within<'_>) -> bool {
        let rule = self.plain_rule(link, chain);
        let counted = rule.and_then(|rule| self.counted[rule as usize].as_mut());
        let is_counted = counted.map(|links| *links += 1).is_some();
        if is_counted && rule == Some(Works) {
            self.note_form(link.reference, chain.source, false);
        }
        is_counted
    }

    fn link(&mut self, link: LinkReport, within: Within<'_>, outermost: Charset) {
        let options = self.bases.options;
        if link.entity == options.scan.entity && !options.format.has_headings() {
            self.charset = within.1;
        }
        let finding = self.judge(&link, within);
        let leads_to_file = (Class::Fragment..=Class::Works).contains(&finding.class());
        if leads_to_file || finding.rule.is_movable() {
            let is_absolute = link.outcome == Outcome::Absolute;
            self.note_form(&link.reference, link.source, is_absolute);
        }
        (self.found)(CheckedLink {
            listed: self.lines.listed(link, outermost),
            charset: self.charset,
            finding,
        });
    }
}

/// True if a link with these bytes may lead to the machine or network of its author, or load over `http`.
fn may_be_unfit(link: &PlainLink<'_>) -> bool {
    let is_of = |scheme| starts_with(link.reference.as_bytes(), scheme);
    let is_doubtful = || link.role == Role::Embedded || is_of_own_network(link.reference);
    is_of("file:") || (is_of("http:") && is_doubtful())
}

impl<'a> LinkJudge<'a> {
    /// The judge for the resource called `name`, or a message in it, which passes links to `found`. Without a move, the URL of the
    /// root is that of the collection, or one that cannot exist if files have URLs of their own.
    pub fn new(
        name: &[u8],
        (bytes, options): (&'a [u8], &'a Options),
        site: CheckedSite<'a>,
        found: &'a mut dyn FnMut(CheckedLink),
    ) -> Self {
        let collection = site.collection;
        let source = options.retrieval.as_ref().map(|retrieval| retrieval.source);
        let own_chain = (source == Some(Source::SavedFrom) && !collection.is_of_hosts())
            .then(|| base(bytes, options))
            .flatten();
        let saved_by = own_chain.as_ref().and_then(|chain| {
            let of_comment = chain.saved.as_ref().map(|saved| saved.program);
            of_comment.or(chain.was_saved_with_files.then_some(Program::Browser))
        });
        let beside = options.beside.as_ref();
        let place = site.to.or(collection.root_url());
        let place = place.cloned().unwrap_or_else(RootUrl::nowhere);
        let own = url_below(&place, name);
        let bases = MovedBases::new(bytes, options, own.as_deref());
        let is_crawled = own_chain.is_some_and(|chain| chain.saved.is_some())
            || beside.is_some_and(|files| files.is_crawled());
        let keeps_paths = collection.has_only_paths() && !is_disk(&place);
        let keeps_plain = keeps_paths && !is_crawled && !options.format.has_headings();
        let keeps_path = |root: &&str| {
            let now = bases.now.as_deref().and_then(|now| now.strip_prefix(*root));
            let moved = bases.moved.as_deref();
            now.is_some() && now == moved.and_then(|moved| moved.strip_prefix(place.as_str()))
        };
        let plain_root = collection.folder_url().filter(|_| keeps_plain);
        let plain_root = plain_root.filter(keeps_path).map(str::len);
        let needs_no_report = |rule| match rule {
            _ if collection.only_urls => true,
            Works | Outside => !(site.is_reported)(rule.class()),
            _ => false,
        };
        Self {
            site,
            alternatives: OnceCell::new(),
            is_extent_known: matches!(source, None | Some(Source::Retrieval | Source::Layout)),
            saved_by,
            is_crawled,
            number: collection.number_at(name.strip_prefix(&*collection.folder).unwrap_or(name)),
            bases,
            lines: LinkLines::of(bytes),
            goal: MovedCollection {
                collection,
                keeps_paths,
                place,
            },
            charset: Charset::UTF_8,
            plain_root,
            last_path: LastPath::default(),
            fragments: FragmentList::default(),
            forms: [0; 2],
            counted: FindingRule::ALL.map(|rule| needs_no_report(rule).then_some(0)),
            captured: CapturedUrls::default(),
            found,
        }
    }

    /// The numbers of links that were only counted, by rule and by URL, and the fragments of links, if ids are not known.
    pub fn end(self) -> (Tally, Vec<RepeatedLinks>, FragmentList) {
        let mut tally = Tally::default();
        for (rule, links) in FindingRule::ALL.into_iter().zip(self.counted) {
            tally.add(Counted::Checked(rule), links.unwrap_or(0));
        }
        tally.add(Counted::Prefixed, self.forms[0]);
        tally.add(Counted::Varying, self.forms[1]);
        (tally, self.captured.repeated(self.site), self.fragments)
    }

    /// Counts a link to a file of the folder by its form.
    fn note_form(&mut self, reference: &str, source: Source, is_absolute: bool) {
        match reference.as_bytes() {
            [] | [b'#', ..] => {}
            [first, ..] if *first == b'/' || is_absolute => self.forms[0] += 1,
            _ => self.forms[1] += usize::from(source.kind() == SourceKind::Retrieval),
        }
    }

    /// The finding for `link`, without assumed URLs.
    fn judge(&mut self, link: &LinkReport, within: (&BaseChain, Charset)) -> Finding {
        // The targets would take many times as much memory as the document.
        if link.reason == Some(Reason::Growth) {
            return Finding::left(link.reason);
        }
        let base = self.bases.of(link, within, &self.goal);
        let base = base.as_deref();
        let is_crawled = self.is_crawled || within.0.saved.is_some();
        let finding = self.with_assumed_urls(link, base, is_crawled);
        let place = finding
            .fragment
            .as_ref()
            .map(|(number, fragment)| self.place(*number, fragment));
        let finding = Finding {
            target: finding.target.map(without_assumed),
            moved: finding.moved.map(without_assumed),
            differs: link.differs,
            ..finding
        };
        finding.with_fragment(place.unwrap_or(FragmentPlace::There))
    }

    /// The rule for a link of the document itself, if its bytes show that it needs no report: it works, it leads to
    /// another host, or it is one of many to a page that the archive lacks.
    fn plain_rule(&mut self, link: &PlainLink<'_>, chain: &BaseChain) -> Option<FindingRule> {
        let collection = self.goal.collection;
        // Browsers may have no target for it.
        if link.target.differs || self.site.ignored.is_some() {
            return None;
        }
        if collection.only_urls {
            // An embedded resource may be an alternative.
            if link.role != Role::Navigation {
                return None;
            }
            return self.captured.unreported(self.site, &link.url());
        }
        let has_own_base =
            chain.base == self.bases.now && declares_none(chain) && chain.saved.is_none();
        let root = self.plain_root.filter(|_| has_own_base)?;
        match collection.plain_place(root, link, &mut self.last_path)? {
            PlainPlace::Outside => (!may_be_unfit(link)).then_some(Outside),
            PlainPlace::File(number, fragment) => {
                self.note_use(number);
                let is_there =
                    fragment.is_empty() || self.place(number, fragment) == FragmentPlace::There;
                is_there.then_some(Works)
            }
        }
    }

    /// The target of `fragment` in the document with this number.
    fn place(&mut self, number: usize, fragment: &str) -> FragmentPlace {
        let Some(ids) = self.site.ids else {
            self.fragments.push((number, fragment.into()));
            return FragmentPlace::There;
        };
        let ids = ids.get(&number);
        ids.map_or(FragmentPlace::There, |ids| ids.place(fragment))
    }

    /// The finding for `link`, with assumed URLs: about the site where it stands, or else about the move.
    fn with_assumed_urls(
        &mut self,
        link: &LinkReport,
        base: Option<&MovedBase>,
        is_crawled: bool,
    ) -> Finding {
        let target = match self.target(link, base, is_crawled) {
            Ok(target) => target,
            Err(finding) => return finding,
        };
        let collection = self.goal.collection;
        let located = (!collection.only_urls).then(|| collection.locate_link(link, &target, None));
        if let Some(found) = located.as_ref().and_then(|(now, _)| now.resource()) {
            self.note_use(found.number);
        }
        let ignored = self.site.ignored;
        if ignored.is_some_and(|urls| urls.contains(&target, collection)) {
            return Finding {
                target: Some(target),
                ..Finding::of(Ignored)
            };
        }
        // A URL of a library can have been captured as an error.
        let of_files = located.filter(|(now, _)| !matches!(now, Located::Failed(_)));
        let Some((now, end)) = of_files else {
            return Finding {
                rule: self.in_archive(link, &target),
                target: Some(target),
                ..Finding::default()
            };
        };
        if let Some(rule) = self.unfit(link, &target) {
            return Finding {
                target: Some(target),
                ..Finding::of(rule)
            };
        }
        let fragment = fragment_of(end.as_ref().unwrap_or(&target));
        let through_layout = |base: &MovedBase| base.now.leads_through_layout(&link.reference);
        // Relative links of a saved page lead to files beside it, even if their URLs are unknown.
        let is_of_files = base.is_some_and(through_layout)
            || (self.saved_by.is_some() && link.outcome != Outcome::Absolute);
        let standing = self.standing(link, (&target, &now), fragment);
        // The target cannot be used where the site stands.
        let is_broken = matches!(
            standing.class(),
            Class::Left | Class::Escapes | Class::Invalid | Class::Dangling | Class::Missing
        );
        let is_settled = !is_of_files && is_broken;
        let moves = self.site.to.is_some();
        let finding = if is_settled || !(moves || is_of_files) {
            standing
        } else {
            self.after_move(link, base, (&target, &now), standing)
        };
        // The scheme of an assumed base is not shown.
        let is_assumed = base.is_some_and(|base| is_assumed(base.now.as_str()));
        let is_net_path = category(&link.reference) == Category::NetPath && is_assumed;
        let target = if is_net_path {
            link.reference.clone()
        } else {
            target
        };
        Finding {
            target: Some(target),
            moved: finding.moved.filter(|_| moves),
            ..finding
        }
    }

    /// Notes that the document leads to another resource.
    fn note_use(&self, number: usize) {
        if self.number != Some(number) {
            self.goal.collection.note_use(number, true, false);
        }
    }

    /// The rule for a link with the absolute URL `target`, if readers of the site cannot follow it or load from it.
    fn unfit(&self, link: &LinkReport, target: &str) -> Option<FindingRule> {
        let root = self
            .goal
            .collection
            .root_url()
            .filter(|root| !is_disk(root))?;
        let is_embedded = link.role == Role::Embedded;
        if link.outcome != Outcome::Absolute || link.role == Role::Metadata {
            return None;
        }
        match scheme_of(target)?.to_ascii_lowercase().as_str() {
            "file" => Some(OwnMachine),
            "http" if is_assumed(root.as_str()) || is_of_own_network(root.as_str()) => None,
            "http" if is_of_own_network(target) && is_embedded => Some(OwnMachine),
            "http" if is_of_own_network(target) => Some(OwnNetwork),
            "http" if is_embedded && scheme_of(root.as_str()) == Some("https") => Some(Insecure),
            _ => None,
        }
    }

    /// The rule for a link of a document in an archive to `target`.
    fn in_archive(&mut self, link: &LinkReport, target: &str) -> FindingRule {
        let collection = self.goal.collection;
        let labelled = collection.labelled(self.number, target);
        if labelled.is_some() || in_sheet(link, collection).is_some() {
            return Works;
        }
        // A prefix of URLs has no capture.
        if names_prefix(link) {
            return Outside;
        }
        match self.captured.rule(self.site, link.role, target) {
            rule if rule.class() == Class::Missing && self.is_served(link) => Served,
            rule => rule,
        }
    }

    /// The path from the root of the host that leads to a file, if `target` is that path without the path of the root.
    fn with_path_of_root(&self, target: &str) -> Option<String> {
        let root = self.goal.collection.root_url()?;
        let url = self
            .site
            .host?
            .rerooted(target, root)
            .filter(|url| url != root.as_str())?;
        let is_file = served(&self.goal.collection.locate(&url)).is_some();
        is_file.then(|| split_host(&url).1.to_owned())
    }

    /// The finding for a link to `target`, at the place `now`, in the site where it stands. `fragment` is that of the end of
    /// redirects.
    fn standing(
        &self,
        link: &LinkReport,
        (target, now): (&str, &Located),
        fragment: Option<&str>,
    ) -> Finding {
        let collection = self.goal.collection;
        let is_message = self.bases.options.format.has_headings();
        let is_needed = needs(collection, link, target, is_message);
        if is_needed && served(now).is_none() && self.is_served(link) {
            return Finding::of(Served);
        }
        if !now.is_inside() {
            let hint = self.with_path_of_root(target);
            let rule = match hint {
                Some(_) => NoPrefix,
                None if is_needed => NotCaptured,
                None => Outside,
            };
            return Finding {
                hint,
                ..Finding::of(rule)
            };
        }
        // A prefix of URLs, and a reference that only serves as a base, need not lead to a file.
        if names_base(link) || (names_prefix(link) && matches!(now, Located::Folder(_))) {
            return Finding::of(Works);
        }
        // A server does not look for the query in the names of files.
        let selects = |found: &FoundResource| found.query == QueryUse::Selects;
        let is_by_name =
            collection.has_only_paths() && now.resource().as_ref().is_some_and(selects);
        let here = || Some(collection.locate_below(collection.root_url()?, target));
        if is_by_name && here().is_some_and(|here| served(&here) != served(now)) {
            return Finding::of(Elsewhere);
        }
        let Some((rule, file)) = served(now) else {
            return if is_template(&link.reference) {
                Finding::left(Some(Reason::Placeholder))
            } else {
                self.dangling(now)
            };
        };
        Finding {
            hint: collection.missing(now).and_then(|one| one.hint),
            fragment: file.zip(fragment.map(str::to_owned)),
            ..Finding::of(rule)
        }
    }

    /// The finding for a link to a place without a file.
    fn dangling(&self, place: &Located) -> Finding {
        let missing = self.goal.collection.missing(place).map(Finding::missing);
        missing.unwrap_or_else(|| Finding::of(Elsewhere))
    }

    /// The finding about the move for a link to `target`, at the place `now`, with its target after the move. `standing` is
    /// the finding before.
    fn after_move(
        &self,
        link: &LinkReport,
        base: Option<&MovedBase>,
        (target, now): (&str, &Located),
        standing: Finding,
    ) -> Finding {
        let category = category(&link.reference);
        let is_absolute = link.outcome == Outcome::Absolute;
        let moves = self.site.to.is_some();
        // A link that contains a host still leads to its target if the target keeps its URL.
        let holds = moves
            && (is_absolute || category == Category::NetPath)
            && self.goal.is_new_url(target, target) == Some(true);
        let moved = if is_absolute {
            holds.then(|| target.to_owned())
        } else {
            base.and_then(|base| base.moved.as_ref()?.resolve(&link.reference).ok())
                .map(|moved| moved.url)
        };
        let own = |url: &str| scheme_of(url).map(str::to_ascii_lowercase);
        let keeps_scheme = |moved: &String| own(moved) == own(target);
        let stays_with_base = base.is_some_and(|base| base.stays);
        let pinned_by = match category {
            _ if is_absolute && (!holds || stays_with_base) => Some(Absolute),
            _ if stays_with_base => Some(PinnedBase),
            // A link that contains a host but no scheme leads to the old URL unless the scheme changes.
            Category::NetPath if moves && !holds && moved.as_ref().is_none_or(keeps_scheme) => {
                Some(NetPath)
            }
            _ => None,
        };
        if let Some(rule) = pinned_by {
            let found = match now.is_inside() && moves {
                false => standing,
                // `move --relative=disk` keeps these links, too.
                true if is_disk(&self.goal.place) && self.bases.kept_forms().contains(link) => {
                    standing
                }
                true if self.bases.kept_forms().is_canonical(link) => Finding::of(Canonical),
                true => Finding::of(rule),
            };
            return Finding {
                moved: Some(target.to_owned()),
                ..found
            };
        }
        let Some(moved) = moved else {
            return Finding::left(Some(Reason::Unresolvable));
        };
        let then = self.after(link, base, (target, now, &moved));
        let found = match category {
            _ if then.is_inside() => self.moving(link, (target, now, &then), standing),
            Category::NetPath => Finding::of(SchemeChange),
            Category::AbsPath => Finding::of(RootRelative),
            _ if base.is_some_and(|base| base.escapes) => Finding::of(EscapingBase),
            _ => Finding::of(ClimbsOut),
        };
        Finding {
            moved: Some(moved),
            ..found
        }
    }

    /// The target of `link` now; the finding for a link that has none.
    fn target(
        &self,
        link: &LinkReport,
        base: Option<&MovedBase>,
        is_crawled: bool,
    ) -> Result<String, Finding> {
        let is_unresolvable = match (link.outcome, link.reason) {
            (Outcome::NoBase, _) => false,
            (Outcome::Left, reason) => reason == Some(Reason::Unresolvable),
            _ => link.differs,
        };
        // An absolute URL needs no base.
        let url = link.base.as_deref().unwrap_or("about:blank");
        // No browser can open a link to which the URL Standard gives no target. A template is not a link.
        if is_unresolvable
            && !is_template(&link.reference)
            && Base::new(Resolver::Whatwg, url)
                .resolve(&link.reference)
                .is_err()
        {
            let is_shown = |_: &String| self.goal.collection.only_urls;
            return Err(Finding {
                target: link.target.clone().filter(is_shown),
                ..Finding::of(Invalid)
            });
        }
        match (link.outcome, link.reason) {
            (Outcome::Absolute, _) => return Ok(link.target.clone().unwrap_or_default()),
            (Outcome::Left, Some(Reason::LocalCopy)) => return Err(self.local_copy(link)),
            (Outcome::Left, Some(Reason::CustomProperty))
            | (Outcome::Rewritten | Outcome::NotEditable, _) => {}
            (Outcome::NoBase | Outcome::Left, reason) => return Err(self.left(link, reason)),
        }
        let resolved = || Some(base?.now.resolve(&link.reference).ok()?.url);
        let is_known = (!is_crawled && link.custom_property.is_none()) || base.is_none();
        let known = link.target.clone().filter(|_| is_known);
        let target = known.or_else(resolved);
        target.ok_or_else(|| self.left(link, Some(Reason::Unresolvable)))
    }

    /// The finding for a link without a target. The reference of a `use` must name an id of the document. Others may denote an
    /// element without an id.
    fn left(&self, link: &LinkReport, reason: Option<Reason>) -> Finding {
        let is_use = link.reason == Some(Reason::IdReference) && link.element == "use";
        let number = self.number.filter(|_| is_use && link.entity.is_empty());
        Finding {
            fragment: number.zip(fragment_of(&link.reference).map(str::to_owned)),
            ..Finding::left(reason)
        }
    }

    /// True if an alternative of `link` has a file.
    fn is_served(&self, link: &LinkReport) -> bool {
        let collection = self.goal.collection;
        let is_there = |other: &LinkReport| match &other.target {
            Some(target) => served(&collection.locate_link(other, target, None).0)
                .is_some_and(|(_, file)| !file.is_some_and(|file| collection.is_cut(file))),
            None => self.local_copy(other).rule == Works,
        };
        let other = |other: &LinkReport| is_there(other).then(String::new);
        let (bytes, options) = (self.bases.bytes, self.bases.options);
        let alternatives = self
            .alternatives
            .get_or_init(|| alternatives(Words::of_links(bytes), options));
        let group = alternatives.get(&link.span.start);
        group.is_some_and(|group| group.stand_in(other).is_some())
    }

    /// The finding for a link to a file that a browser saved with this one.
    fn local_copy(&self, link: &LinkReport) -> Finding {
        if self.goal.collection.only_urls {
            return Finding::left(link.reason);
        }
        let url = self.bases.moved.as_deref().and_then(|own| {
            let base = Base::new(Resolver::Rfc3986, own);
            base.resolve(&link.reference).ok()
        });
        let copy = url.map(|url| self.goal.locate(&url.url));
        match copy.as_ref().and_then(served) {
            Some(_) => Finding::of(Works),
            None => Finding::of(LocalCopy),
        }
    }

    /// The place to which a link leads after the move. Before the move, it leads to `target`, at the place `now`; after
    /// the move, to `moved`. The result is outside the tree in two cases:
    ///
    /// - the target was outside, and the extent of the tree is known;
    /// - the target moves to a path other than that of `moved`. This case does not apply if both paths lead to one file,
    ///   or if the path of the document differs from the path of its URL.
    fn after(
        &self,
        link: &LinkReport,
        base: Option<&MovedBase>,
        (target, now, moved): (&str, &Located, &str),
    ) -> Located {
        // The link leads through a folder named after a host. If that folder does not exist, the target is missing in the
        // tree.
        if base.is_some_and(|base| base.now.leads_through_layout(&link.reference)) {
            return self.goal.locate(moved);
        }
        // After the move, a relative link is resolved against the path of the file, even if the path of its URL differs.
        let is_renamed = base.is_some_and(|base| base.is_renamed)
            && category(&link.reference) != Category::AbsPath;
        if self.is_extent_known && !now.is_inside() {
            return Located::OUTSIDE;
        }
        // The move may end such a way to a file.
        let is_fragile = |found: FoundResource| {
            let is_ruled = matches!(found.by, FoundBy::HostRule | FoundBy::Rewrite);
            is_ruled || found.query == QueryUse::Selects
        };
        let may_fail = now.resource().is_some_and(is_fragile);
        let keeps_path = self.goal.keeps_paths && !may_fail;
        let is_new_url = self.goal.is_new_url(target, moved);
        if keeps_path && is_new_url == Some(true) {
            return now.clone();
        }
        let then = self.goal.locate(moved);
        // One file can have several URLs.
        let is_one_file = served(now).is_some() && served(now) == served(&then);
        if is_new_url == Some(false) && !is_one_file && !is_renamed {
            Located::OUTSIDE
        } else {
            then
        }
    }

    /// The finding for a link that moves with its file. Before the move it leads to `target`, at the place `now`; after the
    /// move, to the place `then`, which is inside the tree.
    fn moving(
        &self,
        link: &LinkReport,
        (target, now, then): (&str, &Located, &Located),
        standing: Finding,
    ) -> Finding {
        let is_there = now.is_inside();
        match (served(now), served(then)) {
            (_, None) if self.saved_by == Some(Program::Browser) && !is_there => {
                match standing.rule {
                    NotCaptured => standing,
                    _ => Finding::of(NotSaved),
                }
            }
            _ if names_base(link) => Finding::of(Works),
            (None, _) if is_there => standing,
            (Some((_, now)), Some((rule, file))) if now == file => Finding {
                // A file with a URL of its own may have an extension that the URL lacks.
                rule: if standing.rule == Works {
                    rule
                } else {
                    standing.rule
                },
                ..standing
            },
            // From disk, a browser finds neither the index file nor the extension.
            (Some(_), None) if is_disk(&self.goal.place) && standing.rule != Works => standing,
            // The program that saved the page made the link lead to a file in the tree. The URL of the file may be
            // unknown, because only pages record their URLs.
            (None, Some((_, file))) if self.saved_by.is_some() => Finding {
                fragment: file.zip(fragment_of(target).map(str::to_owned)),
                ..Finding::of(Works)
            },
            (now, _) => match self.dangling(then) {
                found if now.is_none() || found.rule != Absent => found,
                _ => Finding::of(Elsewhere),
            },
        }
    }
}

/// The file that servers send, by its number, and the rule for a link to it; the number is `None` behind a symbolic link.
/// `None` if there is no file.
fn served(located: &Located) -> Option<(FindingRule, Option<usize>)> {
    match located {
        Located::Resource(found) => {
            let rule = match found.by {
                FoundBy::Url | FoundBy::Index | FoundBy::HostRule | FoundBy::Rewrite => Works,
                FoundBy::NoSlash => NoSlash,
                FoundBy::CleanUrl => CleanUrl,
                FoundBy::CleanFolder | FoundBy::CrawlerName | FoundBy::DeadRule => return None,
            };
            Some((rule, Some(found.number)))
        }
        Located::BehindLink(_) => Some((Works, None)),
        Located::Folder(_)
        | Located::Lacking(..)
        | Located::Failed(_)
        | Located::Outside { .. } => None,
    }
}
