//! The laws on real pages, if these are present (`tests/common/outside.rs`).
//!
//! Deliberately absent: documents written for tests, which are in `fixtures/` and `tests/html/laws.rs`.

use baselink::Outcome;
use baselink_rewrite::{Options, rewrite};
use baselink_verify::verify;

use crate::outside;

#[test]
fn every_law_holds_on_every_page() {
    let pages = outside::PAGES.files(Some("html"));
    let mut links = 0;
    for path in &pages {
        let page = std::fs::read(path).unwrap();
        let name = path.display();

        let untouched = rewrite(&page, &Options::default());
        if untouched.report.entities[0].chain.base.is_none() {
            assert!(untouched.output() == page, "{name}: changed without a base");
            assert_eq!(untouched.report.count(Outcome::Rewritten), 0, "{name}");
        }

        let options = Options::at("http://example.org/dir/page.html?q#f");
        let rewritten = rewrite(&page, &options);
        let reported = format!("{:?}", rewrite(&page, &options).report);
        assert!(
            reported == format!("{:?}", rewritten.report),
            "{name}: reported otherwise than made"
        );
        links += rewritten.report.links.len();
        let counted: usize = Outcome::ALL
            .iter()
            .map(|&outcome| rewritten.report.count(outcome))
            .sum();
        assert_eq!(counted, rewritten.report.links.len(), "{name}");
        assert!(
            !rewritten.report.entities[0].without_tree,
            "{name}: scanned without its tree"
        );
        assert_eq!(verify(&rewritten), Ok(()), "{name}");

        let output = rewritten.output();
        let again = rewrite(&output, &options);
        assert!(
            again.edits.is_empty(),
            "{name}: rewriting twice changes {:?}",
            again.edits
        );
    }
    if !pages.is_empty() {
        assert!(
            pages.len() >= 130 && links > 10_000,
            "{} pages, {links} links",
            pages.len()
        );
    }
}
