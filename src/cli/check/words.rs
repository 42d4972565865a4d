//! The words for findings: sentences about the cause, and about the target before and after the move.
//!
//! ```text
//! keeps pointing at http://a.example/docs/up.html
//! did you mean the file july.html?
//! ```
//!
//! Deliberately absent: colours and markup. Text, SARIF, annotations and the page share these words.

use std::{collections::HashMap, sync::LazyLock};

use baselink_text::visible;
use indicatif::HumanCount;

use baselink_rewrite::Reason;
use baselink_site::purpose::check::{Class, Finding, FindingRule, targets::CheckedTarget};

use crate::cli::args::check::{Check, Classes};

/// The severity of a finding.
pub fn level(is_denied: bool) -> &'static str {
    if is_denied { "error" } else { "warning" }
}

/// The words for a link on which the resolvers disagree.
pub const DIFFERS: &str = "browsers and programs that follow RFC 1808 disagree where it leads";

/// Ways to solve problems, each followed by the rules whose findings it solves, and their problems.
const MEANINGS: &str = "\
Move the folder with `baselink move`, which changes it.
  pinned/absolute: it is absolute, and keeps pointing at the old place
  pinned/net-path: it names its host, and keeps pointing at the old place
  escapes/net-path: it names its host, and its scheme changes
  escapes/root-relative: it begins with /, and its target changes
Move the folder with `baselink move`, which changes the base.
  pinned/declared-base: its document declares a base that stays at the old place
  escapes/declared-base: its document declares a base that leads out of the folder
Make it relative, or absolute.
  escapes/climbs-out: its .. segments lead out of the folder
Add the path; `baselink move --same` makes such links relative.
  escapes/no-prefix: it lacks the path of the site, which other links have
Correct the URL.
  invalid: no browser can open it
Write the URL by which readers reach it.
  invalid/own-network mixed/own-network: only the machine or network of its author has it
Write https.
  mixed/http: it is loaded over http, which browsers do not allow on a page with https
Link to it, or remove the file.
  unlinked: no page leads to it
Add the file, or correct the link.
  dangling/absent: no file has this name
  dangling/no-name: no file can have this name
  dangling/no-file: it is a pipe, a socket or a device
  dangling/elsewhere: it leads to a different file, or to none
  dangling/local-copy: the copy that a browser saved is not where the link leads
Write the name as the file has it.
  dangling/case: a file name differs from it only in case
  dangling/percent-encoding: a file name differs from it only in percent-encoding
  dangling/normalization: a file name differs from it only in Unicode normalization
Link to a file, or name the index file with --index.
  dangling/no-index: it is a folder, and no index file opens for it
Remove the final /, or move the page into a folder.
  dangling/slash: only Netlify (netlify.toml, _redirects, _headers), Cloudflare Pages (wrangler.toml) and Render (render.yaml) send the page for it
Correct the redirect, or the link.
  dangling/redirect: the redirects of its host lead to nothing, or in a circle
Correct the fragment, or give an element this id.
  fragment/no-id: nothing in the file has this id
Write the id as the file has it.
  fragment/id-case: an id in the file differs from it only in case
Its target is unknown.
  left: it has no target
Nothing to do.
  outside: it leads out of the folder
  ignored: it is ignored
  outside/remote: a message loads it from the network
  works: its target exists
  lines: a script of the page marks these lines
Capture it, and check both archives together; --missing lists what to capture.
  served: it was not captured, but an alternative was
  missing/not-captured missing-page/not-captured: it was not captured
  missing/client-error missing-page/client-error: the server answered with an error (4xx)
  missing/server-error missing-page/server-error: the server answered with an error (5xx)
  missing/redirect missing-page/redirect: its redirect does not lead to a captured resource
  missing/no-body missing-page/no-body: it was captured without its body, or with a part of it
Make it absolute; `baselink rewrite` does.
  escapes/not-saved: the browser that saved the page did not save its target
Write the new URL; `baselink move --to` does.
  pinned/canonical: it is the canonical URL of its page, and keeps pointing at the old place
Correct the symbolic link, or add its target.
  dangling/symlink: a symbolic link in its path is broken
Copy its target into the folder, as `cp -rL` does.
  escapes/symlink: a symbolic link in its path leads out of the folder
Add the /.
  no-slash: it is a folder, but the final / is missing; servers redirect to the folder
Write the name as the file has it, unless the server adds the extension.
  clean-url: it lacks the extension of the file; some servers add it";

/// The meaning of findings by `rule`: the problem, as a clause about the link or its target, and a way to solve it.
pub fn meaning(rule: FindingRule) -> [&'static str; 2] {
    static BY_RULE: LazyLock<HashMap<&str, [&str; 2]>> = LazyLock::new(|| {
        let (mut meanings, mut help) = (HashMap::new(), "");
        for line in MEANINGS.lines() {
            match line.trim_start().split_once(": ") {
                Some((rules, why)) => {
                    meanings.extend(rules.split(' ').map(|rule| (rule, [why, help])));
                }
                None => help = line,
            }
        }
        meanings
    });
    BY_RULE.get(rule.name()).copied().unwrap_or_default()
}

/// A class with its cause, such as `pinned (absolute)`.
pub fn class_and_cause(rule: FindingRule, reason: Option<Reason>) -> String {
    let cause = rule.cause(reason).map(|cause| format!(" ({cause})"));
    format!("{}{}", rule.class().name(), cause.unwrap_or_default())
}

/// The effect of the move on the link.
pub fn effect_of_move(finding: &Finding) -> String {
    let [why, _] = meaning(finding.rule);
    let Some(target) = finding.target.as_deref() else {
        return why.to_owned();
    };
    let (target, moved) = (visible(target), finding.moved.as_deref().map(visible));
    let because = format!(": {why}");
    let then = |moved| format!("; after the move to {moved}");
    let what = match (finding.rule, finding.class()) {
        (FindingRule::ClimbsOut, _) => "leads out of the folder to",
        (_, Class::Pinned) => "keeps pointing at",
        _ => "leads to",
    };
    let end = match (finding.rule, finding.class()) {
        (_, Class::Pinned) => String::new(),
        (FindingRule::ClimbsOut, _)
        | (_, Class::Left | Class::Ignored | Class::Outside | Class::Lines | Class::Works) => {
            let other = moved.filter(|moved| *moved != target);
            other.map(then).unwrap_or_default()
        }
        (FindingRule::LinkOut | FindingRule::NoPrefix, _) => because,
        (FindingRule::Elsewhere, _) | (_, Class::Escapes) => moved.map_or(because, then),
        _ => because,
    };
    format!("{what} {target}{end}")
}

/// The suggestion of a similar target that exists.
pub fn suggestion(class: Class, hint: Option<&str>) -> Option<String> {
    let hint = visible(hint?);
    let what = match class {
        Class::Fragment => "#",
        _ if hint.starts_with('/') => "",
        _ if hint.ends_with('/') => "the folder ",
        _ => "the file ",
    };
    Some(format!("did you mean {what}{hint}?"))
}

/// The sentences about a finding.
pub fn sentences(finding: &Finding) -> Vec<String> {
    let mut sentences = vec![effect_of_move(finding)];
    sentences.extend(suggestion(finding.class(), finding.hint.as_deref()));
    sentences.extend(finding.differs.then(|| DIFFERS.to_owned()));
    sentences
}

/// The sentences about a target.
pub fn sentences_of_target(target: CheckedTarget<'_>) -> Vec<String> {
    let [why, _] = meaning(target.rule);
    let mut sentences = vec![why.to_owned()];
    sentences.extend(suggestion(
        target.rule.class(),
        target.summary.hint.as_deref(),
    ));
    sentences.extend(target.summary.differs.then(|| DIFFERS.to_owned()));
    sentences
}

/// True if links of these classes cannot be used. Links of a denied class need not be broken.
pub fn is_broken(classes: &[(Class, usize)]) -> bool {
    let mut classes = classes.iter();
    classes.all(|(class, _)| Classes::BROKEN.contains(class))
}

/// The problem of links of these classes, as a predicate of one link and of several.
pub fn problem(request: &Check, classes: &[(Class, usize)]) -> [&'static str; 2] {
    let is_lack =
        |(class, _): &(Class, usize)| matches!(class, Class::Missing | Class::MissingPage);
    let are_lacks = request.is_of_archives && classes.iter().all(is_lack);
    match (is_broken(classes), are_lacks) {
        (false, _) => ["has a denied class", "have a denied class"],
        (true, true) => ["has a missing target", "have missing targets"],
        (true, false) if request.to.is_some() => ["would be broken"; 2],
        (true, false) => ["is broken", "are broken"],
    }
}

/// The numbers of links by class, such as `1 pinned, 2,000 escapes`.
pub fn classes(of: &[(Class, usize)]) -> String {
    let sentences = of
        .iter()
        .map(|(class, links)| format!("{} {}", number(*links), class.name()));
    sentences.collect::<Vec<_>>().join(", ")
}

/// A number with separated thousands, such as `1,234,567`.
pub fn number(number: usize) -> String {
    HumanCount(number as u64).to_string()
}

/// A number with its noun, such as `1 link` or `1,234 links`.
pub fn counted(of: usize, one: &str, more: &str) -> String {
    format!("{} {}", number(of), if of == 1 { one } else { more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_meaning() {
        for rule in FindingRule::ALL {
            let [why, help] = meaning(rule);
            assert!(!why.is_empty() && help.ends_with('.'), "{}", rule.name());
        }
    }

    #[test]
    fn thousands_are_separated() {
        for (of, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(number(of), expected);
        }
    }
}
