//! The words for findings: sentences about the cause, and about the target before and after the move.
//!
//! ```text
//! keeps pointing at http://a.example/docs/up.html
//! did you mean the file july.html?
//! ```
//!
//! Deliberately absent: colours and markup. Text, SARIF, annotations and the page share these words.

use baselink_text::visible;

use super::targets::CheckedTarget;
use baselink_site::purpose::check::{Cause, Class, Finding};

use crate::cli::args::check::{Check, Classes};

/// The meaning of a class with a cause.
pub struct FindingRule {
    pub class: Class,
    /// The name of the cause; `None` if the rule applies to every finding of the class.
    pub cause: Option<&'static str>,
    /// The problem, as a clause about the link or its target.
    pub why: &'static str,
    /// A way to solve the problem.
    pub help: &'static str,
}

/// The meaning of findings of `class` with this cause.
const fn rule(
    class: Class,
    cause: &'static str,
    why: &'static str,
    help: &'static str,
) -> FindingRule {
    FindingRule {
        class,
        cause: Some(cause),
        why,
        help,
    }
}

/// The meaning of findings of `class`, which have no cause.
const fn rule_without_cause(class: Class, why: &'static str, help: &'static str) -> FindingRule {
    FindingRule {
        cause: None,
        ..rule(class, "", why, help)
    }
}

/// The severity of a finding.
pub fn level(is_denied: bool) -> &'static str {
    if is_denied { "error" } else { "warning" }
}

/// The words for a link on which the resolvers disagree.
pub const DIFFERS: &str = "leads elsewhere under another resolver";

const NO_EFFECT: &str = "The move does not affect it.";
const MOVE: &str = "Move the folder with `baselink move`, which changes it.";
const MAKE_RELATIVE: &str = "Make it relative, or absolute.";
const MOVE_BASE: &str = "Move the folder with `baselink move`, which changes the base.";
const RENAME: &str = "Write the name as the file has it.";
const CAPTURE: &str =
    "Capture it, and check both archives together; --missing lists what to capture.";
const FIND_FILE: &str = "Add the file, or correct the link.";

/// All rules; a test compares them with `docs/check.md`.
pub const RULES: &[FindingRule] = {
    use Class::{
        CleanUrl, Dangling, Escapes, Fragment, Invalid, Left, Lines, Missing, MissingPage, NoSlash,
        Outside, Pinned, Travels,
    };
    &[
        rule(
            Pinned,
            "absolute",
            "it is absolute, and keeps pointing at the old place",
            MOVE,
        ),
        rule(
            Pinned,
            "net-path",
            "it names its host, and keeps pointing at the old place",
            MOVE,
        ),
        rule(
            Pinned,
            "declared-base",
            "its document declares a base that stays at the old place",
            MOVE_BASE,
        ),
        rule(
            Escapes,
            "net-path",
            "it names its host, and its scheme changes",
            MOVE,
        ),
        rule(
            Escapes,
            "declared-base",
            "its document declares a base that leads out of the tree",
            MOVE_BASE,
        ),
        rule(
            Escapes,
            "root-relative",
            "it begins with /, and its target changes",
            MOVE,
        ),
        rule(
            Escapes,
            "climbs-out",
            "its .. segments lead out of the tree",
            MAKE_RELATIVE,
        ),
        rule(
            Escapes,
            "no-prefix",
            "it lacks the path of the site, which other links have",
            "Add the path; `baselink move --same` makes such links relative.",
        ),
        rule_without_cause(Invalid, "no browser can open it", "Correct the URL."),
        rule(Dangling, "absent", "no file has this name", FIND_FILE),
        rule(
            Dangling,
            "case",
            "a file name differs from it only in case",
            RENAME,
        ),
        rule(
            Dangling,
            "percent-encoding",
            "a file name differs from it only in percent-encoding",
            RENAME,
        ),
        rule(
            Dangling,
            "no-index",
            "it is a folder, and no index file opens for it",
            "Link to a file, or name the index file with --index.",
        ),
        rule(Dangling, "no-name", "no file can have this name", FIND_FILE),
        rule(
            Dangling,
            "no-file",
            "it is a pipe, a socket or a device",
            FIND_FILE,
        ),
        rule(
            Dangling,
            "redirect",
            "the redirects of its host lead to nothing, or in a circle",
            "Correct the redirect, or the link.",
        ),
        rule(
            Dangling,
            "elsewhere",
            "it leads to a different file, or to none",
            MOVE,
        ),
        rule(
            Fragment,
            "no-id",
            "nothing in the file has this id",
            "Correct the fragment, or give an element this id.",
        ),
        rule(
            Fragment,
            "id-case",
            "an id in the file differs from it only in case",
            "Write the id as the file has it.",
        ),
        rule_without_cause(Left, "it has no target", "Its target is unknown."),
        rule_without_cause(Outside, "it leads out of the tree", NO_EFFECT),
        rule_without_cause(Travels, "its target exists", NO_EFFECT),
        rule(
            Escapes,
            "not-saved",
            "the browser that saved the page did not save its target",
            "Make it absolute; `baselink rewrite` does.",
        ),
        rule(
            Dangling,
            "local-copy",
            "the copy that a browser saved is not where the link leads",
            FIND_FILE,
        ),
        rule(
            Pinned,
            "canonical",
            "it is the canonical URL of its page, and keeps pointing at the old place",
            "Write the new URL; `baselink move --to` does.",
        ),
        rule(
            Dangling,
            "normalization",
            "a file name differs from it only in Unicode normalization",
            RENAME,
        ),
        rule(
            Dangling,
            "symlink",
            "a symbolic link in its path is broken",
            "Correct the symbolic link, or add its target.",
        ),
        rule(
            Escapes,
            "symlink",
            "a symbolic link in its path leads out of the tree",
            "Copy its target into the tree, as `cp -rL` does.",
        ),
        rule(Missing, "not-captured", "it was not captured", CAPTURE),
        rule(
            Missing,
            "client-error",
            "the server answered with an error (4xx)",
            CAPTURE,
        ),
        rule(
            Missing,
            "server-error",
            "the server answered with an error (5xx)",
            CAPTURE,
        ),
        rule(
            Missing,
            "redirect",
            "its redirect does not lead to a captured resource",
            CAPTURE,
        ),
        rule(
            Missing,
            "no-body",
            "it was captured without its body, or with a part of it",
            CAPTURE,
        ),
        rule(MissingPage, "not-captured", "it was not captured", CAPTURE),
        rule(
            MissingPage,
            "client-error",
            "the server answered with an error (4xx)",
            CAPTURE,
        ),
        rule(
            MissingPage,
            "server-error",
            "the server answered with an error (5xx)",
            CAPTURE,
        ),
        rule(
            MissingPage,
            "redirect",
            "its redirect does not lead to a captured resource",
            CAPTURE,
        ),
        rule(
            MissingPage,
            "no-body",
            "it was captured without its body, or with a part of it",
            CAPTURE,
        ),
        rule_without_cause(
            NoSlash,
            "it is a folder, but the final / is missing; servers redirect to the folder",
            "Add the /.",
        ),
        rule_without_cause(
            CleanUrl,
            "it lacks the extension of the file; some servers add it",
            "Write the name as the file has it, unless the server adds the extension.",
        ),
        rule_without_cause(Lines, "a script of the page marks these lines", NO_EFFECT),
    ]
};

impl FindingRule {
    /// The index in [`RULES`] of the rule for findings of `class` with this cause.
    pub fn of(class: Class, cause: Option<Cause>) -> usize {
        let cause = cause.map(Cause::name);
        let is_of = |rule: &FindingRule| {
            rule.class == class && (rule.cause.is_none() || rule.cause == cause)
        };
        RULES.iter().position(is_of).unwrap_or_default()
    }

    /// The name of the rule, such as `pinned/absolute`.
    pub fn name(&self) -> String {
        match self.cause {
            Some(cause) => format!("{}/{cause}", self.class.name()),
            None => self.class.name().to_owned(),
        }
    }
}

/// A class with its cause, such as `pinned (absolute)`.
pub fn class_and_cause(class: Class, cause: Option<Cause>) -> String {
    let cause = cause.map(|cause| format!(" ({})", cause.name()));
    format!("{}{}", class.name(), cause.unwrap_or_default())
}

/// The effect of the move on the link.
pub fn effect_of_move(finding: &Finding) -> String {
    let why = RULES[FindingRule::of(finding.class, finding.cause)].why;
    let Some(target) = finding.target.as_deref() else {
        return why.to_owned();
    };
    let (target, moved) = (visible(target), finding.moved.as_deref().map(visible));
    match (finding.class, finding.cause) {
        (Class::Pinned, _) => format!("keeps pointing at {target}"),
        (Class::Escapes, Some(Cause::ClimbsOut)) => {
            let then = moved.filter(|moved| *moved != target);
            let then = then.map(|moved| format!("; after the move to {moved}"));
            format!(
                "leads out of the tree to {target}{}",
                then.unwrap_or_default()
            )
        }
        (Class::Escapes, Some(Cause::Missing(_) | Cause::NoPrefix)) => {
            format!("leads to {target}: {why}")
        }
        (Class::Escapes, _) | (Class::Dangling, Some(Cause::Elsewhere)) => match moved {
            Some(moved) => format!("leads to {target}; after the move to {moved}"),
            None => format!("leads to {target}: {why}"),
        },
        (
            Class::Invalid
            | Class::Dangling
            | Class::Fragment
            | Class::Missing
            | Class::MissingPage
            | Class::NoSlash
            | Class::CleanUrl,
            _,
        ) => format!("leads to {target}: {why}"),
        (Class::Left | Class::Outside | Class::Lines | Class::Travels, _) => match moved {
            Some(moved) if moved != target => {
                format!("leads to {target}; after the move to {moved}")
            }
            _ => format!("leads to {target}"),
        },
    }
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
    sentences.extend(suggestion(finding.class, finding.hint.as_deref()));
    sentences.extend(finding.differs.then(|| DIFFERS.to_owned()));
    sentences
}

/// The sentences about a target.
pub fn sentences_of_target(target: CheckedTarget<'_>) -> Vec<String> {
    let why = RULES[FindingRule::of(target.class, target.cause)].why;
    let mut sentences = vec![why.to_owned()];
    sentences.extend(suggestion(target.class, target.summary.hint.as_deref()));
    if target.summary.differing > 0 {
        sentences.push(format!(
            "{} under another resolver",
            counted(
                target.summary.differing,
                "leads elsewhere",
                "lead elsewhere"
            )
        ));
    }
    sentences
}

/// True if links of these classes cannot be used. Links of a denied class need not be broken.
pub fn is_broken(classes: &[(Class, usize)]) -> bool {
    let mut classes = classes.iter();
    classes.all(|(class, _)| Classes::BROKEN.contains(class))
}

/// The problem of links of these classes, as a predicate of one link, of several, and of one link without the problem.
pub fn problem(request: &Check, classes: &[(Class, usize)]) -> [&'static str; 3] {
    let is_lack =
        |(class, _): &(Class, usize)| matches!(class, Class::Missing | Class::MissingPage);
    let are_lacks = request.is_of_archives && classes.iter().all(is_lack);
    match (is_broken(classes), are_lacks) {
        (false, _) => ["has a denied class", "have a denied class", ""],
        (true, true) => [
            "has a missing target",
            "have missing targets",
            "has no missing target",
        ],
        (true, false) if request.to.is_some() => ["would break", "would break", "would not break"],
        (true, false) => ["is broken", "are broken", "is not broken"],
    }
}

/// The numbers of links by class, such as `1 pinned, 2,000 escapes`.
pub fn classes<'n>(of: impl IntoIterator<Item = &'n (Class, usize)>) -> String {
    let sentences = of
        .into_iter()
        .map(|(class, links)| format!("{} {}", number(*links), class.name()));
    sentences.collect::<Vec<_>>().join(", ")
}

/// A number with separated thousands, such as `1,234,567`.
pub fn number(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
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

    /// A finding of a class without a rule would get the sentence of the first rule.
    #[test]
    fn every_class_has_a_rule() {
        for class in Class::ALL {
            assert!(RULES.iter().any(|rule| rule.class == class), "{class:?}");
        }
    }

    #[test]
    fn the_rules_match_the_causes_in_the_page_on_check() {
        let page = include_str!("../../../docs/check.md");
        let rows = page.lines().filter(|line| line.starts_with("| `"));
        let mut documented = Vec::new();
        for row in rows {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let [_, classes, cause, ..] = cells.as_slice() else {
                continue;
            };
            let cause = cause.trim_matches('`');
            for class in classes.split(", ") {
                let class = class.trim_matches('`');
                if Class::ALL.iter().any(|known| known.name() == class) {
                    documented.push(format!("{class}/{cause}"));
                }
            }
        }
        for rule in RULES.iter().filter(|rule| rule.cause.is_some()) {
            assert!(
                documented.contains(&rule.name()),
                "{} is not documented",
                rule.name()
            );
        }
        let is_rule = |name: &&String| RULES.iter().any(|rule| rule.name() == **name);
        let causes = documented.iter().filter(|name| {
            let of_broken = ["pinned/", "escapes/", "dangling/", "fragment/"];
            of_broken.iter().any(|class| name.starts_with(class)) && !name.contains(' ')
        });
        let missing: Vec<_> = causes.filter(|name| !is_rule(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
