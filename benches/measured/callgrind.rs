//! The instructions that a command executes, counted by callgrind, and a table of goals and results.
//!
//! Instruction counts do not depend on the load of the machine. callgrind counts `rep movsb` as one instruction for each byte;
//! a setting makes glibc copy by vectors instead.
//!
//! Deliberately absent: C libraries other than glibc, which may use `rep movsb`.

use std::process::{Command, Stdio};

/// True if valgrind is installed; otherwise a notice is printed.
pub(crate) fn is_installed() -> bool {
    let mut version = Command::new("valgrind");
    version
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let is_installed = version.status().is_ok_and(|status| status.success());
    if !is_installed {
        println!("  notice: valgrind is not installed, so no instructions are counted");
    }
    is_installed
}

/// Settings under which glibc copies and fills memory by vectors, whatever the length.
const BY_VECTORS: &str =
    "glibc.cpu.x86_rep_movsb_threshold=1000000000:glibc.cpu.x86_rep_stosb_threshold=1000000000";

/// The number of instructions that `command` (a program and its arguments) executes.
pub(crate) fn instructions(command: &[&str]) -> f64 {
    let output = Command::new("valgrind")
        .env("GLIBC_TUNABLES", BY_VECTORS)
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(command)
        .stdout(Stdio::null())
        .output()
        .unwrap();
    // `check` exits with 1 if links are broken.
    let status = output.status;
    let is_expected = status.code().is_some_and(|code| code < 2);
    assert!(is_expected, "{command:?} ended with {status}");
    // "==1== Collected : 123456"
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = report.lines().find(|line| line.contains("Collected"));
    let count = line.and_then(|line| line.rsplit(':').next()?.trim().parse().ok());
    count.unwrap_or_else(|| panic!("{command:?} was not counted: {report}"))
}

/// The goals of the project, each with its result.
#[derive(Default)]
pub(crate) struct Goals(Vec<(String, Goal, f64)>);

/// The limit of a result. A benchmark may have limits of one kind only.
#[allow(dead_code)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Goals {
    /// Adds a result; NaN if it could not be measured.
    pub(crate) fn add(&mut self, work: &str, goal: Goal, result: f64) {
        self.0.push((work.to_owned(), goal, result));
    }

    /// Prints the table.
    pub(crate) fn print(&self) {
        if self.0.is_empty() {
            return;
        }
        println!("\n{:60}{:>10}{:>10}", "goals", "goal", "result");
        for (work, goal, result) in &self.0 {
            let (limit, is_met) = match goal {
                Goal::AtLeast(limit) => (limit, result >= limit),
                Goal::AtMost(limit) => (limit, result <= limit),
            };
            let met = match is_met {
                _ if result.is_nan() => "not measured",
                true => "met",
                false => "missed",
            };
            println!("{work:60}{limit:>10}{result:>10.2}  {met}");
        }
    }
}
