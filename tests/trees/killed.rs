//! The program is killed at random moments, meets a full disk, runs while another process inserts symbolic links, and
//! runs next to another run. Every file is old or new, and the next run completes the work.
//!
//! Every mode of `tests/trees/modes.rs` is killed at random; `tests/trees/failing.rs` kills it at each call.
//! `BASELINK_KILLS` sets the number of kills for each mode, by default two. `--nocapture` shows the counts.
//!
//! Deliberately absent: power failures, which need a separate machine.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::modes::{
    FILES, HOST, MODES, Mode, Scene, Seen, as_text, backup, baselink, files, is_temporary, look,
    name, page, put, remove_leftovers, set, twin, with_each, without_digests,
};

fn old(number: usize) -> String {
    page(number, "")
}

fn new(number: usize) -> String {
    page(number, HOST)
}

/// The pages below `folder`.
fn pages(folder: &str, page: impl Fn(usize) -> String) -> Scene {
    (0..FILES)
        .map(|number| (Path::new(folder).join(name(number)), page(number)))
        .collect()
}

fn times() -> usize {
    std::env::var("BASELINK_KILLS").map_or(2, |times| times.parse().unwrap())
}

/// Kills the program repeatedly, each time starting from the original files, and checks the result. After some kills,
/// and whenever a temporary file is left, the same command completes the work.
fn kill(mode: &Mode) {
    let (before, after) = ((mode.before)(mode.many), mode.after(mode.many));
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let (mut kills, mut between, mut seen) = (0, 0, Seen::default());
    mode.set(here, &before);
    let begun = Instant::now();
    assert!(
        mode.program(here).output().unwrap().status.success(),
        "{}",
        mode.line
    );
    // The maximum delay before the kill, in microseconds: about the duration of a run.
    let mut within = u64::try_from(begun.elapsed().as_micros())
        .unwrap()
        .max(2_000);
    let mut ended = 0;
    let mut chance = 1_u64;
    while kills < times() {
        assert!(
            ended < 5 * times() + 50,
            "{} ends before it can be killed",
            mode.line
        );
        mode.set(here, &before);
        let mut child = mode.program(here);
        child.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        // The constants of Knuth's MMIX.
        chance = chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        // The first third of a run is reading.
        thread::sleep(Duration::from_micros(
            within / 3 + (chance >> 20) % (within * 2 / 3),
        ));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let is_killed = output.status.code().is_none();
        assert!(
            is_killed || output.status.success(),
            "{}: {output:?}",
            mode.line
        );
        within = if is_killed {
            within + within / 16
        } else {
            within - within / 8
        };
        ended += usize::from(!is_killed);
        let found = look(&before, &after, &files(here));
        let found = found.unwrap_or_else(|what| panic!("{}: {what}", mode.line));
        if is_killed {
            kills += 1;
            between += usize::from(found.old > 0 && found.new > 0);
            seen.old += found.old;
            seen.new += found.new;
            seen.temporary += found.temporary;
            if kills % 3 > 0 && found.temporary == 0 {
                continue;
            }
            remove_leftovers(here);
            let output = mode.program(here).output().unwrap();
            assert!(output.status.success(), "{}: {output:?}", mode.line);
        }
        let found = files(here);
        assert!(found == after, "{}: {:?}", mode.line, found.keys());
    }
    let Seen {
        old,
        new,
        temporary,
    } = seen;
    println!(
        "{}: {kills} kills, {between} between; files: {old} old, {new} new, {temporary} temporary",
        mode.line
    );
}

/// Tries every mode of writing.
#[test]
fn every_file_is_old_or_new() {
    with_each(kill);
}

/// A file exists at every moment of its replacement, and readers get the old bytes or the new ones.
#[test]
fn a_reader_sees_only_complete_files() {
    with_each(|mode| {
        let (before, after) = ((mode.before)(40), mode.after(40));
        let scene = tempfile::tempdir().unwrap();
        let here = scene.path();
        for _ in 0..times().min(3) {
            mode.set(here, &before);
            let is_done = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_done.load(Ordering::Relaxed) {
                        read_all(here, &before, &after);
                    }
                });
                let output = mode.program(here).output().unwrap();
                is_done.store(true, Ordering::Relaxed);
                assert!(output.status.success(), "{}: {output:?}", mode.line);
            });
        }
    });
}

/// Reads the files that change, one by one.
fn read_all(here: &Path, before: &Scene, after: &Scene) {
    let read = |path: &Path| {
        let text = fs::read(here.join(path)).ok().map(as_text);
        text.map(|text| without_digests(&text))
    };
    let after: &Scene = &after
        .iter()
        .map(|(path, text)| (path.clone(), without_digests(text)))
        .collect();
    for (path, old) in before
        .iter()
        .filter(|(path, old)| after.get(*path) != Some(old))
    {
        let current = read(path);
        match (after.get(path), current) {
            (new, Some(current)) => {
                assert!(
                    current == *old || new == Some(&current),
                    "{}",
                    path.display()
                )
            }
            (Some(_), None) => panic!("{} is not there", path.display()),
            // The new file of a message exists before the old one is removed.
            (None, None) => {
                let (twin, new) = twin(path, after);
                assert!(
                    read(twin).as_ref() == Some(new),
                    "{} is lost",
                    path.display()
                );
            }
        }
    }
    for (path, new) in after.iter().filter(|(path, _)| !before.contains_key(*path)) {
        assert!(
            read(path).is_none_or(|current| current == *new),
            "{} is half written",
            path.display()
        );
    }
}

/// A message that is delivered to a Maildir during a run (maildir(5): written in `tmp`, renamed to `new`) is kept.
#[test]
fn a_delivery_to_a_maildir_is_not_lost() {
    let mode = MODES
        .iter()
        .find(|mode| mode.line == "rewrite -q -i mail")
        .unwrap();
    let (before, after) = ((mode.before)(40), mode.after(40));
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let text = |n: usize, host: &str| {
        format!("Subject: {n}\nContent-Type: text/html\n\n<a href={host}/{n}>\n")
    };
    let mut delivered = 0;
    for _ in 0..times() {
        mode.set(here, &before);
        let is_done = AtomicBool::new(false);
        let number = thread::scope(|scope| {
            let delivery = scope.spawn(|| {
                let mut number = 0;
                while !is_done.load(Ordering::Relaxed) {
                    let written = here.join(format!("mail/tmp/delivered{number}"));
                    put(&written, &text(number, ""));
                    let name = format!("mail/new/delivered{number}.host");
                    fs::rename(written, here.join(name)).unwrap();
                    number += 1;
                }
                number
            });
            let output = mode.program(here).output().unwrap();
            is_done.store(true, Ordering::Relaxed);
            assert!(output.status.success(), "{output:?}");
            delivery.join().unwrap()
        });
        let mut found = files(here);
        for n in 0..number {
            let current = found
                .remove(Path::new(&format!("mail/new/delivered{n}.host")))
                .unwrap();
            assert!([text(n, ""), text(n, HOST)].contains(&current), "{current}");
        }
        assert!(found == after, "{:?}", found.keys());
        delivered += number;
    }
    assert!(delivered > 0);
}

/// Runs the program in `here/disk`, a small file system that the script `prepare` fills. It has room for the old
/// pages, which take 1.66 MB in blocks of 4 KiB, but not for the 2.06 MB of the new ones. In the end, its files are
/// copied to `here/after`. `None` if no file system can be mounted.
fn on_a_small_disk(here: &Path, prepare: &str, line: &str) -> Option<Output> {
    fs::create_dir(here.join("disk")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=1850k none disk || exit 99; cd disk && {prepare} && \
         \"$0\" {line} -u http://a.example/; status=$?; cp -r . ../after; exit $status"
    );
    let output = Command::new("unshare")
        .args(["-rm", "sh", "-c", &script, env!("CARGO_BIN_EXE_baselink")])
        .current_dir(here)
        .output();
    match output {
        Ok(output) if here.join("after").is_dir() => Some(output),
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr);
            eprintln!("notice: no file system could be made, so no full one was tested: {why}");
            None
        }
        Err(error) => {
            eprintln!("notice: no file system could be made, so no full one was tested: {error}");
            None
        }
    }
}

/// Checks that each line of standard error reports a full disk, and returns the number of lines.
fn lines_of_a_full_disk(output: &Output) -> usize {
    assert_eq!(output.status.code(), Some(2));
    let reported = String::from_utf8_lossy(&output.stderr);
    for line in reported.lines() {
        let is_of_a_file = line.starts_with("error: ") && line.contains(" was not written: ");
        assert!(
            is_of_a_file && line.ends_with(": No space left on device (os error 28)"),
            "{line}"
        );
    }
    reported.lines().count()
}

#[test]
fn a_full_disk_leaves_files_old_or_new() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    set(here, &pages("w", old));
    for (line, place) in [
        ("rewrite -q -i w", "w"),
        ("rewrite -q -i --backup .orig w", "w"),
        ("rewrite -q w -o out", "out"),
    ] {
        let _ = fs::remove_dir_all(here.join("after"));
        let _ = fs::remove_dir(here.join("disk"));
        let Some(output) = on_a_small_disk(here, "cp -r ../w .", line) else {
            return;
        };
        let failed = lines_of_a_full_disk(&output);
        let after = here.join("after");
        let (before, mut expected) = (pages("w", old), pages("w", old));
        expected.extend(pages(place, new));
        let mut found = files(&after);
        if line.contains("--backup") {
            for number in 0..FILES {
                let page = Path::new("w").join(name(number));
                let kept = found.remove(&backup(&page)) == Some(old(number));
                assert!(
                    kept || found[&page] == old(number),
                    "{number} has no backup"
                );
            }
        }
        let seen = look(&before, &expected, &found).unwrap();
        println!("{line}: {seen:?}");
        let expected_counts = Seen {
            old: failed,
            new: FILES - failed,
            temporary: 0,
        };
        assert_eq!(seen, expected_counts, "{line}: one sentence for each");
        assert!(failed > 0, "{line}: there was room for all");
    }
}

/// A disk that is full for one file of an archive is full for the next.
#[test]
fn a_full_disk_ends_a_folder_of_archives_with_one_error() {
    let mode = MODES
        .iter()
        .find(|mode| mode.line == "localize -q w/0.warc w/1.warc -o out");
    let (before, expected) = ((mode.unwrap().before)(FILES), mode.unwrap().after(FILES));
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    set(here, &before);
    let line = "localize -q ../w/0.warc ../w/1.warc -o out";
    let Some(output) = on_a_small_disk(here, "true", line) else {
        return;
    };
    assert_eq!(lines_of_a_full_disk(&output), 1, "{output:?}");
    let found = files(&here.join("after"));
    let seen = look(&Scene::new(), &files_below(&expected, "out"), &found).unwrap();
    assert!(
        seen.new > 0 && seen.old > 0 && seen.temporary == 0,
        "{seen:?}"
    );
}

/// The files of `scene` in one of its folders.
fn files_below(scene: &Scene, folder: &str) -> Scene {
    let is_below = |(path, _): &(&PathBuf, &String)| path.starts_with(folder);
    scene
        .iter()
        .filter(is_below)
        .map(|(path, text)| (path.clone(), text.clone()))
        .collect()
}

/// Another process swaps files and folders of the tree for links to an outside folder while the program runs.
#[test]
fn nothing_is_written_through_links_created_meanwhile() {
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let outside = here.join("outside");
    for number in 0..FILES {
        put(&outside.join(format!("{number}.html")), "<a href=/outside>");
    }
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !is_done.load(Ordering::Relaxed) {
                number = (number + 7) % FILES;
                let (page, kept) = (here.join(format!("w/sub/{number}.html")), here.join("kept"));
                // Each step may fail, because the program and its scene change concurrently.
                if fs::rename(&page, &kept).is_ok() {
                    let _ = symlink(outside.join(format!("{number}.html")), &page);
                    thread::yield_now();
                    let _ = fs::rename(&kept, &page);
                }
                let (folder, kept) = (here.join("w/sub"), here.join("sub"));
                if number % 16 == 0 && fs::rename(&folder, &kept).is_ok() {
                    let _ = symlink(&outside, &folder);
                    thread::yield_now();
                    let _ = fs::remove_file(&folder);
                    let _ = fs::rename(&kept, &folder);
                }
            }
        });
        for _ in 0..6 {
            for number in 0..FILES {
                let page = here.join("w/sub").join(format!("{number}.html"));
                let _ = fs::create_dir_all(here.join("w/sub"));
                // Renaming does not write through a link.
                let new = here.join(format!("{number}.made"));
                put(&new, &old(number));
                let _ = fs::rename(new, page);
            }
            let output = baselink(here, "rewrite -q -j 4 -i w").output().unwrap();
            assert!(matches!(output.status.code(), Some(0 | 2)));
        }
        is_done.store(true, Ordering::Relaxed);
    });
    let found = files(&outside);
    for number in 0..FILES {
        let page = &found[Path::new(&format!("{number}.html"))];
        assert!(
            matches!(&**page, "<a href=/outside>") || *page == old(number),
            "{number}: {page}"
        );
    }
}

/// Swaps the entries at `one` and `other` atomically (`RENAME_EXCHANGE` of renameat2(2)).
#[cfg(target_os = "linux")]
fn swap(one: &Path, other: &Path) {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

/// Calls `run` while `one` and `other` are swapped again and again.
#[cfg(target_os = "linux")]
fn while_swapped<T>(one: &Path, other: &Path, run: impl FnOnce() -> T) -> T {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // The number of swaps is even, so that each gets its own name back.
            for number in 0_u64.. {
                if number % 2 == 0 && is_done.load(Ordering::Relaxed) {
                    break;
                }
                swap(one, other);
                for _ in 0..number.wrapping_mul(6_364_136_223_846_793_005) >> 48 {
                    std::hint::spin_loop();
                }
            }
        });
        let done = run();
        is_done.store(true, Ordering::Relaxed);
        done
    })
}

/// The output of a run, which must not hang.
#[cfg(target_os = "linux")]
fn output_in_time(mut command: Command) -> Output {
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stderr.take().unwrap();
    let stderr = thread::spawn(move || {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut pipe, &mut bytes).map(|_| bytes)
    });
    for _ in 0..12_000 {
        if let Some(status) = child.try_wait().unwrap() {
            let stderr = stderr.join().unwrap().unwrap();
            return Output {
                status,
                stdout: Vec::new(),
                stderr,
            };
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    panic!("it hangs: {command:?}");
}

/// A user with write access to a folder replaces it by a symbolic link while files are written in it.
#[test]
#[cfg(target_os = "linux")]
fn nothing_outside_is_written_while_a_folder_is_swapped_for_a_link() {
    const PAGES: usize = 40;
    let times = times();
    let page = |number: usize| format!("<p>{number}<a href=/x>");
    let absolute = |number: usize| format!("<p>{number}<a href=http://a.example/sub/1.html>");
    let mail = |number: usize| format!("Subject: {number}\nContent-Type: text/html\n\n<a href=/x>");
    let scene = |folder: &str, page: &dyn Fn(usize) -> String, kind: &str| -> Scene {
        let path = |number: usize| Path::new(folder).join(format!("{number}{kind}"));
        (0..PAGES)
            .map(|number| (path(number), page(number)))
            .collect()
    };
    let w = scene("w/sub", &page, ".html");
    let w_and_out = w
        .clone()
        .into_iter()
        .chain(scene("out/sub", &page, ".html"))
        .collect();
    let mails: Scene = scene("mail/cur", &mail, ".host:2,S")
        .into_iter()
        .chain([
            ("mail/new/x".into(), mail(0)),
            ("mail/tmp/x".into(), mail(0)),
        ])
        .collect();
    let mut written = 0;
    for (line, folder, scene, kind) in [
        ("rewrite -q -j 2 -i w", "w/sub", &w, ".html"),
        ("rewrite -q -j 2 -i w --backup .orig", "w/sub", &w, ".html"),
        (
            "localize -q w -i",
            "w/sub",
            &scene("w/sub", &absolute, ".html"),
            ".html",
        ),
        ("rewrite -q -j 2 w -o out", "out/sub", &w_and_out, ".html"),
        ("rewrite -q -j 2 w -o out", "out/sub", &w_and_out, ".other"),
        ("rewrite -q -j 2 w -o out", "out", &w_and_out, ".html"),
        ("localize -q w -o out", "out/sub", &w_and_out, ".html"),
        ("rewrite -q -j 2 -i mail", "mail/cur", &mails, ".host:2,S"),
        ("rewrite -q -j 2 -i mail", "mail/tmp", &mails, ".host:2,S"),
    ] {
        let scenes = tempfile::tempdir().unwrap();
        let here = scenes.path();
        let outside: Scene = scene
            .values()
            .take(PAGES)
            .enumerate()
            .map(|(number, bytes)| (format!("{number}{kind}").into(), bytes.clone()))
            .collect();
        set(&here.join("outside"), &outside);
        let link = here.join("link");
        symlink(here.join("outside"), &link).unwrap();
        for _ in 0..times {
            for folder in ["w", "out", "mail"] {
                let _ = fs::remove_dir_all(here.join(folder));
            }
            for (path, bytes) in scene {
                put(&here.join(path), bytes);
            }
            let run = || output_in_time(baselink(here, line));
            let output = while_swapped(&here.join(folder), &link, run);
            let reported = String::from_utf8_lossy(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(0..=2)),
                "{line}: {reported}"
            );
            assert!(!reported.contains("panic"), "{line}: {reported}");
            assert!(
                files(&here.join("outside")) == outside,
                "{line}: {reported}"
            );
            assert_eq!(fs::read_link(&link).unwrap(), here.join("outside"));
            for (path, bytes) in ["w", "out", "mail"]
                .iter()
                .flat_map(|folder| files(&here.join(folder)))
            {
                assert!(!is_temporary(&path), "{line}: {} is left", path.display());
                written += usize::from(bytes.contains("http://a.example/x"));
            }
        }
    }
    assert!(written > 0, "nothing was written at all");
}

/// A pipe in place of a file does not block the program.
#[test]
#[cfg(target_os = "linux")]
fn a_file_swapped_for_a_pipe_does_not_block() {
    let times = times();
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let pipe = here.join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for line in [
        "rewrite -q -i w",
        "rewrite -q w -o out",
        "links -q w",
        "base -q w",
        "check -q w --deny none",
        "rewrite -q -i w/0.html",
    ] {
        for _ in 0..times {
            let _ = fs::remove_dir_all(here.join("out"));
            for number in 0..20 {
                put(&here.join(format!("w/{number}.html")), "<a href=/x>");
            }
            let run = || output_in_time(baselink(here, line));
            let output = while_swapped(&here.join("w/0.html"), &pipe, run);
            let reported = String::from_utf8_lossy(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(0..=2)),
                "{line}: {reported}"
            );
            for error in reported.lines().filter(|line| line.starts_with("error: ")) {
                let sentences = [
                    "another program replaced it; skipped",
                    "another program changed it meanwhile, so it was not replaced",
                    "not a regular file; skipped",
                    "not a regular file",
                ];
                assert!(
                    sentences.iter().any(|sentence| error.ends_with(sentence)),
                    "{line}: {error}"
                );
            }
        }
    }
}

/// Errors that one of two runs may report about a file that the other has changed.
const OF_ANOTHER_RUN: [&str; 5] = [
    "another program changed it meanwhile, so it was not replaced",
    "another program created a file with this name, or with a name that this file system treats as \
     the same; that file was kept",
    "it changed while it was read, and its result was discarded",
    "it was changed while it was checked",
    // A message that the other run renamed.
    ": no such file",
];

/// Of two runs on one tree, neither removes a file that the other is writing.
#[test]
fn two_concurrent_runs_rewrite_a_tree_once() {
    with_each(|mode| {
        let (before, after) = ((mode.before)(40), mode.after(40));
        let scene = tempfile::tempdir().unwrap();
        let here = scene.path();
        for _ in 0..times().min(3) {
            mode.set(here, &before);
            let run = || {
                mode.program(here)
                    .stderr(Stdio::piped())
                    .stdout(Stdio::null())
                    .spawn()
            };
            let mut all_succeeded = true;
            for run in [run(), run()] {
                let output = run.unwrap().wait_with_output().unwrap();
                let reported = String::from_utf8_lossy(&output.stderr);
                assert!(
                    matches!(output.status.code(), Some(0 | 2)),
                    "{}: {reported}",
                    mode.line
                );
                all_succeeded &= output.status.success();
                for error in reported.lines() {
                    let is_known = OF_ANOTHER_RUN
                        .iter()
                        .any(|sentence| error.ends_with(sentence));
                    assert!(is_known, "{}: {error}", mode.line);
                }
            }
            let found = files(here);
            let seen = look(&before, &after, &found).unwrap();
            assert_eq!(seen.temporary, 0, "{}: something is left", mode.line);
            assert!(
                !all_succeeded || found == after,
                "{}: not all is new, without a word",
                mode.line
            );
            assert!(
                mode.program(here).output().unwrap().status.success(),
                "{}",
                mode.line
            );
            assert!(
                files(here) == after,
                "{}: not all is new after a third run",
                mode.line
            );
        }
    });
}
