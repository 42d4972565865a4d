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
    targets::PLACES,
    text::{DENIED, OTHER, ROOM, first_chars, on_one_line},
    tree::CheckedTree,
    words,
};
use baselink_site::purpose::check::Class;

use crate::cli::{
    args::check::{Check, Classes},
    output::{FAINT, HEADING, Output, PLACE},
};

/// The verdict, such as `3 of 8 links would break, to 3 targets: 1 pinned, 2 escapes`.
pub fn verdict(request: &Check, tree: &CheckedTree) -> String {
    let links = words::counted(tree.sum.links(), "link", "links");
    let sum = |of: &[(Class, usize)]| words::number(of.iter().map(|(_, links)| links).sum());
    let denied = tree.not_accepted(|class| request.deny.contains(class));
    if !denied.is_empty() {
        let targets = tree.targets.iter();
        let targets = targets.filter(|target| request.deny.contains(target.rule.class()));
        let targets = targets.count();
        let targets = words::counted(targets, "target", "targets");
        let (denied_links, classes) = (sum(&denied), words::classes(&denied));
        let [one, more, _] = words::problem(request, &denied);
        let problem = if denied_links == "1" { one } else { more };
        return if words::is_broken(&denied) && !request.is_of_archives {
            format!("{denied_links} of {links} {problem}, to {targets}: {classes}")
        } else {
            format!("{denied_links} of {links} {problem} ({targets}): {classes}")
        };
    }
    let broken = tree.not_accepted(|class| Classes::BROKEN.contains(&class));
    let [one, more, not] = words::problem(request, &broken);
    if broken.is_empty() {
        return match tree.sum.links() {
            0 => "the documents have no links".to_owned(),
            1 => format!("the only link {not}"),
            _ => format!("none of {links} {more}"),
        };
    }
    let (all, classes) = (sum(&broken), words::classes(&broken));
    let problem = if all == "1" { one } else { more };
    format!("{all} of {links} {problem}, but not of a denied class: {classes}")
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
        let style = if request.deny.contains(target.rule.class()) {
            DENIED
        } else {
            OTHER
        };
        let summary = target.summary;
        writeln!(
            out,
            "\n{}: {}, {} in {}",
            first_chars(&on_one_line(target.to), ROOM[1]),
            styler.paint(style, words::class_and_cause(target.rule, target.reason)),
            styler.paint(HEADING, words::counted(summary.links, "link", "links")),
            words::counted(summary.files, "file", "files")
        )?;
        for sentence in words::sentences_of_target(target) {
            writeln!(out, "  {} {sentence}", styler.paint(FAINT, "="))?;
        }
        let places = &summary.places[..summary.places.len().min(PLACES)];
        for place in places {
            let file = name(&tree.files[place.file as usize].path);
            let at = format!("{file}:{}:{}:", place.line, place.column);
            let (location, reference) = target.texts_of(place);
            let reference = first_chars(&on_one_line(reference), ROOM[1]);
            writeln!(out, "  {} {location} {reference}", styler.paint(PLACE, at))?;
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
