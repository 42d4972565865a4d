//! The base of each document in `fixtures/facts/bases.tsv`, and why its other `base` elements do not count.
//!
//! Deliberately absent: bases from outside the document. `fixtures/html` and `fixtures/message` have them.

use baselink_rewrite::base::{Level, Rule, Status};
use baselink_rewrite::{Options, rewrite};
use baselink_url::Resolver;

use crate::facts;

const FALLBACK: &str = "http://doc.example/dir/page.html?q";

/// True if the levels of section 3.1 match `expected`, one by one.
fn levels_match(expected: &str, levels: &[Level]) -> bool {
    let expected: Vec<_> = expected
        .split(" | ")
        .filter(|level| !level.is_empty())
        .collect();
    let found: Vec<_> = levels
        .iter()
        .filter(|level| level.rule == Rule::Embedded && level.status != Status::Absent)
        .collect();
    found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(level, expected)| match expected {
                "taken" => level.status == Status::Taken,
                "invalid" => level.status == Status::Invalid,
                reason => level.status == Status::PassedOver && level.reason.contains(reason),
            })
}

#[test]
fn every_document_has_its_base_in_every_resolver() {
    let rows = facts::rows("facts/bases.tsv");
    assert_eq!(rows.len(), 78);
    let mut wrong = Vec::new();
    for row in &rows {
        let [id, document, base, rfc, levels] = row.as_slice() else {
            panic!("{row:?} has not 5 fields")
        };
        for resolver in Resolver::ALL {
            let expected = if rfc == "=" || resolver == Resolver::Whatwg {
                base
            } else {
                rfc
            };
            let options = Options {
                resolver,
                ..Options::at(FALLBACK)
            };
            let report = rewrite(document.as_bytes(), &options).report;
            let chain = &report.entities[0].chain;
            if chain.base.as_deref() != Some(expected) || !levels_match(levels, &chain.chain) {
                wrong.push(format!(
                    "{id} under {resolver}: {:?} instead of {expected:?}\n  {:?}",
                    chain.base, chain.chain
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
