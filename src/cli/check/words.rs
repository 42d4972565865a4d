//! The words for findings: sentences about the cause, and about the target before and after the move.
//!
//! ```text
//! keeps pointing at http://a.example/docs/up.html
//! did you mean the file july.html?
//! ```
//!
//! Deliberately absent: colours and markup. Text, SARIF, annotations and the page share these words.

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

const NOTHING_TO_DO: &str = "Nothing to do.";
const MOVE: &str = "Move the folder with `baselink move`, which changes it.";
const MAKE_RELATIVE: &str = "Make it relative, or absolute.";
const MOVE_BASE: &str = "Move the folder with `baselink move`, which changes the base.";
const RENAME: &str = "Write the name as the file has it.";
const CAPTURE: &str =
    "Capture it, and check both archives together; --missing lists what to capture.";
const FIND_FILE: &str = "Add the file, or correct the link.";

/// The meaning of findings by `rule`: the problem, as a clause about the link or its target, and a way to solve it.
pub fn meaning(rule: FindingRule) -> [&'static str; 2] {
    use FindingRule::*;
    match rule {
        Absolute => ["it is absolute, and keeps pointing at the old place", MOVE],
        NetPath => [
            "it names its host, and keeps pointing at the old place",
            MOVE,
        ],
        PinnedBase => [
            "its document declares a base that stays at the old place",
            MOVE_BASE,
        ],
        SchemeChange => ["it names its host, and its scheme changes", MOVE],
        EscapingBase => [
            "its document declares a base that leads out of the folder",
            MOVE_BASE,
        ],
        RootRelative => ["it begins with /, and its target changes", MOVE],
        ClimbsOut => ["its .. segments lead out of the folder", MAKE_RELATIVE],
        NoPrefix => [
            "it lacks the path of the site, which other links have",
            "Add the path; `baselink move --same` makes such links relative.",
        ],
        Invalid => ["no browser can open it", "Correct the URL."],
        OwnMachine | OwnNetwork => [
            "only the machine or network of its author has it",
            "Write the URL by which readers reach it.",
        ],
        Insecure => [
            "it is loaded over http, which browsers do not allow on a page with https",
            "Write https.",
        ],
        Unlinked => ["no page leads to it", "Link to it, or remove the file."],
        Absent => ["no file has this name", FIND_FILE],
        NameCase => ["a file name differs from it only in case", RENAME],
        NameEncoding => [
            "a file name differs from it only in percent-encoding",
            RENAME,
        ],
        NoIndex => [
            "it is a folder, and no index file opens for it",
            "Link to a file, or name the index file with --index.",
        ],
        Slash => [
            "only Netlify (netlify.toml, _redirects, _headers), Cloudflare Pages (wrangler.toml) and Render (render.yaml) send the page for it",
            "Remove the final /, or move the page into a folder.",
        ],
        NoName => ["no file can have this name", FIND_FILE],
        NoFile => ["it is a pipe, a socket or a device", FIND_FILE],
        DeadRule => [
            "the redirects of its host lead to nothing, or in a circle",
            "Correct the redirect, or the link.",
        ],
        Elsewhere => ["it leads to a different file, or to none", FIND_FILE],
        NoId => [
            "nothing in the file has this id",
            "Correct the fragment, or give an element this id.",
        ],
        IdCase => [
            "an id in the file differs from it only in case",
            "Write the id as the file has it.",
        ],
        Left => ["it has no target", "Its target is unknown."],
        Outside => ["it leads out of the folder", NOTHING_TO_DO],
        Ignored => ["it is ignored", NOTHING_TO_DO],
        Remote => ["a message loads it from the network", NOTHING_TO_DO],
        Works => ["its target exists", NOTHING_TO_DO],
        Served => ["it was not captured, but an alternative was", CAPTURE],
        NotSaved => [
            "the browser that saved the page did not save its target",
            "Make it absolute; `baselink rewrite` does.",
        ],
        LocalCopy => [
            "the copy that a browser saved is not where the link leads",
            FIND_FILE,
        ],
        Canonical => [
            "it is the canonical URL of its page, and keeps pointing at the old place",
            "Write the new URL; `baselink move --to` does.",
        ],
        NameForm => [
            "a file name differs from it only in Unicode normalization",
            RENAME,
        ],
        LinkNowhere => [
            "a symbolic link in its path is broken",
            "Correct the symbolic link, or add its target.",
        ],
        LinkOut => [
            "a symbolic link in its path leads out of the folder",
            "Copy its target into the folder, as `cp -rL` does.",
        ],
        NotCaptured | PageNotCaptured => ["it was not captured", CAPTURE],
        ClientError | PageClientError => ["the server answered with an error (4xx)", CAPTURE],
        ServerError | PageServerError => ["the server answered with an error (5xx)", CAPTURE],
        Redirect | PageRedirect => ["its redirect does not lead to a captured resource", CAPTURE],
        NoBody | PageNoBody => [
            "it was captured without its body, or with a part of it",
            CAPTURE,
        ],
        NoSlash => [
            "it is a folder, but the final / is missing; servers redirect to the folder",
            "Add the /.",
        ],
        CleanUrl => [
            "it lacks the extension of the file; some servers add it",
            "Write the name as the file has it, unless the server adds the extension.",
        ],
        Lines => ["a script of the page marks these lines", NOTHING_TO_DO],
    }
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
