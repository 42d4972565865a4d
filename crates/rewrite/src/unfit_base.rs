//! Diagnostics of a base that cannot be used, or that does not work as expected.
//!
//! ```
//! use baselink_text::Code;
//! use baselink_rewrite::{Options, rewrite};
//! let rewritten = rewrite(b"<base href=mailto:a@b><a href=x>", &Options::at("http://a/"));
//! assert_eq!(rewritten.totals.diagnostics[0].code, Code::BaseUnusable);
//! ```
//!
//! Deliberately absent: the choice of the base ([`crate::base`]).

use baselink_scan::LONGEST_BASE;
use baselink_text::{Code, Diagnostic, Span};
use baselink_url::{self as resolve, Resolver, is_private, reference};

use crate::{
    base::{self, BaseChain, Outer, SourceKind},
    labels::is_file,
};

/// The diagnostic of a base that the document itself declares.
pub fn base_diagnostic(
    has_links: bool,
    chain: &BaseChain,
    outer: Outer<'_>,
    resolver: Resolver,
) -> Option<Diagnostic> {
    let is_outermost = matches!(outer, Outer::Retrieval(_) | Outer::AssumedScheme(_));
    // A base from a heading is reported with the heading.
    let is_own =
        is_outermost || matches!(chain.source.kind(), SourceKind::Markup | SourceKind::Note);
    if has_links && is_own {
        unfit_base(chain, resolver)
    } else {
        None
    }
}

/// True if a base that the document declares contains a placeholder that may be percent-encoded, so that the template
/// language would no longer replace it.
pub fn breaks_template(base: &str, chain: &BaseChain, resolver: Resolver) -> bool {
    let is_retrieval = || {
        chain
            .retrieval
            .as_ref()
            .is_some_and(|known| &*known.url == base)
    };
    (resolver == Resolver::Whatwg || !base.is_ascii())
        && reference::contains_placeholder(base)
        && !is_retrieval()
}

/// The diagnostic of a base against which references cannot be resolved, or resolve to unexpected targets.
pub fn unfit_base(chain: &BaseChain, resolver: Resolver) -> Option<Diagnostic> {
    let base = chain.base.as_deref()?;
    if chain
        .diagnostics
        .iter()
        .any(|one| one.code == Code::BaseUnusable)
    {
        return None;
    }
    let level = chain
        .chain
        .iter()
        .find(|level| level.status == base::Status::Taken);
    let span = level.and_then(|level| level.span).unwrap_or(Span::at(0));
    // A page from a disk may have a base there.
    let is_from_disk = chain
        .retrieval
        .as_ref()
        .is_some_and(|own| is_private(&own.url));
    let params = || reference::Reference::split(Resolver::Rfc1808, base).params();
    let mut code = Code::BaseUnusable;
    let message = if base.len() > LONGEST_BASE {
        format!("the base is longer than {LONGEST_BASE} bytes; no link was resolved against it")
    } else if let Err(why) = resolve::usable(base) {
        format!("no reference can be resolved against the base {base}: {why}")
    } else if breaks_template(base, chain, resolver) {
        format!("the base {base} has a placeholder; no link was resolved against it")
    } else if is_private(base) && !is_from_disk {
        let place = if is_file(base) {
            "on the disk"
        } else {
            "in the mail program"
        };
        format!(
            "the base {base} is {place} of its author, and links that are resolved against it work only there; \
             remove the base to use an outer one"
        )
    } else if resolver == Resolver::Rfc1808
        && base.contains(';')
        && params().is_some_and(|params| params.contains('/'))
    {
        code = Code::BaseParameters;
        format!("by RFC 1808, 2.4.5, the directories of the base {base} end at its first ';'")
    } else {
        return None;
    };
    Some(Diagnostic::new(code, span, message))
}
