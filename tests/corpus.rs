//! The laws of the design over real pages: those of `../shared/corpus/pages`, where that folder is.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::{Path, PathBuf};

use baselink::{Options, Outcome, rewrite, verify};

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/pages");
    let mut pages = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    if pages.is_empty() {
        eprintln!("notice: the corpus of real pages is not here, so it was not run");
    }
    pages
}

#[test]
fn every_law_holds_on_every_page() {
    let pages = pages();
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
        links += rewritten.report.links.len();
        let counted: usize = Outcome::ALL.iter().map(|&one| rewritten.report.count(one)).sum();
        assert_eq!(counted, rewritten.report.links.len(), "{name}");
        assert!(!rewritten.report.entities[0].without_tree, "{name}: scanned without its tree");
        assert_eq!(verify::verify(&rewritten, &options), Ok(()), "{name}");

        let output = rewritten.output();
        let again = rewrite(&output, &options);
        assert!(again.edits.is_empty(), "{name}: rewriting twice changes {:?}", again.edits);
    }
    if !pages.is_empty() {
        assert!(pages.len() >= 130 && links > 10_000, "{} pages, {links} links", pages.len());
    }
}
