//! The modes in which the program writes files: a command, the files before it, and the files after it.
//!
//! ```text
//! rewrite -i w     w/0.html <a href=/0/1>     -->     w/0.html <a href=http://a.example/0/1>
//! ```
//!
//! The outputs for pages, messages and mailboxes are written by hand. For archives, results and reports, the expected
//! output is that of an undisturbed run.
//!
//! Deliberately absent: disturbances. `tests/trees/killed.rs` kills the program, `tests/trees/failing.rs` lets calls
//! fail.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

/// Files with their contents. If contents are not text, each byte is a character up to U+00FF.
pub(crate) type Scene = BTreeMap<PathBuf, String>;

/// A way to write files.
pub(crate) struct Mode {
    pub(crate) line: &'static str,
    /// The size of the scene in the test that kills the program: a number of pages, messages or responses.
    pub(crate) many: usize,
    /// The files before the run, given the size of the scene.
    pub(crate) before: fn(usize) -> Scene,
    /// All files after an undisturbed run; `None` to use the actual result of such a run.
    pub(crate) after: Option<fn(usize) -> Scene>,
}

/// More files than are renamed at once (256), most of them small.
pub(crate) const FILES: usize = 300;

const fn by_hand(
    line: &'static str,
    many: usize,
    before: fn(usize) -> Scene,
    after: fn(usize) -> Scene,
) -> Mode {
    Mode {
        line,
        many,
        before,
        after: Some(after),
    }
}

const fn undisturbed(line: &'static str, many: usize, before: fn(usize) -> Scene) -> Mode {
    Mode {
        line,
        many,
        before,
        after: None,
    }
}

/// The commands that write files, except `move`, which `tests/trees/move_in_place.rs` runs.
pub(crate) const MODES: &[Mode] = &[
    by_hand("rewrite -q -j 1 -i w", 40, tree, |n| absolute(tree(n))),
    by_hand("rewrite -q -j 4 -i w", FILES, tree, |n| absolute(tree(n))),
    by_hand("rewrite -q -i w --backup .orig", 40, tree, |n| {
        backed_up(tree(n), absolute)
    }),
    by_hand(
        "rewrite -q --in-place=break-links w",
        40,
        hard_linked,
        |n| absolute(hard_linked(n)),
    ),
    by_hand(
        "rewrite -q --in-place=break-links w --backup .orig",
        40,
        hard_linked,
        |n| backed_up(hard_linked(n), absolute),
    ),
    by_hand("rewrite -q -i w/0.html", 1, one_page, |n| {
        absolute(one_page(n))
    }),
    by_hand("rewrite -q -i w/0.html --backup .orig", 1, one_page, |n| {
        backed_up(one_page(n), absolute)
    }),
    by_hand("rewrite -q -i large.html", 1, large, |n| absolute(large(n))),
    by_hand("rewrite -q -j 1 -i all.mbox", 400, mailbox, |n| {
        absolute(mailbox(n))
    }),
    by_hand("rewrite -q -j 2 -i all.mbox", 400, mailbox, |n| {
        absolute(mailbox(n))
    }),
    by_hand(
        "rewrite -q -i mail",
        FILES,
        |n| maildir(n, ""),
        |n| maildir(n, HOST),
    ),
    by_hand("rewrite -q w/0.html -o out.html", 1, in_one_folder, |n| {
        with_outputs(
            in_one_folder(n),
            |of| of == "w/0.html",
            |_| "out.html".into(),
        )
    }),
    by_hand("rewrite -q w/0.html -o old.html", 1, with_old_file, |n| {
        with_outputs(
            with_old_file(n),
            |of| of == "w/0.html",
            |_| "old.html".into(),
        )
    }),
    by_hand(
        "rewrite -q w/0.html -o old.html --preserve-times",
        1,
        with_old_file,
        |n| {
            with_outputs(
                with_old_file(n),
                |of| of == "w/0.html",
                |_| "old.html".into(),
            )
        },
    ),
    by_hand("rewrite -q large.html -o out.html", 1, large, |n| {
        with_outputs(large(n), |_| true, |_| "out.html".into())
    }),
    by_hand("rewrite -q all.mbox -o out.mbox", 400, mailbox, |n| {
        with_outputs(mailbox(n), |_| true, |_| "out.mbox".into())
    }),
    by_hand("rewrite -q w -o out", 40, tree, |n| {
        with_outputs(tree(n), |_| true, below_out)
    }),
    by_hand("rewrite -q w -o out --preserve-times", 40, tree, |n| {
        with_outputs(tree(n), |_| true, below_out)
    }),
    by_hand("rewrite -q w -o out", FILES, tree_again, |n| {
        with_outputs(tree_again(n), |of| of.starts_with("w/"), below_out)
    }),
    by_hand(
        "rewrite -q mail -o out",
        40,
        |n| maildir(n, ""),
        |n| {
            let mut after = maildir(n, "");
            after.extend(
                maildir(n, HOST)
                    .into_iter()
                    .map(|(path, text)| (below_out(&path), text)),
            );
            after
        },
    ),
    undisturbed("rewrite -q w/0.warc -o out", 200, archives),
    undisturbed("localize -q w/0.warc w/1.warc -o out", 200, archives),
    undisturbed(
        "localize -q -j 1 w/0.warc w/1.warc -o out",
        200,
        archives_again,
    ),
    undisturbed("links -q --json -j 1 w -o out", 100, archives),
    undisturbed("links -q --json -j 3 w -o out", 100, archives),
    undisturbed("links -q w -o out", 40, tree),
    undisturbed(
        "check -q w --deny none --report page.html",
        40,
        with_absolute_links,
    ),
    undisturbed("check -q w --deny none --report old.html", 40, |n| {
        with_old(with_absolute_links(n))
    }),
    undisturbed(
        "check -q w --deny none --baseline known.jsonl --update-baseline",
        40,
        with_absolute_links,
    ),
    undisturbed(
        "check -q w --deny none --baseline old.html --update-baseline",
        40,
        |n| with_old(with_absolute_links(n)),
    ),
    by_hand("localize -q -i w", 40, with_absolute_links, |n| {
        relative(with_absolute_links(n))
    }),
    by_hand(
        "localize -q -i w --backup .orig",
        40,
        with_absolute_links,
        |n| backed_up(with_absolute_links(n), relative),
    ),
    by_hand("localize -q w -o out", 40, with_absolute_links, |n| {
        let mut after = with_absolute_links(n);
        after.extend(
            relative(with_absolute_links(n))
                .into_iter()
                .map(|(path, text)| (below_out(&path), text)),
        );
        after
    }),
    by_hand(
        "localize -q -i w --missing old.txt",
        40,
        |n| {
            let mut before = with_absolute_links(n);
            before.insert("old.txt".into(), String::new());
            before
        },
        |n| {
            let mut after = relative(with_absolute_links(n));
            after.insert("old.txt".into(), "http://a.example/gone.png\n".to_owned());
            after
        },
    ),
    undisturbed("man out", 1, |_| Scene::new()),
    undisturbed("man out", 1, |_| {
        Scene::from([("out/baselink.1".into(), "old".to_owned())])
    }),
];

/// Calls `work` with every mode, or with the mode named by `BASELINK_MODE`, on two threads.
pub(crate) fn with_each(work: impl Fn(&Mode) + Sync) {
    let only = std::env::var("BASELINK_MODE").ok();
    let is_selected = |mode: &&Mode| only.as_ref().is_none_or(|only| mode.line == *only);
    let queue = Mutex::new(MODES.iter().filter(is_selected));
    let work_through = || {
        loop {
            let next = queue.lock().unwrap().next();
            let Some(mode) = next else { return };
            work(mode);
        }
    };
    thread::scope(|scope| {
        scope.spawn(work_through);
        work_through();
    });
}

pub(crate) const HOST: &str = "http://a.example";

/// Turns `<a href=/0/1>` into `<a href=http://a.example/0/1>`.
fn absolute(scene: Scene) -> Scene {
    let text = |text: String| text.replace("href=/", &format!("href={HOST}/"));
    scene
        .into_iter()
        .map(|(path, old)| (path, text(old)))
        .collect()
}

/// Turns `<a href=http://a.example/1.html>` into `<a href=1.html>`. The `src` of pictures does not change, because
/// their files do not exist.
fn relative(scene: Scene) -> Scene {
    let text = |text: String| text.replace(&format!("href={HOST}/"), "href=");
    scene
        .into_iter()
        .map(|(path, old)| (path, text(old)))
        .collect()
}

/// Applies a change, and adds the original of each changed file as its backup.
fn backed_up(before: Scene, change: fn(Scene) -> Scene) -> Scene {
    let mut after = change(before.clone());
    for (path, old) in before {
        if after[&path] != old {
            after.insert(backup(&path), old);
        }
    }
    after
}

pub(crate) fn backup(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(".orig");
    path.into()
}

/// Adds the outputs of the files for which `of` is true, at the paths that `to` gives.
fn with_outputs(before: Scene, of: fn(&str) -> bool, to: fn(&Path) -> PathBuf) -> Scene {
    let is_read = |path: &&PathBuf| of(path.to_str().unwrap());
    let read = before.keys().filter(is_read).cloned().collect::<Vec<_>>();
    let new = absolute(before.clone());
    let mut after = before;
    after.extend(read.into_iter().map(|path| (to(&path), new[&path].clone())));
    after
}

fn below_out(path: &Path) -> PathBuf {
    Path::new("out").join(path.iter().skip(1).collect::<PathBuf>())
}

/// Page `number`, whose links begin with `host`.
pub(crate) fn page(number: usize, host: &str) -> String {
    let links = match number % 100 {
        99 => 8_000,
        some => 1 + some % 7,
    };
    let links = (0..links).map(|link| format!("<a href={host}/{number}/{link}>\n"));
    format!("<p>{number}\n{}</html>\n", links.collect::<String>())
}

pub(crate) fn name(number: usize) -> PathBuf {
    format!("{}/{}/{number}.html", number % 5, number % 3).into()
}

/// Pages in folders, and a message, a response, a mailbox and a picture.
fn tree(files: usize) -> Scene {
    let mut tree: Scene = (0..files)
        .map(|n| (Path::new("w").join(name(n)), page(n, "")))
        .collect();
    let body = "Content-Type: text/html\n\n<a href=/x>\n";
    for (name, text) in [
        ("w/1.eml", format!("Subject: x\n{body}")),
        ("w/1.http", format!("HTTP/1.1 200 OK\n{body}")),
        ("w/all.mbox", mailbox(2)[Path::new("all.mbox")].clone()),
        ("w/logo.png", "a picture".to_owned()),
    ] {
        tree.insert(name.into(), text);
    }
    tree
}

/// A tree with the output of an earlier run that wrote other contents.
fn tree_again(files: usize) -> Scene {
    let mut again = tree(files);
    again.extend(
        tree(files)
            .into_iter()
            .map(|(path, text)| (below_out(&path), text)),
    );
    again
}

fn one_page(_: usize) -> Scene {
    in_one_folder(1)
}

/// Pages in one folder.
fn in_one_folder(files: usize) -> Scene {
    (0..files)
        .map(|n| (format!("w/{n}.html").into(), page(n, "")))
        .collect()
}

/// Pages that each have two names.
fn hard_linked(files: usize) -> Scene {
    let mut hard_linked = in_one_folder(files);
    hard_linked.extend((0..files).map(|n| (format!("w/{n}.too.html").into(), page(n, ""))));
    hard_linked
}

fn with_old(mut scene: Scene) -> Scene {
    scene.insert("old.html".into(), String::new());
    scene
}

fn with_old_file(files: usize) -> Scene {
    with_old(in_one_folder(files))
}

/// A page of 8 MiB.
fn large(_: usize) -> Scene {
    let line = format!("{}<a href=/x>\n", "x".repeat(990));
    Scene::from([("large.html".into(), line.repeat(8_400))])
}

/// Pages that link to the next page by its URL, and to a picture that does not exist.
fn with_absolute_links(files: usize) -> Scene {
    let page = |n: usize| {
        let next = (n + 1) % files;
        format!("<p>{n}<a href={HOST}/{next}.html>\n<img src={HOST}/gone.png>\n")
    };
    (0..files)
        .map(|n| (format!("w/{n}.html").into(), page(n)))
        .collect()
}

fn mailbox(messages: usize) -> Scene {
    let message = |n: usize| {
        let page = page(n, "").replace("</html>\n", "");
        let heading = format!("Subject: {n}\nContent-Type: text/html");
        format!("From a@b.example Thu Jan  1 00:00:00 2026\n{heading}\n\n{page}\n")
    };
    Scene::from([("all.mbox".into(), (0..messages).map(message).collect())])
}

/// Message `number` and its path. Two of three names contain the size of the message.
fn message(number: usize, host: &str) -> (PathBuf, String) {
    let text = format!(
        "Subject: {number}\nContent-Type: text/html\n\n{}",
        page(number, host)
    );
    let lines = text.matches('\n').count();
    let sizes = match number % 3 {
        0 => String::new(),
        1 => format!(",S={}", text.len()),
        _ => format!(",S={},W={}", text.len(), text.len() + lines),
    };
    let path = match number % 2 {
        0 => format!("mail/cur/{number}.host{sizes}:2,FS"),
        _ => format!("mail/new/{number}.host{sizes}"),
    };
    (path.into(), text)
}

fn maildir(messages: usize, host: &str) -> Scene {
    let mut mail: Scene = (0..messages).map(|n| message(n, host)).collect();
    // The folder `tmp` must exist. Files that a delivery wrote to it are kept.
    mail.insert("mail/tmp/under-way".into(), "Subject: x".to_owned());
    mail.entry("mail/new/x.host".into())
        .or_insert("Subject: x\n\nx".to_owned());
    mail
}

/// Two archives with this number of responses, some of which are large.
fn archives(responses: usize) -> Scene {
    let record = |n: usize| {
        let body = page(n, "");
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
        format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{n}>\r\n\
             WARC-Target-URI: http://b.example/{n}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let archive = |from: usize| (from..from + responses).map(record).collect::<String>();
    Scene::from([
        ("w/0.warc".into(), archive(0)),
        ("w/1.warc".into(), archive(7)),
    ])
}

/// Archives with the output of an earlier run for other responses. (Bug 106: a run that was killed before it renamed
/// its table left a temporary file, and the next run refused the folder.)
fn archives_again(responses: usize) -> Scene {
    let mut again = archives(responses);
    for name in [
        "baselink-map.csv",
        "index.html",
        "b.example/0.html",
        "b.example/of-another.html",
    ] {
        again.insert(Path::new("out").join(name), "old".to_owned());
    }
    again
}

impl Mode {
    /// The program with the arguments of this mode, in `folder`.
    pub(crate) fn program(&self, folder: &Path) -> Command {
        baselink(folder, self.line)
    }

    /// Gives `folder` the files that exist before the run.
    pub(crate) fn set(&self, folder: &Path, before: &Scene) {
        if self.line.contains("break-links") {
            // Both names must lead to one file.
            let _ = fs::remove_dir_all(folder.join("w"));
            let is_first = |path: &Path| !path.to_str().unwrap().contains(".too");
            for (path, bytes) in before.iter().filter(|(path, _)| is_first(path)) {
                put(&folder.join(path), bytes);
                fs::hard_link(
                    folder.join(path),
                    folder.join(path.with_extension("too.html")),
                )
                .unwrap();
            }
        }
        set(folder, before);
    }

    /// The files after the run.
    pub(crate) fn after(&self, files: usize) -> Scene {
        if let Some(after) = self.after {
            return after(files);
        }
        let folder = tempfile::tempdir().unwrap();
        self.set(folder.path(), &(self.before)(files));
        let output = self.program(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}: {output:?}", self.line);
        self::files(folder.path())
    }
}

pub(crate) fn baselink(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    in_scene(&mut command, folder, line);
    command
}

/// Gives `command` the arguments of `line`, and the arguments and settings that all runs share.
pub(crate) fn in_scene(command: &mut Command, folder: &Path, line: &str) {
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .args(line.split(' '));
    if !line.starts_with("man") {
        command.args(["-u", "http://a.example/"]);
    }
}

pub(crate) fn put(path: &Path, bytes: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Every file below `folder` with its bytes. A symbolic link has its target as contents.
pub(crate) fn files(folder: &Path) -> Scene {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let Ok(entries) = fs::read_dir(next) else {
            continue;
        };
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
                found.insert(name, as_text(fs::read(&path).unwrap()));
            }
        }
    }
    found
}

/// The bytes as UTF-8, or with a character for each byte.
pub(crate) fn as_text(bytes: Vec<u8>) -> String {
    let of_bytes = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect();
    String::from_utf8(bytes).unwrap_or_else(|no| of_bytes(no.as_bytes()))
}

/// Gives `folder` exactly the files of `scene`. Files that are right already stay untouched.
pub(crate) fn set(folder: &Path, scene: &Scene) {
    let present = files(folder);
    for (path, bytes) in &present {
        if scene.get(path) != Some(bytes) {
            let outdated = folder.join(path);
            fs::remove_file(&outdated).unwrap();
            // Some modes refuse a folder that is not empty.
            let mut around = outdated
                .ancestors()
                .skip(1)
                .take_while(|around| *around != folder);
            while around
                .next()
                .is_some_and(|around| fs::remove_dir(around).is_ok())
            {}
        }
    }
    for (path, bytes) in scene {
        if present.get(path) != Some(bytes) {
            put(&folder.join(path), bytes);
        }
    }
}

/// True for the leftovers of a killed run: new contents without their final name, and the lock of a mailbox.
pub(crate) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.starts_with(".baselink-") || name == "all.mbox.lock"
}

/// Removes the leftovers of a killed run, as docs/trees.md tells.
pub(crate) fn remove_leftovers(folder: &Path) {
    for path in files(folder).keys().filter(|path| is_temporary(path)) {
        fs::remove_file(folder.join(path)).unwrap();
    }
}

/// Counts of the files that a run changes.
#[derive(Default, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) old: usize,
    pub(crate) new: usize,
    pub(crate) temporary: usize,
}

/// `text` without the digests of a table of files, which are added when the files are there.
pub(crate) fn without_digests(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    let without = lines.map(|line| match line.split_once(",sha256-") {
        Some((row, _)) => format!("{row},\n"),
        None => line.to_owned(),
    });
    without.collect()
}

/// Compares the files `found` with those `before` and `after` the run.
///
/// Each file is complete: old or new. A file to be created is absent or complete. A file to be removed (a message
/// that gets another name) is gone only if the new one exists. If there is to be a backup, the file is new only if
/// its backup exists.
pub(crate) fn look(before: &Scene, after: &Scene, found: &Scene) -> Result<Seen, String> {
    let mut seen = Seen::default();
    for path in before
        .keys()
        .chain(after.keys().filter(|path| !before.contains_key(*path)))
    {
        let of = |scene: &Scene| scene.get(path).map(|text| without_digests(text));
        let (old, new, current) = (of(before), of(after), of(found));
        let wrong = |what: &str| Err(format!("{} {what}", path.display()));
        if old == new {
            if current != old {
                return wrong("was not to be touched");
            }
            continue;
        }
        if current != new && current != old {
            return wrong(&format!(
                "is neither old nor new, but {:?}",
                current.as_ref().map(String::len)
            ));
        }
        let is_new = current == new;
        seen.old += usize::from(!is_new);
        seen.new += usize::from(is_new);
        let is_gone = current.is_none() && new.is_none();
        if is_gone && found.get(twin(path, after).0) != Some(twin(path, after).1) {
            return wrong("is lost");
        }
        let kept = backup(path);
        let has_backup = after.contains_key(&kept) && !before.contains_key(&kept);
        if is_new && has_backup && found.get(&kept) != old.as_ref() {
            return wrong("has no backup");
        }
    }
    for path in found.keys() {
        let is_known = before.contains_key(path) || after.contains_key(path);
        if !is_known && !is_temporary(path) {
            return Err(format!("{} is left", path.display()));
        }
        seen.temporary += usize::from(!is_known);
    }
    Ok(seen)
}

/// The new path and contents of the message at `path`.
pub(crate) fn twin<'a>(path: &Path, after: &'a Scene) -> (&'a Path, &'a String) {
    let unique = |path: &Path| {
        let path = path.to_str().unwrap().to_owned();
        path.split([',', ':']).next().unwrap().to_owned()
    };
    let (twin, new) = after
        .iter()
        .find(|(other, _)| unique(path) == unique(other))
        .unwrap();
    (twin, new)
}
