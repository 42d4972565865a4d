//! Cases of the command line. Each file of `tests/cli/cases/` is one:
//!
//! ```text
//! # A comment, if there is something to say.
//! $ baselink rewrite -u http://a/b/ -o out 'my page.html'
//! ? 0
//! ==> my page.html <==
//! <a href=x>
//! ==> stderr <==
//! my page.html: base http://a/b/ (3.3 retrieval); 1 link: 1 rewritten
//! ==> after/out/my page.html <== no line end
//! <a href=http://a/b/x>
//! ```
//!
//! The command, quoted as in a shell, and its exit status come first. `stdin`, `stdout` and `stderr` are the standard streams,
//! which are empty by default. Files below `after/` are new or changed after the run; `gone` marks a removed file. Every other
//! file exists in the current folder before the program starts.
//!
//! `tests/common/case_file.rs` describes the forms `escaped` and `no line end`.
//!
//! Deliberately absent: symbolic links, times, permissions and empty folders.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::case_file;
use crate::folder::files;

/// The names of the exit status and the standard streams.
pub(crate) const STREAMS: [&str; 3] = ["status", "stdout", "stderr"];

pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
    stdin: Vec<u8>,
    /// The files before the run.
    pub(crate) files: Files,
    pub(crate) expected: Ending,
}

/// The result of a run of the program.
#[derive(PartialEq)]
pub(crate) struct Ending {
    /// The exit status as a line, standard output and standard error.
    pub(crate) streams: [String; 3],
    /// The files after the run.
    pub(crate) files: Files,
}

impl Case {
    /// The cases of `tests/cli/cases/`, in the order of their names.
    pub(crate) fn all() -> Vec<Self> {
        let cases: Vec<_> = files(&folder())
            .into_iter()
            .map(|(path, text)| {
                let name = path.to_str().unwrap().strip_suffix(".case");
                let name = name.unwrap_or_else(|| panic!("{}: not a case", path.display()));
                Self::parse(name, str::from_utf8(&text).unwrap())
            })
            .filter(Self::is_possible)
            .collect();
        assert!(cases.len() >= 40, "only {} cases", cases.len());
        cases
    }

    fn parse(name: &str, text: &str) -> Self {
        let wrong = |what: &str| -> ! { panic!("{name}: {what}") };
        let (head, sections) = case_file::parse(name, text);
        let mut head = head.into_iter().skip_while(|line| line.starts_with('#'));
        let mut line = |start: &str| match head.next().and_then(|line| line.strip_prefix(start)) {
            Some(rest) => rest,
            None => wrong(&format!("a line that begins with '{start}' is missing")),
        };
        let (command, status) = (line("$ baselink"), line("? ").to_owned() + "\n");
        let (mut files, mut removed) = (Files::new(), Vec::new());
        for (path, form, bytes) in sections {
            if form == "gone" {
                removed.push(path.strip_prefix("after/").unwrap());
            } else if files.insert(path.into(), bytes).is_some() {
                wrong(&format!("{path} is there twice"));
            }
        }
        let mut stream = |name: &str| files.remove(Path::new(name)).unwrap_or_default();
        let [stdin, stdout, stderr] = ["stdin", "stdout", "stderr"].map(&mut stream);
        let streams = [status, as_text(&stdout), as_text(&stderr)];
        let mut case = Self::new(name, case_file::words(command), stdin, streams, files);
        for path in removed {
            assert!(
                case.expected.files.remove(Path::new(path)).is_some(),
                "{name}: {path}"
            );
        }
        case
    }

    /// Makes `ending` the expectation of the case.
    pub(crate) fn bless(&self, ending: &Ending) {
        let path = folder().join(format!("{}.case", self.name));
        let text = fs::read_to_string(&path).unwrap();
        let (head, sections) = case_file::parse(&self.name, &text);
        let mut blessed = String::new();
        for line in head {
            match line.starts_with("? ") {
                true => blessed += &format!("? {}", ending.streams[0]),
                false => blessed += &format!("{line}\n"),
            }
        }
        let is_expected = |name: &str| STREAMS[1..].contains(&name) || name.starts_with("after/");
        for (name, _, bytes) in sections.iter().filter(|(name, ..)| !is_expected(name)) {
            blessed += &case_file::section(name, bytes);
        }
        for (stream, printed) in STREAMS[1..].iter().zip(ending.printed()) {
            if !printed.is_empty() {
                blessed += &case_file::section(stream, printed.as_bytes());
            }
        }
        for (path, bytes) in &ending.files {
            if self.files.get(path) != Some(bytes) {
                blessed += &case_file::section(&format!("after/{}", path.display()), bytes);
            }
        }
        let removed = self
            .files
            .keys()
            .filter(|path| !ending.files.contains_key(*path));
        blessed.extend(removed.map(|path| format!("==> after/{} <== gone\n", path.display())));
        fs::write(path, blessed).unwrap();
    }

    /// A case whose files below `after` are new or changed after the run; the other `files` exist before it.
    fn new(
        name: &str,
        arguments: Vec<String>,
        stdin: Vec<u8>,
        streams: [String; 3],
        files: Files,
    ) -> Self {
        let (after, before): (Files, Files) = files
            .into_iter()
            .partition(|(path, _)| path.starts_with("after"));
        let after = after
            .into_iter()
            .map(|(path, bytes)| (path.strip_prefix("after").unwrap().to_owned(), bytes));
        let files = before.clone().into_iter().chain(after).collect();
        Self {
            name: name.to_owned(),
            arguments,
            stdin,
            files: before,
            expected: Ending { streams, files },
        }
    }

    /// True if the system allows the names of the files. Windows forbids some characters.
    fn is_possible(&self) -> bool {
        let mut paths = self.files.keys().chain(self.expected.files.keys());
        !cfg!(windows)
            || !paths.any(|path| {
                path.to_str()
                    .unwrap()
                    .contains(|c| "<>:\"|?*\\".contains(c))
            })
    }

    /// The first argument, which is usually the command.
    pub(crate) fn command(&self) -> &str {
        self.arguments.first().map_or("", String::as_str)
    }

    /// Runs the program with these arguments in a folder with these files.
    pub(crate) fn run(&self, arguments: &[impl AsRef<OsStr>], files_before: &Files) -> Ending {
        let scene = tempfile::tempdir().unwrap();
        for (path, bytes) in files_before {
            put(scene.path(), path, bytes);
        }
        let output = run(baselink(scene.path()).args(arguments), &self.stdin);
        let status = format!("{}\n", output.status.code().unwrap_or(-1));
        Ending {
            streams: [status, as_text(&output.stdout), as_text(&output.stderr)],
            files: files(scene.path()),
        }
    }
}

impl Ending {
    /// Standard output and standard error.
    pub(crate) fn printed(&self) -> impl Iterator<Item = &str> {
        self.streams[1..].iter().map(String::as_str)
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/cases")
}

fn as_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_case_file_is_parsed() {
    let text = "# Why it is there.\n$ baselink check 'a b' \"it's\" '' x$y $'\\x1f\\\\' -u=http://a/\n? 1\n\
                ==> a b <==\n<a href=x>\n\n==> stdin <== no line end\n\n\n==> w/b <== escaped\n\
                \\x3d=> \\xff\\\\x\\\\\\\n\\r\n\\t\\\n==> stdout <==\n--- a\n==> after/a b <==\n";
    let case = Case::parse("name", text);
    assert_eq!(
        case.arguments,
        [
            "check",
            "a b",
            "it's",
            "",
            "x$y",
            "\u{1f}\\",
            "-u=http://a/"
        ]
    );
    assert_eq!(case.stdin, b"\n");
    assert_eq!(case.files[Path::new("a b")], b"<a href=x>\n\n");
    assert_eq!(case.files[Path::new("w/b")], b"==> \xff\\x\\\r\n\t");
    assert_eq!(case.expected.streams, ["1\n", "--- a\n", ""]);
    assert_eq!(case.expected.files[Path::new("a b")], b"");
    assert_eq!((case.files.len(), case.expected.files.len()), (2, 2));
}

/// The program under test: the one that `BASELINK_PROGRAM` names, such as the command of the wheel, or the one of this build.
pub(crate) fn program() -> String {
    let other = std::env::var("BASELINK_PROGRAM").ok();
    other.unwrap_or_else(|| env!("CARGO_BIN_EXE_baselink").to_owned())
}

pub(crate) fn baselink(folder: &Path) -> Command {
    let mut command = Command::new(program());
    // Without environment variables, output does not depend on the terminal and language of the person who runs the tests.
    command.current_dir(folder).env_clear();
    command
}

pub(crate) fn run(command: &mut Command, stdin: &[u8]) -> Output {
    let streams = [Stdio::piped(), Stdio::piped(), Stdio::piped()];
    let [input, output, error] = streams;
    let mut child = command
        .stdin(input)
        .stdout(output)
        .stderr(error)
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    // Writing fails if the program does not read to the end, which is not an error of the test.
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
