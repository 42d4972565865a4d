//! Reports the tests that did nothing because a resource is missing. If `BASELINK_REQUIRE_OUTSIDE` is set, a missing
//! resource is a failure.
//!
//! Cargo runs tests in the order of their names, and this one has the last name in Cargo.toml. It has no harness, because
//! the harness hides the output of tests.
//!
//! Deliberately absent: tests of the program.
#![allow(missing_docs)]

#[path = "common/outside.rs"]
mod outside;

fn main() {
    // With an argument, such as the name of a test or `--list`, there is nothing to report.
    if std::env::args().nth(1).is_some() {
        return;
    }
    let data = outside::ALL.map(|data| (data.what, data.find().is_some()));
    let programs = [
        (
            "the comparison with Python's reader of messages",
            outside::python().is_some(),
        ),
        (
            "the comparison with Python's readers of archives",
            outside::warc_readers().is_some(),
        ),
        (
            "the comparison with Python's parser of HTML",
            outside::html_parser().is_some(),
        ),
        ("pages in Chromium", outside::chromium().is_some()),
        ("mirrors by wget", outside::is_installed("wget")),
        ("mirrors by HTTrack", outside::is_installed("httrack")),
        ("redirects by nginx", outside::is_server_installed("nginx")),
        (
            "redirects by Apache",
            outside::is_server_installed("apache2"),
        ),
        #[cfg(target_os = "linux")]
        ("calls that fail", outside::has_strace()),
    ];
    let absent: Vec<_> = data
        .into_iter()
        .chain(programs)
        .filter(|(_, is_here)| !is_here)
        .map(|(name, _)| name)
        .collect();
    if !absent.is_empty() {
        let reason = "for lack of ../shared, python3, warcio, fastwarc and html5lib, chromium, wget, httrack, nginx, apache2 \
                   or strace (tests/common/outside.rs)";
        eprintln!("\nnot run {reason}: {}", absent.join(", "));
    }
}
