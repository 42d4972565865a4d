//! Labels of parts: the relative or `file:` `Content-Location`s by which the references of a document refer to other
//! parts of its message (RFC 2557, 8.2). Making a label absolute affects those references.
//!
//! ```
//! use baselink_rewrite::{Options, report::Reason, rewrite};
//! use baselink_text::format::Format;
//! let message = b"Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n\
//!                 <img src=i.png>\n--b\nContent-Location: i.png\n\nx\n--b--\n";
//! let options = Options { format: Format::Message, ..Options::at("http://a/") };
//! assert_eq!(rewrite(message, &options).report.links[0].reason, Some(Reason::SiblingPart));
//! ```
//!
//! Deliberately absent: `Content-ID`. A `cid:` URL is absolute.

use std::collections::{HashMap, HashSet};

use super::judge::Labels;
use super::judged::depends_on_base;
use super::options::{Fragments, Options};
use crate::base::{BaseChain, Rule, Source, SourceKind};
use crate::container::{EntityKind, Structure};
use crate::report::{LinkReport, Outcome, Reason};
use baselink_scan::document::UrlField;
use baselink_scan::fields::links;
use baselink_url::Base;
use baselink_url::reference;

/// The field whose URL names a part, and is its base if absolute (RFC 2557, 4.2 and 5).
pub(super) const LABEL: &str = "content-location";

/// The dependence of an entity on a base, known once the entity is planned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dependence {
    /// True if the entity depends on the base of its heading or of an enclosing entity.
    on_heading: bool,
    /// True if the entity depends on the base of an enclosing entity.
    on_outer: bool,
}

impl Dependence {
    /// Adds a dependence on the base of the entity's heading and, if `is_outer`, on the base of an enclosing entity.
    fn add(&mut self, is_outer: bool) {
        self.on_heading = true;
        self.on_outer |= is_outer;
    }

    /// Adds the dependence of the links of the entity's heading, which has the base of `chain`.
    pub(super) fn of_heading(
        &mut self,
        links: &[LinkReport],
        chain: &BaseChain,
        options: &Options,
    ) {
        if links.iter().any(depends) {
            self.add(is_outer(chain, options, false));
        }
    }

    /// Adds the dependence of the links of the entity's document, which has the base of `chain`.
    pub(super) fn of_document(
        &mut self,
        links: &[LinkReport],
        chain: &BaseChain,
        options: &Options,
    ) {
        let mut dependent = links.iter().filter(|link| depends(link)).peekable();
        if dependent.peek().is_none() {
            return;
        }
        let is_own_base =
            |link: &&LinkReport| link.element == "base" && link.entity == chain.entity;
        let is_absolute =
            |link: &LinkReport| matches!(link.outcome, Outcome::Rewritten | Outcome::Absolute);
        let own_base_becomes_absolute = chain.source == Source::BaseElement
            && links.iter().filter(is_own_base).all(is_absolute);
        // The href of a `base` element does not depend on a base of its own document.
        let is_declared = dependent.any(|link| link.element == "base");
        self.add(is_declared || is_outer(chain, options, own_base_becomes_absolute));
    }
}

fn depends(link: &LinkReport) -> bool {
    depends_on_base((link.outcome, link.reason))
}

/// True if the base of `chain`, or the URL it is compared with, changes with the enclosing headings.
/// `becomes_absolute` is true if the base comes from a base element that becomes absolute.
fn is_outer(chain: &BaseChain, options: &Options, becomes_absolute: bool) -> bool {
    // `Auto` compares an embedded base with the enclosing base. A relative base is resolved against the enclosing base,
    // and a `Snapshot-Content-Location` gives way to it.
    options.fragments_in(chain) == Fragments::Auto
        || chain.rule != Rule::Embedded
        || (chain.is_from_outside && !becomes_absolute)
        || chain.source.kind() == SourceKind::Snapshot
}

/// The entities whose label becomes absolute, and thereby the base of links that stay relative.
pub(super) fn becoming_bases<'a>(
    structure: &Structure,
    dependence: &mut [Dependence],
    chain_of: impl Fn(usize) -> &'a BaseChain,
    links: &[LinkReport],
    options: &Options,
) -> Vec<usize> {
    for (index, entity) in structure.entities.iter().enumerate().rev() {
        if let Some(parent) = entity.parent.filter(|_| dependence[index].on_outer) {
            dependence[parent].add(is_outer(chain_of(parent), options, false));
        }
    }
    let is_new = |link: &LinkReport| link.element == LABEL && link.outcome == Outcome::Rewritten;
    let relabelled: HashSet<&str> = links
        .iter()
        .filter(|link| is_new(link))
        .map(|link| &*link.entity)
        .collect();
    (0..structure.entities.len())
        .filter(|&index| dependence[index].on_heading)
        .filter(|&index| relabelled.contains(&*structure.entities[index].name))
        .collect()
}

/// True if a label is a `file:` URL, such as the made-up ones of Word. Relative references can refer to a part by this
/// label, although it is not a base.
pub(super) fn is_file(label: &str) -> bool {
    reference::opaque_scheme(label).is_some_and(|scheme| scheme == "file")
}

/// The labels by which the references of a document can refer to parts: the relative and `file:` `Content-Location`s of
/// the body parts of all enclosing multiparts (RFC 2557, 8.2).
#[derive(Default)]
pub(super) struct OpenLabels {
    /// The labels of each multipart.
    parts: HashMap<usize, Vec<Box<str>>>,
    /// The enclosing entities, outermost first, and the current entity.
    stack: Vec<usize>,
    pub(super) open: Labels,
}

impl OpenLabels {
    /// The labels of `structure`. `kept` and `stay` state for each entity whether its own label stays relative.
    pub(super) fn of(
        bytes: &[u8],
        structure: &Structure,
        options: &Options,
        kept: &[Option<Reason>],
        stay: &[bool],
    ) -> Self {
        let mut labels = Self::default();
        for (index, entity) in structure.entities.iter().enumerate() {
            let Some(parent) = entity.parent else {
                continue;
            };
            let is_multipart = matches!(
                structure.entities[parent].kind,
                EntityKind::Multipart { .. }
            );
            let Some(label) = entity.heading.url(bytes, UrlField::ContentLocation) else {
                continue;
            };
            // A label that becomes absolute still matches the links that become absolute with it.
            let stays = stay[index]
                || kept[index].is_some()
                || links(bytes, &entity.heading)
                    .iter()
                    .any(|link| link.element == LABEL && link.map.is_none());
            let is_relative =
                !label.url.is_empty() && !Base::is_absolute(options.profile, &label.url);
            if is_multipart && ((is_relative && stays) || is_file(&label.url)) {
                labels
                    .parts
                    .entry(parent)
                    .or_default()
                    .push((&*label.url).into());
            }
        }
        labels
    }

    /// Moves on to the entity `index`, a child of `parent`.
    pub(super) fn enter(&mut self, index: usize, parent: Option<usize>) {
        while let Some(&last) = self.stack.last()
            && Some(last) != parent
        {
            for label in self.parts.get(&last).into_iter().flatten() {
                if let Some(count) = self.open.get_mut(label) {
                    *count -= 1;
                    if *count == 0 {
                        self.open.remove(label);
                    }
                }
            }
            self.stack.pop();
        }
        self.stack.push(index);
        for label in self.parts.get(&index).into_iter().flatten() {
            *self.open.entry(label.clone()).or_default() += 1;
        }
    }
}
