//! Cases in one file each: a head, and sections of bytes. `BLESS=1` rewrites the expectations of fixtures.
//!
//! ```text
//! # A comment.
//! $ baselink rewrite --url http://a/b/
//! ==> input.html <== no line end
//! <a href=x>
//! ==> expected.html <== escaped
//! <a href=http://a/b/x>\x20\
//! ```
//!
//! A section with bytes that text cannot show is `escaped`: `\xNN` is a byte, `\r`, `\t` and `\\` mean the same as in Rust,
//! and a `\` at the end of a line removes the line end. `no line end` removes the end of the last line.
//! `link TARGET` is a symbolic link.
//!
//! Deliberately absent: the meaning of heads and sections.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

/// The lines before the first section, and the sections: name, form, bytes.
pub(crate) type Parsed<'a> = (Vec<&'a str>, Vec<(&'a str, &'a str, Vec<u8>)>);

pub(crate) fn parse<'a>(name: &str, text: &'a str) -> Parsed<'a> {
    let wrong = |what: &str| -> ! { panic!("{name}: {what}") };
    if !text.ends_with('\n') {
        wrong("the last line has no end");
    }
    let (mut head, mut bodies) = (Vec::new(), Vec::<(&str, &str, String)>::new());
    for line in text.split_inclusive('\n') {
        let header = line
            .trim_end()
            .strip_prefix("==> ")
            .and_then(|rest| rest.split_once(" <=="));
        match (header, bodies.last_mut()) {
            (Some((section, form)), _) => bodies.push((section, form.trim_start(), String::new())),
            (None, Some((.., body))) => body.push_str(line),
            (None, None) => head.push(line.trim_end_matches('\n')),
        }
    }
    let sections = bodies.into_iter().map(|(section, form, body)| {
        let bytes = match form {
            "" => body.into_bytes(),
            "gone" if body.is_empty() => Vec::new(),
            _ if form.starts_with("link ") && body.is_empty() => form["link ".len()..].into(),
            "no line end" => body[..body.len() - 1].into(),
            "escaped" => unescape(&body),
            _ => wrong(form),
        };
        (section, form, bytes)
    });
    (head, sections.collect())
}

/// A section as text, in the form that its bytes need.
pub(crate) fn section(name: &str, bytes: &[u8]) -> String {
    let text = str::from_utf8(bytes).ok().filter(|text| {
        let is_shown = |character: char| !character.is_control() || "\n\t".contains(character);
        text.chars().all(is_shown) && !text.split('\n').any(|line| line.starts_with("==> "))
    });
    match text {
        Some(text) if text.is_empty() || text.ends_with('\n') => format!("==> {name} <==\n{text}"),
        Some(text) => format!("==> {name} <== no line end\n{text}\n"),
        None => format!("==> {name} <== escaped\n{}", escape(bytes)),
    }
}

/// The lines of an `escaped` section.
fn escape(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\n' => text.push('\n'),
                '\\' | '\r' | '\t' => text.extend(character.escape_default()),
                _ if character.is_control() => {
                    let mut buffer = [0; 4];
                    text.push_str(&in_hexadecimal(
                        character.encode_utf8(&mut buffer).as_bytes(),
                    ));
                }
                _ => text.push(character),
            }
        }
        text.push_str(&in_hexadecimal(chunk.invalid()));
    }
    if text.starts_with("==> ") {
        text.replace_range(..1, "\\x3d");
    }
    let mut text = text.replace("\n==> ", "\n\\x3d=> ");
    if !text.ends_with('\n') {
        text.push_str("\\\n");
    }
    text
}

fn in_hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect()
}

/// The bytes of an `escaped` section.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut pieces = text.split('\\');
    bytes.extend(pieces.next().unwrap_or_default().as_bytes());
    while let Some(piece) = pieces.next() {
        let (byte, length) = match piece.as_bytes() {
            // Two backslashes: the piece between them is empty.
            [] => {
                bytes.push(b'\\');
                bytes.extend(pieces.next().unwrap_or_default().as_bytes());
                continue;
            }
            [b'\n', ..] => (None, 1),
            [b'r', ..] => (Some(b'\r'), 1),
            [b't', ..] => (Some(b'\t'), 1),
            [b'x', ..] => (Some(u8::from_str_radix(&piece[1..3], 16).unwrap()), 3),
            _ => panic!("no escape begins with \\{piece}"),
        };
        bytes.extend(byte);
        bytes.extend(&piece.as_bytes()[length..]);
    }
    bytes
}

/// Splits a command into words as a shell does: `'…'` and `"…"` are literal, `$'…'` is escaped.
pub(crate) fn words(mut rest: &str) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(next) = rest.strip_prefix(' ') {
        rest = next;
        let mut word = Vec::new();
        while !rest.is_empty() && !rest.starts_with(' ') {
            let quotes = ["$'", "'", "\""]
                .into_iter()
                .find(|quote| rest.starts_with(quote));
            let (piece, after) = match quotes {
                Some(open) => rest[open.len()..]
                    .split_once(&open[open.len() - 1..])
                    .unwrap(),
                None => rest.split_at(rest.find([' ', '\'', '"']).unwrap_or(rest.len())),
            };
            match quotes {
                Some("$'") => word.extend(unescape(piece)),
                _ => word.extend(piece.as_bytes()),
            }
            rest = after;
        }
        words.push(String::from_utf8(word).unwrap());
    }
    words
}

/// A case of `fixtures/`: what it proves, the options of a command, and the files that `fixtures/README.md` describes.
pub(crate) struct Case {
    /// The folder and the name, such as `html/base-absolute`.
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) sections: Vec<(String, Vec<u8>)>,
    /// Symbolic links, each with its target.
    links: Vec<(String, String)>,
    /// True if what is found replaces what is expected.
    pub(crate) is_blessed: bool,
    path: PathBuf,
    head: String,
}

impl Case {
    /// The cases of the folder `folder` of `fixtures/`, of which there must be `minimum`.
    pub(crate) fn all(folder: &str, minimum: usize) -> Vec<Self> {
        let entries = std::fs::read_dir(fixtures().join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut paths: Vec<_> = paths
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "case")
            })
            .collect();
        paths.sort();
        assert!(
            paths.len() >= minimum,
            "{folder} has only {} cases",
            paths.len()
        );
        paths.into_iter().map(Self::read).collect()
    }

    /// The case `name`, such as `html/base-absolute`.
    pub(crate) fn named(name: &str) -> Self {
        Self::read(fixtures().join(format!("{name}.case")))
    }

    fn read(path: PathBuf) -> Self {
        let name = path.strip_prefix(fixtures()).unwrap().with_extension("");
        let name = name.to_str().unwrap().replace('\\', "/");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (head, sections) = parse(&name, &text);
        let [about, command] = head[..] else {
            panic!("{name}: the head has two lines");
        };
        let command = command.strip_prefix("$ baselink").unwrap();
        let mut case = Self {
            about: about.strip_prefix("# ").unwrap().to_owned(),
            arguments: words(command).split_off(1),
            sections: Vec::new(),
            links: Vec::new(),
            is_blessed: std::env::var_os("BLESS").is_some(),
            head: head.join("\n"),
            path,
            name,
        };
        for (section, form, bytes) in sections {
            match form.strip_prefix("link ") {
                Some(target) => case.links.push((section.to_owned(), target.to_owned())),
                None => case.sections.push((section.to_owned(), bytes)),
            }
        }
        case
    }

    /// A folder with the files that exist before the command.
    #[cfg(unix)]
    pub(crate) fn scene(&self) -> tempfile::TempDir {
        let scene = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            let path = scene.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        };
        for (name, bytes) in &self.sections {
            if !name.starts_with("expected") {
                std::fs::write(place(name), bytes).unwrap();
            }
        }
        for (name, target) in &self.links {
            std::os::unix::fs::symlink(target, place(name)).unwrap();
        }
        scene
    }

    pub(crate) fn has(&self, section: &str) -> bool {
        self.sections.iter().any(|(name, _)| name == section)
    }

    /// The index of a section. `*` in its name is the extension of the documents.
    fn place(&self, section: &str) -> usize {
        let is_meant = |name: &str| match section.strip_suffix('*') {
            Some(start) => name
                .strip_prefix(start)
                .is_some_and(|extension| !["links", "base"].contains(&extension)),
            None => name == section,
        };
        let place = self.sections.iter().position(|(name, _)| is_meant(name));
        place.unwrap_or_else(|| panic!("{} has no section {section}", self.name))
    }

    pub(crate) fn bytes(&self, section: &str) -> &[u8] {
        &self.sections[self.place(section)].1
    }

    /// The lines of a section, split at tabs.
    pub(crate) fn fields(&self, section: &str) -> Vec<Vec<String>> {
        let text = str::from_utf8(self.bytes(section)).unwrap();
        let is_whole = text.is_empty() || text.ends_with('\n');
        assert!(is_whole, "{}: {section} ends within a line", self.name);
        let lines = text.lines();
        lines
            .map(|line| line.split('\t').map(str::to_owned).collect())
            .collect()
    }

    /// Describes the difference between what was expected in a section and what was found, or puts the latter there.
    pub(crate) fn difference(
        &mut self,
        section: &str,
        expected: &[u8],
        found: &[u8],
    ) -> Option<String> {
        if expected == found {
            return None;
        }
        if self.is_blessed {
            let place = self.place(section);
            self.sections[place].1 = found.to_vec();
            self.write();
            return None;
        }
        let (expected, found) = (shown(expected), shown(found));
        Some(format!("{section} should be\n{expected}and is\n{found}"))
    }

    fn write(&self) {
        let mut text = format!("{}\n", self.head);
        for (name, target) in &self.links {
            text += &format!("==> {name} <== link {target}\n");
        }
        for (name, bytes) in &self.sections {
            text += &section(name, bytes);
        }
        std::fs::write(&self.path, text).unwrap();
    }
}

/// The lines of `bytes`, escaped and indented.
fn shown(bytes: &[u8]) -> String {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n');
    lines
        .map(|line| format!("  {}\n", line.escape_ascii()))
        .collect()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}
