//! The explanation of a resolution, for checking by hand against the specification.
//!
//! The resolver records the steps of RFC 1808 section 4 or RFC 3986 section 5.2 as it takes them. The URL Standard's
//! parser is a state machine over characters: only its input and outcome are recorded.
//!
//! ```
//! use baselink_url::{Resolver, explain};
//! let explanation = explain(Resolver::Rfc1808, "http://a/b/c/d;p?q", "../g");
//! assert_eq!(explanation.result.as_deref(), Ok("http://a/b/g"));
//! assert!(explanation.to_string().contains("6c  \"b/c/../g\" becomes \"b/g\""));
//! ```
//!
//! Deliberately absent: the algorithms. The files of the resolvers implement them.

use std::fmt;

use baselink_text::{Span, visible};

use super::{
    Base, Resolver, Target, Unresolvable,
    trace::{Fate, Trace},
};
use crate::reference::Reference;

/// The steps from a base and a reference to a URL. `Display` formats them over several lines.
#[derive(Debug)]
pub struct Explanation {
    /// The rules.
    pub resolver: Resolver,
    /// The base URL as given.
    pub base: String,
    /// The reference as given.
    pub reference: String,
    /// The steps taken, in order.
    pub steps: Vec<Step>,
    /// The result, as from [`Base::resolve`].
    pub result: Result<String, Unresolvable>,
}

/// One step of a specification's algorithm.
#[derive(Debug)]
pub struct Step {
    /// Its number in the specification. The number of a reading in `crates/url/src/rfc1808.rs` begins with `A`.
    pub number: &'static str,
    /// The observation or action of the step.
    pub sentence: String,
}

/// Resolves `reference` and records each step.
///
/// ```
/// use baselink_url::{Resolver, explain};
/// let explanation = explain(Resolver::Rfc3986, "http://a/b/c", "#s");
/// assert!(explanation.steps.iter().any(|step| step.sentence.contains("path of the base")));
/// ```
pub fn explain(resolver: Resolver, base: &str, reference: &str) -> Explanation {
    let (mut recorder, mut target) = (Recorder::default(), Target::default());
    let result = Base::traced(resolver, base, &mut recorder)
        .resolve_fully(reference, &mut target, &mut recorder)
        .map(|()| target.url);
    Explanation {
        resolver,
        base: base.to_owned(),
        reference: reference.to_owned(),
        steps: recorder.steps,
        result,
    }
}

/// The steps recorded so far.
#[derive(Default)]
struct Recorder {
    steps: Vec<Step>,
    /// The path from which RFC 1808 section 4, step 6, removes segments.
    path: String,
    /// The segments of the path, each with the step that removes it, if any.
    segments: Vec<(Span, Option<&'static str>)>,
    /// The indices of the segments not removed yet.
    remaining: Vec<usize>,
}

impl Trace for Recorder {
    fn step<S: Into<String>>(&mut self, number: &'static str, sentence: impl FnOnce() -> S) {
        self.steps.push(Step {
            number,
            sentence: sentence().into(),
        });
    }

    fn segment(&mut self, text: &str, span: Span, fate: Fate) {
        for segment in text[span.range()].split_inclusive('/') {
            let start = self.path.len();
            self.path.push_str(segment);
            let by = match fate {
                Fate::Kept => {
                    self.remaining.push(self.segments.len());
                    None
                }
                Fate::Removed(by) => Some(by),
                Fate::Climbs(by) => {
                    if let Some(before) = self.remaining.pop() {
                        self.segments[before].1 = Some(by);
                    }
                    Some(by)
                }
            };
            self.segments.push((Span::new(start, self.path.len()), by));
        }
    }

    fn end_segments(&mut self) {
        let mut before = self.path.clone();
        for number in ["6a", "6b", "6c", "6d"] {
            let remains = |by: Option<&str>| by.is_none_or(|by| by > number);
            let remaining = self.segments.iter().filter(|(_, by)| remains(*by));
            let after: String = remaining
                .map(|(span, _)| &self.path[span.range()])
                .collect();
            self.step(number, || {
                if after == before {
                    "nothing to remove".to_owned()
                } else {
                    format!("{before:?} becomes {after:?}")
                }
            });
            before = after;
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, text) in [("base", &self.base), ("reference", &self.reference)] {
            writeln!(f, "{name:<12} {}", visible(text))?;
            let url = Reference::split(self.resolver, text);
            let net_loc = if self.resolver == Resolver::Rfc1808 {
                "net_loc"
            } else {
                "authority"
            };
            for (name, component) in [
                ("scheme", url.scheme()),
                (net_loc, url.net_loc()),
                ("path", Some(url.path())),
                ("params", url.params()),
                ("query", url.query()),
                ("fragment", url.fragment()),
            ] {
                if let Some(component) = component {
                    writeln!(f, "  {name:<10} {component:?}")?;
                }
            }
        }
        writeln!(
            f,
            "{}",
            match self.resolver {
                Resolver::Rfc1808 => "RFC 1808, section 4",
                Resolver::Rfc3986 => "RFC 3986, section 5.2",
                Resolver::Whatwg => "URL Standard, basic URL parser",
            }
        )?;
        let width = self
            .steps
            .iter()
            .map(|step| step.number.len())
            .max()
            .unwrap_or(0);
        for step in &self.steps {
            writeln!(f, "  {:<width$}  {}", step.number, visible(&step.sentence))?;
        }
        match &self.result {
            Ok(url) => write!(f, "{:<12} {}", "result", visible(url)),
            Err(why) => write!(f, "{:<12} {why}", "no result"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_to_check_by_hand() {
        let page = "\
base         http://a/b/c/d;p?q
  scheme     \"http\"
  net_loc    \"a\"
  path       \"/b/c/d\"
  params     \"p\"
  query      \"q\"
reference    ../x/./g?y
  path       \"../x/./g\"
  query      \"y\"
RFC 1808, section 4
  1   the base URL is established
  2a  the reference is not empty
  2b  it has no scheme
  2c  it inherits the scheme \"http\"
  3   it inherits the net_loc \"a\"
  4   its path does not begin with \"/\"
  5   its path is not empty
  6   \"../x/./g\" after \"b/c/\" is \"b/c/../x/./g\", the leading \"/\" set aside
  6a  \"b/c/../x/./g\" becomes \"b/c/../x/g\"
  6b  nothing to remove
  6c  \"b/c/../x/g\" becomes \"b/x/g\"
  6d  nothing to remove
  7   the components are combined: http://a/b/x/g?y
result       http://a/b/x/g?y";
        let explanation = explain(Resolver::Rfc1808, "http://a/b/c/d;p?q", "../x/./g?y");
        assert_eq!(explanation.to_string(), page);
    }

    #[test]
    fn a_base_that_cannot_serve() {
        let page = explain(Resolver::Rfc3986, "a\n", "g").to_string();
        assert!(page.starts_with("base         a\\n\n"), "{page}");
        assert!(
            page.ends_with("\nno result    the base URL is not absolute"),
            "{page}"
        );
    }
}
