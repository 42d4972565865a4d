//! Reading a settings file: every key, value and pattern is compared with the options.
//!
//! ```text
//! resolver = "foo"  -->  baselink.toml:1: resolver: unknown resolver 'foo': use rfc1808, …
//! ```
//!
//! The first thing that is wrong ends the reading.
//!
//! Deliberately absent: which settings count for a file, and which beside others.

use std::ffi::OsString;
use std::path::Path;

use baselink::collection::origin::RootUrl;
use baselink::error::{Error, Result, name, visible};
use baselink::files::walk::{self, Globs};
use clap::{ArgAction, Command};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::options::{KnownOption, OF_A_DOCUMENT, ONLY_TYPED, nearest};
use super::{OF_A_FOLDER, Section, Setting, Settings};

/// How many sections it may have: each is a pattern that every file of a tree is held against.
const MOST_SECTIONS: usize = 1_000;

/// The table of the sections.
const SECTIONS: &str = "files";

/// Options whose value is the path of a file to be read.
const PATHS: &[&str] = &["url-map"];

/// Options whose value is a pattern.
const PATTERNS: &[&str] = &["include", "exclude"];

impl Settings {
    /// What `bytes`, the contents of the file `path`, say.
    pub(super) fn parse(bytes: &[u8], path: &Path, program: &Command) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let options = KnownOption::all(program);
        let reading = SettingsReader { path, bytes, folder: &folder, options: &options, program };
        let text = str::from_utf8(bytes)
            .map_err(|error| reading.wrong(error.valid_up_to(), "this is not UTF-8"))?;
        let table = DeTable::parse(text).map_err(|error| match error.span() {
            Some(span) => reading.wrong(span.start, error.message()),
            None => Error::new(format!("{}: {}", name(path), visible(error.message()))),
        })?;
        let (mut top, mut sections, mut globs) = (Vec::new(), Vec::new(), Globs::default());
        for (key, value) in table.get_ref() {
            if key.get_ref() == SECTIONS {
                (sections, globs) = reading.sections(value)?;
            } else {
                top.push(reading.setting(key, value)?);
            }
        }
        Ok(Self { folder, options, top, sections, globs })
    }
}

/// A settings file that is being read.
struct SettingsReader<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    folder: &'a Path,
    options: &'a [KnownOption],
    program: &'a Command,
}

impl SettingsReader<'_> {
    /// The error `what`, about the byte `at` of the file.
    fn wrong(&self, at: usize, what: &str) -> Error {
        let before = self.bytes.get(..at).unwrap_or_default();
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        Error::new(format!("{}:{line}: {}", name(self.path), visible(what)))
    }

    /// The sections of the table `files`, and the set of their patterns.
    fn sections(&self, files: &Spanned<DeValue<'_>>) -> Result<(Vec<Section>, Globs)> {
        let form = r#"'files' is for sections, [files."GLOB"]"#;
        let DeValue::Table(files_table) = files.get_ref() else {
            return Err(self.wrong(files.span().start, form));
        };
        let (mut sections, mut patterns) = (Vec::new(), Vec::new());
        for (pattern, table) in files_table {
            let at = pattern.span().start;
            let DeValue::Table(table) = table.get_ref() else {
                return Err(self.wrong(at, form));
            };
            if sections.len() == MOST_SECTIONS {
                let what = format!("more than {MOST_SECTIONS} sections are not read");
                return Err(self.wrong(at, &what));
            }
            let pattern = pattern.get_ref().as_ref();
            Globs::new(&[pattern]).map_err(|error| self.wrong(at, &error.to_string()))?;
            let folder = walk::folder(pattern);
            let mut settings = Vec::with_capacity(table.len());
            for (key, value) in table {
                let setting = self.setting(key, value)?;
                let (at, key) = (key.span().start, key.get_ref());
                if !OF_A_DOCUMENT.contains(&key.as_ref()) {
                    let what =
                        format!("'{key}' applies to all files; move it above the first section");
                    return Err(self.wrong(at, &what));
                }
                if folder.is_none() && OF_A_FOLDER.contains(&key.as_ref()) {
                    let what = format!(
                        "{key}: '{pattern}' matches folders at any depth; '/{}' is one folder",
                        pattern.strip_prefix("./").unwrap_or(pattern)
                    );
                    return Err(self.wrong(at, &what));
                }
                settings.push(setting);
            }
            sections.push(Section { folder: folder.unwrap_or_default(), settings });
            patterns.push(pattern);
        }
        let globs = Globs::new(&patterns).map_err(|_| {
            self.wrong(files.span().start, "the patterns are too long, taken together")
        })?;
        Ok((sections, globs))
    }

    /// A key and its value.
    fn setting(
        &self,
        key: &Spanned<DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Setting> {
        let (at, key) = (key.span().start, key.get_ref().as_ref());
        if ONLY_TYPED.contains(&key) || self.is_positional(key) {
            return Err(self.wrong(at, &format!("'{key}' is only for the command line")));
        }
        let Some(option) = self.options.iter().position(|known| known.key == key) else {
            let keys = self.options.iter().map(|known| known.key.as_str());
            let meant = match nearest(key, keys.filter(|known| !ONLY_TYPED.contains(known))) {
                Some(meant) => format!("; did you mean '{meant}'?"),
                None => String::new(),
            };
            return Err(self.wrong(at, &format!("unknown key '{key}'{meant}")));
        };
        Ok(Setting { option, arguments: self.arguments(&self.options[option], value)? })
    }

    /// Whether `key` is what a command calls an input.
    fn is_positional(&self, key: &str) -> bool {
        let mut arguments = self.program.get_subcommands().flat_map(Command::get_positionals);
        arguments.any(|input| {
            let mut names = input.get_value_names().unwrap_or_default().iter();
            input.get_id() == key || names.any(|name| name.eq_ignore_ascii_case(key))
        })
    }

    /// The arguments for `value`.
    fn arguments(
        &self,
        known: &KnownOption,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<OsString>> {
        let key = &known.key;
        let refused = |wanted: &str| {
            let what = format!("{key}: takes {wanted}, not {}", kind(value.get_ref()));
            Err(self.wrong(value.span().start, &what))
        };
        match (known.option.get_action(), value.get_ref()) {
            (flag, &DeValue::Boolean(is_on)) if !flag.takes_values() => {
                let argument = || OsString::from(format!("--{key}"));
                Ok(is_on.then(argument).into_iter().collect())
            }
            (flag, _) if !flag.takes_values() => refused("true or false"),
            (ArgAction::Append, DeValue::Array(values)) => {
                values.iter().map(|value| self.argument(known, value)).collect()
            }
            (_, DeValue::Array(_)) => refused("one value"),
            _ => Ok(vec![self.argument(known, value)?]),
        }
    }

    /// The argument for one value.
    fn argument(&self, known: &KnownOption, value: &Spanned<DeValue<'_>>) -> Result<OsString> {
        let key = &known.key;
        let wrong = |what: &str| self.wrong(value.span().start, &format!("{key}: {what}"));
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if !known.is_text() => {
                i128::from_str_radix(number.as_str(), number.radix())
                    .map_or_else(|_| number.to_string(), |number| number.to_string())
            }
            DeValue::Boolean(is_on) if !known.is_text() => known.boolean(*is_on).to_owned(),
            other => return Err(wrong(&format!("takes a string, not {}", kind(other)))),
        };
        let text = match PATHS.contains(&key.as_str()) {
            true => self.folder.join(text).into_os_string(),
            false => text.into(),
        };
        if key == "url" {
            RootUrl::new(&text.to_string_lossy()).map_err(|error| wrong(&error.to_string()))?;
        }
        if PATTERNS.contains(&key.as_str()) {
            Globs::new(&[text.to_string_lossy()]).map_err(|error| wrong(&error.to_string()))?;
        }
        if let Some(why) = known.refusal(&text) {
            return Err(wrong(&why));
        }
        let mut argument = OsString::from(format!("--{key}="));
        argument.push(text);
        Ok(argument)
    }
}

/// What `value` is called.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
