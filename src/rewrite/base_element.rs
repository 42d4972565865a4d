//! What becomes of the `base` element beyond its href, and what is to be said of a base.
//!
//! ```
//! use baselink::{BaseElement, Options, rewrite};
//! let options = Options { base_element: BaseElement::Remove, ..Options::at("http://a/") };
//! let rewritten = rewrite(b"<base href=b/><a href=x>", &options);
//! assert_eq!(rewritten.output(), b"<a href=http://a/b/x>");
//! ```
//!
//! Deliberately absent: the href of the element, which is a link as others are.

use super::judged::{Judged, depends_on_base};
use super::options::{BaseElement, Options};
use crate::base::{self, BaseChain, Outer, SaidBy};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{DeclaredBase, Head, LONGEST_BASE};
use crate::edit::Edit;
use crate::layer::charset::Charset;
use crate::layer::escape::{self, Quote};
use crate::layer::spelling::{Carrier, Form, Spelling};
use crate::layer::xml;
use crate::reference::{self, Grammar};
use crate::report::{LinkReport, Outcome, Reason};
use crate::resolve::{self, Base, Profile};
use crate::span::Span;

/// What the policy for the `base` element asks for beyond its href: an edit, or why there is none.
/// `head` is where one may be put in.
pub(super) fn base_element(
    options: &Options,
    chain: &BaseChain,
    [first, later]: [Option<&DeclaredBase>; 2],
    head: Option<Head>,
    judged: &[Judged],
    charset: Charset,
) -> Option<Result<Edit, Diagnostic>> {
    let kept = |span: Span, message: String| {
        Some(Err(Diagnostic::new(Code::BaseElementKept, span, message)))
    };
    match (options.base_element, first, head) {
        (BaseElement::Remove, Some(first), _) => {
            let outer = chain.fallback.as_ref().filter(|_| options.profile == Profile::Whatwg);
            let outer = outer.map(|outer| Base::new(Profile::Whatwg, &outer.url));
            // `http:g` is absolute in a base of another scheme, and relative in one of the same.
            let becomes_relative = |link: &LinkReport| {
                let is_relative = |outer: &Base| outer.is_relative(&link.reference);
                link.outcome == Outcome::Absolute && outer.as_ref().is_some_and(is_relative)
            };
            let depends =
                |one: &&Judged| depends_on_base(&one.report) || becomes_relative(&one.report);
            let depends = judged.iter().find(depends);
            let why = match (depends, later, first.removable) {
                _ if chain.base.is_none() => "because no base is known".to_owned(),
                (Some(depends), ..) => {
                    format!("because '{}' still depends on it", depends.report.reference)
                }
                (None, Some(_), _) => "because another one would take its place".to_owned(),
                (None, None, None) => {
                    "because without it what is around it would read otherwise".to_owned()
                }
                (None, None, Some(span)) => return Some(Ok(Edit { span, new: [].into() })),
            };
            kept(first.span, format!("the base element was kept, {why}"))
        }
        (BaseElement::Insert, None, Some(head)) => {
            let Head { at, prefix, is_xml } = head;
            if chain.source.said_by() == SaidBy::Note {
                let message = "no base element was put in, because the browser that saved the \
                               page took out the one that it had";
                return kept(Span::at(at), message.to_owned());
            }
            let base = chain.document.as_ref()?.url.as_ref();
            let (carrier, end) = match is_xml {
                true => (Carrier::XmlAttribute(Quote::Double), "/>"),
                false => (Carrier::Attribute(Quote::Double), ">"),
            };
            let place = Spelling { form: Form::Whole, carrier, enclosed: false };
            // Written otherwise it would be another base.
            if place.adapt(base, true, charset) != base {
                let message =
                    "no base element was put in, because the base cannot be written as it is";
                return kept(Span::at(at), message.to_owned());
            }
            let href = match is_xml {
                true => xml::spell_attribute(base, Quote::Double),
                false => escape::attribute(base, Quote::Double),
            };
            let means = |one: &Judged| match one.report.reason? {
                Reason::SiblingPart => Some("means a part of the message"),
                Reason::LocalCopy => Some("leads to a file beside the page"),
                Reason::Fragment if options.fragments.is_none() => Some("jumps within the page"),
                _ => None,
            };
            if let Some((one, means)) =
                judged.iter().find_map(|one| means(one).map(|means| (one, means)))
            {
                let reference = &one.report.reference;
                let message = format!("no base element was put in, because '{reference}' {means}");
                return kept(Span::at(at), message);
            }
            let place = Spelling { form: Form::Whole, carrier: Carrier::Raw, enclosed: false };
            let new = place.spell(&format!("<{prefix}base href=\"{href}\"{end}"), charset).ok()?;
            Some(Ok(Edit { span: Span::at(at), new: new.into() }))
        }
        _ => None,
    }
}

/// What is to be said of a base that was taken by the document itself.
pub(super) fn base_diagnostic(
    has_links: bool,
    chain: &BaseChain,
    outer: Outer<'_>,
    profile: Profile,
) -> Option<Diagnostic> {
    let is_own = match outer {
        Outer::Retrieval(_) | Outer::AssumedScheme(_) => true,
        // Of what a heading gives it is said where the heading is.
        Outer::Heading(_) | Outer::Encapsulating(_) | Outer::Referring(_) => {
            matches!(chain.source.said_by(), SaidBy::Markup | SaidBy::Note)
        }
    };
    if has_links && is_own { unfit_base(chain, profile) } else { None }
}

/// Why references cannot be resolved against a base, or not as one would expect.
pub(super) fn unfit_base(chain: &BaseChain, profile: Profile) -> Option<Diagnostic> {
    let base = chain.base.as_deref()?;
    if chain.diagnostics.iter().any(|said| said.code == Code::BaseUnusable) {
        return None;
    }
    let level = chain.levels.iter().find(|level| level.status == base::Status::Taken);
    let span = level.and_then(|level| level.span).unwrap_or(Span::at(0));
    if base.len() > LONGEST_BASE {
        let message = format!("the base is longer than {LONGEST_BASE} bytes; its links were left");
        return Some(Diagnostic::new(Code::BaseUnusable, span, message));
    }
    if let Err(why) = resolve::usable(base) {
        let message = format!("no reference can be resolved against the base {base}: {why}");
        return Some(Diagnostic::new(Code::BaseUnusable, span, message));
    }
    let params = || reference::Reference::split(Grammar::Rfc1808, base).params();
    if profile == Profile::Rfc1808
        && base.contains(';')
        && params().is_some_and(|params| params.contains('/'))
    {
        let message =
            format!("by RFC 1808, 2.4.5, the directories of the base {base} end at its first ';'");
        return Some(Diagnostic::new(Code::BaseParameters, span, message));
    }
    None
}
