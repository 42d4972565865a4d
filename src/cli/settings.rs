//! The settings file `baselink.toml`: its keys are long options of the command line.
//!
//! ```text
//! resolver = "whatwg"   -->   --resolver=whatwg, unless the option was typed
//! ```
//!
//! Deliberately absent: the meaning of options, and options such as `--output`, `--json` and `--follow`. A folder from
//! elsewhere may come with a settings file, which must not decide what is written, printed, or read outside the folder.

use std::{
    error::Error as _,
    ffi::OsString,
    fs::{self, File},
    io::ErrorKind,
    path::{Path, PathBuf},
};

use baselink_text::{Error, Result, name, nearest, visible};
use clap::{Arg, ArgAction, ArgMatches, Command, parser::ValueSource};
use toml::de::{DeTable, DeValue};

use baselink_files::{
    folder_of, head_of,
    walk::{Globs, open_below},
};
use baselink_site::collection::origin::RootUrl;

/// The name of a settings file.
const NAME: &str = "baselink.toml";

/// The largest size of a settings file, in bytes.
const LARGEST: usize = 1 << 20;

/// The options that a settings file may contain.
const KEYS: &str = "\
    url same url-map layout index trust assume-scheme format charset resolver enable attribute fragments \
    base-element skip-dkim include exclude hidden strict verify to deny ignore-url";

/// The options of a settings file, and its path.
#[derive(Debug)]
pub struct Settings {
    path: PathBuf,
    /// The options, each with its values; an option without values is a flag.
    options: Vec<(&'static str, Vec<OsString>)>,
}

impl Settings {
    /// The settings file of the current folder. Only a regular file counts.
    pub fn find() -> Option<PathBuf> {
        let path = Path::new(NAME);
        path.symlink_metadata()
            .is_ok_and(|found| found.is_file())
            .then(|| path.to_owned())
    }

    /// Reads the file `path`, whose keys are options of `program`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is larger than 1 MiB, or is not TOML; or a key or value is
    /// invalid. An error in the contents has a line number.
    pub fn read(path: &Path, program: &Command) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        let bytes = head_of(file, path, LARGEST + 1)?;
        if bytes.len() > LARGEST {
            return Err(Error::file(path, "the settings file is larger than 1 MiB"));
        }
        Self::parse(&bytes, path, program)
    }

    /// Reads the contents of the file `path`.
    pub fn parse(bytes: &[u8], path: &Path, program: &Command) -> Result<Self> {
        let wrong = |at: usize, what: &str| {
            let before = bytes.get(..at).unwrap_or_default();
            let line = memchr::memchr_iter(b'\n', before).count() + 1;
            Error::new(format!("{}:{line}: {}", name(path), visible(what)))
        };
        let text = str::from_utf8(bytes)
            .map_err(|error| wrong(error.valid_up_to(), "this is not UTF-8"))?;
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(at, error.message())
        })?;
        let mut options = Vec::new();
        for (key, value) in table.get_ref() {
            let (at, key) = (key.span().start, key.get_ref());
            let of_commands = program.get_subcommands().flat_map(Command::get_arguments);
            let argument = program
                .get_arguments()
                .chain(of_commands)
                .find(|one| one.get_long() == Some(key));
            let known = KEYS.split(' ').find(|known| known == key);
            let Some((known, argument)) = known.zip(argument) else {
                return Err(wrong(at, &unknown(key, argument.is_some())));
            };
            let mut values = values(argument, value.get_ref())
                .map_err(|why| wrong(value.span().start, &format!("{key}: {why}")))?;
            if known == "url-map" {
                values
                    .iter_mut()
                    .flatten()
                    .for_each(|map| *map = path.with_file_name(&*map).into());
            }
            options.extend(values.map(|values| (known, values)));
        }
        let path = path.to_owned();
        Ok(Self { path, options })
    }

    /// The options that `command` has and that were not `typed`, as words of the command line; true if they give the URL or the
    /// layout of the folder, which replace each other.
    pub fn words(&self, command: Option<&Command>, typed: &ArgMatches) -> (Vec<OsString>, bool) {
        let is_typed = |id: &str| typed.value_source(id) == Some(ValueSource::CommandLine);
        let (mut words, mut gives_url) = (Vec::new(), false);
        for (key, values) in &self.options {
            let mut arguments = command.into_iter().flat_map(Command::get_arguments);
            let Some(argument) = arguments.find(|one| one.get_long() == Some(key)) else {
                continue;
            };
            let is_url = matches!(*key, "url" | "layout");
            if is_typed(argument.get_id().as_str())
                || is_url && (is_typed("url") || is_typed("layout"))
            {
                continue;
            }
            gives_url |= is_url;
            if values.is_empty() {
                words.push(format!("--{key}").into());
            }
            for value in values {
                let mut word = OsString::from(format!("--{key}="));
                word.push(value);
                words.push(word);
            }
        }
        (words, gives_url)
    }

    /// The path of `root`, a folder or a file, below the folder of the settings.
    ///
    /// `root` may be outside that folder. Then the path is empty, or the name of the file `root`.
    pub fn way_to(&self, root: &Path) -> PathBuf {
        let way = || {
            let root = fs::canonicalize(root).ok()?;
            let folder = fs::canonicalize(folder_of(&self.path)).ok()?;
            Some(root.strip_prefix(folder).ok()?.to_owned())
        };
        way().unwrap_or_else(|| match root.file_name() {
            Some(file) if root.is_file() => file.into(),
            _ => PathBuf::new(),
        })
    }

    /// Opens `path`, which these settings name, if it is a regular file in their folder. Settings that came with a folder must
    /// not make the program read files outside it, whatever another program does meanwhile.
    ///
    /// # Errors
    ///
    /// The path is not a regular file in the folder, or there is a symbolic link on the way.
    pub fn open(&self, path: &Path) -> Result<File> {
        let folder = folder_of(&self.path);
        let relative = path.strip_prefix(folder).unwrap_or(path);
        open_below(folder, relative).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::io(path)(error),
            _ => Error::file(
                path,
                "not a file in the folder of the settings that name it; give --url-map on the command line, or name the \
                 settings with --config",
            ),
        })
    }
}

/// Explains why `key` is not allowed. An option is allowed only on the command line.
fn unknown(key: &str, is_option: bool) -> String {
    match nearest(key, KEYS.split(' ')) {
        _ if is_option => format!("'{key}' is allowed only on the command line"),
        Some(meant) => format!("unknown key '{key}'; did you mean '{meant}'?"),
        None => format!(
            "unknown key '{key}'; no table is allowed, and the keys are {}",
            KEYS.replace(' ', ", ")
        ),
    }
}

/// The values of the option `argument`; `None` if there are none, or for a flag that is off.
///
/// # Errors
///
/// Returns the reason why the option does not take `value`.
fn values(argument: &Arg, value: &DeValue<'_>) -> Result<Option<Vec<OsString>>, String> {
    let (takes, texts) = match (argument.get_action(), value) {
        (ArgAction::SetTrue, DeValue::Boolean(is_on)) => return Ok(is_on.then(Vec::new)),
        (ArgAction::SetTrue, _) => ("takes true or false", None),
        (_, DeValue::String(text)) => ("", Some(vec![&**text])),
        (ArgAction::Append, DeValue::Array(all)) => (
            "takes a string or an array of strings",
            all.iter().map(|one| one.get_ref().as_str()).collect(),
        ),
        (ArgAction::Append, _) => ("takes a string or an array of strings", None),
        _ => ("takes a string", None),
    };
    let texts: Vec<&str> = texts.ok_or(takes)?;
    let key = argument.get_long().unwrap_or_default();
    for text in &texts {
        check(argument, key, text)?;
    }
    if matches!(key, "include" | "exclude") {
        Globs::new(&texts).map_err(|_| "the patterns together are too long")?;
    }
    let texts: Vec<OsString> = texts.into_iter().map(OsString::from).collect();
    Ok((!texts.is_empty()).then_some(texts))
}

/// Checks a value of an option as the command line does. The URL must be that of a folder.
fn check(argument: &Arg, key: &str, text: &str) -> Result<(), String> {
    let checked = match key {
        "url" => RootUrl::new(text).map(drop),
        "include" | "exclude" => Globs::new(&[text]).map(drop),
        _ => Ok(()),
    };
    checked.map_err(|error| error.to_string())?;
    let parsed = Command::new(NAME)
        .no_binary_name(true)
        .arg(argument.clone())
        .try_get_matches_from([format!("--{key}={text}")]);
    parsed.map(drop).map_err(|error| match error.source() {
        Some(why) => why.to_string(),
        None => "invalid value".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn parsed(text: &str) -> Result<Settings> {
        let program = crate::cli::args::built_program();
        Settings::parse(text.as_bytes(), Path::new("d/baselink.toml"), &program)
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
        let program = crate::cli::args::built_program();
        let matches = program
            .clone()
            .get_matches_from(["baselink", "links", "-u", "http://a/"]);
        let (command, typed) = matches.subcommand().unwrap();
        let command = program.find_subcommand(command);
        let words = |text: &str| parsed(text).unwrap().words(command, typed).0;
        let expected = [
            "--enable=text",
            "--enable=json",
            "--strict",
            "--trust=-saved",
        ];
        assert_eq!(words(text)[..4], expected);
        assert_eq!(
            words(text)[4..],
            [OsString::from(format!(
                "--url-map={}",
                Path::new("d").join("m.csv").display()
            ))]
        );
        assert!(
            words("include = []\nhidden = false\nto = 'http://b/'\nlayout = 'host'").is_empty()
        );
    }

    #[test]
    fn an_error_has_its_line_and_key() {
        for (text, expected) in [
            (
                "\nresolvr = 'whatwg'",
                "2: unknown key 'resolvr'; did you mean 'resolver'?",
            ),
            (
                "x = 1",
                "1: unknown key 'x'; no table is allowed, and the keys are url, same, …",
            ),
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
            (
                "[check]\nstrict = true",
                "1: unknown key 'check'; no table is allowed, …",
            ),
            ("[files.'*']", "1: unknown key 'files'; …"),
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
        let utf_16 =
            Settings::parse(b"url = '\xff'", Path::new("b"), &Command::new("b")).unwrap_err();
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
