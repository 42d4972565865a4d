//! The base that the heading of an entity gives its content: RFC 1808, 3.1; RFC 2110, 4.2 and 5; RFC 2557, 5.
//!
//! `Base` takes precedence over `Content-Base`, and `Content-Base` over an absolute `Content-Location`. Enclosing
//! headings follow, innermost first, and then `Snapshot-Content-Location`. A `Content-Location` with `cid:`, `mid:` or
//! `file:` is only a label; Chromium labels style sheets in an archive with `cid:`.
//!
//! ```
//! use baselink_rewrite::base::{ContentLocationUse, Outer, of_heading};
//! use baselink_scan::document::{UrlField, UrlValue};
//! use baselink_url::Resolver;
//! let field = |field, url: &str| UrlValue { field, url: url.into(), span: Default::default() };
//! let fields = [
//!     field(UrlField::ContentLocation, "http://b/"),
//!     field(UrlField::ContentBase, "http://a/"),
//! ];
//! let outer = Outer::Retrieval(None);
//! let chain = of_heading(&"1".into(), &fields, outer, Resolver::Rfc1808, ContentLocationUse::Base);
//! assert_eq!(chain.base.as_deref(), Some("http://a/"));
//! ```
//!
//! Deliberately absent: the parsing of header fields. The caller passes them as strings with spans.

use std::{borrow::Cow, sync::Arc};

use baselink_scan::{UrlField, document::UrlValue};
use baselink_text::{Code, Diagnostic};
use baselink_url::{Base, Resolver, reference};

use super::{
    BaseChain, DeclaredUrl, ENTITY, INNER, Level, LevelResult, Outer, Rule, Source, SourceKind,
    Status, abridged, invalid, pass, status_of,
};

/// The meaning of an absolute `Content-Location` for the links in the content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentLocationUse {
    /// The base of the links (RFC 2557, 5), unless there is a `Base` or `Content-Base`.
    #[default]
    Base,
    /// Only a label, by which other parts refer to the part (RFC 2557, 8.2).
    Label,
}

/// Establishes the base URL that the heading of the entity `name` gives to its content (RFC 1808, 3.1;
/// RFC 2110, 5; RFC 2557, 5).
///
/// `fields` are the header fields that hold URLs; repeated fields are in order. A relative URL is resolved by
/// `resolver`.
pub fn of_heading(
    name: &Arc<str>,
    fields: &[UrlValue],
    outer: Outer<'_>,
    resolver: Resolver,
    content_location: ContentLocationUse,
) -> BaseChain {
    let mut chain = BaseChain::new(Arc::clone(name), outer, resolver);
    chain
        .chain
        .reserve_exact(fields.len() + if fields.is_empty() { 4 } else { 3 });
    for field in UrlField::ALL {
        if field == UrlField::SnapshotContentLocation {
            if fields.is_empty() {
                let (source, reason) = (Source::BaseHeader, "its heading declares no base");
                chain.add_level(Rule::Embedded, source, None, Status::Absent, reason);
            }
            chain.add_enclosing_in_file(outer);
        }
        for (index, value) in fields
            .iter()
            .filter(|value| value.field == field)
            .enumerate()
        {
            chain.add_header_field(value, index, resolver, content_location);
        }
    }
    if chain
        .chain
        .iter()
        .all(|level| level.rule != Rule::Encapsulating)
    {
        chain.add_enclosing(outer, ENTITY);
    }
    chain.add_retrieval(outer);
    chain.add_default();
    chain
}

/// The reason, if any, why the scheme of a `Content-Location` makes it a label and not a base. References cannot be
/// relative to the name of a part (RFC 2392), and files on the author's machine are out of reach.
fn label_reason(url: &str) -> Option<&'static str> {
    match reference::opaque_scheme(url)?.as_str() {
        "cid" => Some("a cid: URL names the part itself (RFC 2392) and cannot be a base"),
        "mid" => Some("a mid: URL names a message (RFC 2392) and cannot be a base"),
        "file" => Some("a file: URL leads to the disk of the author; the outer base counts"),
        _ => None,
    }
}

impl BaseChain {
    /// Adds a header field. `index` is its number among the fields of the same name.
    fn add_header_field(
        &mut self,
        field: &UrlValue,
        index: usize,
        resolver: Resolver,
        content_location: ContentLocationUse,
    ) {
        let name = field.field.name();
        let counts = content_location == ContentLocationUse::Base || !field.field.is_label();
        let result = if index > 0 {
            self.diagnostics
                .push(Diagnostic::repeated(name, field.span));
            Err("the first field of its name counts".into())
        } else if !counts {
            Err("such fields are ignored as requested".into())
        } else if self.base.is_some() {
            Err(self.passed_over_reason(field.field))
        } else {
            Ok(self.evaluate_header_field(field, resolver))
        };
        let result = result.unwrap_or_else(pass);
        let value = Some(Arc::clone(&field.url));
        self.add_embedded(field.field.into(), value, field.span, status_of(result));
    }

    /// The reason why `field` is passed over if a base is already established.
    fn passed_over_reason(&self, field: UrlField) -> Cow<'static, str> {
        if self.rule == Rule::Encapsulating {
            return "the heading of an entity around it gave the base".into();
        }
        let name = UrlField::ALL
            .into_iter()
            .find(|&one| Source::from(one) == self.source)
            .map_or("another field", UrlField::name);
        format!("{name} takes precedence over {}", field.name()).into()
    }

    fn evaluate_header_field(&mut self, field: &UrlValue, resolver: Resolver) -> LevelResult {
        let name = field.field.name();
        if field.url.is_empty() {
            return invalid("it contains no URL");
        }
        if reference::placeholder(&field.url).is_some() {
            return invalid("it is a template placeholder");
        }
        let is_label = field.field.is_label();
        let is_relative = is_label && !Base::is_absolute(resolver, &field.url);
        let relative = "a relative URL in this field is a label, not a base (RFC 2557, 5)";
        let reason = is_relative.then_some(relative);
        let reason = reason.or_else(|| label_reason(&field.url).filter(|_| is_label));
        if let Some(reason) = reason {
            return pass(reason);
        }
        let found = self.declared_url(&field.url, resolver);
        let what = match &found {
            Ok(DeclaredUrl { outer: None, .. }) | Err((Status::Invalid, _)) => None,
            Ok(url) => Some(format!("it resolves to {}", abridged(&url.base))),
            Err(_) => Some("it was ignored, because no outer base is known".to_owned()),
        };
        self.diagnostics.extend(what.map(|what| {
            let message = format!(
                "the URL of this {name} is relative, but RFC 1808, section 3.1, requires an absolute URL; {what}"
            );
            Diagnostic::new(Code::BaseRelative, field.span, message)
        }));
        let DeclaredUrl { base, outer } = found?;
        self.set_base(base, Rule::Embedded, field.field.into());
        let mut reason = format!("{name} of its heading");
        if let Some(outer) = outer {
            reason = format!("{reason}, relative to {}", abridged(&outer));
        }
        Ok(reason.into())
    }

    /// Adds the levels of the heading of a document, after the `base` elements of its content.
    pub(super) fn add_heading(&mut self, heading: &Self) {
        let inner = self.base.is_some();
        self.chain
            .extend(heading.chain.iter().map(|level| match level.status {
                Status::Taken if inner => Level {
                    status: Status::PassedOver,
                    reason: INNER.into(),
                    ..level.clone()
                },
                _ => level.clone(),
            }));
        if !inner {
            self.base.clone_from(&heading.base);
            self.rule = heading.rule;
            self.source = heading.source;
            self.declared.clone_from(&heading.declared);
        }
    }

    /// Adds level 3.2, before `Snapshot-Content-Location`, if an enclosing entity declares its base in the file.
    fn add_enclosing_in_file(&mut self, outer: Outer<'_>) {
        if let Outer::Encapsulating(around) | Outer::Referring(around) = outer {
            let origin = around
                .declared
                .as_ref()
                .map_or(around.source, |level| level.source);
            if !matches!(
                origin.kind(),
                SourceKind::None | SourceKind::Retrieval | SourceKind::Snapshot
            ) {
                self.add_enclosing(outer, ENTITY);
            }
        }
    }
}
