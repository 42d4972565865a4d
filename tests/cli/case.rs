//! A case of the command line, a folder of `tests/cli/`:
//!
//! ```text
//! cmd             the arguments, one a line; an empty line is an empty argument
//! stdin           what standard input has, if anything
//! stdout, stderr  what is printed
//! status          the exit status
//! after/          the files that are new or changed afterwards
//! *               every other file is there when the program starts, in the current folder
//! ```
//!
//! Deliberately absent: symbolic links, times and permissions, which a folder of git does not hold.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::folder::files;

const OF_THE_CASE: [&str; 6] = ["cmd", "stdin", "stdout", "stderr", "status", "after"];
/// What a run prints and how it ends, by the names of the files.
pub(crate) const STREAMS: [&str; 3] = ["status", "stdout", "stderr"];

pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
    stdin: Vec<u8>,
    /// The files that are there when the program starts.
    pub(crate) files: Files,
    pub(crate) expected: Ending,
}

/// What a run of the program leaves.
#[derive(PartialEq)]
pub(crate) struct Ending {
    /// The exit status in a line, standard output and standard error; `None` where a case lacks the file.
    pub(crate) streams: [Option<String>; 3],
    /// The files that are there afterwards.
    pub(crate) files: Files,
}

impl Case {
    /// Those of `tests/cli/`, by their names.
    pub(crate) fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        // The files are the tests themselves.
        let folders = entries.filter(|path| path.is_dir());
        let mut cases: Vec<_> = folders.map(|folder| Self::read(&folder)).collect();
        assert!(cases.len() >= 40, "only {} cases", cases.len());
        cases.sort_by(|one, other| one.name.cmp(&other.name));
        cases
    }

    fn read(folder: &Path) -> Self {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let of_case = |name: &str| fs::read(folder.join(name)).ok();
        let text =
            |name: &str| of_case(name).map(|text| String::from_utf8_lossy(&text).into_owned());
        let mut there = files(folder);
        there.retain(|path, _| {
            let first = path.components().next().unwrap().as_os_str();
            !OF_THE_CASE.iter().any(|name| first == OsStr::new(name))
        });
        let mut afterwards = there.clone();
        if folder.join("after").is_dir() {
            afterwards.extend(files(&folder.join("after")));
        }
        let cmd = text("cmd").unwrap_or_else(|| panic!("{name}: there is no cmd"));
        Self {
            name,
            arguments: cmd.lines().map(str::to_owned).collect(),
            stdin: of_case("stdin").unwrap_or_default(),
            files: there,
            expected: Ending { streams: STREAMS.map(text), files: afterwards },
        }
    }

    /// The command, or what is in its place.
    pub(crate) fn command(&self) -> &str {
        self.arguments.first().map_or("", String::as_str)
    }

    /// What the program leaves of `files` with these arguments.
    pub(crate) fn run(&self, arguments: &[impl AsRef<OsStr>], files_before: &Files) -> Ending {
        let scene = tempfile::tempdir().unwrap();
        for (path, bytes) in files_before {
            put(scene.path(), path, bytes);
        }
        let output = run(baselink(scene.path()).args(arguments), &self.stdin);
        let text = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned());
        let status = format!("{}\n", output.status.code().unwrap_or(-1));
        Ending {
            streams: [Some(status), text(&output.stdout), text(&output.stderr)],
            files: files(scene.path()),
        }
    }
}

impl Ending {
    /// Standard output and standard error.
    pub(crate) fn printed(&self) -> impl Iterator<Item = &str> {
        self.streams[1..].iter().filter_map(Option::as_deref)
    }
}

pub(crate) fn baselink(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    // No colours, no width: nothing of the terminal in which the tests run.
    // What is written has no time of its own.
    command.current_dir(folder).env_clear();
    command
}

pub(crate) fn run(command: &mut Command, stdin: &[u8]) -> Output {
    let streams = [Stdio::piped(), Stdio::piped(), Stdio::piped()];
    let [input, output, error] = streams;
    let mut child = command.stdin(input).stdout(output).stderr(error).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    // A program that does not read to the end is no failure of the test.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

pub(crate) fn put(folder: &Path, name: &Path, bytes: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}
