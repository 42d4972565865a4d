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
//! use baselink_text::Format;
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

pub mod referrers;

use std::collections::HashMap;

use baselink_scan::{
    self as scan, MediaType, ScanOptions, UrlField, attributes::Group, fields::links,
};
use baselink_text::{
    Charset, Code, Diagnostic, Edits, Span,
    format::STILL_COMPRESSED,
    layer::{
        charset::is_ascii_superset,
        transfer::{DecodedBody, Obstacle},
    },
};
use baselink_url::Base;

use self::referrers::{Referrers, label_of_sheet};
use super::{
    driver::{self, Task},
    judge::{Judge, Surroundings},
    labels::{self, LABEL, OpenLabels},
    options::{Destination, Dkim, FileRequest, Options},
    plan::{DocumentPlan, FilePlan, LinkSink, PlannedPart, Within, room},
    totals::RunningTotals,
    unfit_base::unfit_base,
};
use crate::{
    base::{BaseChain, Outer, Rule},
    container::{
        entity::{ChangedBody, Container, EntityKind, Structure},
        fields::{self, EntityEdits},
        lift::{lengthened, lift},
    },
    report::{EntityReport, LinkReport, Outcome, Reason, Report},
};

/// The plan for the file `bytes`, which is of the kind `container`. Each link goes to `sink`. Without `has_edits`, edits
/// are made only if the outcome of a link depends on them.
pub fn plan<'r>(
    container: &Container,
    bytes: &[u8],
    (options, destination): FileRequest<'_>,
    sink: Option<&'r mut (dyn LinkSink + 'r)>,
    has_edits: bool,
) -> FilePlan {
    let structure = &(container.read)(bytes, &options.scan.entity);
    let kept = why_kept(bytes, structure, options);
    let mut plan = Plan {
        bytes,
        options,
        destination,
        sink,
        // In a container with a single entity, the outcome of a link does not depend on the edits.
        lifts: has_edits || !container.is_single,
        tally: RunningTotals::default(),
        structure,
        report: Report {
            entities: Vec::with_capacity(kept.len()),
            diagnostics: structure.diagnostics.clone(),
            ..Report::default()
        },
        places: Vec::with_capacity(kept.len()),
        kept: &kept,
        referrers: Referrers::of(structure, |entity| label_of_sheet(bytes, entity)),
        room: room(bytes.len()),
        labels: OpenLabels::of(bytes, structure, options),
        parts: Vec::new(),
        originals: Vec::new(),
        unfit: Vec::new(),
        edits: EntityEdits::default(),
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
        kept.push(if entity.signed {
            Some(Reason::Signed)
        } else {
            around.or_else(|| {
                (options.dkim == Dkim::Keep && structure.signature(bytes, index).is_some())
                    .then_some(Reason::Dkim)
            })
        });
    }
    kept
}

/// The reason given if memory runs out before the edited message is checked.
const LACKS_MEMORY: &str = "nothing could be checked for lack of memory";

/// The length of a body from which its links are not held until the end of the message, but judged twice.
const LONG: usize = 64 << 10;

/// The plan for a message, under construction.
struct Plan<'a, 'r> {
    bytes: &'a [u8],
    options: &'a Options,
    destination: Option<&'a dyn Destination>,
    sink: Option<&'r mut (dyn LinkSink + 'r)>,
    /// True if edits of a body are lifted to the message.
    lifts: bool,
    structure: &'a Structure,
    /// Its links are those that were not passed on yet: a later part may change their outcomes.
    report: Report,
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
    /// The entity of each planned part, and its decoded body.
    originals: Vec<(usize, DecodedBody<'a>)>,
    /// Diagnostics of unusable bases, reported only if there are links.
    unfit: Vec<Diagnostic>,
    edits: EntityEdits,
}

impl Plan<'_, '_> {
    /// Establishes the base of an entity and plans its content. Enclosing entities come first.
    fn plan_entity(&mut self, index: usize) {
        let entity = &self.structure.entities[index];
        self.labels.enter(index, entity.parent);
        let mut heading = self.heading(index);
        self.report.diagnostics.append(&mut heading.diagnostics);
        let links_before = self.tally.totals.links();
        self.header_links(index, &heading);
        self.places.push(self.report.entities.len());
        let unfit = match heading.rule {
            Rule::Embedded | Rule::Retrieval => unfit_base(&heading, self.options.resolver),
            Rule::Encapsulating | Rule::Default => None,
        };
        let retrieval = self.options.retrieval.as_ref().map(|one| one.url.as_str());
        let media_type = self.structure.media_type(self.bytes, index, retrieval);
        if entity.kind != EntityKind::Leaf || !self.plan_content(index, &media_type, &heading) {
            self.report.entities.push(EntityReport {
                parent: entity.parent.map(|parent| self.places[parent]),
                format: media_type.format(),
                media_type: media_type.essence.clone(),
                charset: Charset::UTF_8,
                chain: heading,
                ids: Vec::new(),
                without_tree: false,
            });
        }
        // The label of an image, for example, is not the base of any link.
        if entity.kind != EntityKind::Leaf || self.tally.totals.links() > links_before {
            self.unfit.extend(unfit);
        }
    }

    fn heading(&self, index: usize) -> BaseChain {
        let (bytes, structure, options) = (self.bytes, self.structure, self.options);
        // The base of an enclosing entity is that of its heading, or of its document.
        let chain = |entity: usize| &self.report.entities[self.places[entity]].chain;
        self.referrers
            .base_of(bytes, structure, index, options, chain)
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
                destination: self.destination,
                ..Surroundings::default()
            };
            Judge::new(Charset::UTF_8, heading, self.options, around)
        };
        let mut of_label = judge(self.kept[index].or(Some(Reason::Label)));
        let mut of_others = judge(self.kept[index]);
        let around = Surroundings {
            room: Some(self.room),
            ..Surroundings::default()
        };
        let (mut found, own) = (DocumentPlan::new(&around, None), (heading, Charset::UTF_8));
        for link in links(self.bytes, fields) {
            let is_label =
                link.element == LABEL && !Base::is_absolute(self.options.resolver, &link.reference);
            let of_one = if is_label {
                &mut of_label
            } else {
                &mut of_others
            };
            if let Some(judged) = of_one.link(self.bytes, link, Charset::UTF_8, &[]) {
                found.add(judged, own, &mut None);
            }
        }
        let outgrown = found.settle(false);
        let span = Span::at(fields.span.start);
        self.report
            .diagnostics
            .extend(outgrown.map(|one| Diagnostic { span, ..one }));
        found.held.sort_by_key(|judged| judged.report.span.start);
        let receive: &mut dyn LinkSink =
            &mut |link: LinkReport, _: Within<'_>, _: Charset| self.report.links.push(link);
        found.release(own, self.sink.is_some().then_some(receive));
        self.grow(&found.edits);
        let edits = found.edits.iter().map(|edit| (index, edit.into_owned()));
        self.edits.in_headings.extend(edits);
        self.tally.append(found.tally, |span| span);
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
                self.warn_of(obstacle);
                return false;
            }
        };
        let totals = &mut self.tally.totals;
        totals.decoded = totals.decoded.saturating_add(decoded.bytes.len());
        if format.is_of_page() && decoded.is_compressed() {
            self.warn_of(Obstacle {
                at: entity.body.start,
                reason: STILL_COMPRESSED,
            });
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
        let kept = if (self.structure.container.is_sealed)(&decoded.bytes) {
            Some(Reason::Signed)
        } else {
            self.kept[index]
        };
        let before = self.report.links.len();
        let found = self.document((index, media_type), &options, heading, kept, &decoded);
        let Some((mut plan, rewritten)) = found else {
            return false;
        };
        let is_rewritten = plan.tally.totals.count(Outcome::Rewritten) > 0;
        let lifted = match decoded.obstacle().filter(|_| is_rewritten) {
            Some(obstacle) => Err(obstacle),
            None if plan.edits.is_empty() || !self.lifts => Ok(Edits::default()),
            None => lift(self.bytes, self.structure, entity, &decoded, &plan.edits),
        };
        match &lifted {
            Ok(_) => self.report.diagnostics.extend_from_slice(&decoded.remarks),
            Err(_) => {
                plan.tally.refuse(Reason::Transfer);
                refuse(self.report.links.iter_mut().skip(before), Reason::Transfer);
            }
        }
        self.tally.append(plan.tally, |span| decoded.covering(span));
        match lifted {
            Ok(lifted) if lifted.is_empty() => {}
            Ok(lifted) => {
                let too_long = lengthened(self.bytes, self.structure, entity, &lifted);
                self.report.diagnostics.extend(too_long);
                let changed = ChangedBody {
                    bytes: self.bytes,
                    entity,
                    decoded: &decoded,
                    edits: &plan.edits,
                    lifted: &lifted,
                };
                let (described, remarks) = (self.structure.container.describe)(&changed);
                let described = described.into_iter().map(|edit| (index, edit));
                self.edits.in_headings.extend(described);
                self.edits.in_bodies.push((index, lifted));
                self.report.diagnostics.extend(remarks);
                self.parts.push(PlannedPart {
                    body: entity.body,
                    entity: self.places[index],
                    edits: plan.edits,
                    rewritten,
                });
                self.originals.push((index, decoded));
            }
            Err(obstacle) => self.warn_of(obstacle),
        }
        true
    }

    /// The `file:` URL that labels the entity `index`, if references in it can refer to other parts by labels.
    fn location(&self, index: usize) -> Option<Base> {
        if self.labels.open.is_empty() {
            return None;
        }
        // A part that was taken out of a document is relative to that document.
        let index = self.referrers.referrer(index).unwrap_or(index);
        let location = self.structure.entities[index]
            .heading
            .url(self.bytes, UrlField::ContentLocation)?
            .url;
        labels::is_file(&location).then(|| Base::new(self.options.resolver, &location))
    }

    /// Plans the document in a part. Spans in the report are offsets in the message. The second result is the spans of its
    /// rewritten links.
    fn document(
        &mut self,
        (index, media_type): (usize, &MediaType),
        scan: &ScanOptions,
        heading: &BaseChain,
        kept: Option<Reason>,
        decoded: &DecodedBody<'_>,
    ) -> Option<(DocumentPlan, Vec<Span>)> {
        let location = self.location(index);
        let task = Task {
            options: self.options,
            scan,
            around: Surroundings {
                kept,
                labels: Some(&self.labels.open),
                location: location.as_ref(),
                room: Some(self.room),
                foreseen: None,
                destination: self.destination,
            },
            outer: Outer::Heading(heading),
        };
        let (format, bytes) = (media_type.format(), &*decoded.bytes);
        let is_long = self.structure.container.is_single && bytes.len() >= LONG;
        let has_sink = self.sink.is_some();
        let passes_on =
            is_long && has_sink && self.options.guard.is_none() && self.report.links.is_empty();
        let (mut rewritten, has_obstacle) = (Vec::new(), decoded.obstacle().is_some());
        let receive: &mut dyn LinkSink =
            &mut |mut link: LinkReport, within: Within<'_>, _: Charset| {
                if link.outcome == Outcome::Rewritten {
                    rewritten.push(link.span);
                    if has_obstacle {
                        link.refuse(Reason::Transfer);
                    }
                }
                link.span = decoded.covering(link.span);
                match &mut self.sink {
                    Some(sink) if passes_on => sink.link(link, within, Charset::UTF_8),
                    _ => self.report.links.push(link),
                }
            };
        let receive = has_sink.then_some(receive);
        let mut plan = driver::content(task, format, bytes, receive)?;
        let first = self.report.entities.len();
        let parent = self.structure.entities[index].parent;
        let parent = parent.map(|parent| self.places[parent]);
        for (index, report) in plan.entities.iter_mut().enumerate() {
            report.parent = match index {
                0 => parent,
                _ => report.parent.map(|parent| parent + first),
            };
        }
        plan.entities[0].media_type = media_type.essence.clone();
        plan.move_reports(|span| decoded.covering(span));
        self.report.entities.append(&mut plan.entities);
        self.report.diagnostics.append(&mut plan.diagnostics);
        self.grow(&plan.edits);
        Some((plan, rewritten))
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

    fn warn_of(&mut self, obstacle: Obstacle) {
        let message = format!("this part was kept unchanged: {obstacle}");
        self.warn(Code::TransferUndecodable, Span::at(obstacle.at), message);
    }

    /// Updates the header fields that describe bodies, and reports the signatures that become invalid.
    fn update_fields(&mut self) {
        if self.structure.container.is_single {
            return;
        }
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
                name => format!("message {name}"),
            };
            let message = format!("changed links invalidate this signature (DKIM, ARC) of {of}");
            self.warn(Code::SignatureBroken, signature, message);
        }
    }

    /// Sorts the edits, and verifies the edited message before returning the plan.
    fn finish(mut self) -> FilePlan {
        if self.tally.totals.links() > 0 {
            self.report.diagnostics.append(&mut self.unfit);
        }
        let mut edits = std::mem::take(&mut self.edits).all();
        let mut diagnostics = self.report.diagnostics.iter();
        if diagnostics.any(|one| one.code == Code::Growth) {
            // If only some parts grew, the longer file would have room for the others on a second run.
            self.tally.refuse(Reason::Growth);
            refuse(self.report.links.iter_mut(), Reason::Growth);
            (edits, self.parts) = (Some(Edits::default()), Vec::new());
        }
        let doubt = match &edits {
            Some(edits) => self.doubt(edits),
            None => Some("two changes overlap"),
        };
        if let Some(doubt) = doubt {
            self.tally.refuse(Reason::Doubt);
            refuse(self.report.links.iter_mut(), Reason::Doubt);
            let noun = self.structure.container.noun;
            let message = format!("the {noun} was kept unchanged, because in the result {doubt}");
            self.warn(Code::Doubt, Span::at(0), message);
            (edits, self.parts) = (None, Vec::new());
        }
        self.tally.totals.lacks_memory = doubt == Some(LACKS_MEMORY);
        self.pass_on();
        let edits = edits.unwrap_or_default();
        FilePlan::new(edits, self.parts, self.report, self.tally)
    }

    /// Passes on the links that were held.
    fn pass_on(&mut self) {
        let Report {
            entities, links, ..
        } = &mut self.report;
        let by_name = entities.iter().rev();
        let by_name: HashMap<_, _> = by_name.map(|one| (&*one.chain.entity, one)).collect();
        let Some(sink) = &mut self.sink else { return };
        for link in links.drain(..) {
            if let Some(one) = by_name.get(&*link.entity) {
                sink.link(link, (&one.chain, one.charset), Charset::UTF_8);
            }
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
        // The output has as many entities.
        let reads = |edits: &Edits, (entity, old): &(usize, DecodedBody<'_>)| {
            let new = found.entities[*entity].decode(&output);
            new.is_ok_and(|new| edits.make(&old.bytes, &new.bytes))
        };
        let mut parts = self.parts.iter().zip(&self.originals);
        parts
            .any(|(part, old)| !reads(&part.edits, old))
            .then_some("a part does not decode to its changed content")
    }
}

fn refuse<'l>(links: impl Iterator<Item = &'l mut LinkReport>, reason: Reason) {
    links
        .filter(|link| link.outcome == Outcome::Rewritten)
        .for_each(|link| link.refuse(reason));
}
