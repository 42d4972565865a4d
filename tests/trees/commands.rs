//! Commands on folders that no case of `tests/cli/cases/` can describe. The tests build the folders at run time:
//! symbolic and hard links, pipes and sockets, names that are not text, permissions, extended attributes, times,
//! Maildirs, many files, signals, a terminal.
//!
//! This module tests the output for users. If the machine lacks something (another user, extended attributes,
//! `script`), the test prints a notice and is skipped.
//!
//! Deliberately absent: kills at any moment and full disks, which are in `tests/trees/killed.rs`.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use rustix::process::Signal;

use crate::interrupt;

const LINK: &str = "<a href=x>\n";
const ABSOLUTE: &str = "<a href=http://a.example/x>\n";
const URL: [&str; 2] = ["-u", "http://a.example/"];

fn baselink(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    command.current_dir(folder).env_clear().stdin(Stdio::null());
    command
}

/// The exit status, standard output and standard error of a command line, whose arguments are separated by spaces.
fn run(folder: &Path, line: &str) -> (i32, String, String) {
    result_of(
        &baselink(folder)
            .args(line.split(' '))
            .args(URL)
            .output()
            .unwrap(),
    )
}

fn result_of(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn put(folder: &Path, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

/// Every file below `folder` except symbolic links, by relative path.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn names(folder: &Path) -> Vec<PathBuf> {
    files(folder).into_keys().collect()
}

#[test]
fn symbolic_links_are_skipped_and_counted() {
    let scene = tempfile::tempdir().unwrap();
    let (here, w) = (scene.path(), scene.path().join("w"));
    put(here, "w/a.html", LINK);
    put(here, "elsewhere/b.html", LINK);
    symlink("../elsewhere/b.html", w.join("c.html")).unwrap();
    symlink("../elsewhere", w.join("d")).unwrap();
    symlink(".", w.join("loop")).unwrap();
    symlink("nowhere", w.join("nothing")).unwrap();
    let notice = "4 symbolic links were skipped; --follow reads their targets\n";

    let listed = "w/a.html:1:9  rewritten  a[href]  x -> http://a.example/x\n";
    let summary = format!("1 link: 1 rewritten\n{notice}");
    assert_eq!(run(here, "links w"), (0, listed.into(), summary));
    let (status, _, stderr) = run(here, "base w");
    let summary = format!("retrieval URLs of 1 document: 1 retrieval\n{notice}");
    assert_eq!((status, stderr), (0, summary));
    let summary = "1 file: 1 rewritten\n  html  1 file, 1 link: 1 rewritten\n";
    assert_eq!(
        run(here, "rewrite w -o out"),
        (0, String::new(), format!("{summary}{notice}"))
    );
    assert_eq!(names(&here.join("out")), [Path::new("a.html")]);
    assert_eq!(
        run(here, "rewrite -i w"),
        (0, String::new(), format!("{summary}{notice}"))
    );
    assert_eq!(
        fs::read(here.join("elsewhere/b.html")).unwrap(),
        LINK.as_bytes()
    );
}

#[test]
fn followed_links_are_read_and_loops_reported() {
    let scene = tempfile::tempdir().unwrap();
    let (here, w) = (scene.path(), scene.path().join("w"));
    put(here, "w/a.html", LINK);
    put(here, "elsewhere/b.html", LINK);
    symlink("../elsewhere/b.html", w.join("c.html")).unwrap();
    symlink("../elsewhere", w.join("d")).unwrap();
    symlink(".", w.join("loop")).unwrap();
    symlink("nowhere", w.join("nothing")).unwrap();
    let (status, stdout, stderr) = run(here, "links --follow w");
    assert_eq!(
        stdout,
        "w/a.html:1:9  rewritten  a[href]  x -> http://a.example/x\n\n\
         w/c.html:1:9  rewritten  a[href]  x -> http://a.example/x\n\n\
         w/d/b.html:1:9  rewritten  a[href]  x -> http://a.example/d/x\n"
    );
    assert_eq!(
        stderr,
        "error: w/loop: a link to w, which contains it; not followed\n\
         error: w/nothing: a broken symbolic link\n3 files, 3 links: 3 rewritten\n"
    );
    assert_eq!(status, 2);
    let (status, _, stderr) = run(here, "rewrite --follow w -o out");
    assert_eq!(
        stderr,
        "error: w/loop: a link to w, which contains it; not followed\n\
         error: w/nothing: a broken symbolic link\n5 files: 3 rewritten, 2 could not be used\n  \
         html  3 files, 3 links: 3 rewritten\n"
    );
    assert_eq!(status, 2);
    let found_files = files(&here.join("out"));
    assert_eq!(found_files[Path::new("c.html")], ABSOLUTE.as_bytes());
    assert_eq!(
        found_files[Path::new("d/b.html")],
        b"<a href=http://a.example/d/x>\n"
    );
    assert_eq!(found_files.len(), 3);
}

#[test]
fn base_check_localize_and_move_follow_symbolic_links_on_request() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    put(here, "w/a.html", LINK);
    put(here, "elsewhere/b.html", LINK);
    symlink("../elsewhere", here.join("w/d")).unwrap();
    for line in [
        "base w",
        "check -v w",
        "localize --dry-run -v w",
        "move --relative --dry-run -v w",
    ] {
        let names_of = |line: &str| {
            let (_, stdout, stderr) = run(here, line);
            ["w/a.html", "w/d/b.html"].map(|name| stdout.contains(name) || stderr.contains(name))
        };
        assert_eq!(names_of(line), [true, false], "{line}");
        assert_eq!(
            names_of(&format!("{line} --follow")),
            [true, true],
            "{line}"
        );
    }
}

#[test]
fn links_to_the_output_are_not_read() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    put(here, "w/a.html", LINK);
    put(here, "out/old.html", LINK);
    symlink("../out", here.join("w/back")).unwrap();
    let (status, _, stderr) = run(here, "rewrite --follow -q w -o out");
    assert_eq!(
        stderr,
        "error: out: the output folder is the input itself; name another\n\
         error: out: the output folder contains the input w/back/old.html; name another\n"
    );
    assert_eq!(status, 2);
    assert_eq!(
        names(&here.join("out")),
        [Path::new("a.html"), Path::new("old.html")]
    );
    assert_eq!(
        fs::read(here.join("out/old.html")).unwrap(),
        LINK.as_bytes()
    );
}

#[test]
fn nothing_is_written_through_a_symbolic_link() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    put(here, "w/a.html", LINK);
    put(here, "w/sub/b.html", LINK);
    put(here, "w/z.html", LINK);
    put(here, "victim/file", "kept");
    fs::create_dir(here.join("out")).unwrap();
    symlink("../victim/file", here.join("out/a.html")).unwrap();
    symlink("../victim", here.join("out/sub")).unwrap();
    let (status, _, stderr) = run(here, "rewrite -q w -o out");
    assert_eq!(
        stderr,
        "error: out/a.html: a symbolic link, which is not followed; name ../victim/file \
         itself\nerror: out/sub: a symbolic link, which is not followed; name ../victim \
         itself\nerror: out/sub: a symbolic link, which is not followed; name ../victim \
         itself\n",
        "of the folder and of the file in it"
    );
    assert_eq!(status, 2);
    assert_eq!(names(&here.join("out")), [Path::new("z.html")]);
    assert_eq!(names(&here.join("victim")), [Path::new("file")]);
    assert_eq!(fs::read(here.join("victim/file")).unwrap(), b"kept");

    symlink("w/a.html", here.join("link.html")).unwrap();
    let (status, _, stderr) = run(here, "rewrite -i link.html");
    assert_eq!(
        stderr,
        "error: link.html: a symbolic link, which is not followed; name w/a.html itself\n"
    );
    assert_eq!(status, 2);
    assert_eq!(fs::read(here.join("w/a.html")).unwrap(), LINK.as_bytes());
}

#[test]
fn a_symbolic_link_given_as_argument_is_read() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    put(here, "w/a.html", LINK);
    put(here, "elsewhere/c.html", LINK);
    symlink("w", here.join("v")).unwrap();
    symlink("elsewhere/c.html", here.join("b.html")).unwrap();
    assert_eq!(run(here, "rewrite -q v b.html -o out").0, 0);
    let found_files = files(&here.join("out"));
    assert_eq!(found_files[Path::new("v/a.html")], ABSOLUTE.as_bytes());
    assert_eq!(found_files[Path::new("b.html")], ABSOLUTE.as_bytes());
}

#[test]
fn pipes_and_sockets_are_reported_and_never_opened() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    put(here, "w/a.html", LINK);
    put(here, "w/z.html", LINK);
    assert!(
        Command::new("mkfifo")
            .arg(here.join("w/pipe.html"))
            .status()
            .unwrap()
            .success()
    );
    let _socket = UnixListener::bind(here.join("w/socket")).unwrap();
    let reported = "error: w/pipe.html: not a regular file; skipped\n\
                error: w/socket: not a regular file; skipped\n";
    for (line, summary) in [
        ("links w", "2 files, 2 links: 2 rewritten\n"),
        ("base w", "retrieval URLs of 2 documents: 2 retrieval\n"),
        (
            "rewrite w -o out",
            "4 files: 2 rewritten, 2 could not be used\n  html  2 files, 2 links: 2 rewritten\n",
        ),
        (
            "rewrite -i w",
            "4 files: 2 rewritten, 2 could not be used\n  html  2 files, 2 links: 2 rewritten\n",
        ),
    ] {
        let (status, _, stderr) = run(here, line);
        assert_eq!(
            (status, stderr),
            (2, format!("{reported}{summary}")),
            "{line}"
        );
    }
    assert_eq!(
        names(&here.join("out")),
        [Path::new("a.html"), Path::new("z.html")]
    );
    assert_eq!(
        fs::read(here.join("w/z.html")).unwrap(),
        ABSOLUTE.as_bytes()
    );
}

/// Like `cat`, the program reads a pipe that is given as an argument. A shell passes `<(…)` as such a pipe.
#[test]
fn a_pipe_given_as_argument_is_read() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let pipe = here.join("pipe.html");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for (line, expected) in [
        ("rewrite -q pipe.html", ABSOLUTE),
        ("links --only-targets pipe.html", "http://a.example/x\n"),
    ] {
        let output = std::thread::scope(|scope| {
            scope.spawn(|| fs::write(&pipe, LINK).unwrap());
            run(here, line)
        });
        assert_eq!(
            (output.0, &*output.1),
            (0, expected),
            "{line}: {}",
            output.2
        );
    }
    let refused = run(here, "rewrite -q -i pipe.html");
    assert_eq!(
        (refused.0, &*refused.2),
        (2, "error: pipe.html: not a regular file\n")
    );
}

/// HTTrack records the URL of each page in the page itself, so linked pages are read for their URLs.
#[test]
fn neighboring_pages_are_read_only_as_files_of_the_folder() {
    let here = tempfile::tempdir().unwrap();
    let mark = |url: &str| format!("<!-- Mirrored from {url} by HTTrack Website Copier/3.x -->\n");
    let links = "<a href=pipe.html>1</a><a href=link.html>2</a><a href=page.html>3</a>";
    put(here.path(), "w/index.html", mark("a.example/") + links);
    put(here.path(), "w/page.html", mark("a.example/other"));
    put(
        here.path(),
        "elsewhere/secret.html",
        mark("secret.example/token"),
    );
    symlink("../elsewhere/secret.html", here.path().join("w/link.html")).unwrap();
    let pipe = here.path().join("w/pipe.html");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let (status, printed, _) = run(here.path(), "rewrite --assume-scheme http w/index.html");
    let expected = "<a href=http://a.example/pipe.html>1</a><a href=http://a.example/link.html>2</a>\
                    <a href=http://a.example/other>3</a>";
    assert_eq!((status, printed), (0, mark("a.example/") + expected));
}

/// bug-753: a page behind a symbolic link told `check` that the folder is a crawl, whose scheme it gave.
#[test]
fn folders_behind_symbolic_links_tell_nothing_of_a_crawl() {
    let here = tempfile::tempdir().unwrap();
    let mark = "<!-- Mirrored from a.example/x.html by HTTrack Website Copier/3.x -->";
    put(here.path(), "elsewhere/x.html", mark);
    put(here.path(), "w/index.html", "<a href=a.example/x.html>");
    symlink("../elsewhere", here.path().join("w/a.example")).unwrap();
    let (status, printed, errors) = run(here.path(), "check w");
    assert_eq!(status, 1);
    assert!(
        printed.contains("a.example/x.html: escapes (symlink)"),
        "{printed}"
    );
    assert!(!errors.contains("HTTrack"), "{errors}");
}

#[test]
fn names_are_bytes_and_print_on_one_line() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let not_utf_8 = OsStr::from_bytes(b"caf\xe9 %41?.html");
    let with_line_end = OsStr::new("new\nline\x1b[31m.html");
    put(here, Path::new("w").join(not_utf_8), "<a href=#t>");
    put(here, Path::new("w").join(with_line_end), "<a href=#t>");
    assert_eq!(
        run(here, "links w").1,
        "w/caf\u{fffd} %41?.html:1:9  rewritten  a[href]  #t -> \
         http://a.example/caf%E9%20%2541%3F.html#t\n\n\
         w/new\\nline\\u{1b}[31m.html:1:9  rewritten  a[href]  #t -> \
         http://a.example/new%0Aline%1B%5B31m.html#t\n"
    );
    let (_, json, _) = run(here, "rewrite --json w -o out");
    let mut paths = json.lines().map(|line| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["output"].as_str().unwrap().to_owned()
    });
    assert_eq!(paths.next().unwrap(), "out/caf\u{fffd} %41?.html");
    assert_eq!(paths.next().unwrap(), "out/new\nline\x1b[31m.html");
    assert_eq!(paths.next(), None);
    let found_files = files(&here.join("out"));
    assert_eq!(
        found_files[Path::new(not_utf_8)],
        b"<a href=http://a.example/caf%E9%20%2541%3F.html#t>"
    );
    assert_eq!(found_files.len(), 2);

    // The name is also escaped in an error.
    symlink("nowhere", here.join("w").join("a\nb")).unwrap();
    let (status, _, stderr) = run(here, "links --follow -q w");
    assert_eq!(
        (status, stderr.as_str()),
        (2, "error: w/a\\nb: a broken symbolic link\n")
    );
}

#[test]
fn a_folder_without_permission_gives_one_error() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    put(here, "w/a.html", LINK);
    let closed = put(here, "w/closed/b.html", LINK)
        .parent()
        .unwrap()
        .to_owned();
    put(here, "w/z.html", LINK);
    fs::set_permissions(here, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = baselink(here);
    if fs::read_dir(&closed).is_ok() {
        let mut other = Command::new("setpriv");
        other
            .current_dir(here)
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        other.arg(command.get_program());
        let works = other
            .output()
            .is_ok_and(|output| output.status.code() == Some(2));
        if !works {
            eprintln!("notice: this user may read everything, so permissions were not tested");
            return;
        }
        command = other;
    }
    let output = command.args(["links", "w"]).args(URL).output().unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    let (status, stdout, stderr) = result_of(&output);
    assert_eq!(stdout.lines().filter(|line| !line.is_empty()).count(), 2);
    assert_eq!(
        stderr,
        "error: w/closed: permission denied\n2 files, 2 links: 2 rewritten\n"
    );
    assert_eq!(status, 2);
}

#[test]
fn an_extended_attribute_ranks_between_a_page_and_a_layout() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let page = "<!-- saved from url=(0024)https://s.example/p.html -->\n<a href=x>\n";
    for name in ["plain.html", "saved.html"] {
        let page = if name == "saved.html" { page } else { LINK };
        let path = put(here, Path::new("w/h.example").join(name), page);
        if xattr::set(
            &path,
            "user.xdg.origin.url",
            b"https://x.example/p.html#f\n",
        )
        .is_err()
        {
            eprintln!("notice: no extended attributes here, so they were not tested");
            return;
        }
    }
    put(
        here,
        "map.csv",
        "h.example/saved.html,https://m.example/p.html\n",
    );
    let sources = |line: &str| {
        let output = baselink(here).args(line.split(' ')).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let of_file = stdout.lines().map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let levels = record["chain"].as_array().unwrap().iter();
            let retrieval = levels.filter(|level| level["rule"] == "3.3");
            let shown = retrieval.map(|level| {
                let text = |key: &str| level[key].as_str().unwrap().to_owned();
                format!("{} {} {}", text("source"), text("value"), text("status"))
            });
            shown.collect::<Vec<_>>()
        });
        of_file.collect::<Vec<_>>()
    };
    let xattr = "xattr https://x.example/p.html";
    assert_eq!(
        sources("base --json w"),
        [
            vec![format!("{xattr} taken")],
            vec![
                "saved-from https://s.example/p.html taken".into(),
                format!("{xattr} passed-over")
            ]
        ]
    );
    assert_eq!(
        sources("base --json --trust -saved w/h.example/saved.html"),
        [[format!("{xattr} taken")]]
    );
    assert_eq!(
        sources("base --json --trust -saved,-xattr --layout host w"),
        [
            ["layout https://h.example/plain.html taken"],
            ["layout https://h.example/saved.html taken"]
        ]
    );
    assert_eq!(
        sources("base --json --url-map map.csv -u https://u.example/ --layout host w")[1],
        [
            "url-map https://m.example/p.html taken".to_owned(),
            "retrieval https://u.example/h.example/saved.html passed-over".into(),
            format!("{xattr} passed-over"),
            "layout https://h.example/saved.html passed-over".into(),
            "saved-from https://s.example/p.html passed-over".into(),
        ]
    );
    let shown = baselink(here)
        .args(["base", "w/h.example/saved.html"])
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.contains(
            "  3.3 retrieval URL\n    > https://s.example/p.html  taken: the URL recorded in the saved document\n    - https://x.example/p.html  passed over: the URL in \
             an extended attribute of the file; another source of the retrieval URL takes precedence\n"
        ),
        "{shown}"
    );
    let output = baselink(here)
        .args(["rewrite", "-q", "-i", "w"])
        .output()
        .unwrap();
    assert_eq!(result_of(&output), (0, String::new(), String::new()));
    let plain = here.join("w/h.example/plain.html");
    assert_eq!(fs::read(&plain).unwrap(), b"<a href=https://x.example/x>\n");
    let kept = xattr::get(&plain, "user.xdg.origin.url").unwrap().unwrap();
    assert_eq!(kept, b"https://x.example/p.html#f\n");
}

#[test]
fn a_crawl_has_ports_and_queries_in_its_names() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    put(here, "w/h.example:8080/a/index.html", "<a href=#t>");
    put(
        here,
        "w/h.example/p?q=1&r=%2F",
        "<!doctype html><a href=#t>",
    );
    let output = baselink(here)
        .args([
            "links",
            "-q",
            "--layout",
            "host",
            "--index",
            "index.html",
            "w",
        ])
        .output()
        .unwrap();
    assert_eq!(
        result_of(&output).1,
        "w/h.example/p?q=1&r=%2F:1:24  rewritten  a[href]  #t -> \
         https://h.example/p?q=1&r=%2F#t\n\n\
         w/h.example:8080/a/index.html:1:9  rewritten  a[href]  #t -> \
         https://h.example:8080/a/#t\n"
    );
}

#[test]
fn files_are_written_even_if_records_are_not_read() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    for number in 0..1_500 {
        put(here, format!("w/{number}.html"), LINK);
    }
    let mut command = baselink(here);
    command
        .args(["rewrite", "-q", "-i", "--json", "w"])
        .args(URL);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let found_files = files(&here.join("w"));
    assert!(
        found_files
            .values()
            .all(|bytes| bytes == ABSOLUTE.as_bytes()),
        "some files are as they were"
    );
}

#[test]
fn ignored_signals_stay_ignored() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    for number in 0..1_500 {
        put(here, format!("w/{number}.html"), LINK);
    }
    let script = r#"trap '' HUP
        "$0" rewrite -q -i -u http://a.example/ w & program=$!
        for time in 1 2 3 4 5 6 7 8 9; do kill -s HUP $program; done
        wait $program; echo $?"#;
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script, env!("CARGO_BIN_EXE_baselink")])
        .current_dir(here);
    let output = shell.output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "0\n",
        "nohup would not help"
    );
    let found_files = files(&here.join("w"));
    assert!(
        found_files
            .values()
            .all(|bytes| bytes == ABSOLUTE.as_bytes()),
        "some files are as they were"
    );
}

#[test]
fn a_file_in_place_is_replaced_only_where_it_changes() {
    use std::os::unix::fs::MetadataExt;
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let page = put(here, "a.html", LINK);
    let before = fs::metadata(&page).unwrap().ino();
    assert_eq!(run(here, "rewrite -q -i a.html").0, 0);
    assert_eq!(fs::read(&page).unwrap(), ABSOLUTE.as_bytes());
    let after = fs::metadata(&page).unwrap().ino();
    assert_ne!(after, before);
    assert_eq!(run(here, "rewrite -q -i a.html").0, 0);
    assert_eq!(fs::metadata(&page).unwrap().ino(), after);
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

#[test]
fn times_are_kept_on_request_and_for_unchanged_files() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let age = |path: &Path| {
        let file = File::options().write(true).open(path).unwrap();
        file.set_times(
            FileTimes::new()
                .set_modified(long_ago)
                .set_accessed(long_ago),
        )
        .unwrap();
    };
    let (a, b) = (put(here, "w/a.html", LINK), put(here, "w/b.html", "<p>"));
    age(&a);
    age(&b);
    assert_eq!(
        run(here, "rewrite -q -i --preserve-times --backup .orig w").0,
        0
    );
    assert_eq!(fs::read(&a).unwrap(), ABSOLUTE.as_bytes());
    assert_eq!(modified(&a), long_ago);
    assert_eq!(modified(&here.join("w/a.html.orig")), long_ago);
    assert_eq!(modified(&b), long_ago);
    for (line, is_kept) in [
        ("rewrite -q -i w", false),
        ("localize -q -i w", false),
        ("localize -q -i --preserve-times w", true),
    ] {
        fs::write(&a, "<a href=/b.html>").unwrap();
        age(&a);
        assert_eq!(run(here, line).0, 0, "{line}");
        assert_ne!(fs::read(&a).unwrap(), b"<a href=/b.html>", "{line}");
        assert_eq!(modified(&a) == long_ago, is_kept, "{line}");
        assert_eq!(modified(&b), long_ago);
    }
}

#[test]
fn bug_417_one_error_stands_for_all_messages_of_a_read_only_maildir() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    for folder in ["cur", "new", "tmp"] {
        fs::create_dir_all(here.join("Mail").join(folder)).unwrap();
    }
    let message = "Content-Base: http://a.example/\nContent-Type: text/html\n\n<a href=x>\n";
    for number in 1..=3 {
        let message = put(here, format!("Mail/cur/{number}.host:2,S"), message);
        fs::set_permissions(&message, fs::Permissions::from_mode(0o444)).unwrap();
    }
    let why = "the file is read-only; make it writable first";
    let end = "3 files: 3 could not be used\n";
    let (status, _, stderr) = run(here, "rewrite -i Mail");
    assert_eq!(
        stderr,
        format!("error: 3 times; -v lists all; the first is Mail/cur/1.host:2,S: {why}\n{end}")
    );
    assert_eq!(status, 2);
    let (_, _, stderr) = run(here, "rewrite -v -i Mail");
    for number in 1..=3 {
        assert!(stderr.contains(&format!("error: Mail/cur/{number}.host:2,S: {why}\n")));
    }
}

#[test]
fn a_file_in_place_keeps_its_permission_bits() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let (page, closed) = (put(here, "w/a.html", LINK), put(here, "w/b.html", LINK));
    fs::set_permissions(&page, fs::Permissions::from_mode(0o640)).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o444)).unwrap();
    let (status, _, stderr) = run(here, "rewrite -i w");
    assert_eq!(
        stderr,
        "error: w/b.html: the file is read-only; make it writable first\n2 files: 1 rewritten, 1 could not be used\n  \
         html  1 file, 1 link: 1 rewritten\n"
    );
    assert_eq!(status, 2);
    assert_eq!(fs::read(&closed).unwrap(), LINK.as_bytes());
    assert_eq!(
        fs::metadata(&page).unwrap().permissions().mode() & 0o7777,
        0o640
    );
    assert_eq!(run(here, "rewrite -q w -o out").0, 0);
    assert_eq!(
        fs::metadata(here.join("out/b.html"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o444
    );
}

/// The input is an archive, so the folders of the output do not take permissions from the current folder. (Once, the
/// last folder of each path did.)
#[test]
fn folders_from_an_archive_have_default_permissions() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path().join("private");
    let new = scene.path().join("new");
    fs::create_dir(&new).unwrap();
    fs::create_dir(&here).unwrap();
    fs::set_permissions(&here, fs::Permissions::from_mode(0o700)).unwrap();
    let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/archive/site.warc");
    fs::copy(archive, here.join("site.warc")).unwrap();
    assert_eq!(run(&here, "localize -q site.warc -o out").0, 0);
    let bits = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    for folder in ["out", "out/www.example.org", "out/www.example.org/docs"] {
        assert_eq!(bits(&here.join(folder)), bits(&new), "{folder}");
    }
}

#[test]
fn hard_links_are_reported_and_broken_only_on_request() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let other = put(here, "other.html", LINK);
    fs::create_dir(here.join("w")).unwrap();
    fs::hard_link(&other, here.join("w/a.html")).unwrap();
    put(here, "w/b.html", LINK);
    let (status, _, stderr) = run(here, "rewrite -i w");
    assert_eq!(
        stderr,
        "error: w/a.html: the file has 2 names (hard links); --in-place=break-links \
         replaces it under this name only\n2 files: 1 rewritten, 1 could not be used\n  html  1 \
         file, 1 link: 1 rewritten\n"
    );
    assert_eq!(status, 2);
    assert_eq!(fs::read(here.join("w/a.html")).unwrap(), LINK.as_bytes());
    let (status, _, stderr) = run(here, "rewrite --in-place=break-links w");
    assert_eq!(
        stderr,
        "2 files: 1 rewritten, 1 with nothing to rewrite\n  html  2 files, 2 links: 1 rewritten, \
         1 already absolute\n"
    );
    assert_eq!(status, 0);
    assert_eq!(
        fs::read(here.join("w/a.html")).unwrap(),
        ABSOLUTE.as_bytes()
    );
    assert_eq!(fs::read(&other).unwrap(), LINK.as_bytes());
}

#[test]
fn maildir_names_get_the_new_sizes() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let message = |link: &str| format!("Subject: x\nContent-Type: text/html\n\n<a href={link}>\n");
    // The message has four lines, each with one byte more on the wire (CRLF).
    let [old, new, other] = ["x", "http://a.example/x", "http://a.example/x"].map(message);
    let name = |text: &str| format!("1.a.host,S={},W={}:2,FS", text.len(), text.len() + 4);
    put(here, Path::new("Mail/cur").join(name(&old)), &old);
    put(here, "Mail/cur/2.b.host,S=9:2,", "Subject:\n");
    put(here, "Mail/new/3.c.host", &old);
    put(here, "Mail/tmp/4.d.host", &old);
    put(here, "Mail/dovecot-uidlist", "3 V1 N4\n");

    let (status, _, stderr) = run(here, "rewrite -i --backup .orig Mail/new");
    assert_eq!(
        stderr,
        "error: Mail: in a Maildir a backup would be another message; omit --backup, or use -o DIR\n"
    );
    assert_eq!(status, 2);

    let (status, json, stderr) = run(here, "rewrite -i --json Mail");
    assert_eq!(
        stderr,
        "5 files: 2 rewritten, 1 with nothing to rewrite, 1 not a document, 1 delivery skipped\n  \
         message  3 files, 2 links: 2 rewritten\n"
    );
    assert_eq!(status, 0);
    let places: Vec<_> = json
        .lines()
        .map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            (record["path"].clone(), record["output"].clone())
        })
        .collect();
    assert_eq!(
        places,
        [
            (
                format!("Mail/cur/{}", name(&old)).into(),
                format!("Mail/cur/{}", name(&new)).into()
            ),
            ("Mail/cur/2.b.host,S=9:2,".into(), serde_json::Value::Null),
            ("Mail/dovecot-uidlist".into(), serde_json::Value::Null),
            ("Mail/new/3.c.host".into(), "Mail/new/3.c.host".into()),
        ]
    );
    let found_files = files(&here.join("Mail"));
    assert_eq!(
        found_files[&Path::new("cur").join(name(&new))],
        new.as_bytes()
    );
    assert_eq!(found_files[Path::new("new/3.c.host")], other.as_bytes());
    assert_eq!(found_files[Path::new("tmp/4.d.host")], old.as_bytes());
    assert_eq!(found_files.len(), 5);
}

#[test]
fn an_empty_folder_is_not_a_failure() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    fs::create_dir_all(here.join("w/sub")).unwrap();
    let nothing = |reported: &str| (0, String::new(), reported.to_owned());
    assert_eq!(run(here, "links w"), nothing("no documents found\n"));
    assert_eq!(run(here, "base w"), nothing("no documents found\n"));
    assert_eq!(run(here, "rewrite -i w"), nothing("no files found\n"));
    assert_eq!(run(here, "rewrite w -o out"), nothing("no files found\n"));
    assert!(here.join("out/sub").is_dir());
}

/// More than 600 files of all formats, some of them odd or broken; the same each time.
fn populate(here: &Path) {
    for number in 0..300 {
        let folder = format!("w/{}/{}", number % 7, number % 3);
        let page = match number % 5 {
            0 => format!("<base href=sub{number}/><a href=x>"),
            1 => "<a href=x><a href='{{ y }}'><img src=''>".to_owned(),
            2 => format!("<base href=data:,{number}><a href=x>"),
            3 => "<p>".repeat(number),
            _ => format!("<iframe srcdoc='<a href=../{number}>'></iframe>\n").repeat(number % 30),
        };
        put(here, format!("{folder}/{number}.html"), page);
    }
    for number in 0..100 {
        put(
            here,
            format!("w/css/{number}.css"),
            format!("@import '{number}'; a {{ b: url(c) }}"),
        );
        put(
            here,
            format!("w/xml/{number}.svg"),
            "<svg xmlns='http://www.w3.org/2000/svg'><a",
        );
        let head = "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n";
        put(
            here,
            format!("w/mail/{number}.eml"),
            format!("{head}<a href={number}>\n"),
        );
        symlink("nowhere", here.join(format!("w/css/{number}.broken"))).unwrap();
    }
    for number in 0..20 {
        let message = "From a\nContent-Type: text/html\nDKIM-Signature: v=1\n\n<a href=x>\n\n";
        put(
            here,
            format!("w/mail/{number}.mbox"),
            message.repeat(number + 1),
        );
        put(
            here,
            format!("w/{number}.png"),
            [0x89, b'P', b'N', b'G', 0, 0xFF],
        );
        put(here, format!("w/css/{number}.broken.html"), "<a href=x>");
    }
    put(
        here,
        "map.csv",
        "css/1.css,http://b.example/\nnone,http://b.example/\n",
    );
}

#[test]
fn results_do_not_depend_on_the_number_of_jobs() {
    let common = [
        "--follow",
        "--url-map=map.csv",
        "-u",
        "http://a.example/d",
        "w",
    ];
    let read = tempfile::tempdir().unwrap();
    populate(read.path());
    for line in [
        "links",
        "links --json",
        "links -v --strict",
        "base",
        "base --json",
        "rewrite --diff",
        "rewrite --dry-run --json",
        "rewrite -o out --json",
        "rewrite -o out -v --verify",
        "rewrite --in-place --json",
        "check --json",
        "localize -o out --json",
    ] {
        let with = |jobs: &str| {
            // Commands that only read share one folder, because they change no files.
            let own = line.contains("-o out") || line.contains("--in-place");
            let scene = own.then(|| tempfile::tempdir().unwrap());
            let here = scene.as_ref().map_or(read.path(), |scene| scene.path());
            if own {
                populate(here);
            }
            let common = if line.contains("--in-place") {
                &common[1..]
            } else {
                &common[..]
            };
            let mut command = baselink(here);
            let output = command
                .args(line.split(' '))
                .args(["-j", jobs])
                .args(common)
                .output();
            (
                result_of(&output.unwrap()),
                if own { files(here) } else { BTreeMap::new() },
            )
        };
        let ((one, of_one), (eight, of_eight)) = (with("1"), with("8"));
        assert_eq!(
            one.0,
            if line.contains("--in-place") { 0 } else { 2 },
            "{line}: {}",
            one.2
        );
        assert!(one.1.len() + one.2.len() > 10_000, "{line}: little is said");
        assert!(one.1 == eight.1, "{line}: another standard output");
        assert_eq!(one.2, eight.2, "{line}");
        assert_eq!(one.0, eight.0, "{line}");
        assert!(of_one == of_eight, "{line}: other files");
        assert!(
            of_one
                .keys()
                .all(|path| !path.to_string_lossy().contains(".baselink-"))
        );
    }
}

/// True if the signal stops `command` before it has changed `number` files. Checks that each changed file is
/// complete.
fn is_stopped(command: &str, signal: Signal, number: usize) -> bool {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    for number in 0..number {
        put(here, format!("w/{number:04}.html"), LINK);
    }
    let child = baselink(here)
        .args([command, "-i", "-j", "2", "w"])
        .args(URL)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first file is changed long before the last.
    while fs::read(here.join("w/0000.html")).unwrap() == LINK.as_bytes() {}
    interrupt::send(signal, &child);
    let (status, _, stderr) = result_of(&child.wait_with_output().unwrap());
    let found_files = files(&here.join("w"));
    let new = found_files
        .values()
        .filter(|bytes| **bytes == ABSOLUTE.as_bytes())
        .count();
    let old = found_files
        .values()
        .filter(|bytes| **bytes == LINK.as_bytes())
        .count();
    assert_eq!(
        (new + old, found_files.len()),
        (number, number),
        "no temporary files, nothing half"
    );
    if old == 0 {
        return false;
    }
    assert_eq!(status, 130, "{stderr}");
    let (file, link, rest) = match command {
        "rewrite" => ("rewritten", "rewritten", "rewrite"),
        _ => ("changed", "made absolute", "change"),
    };
    let summary =
        format!("{new} files: {new} {file}\n  html  {new} files, {new} links: {new} {link}\n");
    assert!(stderr.starts_with(&summary), "{stderr}");
    let stopped = format!(
        "error: stopped after {new} files; every file is complete; run the same command again to do the rest\n"
    );
    assert!(stderr.ends_with(&stopped), "{stderr}");
    let (status, _, stderr) = run(here, &format!("{command} -i w"));
    assert_eq!(status, 0);
    let summary = format!("{number} files: {old} {file}, {new} with nothing to {rest}\n");
    assert!(stderr.starts_with(&summary), "{stderr}");
    true
}

#[test]
fn ctrl_c_stops_after_the_current_file() {
    for command in ["rewrite", "localize"] {
        for &signal in interrupt::signals() {
            // On a busy machine, the signal may come after the last file. Then a larger folder is tried.
            let is_stopped = [1_000, 4_000, 16_000]
                .into_iter()
                .any(|number| is_stopped(command, signal, number));
            assert!(is_stopped, "{signal:?} does not stop {command}");
        }
    }
}

#[test]
fn ctrl_c_lets_the_current_file_finish() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let pipe = here.join("pipe.html");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for number in 0..2_000 {
        put(here, format!("w/{number:04}.html"), LINK);
    }
    let child = baselink(here)
        .args(["rewrite", "-j", "1", "pipe.html", "w", "-o", "out"])
        .args(URL)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Returns when the program has opened the pipe too.
    let mut writer = File::options().write(true).open(&pipe).unwrap();
    writer.write_all(b"<a href=").unwrap();
    interrupt::interrupt(&child);
    writer.write_all(b"x>\n").unwrap();
    drop(writer);
    let (status, _, stderr) = result_of(&child.wait_with_output().unwrap());
    assert_eq!(status, 130, "{stderr}");
    let found_files = files(&here.join("out"));
    assert_eq!(found_files[Path::new("pipe.html")], ABSOLUTE.as_bytes());
    assert!(
        found_files
            .values()
            .all(|bytes| bytes == ABSOLUTE.as_bytes())
    );
    assert!(found_files.len() < 2_001, "it was not stopped");
    let done = match found_files.len() {
        1 => "1 file".to_owned(),
        number => format!("{number} files"),
    };
    let last = stderr.lines().last().unwrap();
    assert!(
        last.starts_with(&format!(
            "error: stopped after {done}; every file is complete; "
        )),
        "{last}"
    );
}

/// The terminal output of a command that takes longer than half a second.
fn on_a_terminal(redirection: &str) -> Option<String> {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let pipe = here.join("pipe.html");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    put(here, "w/a.html", LINK);
    for number in 0..300 {
        put(here, format!("v/{number}.html"), LINK);
    }
    let line = format!(
        "'{}' rewrite --dry-run -j 1 w pipe.html v -u http://a.example/ {redirection}",
        env!("CARGO_BIN_EXE_baselink")
    );
    let child = Command::new("script")
        .current_dir(here)
        .env("TERM", "xterm")
        .args(["-q", "-e", "-c", &line, "/dev/null"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(child) = child else {
        eprintln!("notice: there is no `script`, so the bar was not tested");
        return None;
    };
    let mut writer = File::options().write(true).open(&pipe).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    writer.write_all(LINK.as_bytes()).unwrap();
    drop(writer);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_terminal_shows_the_progress_of_long_work() {
    let Some(shown) = on_a_terminal("") else {
        return;
    };
    assert!(shown.contains(" of 302 files"), "{shown:?}");
    assert!(shown.contains("302 files: 302 to rewrite\r\n"), "{shown:?}");
    let Some(shown) = on_a_terminal("2> /dev/null") else {
        return;
    };
    assert_eq!(shown, "");
}

#[test]
fn the_progress_bar_needs_a_terminal() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let pipe = here.join("pipe.html");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    put(here, "w/a.html", LINK);
    let child = baselink(here)
        .args(["rewrite", "--dry-run", "-j", "1", "pipe.html", "w"])
        .args(URL)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut writer = File::options().write(true).open(&pipe).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    writer.write_all(LINK.as_bytes()).unwrap();
    drop(writer);
    let (status, _, stderr) = result_of(&child.wait_with_output().unwrap());
    assert_eq!(
        stderr,
        "2 files: 2 to rewrite\n  html  2 files, 2 links: 2 rewritten\nnothing was written\n"
    );
    assert_eq!(status, 0);
}

#[test]
fn a_message_about_a_name_that_is_not_utf_8_is_utf_8() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let name = OsString::from_vec(b"\xff.html".to_vec());
    let page = put(here, Path::new("w").join(&name), LINK);
    fs::hard_link(&page, here.join("other")).unwrap();
    let output = baselink(here)
        .args(["rewrite", "-q", "-i", "w"])
        .args(URL)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .starts_with("error: w/\u{fffd}.html: the file has 2 names")
    );
}

/// Bug 399: an archive in one frame was recognized only if the frame was short. Its decoder keeps a window of 2 MiB back.
#[test]
fn a_long_frame_of_zstandard_is_an_archive() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let page = format!("{}<a href=x>", " ".repeat(100_000));
    let record = format!(
        "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.example/\r\nContent-Type: text/html\r\n\
         Content-Length: {}\r\n\r\n{page}\r\n\r\n",
        page.len()
    );
    // The only block is raw (RFC 8878, 3.1.1.2.2).
    let mut frame = b"\x28\xb5\x2f\xfd\x00\x58".to_vec();
    let block = u32::try_from(record.len() << 3).unwrap() | 1;
    frame.extend_from_slice(&block.to_le_bytes()[..3]);
    frame.extend_from_slice(record.as_bytes());
    fs::write(here.join("a.warc.zst"), frame).unwrap();
    let (status, listed, _) = run(here, "links --only-targets a.warc.zst");
    assert_eq!((status, listed.as_str()), (0, "http://a.example/x\n"));
}
