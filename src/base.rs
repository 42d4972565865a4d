//! Establishing the base URL of a document: RFC 1808, section 3.
//!
//! Four levels, innermost first: embedded in the content (3.1), the encapsulating entity (3.2), the
//! retrieval URL (3.3), none (3.4). Each is kept with what was found and why it was taken or not. For
//! HTML the declaration of 3.1 is the first `base` element with an `href` in tree order (HTML, 4.2.3);
//! one that cannot serve gives way to the outer base, never to a later element.
//!
//! ```
//! use baselink::base::{self, Outer, Retrieval, Rule};
//! use baselink::resolve::Profile;
//! let page = baselink::scan(b"<base href=../b/><a href=x>", &Default::default());
//! let retrieval = Retrieval::url("http://a/dir/page.html");
//! let chain = base::establish(&page, Outer::Retrieval(Some(&retrieval)), Profile::Rfc1808);
//! assert_eq!(chain.base.as_deref(), Some("http://a/b/"));
//! assert_eq!(chain.rule, Rule::Embedded);
//! ```
//!
//! Deliberately absent: links. A base is the same whether anything is resolved against it or not.

use crate::diagnostic::{Code, Diagnostic};
use crate::document::{DeclaredBase, Document, Standing};
use crate::reference;
use crate::resolve::{self, Base, Profile};
use crate::span::Span;

/// The rule of RFC 1808, section 3, that gave a base, as seen from the entity that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// 3.1, embedded in the document's content or its own heading.
    Embedded,
    /// 3.2, from the encapsulating entity.
    Encapsulating,
    /// 3.3, from the retrieval URL.
    Retrieval,
    /// 3.4, none: every reference is taken for absolute.
    Default,
}

impl Rule {
    /// The number of its section.
    #[must_use]
    pub fn section(self) -> &'static str {
        match self {
            Self::Embedded => "3.1",
            Self::Encapsulating => "3.2",
            Self::Retrieval => "3.3",
            Self::Default => "3.4",
        }
    }

    /// What the section is about.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Embedded => "embedded in the content",
            Self::Encapsulating => "encapsulating entity",
            Self::Retrieval => "retrieval URL",
            Self::Default => "default",
        }
    }
}

/// What declared a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// An HTML `base` element.
    BaseElement,
    /// The entity around.
    Encapsulating,
    /// The URL that was given for the document.
    Retrieval,
    /// Nothing.
    Default,
}

impl Source {
    /// Its name in `--json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BaseElement => "base-element",
            Self::Encapsulating => "encapsulating",
            Self::Retrieval => "retrieval",
            Self::Default => "default",
        }
    }
}

/// What became of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It gave the base.
    Taken,
    /// It is there and does not count.
    PassedOver,
    /// Nothing is there.
    Absent,
    /// It is there, would count, and cannot serve.
    Invalid,
}

impl Status {
    /// Its name in `--json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::PassedOver => "passed-over",
            Self::Absent => "absent",
            Self::Invalid => "invalid",
        }
    }
}

/// One level of the chain, or one of several declarations on a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// The entity that declares it.
    pub entity: String,
    /// Its rule.
    pub rule: Rule,
    /// What declares it.
    pub source: Source,
    /// The value as written; `None` where there is none.
    pub value: Option<String>,
    /// Where a declaration stands in the document's buffer.
    pub span: Option<Span>,
    /// What became of it.
    pub status: Status,
    /// Why.
    pub reason: String,
}

/// The level that gave an inherited base, as seen from the entity that declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// That entity.
    pub entity: String,
    /// The rule there.
    pub rule: Rule,
    /// The source there.
    pub source: Source,
}

/// The base of one entity, with the whole way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseChain {
    /// The entity.
    pub entity: String,
    /// Its base URL; `None` when there is none (3.4).
    pub base: Option<String>,
    /// The rule that gave it.
    pub rule: Rule,
    /// The source that gave it.
    pub source: Source,
    /// For an inherited base, where it comes from.
    pub declared: Option<Declared>,
    /// Every level, innermost first.
    pub levels: Vec<Level>,
    /// The base that the entity would have without a declaration of its own.
    pub fallback: Option<String>,
    /// The entity's own URL.
    pub retrieval: Option<String>,
    /// What is odd about the declarations.
    pub diagnostics: Vec<Diagnostic>,
}

/// The URL by which the outermost entity was retrieved (3.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retrieval {
    /// The URL: after a redirection the last one.
    pub url: String,
    /// Where it is known from.
    pub source: Source,
}

impl Retrieval {
    /// A retrieval URL that the user gives.
    #[must_use]
    pub fn url(url: impl Into<String>) -> Self {
        Self { url: url.into(), source: Source::Retrieval }
    }
}

/// What is around an entity.
#[derive(Clone, Copy, Debug)]
pub enum Outer<'a> {
    /// Nothing: it is the outermost one, with its retrieval URL.
    Retrieval(Option<&'a Retrieval>),
    /// Another entity.
    Encapsulating(&'a BaseChain),
}

/// Establishes the base URL of `document`.
#[must_use]
pub fn establish(document: &Document, outer: Outer<'_>, profile: Profile) -> BaseChain {
    let (fallback, retrieval) = match outer {
        Outer::Retrieval(retrieval) => {
            let url =
                retrieval.map(|retrieval| Base::new(profile, &retrieval.url).as_str().to_owned());
            (url.clone(), url)
        }
        Outer::Encapsulating(chain) => (chain.base.clone(), None),
    };
    let mut chain = BaseChain {
        entity: document.entity.clone(),
        base: None,
        rule: Rule::Default,
        source: Source::Default,
        declared: None,
        levels: Vec::new(),
        fallback,
        retrieval,
        diagnostics: Vec::new(),
    };
    for declared in &document.bases {
        chain.embedded(declared, profile);
    }
    if document.bases.is_empty() {
        let reason = "the document has no base element";
        chain.level(Rule::Embedded, Source::BaseElement, None, Status::Absent, reason);
    }
    chain.enclosing(outer);
    chain.outermost(outer);
    let (status, reason) = if chain.base.is_some() {
        (Status::PassedOver, "an inner level gave the base")
    } else {
        (Status::Taken, "no level gave a base: references stay as they are")
    };
    chain.level(Rule::Default, Source::Default, None, status, reason);
    chain
}

impl BaseChain {
    fn level(
        &mut self,
        rule: Rule,
        source: Source,
        value: Option<String>,
        status: Status,
        reason: impl Into<String>,
    ) {
        let reason = reason.into();
        let entity = self.entity.clone();
        self.levels.push(Level { entity, rule, source, value, span: None, status, reason });
    }

    fn take(&mut self, base: String, rule: Rule, source: Source) {
        self.base = Some(base);
        self.rule = rule;
        self.source = source;
    }

    /// 3.1: a `base` element.
    fn embedded(&mut self, declared: &DeclaredBase, profile: Profile) {
        let (status, reason) = if declared.standing == Standing::First {
            self.first_base_element(declared, profile)
        } else {
            (Status::PassedOver, declared.standing.reason().to_owned())
        };
        let value = declared.value.clone();
        self.level(Rule::Embedded, Source::BaseElement, value, status, reason);
        if let Some(level) = self.levels.last_mut() {
            level.span = Some(declared.span);
        }
    }

    /// HTML, 4.2.3, "set the frozen base URL".
    fn first_base_element(
        &mut self,
        declared: &DeclaredBase,
        profile: Profile,
    ) -> (Status, String) {
        let value = declared.value.as_deref().unwrap_or_default();
        if reference::placeholder(value).is_some() || reference::contains_placeholder(value) {
            self.take(value.to_owned(), Rule::Embedded, Source::BaseElement);
            let reason = "a template language will put something else there; until then only its absolute part is known";
            return (Status::Taken, reason.to_owned());
        }
        let scheme = reference::opaque_scheme(value);
        if let Some(scheme @ ("data" | "javascript")) = scheme.as_deref() {
            return (
                Status::Invalid,
                format!("a {scheme}: URL cannot be a base; the outer one counts"),
            );
        }
        let absolute = Base::absolute(profile, value).is_ok()
            && !(profile == Profile::Whatwg
                && self
                    .fallback
                    .as_deref()
                    .is_some_and(|outer| Base::new(profile, outer).is_relative(value)));
        if absolute {
            if !resolve::parses(value) {
                return (Status::Invalid, "it is not a URL; the outer base counts".to_owned());
            }
            let base = Base::new(profile, value).as_str().to_owned();
            self.take(base, Rule::Embedded, Source::BaseElement);
            return (Status::Taken, Standing::First.reason().to_owned());
        }
        if scheme.is_some() && !resolve::parses(value) && profile == Profile::Whatwg {
            return (Status::Invalid, "it is not a URL; the outer base counts".to_owned());
        }
        let Some(outer) = self.fallback.clone() else {
            let reason = "it is relative, and there is no outer base to resolve it against";
            return (Status::PassedOver, reason.to_owned());
        };
        let base = match Base::new(profile, &outer).resolve(value) {
            Ok(target) => target.url,
            Err(why) => return (Status::Invalid, format!("it is relative, and {why}")),
        };
        if resolve::usable(&outer).is_ok() && !resolve::parses(&base) {
            return (Status::Invalid, format!("it means {base}, which is not a URL"));
        }
        self.diagnostics.push(Diagnostic::new(
            Code::BaseRelative,
            declared.span,
            format!("the href of this base element is relative (RFC 1808, 10, wants it absolute); it means {base}"),
        ));
        self.take(base, Rule::Embedded, Source::BaseElement);
        let reason = format!("{}, relative to the outer base {outer}", Standing::First.reason());
        (Status::Taken, reason)
    }

    /// 3.2: the entity around.
    fn enclosing(&mut self, outer: Outer<'_>) {
        let Outer::Encapsulating(around) = outer else {
            let reason = "the document stands in no other";
            self.level(Rule::Encapsulating, Source::Encapsulating, None, Status::Absent, reason);
            return;
        };
        let source = Source::Encapsulating;
        let (status, reason) = match (&around.base, &self.base) {
            (None, _) => (Status::Absent, "the document around it has no base".to_owned()),
            (Some(_), Some(_)) => (Status::PassedOver, "an inner level gave the base".to_owned()),
            (Some(base), None) => {
                self.take(base.clone(), Rule::Encapsulating, source);
                self.declared = Some(around.declared.clone().unwrap_or(Declared {
                    entity: around.entity.clone(),
                    rule: around.rule,
                    source: around.source,
                }));
                let name = around.source.name();
                let reason = format!(
                    "the base of the document around it, there by {} ({name})",
                    around.rule.section()
                );
                (Status::Taken, reason)
            }
        };
        self.level(Rule::Encapsulating, source, around.base.clone(), status, reason);
        if let Some(level) = self.levels.last_mut() {
            level.entity.clone_from(&around.entity);
        }
    }

    /// 3.3: the retrieval URL of the outermost entity.
    fn outermost(&mut self, outer: Outer<'_>) {
        let (source, value, status, reason) = match (outer, &self.base) {
            (Outer::Encapsulating(_), _) => {
                (Source::Retrieval, None, Status::Absent, "only the outermost document has one")
            }
            (Outer::Retrieval(None), _) => {
                (Source::Retrieval, None, Status::Absent, "none was given: see --url")
            }
            (Outer::Retrieval(Some(retrieval)), Some(_)) => (
                retrieval.source,
                Some(retrieval.url.clone()),
                Status::PassedOver,
                "an inner level gave the base",
            ),
            (Outer::Retrieval(Some(retrieval)), None) => {
                if let Some(url) = self.fallback.clone() {
                    self.take(url, Rule::Retrieval, retrieval.source);
                }
                (
                    retrieval.source,
                    Some(retrieval.url.clone()),
                    Status::Taken,
                    "the URL by which the document was retrieved",
                )
            }
        };
        self.level(Rule::Retrieval, source, value, status, reason);
    }
}
