//! `baselink check`: the effect of a move on the links of a folder.
//!
//! ```text
//! $ baselink check --url http://a.example/docs/ docs
//! docs/index.html:3:10: pinned (absolute)  a[href]
//!   3 | <a href="http://a.example/docs/up.html">Up</a>
//!     |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//!     = keeps pointing at http://a.example/docs/up.html
//! ```
//!
//! Each document is scanned and judged once (`CheckedTree::read`), which counts links by class. Documents with findings to
//! list are read again (`listing`).
//!
//! Deliberately absent: giving a link its class, which `baselink::purpose::check` does.

mod baseline;
mod beside;
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

use baselink::error::name;
use baselink::purpose::check::Class;

use self::baseline::Baseline;
use self::listed::Listed;
use self::tree::CheckedTree;
use self::words::{counted, number};
use super::failure::FileResult;
use super::hint::say_scheme;
use super::output::{Output, count, said};
use super::request::{Check, CheckForm, Classes};
use super::shell;
use super::status::ExitStatus;

/// Checks a folder or archives.
pub(crate) fn run(asked: &Check, output: &mut Output) -> FileResult<ExitStatus> {
    let from = asked.documents.origins();
    let read = |path| Baseline::read(path, asked.updates_baseline);
    beside::look(asked)?;
    let baseline = asked.baseline.as_deref().map(read).transpose()?;
    let (mut tree, mut status) = CheckedTree::read(asked, &from, output)?;
    tree.say_doubles(output);
    let is_by_target = !asked.lists_links;
    let list = if is_by_target { Classes::default() } else { asked.list.clone() };
    let has_targets = is_by_target || asked.report.is_some() || asked.missing.is_some();
    let listed = listing::list(asked, &list, has_targets, &mut tree, baseline.as_ref(), output)?;
    status = status.max(listed.status);
    let denied = listed.left(&tree, |class| asked.deny.contains(class));
    if is_by_target && !tree.files.is_empty() {
        text::targets(asked, &tree, &listed, output)?;
    }
    output.flush()?;
    status = status.max(say(asked, &tree, &listed, output));
    if said(beside::write(asked, &tree, &listed, output), output)?.is_none() {
        status = ExitStatus::Unusable;
    }
    if !asked.updates_baseline {
        say_accepted(asked, baseline.as_ref(), &listed, output);
    }
    let is_held = asked.updates_baseline || denied.is_empty();
    if !is_held {
        say_denied(asked, &denied, output);
    }
    say_move(asked, &tree, &listed, output);
    // The program ends, and freeing a large tree piece by piece would only take time.
    std::mem::forget(tree);
    Ok(if is_held { status } else { status.max(ExitStatus::NotHeld) })
}

fn say_accepted(asked: &Check, baseline: Option<&Baseline>, listed: &Listed, output: &mut Output) {
    let (Some(baseline), Some(path)) = (baseline, &asked.baseline) else { return };
    let accepted = count(listed.accepted(), "finding is", "findings are");
    let gone = match baseline.len().saturating_sub(listed.accepted()) {
        0 => String::new(),
        gone => format!("; {gone} in it no longer {}", if gone == 1 { "occurs" } else { "occur" }),
    };
    output.notice(&format_args!("{accepted} accepted by {}{gone}", name(path)));
}

/// Reports the denied findings.
fn say_denied(asked: &Check, denied: &[(Class, usize)], output: &mut Output) {
    let what =
        if asked.is_of_archives { "links have missing targets" } else { "links would break" };
    output.error(&format_args!("{what}: {}", words::classes(denied)));
}

/// Suggests the `baselink move` command for the folder, if it would fix links that break.
fn say_move(asked: &Check, tree: &CheckedTree<'_>, listed: &Listed, output: &mut Output) {
    let root = tree.from.given_root();
    let movable = match root {
        Some(_) => tree.sum.movable,
        None if tree.from.assumes_root => tree.sum.root_relative,
        None => 0,
    };
    let is_of_moves = |class| matches!(class, Class::Pinned | Class::Escapes);
    if movable == 0 || asked.form != CheckForm::Text || listed.left(tree, is_of_moves).is_empty() {
        return;
    }
    let from = root.map(|url| format!(" --url {}", shell::word(url.as_str()))).unwrap_or_default();
    let to = match &asked.to {
        None => "--relative".to_owned(),
        Some(place) if place.as_str().starts_with("file:") => "--relative=disk".to_owned(),
        Some(url) => format!("--to {}", shell::word(url.as_str())),
    };
    let folder = asked.folder().to_string_lossy();
    let folder = shell::word(&folder);
    output.notice(&format_args!(
        "to move the folder with its links: baselink move {folder}{from} {to} -o OUT"
    ));
}

/// Reports the number of links by class. Returns an error status for a folder without documents.
fn say(asked: &Check, tree: &CheckedTree<'_>, listed: &Listed, output: &mut Output) -> ExitStatus {
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
        output.notice(&format_args!("  {:names$} {:>width$}", class.name(), number(links)));
    }
    let what = "elsewhere under another resolver";
    output.notice_of(sum.differing, ["link leads", "links lead"], what);
    let what = "no base URL; give the URL of the folder with --url, --url-map or --layout";
    output.notice_of(sum.without_base, ["relative link has", "relative links have"], what);
    if tree.from.assumes_root && asked.to.is_none() {
        let what = "with /; their targets depend on the URL of the folder; give it with --url";
        output.notice_of(sum.root_relative, ["link begins", "links begin"], what);
    }
    let what = "of HTML and skipped; --include includes such files";
    output.notice_of(tree.parts, ["file is only a fragment", "files are only fragments"], what);
    say_scheme(sum.without_scheme, output);
    tree.left.say_archives(output);
    tree.left.say_links(true, output);
    status
}
