//! Messages as a reader of another make decodes them: `tests/messages/email_reader.py` compares the messages of
//! `fixtures/message`, and real ones, with what the program makes of them. `tests/common/outside.rs` finds Python and
//! the real messages.
//!
//! Deliberately absent: what is in the script, which has a test of its own.
#![cfg(feature = "cli")]

use std::fs;
use std::path::Path;

use crate::outside;

/// Number of corpus messages that Python's reader itself cannot read: base64 with foreign characters
/// (`epilogue-sample.raw`, `extra-base64-character.raw`), a line in a heading that is not a header field (`issue358.txt`,
/// `portfolio.mhtml`), transfer encodings `8bits` and `quoted-printable;`. The script lists them.
const UNREAD: u32 = 6;

/// Cases that ask more of a reader than Python's has: unusual spellings of `Content-Type`, a NUL in a base.
const BEYOND: [&str; 3] = ["boundary-spellings", "content-type-spellings", "bug-02-nul-in-base"];

/// Number of runs of the other cases that Python's reader cannot read: foreign characters in base64 and after it, lines
/// in a heading that are not header fields, a comment in `Content-Transfer-Encoding`.
const UNREAD_CASES: u32 = 8;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Standard output of the script, or `None` if Python is not installed.
fn python(arguments: &[&str]) -> Option<String> {
    let mut command = outside::python()?;
    let script = Path::new(ROOT).join("tests/messages/email_reader.py");
    let done = command.arg(script).args(arguments).output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(done.status.success(), "{said}");
    println!("{said}");
    Some(said)
}

/// Compares the messages in `folder`, of which so many cannot be read by the script.
fn compare(folder: &Path, unread: u32) {
    let binary = env!("CARGO_BIN_EXE_baselink");
    python(&[binary, folder.to_str().unwrap(), &unread.to_string()]);
}

#[test]
fn the_comparison_sees_what_is_broken() {
    if let Some(said) = python(&["--self-test"]) {
        assert!(said.contains("broken results, all seen"), "{said}");
    }
}

#[test]
fn messages_of_the_fixtures_change_in_urls_only() {
    let messages = tempfile::tempdir().unwrap();
    for case in fs::read_dir(Path::new(ROOT).join("fixtures/message")).unwrap() {
        let (input, case) = (case.as_ref().unwrap().path().join("input.eml"), case.unwrap());
        let name = case.file_name().into_string().unwrap();
        if input.is_file() && !BEYOND.contains(&&*name) {
            fs::copy(input, messages.path().join(name + ".eml")).unwrap();
        }
    }
    compare(messages.path(), UNREAD_CASES);
}

#[test]
fn real_messages_change_in_urls_only() {
    if let Some(folder) = outside::MAIL.find() {
        compare(&folder, UNREAD);
    }
}
