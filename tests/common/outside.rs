//! Resources outside the repository that tests need: public test suites and real documents, in a folder `shared`
//! next to the checkout, and a few programs. A test that lacks such a resource does nothing, and `tests/not_run.rs`
//! reports it. With `BASELINK_REQUIRE_OUTSIDE` set, as `.ci/run` sets it, the test fails.
//!
//! Deliberately absent: facts about bases, references and targets, which are tables in `fixtures/`.
#![allow(dead_code)]

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Data from outside the repository: its folder and a description.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    pub(crate) folder: &'static str,
    pub(crate) what: &'static str,
}

pub(crate) const TOKENIZER: Outside = Outside {
    folder: "suites/html5lib-tests/tokenizer",
    what: "html5lib's tokenizer tests",
};
pub(crate) const TREES: Outside = Outside {
    folder: "suites/html5lib-tests/tree-construction",
    what: "html5lib's tree construction tests",
};
pub(crate) const CSS: Outside = Outside {
    folder: "suites/css-parsing-tests",
    what: "css-parsing-tests",
};
pub(crate) const RESOLUTION: Outside = Outside {
    folder: "suites/resolution",
    what: "the URLs of the web platform tests",
};
pub(crate) const PAGES: Outside = Outside {
    folder: "corpus/pages",
    what: "130 real pages",
};
pub(crate) const MAIL: Outside = Outside {
    folder: "corpus/mail",
    what: "434 real messages",
};

pub(crate) const WARC: Outside = Outside {
    folder: "corpus/warc",
    what: "31 archives that others wrote",
};

pub(crate) const ARCHIVES: Outside = Outside {
    folder: "corpus/archives",
    what: "archives of other kinds, and of other tests",
};

pub(crate) const ALL: [Outside; 8] = [
    TOKENIZER, TREES, CSS, RESOLUTION, PAGES, MAIL, WARC, ARCHIVES,
];

/// True if a missing resource is a failure.
pub(crate) fn is_required() -> bool {
    env::var_os("BASELINK_REQUIRE_OUTSIDE").is_some_and(|value| !value.is_empty())
}

/// Python, unless it is absent.
pub(crate) fn python() -> Option<Command> {
    let found = Command::new("python3")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    let is_here = found.is_ok_and(|status| status.success());
    assert!(is_here || !is_required(), "python3 is absent");
    is_here.then(|| Command::new("python3"))
}

/// Python with readers of archives, unless they are absent.
pub(crate) fn warc_readers() -> Option<Command> {
    python_with("warcio, fastwarc")
}

/// Python with a reader of archives and a parser of HTML, unless they are absent.
pub(crate) fn html_parser() -> Option<Command> {
    python_with("warcio, html5lib")
}

fn python_with(modules: &str) -> Option<Command> {
    let mut command = python()?;
    let import = format!("import {modules}");
    let found = command.args(["-c", &import]).stderr(Stdio::null()).status();
    let is_here = found.is_ok_and(|status| status.success());
    assert!(
        is_here || !is_required(),
        "{modules}: one of them is absent from Python"
    );
    is_here.then(|| Command::new("python3"))
}

/// True if `program` is installed.
pub(crate) fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    let found = command
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(found.is_ok() || !is_required(), "{program} is absent");
    found.is_ok()
}

/// True if the server `program` is installed. It is never required, because some machines permit no servers.
pub(crate) fn is_server_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    let found = command.arg("-v").stderr(Stdio::null()).output();
    found.is_ok_and(|output| output.status.success())
}

/// True if strace 5.3 or newer exists, and the system lets it trace programs.
pub(crate) fn has_strace() -> bool {
    let mut command = Command::new("strace");
    let found = command
        .args(["-f", "--seccomp-bpf", "-o", "/dev/null", "true"])
        .output();
    let is_here = found.is_ok_and(|output| output.status.success());
    assert!(is_here || !is_required(), "strace is absent, or of no use");
    is_here
}

/// Chromium, unless it is absent: the program that `BASELINK_CHROMIUM` names, or the first on the path.
pub(crate) fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = || env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    let given = env::var_os("BASELINK_CHROMIUM").map(PathBuf::from);
    let found = given.or_else(|| on_path().find(|program| program.is_file()));
    assert!(found.is_some() || !is_required(), "Chromium is absent");
    found
}

impl Outside {
    fn path(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../shared")
            .join(self.folder)
    }

    pub(crate) fn is_here(self) -> bool {
        self.path().is_dir()
    }

    /// The folder, unless it is absent.
    pub(crate) fn find(self) -> Option<PathBuf> {
        assert!(
            self.is_here() || !is_required(),
            "{} ({}) is absent",
            self.path().display(),
            self.what
        );
        self.is_here().then(|| self.path())
    }

    /// The sorted files below the folder, with this `extension` if it is given; none if the folder is absent.
    pub(crate) fn files(self, extension: Option<&str>) -> Vec<PathBuf> {
        let mut folders: Vec<_> = self.find().into_iter().collect();
        let is_absent = folders.is_empty();
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if extension
                    .is_none_or(|wanted| path.extension().is_some_and(|found| found == wanted))
                {
                    files.push(path);
                }
            }
        }
        assert!(
            is_absent || !files.is_empty(),
            "{} is empty",
            self.path().display()
        );
        files.sort();
        files
    }
}
