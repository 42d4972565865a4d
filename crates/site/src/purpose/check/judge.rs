//! The judge for a move. It determines the class of each link in a document, and the cause.
//!
//! ```text
//! link, current target, target after the move  -->  Finding { class: Escapes, cause: ClimbsOut, … }
//! ```
//!
//! Deliberately absent: computing the bases after the move, which is in [`super::bases`].

use std::{
    cell::{OnceCell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use baselink_rewrite::{BaseChain, LinkReport, Outcome, PlainLink, Reason};
use baselink_scan::{Program, Role};
use baselink_text::{Charset, Span};
use baselink_url::{Base, Category, Grammar, Reference, Resolver, Splice, is_template};

use super::{
    bases::{MovedBase, MovedBases, MovedCollection, is_base},
    finding::{Cause, Class, Finding, is_invalid},
    ids::{FragmentList, FragmentPlace, Ids},
};
use crate::{
    collection::{
        Absence, FoundBy, FoundResource, LastPath, Located, PlainPlace, QueryUse, is_disk,
        origin::{RootUrl, is_assumed, without_assumed},
        same::with_root,
    },
    purpose::{
        located,
        relocate::{KeptForms, split_host},
        spelling::{is_web, names_prefix},
    },
};

/// Judges the links of one document. More than ten fields: facts about the document, and what is known of its last link.
#[derive(Debug)]
pub struct MoveJudge<'a> {
    pub goal: MovedCollection<'a>,
    /// True if the destination of the document is known.
    pub is_destination_known: bool,
    /// True if every URL is known to be inside or outside the collection. If false, only the URLs of resources are
    /// known to be inside.
    pub is_extent_known: bool,
    /// The program that saved the document, if the URL of the document comes from its comment.
    pub saved_by: Option<Program>,
    /// True if a program may have changed references so that they lead to files. The report then contains the targets
    /// of the original references, so the judge resolves the changed references itself.
    pub is_crawled: bool,
    /// The number of the document in the collection.
    pub number: Option<usize>,
    /// The URL of the document after the move, for links to local copies.
    pub own: Option<String>,
    /// The span of the canonical URL that the document declares.
    pub canonical: OnceCell<Option<Span>>,
    pub kept_forms: OnceCell<KeptForms>,
    pub bases: MovedBases<'a>,
    /// The possible targets of fragments in documents, by their numbers, if they are known.
    pub ids: Option<&'a HashMap<usize, Ids>>,
    /// The root of the host, if links of the site have the path of the root of the site.
    pub host: Option<&'a RootUrl>,
    /// The fragments of the links so far, if ids are not known.
    pub fragments: RefCell<FragmentList>,
    /// The base of the document itself, once a link with a report has it.
    pub document_base: OnceCell<Option<Rc<MovedBase>>>,
    /// The path of the last link that was judged by its bytes, and its file.
    pub last_path: RefCell<LastPath>,
}

impl MoveJudge<'_> {
    /// The classes that [`judge_plain`](Self::judge_plain) finds.
    pub const PLAIN: [Class; 2] = [Class::Travels, Class::Outside];

    /// The finding for `link`, without assumed URLs.
    pub fn judge(&self, link: &LinkReport, within: (&BaseChain, Charset)) -> Finding {
        let base = self.bases.of(link, within, &self.goal);
        let is_crawled = self.is_crawled || within.0.saved.is_some();
        if has_base_of(link, within.0) && !is_crawled {
            let _ = self.document_base.set(base.clone());
        }
        let (finding, ids_of) = self.link(link, base.as_deref(), is_crawled);
        let target = finding.target.as_deref();
        let redirected = target.and_then(|target| self.goal.collection.redirected(target));
        let finding = Finding {
            target: finding.target.map(without_assumed),
            moved: finding.moved.map(without_assumed),
            differs: link.differs,
            ..finding
        };
        let url = finding.target.as_ref().unwrap_or(&link.reference);
        let url = redirected.as_ref().unwrap_or(url);
        let fragment = url.split_once('#').map_or("", |(_, fragment)| fragment);
        match ids_of.map_or(FragmentPlace::There, |number| self.place(number, fragment)) {
            FragmentPlace::There => finding,
            place => finding.with_fragment(place),
        }
    }

    /// The class of a link with a report, if [`judge_plain`](Self::judge_plain) finds one.
    pub fn judge_report(&self, link: &LinkReport, chain: &BaseChain) -> Option<Class> {
        self.judge_plain(&as_plain(link, chain)?)
    }

    /// The class of a link of the document itself, if its bytes show that it needs no report: it travels, or it leads to
    /// another host.
    pub fn judge_plain(&self, link: &PlainLink<'_>) -> Option<Class> {
        // Browsers may have no target for it.
        if link.target.differs {
            return None;
        }
        let root = self.document_base.get()?.as_ref()?.tail?;
        let last = &mut self.last_path.borrow_mut();
        match self.goal.collection.plain_place(root, link, last)? {
            PlainPlace::Outside => Some(Class::Outside),
            PlainPlace::File(number, fragment) => {
                let is_there =
                    fragment.is_empty() || self.place(number, fragment) == FragmentPlace::There;
                is_there.then_some(Class::Travels)
            }
        }
    }

    /// The target of `fragment` in the document with this number.
    fn place(&self, number: usize, fragment: &str) -> FragmentPlace {
        let Some(ids) = self.ids else {
            self.fragments.borrow_mut().add(number, fragment);
            return FragmentPlace::There;
        };
        let ids = ids.get(&number);
        ids.map_or(FragmentPlace::There, |ids| ids.place(fragment))
    }

    /// True if the link embeds a resource that is retrieved by HTTP, and the collection is a crawl. `target` is known to
    /// be outside the collection.
    fn lacks(&self, link: &LinkReport, target: &str) -> bool {
        link.role == Role::Embedded && self.goal.collection.is_of_hosts() && is_web(target)
    }

    /// The finding for `link`, with assumed URLs: about the site where it stands, or else about the move.
    fn link(
        &self,
        link: &LinkReport,
        base: Option<&MovedBase>,
        is_crawled: bool,
    ) -> (Finding, Option<usize>) {
        let target = match self.target(link, base, is_crawled) {
            Ok(target) => target,
            Err(finding) => return (finding, self.own_id(link)),
        };
        let now = located(self.goal.collection, None, link, &target);
        let through_layout = |base: &MovedBase| base.now.leads_through_layout(&link.reference);
        // Relative links of a saved page lead to files beside it, even if their URLs are unknown.
        let is_of_files = base.is_some_and(through_layout)
            || (self.saved_by.is_some() && link.outcome != Outcome::Absolute);
        let standing = self.standing(link, &target, &now);
        let is_settled = !is_of_files && standing.0.class.is_broken();
        let mut moved = None;
        let (finding, ids_of) = match is_settled || !(self.is_destination_known || is_of_files) {
            true => standing,
            false => {
                let found = self.after_move(link, base, (&target, &now), standing);
                moved = found.1;
                found.0
            }
        };
        // The scheme of an assumed base is not shown.
        let is_assumed = base.is_some_and(|base| is_assumed(base.now.as_str()));
        let is_net_path = self.category(link) == Category::NetPath && is_assumed;
        let target = if is_net_path {
            link.reference.clone()
        } else {
            target
        };
        let finding = Finding {
            target: Some(target),
            moved: moved.filter(|_| self.is_destination_known),
            ..finding
        };
        (finding, ids_of)
    }

    /// The path from the root of the host that leads to a file, if `target` is that path without the path of the root.
    fn with_path_of_root(&self, target: &str) -> Option<String> {
        let root = self.goal.collection.root_url()?;
        let url = with_root(target, self.host?, root).filter(|url| url != root.as_str())?;
        let is_file = served(&self.goal.collection.locate(&url)).is_some();
        is_file.then(|| split_host(&url).1.to_owned())
    }

    fn category(&self, link: &LinkReport) -> Category {
        Reference::split(Grammar::Rfc3986, &link.reference).category()
    }

    /// The finding for a link to `target`, at the place `now`, in the site where it stands, and the resource whose ids
    /// decide about the fragment.
    fn standing(&self, link: &LinkReport, target: &str, now: &Located) -> (Finding, Option<usize>) {
        let alone = |class, cause| (Finding::of(class, cause), None);
        if !now.is_inside() {
            if let Some(hint) = self.with_path_of_root(target) {
                let (finding, _) = alone(Class::Escapes, Some(Cause::NoPrefix));
                let hint = Some(hint);
                return (Finding { hint, ..finding }, None);
            }
            return match self.lacks(link, target) {
                true => alone(Class::Missing, Some(Cause::NotCaptured)),
                false => alone(Class::Outside, None),
            };
        }
        // A prefix of URLs, and a reference that only serves as a base, need not lead to a file.
        if is_base(link) || (names_prefix(link) && matches!(now, Located::Folder(_))) {
            return alone(Class::Travels, None);
        }
        // A server does not look for the query in the names of files.
        let selects = |found: &FoundResource| found.query == QueryUse::Selects;
        let is_by_name =
            self.goal.collection.has_only_paths() && now.resource().as_ref().is_some_and(selects);
        let collection = self.goal.collection;
        let here = || Some(collection.locate_below(collection.root_url()?, target));
        if is_by_name && here().is_some_and(|here| served(&here) != served(now)) {
            return alone(Class::Dangling, Some(Cause::Elsewhere));
        }
        let redirected = collection.redirected(target);
        let target = redirected.as_deref().unwrap_or(target);
        let Some((class, file)) = served(now) else {
            if is_template(&link.reference) {
                return alone(Class::Left, Some(Cause::Kept(Reason::Placeholder)));
            }
            let missing = self.goal.collection.missing(now).map(Finding::missing);
            let elsewhere = || Finding::of(Class::Dangling, Some(Cause::Elsewhere));
            return (missing.unwrap_or_else(elsewhere), None);
        };
        let has_fragment = Reference::split(Grammar::Rfc3986, target)
            .fragment()
            .is_some();
        let hint = match class {
            Class::Travels => None,
            _ => self.goal.collection.missing(now).and_then(|one| one.hint),
        };
        let finding = Finding::of(class, None);
        (Finding { hint, ..finding }, file.filter(|_| has_fragment))
    }

    /// The finding about the move for a link to `target`, at the place `now`, and its target after the move. `standing` is
    /// the finding before.
    fn after_move(
        &self,
        link: &LinkReport,
        base: Option<&MovedBase>,
        (target, now): (&str, &Located),
        standing: (Finding, Option<usize>),
    ) -> ((Finding, Option<usize>), Option<String>) {
        let alone = |class, cause| (Finding::of(class, Some(cause)), None);
        let category = self.category(link);
        let is_absolute = link.outcome == Outcome::Absolute;
        let resolved = || base?.moved.as_ref()?.resolve(&link.reference).ok();
        let moves = self.is_destination_known;
        // A link that contains a host still leads to its target if the target keeps its URL.
        let holds = (is_absolute || category == Category::NetPath) && self.keeps_its_url(target);
        let moved = match is_absolute {
            true => holds.then(|| target.to_owned()),
            false => resolved().map(|moved| moved.url),
        };
        let keeps_scheme = |moved: &String| scheme(moved) == scheme(target);
        let stays_with_base = base.is_some_and(|base| base.stays);
        let pinned_by = match category {
            _ if is_absolute && (!holds || stays_with_base) => Some(Cause::Absolute),
            _ if stays_with_base => Some(Cause::DeclaredBase),
            // A link that contains a host but no scheme leads to the old URL unless the scheme changes.
            Category::NetPath if moves && !holds && moved.as_ref().is_none_or(keeps_scheme) => {
                Some(Cause::NetPath)
            }
            _ => None,
        };
        if let Some(cause) = pinned_by {
            let canonical = || *self.canonical.get_or_init(|| self.bases.canonical());
            let kept_forms = || self.kept_forms.get_or_init(|| self.bases.kept_forms());
            let found = match now.is_inside() && moves {
                false => standing,
                // `move --relative=disk` keeps these links, too.
                true if is_disk(&self.goal.place) && kept_forms().contains(link) => standing,
                true if link.element == "link" && canonical() == Some(link.span) => {
                    alone(Class::Pinned, Cause::Canonical)
                }
                true => alone(Class::Pinned, cause),
            };
            return (found, Some(target.to_owned()));
        }
        let Some(moved) = moved else {
            return (alone(Class::Left, Cause::Kept(Reason::Unresolvable)), None);
        };
        let then = self.after(base, category, &link.reference, (target, now, &moved));
        let found = match then.is_inside() {
            true => self.moving(link, (target, now, &then), standing),
            false => alone(Class::Escapes, escape(category, base)),
        };
        (found, Some(moved))
    }

    /// The target of `link` now; the finding for a link that has none.
    fn target(
        &self,
        link: &LinkReport,
        base: Option<&MovedBase>,
        is_crawled: bool,
    ) -> Result<String, Finding> {
        let left = |cause| Err(Finding::of(Class::Left, cause));
        if is_invalid(link) {
            return Err(Finding::of(Class::Invalid, None));
        }
        match (link.outcome, link.reason) {
            (Outcome::Absolute, _) => return Ok(link.target.clone().unwrap_or_default()),
            (Outcome::NoBase, _) => return left(Some(Cause::NoBase)),
            (Outcome::Left, Some(Reason::LocalCopy)) => return Err(self.local_copy(link)),
            (Outcome::Left, reason) if reason != Some(Reason::CustomProperty) => {
                return left(reason.map(Cause::Kept));
            }
            (Outcome::Rewritten | Outcome::Left | Outcome::NotEditable, _) => {}
        }
        let resolved = || Some(base?.now.resolve(&link.reference).ok()?.url);
        let is_known = (!is_crawled && link.custom_property.is_none()) || base.is_none();
        let known = link.target.clone().filter(|_| is_known);
        match known.or_else(resolved) {
            Some(target) => Ok(target),
            None => left(Some(Cause::Kept(Reason::Unresolvable))),
        }
    }

    /// The number of the document itself, if `link` must name an id in it. Only the reference of a `use` must. Others may
    /// denote an element without an id.
    fn own_id(&self, link: &LinkReport) -> Option<usize> {
        let is_use = link.reason == Some(Reason::IdReference) && link.element == "use";
        self.number.filter(|_| is_use && link.entity.is_empty())
    }

    /// The finding for a link to a file that a browser saved with this one.
    fn local_copy(&self, link: &LinkReport) -> Finding {
        let own = self.own.as_deref();
        let url = own.and_then(|own| {
            let base = Base::new(Resolver::Rfc3986, own);
            base.resolve(&link.reference).ok()
        });
        let copy = url.map(|url| self.goal.locate(&url.url));
        match copy.as_ref().and_then(served) {
            Some(_) => Finding::of(Class::Travels, None),
            None => Finding::of(Class::Dangling, Some(Cause::LocalCopy)),
        }
    }

    /// True if the resource at `target`, which is below the root, has the same URL after the move.
    fn keeps_its_url(&self, target: &str) -> bool {
        let with_tree = || self.goal.with_all(target);
        self.is_destination_known
            && with_tree().is_some_and(|with_tree| !self.goal.is_another(&with_tree, target))
    }

    /// The place to which a link leads after the move. Before the move, it leads to `target`, at the place `now`; after
    /// the move, to `moved`. The result is outside the tree in two cases:
    ///
    /// - the target was outside, and the extent of the tree is known;
    /// - the target moves to a path other than that of `moved`. This case does not apply if both paths lead to one file,
    ///   or if the path of the document differs from the path of its URL.
    fn after(
        &self,
        base: Option<&MovedBase>,
        category: Category,
        reference: &str,
        (target, now, moved): (&str, &Located, &str),
    ) -> Located {
        // The link leads through a folder named after a host. If that folder does not exist, the target is missing in the
        // tree.
        if base.is_some_and(|base| base.now.leads_through_layout(reference)) {
            return self.goal.locate(moved);
        }
        // After the move, a relative link is resolved against the path of the file, even if the path of its URL differs.
        let is_renamed = base.is_some_and(|base| base.is_renamed) && category != Category::AbsPath;
        let outside = || Located::Outside {
            is_host_known: false,
        };
        if self.is_extent_known && !now.is_inside() {
            return outside();
        }
        let with_tree = self.goal.with_all(target);
        // The move may end such a way to a file.
        let is_fragile = |found: FoundResource| {
            let is_ruled = matches!(found.by, FoundBy::HostRule | FoundBy::Rewrite);
            is_ruled || found.query == QueryUse::Selects
        };
        let may_fail = now.resource().is_some_and(is_fragile);
        if with_tree.as_deref() == Some(moved) && self.goal.keeps_paths && !may_fail {
            return now.clone();
        }
        let then = self.goal.locate(moved);
        let strays = with_tree.is_some_and(|with_tree| self.goal.is_another(&with_tree, moved));
        // One file can have several URLs.
        let is_one_file = served(now).is_some() && served(now) == served(&then);
        if strays && !is_one_file && !is_renamed {
            outside()
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
        standing: (Finding, Option<usize>),
    ) -> (Finding, Option<usize>) {
        let missing = |located| self.goal.collection.missing(located).map(Finding::missing);
        let elsewhere = Finding::of(Class::Dangling, Some(Cause::Elsewhere));
        let is_there = now.is_inside();
        let file = |place: &Located| served(place).map(|(_, file)| file);
        let has_fragment = Reference::split(Grammar::Rfc3986, target)
            .fragment()
            .is_some();
        match (file(now), file(then)) {
            (_, None) if self.saved_by == Some(Program::Browser) && !is_there => {
                (Finding::of(Class::Escapes, Some(Cause::NotSaved)), None)
            }
            _ if is_base(link) => (Finding::of(Class::Travels, None), None),
            (None, _) if is_there => standing,
            (Some(now), Some(file)) if now == file => match served(then) {
                // A file with a URL of its own may have an extension that the URL lacks.
                Some((class, _)) if standing.0.class == Class::Travels => {
                    (Finding::of(class, None), standing.1)
                }
                _ => standing,
            },
            // From disk, a browser finds neither the index file nor the extension.
            (Some(_), None) if is_disk(&self.goal.place) && standing.0.class != Class::Travels => {
                standing
            }
            // The program that saved the page made the link lead to a file in the tree. The URL of the file may be
            // unknown, because only pages record their URLs.
            (None, Some(then)) if self.saved_by.is_some() => (
                Finding::of(Class::Travels, None),
                then.filter(|_| has_fragment),
            ),
            (now, _) => {
                let is_absent = Some(Cause::Missing(Absence::Absent));
                let found = missing(then);
                let found = found.filter(|it| now.is_none() || it.cause != is_absent);
                (found.unwrap_or(elsewhere), None)
            }
        }
    }
}

/// True if `link` is a link of the document with this chain, not of one in it, and is resolved against the base of the document.
fn has_base_of(link: &LinkReport, chain: &BaseChain) -> bool {
    link.entity.is_empty()
        && link.base == chain.base
        && link.source == chain.source
        && !is_base(link)
}

/// The link as a [plain](PlainLink) one: its target ends with the text of its reference.
fn as_plain<'l>(link: &'l LinkReport, chain: &BaseChain) -> Option<PlainLink<'l>> {
    let is_plain = has_base_of(link, chain)
        && (link.outcome, link.reason) == (Outcome::Rewritten, None)
        && link.custom_property.is_none()
        && !link.differs
        && !names_prefix(link);
    let reference = &*link.reference;
    let mut rest = reference;
    while let Some(less) = rest.strip_prefix("../").or(rest.strip_prefix("./")) {
        rest = less;
    }
    let prefix = link.target.as_deref()?.strip_suffix(rest)?;
    is_plain.then_some(PlainLink {
        reference,
        target: Splice {
            prefix,
            dropped: reference.len() - rest.len(),
            differs: false,
        },
        role: link.role,
    })
}

/// The cause for which a link of this category escapes.
fn escape(category: Category, base: Option<&MovedBase>) -> Cause {
    match category {
        Category::NetPath => Cause::NetPath,
        Category::AbsPath => Cause::RootRelative,
        _ if base.is_some_and(|base| base.escapes) => Cause::DeclaredBase,
        _ => Cause::ClimbsOut,
    }
}

/// The file that servers send, by its number, and the class of a link to it; the number is `None` behind a symbolic link.
/// `None` if there is no file.
fn served(located: &Located) -> Option<(Class, Option<usize>)> {
    match located {
        Located::Resource(found) => {
            let class = match found.by {
                FoundBy::Url | FoundBy::Index | FoundBy::HostRule | FoundBy::Rewrite => {
                    Class::Travels
                }
                FoundBy::NoSlash => Class::NoSlash,
                FoundBy::CleanUrl => Class::CleanUrl,
                FoundBy::CrawlerName | FoundBy::DeadRule => return None,
            };
            Some((class, Some(found.number)))
        }
        Located::BehindLink(_) => Some((Class::Travels, None)),
        Located::Folder(_)
        | Located::Lacking(..)
        | Located::Failed(_)
        | Located::Outside { .. } => None,
    }
}

fn scheme(url: &str) -> Option<String> {
    Reference::split(Grammar::Rfc3986, url)
        .scheme()
        .map(str::to_ascii_lowercase)
}
