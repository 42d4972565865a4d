//! Lets each system call of a run fail, as if the disk were full, broken or over quota, or kills the program at the
//! call.
//!
//! ```text
//! strace -f -e inject=renameat:error=ENOSPC:when=2 baselink rewrite -i w     for each call and occurrence
//! ```
//!
//! After each fault, every file of `modes.rs` is old or new. The exit status is 2 and an error names the cause,
//! unless the call may fail without harm ([`HARMLESS`]). The next run completes the work.
//! A second test limits the size of files, so that writes are short. A third checks the order of writing, syncing and
//! renaming.
//!
//! By default, the first three calls and the last call of each name and thread fail, each with one error and with a
//! kill. `BASELINK_FAULTS=all` tries every call with every error.
//!
//! Deliberately absent: calls that only read; disks that lose data after reporting it as written, which need a
//! separate machine.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::modes::{MODES, Mode, Scene, files, in_scene, look, remove_leftovers, with_each};
use crate::outside;

/// Calls that change something.
pub(crate) const WRITING: &str = "open,openat,openat2,write,writev,pwrite64,copy_file_range,sendfile,ftruncate,fallocate,fsync,\
    fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,fchmod,fchown,fsetxattr,\
    fremovexattr,utimensat,flock";
/// The errors that calls return, with the expected messages. The last entry kills the program instead.
pub(crate) const FAULTS: [(&str, &str); 4] = [
    ("error=ENOSPC", "No space left on device (os error 28)"),
    ("error=EIO", "Input/output error (os error 5)"),
    ("error=EDQUOT", "Disk quota exceeded (os error 122)"),
    ("signal=SIGKILL", ""),
];

/// Writing calls that may fail without harm: a part of the line that strace prints, and the reason.
const HARMLESS: [(&str, &str); 8] = [
    ("copy_file_range(", "the bytes are read and written instead"),
    ("linkat(", "the backup is a copy instead"),
    (
        "O_TMPFILE",
        "the file has a temporary name from the beginning instead",
    ),
    ("unlinkat(", "a temporary file that cannot be removed stays"),
    ("fchown(", "the loss of the owner is reported"),
    (
        "O_PATH|O_DIRECTORY",
        "the folder is opened or created again",
    ),
    ("utimensat(", "the loss of times is reported"),
    (
        "{flags=O_RDONLY|O_LARGEFILE|O_CLOEXEC,",
        "the loss of times is reported",
    ),
];

/// The number of files: enough to commit several together, and some on another thread.
const FEW: usize = 2;

fn is_exhaustive() -> bool {
    std::env::var("BASELINK_FAULTS").is_ok_and(|asked| asked == "all")
}

/// Runs the program under strace with these arguments. Returns the output and the lines of strace.
pub(crate) fn traced(mode: &Mode, here: &Path, arguments: &[&str]) -> (Output, Vec<String>) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-s", "0", "-o"])
        .arg(log.path())
        .args(arguments);
    // With this option, strace 6.1 sends no signal.
    if !arguments
        .iter()
        .any(|argument| argument.contains("signal="))
    {
        strace.arg("--seccomp-bpf");
    }
    strace
        .env_remove("LD_LIBRARY_PATH")
        .arg(env!("CARGO_BIN_EXE_baselink"));
    in_scene(&mut strace, here, mode.line);
    let output = strace.output().unwrap();
    let lines = String::from_utf8_lossy(&fs::read(log.path()).unwrap()).into_owned();
    (output, lines.lines().map(str::to_owned).collect())
}

/// Splits a line of strace: `12 renameat(4, "a", …` has the thread 12, the name `renameat`, and the call from the
/// name on.
fn thread_and_call(line: &str) -> Option<(&str, &str, &str)> {
    let (thread, call) = line.split_once(' ')?;
    let call = call.trim_start();
    let (name, _) = call.split_once('(')?;
    name.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        .then_some((thread, name, call))
}

/// True if the call starts the program, prints, or opens an input.
fn is_unrelated(call: &str) -> bool {
    let is_of_the_system = [".so", "\"/etc/", "\"/proc/", "\"/sys/", "\"/dev/"];
    let is_read = call.contains("O_RDONLY") && !call.contains("O_PATH") && !call.contains("\".\"");
    is_read
        || is_of_the_system.iter().any(|part| call.contains(part))
        || ["write(1,", "write(2,"]
            .iter()
            .any(|printed| call.starts_with(printed))
}

/// The calls of a trace in which the fault was injected. If calls of several threads overlap, strace prints the beginning
/// and the end of a call on separate lines, and the fault is on the second one.
fn injected(trace: &[String]) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, line) in trace.iter().enumerate() {
        if !line.contains("(INJECTED)") {
            continue;
        }
        let thread = line.split(' ').next().unwrap();
        let begins = |line: &&String| {
            line.starts_with(&format!("{thread} ")) && line.contains("<unfinished ...>")
        };
        let whole = if line.contains("resumed>") {
            trace[..at].iter().rev().find(begins)
        } else {
            Some(line)
        };
        found.extend(whole.and_then(|whole| Some(thread_and_call(whole)?.2)));
    }
    found
}

/// The calls that should fail, each as its name and its number among the calls of that name in one thread. Unless
/// `is_exhaustive`, only the first three and the last.
pub(crate) fn calls(trace: &[String], is_exhaustive: bool) -> Vec<(String, usize)> {
    let mut all: BTreeMap<(&str, &str), Vec<bool>> = BTreeMap::new();
    for (thread, name, call) in trace.iter().filter_map(|line| thread_and_call(line)) {
        all.entry((name, thread))
            .or_default()
            .push(is_unrelated(call));
    }
    let mut calls = BTreeSet::new();
    for ((name, _), flags) in all {
        let own = flags
            .iter()
            .enumerate()
            .filter(|(_, is_unrelated)| !**is_unrelated);
        let own: Vec<_> = own.map(|(number, _)| number + 1).collect();
        let is_tried = |at: usize| is_exhaustive || at < 3 || at + 1 >= own.len();
        let tried = own.iter().enumerate().filter(|(at, _)| is_tried(*at));
        calls.extend(tried.map(|(_, number)| (name.to_owned(), *number)));
    }
    calls.into_iter().collect()
}

/// The files before a run, and after a complete run.
struct Expected {
    before: Scene,
    after: Scene,
}

impl Expected {
    fn of(mode: &Mode) -> Self {
        Self {
            before: (mode.before)(FEW),
            after: mode.after(FEW),
        }
    }

    /// Checks the files after a fault, and that the next run completes the work. Returns a description of any fault
    /// of the program.
    fn look(&self, mode: &Mode, here: &Path, output: &Output) -> Result<(), String> {
        let (reported, status) = (
            String::from_utf8_lossy(&output.stderr),
            output.status.code(),
        );
        if reported.contains("panic") || !matches!(status, None | Some(0 | 2)) {
            return Err(format!("{status:?} {reported}"));
        }
        let found = files(here);
        let seen = look(&self.before, &self.after, &found)?;
        let is_done = seen.old == 0 && self.after.keys().all(|path| found.contains_key(path));
        if status == Some(0) && !is_done {
            return Err(format!("not all is done: {reported}"));
        }
        remove_leftovers(here);
        let again = mode.program(here).output().unwrap();
        let found = files(here);
        let differ = found
            .iter()
            .filter(|(path, bytes)| self.after.get(*path) != Some(bytes));
        let differ: Vec<_> = differ.map(|(path, _)| path).collect();
        match again.status.success() && found == self.after {
            true => Ok(()),
            false => Err(format!("the next run: {again:?} {differ:?}")),
        }
    }
}

/// True if a failing call need not be reported.
fn may_fail(call: &str) -> bool {
    let is_known = |(part, _): &(&str, &str)| call.contains(part);
    is_unrelated(call) || HARMLESS.iter().any(is_known)
}

/// Lets each call of a run fail, and describes the faults of the program.
fn fail_each(mode: &Mode) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let expected = Expected::of(mode);
    let set = format!("trace={WRITING}");
    mode.set(here, &expected.before);
    let (output, trace) = traced(mode, here, &["-e", &set]);
    assert!(output.status.success(), "{}: {output:?}", mode.line);
    let (mut failed, mut wrong) = (0, Vec::new());
    for (turn, (call, number)) in calls(&trace, is_exhaustive()).into_iter().enumerate() {
        for (fault, (action, expected_message)) in FAULTS.iter().enumerate() {
            if !is_exhaustive() && fault < 3 && fault != turn % 3 {
                continue;
            }
            mode.set(here, &expected.before);
            let inject = format!("inject={call}:{action}:when={number}");
            let (output, trace) = traced(mode, here, &["-e", &set, "-e", &inject]);
            let injected = injected(&trace);
            // The call of the same number of another thread, which reads an input, fails too.
            if injected.iter().any(|call| is_unrelated(call)) {
                continue;
            }
            let reported = String::from_utf8_lossy(&output.stderr);
            let is_reported =
                |line: &str| line.starts_with("error: ") && line.contains(expected_message);
            // If standard error fails too, nothing can be reported.
            let is_mute = injected.iter().any(|call| call.starts_with("write(2,"));
            let is_right = match output.status.code() {
                Some(0) => injected.iter().copied().all(may_fail),
                Some(2) => is_mute || reported.lines().any(is_reported),
                _ => true,
            };
            let is_right = if is_right {
                Ok(())
            } else {
                Err(reported.into_owned())
            };
            if let Err(what) = expected.look(mode, here, &output).and(is_right) {
                wrong.push(format!(
                    "{}: {inject} {injected:?}: {:?}: {what}",
                    mode.line, output.status
                ));
            }
            failed += 1;
        }
    }
    assert!(failed > 0, "{}", mode.line);
    println!("{}: {failed} calls failed", mode.line);
    wrong
}

/// Tries every mode of writing.
#[test]
fn a_call_that_fails_leaves_files_old_or_new() {
    if !outside::has_strace() {
        return;
    }
    let wrong = Mutex::new(Vec::new());
    with_each(|mode| {
        let of_mode = fail_each(mode);
        wrong.lock().unwrap().extend(of_mode);
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} of them:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A limit on the size of files makes one write short, and the next one fail.
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
            // The default action of SIGXFSZ would end the program.
            let script = "trap '' XFSZ; exec prlimit --fsize=\"$0\" \"$@\"";
            shell.args(["-c", script, limit, env!("CARGO_BIN_EXE_baselink")]);
            in_scene(&mut shell, here, mode.line);
            let output = shell.output().unwrap();
            let reported = String::from_utf8_lossy(&output.stderr);
            let is_reported = output.status.code() == Some(0) || reported.contains(TOO_LARGE);
            assert!(is_reported, "{}: {limit} bytes: {output:?}", mode.line);
            let looked = expected.look(mode, here, &output);
            looked.unwrap_or_else(|what| panic!("{}: {limit} bytes: {what}", mode.line));
        }
    });
}

/// A system call. If calls of several threads overlap, strace prints the beginning and the end of a call on separate
/// lines.
struct Call {
    text: String,
    begun: usize,
    ended: usize,
}

impl Call {
    fn is(&self, name: &str) -> bool {
        self.text
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('('))
    }

    /// The texts between two marks: double quotes, or the angle brackets around the path of a descriptor.
    fn parts(&self, marks: [char; 2]) -> Vec<&str> {
        self.text.split(marks).skip(1).step_by(2).collect()
    }

    /// The descriptor, the folder and the name, if the call names a file that had no name.
    fn named(&self) -> Option<(&str, &str, &str)> {
        let file = self
            .parts(['"', '"'])
            .first()?
            .strip_prefix("/proc/self/fd/")?;
        Some((file, self.parts(['<', '>'])[1], self.parts(['"', '"'])[1]))
    }

    /// The folder and the new name, if the call renames the file `from` of the folder `folder`.
    fn renamed_to(&self, folder: &str, from: &str) -> Option<(&str, &str)> {
        let (folders, names) = (self.parts(['<', '>']), self.parts(['"', '"']));
        let is_rename = self.is("renameat") && folders[0] == folder && names[0] == from;
        is_rename.then(|| (folders[1], names[1]))
    }

    /// True if the call concerns the file with this descriptor.
    fn is_on(&self, file: &str) -> bool {
        let marks = [format!("({file}<"), format!(" {file}<")];
        marks.iter().any(|mark| self.text.contains(mark))
    }

    /// True if the call syncs the file or folder at `path`.
    fn syncs(&self, path: &str) -> bool {
        let is_path = self.parts(['<', '>']).first() == Some(&path);
        is_path && (self.is("fsync") || self.is("fdatasync"))
    }
}

/// The calls that did not fail, in the order in which they began.
fn calls_in_order(trace: &[String]) -> Vec<Call> {
    let mut calls: Vec<(&str, Call)> = Vec::new();
    for (at, line) in trace.iter().enumerate() {
        if let Some((thread, _, call)) = thread_and_call(line) {
            let ended = if line.contains("<unfinished ...>") {
                usize::MAX
            } else {
                at
            };
            calls.push((
                thread,
                Call {
                    text: call.replace(" <unfinished ...>", ""),
                    begun: at,
                    ended,
                },
            ));
        } else if let Some((thread, rest)) = line.split_once(" <... ") {
            let is_open = |call: &&mut (&str, Call)| {
                call.0 == thread.trim_end() && call.1.ended == usize::MAX
            };
            // The call began before tracing did.
            let Some(call) = calls.iter_mut().rev().find(is_open) else {
                continue;
            };
            call.1.ended = at;
            call.1.text.push_str(rest.split_once("resumed>").unwrap().1);
        }
    }
    calls
        .into_iter()
        .map(|(_, call)| call)
        .filter(|call| !call.text.contains(" = -1 "))
        .collect()
}

/// The rule of docs/reliability.md: new contents are synced before the rename, except those of new files in the folder of
/// `-o`. The folder is synced between backup and rename, before the old file of a message is removed, and before the lock
/// of a mailbox is.
#[test]
fn bytes_reach_the_disk_before_the_names_that_rely_on_them() {
    if !outside::has_strace() {
        return;
    }
    with_each(|mode| {
        for files in [1, 3] {
            let folder = tempfile::tempdir().unwrap();
            mode.set(folder.path(), &(mode.before)(files));
            let set = format!("trace={WRITING}");
            let (output, trace) = traced(mode, folder.path(), &["-y", "-e", &set]);
            assert!(output.status.success(), "{}: {output:?}", mode.line);
            let calls = calls_in_order(&trace);
            let is_synced = |path: &str, after: usize, before: usize| {
                let is_between = |call: &&Call| call.begun > after && call.ended < before;
                calls.iter().filter(is_between).any(|call| call.syncs(path))
            };
            let mut waited = 0;
            for named in &calls {
                let Some((file, folder, temporary)) = named.named() else {
                    continue;
                };
                let renamed = calls
                    .iter()
                    .find_map(|call| Some((call, call.renamed_to(folder, temporary)?)));
                if renamed.is_none() && mode.line.contains(" -o out") {
                    continue;
                }
                let (rename, (into, name)) = renamed.unwrap_or((named, (folder, temporary)));
                waited += 1;
                let is_created = |call: &&Call| {
                    let descriptor = format!("= {file}<");
                    call.text.contains("O_TMPFILE") && call.text.contains(&descriptor)
                };
                let before = calls.iter().filter(|call| call.ended < named.begun);
                let created = before.filter(is_created).map(|call| call.ended).max();
                let between = calls.iter().filter(|call| {
                    call.begun > created.unwrap() && call.ended < named.begun && call.is_on(file)
                });
                let (syncs, writes): (Vec<_>, Vec<_>) = between.partition(|call| call.is("fsync"));
                let written = writes.iter().map(|call| call.ended).max().unwrap();
                assert!(
                    syncs.iter().any(|sync| sync.begun > written),
                    "{}: {name}",
                    mode.line
                );
                let is_backup = |call: &&Call| {
                    let names = call.parts(['"', '"']);
                    call.is("linkat") && call.parts(['<', '>'])[0] == into && names[0] == name
                };
                if let Some(backup) = calls.iter().find(is_backup) {
                    assert!(
                        is_synced(into, backup.ended, rename.begun),
                        "{}: {name}.orig",
                        mode.line
                    );
                }
                // The old file of the message, or the lock of the mailbox.
                let unique = |name: &str| name.split([',', ':']).next().unwrap().to_owned();
                for removed in calls.iter().filter(|call| call.is("unlinkat")) {
                    let [folder, old] =
                        [removed.parts(['<', '>'])[0], removed.parts(['"', '"'])[0]];
                    let is_of_it = unique(old) == unique(name) || old == format!("{name}.lock");
                    if folder == into && is_of_it && removed.begun > rename.ended {
                        assert!(
                            is_synced(into, rename.ended, removed.begun),
                            "{}: {old}",
                            mode.line
                        );
                    }
                }
            }
            let waits = waited > 0 || mode.line.contains(" -o out");
            assert!(waits, "{}: nothing was waited for", mode.line);
        }
    });
}

/// The mailbox is new, but a crash of the machine could restore the old one.
#[test]
fn a_folder_that_cannot_be_synced_is_reported() {
    if !outside::has_strace() {
        return;
    }
    let mode = MODES
        .iter()
        .find(|mode| mode.line == "rewrite -q -j 1 -i all.mbox")
        .unwrap();
    let scene = tempfile::tempdir().unwrap();
    mode.set(scene.path(), &(mode.before)(1));
    // The first call syncs the contents.
    let inject = "inject=fsync:error=EIO:when=2";
    let (output, _) = traced(mode, scene.path(), &["-e", "trace=fsync", "-e", inject]);
    let reported = String::from_utf8(output.stderr).unwrap();
    let why = "was written, but its folder could not be synced: Input/output error (os error 5)";
    assert_eq!(reported, format!("error: all.mbox {why}\n"));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(files(scene.path()), mode.after(1));
}

/// A mailbox is not replaced if a message was delivered after the program read the mailbox.
#[test]
fn a_delivery_to_a_mailbox_is_noticed() {
    if !outside::has_strace() {
        return;
    }
    let mode = MODES
        .iter()
        .find(|mode| mode.line == "rewrite -q -j 1 -i all.mbox")
        .unwrap();
    let scene = tempfile::tempdir().unwrap();
    let (here, before) = (scene.path(), (mode.before)(FEW));
    mode.set(here, &before);
    let log = tempfile::NamedTempFile::new().unwrap();
    // Stops the program when the new bytes are on disk.
    let stop = "inject=fsync:signal=SIGSTOP:when=1";
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-o"])
        .arg(log.path())
        .args(["-e", "trace=fsync", "-e", stop]);
    strace
        .env_remove("LD_LIBRARY_PATH")
        .arg(env!("CARGO_BIN_EXE_baselink"));
    in_scene(&mut strace, here, mode.line);
    let run = strace
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stopped = (0..12_000).find_map(|_| {
        thread::sleep(Duration::from_millis(5));
        let log = fs::read_to_string(log.path()).unwrap();
        let line = log
            .lines()
            .find(|line| line.contains("stopped by SIGSTOP"))?;
        line.split_whitespace()
            .next()?
            .parse()
            .ok()
            .and_then(Pid::from_raw)
    });
    let mailbox = here.join("all.mbox");
    let message =
        "From c@d.example Thu Jan  1 00:00:00 2026\nContent-Type: text/html\n\n<a href=/new>\n\n";
    OpenOptions::new()
        .append(true)
        .open(&mailbox)
        .unwrap()
        .write_all(message.as_bytes())
        .unwrap();
    kill_process(stopped.unwrap(), Signal::CONT).unwrap();
    let output = run.wait_with_output().unwrap();
    let reported = String::from_utf8(output.stderr).unwrap();
    let why = "another program changed it meanwhile, so it was not replaced";
    assert_eq!(reported, format!("error: all.mbox: {why}\n"));
    assert_eq!(output.status.code(), Some(2));
    let with_message = format!("{}{message}", before[Path::new("all.mbox")]);
    assert_eq!(fs::read_to_string(&mailbox).unwrap(), with_message);
    assert!(mode.program(here).status().unwrap().success());
    let absolute = with_message.replace("href=/", "href=http://a.example/");
    assert_eq!(files(here), Scene::from([("all.mbox".into(), absolute)]));
}

/// A folder cannot be listed at first, but can be later. Its files do not count as missing: no link to them becomes
/// absolute.
#[test]
fn an_unreadable_folder_is_not_mirrored() {
    if !outside::has_strace() {
        return;
    }
    let mode = MODES
        .iter()
        .find(|mode| mode.line == "localize -q w -o out")
        .unwrap();
    let scene = tempfile::tempdir().unwrap();
    let before = (mode.before)(FEW);
    mode.set(scene.path(), &before);
    let (_, trace) = traced(mode, scene.path(), &["-e", "trace=openat"]);
    let opened: Vec<_> = trace
        .iter()
        .filter_map(|line| thread_and_call(line))
        .collect();
    let (main, ..) = opened[0];
    let of_main = opened.iter().filter(|(thread, ..)| *thread == main);
    let is_listed = |call: &str| call.contains("\"w\", O_RDONLY|O_NONBLOCK");
    // The folder is listed for what its pages say of its URL, and last for its files.
    let listings = of_main
        .enumerate()
        .filter(|(_, (_, _, call))| is_listed(call));
    let number = listings.last().unwrap().0 + 1;
    mode.set(scene.path(), &before);
    let inject = format!("inject=openat:error=EIO:when={number}");
    let (output, _) = traced(mode, scene.path(), &["-e", "trace=openat", "-e", &inject]);
    let reported = String::from_utf8(output.stderr).unwrap();
    assert_eq!(reported, "error: w: Input/output error (os error 5)\n");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(files(scene.path()), before);
}
