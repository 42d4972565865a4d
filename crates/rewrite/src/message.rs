//! From a file with entities to its edits: every entity gets its base, and every document in an entity is planned
//! like a file of its own.
//!
//! ```text
//! message --entities--> heading, heading, … --base--> a BaseChain each, outermost first (RFC 1808, 3.2)
//!    leaf --transfer--> bytes --scan--> Document --plan--> edits of those bytes
//!                                                  |
//!    message' <--edits-- header fields kept right <-- lift (transfer), all of a part at once
//! ```
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! use baselink_text::format::Format;
//! let message = b"Base: <URL:http://a/b/>\nContent-Type: text/html\n\
//!                 Content-Transfer-Encoding: quoted-printable\n\n<a href=3D=\n\"x\">\n";
//! let options = Options { format: Format::Message, ..Options::default() };
//! let expected = b"Base: <URL:http://a/b/>\nContent-Type: text/html\n\
//!                  Content-Transfer-Encoding: quoted-printable\n\n<a href=3D=\n\"http://a/b/x\">\n";
//! assert_eq!(rewrite(message, &options).output(), expected);
//! ```
//!
//! Deliberately absent: the layout of entities in a file ([`crate::container`]), and recursion. The nesting depth
//! of a message is unlimited, and its entities form a list.

mod referrers;

use std::collections::HashMap;

use self::referrers::Referrers;
use super::driver::{self, Task};
use super::judge::{Judge, Surroundings};
use super::labels::{self, LABEL, OpenLabels};
use super::options::{Dkim, Options};
use super::plan::{DocumentPlan, FilePlan, PlannedPart, Requested, Settled, room};
use super::totals::RunningTotals;
use super::unfit_base::unfit_base;
use crate::base::{self, BaseChain, Outer, Rule};
use crate::container::entity::{ChangedBody, Container, Entity, EntityKind, Structure};
use crate::container::fields::{self, Placed};
use crate::container::lift::{lengthened, lift};
use crate::report::{EntityReport, LinkReport, Outcome, Reason, Report};
use baselink_scan::attributes::Group;
use baselink_scan::document::UrlField;
use baselink_scan::fields::{MediaType, links};
use baselink_scan::{self as scan, ScanOptions};
use baselink_text::diagnostic::{Code, Diagnostic};
use baselink_text::edit::{Edit, Edits};
use baselink_text::format::STILL_COMPRESSED;
use baselink_text::layer::charset::{Charset, is_ascii_superset};
use baselink_text::layer::transfer::DecodedBody;
use baselink_text::span::Span;
use baselink_url::Base;

/// The plan for the file `bytes`, which is of the kind `container`.
pub(super) fn plan(
    container: &Container,
    bytes: &[u8],
    options: &Options,
    wanted: Requested,
) -> FilePlan {
    let structure = &(container.read)(bytes, &options.scan.entity);
    let kept = why_kept(bytes, structure, options);
    let mut plan = Plan {
        bytes,
        options,
        wanted,
        tally: RunningTotals::default(),
        structure,
        report: Report {
            entities: Vec::with_capacity(kept.len()),
            diagnostics: structure.diagnostics.clone(),
            ..Report::default()
        },
        places: Vec::with_capacity(kept.len()),
        kept: &kept,
        referrers: Referrers::of(bytes, structure),
        room: room(bytes.len()),
        labels: OpenLabels::of(bytes, structure, options),
        parts: Vec::new(),
        originals: Vec::new(),
        unfit: Vec::new(),
        edits: Vec::new(),
    };
    for index in 0..kept.len() {
        plan.plan_entity(index);
    }
    plan.update_fields();
    plan.finish()
}

/// The reason for each entity, if any, why nothing in it may change.
fn why_kept(bytes: &[u8], structure: &Structure, options: &Options) -> Vec<Option<Reason>> {
    let mut kept: Vec<Option<Reason>> = Vec::with_capacity(structure.entities.len());
    for (index, entity) in structure.entities.iter().enumerate() {
        let around = entity.parent.and_then(|parent| kept[parent]);
        let dkim = || options.dkim == Dkim::Keep && structure.signature(bytes, index).is_some();
        kept.push(match entity.signed {
            true => Some(Reason::Signed),
            false => around.or_else(|| dkim().then_some(Reason::Dkim)),
        });
    }
    kept
}

/// The reason given if memory runs out before the edited message is checked.
const LACKS_MEMORY: &str = "nothing could be checked for lack of memory";

/// The plan for a message, under construction.
struct Plan<'a> {
    bytes: &'a [u8],
    options: &'a Options,
    wanted: Requested,
    structure: &'a Structure,
    report: Report,
    /// The counts of links without a report.
    tally: RunningTotals,
    /// The index of each entity in the report.
    places: Vec<usize>,
    /// For each entity, the reason, if any, why nothing in it may change.
    kept: &'a [Option<Reason>],
    /// The number of bytes by which the remaining links may grow.
    room: usize,
    referrers: Referrers,
    labels: OpenLabels,
    parts: Vec<PlannedPart>,
    /// The decoded body of each planned part.
    originals: Vec<DecodedBody<'a>>,
    /// Diagnostics of unusable bases, reported only if there are links.
    unfit: Vec<Diagnostic>,
    /// The edits of the message, each with the entity whose heading or body it changes.
    edits: Vec<Placed>,
}

impl Plan<'_> {
    /// Establishes the base of an entity and plans its content. Enclosing entities come first.
    fn plan_entity(&mut self, index: usize) {
        let entity = &self.structure.entities[index];
        self.labels.enter(index, entity.parent);
        let mut heading = self.heading(index);
        match self.report.diagnostics.is_empty() {
            true => self.report.diagnostics = std::mem::take(&mut heading.diagnostics),
            false => self.report.diagnostics.append(&mut heading.diagnostics),
        }
        let links_before = self.links();
        self.header_links(index, &heading);
        self.places.push(self.report.entities.len());
        let unfit = match heading.rule {
            Rule::Embedded | Rule::Retrieval => unfit_base(&heading, self.options.profile),
            Rule::Encapsulating | Rule::Default => None,
        };
        let retrieval = self.options.retrieval.as_ref().map(|one| one.url.as_str());
        let media_type = self.structure.media_type(self.bytes, index, retrieval);
        if entity.kind != EntityKind::Leaf || !self.plan_content(index, &media_type, &heading) {
            self.report.entities.push(EntityReport {
                parent: entity.parent.map(|parent| self.places[parent]),
                format: media_type.format(),
                media_type: media_type.to_string().into(),
                charset: Charset::UTF_8,
                chain: heading,
                ids: Vec::new(),
                without_tree: false,
            });
        }
        // The label of an image, for example, is not the base of any link.
        if entity.kind != EntityKind::Leaf || self.links() > links_before {
            self.unfit.extend(unfit);
        }
    }

    /// The number of links so far.
    fn links(&self) -> usize {
        self.report.links.len() + self.tally.totals.links()
    }

    fn heading(&self, index: usize) -> BaseChain {
        let entity = &self.structure.entities[index];
        let outer = match entity.parent {
            Some(parent) => match self.referrers.referrer(self.bytes, entity) {
                Some(document) => Outer::Referring(self.chain_of(document)),
                None => Outer::Encapsulating(self.chain_of(parent)),
            },
            None => self.options.outer(),
        };
        let fields = self.structure.bases(self.bytes, index);
        let Options {
            profile,
            content_location,
            ..
        } = *self.options;
        base::of_heading(&entity.name, &fields, outer, profile, content_location)
    }

    /// The base of an enclosing entity: that of its heading, or of its document.
    fn chain_of(&self, entity: usize) -> &BaseChain {
        &self.report.entities[self.places[entity]].chain
    }

    /// Judges the links in the heading itself: "the base URL for a message serves as both the base for any relative
    /// URLs within the message headers and the default base URL for documents enclosed" (RFC 1808, 3.1).
    fn header_links(&mut self, index: usize, heading: &BaseChain) {
        if !self.options.scan.groups.contains(Group::Headers) {
            return;
        }
        let fields = &self.structure.entities[index].heading;
        let judge = |kept: Option<Reason>| {
            let around = Surroundings {
                kept,
                ..Surroundings::default()
            };
            Judge::new(Charset::UTF_8, heading, self.options, around)
        };
        let mut of_label = judge(self.kept[index].or(Some(Reason::Label)));
        let mut of_others = judge(self.kept[index]);
        let mut found = DocumentPlan::within(Some(self.room));
        for link in links(self.bytes, fields) {
            let is_label =
                link.element == LABEL && !Base::is_absolute(self.options.profile, &link.reference);
            let of_one = if is_label {
                &mut of_label
            } else {
                &mut of_others
            };
            if let Some(judged) = of_one.link(link, Charset::UTF_8, &[]) {
                found.add(judged);
            }
        }
        let outgrown = found.settle();
        let span = Span::at(fields.span.start);
        self.report
            .diagnostics
            .extend(outgrown.map(|one| Diagnostic { span, ..one }));
        let Settled { edits, links, .. } = Settled::of(found);
        self.grow(&edits);
        self.report.links.extend(links);
        self.edits.extend(edits.iter().map(|edit| Placed {
            edit: edit.into_owned(),
            entity: index,
            in_body: false,
        }));
    }

    /// Plans the document that is the content of a leaf; `false` if it is not a document of a known format.
    fn plan_content(&mut self, index: usize, media_type: &MediaType, heading: &BaseChain) -> bool {
        let entity = &self.structure.entities[index];
        let format = media_type.format();
        if !scan::is_read(format, &self.options.scan) {
            return false;
        }
        let label = media_type.parameter("charset");
        if let Some(label) = label.filter(|label| !is_ascii_superset(label)) {
            let message = format!("the charset {label} is unknown; the part was kept unchanged");
            self.warn(Code::CharsetUnknown, Span::at(entity.body.start), message);
            return false;
        }
        let decoded = match entity.decode(self.bytes) {
            Ok(decoded) => decoded,
            Err(obstacle) => {
                let message = format!("this part was kept unchanged: {obstacle}");
                self.warn(Code::TransferUndecodable, Span::at(obstacle.at), message);
                return false;
            }
        };
        if format.is_of_page() && decoded.is_compressed() {
            let message = format!("this part was kept unchanged: {STILL_COMPRESSED}");
            self.warn(
                Code::TransferUndecodable,
                Span::at(entity.body.start),
                message,
            );
            return false;
        }
        self.referrers.add(index, format, &decoded.bytes);
        let options = ScanOptions {
            entity: entity.name.clone(),
            charset: label
                .and_then(Charset::for_label)
                .or(self.options.scan.charset),
            ..self.options.scan.clone()
        };
        let kept = match (self.structure.container.is_sealed)(&decoded.bytes) {
            true => Some(Reason::Signed),
            false => self.kept[index],
        };
        let Some(mut settled) =
            self.document((entity, media_type), &options, heading, kept, &decoded)
        else {
            return false;
        };
        let lifted = match (decoded.obstacle(), settled.edits.is_empty()) {
            (Some(obstacle), _) if settled.is_rewritten() => Some(Err(obstacle)),
            (_, true) => None,
            // In a container with a single entity, the outcome of a link does not depend on the edits.
            _ if self.wanted == Requested::Links && self.structure.container.is_single => None,
            (_, false) => Some(lift(
                self.bytes,
                self.structure,
                entity,
                &decoded,
                &settled.edits,
            )),
        };
        if !matches!(lifted, Some(Err(_))) {
            self.report.diagnostics.extend_from_slice(&decoded.remarks);
        }
        match lifted {
            None => {}
            Some(Ok(lifted)) => {
                let too_long = lengthened(self.bytes, self.structure, entity, &lifted);
                self.report.diagnostics.extend(too_long);
                let (bytes, edits) = (self.bytes, &settled.edits);
                let changed = ChangedBody {
                    bytes,
                    entity,
                    decoded: &decoded,
                    edits,
                    lifted: &lifted,
                };
                let (described, remarks) = (self.structure.container.describe)(&changed);
                let placed = |edit: Edit<'_>, in_body| Placed {
                    edit: edit.into_owned(),
                    entity: index,
                    in_body,
                };
                self.edits
                    .extend(lifted.iter().map(|edit| placed(edit, true)));
                self.edits
                    .extend(described.into_iter().map(|edit| placed(edit, false)));
                self.report.diagnostics.extend(remarks);
                self.parts.push(PlannedPart {
                    body: entity.body,
                    entity: self.places[index],
                    edits: Some(settled.edits),
                    rewritten: settled.rewritten,
                });
                self.originals.push(decoded);
            }
            Some(Err(obstacle)) => {
                let message = format!("this part was kept unchanged: {obstacle}");
                self.warn(Code::TransferUndecodable, Span::at(obstacle.at), message);
                settled.tally.refuse(Reason::Transfer);
                refuse(&mut settled.links, Reason::Transfer);
            }
        }
        self.report.links.append(&mut settled.links);
        self.tally.append(settled.tally);
        true
    }

    /// The `file:` URL that labels `entity`, if references in it can refer to other parts by labels.
    fn location(&self, entity: &Entity) -> Option<Base> {
        if self.labels.open.is_empty() {
            return None;
        }
        // A style sheet that was taken out of a document is relative to that document.
        let referrer = self.referrers.referrer(self.bytes, entity);
        let entity = referrer.map_or(entity, |document| &self.structure.entities[document]);
        let location = entity
            .heading
            .url(self.bytes, UrlField::ContentLocation)?
            .url;
        labels::is_file(&location).then(|| Base::new(self.options.profile, &location))
    }

    /// Plans the document in a part. Spans in the report are offsets in the message.
    fn document(
        &mut self,
        (entity, media_type): (&Entity, &MediaType),
        scan: &ScanOptions,
        heading: &BaseChain,
        kept: Option<Reason>,
        decoded: &DecodedBody<'_>,
    ) -> Option<Settled> {
        let location = self.location(entity);
        let (labels, location) = (Some(&self.labels.open), location.as_ref());
        let around = Surroundings {
            kept,
            labels,
            location,
            room: Some(self.room),
        };
        let (outer, is_listed) = (Outer::Heading(heading), self.wanted.is_listed());
        let task = Task {
            options: self.options,
            scan,
            around,
            outer,
            is_listed,
        };
        let mut plan = driver::content(task, media_type.format(), &decoded.bytes)?;
        let first = self.report.entities.len();
        let parent = entity.parent.map(|parent| self.places[parent]);
        for (index, report) in plan.entities.iter_mut().enumerate() {
            report.parent = match index {
                0 => parent,
                _ => report.parent.map(|parent| parent + first),
            };
        }
        plan.entities[0].media_type = media_type.to_string().into();
        plan.move_reports(|span| decoded.covering(span));
        self.report.entities.append(&mut plan.entities);
        self.report.diagnostics.append(&mut plan.diagnostics);
        let mut settled = Settled::of(plan);
        self.grow(&settled.edits);
        for link in &mut settled.links {
            link.span = decoded.covering(link.span);
        }
        Some(settled)
    }

    /// Subtracts the bytes that `edits` add from the room.
    fn grow(&mut self, edits: &Edits) {
        let added = edits
            .iter()
            .map(|edit| edit.new.len().saturating_sub(edit.span.len()));
        self.room = self.room.saturating_sub(added.sum());
    }

    fn warn(&mut self, code: Code, span: Span, message: String) {
        self.report
            .diagnostics
            .push(Diagnostic::new(code, span, message));
    }

    /// Updates the header fields that describe bodies, and reports the signatures that become invalid.
    fn update_fields(&mut self) {
        let entities = &self.structure.entities;
        let changes = fields::keep_lengths(self.bytes, self.structure, &mut self.edits);
        for (index, entity) in entities
            .iter()
            .enumerate()
            .rev()
            .filter(|(index, _)| changes[*index])
        {
            let Some(signature) = self.structure.signature(self.bytes, index) else {
                continue;
            };
            let of = match &*entity.name {
                "" => "the message".to_owned(),
                name => format!("the message {name}"),
            };
            let message = format!("changed links invalidate this signature (DKIM, ARC) of {of}");
            self.warn(Code::SignatureBroken, signature, message);
        }
    }

    /// Sorts the edits, and verifies the edited message before returning the plan.
    fn finish(mut self) -> FilePlan {
        if self.links() > 0 {
            self.report.diagnostics.append(&mut self.unfit);
        }
        self.edits.sort_by_key(|placed| placed.edit.span.start);
        let mut edits = Edits::default();
        let mut in_order = true;
        for Placed { edit, .. } in std::mem::take(&mut self.edits) {
            in_order &= edits.add(edit.span, &edit.new);
        }
        let is_outgrown = self
            .report
            .diagnostics
            .iter()
            .any(|one| one.code == Code::Growth);
        if is_outgrown {
            // If only some parts grew, the longer file would have room for the others on a second run.
            self.tally.refuse(Reason::Growth);
            self.report.links.iter_mut().for_each(LinkReport::outgrow);
            (edits, self.parts) = (Edits::default(), Vec::new());
        }
        let doubt = match in_order {
            true => self.doubt(&edits),
            false => Some("two changes overlap"),
        };
        if let Some(doubt) = doubt {
            self.tally.refuse(Reason::Doubt);
            refuse(&mut self.report.links, Reason::Doubt);
            let noun = self.structure.container.noun;
            let message = format!("the {noun} was kept unchanged, because in the result {doubt}");
            self.report
                .diagnostics
                .push(Diagnostic::new(Code::Doubt, Span::at(0), message));
            (edits, self.parts) = (Edits::default(), Vec::new());
        }
        self.tally.totals.lacks_memory = doubt == Some(LACKS_MEMORY);
        FilePlan {
            edits,
            parts: self.parts,
            report: self.report,
            tally: self.tally,
        }
    }

    /// The reason why the edited message does not read back as expected; `None` if it does. Its entities must be the
    /// same, and every part must contain the edited document.
    fn doubt(&self, edits: &Edits) -> Option<&'static str> {
        if edits.is_empty() {
            return None;
        }
        let Ok(output) = edits.try_apply(self.bytes) else {
            return Some(LACKS_MEMORY);
        };
        let found = match self.structure.of_output(self.bytes, &output) {
            Ok(found) => found,
            Err(odd) => return Some(odd),
        };
        let entity_at: HashMap<usize, usize> = self
            .places
            .iter()
            .enumerate()
            .map(|(index, &place)| (place, index))
            .collect();
        let reads = |part: &PlannedPart, old: &DecodedBody<'_>| {
            let entity = found.entities.get(*entity_at.get(&part.entity)?)?;
            let planned = part.edits.as_ref()?;
            planned
                .make(&old.bytes, &entity.decode(&output).ok()?.bytes)
                .then_some(())
        };
        let mut parts = self.parts.iter().zip(&self.originals);
        let differs = parts.any(|(part, old)| reads(part, old).is_none());
        differs.then_some("a part does not decode to its changed content")
    }
}

fn refuse(links: &mut [LinkReport], reason: Reason) {
    links
        .iter_mut()
        .filter(|link| link.outcome == Outcome::Rewritten)
        .for_each(|link| link.refuse(reason));
}
