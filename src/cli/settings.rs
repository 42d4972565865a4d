//! Settings: the file `baselink.toml`, whose keys are the long options of the command line.
//!
//! ```text
//! resolver = "whatwg"
//! [files."api/**"]             sections [0]
//! url = "https://api.example/"      -->      ["--resolver=whatwg", "--url=https://api.example/"]
//! ```
//!
//! Nothing is read twice: a key is looked up among clap's options, a value is tried with clap's own
//! parser, and what comes out are arguments, to be parsed with those that were typed.
//!
//! Deliberately absent: what an option means, and inputs and outputs. The file may lie in a tree from
//! elsewhere, which must not decide what is read and written.

use std::any::TypeId;
use std::error::Error as _;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::iter;
use std::path::{Path, PathBuf};

use baselink::error::{Error, Result, cause, name, visible};
use baselink::tree::origin::RootUrl;
use baselink::tree::walk::{self, Globs};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// How the file is called.
const NAME: &str = "baselink.toml";

/// How many bytes it may have.
const LARGEST: usize = 1 << 20;

/// How many sections it may have: each is a pattern that every file of a tree is held against.
const MOST_SECTIONS: usize = 1_000;

/// The table of the sections.
const SECTIONS: &str = "files";

/// Options that make no sense in a file, or decide what is written, or what is read outside the tree.
const ONLY_TYPED: &[&str] = &[
    "config",
    "no-config",
    "help",
    "version",
    "output",
    "in-place",
    "backup",
    "report",
    "fix",
    "baseline",
    "follow",
];

/// Options that are said of a document, and can differ between the files of a tree.
const OF_A_DOCUMENT: &[&str] = &[
    "url",
    "scheme",
    "layout",
    "index",
    "trust-saved-from",
    "format",
    "charset",
    "resolver",
    "no-content-location",
    "enable",
    "attribute",
    "fragments",
    "base-element",
    "skip-dkim",
];

/// Options whose value is the path of a file to be read.
const PATHS: &[&str] = &["url-map"];

/// Options that say which URL a folder has: one of them stands in place of another.
const OF_A_FOLDER: &[&str] = &["url", "layout"];

/// Options that mean nothing to a command without one of these others, where it has them.
///
/// Beside what was typed that would be an error; in a file it is said of the runs that it concerns.
const NEEDS: &[(&str, &[&str])] = &[
    ("scheme", &["layout"]),
    ("only-documents", &["output"]),
    ("preserve-times", &["output", "in-place"]),
    ("json", &["output", "in-place", "dry-run"]),
];

/// Options that cannot stand together, beside those of which clap knows it.
const EXCLUSIVE: &[(&str, &str)] = &[("json", "diff")];

/// Whether the option `--key` is said of a document, so that a section can have it.
fn is_of_a_document(key: &str) -> bool {
    OF_A_DOCUMENT.contains(&key)
}

/// What a settings file says.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The folder of the file.
    folder: PathBuf,
    options: Vec<Known>,
    /// What stands before the sections.
    top: Vec<Setting>,
    sections: Vec<Section>,
    /// The patterns of the sections.
    globs: Globs,
}

/// A table `[files."GLOB"]`.
#[derive(Debug)]
struct Section {
    /// The folder of which it speaks: [`walk::folder`].
    folder: String,
    settings: Vec<Setting>,
}

/// A key with its value.
#[derive(Debug)]
struct Setting {
    /// Its place among the options that are known.
    option: usize,
    /// Each an argument of its own, whatever stands in it; none for a flag that is off.
    arguments: Vec<OsString>,
}

/// An option that some command has. It is taken to be the same option with each of them.
#[derive(Debug)]
struct Known {
    option: Arg,
    key: String,
    /// The commands that have it, each with the options that cannot stand beside it there, by id.
    commands: Vec<(String, Vec<String>)>,
}

impl Known {
    /// The long options of the commands of `program`, in their order.
    fn all(program: &Command) -> Vec<Self> {
        let mut program = program.clone();
        // Only then a command has the options that it shares with the others.
        program.build();
        let mut options: Vec<Self> = Vec::new();
        for command in program.get_subcommands() {
            let pairs = command.get_arguments().flat_map(|one| {
                let others = command.get_arg_conflicts_with(one);
                others.into_iter().map(|other| (one.get_id().as_str(), other.get_id().as_str()))
            });
            let pairs: Vec<_> = pairs.chain(EXCLUSIVE.iter().copied()).collect();
            for option in command.get_arguments() {
                let Some(key) = option.get_long() else { continue };
                let id = option.get_id().as_str();
                let excluded = pairs
                    .iter()
                    .flat_map(|&(one, other)| [(one, other), (other, one)])
                    .filter(|(one, _)| *one == id)
                    .map(|(_, other)| other.to_owned());
                let here = (command.get_name().to_owned(), excluded.collect());
                match options.iter_mut().find(|known| known.key == key) {
                    Some(known) => known.commands.push(here),
                    None => options.push(Self {
                        option: option.clone(),
                        key: key.to_owned(),
                        commands: vec![here],
                    }),
                }
            }
        }
        options
    }

    fn is_known_to(&self, command: &str) -> bool {
        self.commands.iter().any(|(name, _)| name == command)
    }

    fn is_typed(&self, typed: &dyn Fn(&str) -> bool) -> bool {
        typed(self.option.get_id().as_str())
    }

    /// Whether it is an option of `command`, and neither it nor one that excludes it was `typed`.
    fn counts(&self, command: &str, typed: &dyn Fn(&str) -> bool) -> bool {
        let here = self.commands.iter().find(|(name, _)| name == command);
        here.is_some_and(|(_, excluded)| {
            !self.is_typed(typed) && !excluded.iter().any(|id| typed(id))
        })
    }

    /// Whether its value is text, of which clap would take any.
    fn is_text(&self) -> bool {
        let parsed = self.option.get_value_parser().type_id();
        let mut text =
            [TypeId::of::<String>(), TypeId::of::<OsString>(), TypeId::of::<PathBuf>()].into_iter();
        text.any(|text| parsed == text) && self.option.get_possible_values().is_empty()
    }

    /// How it says `true` or `false`.
    fn boolean(&self, is_on: bool) -> &'static str {
        let says_yes =
            self.option.get_possible_values().iter().any(|one| one.matches("yes", false));
        match (says_yes, is_on) {
            (true, true) => "yes",
            (true, false) => "no",
            (false, true) => "true",
            (false, false) => "false",
        }
    }

    /// What clap has against `value`.
    fn refusal(&self, value: &OsString) -> Option<String> {
        let mut argument = OsString::from("--value=");
        argument.push(value);
        let mut option = Arg::new("value")
            .long("value")
            .action(self.option.get_action().clone())
            .value_parser(self.option.get_value_parser().clone())
            .ignore_case(self.option.is_ignore_case_set());
        if let Some(delimiter) = self.option.get_value_delimiter() {
            option = option.value_delimiter(delimiter);
        }
        let command = Command::new("").no_binary_name(true).arg(option);
        command.try_get_matches_from([argument]).err().map(|error| reason(&error))
    }
}

/// Why clap refused a value, without the option, of which clap knows no more than a stand-in.
fn reason(error: &clap::Error) -> String {
    if let Some(source) = error.source() {
        return source.to_string();
    }
    let value = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value.as_str(),
        _ => "",
    };
    match error.get(ContextKind::ValidValue) {
        _ if value.is_empty() => "its value is empty".to_owned(),
        Some(ContextValue::Strings(valid)) if error.kind() == ErrorKind::InvalidValue => {
            format!("'{value}' is none of {}", valid.join(", "))
        }
        _ => format!("'{value}' is no value for it"),
    }
}

impl Settings {
    /// The settings file for the folder or file `root`: the nearest one in its folder or above.
    ///
    /// Only a plain file counts. Folders are looked through as they are without symbolic links.
    pub(crate) fn find(root: &Path) -> Option<PathBuf> {
        let root = fs::canonicalize(root).ok()?;
        let is_plain = |path: &PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_file());
        let found = root.ancestors().map(|folder| folder.join(NAME)).find(is_plain)?;
        // Sentences have its path as one would type it.
        let here = std::env::current_dir().unwrap_or_default();
        Some(found.strip_prefix(here).map(Path::to_owned).unwrap_or(found))
    }

    /// Reads the file `path`, for the options of the commands of `program`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, has more than 1 MiB, or is no UTF-8 or no TOML; or a key, a value or a
    /// pattern cannot be used. The sentence has the line.
    pub(crate) fn read(path: &Path, program: &Command) -> Result<Self> {
        let failed = |error: io::Error| Error::new(format!("{}: {}", name(path), cause(&error)));
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(failed)?;
        file.take(LARGEST as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() > LARGEST {
            let path = name(path);
            return Err(Error::new(format!("{path}: settings of more than 1 MiB are not read")));
        }
        Self::parse(&bytes, path, program)
    }

    /// What `bytes`, the contents of the file `path`, say.
    fn parse(bytes: &[u8], path: &Path, program: &Command) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let options = Known::all(program);
        let reading = Reading { path, bytes, folder: &folder, options: &options, program };
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

    /// The path of `root`, a folder or a file, below the folder of the settings; to it come the names
    /// that lead from `root` to a file below it.
    ///
    /// Of a root outside that folder, as `--config` can bring about, it is empty, or the name
    /// of the file that `root` is.
    pub(crate) fn way_to(&self, root: &Path) -> PathBuf {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let way = || {
            let root = fs::canonicalize(root).ok()?;
            Some(root.strip_prefix(fs::canonicalize(folder).ok()?).ok()?.to_owned())
        };
        way().unwrap_or_else(|| match root.file_name() {
            Some(file) if root.is_file() => file.into(),
            _ => PathBuf::new(),
        })
    }

    /// Which sections are there for the file at `path` below the folder of the settings, by number, in
    /// their order.
    pub(crate) fn matching(&self, path: &Path) -> Vec<usize> {
        self.globs.matching(path)
    }

    /// The arguments that the top and these `sections` stand for, to be put between the name of
    /// `command` and what was typed.
    ///
    /// Left out is what the command does not know, and what gives way to an option that was `typed`,
    /// as it says of clap's id of one.
    pub(crate) fn arguments(
        &self,
        command: &str,
        sections: &[usize],
        typed: &dyn Fn(&str) -> bool,
    ) -> Vec<OsString> {
        let mut counting: Vec<&Setting> = Vec::new();
        for (_, settings) in self.layers(sections) {
            let is_of_a_folder = self.is_of_a_folder(settings);
            counting.retain(|earlier| {
                settings.iter().all(|setting| setting.option != earlier.option)
                    && !(is_of_a_folder && OF_A_FOLDER.contains(&self.key(earlier)))
            });
            counting.extend(settings);
        }
        let is_folder_typed = OF_A_FOLDER.iter().any(|key| typed(key));
        counting.retain(|setting| {
            self.options[setting.option].counts(command, typed)
                && !(is_folder_typed && OF_A_FOLDER.contains(&self.key(setting)))
        });
        let has = |key: &str| {
            let of_key = |known: &Known| known.key == key && known.is_typed(typed);
            let is_on =
                |setting: &&Setting| self.key(setting) == key && !setting.arguments.is_empty();
            self.options.iter().any(of_key) || counting.iter().any(is_on)
        };
        counting
            .iter()
            .filter(|setting| {
                self.needs(self.key(setting), command)
                    .is_none_or(|one_of| one_of.iter().any(|key| has(key)))
            })
            .flat_map(|setting| setting.arguments.iter().cloned())
            .collect()
    }

    /// The options without one of which `key` means nothing to `command`.
    fn needs(&self, key: &str, command: &str) -> Option<&'static [&'static str]> {
        let (_, one_of) = NEEDS.iter().find(|(needing, _)| *needing == key)?;
        let is_known = |known: &Known| one_of.contains(&&*known.key) && known.is_known_to(command);
        self.options.iter().any(is_known).then_some(one_of)
    }

    /// The folder of which `url` and `layout` speak where these `sections` count: its path below that of
    /// the settings. `None` where the settings have neither or one was `typed`, which speaks of the root.
    pub(crate) fn folder(&self, sections: &[usize], typed: &dyn Fn(&str) -> bool) -> Option<&str> {
        if OF_A_FOLDER.iter().any(|key| typed(key)) {
            return None;
        }
        let layers = self.layers(sections).filter(|(_, settings)| self.is_of_a_folder(settings));
        layers.last().map(|(folder, _)| folder)
    }

    /// Whether they say which URL a folder has.
    fn is_of_a_folder(&self, settings: &[Setting]) -> bool {
        settings.iter().any(|setting| OF_A_FOLDER.contains(&self.key(setting)))
    }

    fn key(&self, setting: &Setting) -> &str {
        &self.options[setting.option].key
    }

    /// The top and then these `sections`, each with its folder.
    fn layers(&self, sections: &[usize]) -> impl Iterator<Item = (&str, &[Setting])> {
        let sections = sections.iter().filter_map(|&number| self.sections.get(number));
        let sections = sections.map(|section| (section.folder.as_str(), &*section.settings));
        iter::once(("", &*self.top)).chain(sections)
    }
}

/// A settings file that is being read.
struct Reading<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    folder: &'a Path,
    options: &'a [Known],
    program: &'a Command,
}

impl Reading<'_> {
    /// The error `what`, about what stands at the byte `at` of the file.
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
                if !is_of_a_document(key) {
                    let what = format!(
                        "'{key}' is said of all files: it belongs before the first section"
                    );
                    return Err(self.wrong(at, &what));
                }
                if folder.is_none() && OF_A_FOLDER.contains(&key.as_ref()) {
                    let what = format!(
                        "{key}: '{pattern}' are folders at any depth; '/{}' is one folder",
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
            let meant = match self.nearest(key) {
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

    /// The key that `key` was meant to be: one in which at most every third letter is another.
    fn nearest(&self, key: &str) -> Option<&str> {
        let keys = self.options.iter().map(|known| known.key.as_str());
        keys.filter(|known| !ONLY_TYPED.contains(known) && key.len() <= 2 * known.len())
            .map(|known| (strsim::osa_distance(key, known), known))
            .filter(|(distance, known)| 3 * distance <= known.len())
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, known)| known)
    }

    /// The arguments that `value` stands for.
    fn arguments(&self, known: &Known, value: &Spanned<DeValue<'_>>) -> Result<Vec<OsString>> {
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

    /// The argument that one value stands for.
    fn argument(&self, known: &Known, value: &Spanned<DeValue<'_>>) -> Result<OsString> {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(super) mod tests {
    use super::*;
    use baselink::resolve::Profile;
    use baselink::scan::attributes::Groups;
    use clap::value_parser;

    /// A program with an option of every kind.
    fn program() -> Command {
        let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
        let one = |name: &'static str| Arg::new(name).long(name);
        let several = |name: &'static str| Arg::new(name).long(name).action(ArgAction::Append);
        let documents = |name: &'static str| {
            Command::new(name).args([
                Arg::new("paths").value_name("PATH").num_args(0..),
                one("url"),
                one("url-map").value_parser(value_parser!(PathBuf)),
                one("resolver").value_parser(str::parse::<Profile>),
                Arg::new("base_element").long("base-element"),
                one("layout").value_parser(["host"]),
                one("scheme"),
                one("trust-saved-from").value_parser(["yes", "no"]),
                one("jobs").value_parser(value_parser!(u8).range(1..=64)),
                several("enable").value_parser(str::parse::<Groups>),
                several("include"),
                flag("skip-dkim"),
                flag("strict"),
                flag("json"),
            ])
        };
        let program = Command::new("baselink")
            .version("1")
            .arg(one("color").value_parser(["auto", "always", "never"]).global(true))
            .subcommand(documents("rewrite").args([
                one("output"),
                flag("dry-run"),
                flag("diff"),
                flag("preserve-times"),
            ]))
            .subcommand(documents("links").arg(flag("grammar")))
            .subcommand(Command::new("resolve").args([
                Arg::new("base").required(true),
                one("resolver").value_parser(str::parse::<Profile>),
                flag("json"),
                flag("explain").conflicts_with("json"),
            ]));
        program.clone().debug_assert();
        program
    }

    fn parsed(text: &str) -> Result<Settings> {
        Settings::parse(text.as_bytes(), Path::new("baselink.toml"), &program())
    }

    fn nothing(_: &str) -> bool {
        false
    }

    /// The arguments of `command` for the file at `path`.
    fn arguments(text: &str, command: &str, path: &str) -> Vec<String> {
        let settings = parsed(text).unwrap();
        let sections = settings.matching(Path::new(path));
        let arguments = settings.arguments(command, &sections, &nothing);
        arguments.into_iter().map(|argument| argument.into_string().unwrap()).collect()
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, expected) in [
            ("resolvr = 'whatwg'", "1: unknown key 'resolvr'; did you mean 'resolver'?"),
            ("strict = true\n\n\nxyzzy = 1", "4: unknown key 'xyzzy'"),
            ("[rewrite]\nstrict = true", "1: unknown key 'rewrite'"),
            ("ulr = 'http://a/'", "1: unknown key 'ulr'; did you mean 'url'?"),
            ("outputs = 'x'", "1: unknown key 'outputs'"),
            (
                "base_element = 'keep'",
                "1: unknown key 'base_element'; did you mean 'base-element'?",
            ),
            ("'re\u{202e}solver\u{1b}' = 1", "1: …"),
            // Only typed.
            ("# a\noutput = 'x'", "2: 'output' is only for the command line"),
            ("in-place = true", "1: 'in-place' is only for the command line"),
            ("backup = '.orig'", "1: 'backup' is only for the command line"),
            ("report = 'x'", "1: 'report' is only for the command line"),
            ("fix = true", "1: 'fix' is only for the command line"),
            ("follow = true", "1: 'follow' is only for the command line"),
            ("baseline = 'x'", "1: 'baseline' is only for the command line"),
            ("config = 'x'", "1: 'config' is only for the command line"),
            ("no-config = true", "1: 'no-config' is only for the command line"),
            ("help = true", "1: 'help' is only for the command line"),
            ("version = '1'", "1: 'version' is only for the command line"),
            ("paths = ['x']", "1: 'paths' is only for the command line"),
            ("path = 'x'", "1: 'path' is only for the command line"),
            ("[files.'*']\noutput = 'x'", "2: 'output' is only for the command line"),
            // Types.
            ("strict = 'yes'", "1: strict: takes true or false, not a string"),
            ("strict = 1", "1: strict: takes true or false, not an integer"),
            ("strict = [true]", "1: strict: takes true or false, not an array"),
            ("url = ['http://a/']", "1: url: takes one value, not an array"),
            ("url = 1", "1: url: takes a string, not an integer"),
            ("url = true", "1: url: takes a string, not true or false"),
            ("url = 1.5", "1: url: takes a string, not a number with a fraction"),
            ("url = 2024-01-01", "1: url: takes a string, not a date"),
            ("url.x = 'http://a/'", "1: url: takes a string, not a table"),
            ("enable = [\n'text',\n['json']]", "3: enable: takes a string, not an array"),
            // Values, in the words of what reads them on the command line.
            (
                "\nresolver = 'foo'",
                "2: resolver: unknown resolver 'foo': use rfc1808, rfc3986 or whatwg",
            ),
            (
                "resolver = 1808",
                "1: resolver: unknown resolver '1808': use rfc1808, rfc3986 or whatwg",
            ),
            ("color = 'blue'", "1: color: 'blue' is none of auto, always, never"),
            ("url = '../x'", "1: url: ../x: the base URL is not absolute"),
            (
                "url = 'http://a/?q'",
                "1: url: http://a/?q: the URL of a folder has no query and no fragment",
            ),
            ("color = ''", "1: color: its value is empty"),
            ("jobs = 65", "1: jobs: 65 is not in 1..=64"),
            ("jobs = 99999999999999999999999999999999999999999", "1: jobs: …"),
            ("enable = ['text',\n 'nonsense']", "2: enable: …"),
            // Sections.
            ("files = 1", r#"1: 'files' is for sections, [files."GLOB"]"#),
            ("[files]\nurl = 'http://a/'", r#"2: 'files' is for sections, [files."GLOB"]"#),
            ("[[files]]\nurl = 'http://a/'", r#"1: 'files' is for sections, [files."GLOB"]"#),
            ("\n[files.'a[']", "2: a[: no pattern for paths: …"),
            ("[files.'*']\nresolvr = 1", "2: unknown key 'resolvr'; did you mean 'resolver'?"),
            (
                "[files.'*']\nurl = 'http://a/'\nstrict = true",
                "3: 'strict' is said of all files: it belongs before the first section",
            ),
            (
                "[files.'api/']\nurl = 'http://a/'",
                "2: url: 'api/' are folders at any depth; '/api/' is one folder",
            ),
            (
                "[files.'./api/']\nlayout = 'host'",
                "2: layout: './api/' are folders at any depth; '/api/' is one folder",
            ),
            // TOML.
            ("strict = true\nstrict = true", "2: …"),
            ("[files.'*']\n[files.'*']", "2: …"),
            ("url = http://a/", "1: …"),
            ("url = 'http://a/", "1: …"),
            ("\n\n= 1", "3: …"),
            ("strict = true strict = false", "1: …"),
        ] {
            let said =
                parsed(text).map(|_| String::new()).unwrap_or_else(|error| error.to_string());
            let expected = format!("baselink.toml:{expected}");
            match expected.strip_suffix('…') {
                Some(start) => {
                    assert!(said.starts_with(start) && said.len() > start.len(), "{said}")
                }
                None => assert_eq!(said, expected, "{text}"),
            }
            assert!(!said.contains(|c: char| c.is_control() || c == '\u{202e}'), "{said:?}");
        }
    }

    #[test]
    fn keys_become_arguments_of_the_commands_that_know_them() {
        let text = "resolver = 'whatwg'\ngrammar = true\nexplain = true\nstrict = true\n\
            json = false\nenable = ['text', 'json']\njobs = 0x10\ntrust-saved-from = false\n\
            color = 'never'\ninclude = 'a'\n";
        let common = ["--enable=text", "--enable=json", "--jobs=16", "--trust-saved-from=no"];
        let last = ["--color=never", "--include=a"];
        let expected = [&["--resolver=whatwg", "--strict"], &common[..], &last].concat();
        assert_eq!(arguments(text, "rewrite", "x"), expected);
        let expected =
            [&["--resolver=whatwg", "--grammar", "--strict"], &common[..], &last].concat();
        assert_eq!(arguments(text, "links", "x"), expected);
        let expected = ["--resolver=whatwg", "--explain", "--color=never"];
        assert_eq!(arguments(text, "resolve", "x"), expected);
        assert!(arguments(text, "no such command", "x").is_empty());
        assert!(arguments("", "rewrite", "x").is_empty());
        assert!(arguments("include = []", "rewrite", "x").is_empty());
        assert_eq!(arguments("\u{feff}strict = true\r\n", "rewrite", "x"), ["--strict"]);
    }

    #[test]
    fn later_sections_stand_in_place_of_earlier_ones_key_by_key_and_of_the_top() {
        // The order is not that of the alphabet.
        let text = "url = 'http://top/'\nskip-dkim = true\nenable = ['text', 'json']\n\
            [files.'b/**']\nurl = 'http://b/'\nenable = 'lazy'\n\
            [files.'*.css']\nresolver = 'whatwg'\nskip-dkim = false\n\
            [files.'b/a/**']\nurl = 'http://ba/'\nenable = []\n";
        let top = ["--url=http://top/", "--skip-dkim", "--enable=text", "--enable=json"];
        assert_eq!(arguments(text, "rewrite", "x.html"), top);
        let expected = ["--skip-dkim", "--url=http://b/", "--enable=lazy"];
        assert_eq!(arguments(text, "rewrite", "b/x.html"), expected);
        let expected = ["--resolver=whatwg", "--url=http://ba/"];
        assert_eq!(arguments(text, "rewrite", "b/a/x.css"), expected);
        let settings = parsed(text).unwrap();
        assert_eq!(settings.matching(Path::new("b/a/x.css")), [0, 1, 2]);
    }

    #[test]
    fn what_was_typed_counts_more() {
        let text = "resolver = 'whatwg'\nexplain = true\njson = true\nbase-element = 'keep'";
        let settings = parsed(text).unwrap();
        let without =
            |typed: &str, command: &str| settings.arguments(command, &[], &|id: &str| id == typed);
        assert_eq!(without("resolver", "resolve"), ["--explain", "--json"]);
        // What excludes it on the command line excludes it here, whichever of the two says so.
        assert_eq!(without("json", "resolve"), ["--resolver=whatwg"]);
        assert_eq!(without("explain", "resolve"), ["--resolver=whatwg"]);
        assert_eq!(without("json", "links"), ["--resolver=whatwg", "--base-element=keep"]);
        assert_eq!(without("base_element", "links"), ["--resolver=whatwg", "--json"]);
    }

    #[test]
    fn what_means_nothing_without_another_option_is_left_out_without_it() {
        let text = "json = true\npreserve-times = true\nscheme = 'http'\n\
            [files.'a/**']\nlayout = 'host'\n[files.'a/b/**']\nurl = 'http://b/'\n";
        assert!(arguments(text, "rewrite", "x").is_empty());
        // `links` writes nothing, so its --json needs no other place for that.
        assert_eq!(arguments(text, "links", "x"), ["--json"]);
        assert_eq!(arguments(text, "links", "a/x"), ["--json", "--scheme=http", "--layout=host"]);
        assert_eq!(arguments(text, "links", "a/b/x"), ["--json", "--url=http://b/"]);
        let settings = parsed(text).unwrap();
        let beside =
            |typed: &[&str]| settings.arguments("rewrite", &[], &|id: &str| typed.contains(&id));
        assert_eq!(beside(&["output"]), ["--json", "--preserve-times"]);
        assert_eq!(beside(&["dry-run"]), ["--json"]);
        assert_eq!(beside(&["layout"]), ["--scheme=http"]);
        assert_eq!(beside(&["output", "diff"]), ["--preserve-times"]);
        assert_eq!(
            arguments(&format!("dry-run = true\n{text}"), "rewrite", "x"),
            ["--dry-run", "--json"]
        );
        assert!(arguments(&format!("dry-run = false\n{text}"), "rewrite", "x").is_empty());
    }

    #[test]
    fn no_value_becomes_another_option() {
        let values = [
            "--output=x",
            "-o",
            "-",
            "--",
            "",
            "a\n--output=x",
            "a\0--output=x",
            "a --output=x",
            "=",
            "é\u{202e}",
            "'\"",
        ];
        for value in values {
            let text = format!("include = {}", serde_json::to_string(&[value, value]).unwrap());
            let settings = parsed(&text).unwrap();
            let given = settings.arguments("rewrite", &[], &nothing);
            assert_eq!(given.len(), 2, "{value:?}");
            let typed = ["baselink".into(), "rewrite".into()].into_iter().chain(given);
            let matches = program().try_get_matches_from(typed).unwrap();
            let (_, matches) = matches.subcommand().unwrap();
            let include: Vec<_> = matches.get_many::<String>("include").unwrap().collect();
            assert_eq!(include, [value, value]);
            assert!(!matches.contains_id("output") && !matches.contains_id("paths"), "{value:?}");
        }
    }

    #[test]
    fn a_relative_path_is_one_from_the_folder_of_the_file() {
        for (file, value, expected) in [
            ("a/baselink.toml", "map.csv", "--url-map=a/map.csv"),
            ("a/baselink.toml", "/map.csv", "--url-map=/map.csv"),
            ("a/baselink.toml", "-", "--url-map=a/-"),
            ("baselink.toml", "map.csv", "--url-map=map.csv"),
        ] {
            let text = format!("url-map = '{value}'");
            let settings = Settings::parse(text.as_bytes(), Path::new(file), &program()).unwrap();
            assert_eq!(settings.arguments("links", &[], &nothing), [expected]);
        }
    }

    #[test]
    fn the_folder_of_a_url_is_that_of_the_section_that_gives_it() {
        let text = "layout = 'host'\n\
            [files.'*.css']\nresolver = 'whatwg'\n\
            [files.'api/v1/*.html']\nurl = 'http://a/'\n\
            [files.'crawls/new/**']\nlayout = 'host'\n";
        let settings = parsed(text).unwrap();
        let folder = |path: &str, typed: &str| {
            settings.folder(&settings.matching(Path::new(path)), &|id: &str| id == typed)
        };
        assert_eq!(folder("x.css", ""), Some(""));
        assert_eq!(folder("api/v1/x.html", ""), Some("api/v1"));
        assert_eq!(folder("api/v1/x.html", "resolver"), Some("api/v1"));
        assert_eq!(folder("crawls/new/a/x.css", ""), Some("crawls/new"));
        for typed in ["url", "layout"] {
            assert_eq!(folder("crawls/new/a/x.css", typed), None);
            assert_eq!(folder("api/v1/x.html", typed), None);
        }
        assert_eq!(parsed("").unwrap().folder(&[], &nothing), None);
    }

    #[test]
    fn a_layout_stands_in_place_of_a_url_and_a_url_of_a_layout() {
        let text = "url = 'http://top/'\n\
            [files.'a/**']\nlayout = 'host'\n\
            [files.'a/b/**']\nurl = 'http://b/'\n\
            [files.'a/b/c/**']\nurl = 'http://c/'\nlayout = 'host'\n";
        assert_eq!(arguments(text, "links", "x"), ["--url=http://top/"]);
        assert_eq!(arguments(text, "links", "a/x"), ["--layout=host"]);
        assert_eq!(arguments(text, "links", "a/b/x"), ["--url=http://b/"]);
        assert_eq!(arguments(text, "links", "a/b/c/x"), ["--url=http://c/", "--layout=host"]);
        let settings = parsed(text).unwrap();
        for typed in ["url", "layout"] {
            let rest = settings.arguments("links", &[0, 1, 2], &|id: &str| id == typed);
            assert!(rest.is_empty(), "{rest:?}");
        }
    }

    #[test]
    fn the_nearest_file_from_the_input_upwards_is_found() {
        let outside = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(outside.path()).unwrap();
        fs::create_dir_all(top.join("a/b/c")).unwrap();
        fs::create_dir_all(top.join("d/baselink.toml")).unwrap();
        fs::write(top.join("baselink.toml"), "").unwrap();
        fs::write(top.join("a/b/baselink.toml"), "").unwrap();
        fs::write(top.join("a/b/c/page.html"), "").unwrap();
        fs::write(top.join("a/page.html"), "").unwrap();
        for (root, expected) in [
            ("", "baselink.toml"),
            ("a", "baselink.toml"),
            ("a/page.html", "baselink.toml"),
            ("a/b", "a/b/baselink.toml"),
            ("a/b/c", "a/b/baselink.toml"),
            ("a/b/c/page.html", "a/b/baselink.toml"),
            ("a/b/c/..", "a/b/baselink.toml"),
            ("a/b/../../a", "baselink.toml"),
            // A folder of that name is no file.
            ("d", "baselink.toml"),
        ] {
            assert_eq!(Settings::find(&top.join(root)), Some(top.join(expected)), "{root}");
        }
        assert_eq!(Settings::find(&top.join("missing")), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_is_no_settings_file() {
        let outside = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(outside.path()).unwrap();
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::write(top.join("baselink.toml"), "").unwrap();
        std::os::unix::fs::symlink("../baselink.toml", top.join("a/baselink.toml")).unwrap();
        assert_eq!(Settings::find(&top.join("a")), Some(top.join("baselink.toml")));
        // The root itself may be one.
        fs::write(top.join("a/b/baselink.toml"), "").unwrap();
        std::os::unix::fs::symlink("a/b", top.join("link")).unwrap();
        assert_eq!(Settings::find(&top.join("link")), Some(top.join("a/b/baselink.toml")));
    }

    #[test]
    fn a_root_has_a_path_below_the_settings() {
        let outside = tempfile::tempdir().unwrap();
        let top = outside.path();
        fs::create_dir_all(top.join("site/docs")).unwrap();
        fs::create_dir_all(top.join("other")).unwrap();
        for file in ["site/baselink.toml", "site/docs/page.html", "other/page.html"] {
            fs::write(top.join(file), "").unwrap();
        }
        let settings = Settings::read(&top.join("site/baselink.toml"), &program()).unwrap();
        for (root, expected) in [
            ("site", ""),
            ("site/docs", "docs"),
            ("site/docs/page.html", "docs/page.html"),
            ("site/docs/../docs", "docs"),
            // Outside, as with --config.
            ("other", ""),
            ("other/page.html", "page.html"),
            ("", ""),
        ] {
            assert_eq!(settings.way_to(&top.join(root)).to_str(), Some(expected), "{root}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_said_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("baselink.toml");
        let said = || {
            let error = Settings::read(&path, &program()).unwrap_err().to_string();
            error.strip_prefix(&name(&path)).map(str::to_owned).unwrap()
        };
        assert_eq!(said(), ": no such file");
        // 1 MiB is read, a byte more is not.
        let comment = |length: usize| [b"#".repeat(length - 1), b"\n".to_vec()].concat();
        fs::write(&path, comment(1_048_576)).unwrap();
        assert!(Settings::read(&path, &program()).is_ok());
        fs::write(&path, comment(1_048_577)).unwrap();
        assert_eq!(said(), ": settings of more than 1 MiB are not read");
        fs::write(&path, b"strict = true\nurl = '\xff'").unwrap();
        assert_eq!(said(), ":2: this is not UTF-8");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(said(), ": a directory");
    }

    #[test]
    fn sections_have_a_bound() {
        let section =
            |number: usize| format!("[files.'{number}/**']\nurl = 'http://a/{number}/'\n");
        let text: String = (0..1_000).map(section).collect();
        assert_eq!(parsed(&text).unwrap().matching(Path::new("999/x")), [999]);
        let error = parsed(&(text + &section(1_000))).unwrap_err().to_string();
        assert_eq!(error, "baselink.toml:2001: more than 1000 sections are not read");
    }

    #[test]
    fn patterns_that_are_too_long_together_are_refused() {
        let section = |number: usize| format!("[files.'{number}{}']\n", "{a,b}*".repeat(150));
        let text: String = (0..1_000).map(section).collect();
        let said = parsed(&text).unwrap_err().to_string();
        assert_eq!(said, "baselink.toml:1: the patterns are too long, taken together");
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let text = format!("\nurl = {}", "[".repeat(500_000));
        assert!(parsed(&text).unwrap_err().to_string().starts_with("baselink.toml:2: "));
        let text = format!("\nurl{} = 1", ".a".repeat(250_000));
        assert!(parsed(&text).unwrap_err().to_string().starts_with("baselink.toml: "));
    }

    /// The cells of the table of `page` that begins with `header`, without the marks of code.
    fn table<'a>(page: &'a str, header: &str) -> Vec<Vec<&'a str>> {
        let rows = page.lines().skip_while(|line| !line.starts_with(header)).skip(2);
        rows.take_while(|line| line.starts_with('|'))
            .map(|row| row.split('|').skip(1).map(|cell| cell.trim().trim_matches('`')).collect())
            .collect()
    }

    /// What is wrong with `page`, which is to have each long option of the commands of `program` once, as a
    /// key or as one that is only typed, and examples that can be read.
    pub(in crate::cli) fn undocumented(page: &str, program: &Command) -> Vec<String> {
        let mut wrong = Vec::new();
        let known = Known::all(program);
        let rows = table(page, "| key | value | in sections |");
        let documented = |key: &str| rows.iter().filter(|row| row[0] == key).count();
        for option in known.iter().filter(|option| !ONLY_TYPED.contains(&option.key.as_str())) {
            let key = option.key.as_str();
            let value = match option.option.get_action() {
                flag if !flag.takes_values() => "true or false",
                ArgAction::Append => "one or several",
                _ => "one",
            };
            let sections = if is_of_a_document(key) { "yes" } else { "no" };
            let expected = [key, value, sections];
            if !rows.iter().any(|row| row.starts_with(&expected)) {
                wrong.push(format!("lacks a row: | `{key}` | {value} | {sections} |"));
            }
        }
        for row in &rows {
            if documented(row[0]) > 1 || !known.iter().any(|option| option.key == row[0]) {
                wrong.push(format!("has a row too many: {}", row[0]));
            }
        }
        let typed: Vec<_> = table(page, "| only typed |").iter().map(|row| row[0]).collect();
        if typed != ONLY_TYPED {
            wrong.push(format!("has as only typed {typed:?}, not {ONLY_TYPED:?}"));
        }
        for example in page.split("```toml\n").skip(1) {
            let example = example.split("```").next().unwrap_or_default();
            let read = Settings::parse(example.as_bytes(), Path::new("example"), program);
            wrong.extend(read.err().map(|error| error.to_string()));
        }
        wrong
    }

    #[test]
    fn what_is_not_documented_is_told() {
        let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
        let options = [
            flag("strict"),
            Arg::new("url").long("url"),
            Arg::new("enable").long("enable").action(ArgAction::Append),
            Arg::new("output").long("output"),
        ];
        let program = Command::new("a").subcommand(Command::new("b").args(options));
        let typed: String = ONLY_TYPED.iter().map(|key| format!("| `{key}` | x |\n")).collect();
        let rest = format!("\n| only typed | x |\n|---|---|\n{typed}\n");
        let head = "| key | value | in sections | what |\n|---|---|---|---|\n\
            | `url` | one | yes | x |\n| `enable` | one or several | yes | x |\n";
        let strict = "| `strict` | true or false | no | x |\n";
        let example = "```toml\nstrict = true\n```\n";
        assert!(undocumented(&[head, strict, &rest, example].concat(), &program).is_empty());
        for (page, expected) in [
            ([head, "", &rest, ""], "lacks a row: | `strict` | true or false | no |"),
            ([head, strict, &rest, "```toml\nurl = 1\n```"], "example:1: url: takes a string"),
            ([head, &strict.repeat(2), &rest, ""], "has a row too many: strict"),
            ([head, &strict.replace("strict", "a"), &rest, ""], "lacks a row: | `strict`"),
            ([head, &strict.replace("no", "yes"), &rest, ""], "lacks a row: | `strict`"),
            ([head, strict, "", ""], "has as only typed []"),
        ] {
            let wrong = undocumented(&page.concat(), &program);
            assert!(wrong.first().is_some_and(|first| first.starts_with(expected)), "{wrong:?}");
        }
    }
}
