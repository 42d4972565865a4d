//! Walks over folders that each test creates: the files, their order, and the errors and notices.

use std::fs;
use std::path::{Path, PathBuf};

use baselink_files::walk::{EntryKind, Globs, Selection, TreeEntry, walk};

/// A folder with the files `files`, each with its own path as contents.
fn tree(files: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    root
}

fn globs(patterns: &[&str]) -> Globs {
    Globs::new(patterns).unwrap()
}

fn relative(entry: &TreeEntry) -> String {
    let names: Vec<_> = entry
        .relative
        .iter()
        .map(|name| name.to_string_lossy())
        .collect();
    names.join("/")
}

/// The entries found below `root`. Errors appear as `error: …`, without the path of the root.
fn found(root: &Path, selection: &Selection) -> Vec<String> {
    found_below(&[root.to_owned()], root, selection)
}

fn found_below(roots: &[PathBuf], prefix: &Path, selection: &Selection) -> Vec<String> {
    let prefix = format!("{}/", prefix.display());
    walk(roots, selection)
        .map(|item| match item {
            Ok(entry) => relative(&entry),
            Err(error) => format!("error: {}", error.to_string().replace(&prefix, "")),
        })
        .collect()
}

#[test]
fn files_come_depth_first_in_the_byte_order_of_their_names() {
    // `-` is 2D, `.` 2E, `B` 42, `a` 61. The name `a` is a prefix of others, so the folder `a` comes before them with
    // all its contents.
    let root = tree(&["a/x", "a-b", "a.html", "B", "a/b/y", "b", "é"]);
    let expected = ["B", "a/b/y", "a/x", "a-b", "a.html", "b", "é"];
    assert_eq!(found(root.path(), &Selection::default()), expected);
}

#[test]
fn entries_have_root_path_kind_and_size() {
    let root = tree(&["a/x"]);
    let selection = Selection::default();
    let mut entries = walk(&[root.path().to_owned()], &selection);
    let entry = entries.next().unwrap().unwrap();
    assert_eq!(&*entry.root, root.path());
    assert_eq!(entry.relative, ["a", "x"]);
    assert_eq!(entry.path, root.path().join("a/x"));
    assert_eq!((entry.kind, entry.size), (EntryKind::File, 3));
    assert!(entries.next().is_none());
}

#[test]
fn a_file_given_as_argument_ignores_the_selection() {
    let root = tree(&[".hidden.txt"]);
    let path = root.path().join(".hidden.txt");
    let selection = Selection {
        include: globs(&["*.html"]),
        exclude: globs(&["*"]),
        ..Selection::default()
    };
    let entries: Vec<_> = walk(std::slice::from_ref(&path), &selection)
        .map(|entry| entry.unwrap())
        .collect();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].path, path);
    assert!(entries[0].relative.is_empty());
}

#[test]
fn a_missing_root_is_reported_and_the_others_are_walked() {
    let root = tree(&["a"]);
    let roots = [root.path().join("nothing"), root.path().to_owned()];
    let all = found_below(&roots, root.path(), &Selection::default());
    assert_eq!(all, ["error: nothing: no such file", "a"]);
}

#[test]
fn globs_are_matched_as_documented() {
    // A pattern, a path, and true if they match.
    let table = [
        ("*.html", "a.html", true),
        ("*.html", "b/c/a.html", true),
        ("*.html", "a.htm", false),
        ("*.html", "a.HTML", false),
        ("/*.html", "a.html", true),
        ("/*.html", "b/a.html", false),
        ("b/*.html", "b/a.html", true),
        ("b/*.html", "b/c/a.html", false),
        ("b/*.html", "x/b/a.html", false),
        ("./b/*.html", "b/a.html", true),
        ("b/**/*.html", "b/c/d/a.html", true),
        ("b/**/*.html", "b/a.html", true),
        ("**/b/*.html", "x/b/a.html", true),
        ("b/", "b/a", true),
        ("b/", "x/b/c/a", true),
        ("b/", "b", false),
        ("/b/", "x/b/a", false),
        ("b", "b", true),
        ("b", "b/a", false),
        ("{a,b}.html", "c/b.html", true),
        ("[ab].html", "a.html", true),
        ("?.html", "a.html", true),
        ("?.html", "ab.html", false),
        ("a*c", "a\nc", true),
        ("*", "x/.hidden", true),
    ];
    for (pattern, path, expected) in table {
        assert_eq!(
            globs(&[pattern]).is_match(Path::new(path)),
            expected,
            "{pattern} {path:?}"
        );
    }
    assert!(globs(&["x", "*.css"]).is_match(Path::new("a.css")));
    assert!(!Globs::default().is_match(Path::new("a")));
    let error = Globs::new(&["a", "[b"]).unwrap_err().to_string();
    assert!(error.starts_with("[b: "), "{error}");
}

#[test]
fn include_exclude_and_hidden_select_files() {
    let root = tree(&[
        "a.html",
        "a.css",
        "b/c.html",
        "b/d.css",
        "old/e.html",
        ".g/f.html",
        ".h.html",
    ]);
    let select = |include: &[&str], exclude: &[&str], hidden| {
        let (include, exclude) = (globs(include), globs(exclude));
        found(
            root.path(),
            &Selection {
                include,
                exclude,
                hidden,
                ..Selection::default()
            },
        )
    };
    assert_eq!(
        select(&[], &[], false),
        ["a.css", "a.html", "b/c.html", "b/d.css", "old/e.html"]
    );
    assert_eq!(
        select(&["*.html"], &[], false),
        ["a.html", "b/c.html", "old/e.html"]
    );
    assert_eq!(select(&["*.html"], &["old"], false), ["a.html", "b/c.html"]);
    assert_eq!(
        select(&["*.html"], &["old/"], false),
        ["a.html", "b/c.html"]
    );
    assert_eq!(select(&["/b/**"], &["*.css"], false), ["b/c.html"]);
    assert_eq!(
        select(&[], &["b/*.css", "/a.*"], false),
        ["b/c.html", "old/e.html"]
    );
    let hidden = [".g/f.html", ".h.html", "a.html", "b/c.html", "old/e.html"];
    assert_eq!(select(&["*.html"], &[], true), hidden);
}

/// The entries found below `root`, with a final `/` for folders.
fn found_with_folders(roots: &[PathBuf], selection: &Selection) -> Vec<String> {
    let kinds = walk(roots, selection).map(|entry| {
        let entry = entry.unwrap();
        let folder = if entry.kind == EntryKind::Folder {
            "/"
        } else {
            ""
        };
        assert!(folder.is_empty() || entry.size == 0);
        format!("{}{folder}", relative(&entry))
    });
    kinds.collect()
}

#[test]
fn folders_are_entries_on_request_before_their_contents() {
    let root = tree(&["a/x.html", "a/b/y.css", "a-b", ".h/z", "old/v"]);
    for folder in ["empty/below", "a/b/empty", ".h/empty", "old/empty"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    let roots = [root.path().to_owned()];
    let folders = Selection {
        folders: true,
        exclude: globs(&["old"]),
        ..Selection::default()
    };
    let expected = [
        "/",
        "a/",
        "a/b/",
        "a/b/empty/",
        "a/b/y.css",
        "a/x.html",
        "a-b",
        "empty/",
        "empty/below/",
    ];
    assert_eq!(found_with_folders(&roots, &folders), expected);
    // `include` applies to files only.
    let pages = Selection {
        include: globs(&["*.html"]),
        ..folders.clone()
    };
    let expected = [
        "/",
        "a/",
        "a/b/",
        "a/b/empty/",
        "a/x.html",
        "empty/",
        "empty/below/",
    ];
    assert_eq!(found_with_folders(&roots, &pages), expected);
    let without = Selection {
        folders: false,
        ..pages
    };
    assert_eq!(found_with_folders(&roots, &without), ["a/x.html"]);
    // Each entry is listed once.
    let roots = [
        root.path().join("a"),
        root.path().join("a/b"),
        root.path().join("a-b"),
    ];
    let expected = ["/", "b/", "b/empty/", "b/y.css", "x.html", ""];
    assert_eq!(found_with_folders(&roots, &folders), expected);
}

#[test]
fn leftovers_of_a_killed_run_are_not_entries() {
    // The last name is not random.
    let names = [
        ".baselink-0a1b2c3d4e5f/0",
        "a/.baselink-0a1b2c3d4e5f",
        "a/.baselink-move",
    ];
    let root = tree(&[&names[..], &["a/baselink-x", "a/.baselink"]].concat());
    let selection = Selection {
        hidden: true,
        ..Selection::default()
    };
    let expected = ["a/.baselink", "a/.baselink-move", "a/baselink-x"];
    assert_eq!(found(root.path(), &selection), expected);
    let selection = Selection {
        include: globs(&[".baselink-*"]),
        ..selection
    };
    assert_eq!(found(root.path(), &selection), ["a/.baselink-move"]);
}

#[test]
fn overlapping_roots_yield_each_file_once() {
    let root = tree(&["a/x", "a/y", "b/z"]);
    let at = |path: &str| root.path().join(path);
    // Each row has the roots, the entries found (root and file), and the number of messages.
    let table: [(&[&str], &[&str], usize); 6] = [
        (&["a", "b"], &["a x", "a y", "b z"], 0),
        (&["", "a"], &[" a/x", " a/y", " b/z"], 1),
        (&["a", ""], &["a x", "a y", " b/z"], 1),
        (&["a", "a"], &["a x", "a y"], 1),
        (&["a/y", "a", "b/../a/y"], &["a/y ", "a x"], 2),
        (&["a/x", "a/x"], &["a/x "], 1),
    ];
    for (roots, expected, sentences) in table {
        let paths: Vec<_> = roots.iter().map(|path| at(path)).collect();
        let selection = Selection::default();
        let walk = walk(&paths, &selection);
        assert_eq!(
            walk.overlaps.len(),
            sentences,
            "{roots:?} {:?}",
            walk.overlaps
        );
        let found: Vec<_> = walk
            .map(|entry| {
                let entry = entry.unwrap();
                let root = entry.root.strip_prefix(root.path()).unwrap();
                format!("{} {}", root.display(), relative(&entry))
            })
            .collect();
        assert_eq!(found, expected, "{roots:?}");
    }
    let paths = [root.path().to_owned(), at("a")];
    let notice = walk(&paths, &Selection::default()).overlaps[0].clone();
    let (outer, inner) = (paths[0].display(), paths[1].display());
    assert_eq!(
        notice,
        format!("{inner} is in {outer}: each file is read once, with {outer}")
    );
}

#[test]
fn a_hidden_file_given_as_argument_is_found() {
    let root = tree(&[".hidden/x.html", "y.html"]);
    let roots = [root.path().to_owned(), root.path().join(".hidden/x.html")];
    assert_eq!(
        found_below(&roots, root.path(), &Selection::default()),
        ["y.html", ""]
    );
}

#[test]
fn twenty_thousand_roots_yield_each_file_once() {
    let root = tree(&["a/x", "a/y"]);
    let two = ["a", "a/x"].map(|path| root.path().join(path));
    let roots: Vec<_> = two.iter().cycle().take(20_000).cloned().collect();
    let selection = Selection::default();
    let walk = walk(&roots, &selection);
    assert_eq!(walk.overlaps.len(), 19_999);
    let found: Vec<_> = walk.map(|entry| relative(&entry.unwrap())).collect();
    assert_eq!(found, ["x", "y"]);
}

#[test]
fn each_overlapping_root_is_reported_once() {
    let root = tree(&["a/x", "b/y", "c/z"]);
    let roots = ["b", "a", "c", "a/x", "b", ""].map(|path| root.path().join(path));
    let selection = Selection::default();
    let walk = walk(&roots, &selection);
    let at = |path: &str| root.path().join(path).display().to_string();
    let expected = [
        format!(
            "{} is in {}: each file is read once, with {}",
            at("a/x"),
            at("a"),
            at("a")
        ),
        format!(
            "{} and {} are the same: each file is read once",
            at("b"),
            at("b")
        ),
        format!(
            "{} is in {}: each file is read once, with {}",
            at("b"),
            at(""),
            at("b")
        ),
    ];
    assert_eq!(walk.overlaps, expected);
    let found: Vec<_> = walk.map(|entry| relative(&entry.unwrap())).collect();
    assert_eq!(found, ["y", "x", "z"]);
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    fn kinds(root: &Path, selection: &Selection) -> Vec<(String, EntryKind)> {
        walk(&[root.to_owned()], selection)
            .map(|entry| entry.unwrap())
            .map(|entry| (relative(&entry), entry.kind))
            .collect()
    }

    #[test]
    fn names_that_are_not_utf_8_or_have_line_ends_are_kept() {
        let root = tree(&[]);
        let names: [&[u8]; 4] = [b"\xFF.html", b"a\nb.html", b"a\xC3", b"\\"];
        for name in names {
            fs::write(root.path().join(OsStr::from_bytes(name)), "").unwrap();
        }
        let selection = Selection {
            include: globs(&["*"]),
            ..Selection::default()
        };
        let found: Vec<_> = walk(&[root.path().to_owned()], &selection)
            .map(|entry| entry.unwrap().relative.remove(0))
            .collect();
        let expected: [&[u8]; 4] = [b"\\", b"a\nb.html", b"a\xC3", b"\xFF.html"];
        assert_eq!(found, expected.map(OsStr::from_bytes));
        let selection = Selection {
            include: globs(&["?.html"]),
            ..Selection::default()
        };
        let matched = walk(&[root.path().to_owned()], &selection).count();
        assert_eq!(matched, 1, "a byte that is no character is one for `?`");
    }

    #[test]
    fn links_are_entries_unless_they_are_followed() {
        let root = tree(&["b/x", "c"]);
        symlink("b", root.path().join("folder")).unwrap();
        symlink("c", root.path().join("file")).unwrap();
        let kept = kinds(root.path(), &Selection::default());
        let kept: Vec<_> = kept
            .iter()
            .map(|(name, kind)| (name.as_str(), *kind))
            .collect();
        let file = EntryKind::File;
        let expected = [
            ("b/x", file),
            ("c", file),
            ("file", EntryKind::Symlink),
            ("folder", EntryKind::Symlink),
        ];
        assert_eq!(kept, expected);
        let followed = kinds(
            root.path(),
            &Selection {
                follow: true,
                ..Selection::default()
            },
        );
        let followed: Vec<_> = followed
            .iter()
            .map(|(name, kind)| (name.as_str(), *kind))
            .collect();
        assert_eq!(
            followed,
            [
                ("b/x", file),
                ("c", file),
                ("file", file),
                ("folder/x", file)
            ]
        );
    }

    #[test]
    fn a_root_that_is_a_link_is_followed() {
        let root = tree(&["b/x"]);
        symlink("b", root.path().join("folder")).unwrap();
        symlink("b/x", root.path().join("file")).unwrap();
        let expected = [("x".to_owned(), EntryKind::File)];
        assert_eq!(
            kinds(&root.path().join("folder"), &Selection::default()),
            expected
        );
        let expected = [(String::new(), EntryKind::File)];
        assert_eq!(
            kinds(&root.path().join("file"), &Selection::default()),
            expected
        );
    }

    #[test]
    fn circular_and_broken_symbolic_links_are_reported() {
        let root = tree(&["a/b/x", "a/b/y"]);
        symlink("..", root.path().join("a/b/up")).unwrap();
        symlink("itself", root.path().join("itself")).unwrap();
        symlink("gone", root.path().join("broken")).unwrap();
        let follow = Selection {
            follow: true,
            ..Selection::default()
        };
        let found = found(root.path(), &follow);
        assert_eq!(found.len(), 5, "{found:?}");
        assert!(
            found[0].starts_with("error: a/b/up: a link to "),
            "{found:?}"
        );
        assert!(
            found[0].ends_with("a, which contains it; not followed"),
            "{found:?}"
        );
        assert_eq!(
            found[1..4],
            ["a/b/x", "a/b/y", "error: broken: a broken symbolic link"]
        );
        assert!(found[4].starts_with("error: itself: "), "{found:?}");
        let without = Selection::default();
        assert_eq!(
            super::found(root.path(), &without),
            ["a/b/up", "a/b/x", "a/b/y", "broken", "itself"]
        );
    }

    #[test]
    fn circular_and_broken_roots_are_reported_in_one_line() {
        let root = tree(&[]);
        let at = |name: &str| root.path().join(name);
        symlink("round", at("a\nb")).unwrap();
        symlink("a\nb", at("round")).unwrap();
        symlink("gone", at("broken")).unwrap();
        for follow in [false, true] {
            let selection = Selection {
                follow,
                ..Selection::default()
            };
            let roots = [at("a\nb"), at("broken"), at("a\nb/below")];
            let errors: Vec<_> = walk(&roots, &selection)
                .map(|item| item.unwrap_err().to_string())
                .collect();
            let shown = root.path().display();
            // The message of the system (ELOOP).
            let circle = "Too many levels of symbolic links";
            assert!(
                errors[0].starts_with(&format!("{shown}/a\\nb: {circle}")),
                "{errors:?}"
            );
            assert_eq!(errors[1], format!("{shown}/broken: a broken symbolic link"));
            assert!(
                errors[2].starts_with(&format!("{shown}/a\\nb/below: {circle}")),
                "{errors:?}"
            );
            assert!(errors.len() == 3 && !errors.concat().contains('\n'));
        }
    }

    #[test]
    fn errors_of_roots_take_one_line() {
        let root = tree(&["a\nb/x"]);
        let roots = [root.path().join("a\nb"), root.path().join("a\nb/x")];
        let notice = walk(&roots, &Selection::default()).overlaps.concat();
        assert!(
            notice.contains("a\\nb/x is in ") && !notice.contains('\n'),
            "{notice}"
        );
    }

    #[test]
    fn only_links_to_folders_are_followed_as_folders() {
        let root = tree(&["b/x"]);
        symlink("b", root.path().join("link")).unwrap();
        let folder = |name: &str| (name.to_owned(), EntryKind::Folder);
        let file = |name: &str| (name.to_owned(), EntryKind::File);
        let selection = Selection {
            folders: true,
            ..Selection::default()
        };
        let link = ("link".to_owned(), EntryKind::Symlink);
        let expected = [folder(""), folder("b"), file("b/x"), link];
        assert_eq!(kinds(root.path(), &selection), expected);
        let selection = Selection {
            follow: true,
            ..selection
        };
        let expected = [
            folder(""),
            folder("b"),
            file("b/x"),
            folder("link"),
            file("link/x"),
        ];
        assert_eq!(kinds(root.path(), &selection), expected);
        // A root that is a link to a folder.
        let selection = Selection {
            follow: false,
            ..selection
        };
        assert_eq!(
            kinds(&root.path().join("link"), &selection),
            [folder(""), file("x")]
        );
    }

    #[test]
    fn a_file_reached_twice_through_a_link_is_listed_once() {
        let root = tree(&["a/x", "b/y"]);
        symlink("../b", root.path().join("a/link")).unwrap();
        let roots = [root.path().join("a"), root.path().join("b")];
        let follow = Selection {
            follow: true,
            ..Selection::default()
        };
        assert_eq!(found_below(&roots, root.path(), &follow), ["link/y", "x"]);
        let roots = [
            root.path().join("b"),
            root.path().join("a/link"),
            root.path().join("a"),
        ];
        assert_eq!(
            found_below(&roots, root.path(), &Selection::default()),
            ["y", "link", "x"]
        );
    }

    #[test]
    fn special_files_are_listed_and_not_opened() {
        let root = tree(&["x"]);
        let _socket = UnixListener::bind(root.path().join("socket")).unwrap();
        let fifo = root.path().join("fifo");
        let has_fifo = Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .is_ok_and(|status| status.success());
        let mut expected = vec![
            ("socket".to_owned(), EntryKind::Special),
            ("x".to_owned(), EntryKind::File),
        ];
        if has_fifo {
            // Opening the pipe would block.
            expected.insert(0, ("fifo".to_owned(), EntryKind::Special));
            assert_eq!(
                kinds(&fifo, &Selection::default()),
                [(String::new(), EntryKind::Special)]
            );
        }
        assert_eq!(kinds(root.path(), &Selection::default()), expected);
    }

    /// If something else has replaced a file since the walk, it is not opened and does not block.
    #[test]
    fn a_replaced_file_does_not_block() {
        let other = "another program replaced it; skipped";
        let root = tree(&["a/pipe", "a/socket", "a/folder", "a/link", "named"]);
        let at = |name: &str| root.path().join(name);
        let roots = [at("a"), at("named")];
        let selection = Selection::default();
        let entries: Vec<_> = walk(&roots, &selection)
            .map(std::result::Result::unwrap)
            .collect();
        for name in ["a/pipe", "a/socket", "a/folder", "a/link", "named"] {
            fs::remove_file(at(name)).unwrap();
        }
        for pipe in ["a/pipe", "named"] {
            assert!(
                Command::new("mkfifo")
                    .arg(at(pipe))
                    .status()
                    .unwrap()
                    .success()
            );
        }
        let _socket = std::os::unix::net::UnixListener::bind(at("a/socket")).unwrap();
        fs::create_dir(at("a/folder")).unwrap();
        symlink("pipe", at("a/link")).unwrap();
        for entry in &entries {
            let name = entry.path.file_name().unwrap().to_str().unwrap();
            let sentence = format!("{}: {other}", entry.path.display());
            for follow in [false, true] {
                let refused = entry.open(follow).unwrap_err().to_string();
                let is_reported = refused == sentence || (follow && name == "socket");
                assert!(is_reported, "{name}, {follow}: {refused}");
            }
            let refused = entry.original().unwrap_err().to_string();
            let what = match name {
                "folder" => "a directory",
                "link" => "a symbolic link",
                _ => "not a regular file",
            };
            assert!(refused.contains(what), "{name}: {refused}");
        }
    }

    /// A file is opened in the folder in which it was found, or not at all.
    #[test]
    fn a_folder_replaced_by_a_link_is_not_entered() {
        for swapped in ["w", "w/a", "w/a/b"] {
            let root = tree(&["w/a/b/x", "outside/a/b/x", "outside/b/x", "outside/x"]);
            let at = |name: &str| root.path().join(name);
            let (roots, selection) = ([at("w")], Selection::default());
            let entries: Vec<_> = walk(&roots, &selection)
                .map(std::result::Result::unwrap)
                .collect();
            assert_eq!(entries.len(), 1);
            let entry = &entries[0];
            fs::rename(at(swapped), at("moved")).unwrap();
            symlink(at("outside"), at(swapped)).unwrap();
            for opened in [entry.open(false).map(drop), entry.original().map(drop)] {
                // The named folder is held open, so its new name does not matter.
                let refused = opened.map_err(|error| error.to_string());
                let other = "another program replaced it; skipped";
                let expected = Err(format!("{}: {other}", entry.path.display()));
                assert_eq!(
                    refused,
                    if swapped == "w" { Ok(()) } else { expected },
                    "{swapped}"
                );
            }
        }
    }

    /// A path longer than the limit of the system (PATH_MAX of POSIX.1-2017, limits.h) is reported once.
    #[test]
    fn an_overlong_path_is_reported_once() {
        let root = tempfile::tempdir().unwrap();
        // The path of the last folder has at most 4,095 bytes, that of the file in it more.
        let [outer, inner] = [60, 300].map(|names| "abcdefghij/".repeat(names));
        let (outer, inner) = (
            root.path().join("b").join(outer),
            root.path().join("a").join(inner),
        );
        fs::create_dir_all(&outer).unwrap();
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("x".repeat(200)), "").unwrap();
        fs::rename(root.path().join("a"), outer.join("a")).unwrap();
        let (roots, selection) = ([root.path().to_owned()], Selection::default());
        let found: Vec<_> = walk(&roots, &selection).collect();
        assert_eq!(found.len(), 1);
        let sentence = found.into_iter().next().unwrap().unwrap_err().to_string();
        assert_eq!(
            sentence.matches(root.path().to_str().unwrap()).count(),
            1,
            "{sentence}"
        );
    }

    #[test]
    fn a_folder_without_permission_is_reported_and_the_walk_goes_on() {
        let root = tree(&["a/x", "b"]);
        let closed = root.path().join("a");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        // The user root can read the folder anyway.
        let is_closed = fs::read_dir(&closed).is_err();
        let all = found(root.path(), &Selection::default());
        let (roots, selection) = ([root.path().to_owned()], Selection::default());
        let mut again = walk(&roots, &selection);
        assert_eq!(again.by_ref().count(), 2);
        let unread: Vec<_> = again.unread_below_roots().collect();
        let expected: &[&Path] = if is_closed { &[Path::new("a")] } else { &[] };
        assert_eq!(unread, expected);
        let excluded = Selection {
            exclude: globs(&["a"]),
            ..Selection::default()
        };
        let without = found(root.path(), &excluded);
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
        if is_closed {
            assert_eq!(all, ["error: a: permission denied", "b"]);
        } else {
            assert_eq!(all, ["a/x", "b"]);
        }
        assert_eq!(without, ["b"]);
    }
}
