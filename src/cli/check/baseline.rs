//! `--baseline`: accepted findings, one JSON object on each line.
//!
//! ```text
//! {"path":"index.html","entity":"","element":"a","attribute":"href","reference":"x","class":"dangling","count":1}
//! ```
//!
//! A row has no line number and no offset, so that changes in other parts of the file do not affect it. The path is
//! relative to the folder. Equal findings share a row, which counts them.
//!
//! Deliberately absent: patterns; `--exclude` skips files.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    io::{self, ErrorKind},
    path::Path,
    str::Utf8Chunk,
    sync::Mutex,
};

use baselink_rewrite::LinkReport;
use baselink_text::{Error, Result, cause, name};
use serde::{Deserialize, Serialize};

use baselink_files::shared::locked;
use baselink_site::purpose::check::{Class, Finding};

use crate::cli::json_records::append_json;

/// A finding without its place in the file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FindingKey {
    path: String,
    entity: String,
    element: String,
    attribute: Option<String>,
    reference: String,
    class: String,
}

#[derive(Serialize, Deserialize)]
struct BaselineRow {
    #[serde(flatten)]
    key: FindingKey,
    count: usize,
}

impl FindingKey {
    /// The key of a finding in the file at `path` below the folder, as [`path`](fn@path) writes it.
    pub fn of(path: String, link: &LinkReport, finding: &Finding) -> Self {
        Self {
            path,
            entity: link.entity.to_string(),
            element: link.element.to_string(),
            attribute: link.attribute.as_deref().map(str::to_owned),
            reference: link.reference.clone(),
            class: finding.class().name().to_owned(),
        }
    }
}

/// The path of a file below the folder, as text. Each byte that is not UTF-8 becomes U+FFFD and its two hexadecimal
/// digits. The character U+FFFD itself is escaped in the same way, so that two files never share a path.
pub fn path(path: &[u8]) -> String {
    const MARK: &str = "\u{fffd}";
    let escaped = |bytes: &[u8]| -> String {
        bytes
            .iter()
            .map(|byte| format!("{MARK}{byte:02X}"))
            .collect()
    };
    let mark = escaped(MARK.as_bytes());
    let written =
        |chunk: Utf8Chunk<'_>| chunk.valid().replace(MARK, &mark) + &escaped(chunk.invalid());
    path.utf8_chunks().map(written).collect()
}

/// The accepted findings.
#[derive(Default)]
pub struct Baseline {
    /// Accepted findings that are not yet matched.
    unmatched: Mutex<HashMap<FindingKey, usize>>,
    /// The number of findings in the file.
    pub len: usize,
    /// The findings for a new baseline.
    noted: Mutex<BTreeMap<FindingKey, usize>>,
}

impl Baseline {
    /// Reads the file at `path`. With `may_be_missing`, a missing file is an empty baseline.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a line was not written by [`Self::write`].
    pub fn read(path: &Path, may_be_missing: bool) -> Result<Self> {
        let failed = |why: &str| Error::new(format!("--baseline: {}: {why}", name(path)));
        let bytes = match fs::read(path) {
            Err(error) if may_be_missing && error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(failed("no such file; --update-baseline writes it"));
            }
            read => read.map_err(|error| failed(&cause(&error)))?,
        };
        let (mut unmatched, mut len) = (HashMap::new(), 0_usize);
        // Some editors write a byte order mark.
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        for (number, line) in (1_usize..).zip(bytes.split(|&byte| byte == b'\n')) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let row: BaselineRow = serde_json::from_slice(line).map_err(|_| {
                failed(&format!(
                    "line {number} is not a finding that --update-baseline wrote"
                ))
            })?;
            if Class::from_name(&row.key.class).is_none() {
                return Err(failed(&format!("line {number} has an unknown class")));
            }
            len = len.saturating_add(row.count);
            let accepted: &mut usize = unmatched.entry(row.key).or_default();
            *accepted = accepted.saturating_add(row.count);
        }
        Ok(Self {
            unmatched: Mutex::new(unmatched),
            len,
            noted: Mutex::default(),
        })
    }

    /// Notes a finding with this key, and accepts it; true if the baseline still had one. An earlier version put links into
    /// these other classes.
    pub fn accept(&self, mut key: FindingKey) -> bool {
        let earlier: &[&str] = match &*key.class {
            "dangling" | "missing" | "fragment" => &["escapes", "pinned"],
            "no-slash" | "clean-url" => &["dangling", "escapes", "pinned"],
            _ => &[],
        };
        let class = key.class.clone();
        let mut unmatched = locked(&self.unmatched);
        let is_accepted = [&*class].iter().chain(earlier).any(|class| {
            (*class).clone_into(&mut key.class);
            let remaining = unmatched.get_mut(&key).filter(|remaining| **remaining > 0);
            remaining.map(|remaining| *remaining -= 1).is_some()
        });
        key.class = class;
        *locked(&self.noted).entry(key).or_default() += 1;
        is_accepted
    }

    /// Writes the noted findings, in a stable order.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut lines = Vec::new();
        for (key, count) in &*locked(&self.noted) {
            append_json(
                &mut lines,
                &BaselineRow {
                    key: key.clone(),
                    count: *count,
                },
            )?;
            lines.push(b'\n');
        }
        out.write_all(&lines)
    }

    /// The number of findings for a new baseline.
    pub fn noted(&self) -> usize {
        locked(&self.noted).values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_names_have_different_paths() {
        for (bytes, expected) in [
            (&b"d/\xC3\xBC.html"[..], "d/\u{fc}.html"),
            (b"\xFC.html", "\u{fffd}FC.html"),
            (b"\xFD.html", "\u{fffd}FD.html"),
            (
                "\u{fffd}.html".as_bytes(),
                "\u{fffd}EF\u{fffd}BF\u{fffd}BD.html",
            ),
        ] {
            assert_eq!(path(bytes), expected);
        }
    }
}
