//! Counts the rewritten links that lead elsewhere under another resolver, and reports the target of the first one.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! let report = rewrite(b"<a href='../x'>", &Options::at("http://a/")).report;
//! assert_eq!(
//!     report.diagnostics[0].message,
//!     "1 of the rewritten links leads elsewhere in browsers: '../x' would go to http://a/x"
//! );
//! ```
//!
//! The message begins with links that lead elsewhere in browsers. Links that differ only under other resolvers follow.
//!
//! Deliberately absent: the comparison of one link, which [`super::judge`] makes.

use std::borrow::Cow;

use baselink_text::{Charset, Code, Diagnostic, Span};
use baselink_url::Resolver;

use super::prepared::prepare;
use crate::{
    base::{abridged, lacks_only_scheme, stand_in},
    report::LinkReport,
};

/// The order in which resolvers are compared.
const ORDER: [Resolver; 3] = [Resolver::Whatwg, Resolver::Rfc1808, Resolver::Rfc3986];

/// The links that lead elsewhere under another resolver.
#[derive(Default)]
pub struct Differing {
    /// For each resolver of [`ORDER`], the number of links that differ under it but under none before it, and the
    /// first such link.
    under: [(usize, Option<First>); 3],
}

/// The first link that differs, and its target.
struct First {
    span: Span,
    reference: String,
    target: Option<String>,
}

impl Differing {
    /// Counts `link`, which is in a document in `charset`.
    pub fn add(&mut self, link: &LinkReport, charset: Charset) {
        let differs = |resolver: Resolver| link.differs_under[resolver as usize];
        let Some(at) = ORDER.into_iter().position(differs) else {
            return;
        };
        let (number, known) = &mut self.under[at];
        *number += 1;
        if known
            .as_ref()
            .is_some_and(|first| first.span.start <= link.span.start)
        {
            return;
        }
        let reference = &link.reference;
        let base = match (&link.base, &link.target) {
            (Some(base), _) => Some(Cow::Borrowed(&**base)),
            // Without a base, a resolver finds a target only if the reference lacks only a scheme.
            (None, Some(target)) if lacks_only_scheme(reference, ORDER[at]) => Some(Cow::Owned(
                stand_in(target.split(':').next().unwrap_or_default()),
            )),
            (None, _) => None,
        };
        let base = base.map(|base| prepare(ORDER[at], &base, charset));
        let target = base
            .and_then(|base| base.resolve(reference).ok())
            .map(|target| target.url);
        *known = Some(First {
            span: link.span,
            reference: reference.clone(),
            target,
        });
    }

    /// Counts a further link that leads above the root. The first must have been [added](Self::add) with its report.
    pub fn count_above_root(&mut self, resolver: Resolver) {
        let at = usize::from(resolver != Resolver::Rfc1808);
        self.under[at].0 += 1;
    }

    /// Adds the counts of later links, whose spans `beneath` moves.
    pub fn append(&mut self, later: Self, beneath: impl Fn(Span) -> Span) {
        for ((number, first), (more, mut found)) in self.under.iter_mut().zip(later.under) {
            *number += more;
            if let Some(found) = &mut found {
                found.span = beneath(found.span);
            }
            *first = first.take().or(found);
        }
    }

    /// The diagnostic about these links.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let of_resolvers = ORDER
            .into_iter()
            .zip(&self.under)
            .filter(|(_, (number, _))| *number > 0);
        let mut message = String::new();
        let mut at: Option<Span> = None;
        for (other, (number, first)) in of_resolvers {
            let first = first.as_ref()?;
            let by = match other {
                Resolver::Whatwg => "in browsers",
                Resolver::Rfc1808 => "by RFC 1808",
                Resolver::Rfc3986 => "by RFC 3986",
            };
            let (verb, the_first, comma) = match number {
                1 => ("leads", "", ""),
                _ => ("lead", "the first, ", ","),
            };
            message.push_str(&match &at {
                None => format!("{number} of the rewritten links {verb} elsewhere {by}: "),
                Some(_) => format!("; {number} more {verb} elsewhere {by}: "),
            });
            let target = match &first.target {
                Some(target) => format!("go to {}", abridged(target)),
                None => "lead nowhere".to_owned(),
            };
            let reference = abridged(&first.reference);
            message.push_str(&format!("{the_first}'{reference}'{comma} would {target}"));
            at = at.or(Some(first.span));
        }
        at.map(|span| Diagnostic::new(Code::ResolversDiffer, span, message))
    }
}
