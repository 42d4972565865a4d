//! The verdict on a folder or archives, and the targets of its links, as text.
//!
//! ```text
//! 3 of 8 links are broken, to 1 target: 3 dangling
//! ```
//!
//! Deliberately absent: single links ([`super::text`]).

use std::io::{self, Write};

use baselink_text::name;

use super::{
    text::{ROOM, first_chars, on_one_line, style_of},
    tree::CheckedTree,
    words,
};

use baselink_site::purpose::check::{Class, targets::PLACES};

use crate::cli::{
    args::check::{Check, Classes},
    output::{FAINT, HEADING, Output},
};

/// The verdict, such as `3 of 8 links would be broken, to 3 targets: 1 pinned, 2 escapes`.
pub fn verdict(request: &Check, tree: &CheckedTree) -> String {
    let all = tree.tally.links_checked();
    let links = words::counted(all, "link", "links");
    let denied = tree.not_accepted(|class| request.deny.contains(class));
    let fails = !denied.is_empty();
    let found = if fails {
        denied
    } else {
        tree.not_accepted(|class| Classes::BROKEN.contains(&class))
    };
    let [one, more] = words::problem(request, &found);
    let of_links = found.iter().filter(|(class, _)| *class != Class::Unlinked);
    let (number, classes) = (
        of_links.map(|(_, links)| links).sum(),
        words::classes(&found),
    );
    let problem = format!(
        "{} of {links} {}",
        words::number(number),
        if number == 1 { one } else { more }
    );
    if fails && number == 0 {
        return format!("no link {one} ({links}); files: {classes}");
    }
    if fails {
        let targets = tree.targets.iter();
        let targets = targets.filter(|target| request.deny.contains(target.rule.class()));
        let targets = words::counted(targets.count(), "target", "targets");
        return if words::is_broken(&found) && !request.is_of_archives {
            format!("{problem}, to {targets}: {classes}")
        } else {
            format!("{problem} ({targets}): {classes}")
        };
    }
    match (number, all, tree.accepted()) {
        (0, 0, _) => "the documents have no links".to_owned(),
        (0, _, 0) => format!("no link {one} ({links})"),
        (0, _, accepted) => format!("no new link {one} ({links}, {accepted} accepted)"),
        _ => format!("no link fails, but {problem}: {classes}"),
    }
}

/// Prints the verdict, and the targets of the classes that are listed.
pub fn print_targets(request: &Check, tree: &CheckedTree, output: &mut Output) -> io::Result<()> {
    let styler = output.styler;
    let out = &mut output.lines();
    writeln!(out, "{}", verdict(request, tree))?;
    for target in tree
        .targets
        .iter()
        .filter(|target| request.list.contains(target.rule.class()))
    {
        let style = style_of(request.deny.contains(target.rule.class()));
        let summary = target.summary;
        write!(
            out,
            "\n{}: {}",
            first_chars(&on_one_line(target.to), ROOM[1]),
            styler.paint(style, words::class_and_cause(target.rule, target.reason)),
        )?;
        if summary.links > 0 {
            let links = words::counted(summary.links, "link", "links");
            let files = words::counted(summary.files, "file", "files");
            write!(out, ", {} in {files}", styler.paint(HEADING, links))?;
        }
        writeln!(out)?;
        for sentence in words::sentences_of_target(target) {
            writeln!(out, "  {} {sentence}", styler.paint(FAINT, "="))?;
        }
        let places = &summary.places[..summary.places.len().min(PLACES)];
        for place in places {
            let file = name(&tree.files[place.file as usize].path);
            let at = format!("{file}:{}:{}:", place.line, place.column);
            let (location, reference) = target.texts_of(place);
            let reference = first_chars(&on_one_line(reference), ROOM[1]);
            writeln!(out, "  {} {location} {reference}", styler.paint(FAINT, at))?;
        }
        if summary.links > places.len() {
            writeln!(
                out,
                "  … {} more",
                words::number(summary.links - places.len())
            )?;
        }
    }
    Ok(())
}
