//! The workflows, `action.yml` and the example in `docs/packaging.md` name each foreign action by a commit and, in a comment,
//! by the tag of this commit. The owner of an action can move a tag, but not a commit.
//!
//! Deliberately absent: the question if the tag has this commit, which only the network can answer.

use std::fs;
use std::path::Path;

/// True if `action` is `OWNER/NAME@COMMIT # TAG`.
fn is_pinned(action: &str) -> bool {
    let Some((name, tag)) = action.split_once(" # v") else {
        return false;
    };
    let commit = name.split_once('@').map_or("", |(_, commit)| commit);
    let is_commit = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit && tag.starts_with(|first: char| first.is_ascii_digit())
}

#[test]
fn every_action_is_pinned_by_a_commit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for name in [
        ".github/workflows/release.yml",
        ".github/workflows/test.yml",
        "action.yml",
        "docs/packaging.md",
    ] {
        let text = fs::read_to_string(root.join(name)).unwrap();
        for (_, action) in text.lines().filter_map(|line| line.split_once("uses: ")) {
            if action.starts_with("./") || action.starts_with("OWNER/") {
                continue;
            }
            count += 1;
            assert!(
                is_pinned(action),
                "{name}: {action} is not pinned by a commit"
            );
        }
    }
    assert!(count > 20, "only {count} actions were found");
}
