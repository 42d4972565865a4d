//! `xml:base` (XML Base, 3 and 4): that of the document element, and those below it.
//!
//! Each is relative to the one around it, and the outermost to the base that the document has without
//! them. The first is the base of the document (RFC 1808, 3.1), the others are bases of elements.
//!
//! ```
//! use baselink::base::{self, Outer};
//! use baselink::format::Format;
//! use baselink::resolve::Profile;
//! let feed = b"<feed xml:base='http://a/b/'><entry xml:base='c/'/></feed>";
//! let document = baselink::scan_as(Format::Xml, feed, &Default::default()).unwrap();
//! let chain = base::establish(&document, Outer::Retrieval(None), Profile::Rfc1808);
//! assert_eq!(chain.base.as_deref(), Some("http://a/b/"));
//! assert_eq!(&*chain.elements[0].base.as_ref().unwrap().url, "http://a/b/c/");
//! ```
//!
//! Deliberately absent: elements. A base knows only the number of the one around it.

use std::borrow::Cow;
use std::sync::Arc;

use super::{
    BaseChain, DeclaredUrl, ElementChain, Established, INNER, Level, Rule, Source, Status, UNKNOWN,
    abridged,
};
use crate::document::{Against, BaseKind, Document, ElementBase};
use crate::format::Format;
use crate::reference;
use crate::resolve::Profile;
use crate::span::Span;

/// Whether the profile reads `xml:base` in a document of the format: browsers no longer do.
fn honours_xml_base(format: Format, profile: Profile) -> bool {
    profile != Profile::Whatwg || !matches!(format, Format::Xhtml | Format::Svg)
}

impl BaseChain {
    /// 3.1, inside all the rest: `xml:base` of the document element, then those below it, each relative
    /// to the one around it (XML Base, 4.2).
    pub(super) fn xml_bases(&mut self, document: &Document, profile: Profile) {
        let honours = honours_xml_base(document.format, profile);
        self.honours_xml_base = honours;
        let root = document.bases.iter().find(|declared| declared.kind == BaseKind::XmlBase);
        let mut levels = Vec::with_capacity(document.element_bases.len() + 1);
        if let Some(declared) = root {
            let value = declared.value.as_deref().unwrap_or_default();
            let outer = self.base.clone();
            let (status, reason) = if honours {
                let (taken, status, reason) = xml_base(
                    value,
                    declared.is_known,
                    outer.as_ref(),
                    (profile, self.assumed_scheme.as_ref()),
                );
                if let Some(Given { base, is_absolute }) = taken {
                    self.is_from_outside &= !is_absolute;
                    for level in &mut self.levels {
                        if level.status == Status::Taken {
                            (level.status, level.reason) = (Status::PassedOver, INNER.into());
                        }
                    }
                    self.take(base, Rule::Embedded, Source::XmlBase);
                    self.declared = None;
                }
                (status, reason)
            } else {
                (Status::PassedOver, BROWSERS.into())
            };
            levels.push(self.xml_base_level(value, declared.span, status, reason));
        }
        for declared in &document.element_bases {
            let ElementBase { is_entry_link, outer, value, is_known, span } = declared;
            let around = match outer.and_then(|outer| self.elements.get(outer)) {
                Some(around) => around.clone(),
                None => {
                    ElementChain { base: self.established(), is_from_outside: self.is_from_outside }
                }
            };
            if *is_entry_link {
                levels.extend(self.entry_link(declared, around, profile));
                continue;
            }
            let (taken, status, reason) = match honours {
                true => {
                    let outer = around.base.as_ref().map(|base| &base.url);
                    xml_base(value, *is_known, outer, (profile, self.assumed_scheme.as_ref()))
                }
                false => (None, Status::PassedOver, BROWSERS.into()),
            };
            let (status, reason) = match &taken {
                Some(given) => (Status::PassedOver, for_its_element(&given.base)),
                None => (status, reason),
            };
            levels.push(self.xml_base_level(value, *span, status, reason));
            self.elements.push(match taken {
                Some(Given { base: url, is_absolute }) => ElementChain {
                    base: Some(Established { url, rule: Rule::Embedded, source: Source::XmlBase }),
                    is_from_outside: around.is_from_outside && !is_absolute,
                },
                None => around,
            });
        }
        levels.append(&mut self.levels);
        self.levels = levels;
    }

    pub(super) fn xml_base_level(
        &self,
        value: &str,
        span: Span,
        status: Status,
        reason: Cow<'static, str>,
    ) -> Level {
        Level {
            entity: Arc::clone(&self.entity),
            rule: Rule::Embedded,
            source: Source::XmlBase,
            value: Some(value.into()),
            span: Some(span),
            status,
            reason,
        }
    }

    /// The chain as a document sees it that lies where references are resolved `against`.
    #[doc(hidden)]
    #[must_use]
    pub fn seen_by(&self, against: &Against) -> Cow<'_, Self> {
        let (base, is_from_outside) = match against {
            Against::Element(index) => match self.elements.get(*index) {
                Some(element) => (element.base.as_ref(), element.is_from_outside),
                None => return Cow::Borrowed(self),
            },
            Against::DocumentEntity if self.source == Source::XmlBase => {
                (self.document.as_ref(), self.is_from_outside)
            }
            _ => return Cow::Borrowed(self),
        };
        // A base that is no xml:base was inherited as the whole document inherits it.
        let is_own =
            base.is_some_and(|base| matches!(base.source, Source::XmlBase | Source::EntryLink));
        Cow::Owned(Self {
            entity: Arc::clone(&self.entity),
            base: base.map(|base| Arc::clone(&base.url)),
            rule: base.map_or(Rule::Default, |base| base.rule),
            source: base.map_or(Source::Default, |base| base.source),
            declared: if is_own { None } else { self.declared.clone() },
            is_from_outside,
            levels: Vec::new(),
            fallback: None,
            retrieval: None,
            document: None,
            elements: Vec::new(),
            honours_xml_base: true,
            has_written_base: false,
            saved: self.saved.clone(),
            was_saved_with_files: self.was_saved_with_files,
            assumed_scheme: self.assumed_scheme.clone(),
            diagnostics: Vec::new(),
        })
    }
}

/// What is said of an `xml:base` below the document element.
fn for_its_element(base: &str) -> Cow<'static, str> {
    for_its("element", base)
}

/// The same of what a base counts for.
pub(super) fn for_its(what: &str, base: &str) -> Cow<'static, str> {
    // There may be many, each as long as the longest base.
    const SHOWN: usize = 256;
    match base.len() <= SHOWN {
        true => format!("it counts for its {what} only, where the base is {base}").into(),
        false => format!("it counts for its {what} only, where the base is a long one").into(),
    }
}

const BROWSERS: &str = "browsers do not read xml:base in XHTML and SVG";

/// The base that an `xml:base` gives.
pub(super) struct Given {
    pub(super) base: Arc<str>,
    /// Whether it says all of it itself.
    pub(super) is_absolute: bool,
}

/// The base that `value` gives as an `xml:base` inside `outer`.
pub(super) fn xml_base(
    value: &str,
    is_known: bool,
    outer: Option<&Arc<str>>,
    (profile, scheme): (Profile, Option<&Arc<str>>),
) -> (Option<Given>, Status, Cow<'static, str>) {
    let taken = |base, is_absolute, reason: Cow<'static, str>| {
        (Some(Given { base, is_absolute }), Status::Taken, reason)
    };
    if !is_known {
        return taken(value.into(), true, UNKNOWN.into());
    }
    if let (true, Some(outer)) = (value.is_empty(), outer) {
        return taken(Arc::clone(outer), false, "it is empty: the base around it".into());
    }
    if reference::placeholder(value).is_some() || reference::contains_placeholder(value) {
        let reason = "a template language will put something else there; until then only its absolute part is known";
        return taken(value.into(), true, reason.into());
    }
    match DeclaredUrl::of(value, outer.cloned(), profile).or_with(scheme, value, profile) {
        DeclaredUrl::Absolute(base) => {
            taken(base, true, "the xml:base of the document element".into())
        }
        DeclaredUrl::Relative(base, _) => {
            let reason =
                format!("the xml:base of the document element; it means {}", abridged(&base));
            taken(base, false, reason.into())
        }
        DeclaredUrl::NoOuter => {
            let reason = "it is relative, and there is no base around it";
            (None, Status::PassedOver, reason.into())
        }
        DeclaredUrl::Invalid(why) => (None, Status::Invalid, why),
    }
}
