//! Control characters and direction marks in names, values and documents do not reach a terminal. Each command of
//! `tests/cli/terminal.commands` runs in a terminal, and so do four commands with each row of `tests/cli/terminal.settings`
//! as `baselink.toml`. `X` in these texts is replaced by the hostile characters.
//!
//! Deliberately absent: `rewrite` to a terminal, which prints a document byte for byte, as `cat` does.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;

use crate::case::program;
use crate::outside;

/// CSI as two characters and as one, BEL, DEL, a direction override, an isolate, a carriage return, a zero-width space.
/// `/` and NUL are absent because file names cannot contain them.
const PLANTED: &str = "\u{1b}[31m\u{9b}31m\u{7}\u{7f}\u{202e}\u{2066}\r\u{200b}";

const COMMANDS: &str = include_str!("terminal.commands");
const SETTINGS: &str = include_str!("terminal.settings");

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name.replace('X', PLANTED));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text.replace('X', PLANTED)).unwrap();
}

fn tree(folder: &Path) {
    put(
        folder,
        "t/nXm.html",
        "<base href='http://a/X/'><a href=xX>X</a><aX href='X/y'><img src='../X.png' srcset='X 2x'><a href=#X>\
         <a href=//X/><a href='{{X'><style>a{background:url(X)}</style>",
    );
    put(
        folder,
        "t/b.html",
        "<base href='X'><a href=xX.html><a href=nXm.html><a href='file:///X'><a href=../../X>\
         <a href=http://a/nXm.html><link rel=canonical href='http://c/X'><meta charset='X'>",
    );
    put(folder, "t/c.css", "@import 'X'; a{background:url('X')}");
    put(
        folder,
        "t/d.svg",
        "<svg xml:base='http://a/&#x202e;'><a href='x&#x202e;'/><X></svg>",
    );
    put(
        folder,
        "t/m.eml",
        "Base: <URL:http://a/X/>\nBase: X\nContent-Location: X\nDKIM-Signature: X\nList-Archive: <http://X>\n\
         Content-Type: multipart/related; boundary=\"X\"\n\n--X\nContent-Type: text/html; charset=X\n\n<a href=x>\n\
         --X\nContent-Type: text/html\nContent-Transfer-Encoding: X\n\n<a href=X>\n--X--\n",
    );
    put(
        folder,
        "t/f.mbox",
        "From X\nSubject: X\nContent-Type: text/html; charset=\"X\"\n\n<a href=X>\n",
    );
    put(
        folder,
        "m.csv",
        "path,url\nt/b.html,http://X/\nX,X\nt/c.css,X\n",
    );
    put(folder, "m.jsonl", "{\"path\":\"X\",\"url\":1}\n");
    let response =
        "HTTP/1.1 200 X\r\nContent-Type: text/html; charset=X\r\n\r\n<a href=x><a href='X'>";
    let (response, planted) = (response.replace('X', PLANTED), PLANTED.replace('\r', ""));
    let record = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/{planted}\r\n\
         Content-Type: application/http; msgtype=response\r\nWARC-Record-ID: <urn:{planted}>\r\n\
         Content-Length: {}\r\n\r\n{response}\r\n\r\n",
        response.len()
    );
    put(folder, "x.warc", &record);
    let escaped = PLANTED
        .replace('\u{1b}', "\\u001b")
        .replace('\u{7}', "\\u0007")
        .replace('\r', "\\r");
    let har = "{\"log\":{\"entries\":[{\"request\":{\"url\":\"http://a/X\"},\"response\":{\"content\":\
               {\"mimeType\":\"text/html\",\"text\":\"<a href='X'><a href=x>\"}}}]}}";
    fs::write(folder.join("x.har"), har.replace('X', &escaped)).unwrap();
}

/// True if a terminal would obey `c`, or show the text around it in another order or line.
fn is_obeyed(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Runs the program with each list of arguments in a terminal, and prints the outputs with a NUL after each.
const TERMINALS: &str = "
import json, os, pty, sys
for arguments in json.load(open('commands.json')):
    pty.spawn(sys.argv[1:] + arguments)
    os.write(1, bytes(1))
";

/// The outputs of the program with each list of arguments in a terminal, on both streams.
fn printed(folder: &Path, commands: &[Vec<String>]) -> Option<Vec<String>> {
    let mut terminals = outside::python()?;
    let planted = |words: &Vec<String>| -> Vec<String> {
        words
            .iter()
            .map(|word| word.replace('X', PLANTED))
            .collect()
    };
    let planted: Vec<Vec<String>> = commands.iter().map(planted).collect();
    let commands = serde_json::to_vec(&planted).unwrap();
    fs::write(folder.join("commands.json"), commands).unwrap();
    terminals.args(["-c", TERMINALS]).arg(program());
    terminals
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("TERM", "dumb");
    let output = terminals
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let outputs = text.replace("\r\n", "\n");
    Some(outputs.split_terminator('\0').map(str::to_owned).collect())
}

#[test]
fn hostile_text_does_not_reach_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    tree(folder.path());
    let words = |line: &str| line.split(' ').map(str::to_owned).collect();
    let mut commands: Vec<Vec<String>> = COMMANDS.lines().map(words).collect();
    for (number, line) in SETTINGS.lines().enumerate() {
        let escaped: String = PLANTED
            .chars()
            .map(|c| format!("\\u{:04x}", u32::from(c)))
            .collect();
        let file = format!("s{number}/baselink.toml");
        put(folder.path(), &format!("s{number}/b.html"), "<a href=x>");
        fs::write(folder.path().join(&file), line.replace('X', &escaped)).unwrap();
        for command in ["rewrite", "links", "base", "check"] {
            commands.push(words(&format!("{command} --config {file} s{number}")));
        }
        commands.push(words(&format!("links s{number}")));
    }
    let Some(outputs) = printed(folder.path(), &commands) else {
        return;
    };
    assert_eq!(outputs.len(), commands.len());
    for (arguments, output) in commands.iter().zip(&outputs) {
        assert!(!output.contains(is_obeyed), "{arguments:?}: {output:?}");
    }
    // The characters are shown escaped.
    let is_shown = |output: &&String| output.contains("\\u{9b}") || output.contains("\\u009b");
    let shown = outputs.iter().filter(is_shown).count();
    assert!(shown > 100, "{shown}");
}

#[test]
fn an_invalid_pattern_in_a_settings_file_is_reported_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("baselink.toml"),
        "\ninclude = ['a', \"[\\u001b\"]\n",
    )
    .unwrap();
    fs::write(folder.path().join("a.html"), "").unwrap();
    let mut command = std::process::Command::new(program());
    let output = command
        .args(["links", "."])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        stderr,
        "error: baselink.toml:2: include: [\\u{1b}: not a valid pattern: unclosed character class; missing ']'\n"
    );
}
