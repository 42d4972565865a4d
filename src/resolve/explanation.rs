//! How a reference was resolved, so that it can be checked by hand against the specification.
//!
//! The steps are those of RFC 1808 section 4 or RFC 3986 section 5.2.2, carried out here once more
//! on whole components; a test holds the result to that of [`Base::resolve`]. The URL Standard's
//! parser is a state machine over characters, of which only the entry and the outcome are told.
//!
//! ```
//! use baselink::resolve::{Profile, explain};
//! let explanation = explain(Profile::Rfc1808, "http://a/b/c/d;p?q", "../g");
//! assert_eq!(explanation.result.as_deref(), Ok("http://a/b/g"));
//! assert!(explanation.to_string().contains("6c  \"b/c/../g\" becomes \"b/g\""));
//! ```
//!
//! Deliberately absent: speed. [`Base::resolve`] is for resolving.

use std::borrow::Cow;
use std::fmt;

use super::draft::{Draft, Excess, Top};
use super::{Base, Profile, Span, Target, Unresolvable, Unusable};
use crate::reference::{Grammar, Reference, is_c0_or_space};

/// The steps from a base and a reference to a URL. Its `Display` is a page of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The rules.
    pub profile: Profile,
    /// The base URL as given.
    pub base: String,
    /// The reference as given.
    pub reference: String,
    /// The steps that were taken, in order.
    pub steps: Vec<Step>,
    /// What came of it, as [`Base::resolve`] has it.
    pub result: Result<String, Unresolvable>,
}

/// One step of a specification's algorithm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Its number in the specification; a reading of `docs/resolution.md` is an `A` and a number.
    pub number: &'static str,
    /// What was seen and done.
    pub sentence: String,
}

/// Resolves `reference` and tells each step.
///
/// ```
/// use baselink::resolve::{Profile, explain};
/// let explanation = explain(Profile::Rfc3986, "http://a/b/c", "#s");
/// assert!(explanation.steps.iter().any(|step| step.sentence.contains("path of the base")));
/// ```
#[must_use]
pub fn explain(profile: Profile, base: &str, reference: &str) -> Explanation {
    let mut steps = Steps(Vec::new());
    let result = match profile {
        Profile::Rfc1808 => rfc1808(base, reference, &mut steps),
        Profile::Rfc3986 => rfc3986(base, reference, &mut steps),
        Profile::Whatwg => whatwg(base, reference, &mut steps),
    };
    let (base, reference) = (base.to_owned(), reference.to_owned());
    Explanation { profile, base, reference, steps: steps.0, result }
}

struct Steps(Vec<Step>);

impl Steps {
    fn tell(&mut self, number: &'static str, sentence: impl Into<String>) {
        self.0.push(Step { number, sentence: sentence.into() });
    }

    fn base(&mut self, base: &Base) -> Result<(), Unresolvable> {
        base.usable.map_err(|why| {
            self.tell(if why == Unusable::Empty { "1" } else { "A22" }, why.to_string());
            Unresolvable::BaseUnusable(why)
        })
    }
}

/// The components of a URL that is being put together.
#[derive(Default)]
struct Components<'a> {
    scheme: &'a str,
    net_loc: Option<&'a str>,
    path: String,
    params: Option<&'a str>,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

impl Components<'_> {
    /// RFC 1808 step 7, RFC 3986 section 5.3.
    fn combined(&self, steps: &mut Steps) -> String {
        let mut url = format!("{}:", self.scheme);
        if let Some(net_loc) = self.net_loc {
            url.push_str("//");
            url.push_str(net_loc);
            if !self.path.is_empty() && !self.path.starts_with('/') {
                steps.tell("A7", "a \"/\" parts the net_loc from the path");
                url.push('/');
            }
        } else if self.path.starts_with("//") {
            steps.tell("A24", "\"/.\" keeps the path from being read as a net_loc");
            url.push_str("/.");
        }
        url.push_str(&self.path);
        for (delimiter, component) in [(';', self.params), ('?', self.query), ('#', self.fragment)]
        {
            if let Some(component) = component {
                url.push(delimiter);
                url.push_str(component);
            }
        }
        url
    }
}

/// RFC 1808 section 4.
fn rfc1808(text: &str, reference: &str, steps: &mut Steps) -> Result<String, Unresolvable> {
    let base = Base::new(Profile::Rfc1808, text);
    let written = Reference::split(Grammar::Rfc1808, text);
    let url = Reference::split(Grammar::Rfc1808, reference);
    if let Some(scheme) = url.scheme() {
        steps.tell("2b", format!("the reference has the scheme {scheme:?}: it is absolute"));
        return Ok(reference.to_owned());
    }
    steps.base(&base)?;
    steps.tell("1", "the base URL is established");
    if reference.is_empty() {
        steps.tell("2a", "the reference is empty: it inherits the entire base URL");
        return Ok(text.to_owned());
    }
    steps.tell("2a", "the reference is not empty");
    steps.tell("2b", "it has no scheme");
    let mut result = Components {
        scheme: written.scheme().unwrap_or_default(),
        net_loc: url.net_loc(),
        path: url.path().to_owned(),
        params: url.params(),
        query: url.query(),
        fragment: url.fragment(),
    };
    steps.tell("2c", format!("it inherits the scheme {:?}", result.scheme));
    if let Some(net_loc) = url.net_loc().filter(|net_loc| !net_loc.is_empty()) {
        steps.tell("3", format!("it has the net_loc {net_loc:?}: skip to step 7"));
    } else {
        result.net_loc = written.net_loc();
        steps.tell("3", inherits("net_loc", result.net_loc));
        step_4(&written, &mut result, steps);
    }
    let url = result.combined(steps);
    steps.tell("7", format!("the components are combined: {url}"));
    Ok(url)
}

fn inherits(name: &str, component: Option<&str>) -> String {
    match component {
        Some(component) => format!("it inherits the {name} {component:?}"),
        None => format!("it has no {name}, and neither has the base"),
    }
}

/// RFC 1808 section 4 from step 4 on.
fn step_4<'a>(base: &Reference<'a>, result: &mut Components<'a>, steps: &mut Steps) {
    if result.path.starts_with('/') {
        steps.tell("4", "its path begins with \"/\": skip to step 7");
        return;
    }
    steps.tell("4", "its path does not begin with \"/\"");
    if !result.path.is_empty() {
        steps.tell("5", "its path is not empty");
        step_6(base.path(), result, steps);
        return;
    }
    result.path = base.path().to_owned();
    steps.tell("5", format!("its path is empty: it inherits the path {:?}", result.path));
    if let Some(params) = result.params.filter(|params| !params.is_empty()) {
        steps.tell("5a", format!("it has the params {params:?}: skip to step 7"));
        return;
    }
    result.params = base.params();
    steps.tell("5a", inherits("params", result.params));
    if let Some(query) = result.query.filter(|query| !query.is_empty()) {
        steps.tell("5b", format!("it has the query {query:?}: skip to step 7"));
        return;
    }
    result.query = base.query();
    steps.tell("5b", inherits("query", result.query));
}

/// RFC 1808 section 4 step 6.
fn step_6(base: &str, result: &mut Components<'_>, steps: &mut Steps) {
    // A8: a leading slash is no part of the path here.
    let (slash, base) = base.strip_prefix('/').map_or(("", base), |base| ("/", base));
    let directory = &base[..base.rfind('/').map_or(0, |at| at + 1)];
    let path = format!("{directory}{}", result.path);
    let aside = if slash.is_empty() { "" } else { ", the leading \"/\" set aside" };
    steps.tell("6", format!("{:?} after {directory:?} is {path:?}{aside}", result.path));

    let mut stage = |number, before: &str, segments: &[&str]| {
        let after = segments.join("/");
        steps.tell(
            number,
            if after == before {
                "nothing to remove".to_owned()
            } else {
                format!("{before:?} becomes {after:?}")
            },
        );
        after
    };
    let mut segments: Vec<&str> = path.split('/').collect();
    let last = segments.pop().unwrap_or_default();
    segments.retain(|segment| *segment != ".");
    segments.push(last);
    let a = stage("6a", &path, &segments);
    if last == "." {
        segments.pop();
        segments.push("");
    }
    let b = stage("6b", &a, &segments);
    let last = segments.pop().unwrap_or_default();
    let mut stack: Vec<&str> = Vec::with_capacity(segments.len());
    for segment in segments {
        if segment == ".." && stack.last().is_some_and(|before| *before != "..") {
            stack.pop();
        } else {
            stack.push(segment);
        }
    }
    stack.push(last);
    let c = stage("6c", &b, &stack);
    if let [.., segment, ".."] = stack.as_slice()
        && *segment != ".."
    {
        stack.truncate(stack.len() - 2);
        stack.push("");
    }
    result.path = format!("{slash}{}", stage("6d", &c, &stack));
}

/// RFC 3986 sections 5.2.2 and 5.3.
fn rfc3986(text: &str, reference: &str, steps: &mut Steps) -> Result<String, Unresolvable> {
    let base = Base::new(Profile::Rfc3986, text);
    let written = Reference::split(Grammar::Rfc3986, text);
    let r = Reference::split(Grammar::Rfc3986, reference);
    let mut t = Components { query: r.query(), fragment: r.fragment(), ..Components::default() };
    if let Some(scheme) = r.scheme() {
        steps.tell("5.2.2", format!("the reference has the scheme {scheme:?}: it is absolute"));
        (t.scheme, t.net_loc) = (scheme, r.net_loc());
        t.path = remove_dot_segments(r.path(), steps);
    } else {
        steps.base(&base)?;
        t.scheme = written.scheme().unwrap_or_default();
        steps.tell("5.2.2", format!("it takes the scheme {:?} of the base", t.scheme));
        if let Some(authority) = r.net_loc() {
            steps.tell("5.2.2", format!("it has the authority {authority:?}"));
            t.net_loc = r.net_loc();
            t.path = remove_dot_segments(r.path(), steps);
        } else {
            t.net_loc = written.net_loc();
            steps.tell("5.2.2", "it takes the authority of the base");
            if r.path().is_empty() {
                written.path().clone_into(&mut t.path);
                steps.tell("5.2.2", format!("it takes the path of the base, {:?}", t.path));
                if t.query.is_none() {
                    t.query = written.query();
                    steps.tell("5.2.2", "it takes the query of the base");
                }
            } else if r.path().starts_with('/') {
                t.path = remove_dot_segments(r.path(), steps);
            } else {
                let directory = match written.path() {
                    "" if t.net_loc.is_some() => "/",
                    path => &path[..path.rfind('/').map_or(0, |at| at + 1)],
                };
                let merged = format!("{directory}{}", r.path());
                steps.tell("5.2.3", format!("merged with {directory:?}: {merged:?}"));
                t.path = remove_dot_segments(&merged, steps);
            }
        }
    }
    let url = t.combined(steps);
    steps.tell("5.3", format!("the components are combined: {url}"));
    Ok(url)
}

/// RFC 3986 section 5.2.4.
fn remove_dot_segments(path: &str, steps: &mut Steps) -> String {
    let mut target = Target::default();
    let rooted = path.starts_with('/');
    let mut draft = Draft { reference: path, target: &mut target };
    let root = usize::from(rooted);
    draft.keep(Span::new(0, root));
    let mut top = Top { floor: root, rooted };
    draft.segments(Excess::Dropped, Span::new(root, path.len()), &mut top);
    let sentence = if target.url == path {
        "no dot segments to remove".to_owned()
    } else {
        format!("without dot segments {path:?} becomes {:?}", target.url)
    };
    steps.tell("5.2.4", sentence);
    target.url
}

/// The URL Standard.
fn whatwg(text: &str, reference: &str, steps: &mut Steps) -> Result<String, Unresolvable> {
    let base = Base::new(Profile::Whatwg, text);
    match base.usable {
        Ok(()) => steps.tell("base", format!("the base URL is parsed: {}", base.as_str())),
        Err(why) => steps.tell("base", why.to_string()),
    }
    let cleaned: String = reference
        .trim_matches(is_c0_or_space)
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .collect();
    if cleaned != reference {
        steps.tell("trim", format!("without tabs, line ends and outer spaces: {cleaned:?}"));
    }
    let kind = if base.is_relative(reference) { "relative" } else { "absolute" };
    steps.tell("kind", format!("the reference is {kind}"));
    let result = base.resolve(reference).map(|target| target.url);
    match &result {
        Ok(url) => steps.tell("parse", format!("parsed with the base and serialised: {url}")),
        Err(why) => steps.tell("parse", why.to_string()),
    }
    result
}

/// Text on one line, whatever is in it.
fn shown(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) {
        Cow::Owned(text.escape_debug().to_string())
    } else {
        Cow::Borrowed(text)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grammar = self.profile.grammar();
        for (name, text) in [("base", &self.base), ("reference", &self.reference)] {
            writeln!(f, "{name:<12} {}", shown(text))?;
            let url = Reference::split(grammar, text);
            let net_loc = if grammar == Grammar::Rfc1808 { "net_loc" } else { "authority" };
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
            match self.profile {
                Profile::Rfc1808 => "RFC 1808, section 4",
                Profile::Rfc3986 => "RFC 3986, section 5.2",
                Profile::Whatwg => "URL Standard, basic URL parser",
            }
        )?;
        let width = self.steps.iter().map(|step| step.number.len()).max().unwrap_or(0);
        for step in &self.steps {
            writeln!(f, "  {:<width$}  {}", step.number, step.sentence)?;
        }
        match &self.result {
            Ok(url) => write!(f, "{:<12} {}", "result", shown(url)),
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
        let explanation = explain(Profile::Rfc1808, "http://a/b/c/d;p?q", "../x/./g?y");
        assert_eq!(explanation.to_string(), page);
    }

    #[test]
    fn a_base_that_cannot_serve() {
        let page = explain(Profile::Rfc3986, "a\n", "g").to_string();
        assert!(page.starts_with("base         a\\n\n"), "{page}");
        assert!(page.ends_with("\nno result    the base URL is not absolute"), "{page}");
    }
}
