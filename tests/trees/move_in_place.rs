//! `move --in-place` is stopped at each call, runs next to another run, and meets files that change. Either nothing
//! has moved, or the next run of the same command completes the move.
//!
//! Deliberately absent: rewriting links, which `tests/trees/relocation.rs` checks.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
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
    files.iter().map(|(path, text)| ((*path).into(), (*text).to_owned())).collect()
}

fn before(_: usize) -> Scene {
    scene(&[
        ("w/a.html", "<a href=docs/0.html>0</a> <a href=/docs/>folder</a>"),
        ("w/b.html", "<p>no link"),
        ("w/c.html", "<a href=a.html#x>a</a>"),
        ("w/docs/0.html", "<a href=../a.html>up</a> <img src=img/x.png>"),
        ("w/docs/index.html", "<a href=0.html>0</a>"),
        ("w/docs/img/x.png", "a picture"),
    ])
}

fn after(_: usize) -> Scene {
    scene(&[
        ("w/b.html", "<a href=guide/en/0.html>0</a> <a href=/guide/en/>folder</a>"),
        ("w/a.html", "<p>no link"),
        ("w/c.html", "<a href=b.html#x>a</a>"),
        ("w/guide/en/0.html", "<a href=../../b.html>up</a> <img src=img/x.png>"),
        ("w/guide/en/index.html", "<a href=0.html>0</a>"),
        ("w/guide/en/img/x.png", "a picture"),
        (
            "r",
            "/docs/0.html /guide/en/0.html 301\n\
             /docs/img/x.png /guide/en/img/x.png 301\n\
             /docs/ /guide/en/ 301\n\
             /docs/index.html /guide/en/index.html 301\n",
        ),
    ])
}

/// All files except those that belong to the program.
fn own_files(here: &Path) -> Scene {
    let is_of_the_program =
        |path: &Path| is_temporary(path) || path.starts_with("w/.baselink-move");
    files(here).into_iter().filter(|(path, _)| !is_of_the_program(path)).collect()
}

fn is_committed(here: &Path) -> bool {
    here.join("w/.baselink-move/journal").is_file()
}

/// Checks the files after a run. Then the same command completes the move.
fn look(here: &Path, status: Option<i32>, reported: &str) -> Result<(), String> {
    if reported.contains("panic") || !matches!(status, None | Some(0 | 2)) {
        return Err(format!("{status:?} {reported}"));
    }
    let found = own_files(here);
    if !is_committed(here) && found != before(0) && found != after(0) {
        return Err(format!("without a journal, {found:?}: {reported}"));
    }
    if found == after(0) && !is_committed(here) {
        return Ok(());
    }
    if status == Some(0) {
        return Err(format!("not all is done: {found:?} {reported}"));
    }
    let again = MOVE.program(here).output().unwrap();
    let found = files(here);
    match again.status.success() && found == after(0) {
        true => Ok(()),
        false => Err(format!("the next run: {again:?} {found:?}")),
    }
}

/// The move is stopped by each call in turn, which fails or kills the program.
#[test]
fn the_next_run_undoes_or_completes_a_stopped_move() {
    if !outside::has_strace() {
        return;
    }
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let set = format!("trace={WRITING}");
    MOVE.set(here, &before(0));
    let (output, trace) = traced(&MOVE, here, &["-e", &set]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(files(here), after(0));
    assert!(!here.join("w/docs").exists() && !here.join("w/.baselink-move").exists());
    let (mut failed, mut committed, mut wrong) = (0, 0, Vec::new());
    for (turn, (call, number)) in calls(&trace, true).into_iter().enumerate() {
        for (fault, (action, _)) in FAULTS.iter().enumerate() {
            if fault < 3 && fault != turn % 3 {
                continue;
            }
            MOVE.set(here, &before(0));
            let inject = format!("inject={call}:{action}:when={number}");
            let (output, _) = traced(&MOVE, here, &["-e", &set, "-e", &inject]);
            committed += usize::from(is_committed(here));
            let reported = String::from_utf8_lossy(&output.stderr);
            if let Err(what) = look(here, output.status.code(), &reported) {
                wrong.push(format!("{inject}: {what}"));
            }
            failed += 1;
        }
    }
    println!("{failed} calls failed; after {committed} of them the move was left to the next run");
    assert!(wrong.is_empty(), "{} of {failed}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(failed > 50 && committed > 10);
}

/// Of two runs on one tree, one moves it, and the other reports why it did not.
#[test]
fn two_moves_of_one_tree_move_it_once() {
    for _ in 0..10 {
        let scene = tempfile::tempdir().unwrap();
        let here = scene.path();
        MOVE.set(here, &before(0));
        let run = || MOVE.program(here).stderr(Stdio::piped()).stdout(Stdio::null()).spawn();
        let outputs = [run(), run()].map(|run| run.unwrap().wait_with_output().unwrap());
        let reported = outputs.each_ref().map(|output| String::from_utf8_lossy(&output.stderr));
        assert!(outputs.iter().any(|output| output.status.success()), "{reported:?}");
        let is_known = |reported: &str| {
            let sentences = [
                "another process is moving files of this folder",
                "another program changed it meanwhile",
                "no such file",
                "is there already",
            ];
            reported.is_empty() || sentences.iter().any(|sentence| reported.contains(sentence))
        };
        assert!(reported.iter().all(|reported| is_known(reported)), "{reported:?}");
        assert_eq!(files(here), after(0), "{reported:?}");
    }
}

/// Leaves a move incomplete in the folder.
fn leave_a_stopped_move(here: &Path) {
    MOVE.set(here, &before(0));
    // The first two calls rename the redirects and the journal. The third is the first to take a file from its old
    // path.
    let set = format!("trace={WRITING}");
    let arguments = ["-e", &set, "-e", "inject=renameat:signal=SIGKILL:when=3"];
    let (output, trace) = traced(&MOVE, here, &arguments);
    assert!(is_committed(here), "{output:?} {trace:?}");
}

#[test]
fn another_move_of_the_folder_waits_for_the_first() {
    if !outside::has_strace() {
        return;
    }
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    leave_a_stopped_move(here);
    let found = files(here);
    for (line, sentence) in [
        ("move w --relative -i", "another move of this folder was stopped; finish it first"),
        ("move w --relative -i", MOVE.line),
        ("move w --relative -o out", "an earlier move with --in-place was stopped"),
    ] {
        let output = baselink(here, line).output().unwrap();
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && reported.contains(sentence),
            "{line}: {reported}"
        );
        assert_eq!(files(here), found);
    }
}

/// The author of the folder may have forged a journal in it.
#[test]
fn a_journal_leads_to_no_file_outside_of_its_folder() {
    if !outside::has_strace() {
        return;
    }
    for (old, new) in [("../x", "x"), ("c.html", "../x"), ("/etc/x", "x"), ("a/../../x", "x")] {
        let scene = tempfile::tempdir().unwrap();
        let here = scene.path();
        leave_a_stopped_move(here);
        let journal = here.join("w/.baselink-move/journal");
        let text = String::from_utf8(fs::read(&journal).unwrap()).unwrap();
        let head: String = text.split_inclusive('\0').take(3).collect();
        put(&journal, &format!("{head}{old}\0{new}\0\0"));
        put(&here.join("x"), "outside");
        let found = files(here);
        let output = MOVE.program(here).output().unwrap();
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2), "{old} {new}: {reported}");
        assert_eq!(files(here), found, "{old} {new}: {reported}");
    }
}

/// A run is stopped, another program edits two files, and the next run continues: no edit is lost.
#[test]
fn a_file_changed_before_the_next_run_is_kept() {
    if !outside::has_strace() {
        return;
    }
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    leave_a_stopped_move(here);
    let edits =
        [("w/c.html", "edited"), ("w/docs/0.html", "edited"), ("w/guide/en/index.html", "new")];
    for (path, text) in edits {
        put(&here.join(path), text);
    }
    let output = MOVE.program(here).output().unwrap();
    let reported = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{reported}");
    let mut expected = after(0);
    for (path, text) in edits {
        assert!(reported.contains(&format!("{path}: another program changed it")), "{reported}");
        if let Some(moved) = expected.insert(path.into(), text.to_owned()) {
            expected.insert(format!("{path}.moved").into(), moved);
        }
    }
    assert_eq!(files(here), expected, "{reported}");
}
