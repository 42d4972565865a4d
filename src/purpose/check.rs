//! What a move does to the links of a tree: each gets exactly one class.
//!
//! RFC 1808, 1: documents can be moved as a whole, and be read through `file`, `http` and `ftp` alike, when
//! their links are relative. A link is resolved (RFC 1808, 4) against the base that it has now, and the
//! reference as it is written against the base that it has after the move (RFC 1808, 3, with the new URL of
//! the file). It travels when both lead to the same file.
//!
//! ```text
//! file --scan--> ScannedFile --add--> Index          every file first,
//!                ScannedFile, Index --findings--> one Finding a link      then each on its own
//! ```
//!
//! ```
//! use std::path::Path;
//! use baselink::collection::index::Index;
//! use baselink::collection::origin::{Origins, RootUrl};
//! use baselink::purpose::check::{Class, Fix, Move, findings, scan};
//! use baselink::files::walk::{EntryKind, TreeEntry};
//! use baselink::{Options, format::Format};
//!
//! let root_url = RootUrl::new("http://a/docs/").unwrap();
//! let moving = Move { from: Origins { root_url: Some(root_url), ..Origins::default() }, to: None };
//! let (root, path) = (Path::new("site").into(), "site/x.html".into());
//! let entry = TreeEntry { root, relative: vec!["x.html".into()], path, kind: EntryKind::File, size: 0 };
//! let page = b"<a href=x.html></a><a href=http://a/docs/x.html#top></a><a href=/y.html></a>";
//! let mut scanned = scan(&entry, page, Format::Html, &Options::default(), &moving);
//! let mut index = Index::new(moving.from.clone());
//! index.add(&entry, scanned.retrieval.as_ref(), scanned.ids.take());
//!
//! let found = findings(&scanned, &index, &moving);
//! assert_eq!(found[0].class, Class::Travels);
//! assert_eq!(found[1].class, Class::Pinned);
//! assert_eq!(found[1].fix, Some(Fix::Reference("#top".into())));
//! assert_eq!(found[2].class, Class::Escapes);
//! ```
//!
//! Deliberately absent: the file system and the network. What is outside the tree is not looked at, and
//! what scripts do to links and ids is not known.

use std::collections::HashMap;
use std::path::{Component, Path};
use std::sync::Arc;

use crate::base::{Source, stand_in};
use crate::collection::index::{
    Absence, FoundFile, Index, Missing, TargetPlace, is_disk, url_below,
};
use crate::collection::origin::{RootUrl, is_assumed, without_assumed};
use crate::document::{Against, LONGEST_BASE, Program};
use crate::error::{Error, ErrorKind, Result};
use crate::named::values;
use crate::reference::{self, Category, Grammar, Reference};
use crate::report::{LinkReport, Outcome, Reason};
use crate::resolve::{Base, Profile};
use crate::rewrite::{Beside, Choice, Destination, Options};
use crate::scan::xml::vocabulary::is_location;

mod moving;
mod scanned;
pub use moving::Move;
pub(crate) use scanned::names_base;
pub use scanned::{ScannedFile, ScannedLink, Scanning, scan};

/// The URL of the folder `path` of this machine, for [`Move::to`]: the tree is read from disk.
///
/// # Errors
///
/// The path cannot be made absolute.
pub fn on_disk(path: &Path) -> Result<RootUrl> {
    let absolute = std::path::absolute(path)
        .map_err(|error| Error::system(format!("{}: {error}", path.display()), error))?;
    let root = RootUrl::new("file:///")?;
    let names = absolute.components().filter(|part| *part != Component::RootDir);
    let names = names.map(|part| crate::collection::origin::names::bytes(part.as_os_str()));
    let names: Vec<u8> = names.collect::<Vec<_>>().join(&b'/');
    let none =
        || Error::of(ErrorKind::File, format!("{}: no URL can have such a name", path.display()));
    let url = url_below(&root, &names).ok_or_else(none)?;
    RootUrl::new(&url)
}

/// What a move does to a link: exactly one of these, the first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// It has no target, for a [`Cause`].
    Left,
    /// It leads out of the tree, and goes on leading there.
    Outside,
    /// It leads into the tree and will keep pointing at the old place.
    Pinned,
    /// It depends on what is around the tree: it leads out of it, now or after the move.
    Escapes,
    /// It leads into the tree, where no such file is.
    Dangling,
    /// The file is there; what its fragment names is not.
    Fragment,
    /// The file is there, and a script of it marks the lines that the fragment names.
    Lines,
    /// It is relative, and its target is in the tree and present.
    Travels,
}

/// Each class with its name in `--json`.
const CLASSES: [(Class, &str); 8] = [
    (Class::Left, "left"),
    (Class::Outside, "outside"),
    (Class::Pinned, "pinned"),
    (Class::Escapes, "escapes"),
    (Class::Dangling, "dangling"),
    (Class::Fragment, "fragment"),
    (Class::Lines, "lines"),
    (Class::Travels, "travels"),
];

impl Class {
    /// All of them, in their order.
    pub const ALL: [Self; CLASSES.len()] = values(&CLASSES);

    /// Its name in `--json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        CLASSES[self as usize].1
    }
}

/// Why a link has its class: a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Left: it is relative, and no base is known.
    NoBase,
    /// Left: for what `rewrite` leaves it for.
    Kept(Reason),
    /// Pinned: it is absolute.
    Absolute,
    /// Pinned: it says under which URL the page is best known, which is for whoever wrote it to change.
    Canonical,
    /// Pinned: it names the host. Escapes: the same, and the scheme changes.
    NetPath,
    /// Pinned, or escapes: the base that the document declares does.
    DeclaredBase,
    /// Escapes: it begins with `/`.
    RootRelative,
    /// Escapes: it climbs out of the root.
    ClimbsOut,
    /// Dangling; escapes, where a symbolic link leads out of the tree.
    Missing(Absence),
    /// Dangling: after the move it leads to another file than now, or to none.
    Elsewhere,
    /// Dangling: a file that a browser saved with the page, which is not there.
    LocalCopy,
    /// Escapes: a browser that saved the page did not save what it leads to, and left it as it was.
    NotSaved,
    /// Fragment: nothing in the file has this id.
    NoId,
    /// Fragment: something has, but for the case of letters.
    IdCase,
}

impl Cause {
    /// Its name in `--json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoBase => "no-base",
            Self::Kept(reason) => reason.name(),
            Self::Absolute => "absolute",
            Self::Canonical => "canonical",
            Self::NetPath => "net-path",
            Self::DeclaredBase => "declared-base",
            Self::RootRelative => "root-relative",
            Self::ClimbsOut => "climbs-out",
            Self::Missing(absence) => absence.name(),
            Self::Elsewhere => "elsewhere",
            Self::LocalCopy => "local-copy",
            Self::NotSaved => "not-saved",
            Self::NoId => "no-id",
            Self::IdCase => "id-case",
        }
    }
}

/// A change that is certain to make a link travel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// This reference in the place of the one that is written.
    Reference(String),
    /// None of its own: what declares its base has one, and that is enough.
    Base,
}

/// What a move does to one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its class.
    pub class: Class,
    /// Why; `None` for what travels, is outside or leads to lines.
    pub cause: Option<Cause>,
    /// What is missing in the tree, for what is pinned.
    pub missing: Option<Absence>,
    /// Where it leads now; `None` for what is left. Where the URL of the root is assumed, the path below the root;
    /// `None` for what leads out of it.
    pub target: Option<String>,
    /// Where it leads after the move when nothing is changed; `None` where that is unknown, since the new
    /// place is.
    pub moved: Option<String>,
    /// What makes it travel, where that is certain: only for what is pinned, escapes or leads elsewhere, and
    /// has a target that is present.
    pub fix: Option<Fix>,
    /// What was perhaps meant: the path of a file below the root, or an id.
    pub hint: Option<String>,
    /// Whether the profiles `rfc1808`, `rfc3986` and `whatwg` disagree on it.
    pub differs: bool,
}

/// What the move does to each link of `scanned`, in their order. Every file of the tree is in `index`.
#[must_use]
pub fn findings(scanned: &ScannedFile, index: &Index, moving: &Move) -> Vec<Finding> {
    let judge = MoveJudge::new(scanned, index, moving);
    scanned.links().map(|link| judge.shown(&link)).collect()
}

/// The same without what is said of most links that travel, which takes most of the time: such a link has `None`.
#[must_use]
pub fn quick_findings(scanned: &ScannedFile, index: &Index, moving: &Move) -> Vec<Option<Finding>> {
    let judge = MoveJudge::new(scanned, index, moving);
    let mut path = Vec::new();
    let finding = |link| (!judge.travels(&link, &mut path)).then(|| judge.shown(&link));
    scanned.links().map(finding).collect()
}

/// The options with which `rewrite` makes the fixes among `found`, the [`quick_findings`] of `scanned`, and
/// changes nothing else. `options` are those with which it was scanned; the name of an entity in a mailbox is
/// to be put in.
///
/// Fixes of links that cannot be written where they stand are not made, as the report of `rewrite` says.
#[must_use]
pub fn fixes(scanned: &ScannedFile, found: &[Option<Finding>], options: &Options) -> Options {
    let fix = |(link, finding): (ScannedLink<'_>, &Option<Finding>)| match &finding.as_ref()?.fix {
        Some(Fix::Reference(reference)) => {
            let place = FixPlace {
                entity: link.entity.to_owned(),
                base: link.base?.0.to_owned(),
                element: link.element.to_owned(),
                attribute: link.attribute.map(str::to_owned),
                reference: link.reference.to_owned(),
            };
            Some((place, reference.clone()))
        }
        _ => None,
    };
    let fixes = Fixes(scanned.links().zip(found).filter_map(fix).collect());
    Options { destination: Some(Arc::new(fixes)), ..scanned.options(options) }
}

/// The new references of links: those who have the same place have the same fix.
#[derive(Debug)]
struct Fixes(HashMap<FixPlace, String>);

/// What a fix depends on: a fragment alone, and a name without `./`, mean something else in other elements.
#[derive(Debug, PartialEq, Eq, Hash)]
struct FixPlace {
    entity: String,
    base: String,
    element: String,
    attribute: Option<String>,
    reference: String,
}

impl Destination for Fixes {
    fn choose(&self, link: &LinkReport, _: &Against) -> Choice {
        let place = FixPlace {
            entity: link.entity.to_string(),
            base: link.base.as_deref().unwrap_or_default().to_owned(),
            element: link.element.to_string(),
            attribute: link.attribute.as_deref().map(str::to_owned),
            reference: link.reference.clone(),
        };
        self.0.get(&place).map_or(Choice::Kept, |fix| Choice::Reference(fix.clone()))
    }
}

/// Judges the links of one file.
struct MoveJudge<'a> {
    profile: Profile,
    index: &'a Index,
    moving: &'a Move,
    /// The root after the move.
    place: RootUrl,
    /// Whether every URL is known to be inside the tree or not: else, only those that files have are.
    knows_space: bool,
    /// Whether a path means the same file after the move as now.
    is_as_now: bool,
    /// What saved the file, where the file has its URL from that: what it did not save is not in the tree.
    saved_by: Option<Program>,
    /// The number of the file.
    number: Option<usize>,
    /// The URL of the file after the move, for links to local copies.
    own: Option<&'a str>,
    /// What lies beside the file.
    beside: Option<&'a Arc<dyn Beside>>,
    bases: Vec<Prepared>,
    /// For links that have a target and no base.
    assumed: Option<Base>,
}

/// A base of links.
struct Prepared {
    now: Base,
    moved: Option<Base>,
    /// As it is after the move once every fix is made; `None` where it cannot be made to move.
    fixed: Option<Base>,
    /// Whether it stays where it is.
    stays: bool,
    /// Whether it leads out of the tree after the move although it is inside now.
    escapes: bool,
    /// Whether it is the URL of the file itself, and the file has another path than that.
    is_renamed: bool,
    /// Where what follows the URL of the root begins in it, where nothing but that URL changes.
    tail: Option<usize>,
}

impl<'a> MoveJudge<'a> {
    fn new(scanned: &'a ScannedFile, index: &'a Index, moving: &'a Move) -> Self {
        let place = moving.place(scanned.retrieval.as_ref());
        let source = scanned.retrieval.as_ref().map(|one| one.source);
        let mut judge = Self {
            profile: scanned.profile,
            index,
            moving,
            is_as_now: index.has_only_paths() && !is_disk(&place),
            place,
            knows_space: matches!(source, None | Some(Source::Retrieval | Source::Layout)),
            saved_by: scanned.saved_by.filter(|_| source == Some(Source::SavedFrom)),
            number: index.number_at(&scanned.path),
            own: scanned.moved.as_deref(),
            beside: scanned.beside.as_ref(),
            bases: Vec::new(),
            assumed: scanned
                .assumed_scheme
                .as_ref()
                .map(|scheme| Base::new(scanned.profile, &stand_in(scheme))),
        };
        let has_moved = match (&scanned.retrieval, &scanned.moved) {
            (Some(now), Some(moved)) => now.url != *moved,
            _ => true,
        };
        // What holds links must be a link that can be written.
        let mut declared = scanned.links().filter(is_base);
        let can_move = declared.all(|link| {
            link.is_editable && matches!(link.outcome, Outcome::Absolute | Outcome::Rewritten)
        });
        // Its own URL and the new one mean the file, however they are spelled: `dir/` and `dir/index.html`.
        let text = |url: &str| Base::text_of(scanned.profile, url).into_owned();
        let own = scanned.retrieval.as_ref().map(|one| text(&one.url));
        let own_moved = scanned.moved.as_deref().map(text);
        let is_own = |base: &scanned::BaseMove| {
            own.as_deref() == Some(&*base.url) && base.moved.as_deref() == own_moved.as_deref()
        };
        let prepare = |base| judge.prepare(base, is_own(base), has_moved, can_move);
        judge.bases = scanned.bases.iter().map(prepare).collect();
        judge
    }

    fn prepare(
        &self,
        base: &scanned::BaseMove,
        is_own: bool,
        has_moved: bool,
        can_move: bool,
    ) -> Prepared {
        let prepared = |url: &str| base.prepare(self.profile, url);
        let stays = has_moved && base.moved.as_deref() == Some(&*base.url);
        let strays = base.moved.as_deref().is_some_and(|moved| {
            let is_out = self.index.find_below(&self.place, moved) == TargetPlace::Outside;
            let is_in = || self.index.find(&base.url) != TargetPlace::Outside;
            self.strays(&base.url, moved) || (is_out && is_in())
        });
        let escapes = strays && !stays && !is_own;
        let moved = base.moved.as_deref().map(prepared);
        let fixed = if !stays && !escapes {
            moved.clone()
        } else if base.is_declared && can_move {
            self.index.moved(&base.url, &self.place).map(|url| prepared(&url))
        } else {
            None
        };
        let now = match self.beside.filter(|_| base.is_of_layout) {
            Some(beside) => {
                let beside = Arc::clone(beside);
                prepared(&base.url).in_layout(move |folder| beside.host(folder))
            }
            None => prepared(&base.url),
        };
        // What is relative to both is the same below both roots.
        let below = |base: &Base, root: &str| -> Option<[String; 2]> {
            let directory = base.splice(b"x")?.prefix.strip_prefix(root)?;
            Some([base.as_str().strip_prefix(root)?.to_owned(), directory.to_owned()])
        };
        let tail = self.index.folder_url().filter(|_| self.is_as_now && !stays);
        let tail = tail.filter(|folder| {
            let moved = moved.as_ref().and_then(|moved| below(moved, self.place.as_str()));
            moved.is_some() && below(&now, folder) == moved
        });
        let tail = tail.map(str::len);
        Prepared { now, moved, fixed, stays, escapes, is_renamed: is_own && strays, tail }
    }

    /// Whether `link` travels, as far as a look at its bytes shows it; `path` is room for one.
    fn travels(&self, link: &ScannedLink<'_>, path: &mut Vec<u8>) -> bool {
        let base = link.base_number.map(|number| &self.bases[number]);
        let parts = || {
            let (base, tail) = (base?, base?.tail?);
            let splice = base.now.splice(link.reference.as_bytes())?;
            Some((splice.prefix.get(tail..)?, &link.reference[splice.dropped..]))
        };
        let Some((prefix, rest)) = parts().filter(|_| link.outcome == Outcome::Rewritten) else {
            return false;
        };
        path.clear();
        path.extend_from_slice(prefix.as_bytes());
        path.extend_from_slice(rest.as_bytes());
        let fragment = memchr::memchr(b'#', path).map(|at| path.len() - at - 1);
        path.truncate(fragment.map_or(path.len(), |length| path.len() - length - 1));
        // With a query it may be another file.
        let has_query = memchr::memchr(b'?', path).is_some();
        let Some(number) = self.index.plain_file(path).filter(|_| !has_query) else { return false };
        let fragment = fragment.map(|length| &link.reference[link.reference.len() - length..]);
        let ids = self.index.ids(number);
        fragment.zip(ids).is_none_or(|(fragment, ids)| ids.find(fragment).is_ok())
    }

    /// What is found of `link`, as it may be shown.
    fn shown(&self, link: &ScannedLink<'_>) -> Finding {
        let finding = self.link(link);
        Finding {
            target: finding.target.and_then(without_assumed),
            moved: finding.moved.and_then(without_assumed),
            ..finding
        }
    }

    fn link(&self, link: &ScannedLink<'_>) -> Finding {
        let mut finding = Finding {
            class: Class::Left,
            cause: None,
            missing: None,
            target: None,
            moved: None,
            fix: None,
            hint: None,
            differs: link.differs,
        };
        let base = link.base_number.map(|number| &self.bases[number]);
        let mut target = match link.outcome {
            Outcome::Absolute => link.reference.to_owned(),
            Outcome::NoBase => {
                finding.cause = Some(Cause::NoBase);
                return finding;
            }
            Outcome::Left if link.reason == Some(Reason::LocalCopy) => {
                self.local_copy(&mut finding, link);
                return finding;
            }
            Outcome::Left => {
                finding.cause = link.reason.map(Cause::Kept);
                // What else names an element may mean one that has no id.
                if link.reason == Some(Reason::IdReference) && link.element == "use" {
                    self.id(&mut finding, link);
                }
                return finding;
            }
            Outcome::Rewritten | Outcome::NotEditable => {
                let now = base.map(|base| &base.now).or(self.assumed.as_ref());
                let resolved = now.and_then(|base| base.resolve(link.reference).ok());
                let Some(resolved) = resolved else {
                    finding.cause = Some(Cause::Kept(Reason::Unresolvable));
                    return finding;
                };
                resolved.url
            }
        };
        let (now, tail) = self.index.find_with_tail(&target);
        let category = Reference::split(Grammar::Rfc3986, link.reference).category();
        let is_absolute = link.outcome == Outcome::Absolute;
        let resolved = || base?.moved.as_ref()?.resolve(link.reference).ok();
        // What names its host holds where the file that it means keeps its URL.
        let holds = (is_absolute || category == Category::NetPath) && self.keeps_its_url(&target);
        let moved = match is_absolute {
            true => holds.then(|| target.clone()),
            false => resolved().map(|moved| moved.url),
        };
        // A link that names its host keeps leading there as long as the scheme is the same.
        let stays_with_host = category == Category::NetPath
            && !holds
            && moved.as_deref().is_none_or(|moved| scheme(moved) == scheme(&target));
        let stays_with_base = base.is_some_and(|base| base.stays);
        if (is_absolute && !holds) || stays_with_base || stays_with_host {
            finding.moved = Some(target.clone());
            finding.class = Class::Outside;
            if now != TargetPlace::Outside {
                finding.class = Class::Pinned;
                finding.cause = Some(if link.is_canonical {
                    Cause::Canonical
                } else if is_absolute {
                    Cause::Absolute
                } else if stays_with_base {
                    Cause::DeclaredBase
                } else {
                    Cause::NetPath
                });
                finding.fix = self.fix(link, base, &target, &now);
                if let TargetPlace::Inside(Err(missing)) = now
                    && !is_base(link)
                {
                    finding.missing = Some(missing.absence);
                    finding.hint = missing.hint;
                }
            }
            // The scheme of an assumed base is nothing to show.
            let has_scheme = is_absolute || !base.is_some_and(|base| is_assumed(base.now.as_str()));
            if !has_scheme && category == Category::NetPath {
                finding.moved = Some(link.reference.to_owned());
                target = link.reference.to_owned();
            }
            finding.target = Some(target);
            return finding;
        }
        let Some(moved) = moved else {
            finding.cause = Some(Cause::Kept(Reason::Unresolvable));
            finding.target = Some(target);
            return finding;
        };
        // Most links lead to the same file as now by what follows the URL of the root.
        let is_alike = self.is_as_now
            && tail.is_some_and(|tail| {
                moved.strip_prefix(self.place.as_str()) == Some(&target[tail..])
            });
        // From a file that has another path than its URL what is relative leads to what lies around it.
        let is_renamed = base.is_some_and(|base| base.is_renamed) && category != Category::AbsPath;
        let is_between_hosts =
            base.is_some_and(|base| base.now.leads_through_layout(link.reference));
        let then = match is_alike {
            true => now.clone(),
            // The folder of a host that is not there is missing in the tree.
            false if is_between_hosts => self.index.find_below(&self.place, &moved),
            false => self.after(&target, &now, &moved, is_renamed),
        };
        self.judge(&mut finding, link, base, category, (&target, &now), then);
        finding.target = Some(target);
        finding.moved = self.moving.to.is_some().then_some(moved);
        finding
    }

    /// Judges a reference to an element of the document that holds it, if all of its ids are known.
    fn id(&self, finding: &mut Finding, link: &ScannedLink<'_>) {
        let fragment = link.reference.strip_prefix('#').filter(|_| link.entity.is_empty());
        let ids = self.number.and_then(|number| self.index.ids(number));
        if let (Some(fragment), Some(ids)) = (fragment, ids)
            && let Err(hint) = ids.find(fragment)
        {
            no_id(finding, hint);
        }
    }

    /// Judges a link to a file that a browser saved with this one.
    fn local_copy(&self, finding: &mut Finding, link: &ScannedLink<'_>) {
        let own = self.own.map(|own| Base::new(Profile::Rfc3986, own));
        let url = own.and_then(|own| own.resolve(link.reference).ok());
        let copy = url.and_then(|url| self.index.find_below(&self.place, &url.url).file());
        (finding.class, finding.cause) = match copy {
            Some(_) => (Class::Travels, None),
            None => (Class::Dangling, Some(Cause::LocalCopy)),
        };
    }

    /// Whether `target`, which is below the root now, does not become `moved` when the tree moves.
    fn strays(&self, target: &str, moved: &str) -> bool {
        let with_tree = self.index.moved(target, &self.place);
        with_tree.is_some_and(|one| self.is_another(&one, moved))
    }

    /// Whether what is at `target`, which is below the root, has that URL after the move as well.
    fn keeps_its_url(&self, target: &str) -> bool {
        let with_tree = || self.index.moved(target, &self.place);
        self.moving.to.is_some() && with_tree().is_some_and(|one| !self.is_another(&one, target))
    }

    /// Whether two URLs have different paths after the move.
    fn is_another(&self, one: &str, other: &str) -> bool {
        let path = |url: &str| self.place.below(url).map(|below| below.path);
        one != other && path(one) != path(other)
    }

    /// Where `moved` leads after the move, which is `target` before it, and `now` in the tree. What was outside or
    /// strays is outside, unless it is known to be `renamed`.
    fn after(&self, target: &str, now: &TargetPlace, moved: &str, renamed: bool) -> TargetPlace {
        if self.knows_space && *now == TargetPlace::Outside {
            return TargetPlace::Outside;
        }
        let with_tree = self.index.moved(target, &self.place);
        let takes_query = matches!(now, TargetPlace::Inside(Ok(found)) if found.takes_query);
        if with_tree.as_deref() == Some(moved) && self.is_as_now && !takes_query {
            return now.clone();
        }
        let then = self.index.find_below(&self.place, moved);
        let strays = with_tree.is_some_and(|one| self.is_another(&one, moved));
        // One file can have several URLs.
        let is_one_file = matches!(
            (now, &then),
            (TargetPlace::Inside(Ok(now)), TargetPlace::Inside(Ok(then))) if now.number == then.number
        );
        if strays && !is_one_file && !renamed { TargetPlace::Outside } else { then }
    }

    /// Judges a link that moves with its file: it leads to `target`, which is `now` in the tree, and is `then`
    /// after the move.
    fn judge(
        &self,
        finding: &mut Finding,
        link: &ScannedLink<'_>,
        base: Option<&Prepared>,
        category: Category,
        (target, now): (&str, &TargetPlace),
        then: TargetPlace,
    ) {
        let TargetPlace::Inside(then) = then else {
            finding.class = Class::Escapes;
            finding.cause = Some(match category {
                Category::NetPath => Cause::NetPath,
                Category::AbsPath => Cause::RootRelative,
                _ if base.is_some_and(|base| base.escapes) => Cause::DeclaredBase,
                _ => Cause::ClimbsOut,
            });
            finding.fix = self.fix(link, base, target, now);
            return;
        };
        let is_browsers = self.saved_by == Some(Program::Browser);
        if is_browsers && *now == TargetPlace::Outside && then.is_err() {
            finding.class = Class::Escapes;
            finding.cause = Some(Cause::NotSaved);
            return;
        }
        finding.class = Class::Travels;
        // What only other references are relative to need not be a file.
        if is_base(link) {
            return;
        }
        let number = match (now, then) {
            (TargetPlace::Inside(Err(missing)), _) => return missing.clone().told(finding),
            (TargetPlace::Inside(Ok(now)), Ok(then)) if now.number == then.number => now.number,
            // It was made to lead to what lies in the tree, of which only pages say their URLs.
            (TargetPlace::Outside, Ok(then)) if self.saved_by.is_some() => then.number,
            (now, then) => {
                finding.class = Class::Dangling;
                finding.fix = self.fix(link, base, target, now);
                let is_there = matches!(now, TargetPlace::Inside(Ok(_)));
                match then {
                    Err(missing) if !(is_there && missing.absence == Absence::Absent) => {
                        missing.told(finding);
                    }
                    _ => finding.cause = Some(Cause::Elsewhere),
                }
                return;
            }
        };
        let fragment = Reference::split(Grammar::Rfc3986, target).fragment();
        let (Some(fragment), Some(ids)) = (fragment, self.index.ids(number)) else { return };
        match ids.find(fragment) {
            Ok(()) => {}
            Err(_) if ids.has_lines(fragment) => finding.class = Class::Lines,
            Err(hint) => no_id(finding, hint),
        }
    }

    /// What makes a link that leads to `target`, which is `now` in the tree, lead to the same file after the
    /// move, wherever that goes.
    fn fix(
        &self,
        link: &ScannedLink<'_>,
        base: Option<&Prepared>,
        target: &str,
        now: &TargetPlace,
    ) -> Option<Fix> {
        if !link.is_editable
            || link.outcome == Outcome::NotEditable
            || link.reference.len() > LONGEST_BASE
            || link.is_canonical
            || (link.attribute.is_none() && is_location(link.element))
        {
            return None;
        }
        let base = base?;
        let fixed = base.fixed.as_ref()?;
        let as_written = self.index.moved(target, &self.place);
        let leads_there = |url: &str| match (self.index.find_below(&self.place, url), now) {
            (TargetPlace::Inside(Ok(then)), TargetPlace::Inside(Ok(now))) => {
                then.number == now.number
            }
            (TargetPlace::Inside(_), _) => is_base(link),
            _ => false,
        };
        let wanted = match (as_written.filter(|url| leads_there(url)), now) {
            (Some(url), _) => url,
            (None, TargetPlace::Inside(Ok(found))) => self.new_url(target, *found)?,
            _ => return None,
        };
        if (base.stays || base.escapes)
            && fixed.resolve(link.reference).is_ok_and(|resolved| resolved.url == wanted)
        {
            return Some(Fix::Base);
        }
        // Scripts know it by that.
        if link.reference == "#" {
            return None;
        }
        let mut reference = fixed.relativize(&wanted);
        // Elsewhere a fragment alone may mean an element, and not the document.
        let is_jump = matches!(link.element, "a" | "area");
        // A query alone is that of `dir/` or that of `dir/index.html`, as the document is asked for.
        let stands_for_folder = base.now.as_str().ends_with('/') && !fixed.as_str().ends_with('/');
        if (reference.starts_with('#') && !is_jump)
            || (reference.starts_with('?') && stands_for_folder)
        {
            let now = Reference::split(Grammar::Rfc3986, fixed.as_str());
            let name = now.path().rsplit('/').next().filter(|name| !name.is_empty());
            let query = now.query().filter(|_| reference.starts_with('#'));
            let query = query.map_or(String::new(), |query| format!("?{query}"));
            reference = format!("{}{query}{reference}", name.unwrap_or("./"));
        }
        let reference = unmistakable(reference, link.element, link.attribute);
        let category = Reference::split(Grammar::Rfc3986, &reference).category();
        let is_relative = matches!(category, Category::RelPath | Category::Fragment);
        (is_relative && fixed.resolve(&reference).is_ok_and(|one| leads_there(&one.url)))
            .then_some(Fix::Reference(reference))
    }

    /// The URL of a file after the move, with what `target` has after its path.
    fn new_url(&self, target: &str, found: FoundFile) -> Option<String> {
        let mut url = self.index.url_below(&self.place, found.number)?;
        let target = Reference::split(Grammar::Rfc3986, target);
        if let Some(query) = target.query().filter(|_| !found.takes_query) {
            url.push('?');
            url.push_str(query);
        }
        if let Some(fragment) = target.fragment() {
            url.push('#');
            url.push_str(fragment);
        }
        Some(url)
    }
}

/// The fragment names no id; `hint` is one that differs in case.
fn no_id(finding: &mut Finding, hint: Option<&str>) {
    finding.class = Class::Fragment;
    finding.cause = Some(if hint.is_some() { Cause::IdCase } else { Cause::NoId });
    finding.hint = hint.map(str::to_owned);
}

impl Absence {
    /// The class of a relative link to what is missing so.
    #[must_use]
    pub fn class(self) -> Class {
        match self {
            Self::LinkOut => Class::Escapes,
            _ => Class::Dangling,
        }
    }
}

impl Missing {
    fn told(self, finding: &mut Finding) {
        finding.class = self.absence.class();
        finding.cause = Some(Cause::Missing(self.absence));
        finding.hint = self.hint;
    }
}

/// Whether it declares a base for other references and is not followed itself.
fn is_base(link: &ScannedLink<'_>) -> bool {
    names_base(link.element, link.attribute)
}

/// `reference`, a relative one, as nobody takes it for something else: a placeholder, the quote or the comma of
/// the value that holds it, in a script the name of a module (HTML, 8.1.5.1).
pub(crate) fn unmistakable(reference: String, element: &str, attribute: Option<&str>) -> String {
    let is_in_script = attribute.is_none() && element.rsplit(':').next() == Some("script");
    let is_plain = match is_in_script {
        true => ["/", "./", "../"].iter().any(|start| reference.starts_with(start)),
        false => reference
            .bytes()
            .next()
            .is_none_or(|first| first.is_ascii_alphanumeric() || b"./#?_-%~".contains(&first)),
    };
    if is_plain && reference::placeholder(&reference).is_none() {
        return reference;
    }
    format!("./{reference}")
}

fn scheme(url: &str) -> Option<String> {
    Reference::split(Grammar::Rfc3986, url).scheme().map(str::to_ascii_lowercase)
}
