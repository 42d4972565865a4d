//! Only URLs change in messages, according to an independent reader, Python's `email`. The script
//! `tests/messages/email_reader.py` reads the messages of `fixtures/message`, and real ones, before and after rewriting.
//! `tests/common/outside.rs` finds Python and the real messages.

use std::fs;
use std::path::Path;

use crate::case_file::Case;
use crate::outside;

/// The number of corpus messages that Python's reader cannot read: base64 with foreign characters
/// (`epilogue-sample.raw`, `extra-base64-character.raw`), a line in a heading that is not a header field
/// (`issue358.txt`, `portfolio.mhtml`), transfer encodings `8bits` and `quoted-printable;`. The script lists them.
const UNREAD: u32 = 6;

/// Cases that Python's reader misreads: unusual spellings of `Content-Type`, a NUL in a base.
const MISREAD_CASES: [&str; 3] = [
    "boundary-spellings",
    "content-type-spellings",
    "bug-02-nul-in-base",
];

/// The number of runs of other cases that Python's reader cannot read: foreign characters in or after base64, lines in
/// a heading that are not header fields, a comment in `Content-Transfer-Encoding`.
const UNREAD_CASES: u32 = 8;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The output of the script; `None` without Python.
fn python(arguments: &[&str]) -> Option<String> {
    let mut command = outside::python()?;
    let script = Path::new(ROOT).join("tests/messages/email_reader.py");
    let output = command.arg(script).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{text}");
    println!("{text}");
    Some(text)
}

/// Compares the messages in `folder`, except for the given number that the script cannot read.
fn compare(folder: &Path, unread: u32) {
    let binary = env!("CARGO_BIN_EXE_baselink");
    python(&[binary, folder.to_str().unwrap(), &unread.to_string()]);
}

#[test]
fn the_comparison_detects_faults() {
    if let Some(output) = python(&["--self-test"]) {
        assert!(output.contains("broken results, all seen"), "{output}");
    }
}

#[test]
fn messages_of_the_fixtures_change_in_urls_only() {
    let messages = tempfile::tempdir().unwrap();
    for case in Case::all("message", 140) {
        let name = case.name.strip_prefix("message/").unwrap();
        if !MISREAD_CASES.contains(&name) {
            let path = messages.path().join(format!("{name}.eml"));
            fs::write(path, case.bytes("input.eml")).unwrap();
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
