//! The numbers of links by result, in one or more documents.
//!
//! ```text
//! 3 links: 1 rewritten, 2 left (1 empty, 1 placeholder)
//! ```
//!
//! Deliberately absent: the classes of `check` (`check::tree`), and the summary of a run.

use baselink_site::purpose::{
    link_result::LinkResult,
    tally::{Counted, Tally},
};
use baselink_text::count;
use serde::Serializer;

/// Serializes the number of links by result, as a JSON object with the names of these results as keys.
pub fn serialize_links<S: Serializer>(
    (tally, results): &(&Tally, &[LinkResult]),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let count = |result: &LinkResult| (result.name().replace(' ', "-"), tally.of_result(*result));
    serializer.collect_map(results.iter().map(count))
}

/// The number of links by result and reason: `3 links: 1 rewritten, 2 left (1 empty, 1 placeholder)`.
pub fn links_in_words(tally: &Tally) -> String {
    let mut text = match tally.links(|_, _| true) {
        0 => return "no links".to_owned(),
        number => count(number, "link", "links"),
    };
    let counts = tally.iter().filter_map(|(what, number)| match what {
        Counted::Link(result, reason) => Some((result, reason, number)),
        _ => None,
    });
    let counts: Vec<_> = counts.collect();
    let mut before = ": ";
    for reasons in counts.chunk_by(|(one, ..), (other, ..)| one == other) {
        let result = reasons[0].0;
        let words = match result {
            LinkResult::Local => "already local",
            LinkResult::Absolute => "already absolute",
            LinkResult::BaseEmptied => "base URL removed",
            _ => result.name(),
        };
        text += &format!("{before}{} {words}", tally.of_result(result));
        before = ", ";
        let named = reasons.iter().filter_map(|(_, reason, number)| {
            let name = (*reason)?.name();
            Some(if reasons.len() == 1 {
                name.to_owned()
            } else {
                format!("{number} {name}")
            })
        });
        let named: Vec<_> = named.collect();
        if !named.is_empty() {
            text += &format!(" ({})", named.join(", "));
        }
    }
    text
}
