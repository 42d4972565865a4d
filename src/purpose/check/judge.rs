//! The judge for a move. It determines the class of each link in a document, and the cause.
//!
//! ```text
//! link, current target, target after the move  -->  Finding { class: Escapes, cause: ClimbsOut, … }
//! ```
//!
//! Deliberately absent: computing the bases after the move, which is in [`super::bases`].

use super::bases::{MovedBase, MovedBases, MovedCollection, is_base};
use super::finding::{Cause, Class, Finding};
use super::ids::FragmentPlace;
use crate::collection::origin::{is_assumed, without_assumed};
use crate::collection::{Absence, TargetPlace};
use baselink_rewrite::report::{LinkReport, Outcome, Reason};
use baselink_scan::document::{Program, Role};
use baselink_text::span::Span;
use baselink_url::reference::{Category, Grammar, Reference, is_template};
use baselink_url::{Base, Profile};

/// Finds the place of a fragment. Takes the number of the resource, the fragment, and the class that the link has if the
/// fragment exists. Returns `None` if the ids of the resource are not known.
pub type FragmentPlaces<'a> = dyn Fn(usize, &str, Class) -> Option<FragmentPlace> + 'a;

/// Judges the links of one document.
#[derive(Debug)]
pub(super) struct MoveJudge<'a> {
    pub(super) goal: MovedCollection<'a>,
    /// True if the destination of the document is known.
    pub(super) is_destination_known: bool,
    /// True if every URL is known to be inside or outside the collection. If false, only the URLs of resources are
    /// known to be inside.
    pub(super) is_extent_known: bool,
    /// The program that saved the document, if the URL of the document comes from its comment.
    pub(super) saved_by: Option<Program>,
    /// True if a program may have changed references so that they lead to files. The report then contains the targets
    /// of the original references, so the judge resolves the changed references itself.
    pub(super) is_crawled: bool,
    /// The number of the document in the collection.
    pub(super) number: Option<usize>,
    /// The URL of the document after the move, for links to local copies.
    pub(super) own: Option<String>,
    /// The span of the canonical URL that the document declares.
    pub(super) canonical: Option<Span>,
    pub(super) bases: MovedBases,
}

impl MoveJudge<'_> {
    /// True if `link` obviously travels. This is a fast path: a link may travel even if the result is false.
    pub(super) fn travels(
        &self,
        number: usize,
        link: &LinkReport,
        named: &FragmentPlaces<'_>,
    ) -> bool {
        let base = self.bases.of(number);
        let path = || {
            let (tail, target) = (base?.tail?, link.target.as_deref()?);
            let splice = base?.now.splice(link.reference.as_bytes())?;
            // A reference that leads above the old root may lead to another file from the new root.
            (splice.prefix.len() >= tail && !splice.differs).then(|| target.get(tail..))?
        };
        let is_plain = link.outcome == Outcome::Rewritten
            && !self.is_crawled
            && link.custom_property.is_none();
        let Some(path) = path().filter(|_| is_plain) else {
            return false;
        };
        let (path, fragment) = match path.split_once('#') {
            Some((path, fragment)) => (path, Some(fragment)),
            None => (path, None),
        };
        // A query may select a different file.
        let has_query = path.contains('?');
        let Some(number) = self
            .goal
            .collection
            .plain_file(path.as_bytes())
            .filter(|_| !has_query)
        else {
            return false;
        };
        // The fragment of a base is irrelevant.
        let fragment = fragment.filter(|_| !is_base(link));
        let place = fragment.and_then(|fragment| named(number, fragment, Class::Travels));
        place.is_none_or(|place| place == FragmentPlace::There)
    }

    /// The finding for `link`, without assumed URLs.
    pub(super) fn shown(
        &self,
        number: usize,
        link: &LinkReport,
        named: &FragmentPlaces<'_>,
    ) -> Finding {
        let mut finding = self.link(number, link, named);
        if finding.class == Class::Outside && self.lacks(link, finding.target.as_deref()) {
            (finding.class, finding.cause) = (Class::Missing, Some(Cause::NotCaptured));
        }
        Finding {
            target: finding.target.and_then(without_assumed),
            moved: finding.moved.and_then(without_assumed),
            ..finding
        }
    }

    /// True if the link embeds a resource that is retrieved by HTTP, and the collection is a crawl. `target` is known to
    /// be outside the collection.
    fn lacks(&self, link: &LinkReport, target: Option<&str>) -> bool {
        let is_fetched = |target: &str| matches!(scheme(target).as_deref(), Some("http" | "https"));
        link.role == Role::Embedded
            && self.goal.collection.is_of_hosts()
            && target.is_some_and(is_fetched)
    }

    /// The finding for `link`, with assumed URLs.
    fn link(&self, number: usize, link: &LinkReport, named: &FragmentPlaces<'_>) -> Finding {
        let mut finding = Finding {
            class: Class::Left,
            cause: None,
            missing: None,
            target: None,
            moved: None,
            hint: None,
            differs: link.differs,
        };
        let base = self.bases.of(number);
        let is_of_property = link.reason == Some(Reason::CustomProperty);
        let mut target = match link.outcome {
            Outcome::Absolute => link.reference.clone(),
            Outcome::NoBase => {
                finding.cause = Some(Cause::NoBase);
                return finding;
            }
            Outcome::Left if link.reason == Some(Reason::LocalCopy) => {
                self.local_copy(&mut finding, link);
                return finding;
            }
            Outcome::Left if !is_of_property => {
                finding.cause = link.reason.map(Cause::Kept);
                // Only the reference of a `use` must name an id. Others may denote an element without an id.
                if link.reason == Some(Reason::IdReference) && link.element == "use" {
                    self.id(&mut finding, link, named);
                }
                return finding;
            }
            Outcome::Rewritten | Outcome::Left | Outcome::NotEditable => {
                let resolved = || Some(base?.now.resolve(&link.reference).ok()?.url);
                let is_known =
                    (!self.is_crawled && link.custom_property.is_none()) || base.is_none();
                let known = link.target.clone().filter(|_| is_known);
                let Some(target) = known.or_else(resolved) else {
                    finding.cause = Some(Cause::Kept(Reason::Unresolvable));
                    return finding;
                };
                target
            }
        };
        let (now, tail) = self.goal.collection.find_with_tail(&target);
        let category = Reference::split(Grammar::Rfc3986, &link.reference).category();
        let is_absolute = link.outcome == Outcome::Absolute;
        let resolved = || base?.moved.as_ref()?.resolve(&link.reference).ok();
        // A link that contains a host still leads to its target if the target keeps its URL.
        let holds = (is_absolute || category == Category::NetPath) && self.keeps_its_url(&target);
        let moved = match is_absolute {
            true => holds.then(|| target.clone()),
            false => resolved().map(|moved| moved.url),
        };
        // Otherwise, a link that contains a host but no scheme still leads to the old URL unless the scheme changes.
        let stays_with_host = category == Category::NetPath
            && !holds
            && moved
                .as_deref()
                .is_none_or(|moved| scheme(moved) == scheme(&target));
        let stays_with_base = base.is_some_and(|base| base.stays);
        if (is_absolute && !holds) || stays_with_base || stays_with_host {
            finding.moved = Some(target.clone());
            finding.class = Class::Outside;
            if now != TargetPlace::Outside {
                finding.class = Class::Pinned;
                finding.cause = Some(if self.canonical == Some(link.span) {
                    Cause::Canonical
                } else if is_absolute {
                    Cause::Absolute
                } else if stays_with_base {
                    Cause::DeclaredBase
                } else {
                    Cause::NetPath
                });
                if let TargetPlace::Inside(Err(missing)) = now
                    && !is_base(link)
                    && !is_template(&link.reference)
                {
                    finding.missing = Some(missing.absence);
                    finding.hint = missing.hint;
                }
            }
            // The scheme of an assumed base is not shown.
            let has_scheme = is_absolute || !base.is_some_and(|base| is_assumed(base.now.as_str()));
            if !has_scheme && category == Category::NetPath {
                finding.moved = Some(link.reference.clone());
                target.clone_from(&link.reference);
            }
            finding.target = Some(target);
            return finding;
        }
        let Some(moved) = moved else {
            finding.cause = Some(Cause::Kept(Reason::Unresolvable));
            finding.target = Some(target);
            return finding;
        };
        // Most links lead to the same path below both roots, and thus to the same file.
        let is_alike = self.goal.keeps_paths
            && tail.is_some_and(|tail| {
                moved.strip_prefix(self.goal.place.as_str()) == Some(&target[tail..])
            });
        // After the move, a relative link is resolved against the path of the file, even if the path of its URL differs.
        let is_renamed = base.is_some_and(|base| base.is_renamed) && category != Category::AbsPath;
        let is_between_hosts =
            base.is_some_and(|base| base.now.leads_through_layout(&link.reference));
        let then = match is_alike {
            true => now.clone(),
            // The link leads through a folder named after a host. If that folder does not exist, the target is missing
            // in the tree.
            false if is_between_hosts => self.goal.find(&moved),
            false => self.after(&target, &now, &moved, is_renamed),
        };
        self.judge(
            &mut finding,
            link,
            base,
            category,
            (&target, &now, then),
            named,
        );
        finding.target = Some(target);
        finding.moved = self.is_destination_known.then_some(moved);
        finding
    }

    /// Judges a reference to an element of the same document, if all ids of the document are known.
    fn id(&self, finding: &mut Finding, link: &LinkReport, named: &FragmentPlaces<'_>) {
        let fragment = link
            .reference
            .strip_prefix('#')
            .filter(|_| link.entity.is_empty());
        let place = self.number.zip(fragment);
        let place = place.and_then(|(number, fragment)| named(number, fragment, Class::Left));
        if let Some(FragmentPlace::Nowhere(hint)) = place {
            no_id(finding, hint);
        }
    }

    /// Judges a link to a file that a browser saved with this one.
    fn local_copy(&self, finding: &mut Finding, link: &LinkReport) {
        let own = self
            .own
            .as_deref()
            .map(|own| Base::new(Profile::Rfc3986, own));
        let url = own.and_then(|own| own.resolve(&link.reference).ok());
        let copy = url.and_then(|url| self.goal.find(&url.url).file());
        (finding.class, finding.cause) = match copy {
            Some(_) => (Class::Travels, None),
            None => (Class::Dangling, Some(Cause::LocalCopy)),
        };
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
    ///   or if the path of the document differs from the path of its URL (`renamed`).
    fn after(&self, target: &str, now: &TargetPlace, moved: &str, renamed: bool) -> TargetPlace {
        if self.is_extent_known && *now == TargetPlace::Outside {
            return TargetPlace::Outside;
        }
        let with_tree = self.goal.with_all(target);
        let query_counts = matches!(now, TargetPlace::Inside(Ok(found)) if found.query_counts);
        if with_tree.as_deref() == Some(moved) && self.goal.keeps_paths && !query_counts {
            return now.clone();
        }
        let then = self.goal.find(moved);
        let strays = with_tree.is_some_and(|with_tree| self.goal.is_another(&with_tree, moved));
        // One file can have several URLs.
        let is_one_file = matches!(
            (now, &then),
            (TargetPlace::Inside(Ok(now)), TargetPlace::Inside(Ok(then))) if now.number == then.number
        );
        if strays && !is_one_file && !renamed {
            TargetPlace::Outside
        } else {
            then
        }
    }

    /// Judges a link that moves with its file. Before the move it leads to `target`, at the place `now`; after the
    /// move, to the place `then`.
    fn judge(
        &self,
        finding: &mut Finding,
        link: &LinkReport,
        base: Option<&MovedBase>,
        category: Category,
        (target, now, then): (&str, &TargetPlace, TargetPlace),
        named: &FragmentPlaces<'_>,
    ) {
        let TargetPlace::Inside(then) = then else {
            finding.class = Class::Escapes;
            finding.cause = Some(match category {
                Category::NetPath => Cause::NetPath,
                Category::AbsPath => Cause::RootRelative,
                _ if base.is_some_and(|base| base.escapes) => Cause::DeclaredBase,
                _ => Cause::ClimbsOut,
            });
            return;
        };
        let is_saved_by_browser = self.saved_by == Some(Program::Browser);
        if is_saved_by_browser && *now == TargetPlace::Outside && then.is_err() {
            finding.class = Class::Escapes;
            finding.cause = Some(Cause::NotSaved);
            return;
        }
        finding.class = Class::Travels;
        // A reference that only serves as a base need not lead to a file.
        if is_base(link) {
            return;
        }
        let number = match (now, then) {
            (TargetPlace::Inside(Err(_)), _) if is_template(&link.reference) => {
                finding.class = Class::Left;
                finding.cause = Some(Cause::Kept(Reason::Placeholder));
                return;
            }
            (TargetPlace::Inside(Err(missing)), _) => return missing.clone().record_in(finding),
            (TargetPlace::Inside(Ok(now)), Ok(then)) if now.number == then.number => now.number,
            // The program that saved the page made the link lead to a file in the tree. The URL of the file may be
            // unknown, because only pages record their URLs.
            (TargetPlace::Outside, Ok(then)) if self.saved_by.is_some() => then.number,
            (now, then) => {
                finding.class = Class::Dangling;
                let is_there = matches!(now, TargetPlace::Inside(Ok(_)));
                match then {
                    Err(missing) if !(is_there && missing.absence == Absence::Absent) => {
                        missing.record_in(finding);
                    }
                    _ => finding.cause = Some(Cause::Elsewhere),
                }
                return;
            }
        };
        let fragment = Reference::split(Grammar::Rfc3986, target).fragment();
        match fragment.and_then(|fragment| named(number, fragment, Class::Travels)) {
            None | Some(FragmentPlace::There) => {}
            Some(FragmentPlace::Lines) => finding.class = Class::Lines,
            Some(FragmentPlace::Nowhere(hint)) => no_id(finding, hint),
        }
    }
}

/// Records in a finding that the fragment names no id. `hint` is an id that differs only in case.
fn no_id(finding: &mut Finding, hint: Option<String>) {
    finding.class = Class::Fragment;
    finding.cause = Some(if hint.is_some() {
        Cause::IdCase
    } else {
        Cause::NoId
    });
    finding.hint = hint;
}

fn scheme(url: &str) -> Option<String> {
    Reference::split(Grammar::Rfc3986, url)
        .scheme()
        .map(str::to_ascii_lowercase)
}
