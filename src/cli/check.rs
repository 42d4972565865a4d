//! `baselink check`: dead links of a folder where it stands, and the effect of a move on the others.
//!
//! ```text
//! $ baselink check --verbose --url http://a.example/docs/ --to http://b.example/ docs
//! docs/index.html:3:10: pinned (absolute)  a[href]
//!   3 | <a href="http://a.example/docs/up.html">Up</a>
//!     |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//!     = keeps pointing at http://a.example/docs/up.html
//! ```
//!
//! `CheckedTree::read` scans and judges each document once. `listing` counts each link and prints its finding at once.
//!
//! Deliberately absent: the classification of links, which `baselink_site::purpose::check` does.

mod baseline;
mod ci;
mod fix;
mod href;
mod listing;
mod report;
mod side_files;
mod tables;
mod text;
mod tree;
mod verdict;
mod words;

use baselink_text::{Error, name, shell};

use self::{
    baseline::Baseline,
    listing::Lister,
    tree::CheckedTree,
    words::{counted, number},
};
use super::{
    args::check::{Check, CheckForm, Classes, ReportForm, meaning},
    base_hints::report_scheme,
    files::{report_archives, report_damaged, report_documents, report_unread, status_after},
    output::{Output, count},
    request::is_standard_input,
    status::{ExitStatus, Failure, FileResult},
};
use baselink_files::write::NewContents;
use baselink_site::{
    collection::{is_disk, origin::is_assumed},
    purpose::{
        check::{Class, FindingRule, targets::FullTargets},
        tally::Counted,
    },
    reading::SkipReason,
};

/// Checks a folder or archives.
pub fn run(request: &mut Check, output: &mut Output) -> FileResult<ExitStatus> {
    side_files::check_files(request)?;
    if request.fix
        && let Some(status) = fix::fix(request, output)?
    {
        return Ok(status);
    }
    let request = &*request;
    let read = |path| Baseline::read(path, request.updates_baseline);
    let baseline = request.baseline.as_deref().map(read).transpose()?;
    let is_by_target = !request.lists_links();
    let prints_findings = !request.missing.as_deref().is_some_and(is_standard_input);
    let log = request.reports(ReportForm::Sarif).next();
    output.file = log.map(NewContents::begin).transpose()?;
    let is_log = log.is_some();
    let is_by_link = is_log || (!is_by_target && prints_findings);
    let list = if is_by_link {
        request.list.clone()
    } else {
        Classes::default()
    };
    let lister = Lister {
        request,
        list,
        form: if is_log {
            CheckForm::Sarif
        } else {
            request.form()
        },
        baseline: baseline.as_ref(),
        full: &FullTargets::default(),
        mends: false,
    };
    let (tree, mut status) = match log {
        None => CheckedTree::read(&lister, output)?,
        Some(log) => read_with_log(&lister, output).map_err(|failure| match failure {
            Failure::Output(error) => error.downcast().unwrap_or_else(Error::io(log)).into(),
            failure => failure,
        })?,
    };
    tree.warn_of_case_conflicts(output);
    let denied = tree.not_accepted(|class| request.deny.contains(class));
    if is_by_target && prints_findings && tree.tally[Counted::Document] > 0 {
        verdict::print_targets(request, &tree, output)?;
    }
    output.flush()?;
    status = status.max(report_totals(request, &tree, output));
    let written = side_files::write(request, &tree, baseline.as_ref(), output);
    status = status.max(status_after(written, output)?);
    if !request.updates_baseline {
        report_accepted(request, baseline.as_ref(), &tree, output);
    }
    let is_held = request.updates_baseline || denied.is_empty();
    if !is_held {
        let [_, problem] = words::problem(request, &denied);
        output.error(format_args!("links {problem}: {}", words::classes(&denied)));
    }
    for (path, damaged, _) in &tree.archives {
        status = status.max(report_damaged(
            (path, *damaged),
            "links",
            request.strict,
            output,
        ));
    }
    report_move(request, &tree, output);
    // The program ends now, so freeing a large tree would only take time.
    std::mem::forget(tree);
    Ok(if is_held {
        status
    } else {
        status.max(ExitStatus::NotHeld)
    })
}

/// Reads the tree while its findings go to a SARIF log, the file of `output`.
fn read_with_log(
    lister: &Lister<'_>,
    output: &mut Output,
) -> FileResult<(CheckedTree, ExitStatus)> {
    ci::print_start(output.out())?;
    let read = CheckedTree::read(lister, output)?;
    ci::print_end(output.out())?;
    if let Some(log) = output.file.take() {
        log.commit()?;
    }
    Ok(read)
}

fn report_accepted(
    request: &Check,
    baseline: Option<&Baseline>,
    tree: &CheckedTree,
    output: &mut Output,
) {
    let (Some(baseline), Some(path)) = (baseline, &request.baseline) else {
        return;
    };
    let accepted = count(tree.accepted(), "finding is", "findings are");
    let gone = match baseline.len.saturating_sub(tree.accepted()) {
        0 => String::new(),
        gone => "; ".to_owned() + &count(gone, "in it no longer occurs", "in it no longer occur"),
    };
    output.notice(format_args!("{accepted} accepted by {}{gone}", name(path)));
}

/// Suggests the command that would fix links that break, or that lack the path of the site.
fn report_move(request: &Check, tree: &CheckedTree, output: &mut Output) {
    let is_of_moves = |class| matches!(class, Class::Pinned | Class::Escapes);
    if request.form() != CheckForm::Text || tree.not_accepted(is_of_moves).is_empty() {
        return;
    }
    if tree.tally[Counted::Checked(FindingRule::NoPrefix)] > 0 {
        output.notice(
            "to add the path of the site: --fix for paths, baselink move --same for all links",
        );
    }
    let is_movable = |what| matches!(what, Counted::Checked(rule) if rule.is_movable());
    let Some(to) = request
        .to
        .as_ref()
        .filter(|_| tree.tally.sum(is_movable) > 0)
    else {
        return;
    };
    let folder = request.folder().to_string_lossy();
    let mut command = format!("baselink move {}", shell::word(&folder));
    let root = request.documents.origins().root_url;
    let own = root.filter(|root| !is_assumed(root.as_str()));
    if let Some(url) = &own {
        command += &format!(" --url {}", shell::word(url.as_str()));
    }
    command += &if is_disk(to) {
        " --relative=disk".to_owned()
    } else if own.as_ref() == Some(to) {
        " --relative".to_owned()
    } else {
        format!(" --to {}", shell::word(to.as_str()))
    };
    output.notice(format_args!(
        "to move the folder with its links: {command} -o OUT"
    ));
}

/// Reports how much of what the pages of archives need was captured.
fn report_captures(request: &Check, tree: &CheckedTree, output: &mut Output) {
    let missing = tree.targets.of_class(Class::Missing).count();
    let on = tree
        .files
        .iter()
        .filter(|file| file.tally.of_class(Class::Missing) > 0)
        .count();
    let resources = tree.captures.iter().map(|plan| plan.chosen.resources.len());
    let is_page_missing = tree.tally.of_class(Class::MissingPage) > 0;
    let pages = if is_page_missing && !request.list.contains(Class::MissingPage) {
        "; -v lists the links to missing pages"
    } else {
        ""
    };
    output.notice(format_args!(
        "{}, {}; {} missing on {}{pages}",
        counted(tree.tally[Counted::Document], "document", "documents"),
        counted(resources.sum(), "resource", "resources"),
        counted(missing, "embedded resource", "embedded resources"),
        counted(on, "document", "documents"),
    ));
}

/// Reports the number of links by class. Returns an error status if there are only files that are not documents.
fn report_totals(request: &Check, tree: &CheckedTree, output: &mut Output) -> ExitStatus {
    let (tally, documents) = (&tree.tally, tree.tally[Counted::Document]);
    let is_empty = documents == 0 && tally[Counted::Skipped(SkipReason::Unusable)] == 0;
    if is_empty && !request.is_of_archives && request.documents.library.is_empty() {
        // A folder that a build left empty must not pass.
        let patterns = request.documents.patterns();
        let folder = name(request.folder());
        output.error(format_args!("{folder}: no documents found{patterns}"));
        report_archives(tally, output);
        return ExitStatus::Unusable;
    }
    let status = report_documents(tally, documents, output);
    if documents == 0 {
        return status;
    }
    if !tree.captures.is_empty() {
        report_captures(request, tree, output);
    }
    let of_archives = tree.archives.iter().filter(|_| !request.is_of_archives);
    for (path, _, tally) in of_archives {
        output.notice_of(
            tally.of_class(Class::Missing),
            [
                "link to a missing resource is",
                "links to missing resources are",
            ],
            &format!("in {}", name(path)),
        );
        output.notice_of(
            tally[Counted::Checked(FindingRule::Remote)],
            ["resource is", "resources are"],
            &format!("on the network for {}", name(path)),
        );
    }
    output.notice(format_args!(
        "{}, {}",
        counted(documents, "document", "documents"),
        counted(tally.links_checked(), "link", "links")
    ));
    let classes = Class::ALL.map(|class| (class, number(tally.of_class(class))));
    let classes: Vec<_> = classes.iter().filter(|(_, links)| links != "0").collect();
    let names = classes.iter().map(|(class, _)| class.name().len());
    let widths = classes.iter().map(|(_, links)| links.len());
    let (names, width) = (names.fold(9, usize::max), widths.fold(0, usize::max));
    for (class, links) in classes {
        let (name, meaning) = (class.name(), meaning(*class));
        output.notice(format_args!("  {name:names$} {links:>width$}  {meaning}"));
    }
    // A URL would make a library a site.
    if request.documents.library.is_empty() {
        output.notice_of(
            tally[Counted::Baseless],
            ["relative link has", "relative links have"],
            "no base URL; give the URL of the folder with --url, --url-map or --layout",
        );
    }
    output.notice_of(
        tally[Counted::Part],
        ["file is only a fragment", "files are only fragments"],
        "of HTML and skipped; --include includes such files",
    );
    report_scheme(tally[Counted::Schemeless], output);
    report_unread(tally, output);
    status
}
