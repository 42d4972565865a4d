//! The program killed at random moments, on a full disk, and while somebody puts links in its way: every
//! file is old or new, and what is made of archives is there whole or not at all.
//!
//! The trees are made when the tests run. `BASELINK_KILLS` says how often each command is killed; 6
//! times without it. What is counted is shown by `--nocapture`.
//!
//! Deliberately absent: the moments between two steps of a replacement, one by one; `tests/tree_write.rs`
//! builds what each leaves. Power cuts: they need a machine of their own.
#![cfg(feature = "cli")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

fn baselink(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    command.current_dir(folder).stdin(Stdio::null());
    command.args(line.split(' ')).args(["-u", "http://a.example/"]);
    // So that archives that are written are the same each time.
    command.env("SOURCE_DATE_EPOCH", "1700000000");
    command
}

fn put(path: &Path, bytes: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Every file below `folder` with its bytes. A link is a file with its target.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let Ok(entries) = fs::read_dir(next) else { continue };
        for entry in entries {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = path.strip_prefix(folder).unwrap().to_owned();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                found.insert(name, format!("to {}", target.display()));
            } else {
                let bytes = fs::read(&path).unwrap();
                // Archives are no text.
                let text = String::from_utf8(bytes);
                let text = text
                    .unwrap_or_else(|no| no.as_bytes().iter().copied().map(char::from).collect());
                found.insert(name, text);
            }
        }
    }
    found
}

fn is_temporary(path: &Path) -> bool {
    path.file_name().unwrap().to_str().unwrap().starts_with(".baselink-")
}

/// A run that was killed leaves temporary files; the next over the same folder takes them away.
fn nothing_is_left(there: &BTreeMap<PathBuf, String>) {
    assert!(!there.keys().any(|path| is_temporary(path)), "{:?}", there.keys());
}

/// More files than are given their names at once (256), most of them small.
const FILES: usize = 300;

/// Page `number`, whose links begin with `host`.
fn page(number: usize, host: &str) -> String {
    let links = match number % 100 {
        0 => 8_000,
        some => 1 + some % 7,
    };
    let links = (0..links).map(|link| format!("<a href={host}/{number}/{link}>\n"));
    format!("<p>{number}\n{}</html>\n", links.collect::<String>())
}

fn old(number: usize) -> String {
    page(number, "")
}

fn new(number: usize) -> String {
    page(number, "http://a.example")
}

fn name(number: usize) -> PathBuf {
    format!("{}/{}/{number}.html", number % 5, number % 3).into()
}

/// The pages below `folder`.
fn pages(folder: &str, page: impl Fn(usize) -> String) -> Scene {
    (0..FILES).map(|number| (Path::new(folder).join(name(number)), page(number))).collect()
}

/// Files with their bytes.
type Scene = BTreeMap<PathBuf, String>;

/// Makes `folder` hold the files of `scene` and no other. What is right already stays.
fn set(folder: &Path, scene: &Scene) {
    let there = files(folder);
    for (path, bytes) in &there {
        if scene.get(path) != Some(bytes) {
            fs::remove_file(folder.join(path)).unwrap();
        }
    }
    for (path, bytes) in scene {
        if there.get(path) != Some(bytes) {
            put(&folder.join(path), bytes);
        }
    }
}

/// What was seen after the kills.
#[derive(Default, Debug)]
struct Seen {
    kills: usize,
    /// After which some files were new, and others old.
    between: usize,
    old: usize,
    new: usize,
    temporary: usize,
}

/// Kills the program again and again, each time in `scene`, and looks at what is there; after some kills
/// the same command does the rest.
fn kill(line: &str, scene: &Scene, check: impl Fn(&Path, &mut Seen), finished: impl Fn(&Path)) {
    let times = std::env::var("BASELINK_KILLS").map_or(6, |times| times.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let mut seen = Seen::default();
    // Microseconds within which a kill comes: about as many as a run takes, which is found out.
    let (mut within, mut ended) = (50_000_u64, 0);
    let mut chance = 1_u64;
    while seen.kills < times {
        assert!(ended < 5 * times + 50, "it ends before it can be killed: {seen:?}");
        set(here, scene);
        let mut child = baselink(here, line);
        child.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        // Knuth's MMIX.
        chance =
            chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The first third of a run is reading.
        thread::sleep(Duration::from_micros(within / 3 + (chance >> 20) % (within * 2 / 3)));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            None => {
                within += if ended == 0 { within / 2 } else { within / 8 };
                if ended == 0 {
                    continue;
                }
                seen.kills += 1;
                let before = (seen.old, seen.new);
                check(here, &mut seen);
                seen.between += usize::from(seen.old > before.0 && seen.new > before.1);
                if seen.kills % 3 == 0 {
                    let output = baselink(here, line).output().unwrap();
                    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                    finished(here);
                }
            }
            Some(status) => {
                assert_eq!(status, 0, "{}", String::from_utf8_lossy(&output.stderr));
                ended += 1;
                within -= within / 4;
                finished(here);
            }
        }
    }
    println!("{line}: {seen:?}");
}

/// Takes in that `bytes` are those of page `number` of old or of new.
fn is_old_or_new(number: usize, bytes: &str, seen: &mut Seen) {
    match bytes {
        bytes if bytes == old(number) => seen.old += 1,
        bytes if bytes == new(number) => seen.new += 1,
        bytes => panic!("page {number} is neither old nor new, but {} bytes", bytes.len()),
    }
}

#[test]
fn files_in_place_are_old_or_new() {
    for jobs in ["1", "4"] {
        kill(
            &format!("rewrite -q -j {jobs} -i w"),
            &pages("w", old),
            |here, seen| {
                let mut there = files(&here.join("w"));
                for number in 0..FILES {
                    is_old_or_new(number, &there.remove(&name(number)).unwrap(), seen);
                }
                assert!(there.keys().all(|path| is_temporary(path)), "{:?}", there.keys());
                seen.temporary += there.len();
            },
            |here| {
                let there = files(&here.join("w"));
                assert!((0..FILES).all(|number| there[&name(number)] == new(number)));
                nothing_is_left(&there);
            },
        );
    }
}

fn backup(number: usize) -> PathBuf {
    let mut path = name(number).into_os_string();
    path.push(".orig");
    path.into()
}

#[test]
fn no_backup_is_lost() {
    kill(
        "rewrite -q -j 2 -i w --backup .orig",
        &pages("w", old),
        |here, seen| {
            let mut there = files(&here.join("w"));
            for number in 0..FILES {
                let page = there.remove(&name(number)).unwrap();
                is_old_or_new(number, &page, seen);
                match there.remove(&backup(number)) {
                    Some(backup) => assert!(backup == old(number), "the backup of {number}"),
                    None => assert!(page == old(number), "{number} has no backup"),
                }
            }
            assert!(there.keys().all(|path| is_temporary(path)), "{:?}", there.keys());
            seen.temporary += there.len();
        },
        |here| {
            let there = files(&here.join("w"));
            for number in 0..FILES {
                assert!(there[&name(number)] == new(number), "{number}");
                assert!(there[&backup(number)] == old(number), "the backup of {number}");
            }
            nothing_is_left(&there);
        },
    );
}

#[test]
fn what_is_written_to_a_folder_is_there_or_not_and_what_is_read_stays() {
    let is_as_it_was = |here: &Path| {
        let there = files(&here.join("w"));
        assert!(there.len() == FILES + 1 && there[Path::new("logo.png")] == "a picture");
        assert!((0..FILES).all(|number| there[&name(number)] == old(number)));
    };
    let mut scene = pages("w", old);
    scene.insert("w/logo.png".into(), "a picture".to_owned());
    kill(
        "rewrite -q -j 2 w -o out",
        &scene,
        |here, seen| {
            is_as_it_was(here);
            let mut there = files(&here.join("out"));
            for number in 0..FILES {
                match there.remove(&name(number)) {
                    Some(page) => {
                        assert!(page == new(number), "page {number} is half written");
                        seen.new += 1;
                    }
                    None => seen.old += 1,
                }
            }
            let copy = there.remove(Path::new("logo.png"));
            assert!(copy.is_none_or(|bytes| bytes == "a picture"));
            assert!(there.keys().all(|path| is_temporary(path)), "{:?}", there.keys());
            seen.temporary += there.len();
        },
        |here| {
            is_as_it_was(here);
            let there = files(&here.join("out"));
            assert!((0..FILES).all(|number| there[&name(number)] == new(number)));
            nothing_is_left(&there);
        },
    );
}

#[test]
fn what_an_earlier_run_wrote_is_old_or_new() {
    let mut scene = pages("w", old);
    scene.extend(pages("out", old));
    kill(
        "rewrite -q -j 2 w -o out",
        &scene,
        |here, seen| {
            let mut there = files(&here.join("out"));
            for number in 0..FILES {
                is_old_or_new(number, &there.remove(&name(number)).unwrap(), seen);
            }
            assert!(there.keys().all(|path| is_temporary(path)), "{:?}", there.keys());
            seen.temporary += there.len();
        },
        |here| {
            let there = files(&here.join("out"));
            assert!((0..FILES).all(|number| there[&name(number)] == new(number)));
            nothing_is_left(&there);
        },
    );
}

/// Message `number`, and its name with the sizes that it has: some have none in their names.
fn message(number: usize, page: impl Fn(usize) -> String) -> (PathBuf, String) {
    let text = format!("Subject: {number}\nContent-Type: text/html\n\n{}", page(number));
    let lines = text.matches('\n').count();
    let sizes = match number % 3 {
        0 => String::new(),
        1 => format!(",S={}", text.len()),
        _ => format!(",S={},W={}", text.len(), text.len() + lines),
    };
    let path = match number % 2 {
        0 => format!("cur/{number}.host{sizes}:2,FS"),
        _ => format!("new/{number}.host{sizes}"),
    };
    (path.into(), text)
}

#[test]
fn messages_are_old_or_new_or_both() {
    let messages = (0..FILES).map(|number| message(number, old));
    let mut scene: Scene =
        messages.map(|(path, text)| (Path::new("mail").join(path), text)).collect();
    // It has to be there, and what a delivery wrote in it is left.
    scene.insert("mail/tmp/under-way".into(), "Subject: x".to_owned());
    kill(
        "rewrite -q -j 2 -i mail",
        &scene,
        |here, seen| {
            let mut there = files(&here.join("mail"));
            for number in 0..FILES {
                let ((old_path, old), (new_path, new)) =
                    (message(number, old), message(number, new));
                let found = (there.remove(&old_path), there.remove(&new_path));
                match found {
                    // Of those without sizes the name stays.
                    (Some(one), None) if one == old => seen.old += 1,
                    (Some(one), None) if one == new && old_path == new_path => seen.new += 1,
                    (None, Some(one)) if one == new => seen.new += 1,
                    (Some(one), Some(two)) if one == old && two == new => {
                        seen.old += 1;
                        seen.new += 1;
                    }
                    _ => panic!("message {number} is lost, or half written"),
                }
            }
            assert!(there.remove(Path::new("tmp/under-way")).is_some());
            let is_left = |path: &PathBuf| path.starts_with("tmp") && is_temporary(path);
            assert!(there.keys().all(is_left), "{:?}", there.keys());
            seen.temporary += there.len();
        },
        |here| {
            let mut there = files(&here.join("mail"));
            for number in 0..FILES {
                let (path, text) = message(number, new);
                assert!(there.remove(&path) == Some(text), "message {number}");
            }
            assert!(there.keys().eq([Path::new("tmp/under-way")]), "{:?}", there.keys());
        },
    );
}

/// An archive with so many responses, of which some are large.
fn archive(number: usize, pages: usize) -> String {
    let record = |page: usize| {
        let body = self::page(page, "");
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
        format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}-{page}>\r\n\
             WARC-Target-URI: http://{number}.example/{page}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    (0..pages).map(record).collect()
}

/// Kills what makes files below `out` of `scene`: each is there as a run makes it that nobody disturbs, or not at all.
fn kill_what_makes(line: &str, scene: &Scene, files_of_all: usize) {
    let undisturbed = tempfile::tempdir().unwrap();
    set(undisturbed.path(), scene);
    assert!(baselink(undisturbed.path(), line).status().unwrap().success());
    let made = |here: &Path| {
        let mut there = files(here);
        assert!(scene.iter().all(|(path, bytes)| there.remove(path).as_ref() == Some(bytes)));
        there
    };
    let all = made(undisturbed.path());
    assert_eq!(all.len(), files_of_all);
    kill(
        line,
        scene,
        |here, seen| {
            let mut there = made(here);
            for (path, bytes) in &all {
                match there.remove(path) {
                    Some(found) => {
                        assert!(found == *bytes, "{} is half written", path.display());
                        seen.new += 1;
                    }
                    None => seen.old += 1,
                }
            }
            assert!(there.keys().all(|path| is_temporary(path)), "{:?}", there.keys());
            seen.temporary += there.len();
        },
        |here| {
            let mut there = made(here);
            there.retain(|path, _| !is_temporary(path));
            assert!(there == all);
        },
    );
}

#[test]
fn results_of_archives_are_whole_and_made_once() {
    let archives = (0..20).map(|number| (format!("w/{number}.warc").into(), archive(number, 101)));
    for jobs in ["1", "3"] {
        kill_what_makes(
            &format!("links -q --json -j {jobs} w -o out"),
            &archives.clone().collect(),
            20,
        );
    }
}

#[test]
fn an_archive_of_conversions_is_there_or_not() {
    let scene = Scene::from([("w.warc".into(), archive(0, 500))]);
    for out in ["out.warc", "out.warc.gz"] {
        kill_what_makes(&format!("rewrite -q -j 2 w.warc -o {out}"), &scene, 1);
    }
}

#[test]
fn documents_of_an_archive_are_there_or_not() {
    let scene = Scene::from([("w.warc".into(), archive(0, 500))]);
    kill_what_makes("rewrite -q -j 2 w.warc --documents out", &scene, 500);
}

/// Runs the program in `here` on a file system of 3 MiB, which `prepare` (a script) fills; `None`
/// where there can be none. What is there afterwards is copied to `after`.
fn on_a_small_disk(here: &Path, prepare: &str, line: &str) -> Option<Output> {
    fs::create_dir(here.join("disk")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=3m none disk || exit 99; cd disk && {prepare} && \
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

/// Says for each line of standard error that it is of a full disk, and how many there are.
fn lines_of_a_full_disk(output: &Output) -> usize {
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    for line in said.lines() {
        let is_of_a_file = line.starts_with("error: ") && line.contains(" was not written: ");
        assert!(
            is_of_a_file && line.ends_with(": No space left on device (os error 28)"),
            "{line}"
        );
    }
    said.lines().count()
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
        let Some(output) = on_a_small_disk(here, "cp -r ../w .", line) else { return };
        let failed = lines_of_a_full_disk(&output);
        let after = here.join("after");
        let (mut there, mut seen) = (files(&after.join(place)), Seen::default());
        for number in 0..FILES {
            let page = there.remove(&name(number));
            if let Some(backup) = there.remove(&backup(number)) {
                assert!(backup == old(number));
            } else if line.contains("--backup") {
                assert!(page == Some(old(number)), "{number} has no backup");
            }
            match page {
                Some(page) => is_old_or_new(number, &page, &mut seen),
                None => seen.old += usize::from(place == "out"),
            }
        }
        println!("{line}: {seen:?}");
        assert!(there.is_empty(), "{line}: {:?}", there.keys());
        assert_eq!((seen.old, seen.new), (failed, FILES - failed), "{line}: one sentence for each");
        assert!(failed > 0, "{line}: there was room for all");
        if place == "out" {
            assert_eq!(files(&after.join("w")).len(), FILES, "what is read stays");
        }
    }
}

/// Somebody may write to the folder that is rewritten, and puts links to another one in the places of its
/// files and folders while the program is at work.
#[test]
fn nothing_is_written_where_links_lead_that_come_meanwhile() {
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
                // Each step may fail: the program and its scene change meanwhile, too.
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
                // Never through a link, as any other program would.
                let made = here.join(format!("{number}.made"));
                put(&made, &old(number));
                let _ = fs::rename(made, page);
            }
            let output = baselink(here, "rewrite -q -j 4 -i w").output().unwrap();
            assert!(matches!(output.status.code(), Some(0 | 2)));
        }
        is_done.store(true, Ordering::Relaxed);
    });
    let there = files(&outside);
    for number in 0..FILES {
        let page = &there[Path::new(&format!("{number}.html"))];
        assert!(matches!(&**page, "<a href=/outside>") || *page == old(number), "{number}: {page}");
    }
}

/// Swaps what is at `one` and at `other`, neither of which is missing for a moment (`RENAME_EXCHANGE` of renameat2(2)).
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
            // An even number of times: in the end each has its own name.
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
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = child.stderr.take().unwrap();
    let stderr = thread::spawn(move || {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut said, &mut bytes).map(|_| bytes)
    });
    for _ in 0..12_000 {
        if let Some(status) = child.try_wait().unwrap() {
            let stderr = stderr.join().unwrap().unwrap();
            return Output { status, stdout: Vec::new(), stderr };
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    panic!("it hangs: {command:?}");
}

/// I19: somebody who may write to a folder puts a link to another one in its place while files are written in it.
#[test]
#[cfg(target_os = "linux")]
fn nothing_outside_is_written_while_a_folder_is_swapped_for_a_link() {
    const PAGES: usize = 40;
    let times = std::env::var("BASELINK_KILLS").map_or(6, |times| times.parse().unwrap());
    let page = |number: usize| format!("<p>{number}<a href=/x>");
    let fixable = |number: usize| format!("<p>{number}<a href=http://a.example/sub/1.html>");
    let mail = |number: usize| format!("Subject: {number}\nContent-Type: text/html\n\n<a href=/x>");
    let scene = |folder: &str, page: &dyn Fn(usize) -> String, kind: &str| -> Scene {
        let path = |number: usize| Path::new(folder).join(format!("{number}{kind}"));
        (0..PAGES).map(|number| (path(number), page(number))).collect()
    };
    let w = scene("w/sub", &page, ".html");
    let w_and_out = w.clone().into_iter().chain(scene("out/sub", &page, ".html")).collect();
    let mails: Scene = scene("mail/cur", &mail, ".host:2,S")
        .into_iter()
        .chain([("mail/new/x".into(), mail(0)), ("mail/tmp/x".into(), mail(0))])
        .collect();
    let mut written = 0;
    for (line, folder, scene, kind) in [
        ("rewrite -q -j 2 -i w", "w/sub", &w, ".html"),
        ("rewrite -q -j 2 -i w --backup .orig", "w/sub", &w, ".html"),
        ("check -q --fix w", "w/sub", &scene("w/sub", &fixable, ".html"), ".html"),
        ("localize -q w -i", "w/sub", &scene("w/sub", &fixable, ".html"), ".html"),
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
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0..=2)), "{line}: {said}");
            assert!(!said.contains("panic"), "{line}: {said}");
            assert!(files(&here.join("outside")) == outside, "{line}: {said}");
            assert_eq!(fs::read_link(&link).unwrap(), here.join("outside"));
            for (path, bytes) in ["w", "out", "mail"].iter().flat_map(|one| files(&here.join(one)))
            {
                assert!(!is_temporary(&path), "{line}: {} is left", path.display());
                written += usize::from(bytes.contains("http://a.example/x"));
            }
        }
    }
    assert!(written > 0, "nothing was written at all");
}

/// I19: a pipe in the place of a file is waited for by nobody.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_is_swapped_for_a_pipe_is_not_waited_for() {
    let times = std::env::var("BASELINK_KILLS").map_or(6, |times| times.parse().unwrap());
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    let pipe = here.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
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
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0..=2)), "{line}: {said}");
            for error in said.lines().filter(|line| line.starts_with("error: ")) {
                let sentences = [
                    "another program put something else there; it was left out",
                    "another program changed it meanwhile; it was left as it is",
                    "not a regular file; it was left out",
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

/// I19: two runs on one tree, neither of which takes away what the other is writing.
#[test]
fn two_runs_on_one_tree_make_it_new_once() {
    let times = std::env::var("BASELINK_KILLS").map_or(6, |times| times.parse().unwrap());
    let scene = tempfile::tempdir().unwrap();
    let here = scene.path();
    for (line, folder) in [("rewrite -q -j 2 -i w", "w"), ("rewrite -q -j 2 w -o out", "out")] {
        for _ in 0..times {
            set(&here.join("w"), &(0..FILES).map(|number| (name(number), old(number))).collect());
            let runs = [(); 2].map(|()| {
                baselink(here, line).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
            });
            for run in runs {
                let output = run.wait_with_output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(matches!(output.status.code(), Some(0 | 2)), "{said}");
                for error in said.lines() {
                    let sentences = [
                        "another program changed it meanwhile; it was left as it is",
                        "another file of that name came there meanwhile, and was left",
                        // A file system gives the number of a file again that the other run has replaced.
                        "another input was written there, under a name that is the same to this file system",
                    ];
                    assert!(sentences.iter().any(|sentence| error.ends_with(sentence)), "{error}");
                }
            }
            let there = files(&here.join(folder));
            assert!((0..FILES).all(|number| there[&name(number)] == new(number)), "{line}");
            assert_eq!(there.len(), FILES, "{line}: something is left");
        }
    }
}
