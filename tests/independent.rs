//! Messages as a reader of another make decodes them: `tests/email_reader.py` compares the messages of
//! `../shared/corpus/mail`, where that folder and Python are, with what the program makes of them.
//!
//! Deliberately absent: what is in the script, which has a test of its own.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::process::Command;

/// So many messages of the corpus Python's reader cannot read itself: base64 with foreign characters
/// (`epilogue-sample.raw`, `extra-base64-character.raw`), a line in a heading that is no header field
/// (`issue358.txt`), transfer encodings `8bits` and `quoted-printable;`. The script lists them.
const UNREAD: u32 = 5;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/email_reader.py");

/// What the script says, or nothing where there is no Python.
fn python(arguments: &[&str]) -> Option<String> {
    let Ok(done) = Command::new("python3").arg(SCRIPT).args(arguments).output() else {
        println!("notice: there is no python3; nothing was compared");
        return None;
    };
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(done.status.success(), "{said}");
    println!("{said}");
    Some(said)
}

#[test]
fn the_comparison_sees_what_is_broken() {
    if let Some(said) = python(&["--self-test"]) {
        assert!(said.contains("broken results, all seen"), "{said}");
    }
}

#[test]
fn messages_change_in_urls_only() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/mail");
    if !corpus.is_dir() {
        println!("notice: ../shared/corpus/mail is not here; nothing was compared");
        return;
    }
    let binary = env!("CARGO_BIN_EXE_baselink");
    python(&[binary, corpus.to_str().unwrap(), &UNREAD.to_string()]);
}
