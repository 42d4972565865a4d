//! `xml:base` of the document element and of elements below it (XML Base, 3 and 4), and the links of feed entries.
//!
//! Each `xml:base` is relative to the enclosing one. The `xml:base` of the document element is relative to the base
//! that the document would have without it, and becomes the base of the document (RFC 1808, 3.1). The others are bases
//! of elements.
//!
//! On request, the link of a feed entry is the base of the entry's content. In Atom, this is the `link` with
//! `rel="alternate"` (RFC 4287, 4.2.7). In RSS, it is the `link`, else an Atom `link`, else a `guid` that is a
//! permalink (RSS 2.0). No standard requires this: by RFC 4287, section 2, the base is `xml:base` or the URL of the
//! feed. But many feeds contain the unchanged content of a page, and some feed readers resolve its links as the author
//! meant them. The link of an entry counts only if no `xml:base` applies.
//!
//! ```
//! use baselink_rewrite::base::{self, Outer};
//! use baselink_text::Format;
//! use baselink_url::Resolver;
//! let feed = b"<feed xml:base='http://a/b/'><entry xml:base='c/'/></feed>";
//! let document = baselink_scan::scan_as(Format::Xml, feed, &Default::default()).unwrap();
//! let chain = base::establish(&document, Outer::Retrieval(None), Resolver::Rfc1808);
//! assert_eq!(chain.base.as_deref(), Some("http://a/b/"));
//! assert_eq!(&*chain.elements[0].base.as_ref().unwrap().url, "http://a/b/c/");
//!
//! let feed = b"<rss><channel><item><link>http://a/1</link><description/></item></channel></rss>";
//! let options = baselink_scan::ScanOptions { entry_links: true, ..Default::default() };
//! let document = baselink_scan::scan_as(Format::Xml, feed, &options).unwrap();
//! let chain = base::establish(&document, Outer::Retrieval(None), Resolver::Rfc1808);
//! assert_eq!(&*chain.elements[0].base.as_ref().unwrap().url, "http://a/1");
//! assert_eq!(chain.base, None);
//! ```
//!
//! Deliberately absent: elements, since each base stores only the index of the enclosing base. The link of the feed
//! itself is not used either: it leads to the home page of the site, not to an entry.

use std::{borrow::Cow, mem::take, sync::Arc};

use baselink_scan::{
    Against, Document,
    document::{BaseDoubt, BaseKind, ElementBase},
};
use baselink_text::Format;
use baselink_url::Resolver;

use super::{
    BaseChain, DeclaredUrl, ElementChain, Established, INNER, Outer, PassedLevel, Rule, Source,
    Status, abridged, pass, provisional, status_of,
};

impl BaseChain {
    /// Adds level 3.1 of XML: the `xml:base` of the document element, then those of the elements below, each relative
    /// to the enclosing one (XML Base, 4.2).
    pub(super) fn add_xml_bases(&mut self, document: &Document, resolver: Resolver) {
        // Browsers no longer honour `xml:base` in XHTML and SVG.
        self.honours_xml_base =
            resolver != Resolver::Whatwg || !matches!(document.format, Format::Xhtml | Format::Svg);
        let root = document
            .bases
            .iter()
            .find(|declared| declared.kind == BaseKind::XmlBase);
        let mut others = take(&mut self.chain);
        if let Some(declared) = root {
            let (value, doubt) = (
                declared.value.as_deref().unwrap_or_default(),
                declared.doubt,
            );
            let outer = self.base.as_ref();
            let given = self.declared_base(Source::XmlBase, value, doubt, outer, resolver);
            let result = given.map(|(DeclaredUrl { base, outer }, reason)| {
                self.report_doubt(doubt, declared.span);
                self.is_from_outside &= outer.is_some();
                for level in &mut others {
                    if level.status == Status::Taken {
                        (level.status, level.reason) = (Status::PassedOver, INNER.into());
                    }
                }
                self.set_base(base, Rule::Embedded, Source::XmlBase);
                self.declared = None;
                reason
            });
            let result = status_of(result);
            self.add_embedded(Source::XmlBase, Some(value.into()), declared.span, result);
        }
        for declared in &document.element_bases {
            let ElementBase {
                is_entry_link,
                outer,
                value,
                doubt,
                span,
            } = declared;
            let around = match outer.and_then(|outer| self.elements.get(outer)) {
                Some(around) => around.clone(),
                None => ElementChain {
                    base: self.established(),
                    is_from_outside: self.is_from_outside,
                },
            };
            let (source, what) = match is_entry_link {
                // The entry has no link.
                true if value.is_empty() => {
                    self.elements.push(around);
                    continue;
                }
                true => (Source::EntryLink, "entry"),
                false => (Source::XmlBase, "element"),
            };
            let outer = around.base.as_ref().map(|base| &base.url);
            let (result, element) = match self.declared_base(source, value, *doubt, outer, resolver)
            {
                Ok((DeclaredUrl { base: url, outer }, _)) => {
                    let result = (Status::PassedOver, scope_reason(what, &url));
                    let (rule, is_from_outside) = (Rule::Embedded, around.is_from_outside);
                    let element = ElementChain {
                        base: Some(Established { url, rule, source }),
                        is_from_outside: is_from_outside && outer.is_some(),
                    };
                    (result, element)
                }
                Err(passed) => (passed, around),
            };
            self.add_embedded(source, Some(value.as_str().into()), *span, result);
            self.elements.push(element);
        }
        self.chain.append(&mut others);
    }

    /// The base from `value`, which is an `xml:base` or the link of an entry, inside `outer`, with the reason.
    fn declared_base(
        &self,
        source: Source,
        value: &str,
        doubt: Option<BaseDoubt>,
        outer: Option<&Arc<str>>,
        resolver: Resolver,
    ) -> Result<(DeclaredUrl, Cow<'static, str>), PassedLevel> {
        if source == Source::XmlBase && !self.honours_xml_base {
            let reason = "browsers do not read xml:base in XHTML and SVG";
            return pass(reason);
        }
        if let Some((base, reason)) = provisional(value, doubt) {
            return Ok((DeclaredUrl { base, outer: None }, reason));
        }
        if let (true, Some(outer)) = (value.is_empty(), outer) {
            let (base, outer) = (Arc::clone(outer), Some(Arc::clone(outer)));
            let reason = "it is empty, so the outer base applies";
            return Ok((DeclaredUrl { base, outer }, reason.into()));
        }
        let scheme = self.assumed_scheme.as_deref();
        let url = DeclaredUrl::of(value, outer.cloned(), scheme, resolver)?;
        let mut reason = Cow::Borrowed("the xml:base of the document element");
        if url.outer.is_some() {
            reason = format!("{reason}; it resolves to {}", abridged(&url.base)).into();
        }
        Ok((url, reason))
    }

    /// The chain for an inner document, at a position where references are resolved `against` the given base.
    pub(crate) fn seen_by(&self, against: &Against) -> Cow<'_, Self> {
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
        // A base from any other source applies to the whole document, which may have inherited it.
        let is_own =
            base.is_some_and(|base| matches!(base.source, Source::XmlBase | Source::EntryLink));
        Cow::Owned(Self {
            base: base.map(|base| Arc::clone(&base.url)),
            rule: base.map_or(Rule::Default, |base| base.rule),
            source: base.map_or(Source::Default, |base| base.source),
            declared: if is_own { None } else { self.declared.clone() },
            is_from_outside,
            ..Self::new(
                Arc::clone(&self.entity),
                Outer::Encapsulating(self),
                Resolver::default(),
            )
        })
    }
}

/// Describes a base that applies to an element or an entry.
fn scope_reason(what: &str, base: &str) -> Cow<'static, str> {
    // Many sentences may quote a base, and each base may be long.
    const SHOWN: usize = 256;
    let shown = if base.len() <= SHOWN {
        base
    } else {
        "too long to be shown"
    };
    format!("it applies to its {what} only; there the base is {shown}").into()
}
