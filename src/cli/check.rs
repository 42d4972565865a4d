//! `baselink check`: what a move would do to the links of a folder.
//!
//! ```text
//! $ baselink check --url http://a.example/docs/ docs
//! docs/index.html:3:10: pinned (absolute)  a[href]
//!   3 | <a href="http://a.example/docs/up.html">Up</a>
//!     |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//!     = keeps pointing at http://a.example/docs/up.html
//!     = relative form: up.html
//! ```
//!
//! Each document is scanned and judged once (`CheckedTree::read`), which counts links by class. Documents with findings to
//! list are read again (`listing`).
//!
//! Deliberately absent: giving a link its class, which `baselink::purpose::check` does.

mod baseline;
mod beside;
mod fix;
mod github;
mod href;
mod listed;
mod listing;
mod report;
mod sarif;
mod targets;
mod text;
mod tree;
mod words;

use std::io;

use baselink::error::name;
use baselink::purpose::check::Class;

use self::baseline::Baseline;
use self::fix::Fixed;
use self::listed::Listed;
use self::tree::CheckedTree;
use self::words::{counted, number};
use super::hint::say_scheme;
use super::output::{Output, count};
use super::progress::{is_stopped, stop_between_files};
use super::request::{Check, Classes};
use super::status::ExitStatus;

/// Checks what was asked for.
pub(crate) fn run(asked: &Check, output: &mut Output) -> io::Result<ExitStatus> {
    let from = asked.documents.origins();
    let read = |path| Baseline::read(path, asked.updates_baseline);
    let prepared =
        beside::look(asked).and_then(|()| asked.baseline.as_deref().map(read).transpose());
    let baseline = match prepared {
        Ok(baseline) => baseline,
        Err(error) => {
            output.error(&error);
            return Ok(ExitStatus::Unusable);
        }
    };
    stop_between_files()?;
    let (mut tree, mut status) = CheckedTree::read(asked, &from, output)?;
    tree.say_doubles(output);
    let mut fixed = None;
    if let Some(destination) = asked.fix.as_ref().filter(|_| !is_stopped()) {
        let done = fix::make(asked, destination, &tree, output)?;
        status = status.max(done.status);
        if done.is_written && done.files > 0 && !is_stopped() {
            (tree, _) = CheckedTree::read(asked, &from, &mut output.page())?;
        }
        fixed = Some(done);
    }
    if is_stopped() {
        return Ok(stopped(fixed.as_ref(), output));
    }
    let shows_diff = fixed.as_ref().is_some_and(|fixed| fixed.is_shown);
    let is_by_target = !asked.lists_links && !shows_diff;
    let list = if shows_diff || is_by_target { Classes::default() } else { asked.list.clone() };
    let has_targets = is_by_target || asked.report.is_some() || asked.missing.is_some();
    let listed = listing::list(asked, &list, has_targets, &mut tree, baseline.as_ref(), output)?;
    status = status.max(listed.status);
    let denied = listed.left(&tree, |class| asked.deny.contains(class));
    if is_by_target && !is_stopped() && !tree.files.is_empty() {
        text::targets(asked, &tree, &listed, output)?;
    }
    output.flush()?;
    // The list is not complete.
    if is_stopped() {
        return Ok(stopped(fixed.as_ref(), output));
    }
    status = status.max(say(asked, &tree, fixed.as_ref(), &listed, output));
    if let Err(error) = beside::write(asked, &tree, &listed, output) {
        output.error(&error);
        status = ExitStatus::Unusable;
    }
    if !asked.updates_baseline {
        say_accepted(asked, baseline.as_ref(), &listed, output);
    }
    let is_held = asked.updates_baseline || denied.is_empty();
    if !is_held {
        say_denied(asked, &tree, &denied, output);
    }
    // The program ends: to give back piece by piece what a large tree holds would only take time.
    std::mem::forget(tree);
    Ok(if is_held { status } else { status.max(ExitStatus::NotHeld) })
}

/// Says that the work was stopped, and how much was changed before.
fn stopped(fixed: Option<&Fixed>, output: &mut Output) -> ExitStatus {
    match fixed.filter(|fixed| fixed.is_written).map_or(0, |fixed| fixed.files) {
        0 => output.error(&"stopped; nothing was changed"),
        changed => output.error(&format_args!(
            "stopped; {} changed, and every file is whole",
            count(changed, "file was", "files were")
        )),
    }
    ExitStatus::Stopped
}

fn say_accepted(asked: &Check, baseline: Option<&Baseline>, listed: &Listed, output: &mut Output) {
    let (Some(baseline), Some(path)) = (baseline, &asked.baseline) else { return };
    let accepted = count(listed.accepted(), "finding is", "findings are");
    let gone = match baseline.len().saturating_sub(listed.accepted()) {
        0 => String::new(),
        gone => format!("; {gone} that it has {} gone", if gone == 1 { "is" } else { "are" }),
    };
    output.notice(&format_args!("{accepted} accepted by {}{gone}", name(path)));
}

/// Says which findings are denied.
fn say_denied(
    asked: &Check,
    tree: &CheckedTree<'_>,
    denied: &[(Class, usize)],
    output: &mut Output,
) {
    let fixes = match tree.sum.references {
        fixes if fixes > 0 && asked.fix.is_none() => {
            format!("; --fix makes {} relative", number(fixes))
        }
        _ => String::new(),
    };
    let what = if asked.is_of_archives { "links lack their targets" } else { "links would break" };
    output.error(&format_args!("{what}: {}{fixes}", words::classes(denied)));
}

/// Says how many links have which class, and what became of the fixes; with the status of a folder without documents.
fn say(
    asked: &Check,
    tree: &CheckedTree<'_>,
    fixed: Option<&Fixed>,
    listed: &Listed,
    output: &mut Output,
) -> ExitStatus {
    if let Some(fixed) = fixed {
        fixed.say(output);
    }
    let status = tree.left.say_documents(tree.files.len(), output);
    if tree.files.is_empty() {
        tree.left.say_archives(output);
        return status;
    }
    let sum = &tree.sum;
    if let Some(plan) = &tree.captures {
        let missing = listed.targets.iter().filter(|target| target.class == Class::Missing).count();
        let on = tree.files.iter().filter(|file| file.counts.of(Class::Missing) > 0).count();
        output.notice(&format_args!(
            "{}, {}; {} missing on {}",
            counted(tree.files.len(), "document", "documents"),
            counted(plan.chosen.resources.len(), "resource", "resources"),
            counted(missing, "embedded resource", "embedded resources"),
            counted(on, "document", "documents"),
        ));
    }
    output.notice(&format_args!(
        "{}, {}",
        counted(tree.files.len(), "document", "documents"),
        counted(sum.links(), "link", "links")
    ));
    let names = sum.classes.keys().map(|class| class.name().len()).max().unwrap_or(0).max(9);
    let width = sum.classes.values().map(|links| number(*links).len()).max().unwrap_or(0);
    for class in Class::ALL.iter().rev() {
        let links = sum.of(*class);
        if links == 0 {
            continue;
        }
        let fixes = match sum.fixes_of.get(class) {
            None => String::new(),
            Some(fixes) => format!(", {} with a fix", number(*fixes)),
        };
        output.notice(&format_args!("  {:names$} {:>width$}{fixes}", class.name(), number(links)));
    }
    if sum.differing > 0 {
        let links = count(sum.differing, "link leads", "links lead");
        output.notice(&format_args!("{links} elsewhere under another resolver"));
    }
    if sum.without_base > 0 {
        let links = count(sum.without_base, "relative link has", "relative links have");
        output.notice(&format_args!(
            "{links} no base URL; say where the folder is now with --url, --url-map or --layout"
        ));
    }
    if sum.root_relative > 0 && tree.from.assumes_root && asked.to.is_none() {
        let links = count(sum.root_relative, "link begins", "links begin");
        output.notice(&format_args!(
            "{links} with /; where that leads depends on the URL of the folder, which --url gives"
        ));
    }
    if tree.parts > 0 {
        let parts = count(tree.parts, "file is only a part", "files are only parts");
        output.notice(&format_args!("{parts} of HTML, and left out; --include takes such files"));
    }
    say_scheme(sum.without_scheme, output);
    tree.left.say_archives(output);
    tree.left.say_links(output);
    status
}
