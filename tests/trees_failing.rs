//! Each call of a run, failing: the disk is full, broken, or used up by this user; or the program is killed there.
//!
//! ```text
//! strace -f -e inject=renameat:error=ENOSPC:when=2 baselink rewrite -i w     for each call, and each time it is made
//! ```
//!
//! After each, every file of `tests/modes` is old or new; the status is 2 and a sentence says why, unless the call may
//! fail without harm ([`HARMLESS`]); and the next run does the rest, and leaves nothing behind. What is written less of than
//! was asked for is had by a limit for the size of files. And the order of writing, syncing and renaming is looked at.
//!
//! Each call fails with one error; with `BASELINK_FAULTS=all` with each, and calls that only read fail, too.
//!
//! Deliberately absent: what a disk does with what it has said to be written; that needs a machine of its own.
#![cfg(feature = "cli")]
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod modes;
#[path = "outside/mod.rs"]
mod outside;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::thread;

use modes::{MODES, Mode, Scene, files, in_scene, look};

/// Calls that change something.
const WRITING: &str = "open,openat,openat2,write,writev,pwrite64,copy_file_range,sendfile,ftruncate,fallocate,fsync,\
    fdatasync,syncfs,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,fchmod,fchown,fsetxattr,\
    fremovexattr,utimensat,flock";
/// Calls that only read.
const READING: &str = "read,pread64,getdents64,lseek,stat,lstat,fstat,newfstatat,statx,readlink,getcwd,flistxattr,\
    fgetxattr,getxattr,lgetxattr,fstatfs,ioctl";

/// With what a call fails, and what is said then. The last is no error: the program is killed there.
const FAULTS: [(&str, &str); 4] = [
    ("error=ENOSPC", "No space left on device (os error 28)"),
    ("error=EIO", "Input/output error (os error 5)"),
    ("error=EDQUOT", "Disk quota exceeded (os error 122)"),
    ("signal=SIGKILL", ""),
];

/// Writing calls that may fail without harm: the beginning of a line of strace (of `openat` what is opened), and why.
const HARMLESS: [(&str, &str); 8] = [
    ("syncfs(", "each file is synced for itself instead"),
    ("flock(", "the temporary file gets a name that says so; a kill leaves it"),
    ("unlinkat(", "a temporary file that cannot be removed is removed by the next run"),
    ("copy_file_range(", "the bytes are read and written instead"),
    ("linkat(", "the backup is a copy instead"),
    ("openat2(", "each folder is opened for itself instead"),
    ("O_PATH|O_NOFOLLOW", "the old file is held open only to be quick"),
    ("fchown(", "that the owner is lost is said"),
];

/// How many files there are: enough that several are committed together, and some by another thread.
const FEW: usize = 2;

fn is_everything_asked() -> bool {
    std::env::var("BASELINK_FAULTS").is_ok_and(|asked| asked == "all")
}

/// Runs the program under strace, which gets these arguments: what it said, and the lines of strace.
fn traced(mode: &Mode, here: &Path, arguments: &[&str]) -> (Output, Vec<String>) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "--seccomp-bpf", "-s", "0", "-o"]).arg(log.path()).args(arguments);
    strace.arg(env!("CARGO_BIN_EXE_baselink"));
    in_scene(&mut strace, here, mode.line);
    let output = strace.output().unwrap();
    let lines = String::from_utf8_lossy(&fs::read(log.path()).unwrap()).into_owned();
    (output, lines.lines().map(str::to_owned).collect())
}

/// `12 renameat(4, "a", …` is of thread 12, and calls `renameat`.
fn thread_and_call(line: &str) -> Option<(&str, &str, &str)> {
    let (thread, call) = line.split_once(' ')?;
    let call = call.trim_start();
    let (name, _) = call.split_once('(')?;
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some((thread, name, call))
}

/// Whether a call is one of starting the program, or of standard output or error.
fn is_apart(call: &str) -> bool {
    let is_of_the_system = ["/etc/", "/lib", "/usr/", "/proc/", "/sys/", "/dev/"]
        .iter()
        .any(|folder| call.contains(&format!("\"{folder}")));
    let is_printed = |number| call.starts_with(&format!("write({number},"));
    is_of_the_system || is_printed(1) || is_printed(2)
}

/// Which calls a thread makes, and which of them are to fail: the first six and the last two of each name.
fn calls(trace: &[String]) -> Vec<(String, usize)> {
    let mut made: BTreeMap<(&str, &str), Vec<bool>> = BTreeMap::new();
    for (thread, name, call) in trace.iter().filter_map(|line| thread_and_call(line)) {
        made.entry((name, thread)).or_default().push(is_apart(call));
    }
    let mut calls = BTreeSet::new();
    for ((name, _), made) in made {
        let own = made.iter().enumerate().filter(|(_, is_apart)| !**is_apart);
        let own: Vec<_> = own.map(|(number, _)| number + 1).collect();
        let is_tried = |at: usize| is_everything_asked() || at < 6 || at + 2 >= own.len();
        let tried = own.iter().enumerate().filter(|(at, _)| is_tried(*at));
        calls.extend(tried.map(|(_, number)| (name.to_owned(), *number)));
    }
    calls.into_iter().collect()
}

/// What a run may do after a fault, and what the next run makes of it.
struct Expected {
    before: Scene,
    after: Scene,
}

impl Expected {
    fn of(mode: &Mode) -> Self {
        Self { before: (mode.before)(FEW), after: mode.after(FEW) }
    }

    /// Looks at what is there; then the next run does the rest.
    fn look(&self, mode: &Mode, here: &Path, output: &Output, why: &str) {
        let said = String::from_utf8_lossy(&output.stderr);
        let status = output.status.code();
        assert!(!said.contains("panic"), "{}: {why}: {said}", mode.line);
        assert!(matches!(status, None | Some(0 | 2)), "{}: {why}: {status:?} {said}", mode.line);
        let there = files(here);
        let seen = look(&self.before, &self.after, &there);
        let is_done = seen.old == 0 && self.after.keys().all(|path| there.contains_key(path));
        assert!(status != Some(0) || is_done, "{}: {why}: not all is done: {said}", mode.line);
        let again = mode.program(here).output().unwrap();
        assert!(again.status.success(), "{}: {why}, then: {again:?}", mode.line);
        let there = files(here);
        let differ = there.keys().filter(|path| there.get(*path) != self.after.get(*path));
        let differ: Vec<_> = differ.collect();
        assert!(there == self.after, "{}: {why}: after the next run {differ:?}", mode.line);
    }
}

/// Lets each call of a run fail; returns how many were.
fn fail_each(mode: &Mode) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let expected = Expected::of(mode);
    let set = match is_everything_asked() {
        true => format!("trace={WRITING},{READING}"),
        false => format!("trace={WRITING}"),
    };
    mode.set(here, &expected.before);
    let (output, trace) = traced(mode, here, &["-e", &set]);
    assert!(output.status.success(), "{}: {output:?}", mode.line);
    let mut failed = 0;
    for (turn, (call, number)) in calls(&trace).into_iter().enumerate() {
        for (fault, (how, says)) in FAULTS.iter().enumerate() {
            if !is_everything_asked() && fault < 3 && fault != turn % 3 {
                continue;
            }
            mode.set(here, &expected.before);
            let inject = format!("inject={call}:{how}:when={number}");
            let (output, trace) = traced(mode, here, &["-e", &set, "-e", &inject]);
            let injected = trace.iter().filter(|line| line.contains("(INJECTED)"));
            let injected: Vec<_> = injected.map(|line| line.split_once(' ').unwrap().1.trim()).collect();
            let why = format!("{inject} {injected:?}");
            let said = String::from_utf8_lossy(&output.stderr);
            if output.status.code() == Some(0) && injected.iter().any(|call| !is_apart(call)) {
                let may_fail = |call: &&str| {
                    let is_known = |(begin, _): &(&str, &str)| call.contains(begin);
                    READING.split(',').any(|name| call.starts_with(&format!("{name}(")))
                        || HARMLESS.iter().any(is_known)
                        || is_apart(call)
                };
                assert!(injected.iter().all(may_fail), "{}: {why}: no error: {said}", mode.line);
            }
            if output.status.code() == Some(2) {
                let is_said = |line: &str| line.starts_with("error: ") && line.contains(says);
                assert!(said.lines().any(is_said), "{}: {why}: {said}", mode.line);
            }
            expected.look(mode, here, &output, &why);
            failed += 1;
        }
    }
    println!("{}: {failed} calls failed", mode.line);
    failed
}

/// Does `work` with every mode, on two threads.
fn with_each(work: impl Fn(&Mode) + Sync) {
    let only = std::env::var("BASELINK_MODE").ok();
    let is_asked = |mode: &&Mode| only.as_ref().is_none_or(|only| mode.line == *only);
    let queue = Mutex::new(MODES.iter().filter(is_asked));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().next();
                    let Some(mode) = next else { return };
                    work(mode);
                }
            });
        }
    });
}

/// I19: of every way to write.
#[test]
fn a_call_that_fails_leaves_files_old_or_new() {
    if outside::is_installed("strace") {
        with_each(|mode| assert!(fail_each(mode) > 0, "{}", mode.line));
    }
}

/// I19: with a limit for the size of a file a write takes less than it was given, and the next fails.
#[test]
fn a_short_write_leaves_files_old_or_new() {
    const TOO_LARGE: &str = "File too large (os error 27)";
    with_each(|mode| {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let expected = Expected::of(mode);
        for limit in ["0", "1", "20", "500"] {
            mode.set(here, &expected.before);
            let mut shell = Command::new("sh");
            // A signal that nobody ignores would end the program.
            let script = "trap '' XFSZ; exec prlimit --fsize=\"$0\" \"$@\"";
            shell.args(["-c", script, limit, env!("CARGO_BIN_EXE_baselink")]);
            in_scene(&mut shell, here, mode.line);
            let output = shell.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            if output.status.code() == Some(2) {
                assert!(said.contains(TOO_LARGE), "{}: {limit}: {said}", mode.line);
            }
            expected.look(mode, here, &output, &format!("{limit} bytes"));
        }
    });
}
