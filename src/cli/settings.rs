//! The settings file `baselink.toml`: its keys are long options of the command line.
//!
//! ```text
//! resolver = "whatwg"   -->   Settings { resolver: Some(Whatwg), … }, for options that were not typed
//! ```
//!
//! Deliberately absent: the meaning of options, and options such as `--output`, `--json` and `--follow`. A folder from
//! elsewhere may come with a settings file, which must not decide what is written, printed, or read outside the folder.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::collection::origin::RootUrl;
use crate::files::walk::Globs;
use baselink_rewrite::{BaseElement, Fragments};
use baselink_scan::attributes::{Groups, Place};
use baselink_text::error::{Error, Result, name, visible};
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use baselink_url::{Profile, hierarchical_scheme};
use serde::de::{Deserialize, Deserializer, Error as _};
use toml::de::DeTable;

use super::args::trust::{HostLayout, TrustList};
use super::request::Classes;

/// The name of a settings file.
const NAME: &str = "baselink.toml";

/// The largest size of a settings file, in bytes.
const LARGEST: usize = 1 << 20;

/// The values of a settings file, and its folder.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    #[serde(skip)]
    folder: PathBuf,
    #[serde(deserialize_with = "url")]
    pub(crate) url: Option<String>,
    pub(crate) url_map: Option<PathBuf>,
    #[serde(deserialize_with = "one")]
    pub(crate) layout: Option<HostLayout>,
    pub(crate) index: Option<String>,
    #[serde(deserialize_with = "several")]
    pub(crate) trust: Vec<TrustList>,
    #[serde(deserialize_with = "scheme")]
    pub(crate) assume_scheme: Option<String>,
    #[serde(deserialize_with = "one")]
    pub(crate) format: Option<Format>,
    #[serde(deserialize_with = "one")]
    pub(crate) charset: Option<Charset>,
    #[serde(deserialize_with = "one")]
    pub(crate) resolver: Option<Profile>,
    #[serde(deserialize_with = "several")]
    pub(crate) enable: Vec<Groups>,
    #[serde(deserialize_with = "several")]
    pub(crate) attribute: Vec<Place>,
    #[serde(deserialize_with = "one")]
    pub(crate) fragments: Option<Fragments>,
    #[serde(deserialize_with = "one")]
    pub(crate) base_element: Option<BaseElement>,
    pub(crate) skip_dkim: bool,
    #[serde(deserialize_with = "patterns")]
    pub(crate) include: Vec<String>,
    #[serde(deserialize_with = "patterns")]
    pub(crate) exclude: Vec<String>,
    pub(crate) hidden: bool,
    pub(crate) strict: bool,
    pub(crate) verify: bool,
    pub(crate) to: Option<String>,
    #[serde(deserialize_with = "several")]
    pub(crate) deny: Vec<Classes>,
}

/// Reads a string as a `T`.
fn one<'de, D: Deserializer<'de>, T>(value: D) -> std::result::Result<Option<T>, D::Error>
where
    T: FromStr<Err: Display>,
{
    String::deserialize(value)?
        .parse()
        .map(Some)
        .map_err(D::Error::custom)
}

/// Reads a string or an array of strings, each as a `T`.
fn several<'de, D: Deserializer<'de>, T>(value: D) -> std::result::Result<Vec<T>, D::Error>
where
    T: FromStr<Err: Display>,
{
    #[derive(serde::Deserialize)]
    #[serde(untagged, expecting = "takes a string or an array of strings")]
    enum OneOrAll {
        One(String),
        All(Vec<String>),
    }
    let all = match OneOrAll::deserialize(value)? {
        OneOrAll::One(one) => vec![one],
        OneOrAll::All(all) => all,
    };
    all.iter()
        .map(|one| one.parse().map_err(D::Error::custom))
        .collect()
}

/// Reads the URL of a folder.
fn url<'de, D: Deserializer<'de>>(value: D) -> std::result::Result<Option<String>, D::Error> {
    let url = String::deserialize(value)?;
    RootUrl::new(&url).map_err(D::Error::custom)?;
    Ok(Some(url))
}

/// Reads the scheme of hierarchical URLs.
fn scheme<'de, D: Deserializer<'de>>(value: D) -> std::result::Result<Option<String>, D::Error> {
    hierarchical_scheme(&String::deserialize(value)?)
        .map(Some)
        .map_err(D::Error::custom)
}

/// Reads patterns for paths.
fn patterns<'de, D: Deserializer<'de>>(value: D) -> std::result::Result<Vec<String>, D::Error> {
    let patterns: Vec<String> = several(value)?;
    for pattern in &patterns {
        Globs::new(&[pattern]).map_err(D::Error::custom)?;
    }
    let too_long = |_| D::Error::custom("the patterns together are too long");
    Globs::new(&patterns).map_err(too_long)?;
    Ok(patterns)
}

/// The name among `known` that is most similar to `typed`; at most a third of its letters may differ.
pub(super) fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .filter(|known| typed.len() <= 2 * known.len())
        .map(|known| (strsim::osa_distance(typed, known), known))
        .filter(|(distance, known)| 3 * distance <= known.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

impl Settings {
    /// The settings file of the current folder. Only a regular file counts.
    pub(crate) fn find() -> Option<PathBuf> {
        let path = Path::new(NAME);
        let is_regular = path.symlink_metadata().is_ok_and(|found| found.is_file());
        is_regular.then(|| path.to_owned())
    }

    /// Reads the file `path`. `options` are the long options of the command line: the message about an unknown key
    /// distinguishes them from spelling mistakes.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is larger than 1 MiB, or is not TOML; or a key or value is
    /// invalid. An error in the contents has a line number.
    pub(crate) fn read(path: &Path, options: &[String]) -> Result<Self> {
        let failed = |error| Error::io(path, error);
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(failed)?;
        file.take(LARGEST as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        if bytes.len() > LARGEST {
            let path = name(path);
            return Err(Error::new(format!(
                "{path}: the settings file is larger than 1 MiB"
            )));
        }
        Self::parse(&bytes, path, options)
    }

    /// Reads the contents of the file `path`.
    pub(crate) fn parse(bytes: &[u8], path: &Path, options: &[String]) -> Result<Self> {
        let wrong = |at: usize, what: &str| {
            let before = bytes.get(..at).unwrap_or_default();
            let line = memchr::memchr_iter(b'\n', before).count() + 1;
            Error::new(format!("{}:{line}: {}", name(path), visible(what)))
        };
        let text = str::from_utf8(bytes)
            .map_err(|error| wrong(error.valid_up_to(), "this is not UTF-8"))?;
        let read = toml::from_str::<Self>(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(at, &reason(text, at, error.message(), options))
        })?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let url_map = read.url_map.map(|map| folder.join(map));
        Ok(Self {
            folder,
            url_map,
            ..read
        })
    }

    /// The path of `root`, a folder or a file, below the folder of the settings.
    ///
    /// `root` may be outside that folder. Then the path is empty, or the name of the file `root`.
    pub(crate) fn way_to(&self, root: &Path) -> PathBuf {
        let way = || {
            let root = fs::canonicalize(root).ok()?;
            Some(root.strip_prefix(self.real_folder().ok()?).ok()?.to_owned())
        };
        way().unwrap_or_else(|| match root.file_name() {
            Some(file) if root.is_file() => file.into(),
            _ => PathBuf::new(),
        })
    }

    /// Allows reading `path`, which these settings name, if it is a regular file in their folder. Settings that came
    /// with a folder must not make the program read files outside it.
    ///
    /// # Errors
    ///
    /// The path is not a regular file in the folder.
    pub(crate) fn holds(&self, path: &Path) -> Result<()> {
        let real = fs::canonicalize(path).map_err(|error| Error::io(path, error))?;
        if real.is_file()
            && self
                .real_folder()
                .is_ok_and(|folder| real.starts_with(folder))
        {
            return Ok(());
        }
        let why = "not a file in the folder of the settings that name it; give --url-map on the command line, or name \
                   the settings with --config";
        Err(Error::file(path, why))
    }

    /// The folder of the file, without symbolic links.
    fn real_folder(&self) -> io::Result<PathBuf> {
        let is_here = self.folder.as_os_str().is_empty();
        fs::canonicalize(if is_here {
            Path::new(".")
        } else {
            &self.folder
        })
    }
}

/// Explains the error `message` about the byte `at` of the settings `text`, with the key that it concerns.
fn reason(text: &str, at: usize, message: &str, options: &[String]) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field")
        && let Some(key) = quoted.next()
    {
        return match nearest(key, quoted) {
            _ if options.iter().any(|option| option == key) => {
                format!("'{key}' is allowed only on the command line")
            }
            Some(meant) => format!("unknown key '{key}'; did you mean '{meant}'?"),
            None => format!("unknown key '{key}'"),
        };
    }
    let table = DeTable::parse(text).ok();
    let mut keys = table.iter().flat_map(|table| table.get_ref());
    match keys.find(|(_, value)| value.span().contains(&at)) {
        Some((key, _)) => format!("{}: {message}", key.get_ref()),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn parsed(text: &str) -> Result<Settings> {
        let options = ["output", "url"].map(str::to_owned);
        Settings::parse(text.as_bytes(), Path::new("d/baselink.toml"), &options)
    }

    proptest! {
        /// The oracle of the fuzz target, on text that is nearly settings.
        #[test]
        fn any_bytes_are_settings_or_one_line(pieces in prop::collection::vec(select(PIECES), 0..8)) {
            crate::cli::hold_settings(&pieces.concat());
        }
    }

    /// Keys, values and marks, whole and broken.
    const PIECES: &[&[u8]] = &[
        b"url",
        b"resolver",
        b"strict",
        b"include",
        b"x\x1b",
        b" = ",
        b"'a'",
        b"'\xff",
        b"true",
        b"[",
        b"]",
        b"['[']",
        b"\n",
        b"\r",
        b"#",
        b"\xe2\x80\xae",
        b"\xef\xbb\xbf",
        b"\"\\u202e\"",
    ];

    #[test]
    fn a_settings_file_has_the_values_of_options() {
        let text = "\u{feff}url-map = 'm.csv'\r\ntrust = '-saved'\nenable = ['text', 'json']\nstrict = true\n";
        let settings = parsed(text).unwrap();
        assert_eq!(settings.url_map.as_deref(), Some(Path::new("d/m.csv")));
        assert_eq!((settings.trust.len(), settings.enable.len()), (1, 2));
        assert!(settings.strict && !settings.hidden);
        assert!(parsed("include = []").unwrap().include.is_empty());
    }

    #[test]
    fn an_error_has_its_line_and_key() {
        for (text, expected) in [
            (
                "\nresolvr = 'whatwg'",
                "2: unknown key 'resolvr'; did you mean 'resolver'?",
            ),
            ("x = 1", "1: unknown key 'x'"),
            (
                "output = 'x'",
                "1: 'output' is allowed only on the command line",
            ),
            (
                "resolver = 'foo'",
                "1: resolver: unknown resolver 'foo'; use …",
            ),
            ("strict = 'yes'", "1: strict: …"),
            ("enable = [\n'text', 'txt']", "1: enable: …"),
            (
                "enable = 1",
                "1: enable: takes a string or an array of strings",
            ),
            ("url = 'a'", "1: url: …"),
            ("include = ['[']", "1: include: …"),
            ("layout = 'host:x y'", "1: layout: …"),
            ("assume-scheme = 'mailto'", "1: assume-scheme: …"),
            ("strict = true\nstrict = true", "2: …"),
            ("url = http://a/", "1: …"),
            ("\n\n= 1", "3: …"),
            ("[files.'*']", "1: unknown key 'files'"),
        ] {
            let message = parsed(text).map(|_| String::new());
            let message = message.unwrap_or_else(|error| error.to_string());
            let expected = format!("d/baselink.toml:{expected}");
            match expected.strip_suffix('…') {
                Some(start) => {
                    assert!(
                        message.starts_with(start) && message.len() > start.len(),
                        "{message}"
                    )
                }
                None => assert_eq!(message, expected, "{text}"),
            }
            assert!(!message.contains(char::is_control), "{message:?}");
        }
        let utf_16 = Settings::parse(b"url = '\xff'", Path::new("b"), &[]).unwrap_err();
        assert_eq!(utf_16.to_string(), "b:1: this is not UTF-8");
    }

    #[test]
    fn patterns_that_are_too_long_together_are_refused() {
        let patterns = format!("'{}',", "{a,b}*".repeat(150)).repeat(1_000);
        let message = parsed(&format!("include = [{patterns}]"))
            .unwrap_err()
            .to_string();
        let expected = "include: the patterns together are too long";
        assert_eq!(message, format!("d/baselink.toml:1: {expected}"));
    }

    #[test]
    fn deep_nesting_is_an_error() {
        assert!(parsed(&format!("url = {}", "[".repeat(100_000))).is_err());
    }
}
