//! Rewrites a mailbox in place while mail programs deliver to it: locks of fcntl(2), and lock files (Debian Policy,
//! 11.6).
//!
//! ```text
//! all.mbox.lock    "4711\n"    another program holds the mailbox: wait, and skip it after ten seconds
//! ```
//!
//! Deliberately absent: a delivery without a lock, which `tests/trees/failing.rs` tests.
#![cfg(target_os = "linux")]

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, fcntl_lock};
use tempfile::TempDir;

use crate::outside;

const BEFORE: &str =
    "From a@b Thu Jan  1 00:00:00 2026\nContent-Type: text/html\n\n<a href=/x>\n\n";
const AFTER: &str =
    "From a@b Thu Jan  1 00:00:00 2026\nContent-Type: text/html\n\n<a href=http://a.example/x>\n\n";
const DELIVERED: &str = "From c@d Fri Jan  2 00:00:00 2026\n\nNew.\n\n";

fn mailbox(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("all.mbox"), text).unwrap();
    folder
}

fn start(mut program: Command, folder: &Path) -> Child {
    program.args([
        "rewrite",
        "-q",
        "-i",
        "--url",
        "http://a.example/",
        "all.mbox",
    ]);
    program
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn baselink() -> Command {
    Command::new(env!("CARGO_BIN_EXE_baselink"))
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// The names and contents of the files in `folder`.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn file(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

/// Waits until the condition is true, for at most half a minute.
fn until(mut condition: impl FnMut() -> bool) {
    assert!((0..6_000).any(|_| condition() || {
        thread::sleep(Duration::from_millis(5));
        false
    }));
}

/// Between the last check of a mailbox and the rename of its replacement, programs that take locks cannot deliver.
#[test]
fn locks_are_held_while_the_mailbox_is_replaced() {
    if !outside::has_strace() {
        return;
    }
    let folder = mailbox(BEFORE);
    let [path, lock] = ["all.mbox", "all.mbox.lock"].map(|name| folder.path().join(name));
    let mut strace = Command::new("strace");
    // The delay is for the checks below.
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat"]);
    strace.args(["-e", "inject=renameat:delay_enter=2000000"]);
    strace
        .env_remove("LD_LIBRARY_PATH")
        .arg(env!("CARGO_BIN_EXE_baselink"));
    let run = start(strace, folder.path());
    until(|| lock.exists());
    let open = || OpenOptions::new().append(true).open(&path).unwrap();
    let is_locked = |file: &File| {
        fcntl_lock(file, FlockOperation::NonBlockingLockExclusive)
            .is_err_and(|error| matches!(error.raw_os_error(), 11 | 13))
    };
    until(|| is_locked(&open()));
    let process = fs::read_to_string(&lock).unwrap();
    assert!(Path::new("/proc").join(&process).exists(), "{process}");
    assert_eq!(fs::read_to_string(&path).unwrap(), BEFORE);
    // As a mail program does: retries `O_EXCL` until there is no lock file, then opens the mailbox.
    until(|| File::create_new(&lock).is_ok());
    open().write_all(DELIVERED.as_bytes()).unwrap();
    fs::remove_file(&lock).unwrap();
    let output = run.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        files(folder.path()),
        [file("all.mbox", &format!("{AFTER}{DELIVERED}"))]
    );
}

#[test]
fn a_lock_of_another_program_is_awaited() {
    let folder = mailbox(BEFORE);
    let lock = folder.path().join("all.mbox.lock");
    fs::write(&lock, "1\n").unwrap();
    let run = start(baselink(), folder.path());
    thread::sleep(Duration::from_millis(700));
    let with_lock = [file("all.mbox", BEFORE), file("all.mbox.lock", "1\n")];
    let found = files(folder.path());
    assert_eq!(
        found.iter().filter(|file| with_lock.contains(file)).count(),
        2,
        "{found:?}"
    );
    fs::remove_file(&lock).unwrap();
    let output = run.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(files(folder.path()), [file("all.mbox", AFTER)]);
}

#[test]
fn a_mailbox_that_stays_locked_is_skipped() {
    let by_file = mailbox(BEFORE);
    fs::write(by_file.path().join("all.mbox.lock"), "1\n").unwrap();
    let by_call = mailbox(BEFORE);
    let held = OpenOptions::new()
        .write(true)
        .open(by_call.path().join("all.mbox"))
        .unwrap();
    fcntl_lock(&held, FlockOperation::LockExclusive).unwrap();
    let runs = [&by_file, &by_call].map(|folder| start(baselink(), folder.path()));
    let [file_error, call_error] = runs.map(|run| {
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        stderr(&output).to_owned()
    });
    assert_eq!(
        file_error,
        "error: all.mbox: another program holds its lock all.mbox.lock, so it was not changed; if no \
         program delivers or changes mail there, delete all.mbox.lock\n"
    );
    assert_eq!(
        call_error,
        "error: all.mbox: another program has locked it, so it was not changed\n"
    );
    let with_lock = [file("all.mbox", BEFORE), file("all.mbox.lock", "1\n")];
    assert_eq!(files(by_file.path()), with_lock);
    assert_eq!(files(by_call.path()), [file("all.mbox", BEFORE)]);
}

/// Only mailboxes that are replaced need a lock.
#[test]
fn other_files_and_unchanged_mailboxes_need_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    fs::write(&page, "<a href=/x>").unwrap();
    fs::write(folder.path().join("page.html.lock"), "1\n").unwrap();
    let mut program = baselink();
    program
        .args(["rewrite", "-q", "-i", "-u", "http://a.example/"])
        .arg(&page);
    assert!(program.status().unwrap().success());
    assert_eq!(
        fs::read_to_string(&page).unwrap(),
        "<a href=http://a.example/x>"
    );

    let folder = mailbox(BEFORE);
    fs::write(folder.path().join("all.mbox.lock"), "1\n").unwrap();
    let mut program = baselink();
    program.args([
        "rewrite",
        "-q",
        "-u",
        "http://a.example/",
        "all.mbox",
        "-o",
        "new.mbox",
    ]);
    assert!(
        program
            .current_dir(folder.path())
            .status()
            .unwrap()
            .success()
    );
    let expected = [
        file("all.mbox", BEFORE),
        file("all.mbox.lock", "1\n"),
        file("new.mbox", AFTER),
    ];
    assert_eq!(files(folder.path()), expected);
}
