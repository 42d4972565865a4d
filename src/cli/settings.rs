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

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::iter;
use std::path::{Path, PathBuf};

use baselink::error::{Error, Result, name};
use baselink::files::walk::Globs;
use clap::Command;

use self::options::KnownOption;
use super::request::is_standard_input;

pub(super) mod options;
#[cfg(any(test, fuzzing))]
pub(crate) mod oracle;
mod owner;
mod reading;

/// How the file is called.
const NAME: &str = "baselink.toml";

/// How many bytes it may have.
const LARGEST: usize = 1 << 20;

/// Options that say which URL a folder has: one of them replaces another.
const OF_A_FOLDER: &[&str] = &["url", "layout"];

/// Options that mean nothing to a command without one of these others, where it has them.
///
/// Beside what was typed that would be an error; in a file it is said of the runs that it concerns.
const NEEDS: &[(&str, &[&str])] = &[
    ("preserve-times", &["output", "in-place", "fix"]),
    ("json", &["output", "in-place", "dry-run"]),
];

/// The same for commands of which it is not so, or only of which.
const NEEDS_OF: &[(&str, &str, &[&str])] = &[
    ("links", "json", &[]),
    ("check", "json", &[]),
    ("check", "diff", &["fix"]),
    ("check", "dry-run", &["fix"]),
];

/// What a settings file says.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The folder of the file.
    folder: PathBuf,
    options: Vec<KnownOption>,
    /// What comes before the sections.
    top: Vec<Setting>,
    sections: Vec<Section>,
    /// The patterns of the sections.
    globs: Globs,
}

/// A table `[files."GLOB"]`.
#[derive(Debug)]
struct Section {
    /// The folder of which it speaks: [`folder`](baselink::files::walk::folder).
    folder: String,
    settings: Vec<Setting>,
}

/// A key with its value.
#[derive(Debug)]
struct Setting {
    /// Its place among the options that are known.
    option: usize,
    /// Each an argument of its own, whatever it contains; none for a flag that is off.
    arguments: Vec<OsString>,
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
        let here = fs::canonicalize(".").unwrap_or_default();
        Some(found.strip_prefix(here).map(Path::to_owned).unwrap_or(found))
    }

    /// The settings file that goes with inputs: the one that was named, or the nearest above the inputs.
    ///
    /// # Errors
    ///
    /// Some of the inputs have another one than others.
    pub(crate) fn find_for(paths: &[PathBuf]) -> Result<Option<PathBuf>> {
        let mut looked_at: HashSet<&Path> = HashSet::new();
        let mut found: Option<Option<PathBuf>> = None;
        for path in paths.iter().filter(|path| !is_standard_input(path)) {
            let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
            if !looked_at.insert(folder) || !path.exists() {
                continue;
            }
            let next = Self::find(path);
            let Some(first) = &found else {
                found = Some(next);
                continue;
            };
            if *first != next {
                let settings = |found: &Option<PathBuf>| {
                    found.as_deref().map_or_else(|| "without settings".into(), name)
                };
                return Err(Error::new(format!(
                    "{} has other settings than what was named before it ({}, not {}); name one file with \
                     --config, or ignore all with --no-config",
                    name(path),
                    settings(&next),
                    settings(first)
                )));
            }
        }
        Ok(found.flatten())
    }

    /// Reads the file `path`, for the options of the commands of `program`. Where it is `found`, and was not named, it has
    /// to be one of the user.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is of somebody else, has more than 1 MiB, or is no UTF-8 or no TOML; or a key, a value or a
    /// pattern cannot be used. The sentence has the line.
    pub(crate) fn read(path: &Path, found: bool, program: &Command) -> Result<Self> {
        let failed = |error| Error::io(path, error);
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(failed)?;
        if found {
            owner::check(path, &file)?;
        }
        file.take(LARGEST as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() > LARGEST {
            let path = name(path);
            return Err(Error::new(format!("{path}: settings of more than 1 MiB are not read")));
        }
        Self::parse(&bytes, path, program)
    }

    /// The path of `root`, a folder or a file, below the folder of the settings; to it come the names
    /// that lead from `root` to a file below it.
    ///
    /// Of a root outside that folder, as `--config` can bring about, it is empty, or the name
    /// of the file that `root` is.
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

    /// Whether the file `path`, of which these settings speak, may be read: a plain file in their folder. A
    /// tree from elsewhere must not decide what is read outside it.
    ///
    /// # Errors
    ///
    /// It is none.
    pub(crate) fn holds(&self, path: &Path) -> Result<()> {
        let real = fs::canonicalize(path).map_err(|error| Error::io(path, error))?;
        if real.is_file() && self.real_folder().is_ok_and(|folder| real.starts_with(folder)) {
            return Ok(());
        }
        Err(Error::new(format!(
            "{}: not a file in the folder of the settings that name it; type --url-map, or name the \
             settings with --config",
            name(path)
        )))
    }

    /// The folder of the file, without symbolic links.
    fn real_folder(&self) -> io::Result<PathBuf> {
        let is_here = self.folder.as_os_str().is_empty();
        fs::canonicalize(if is_here { Path::new(".") } else { &self.folder })
    }

    /// Which sections are there for the file at `path` below the folder of the settings, by number, in
    /// their order.
    pub(crate) fn matching(&self, path: &Path) -> Vec<usize> {
        self.globs.matching(path)
    }

    /// The arguments for the top and these `sections`, to be put between the name of
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
            let of_key = |known: &KnownOption| known.key == key && known.is_typed(typed);
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
        let own = NEEDS_OF.iter().find(|(of, needing, _)| (*of, *needing) == (command, key));
        let all = || NEEDS.iter().find(|(needing, _)| *needing == key);
        let one_of = own.map(|(.., one_of)| one_of).or_else(|| Some(&all()?.1))?;
        let is_known =
            |known: &KnownOption| one_of.contains(&&*known.key) && known.is_known_to(command);
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use baselink::resolve::Profile;
    use baselink::scan::attributes::Groups;
    use clap::{Arg, ArgAction, value_parser};

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
                several("trust"),
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

    /// Pieces put together by the same numbers each time (xorshift), as the targets of `fuzz/` are mutated for the library;
    /// and what the fuzzer found.
    #[test]
    fn any_bytes_are_settings_or_are_refused_in_one_line() {
        #[rustfmt::skip]
        const PIECES: [&[u8]; 32] = [
            b"resolver", b"url", b"strict", b"include", b"url-map", b"base-element", b"nobody", b"output", b"files",
            b"\n", b" = ", b".", b",", b"[", b"]", b"{", b"}", b"'", b"\"", b"'''", b"#", b"\\u001b", b"\x1b", b"\xff",
            b"'http://a/'", b"'whatwg'", b"'*.html'", b"[files.'docs/**']\n", b"[[files]]\n", b"true", b"-1e999",
            b"\xe2\x80\xae",
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % bound
        };
        let program = crate::cli::args::program();
        for _ in 0..4_000 {
            let pieces: Vec<_> = (0..below(12)).map(|_| PIECES[below(PIECES.len())]).collect();
            oracle::settings(&pieces.concat(), &program);
        }
        let findings = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/findings/settings");
        for found in fs::read_dir(findings).into_iter().flatten() {
            oracle::settings(&fs::read(found.unwrap().path()).unwrap(), &program);
        }
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
            ("color = 'blue'", "1: color: 'blue' is not one of auto, always, never"),
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
                "3: 'strict' applies to all files; move it above the first section",
            ),
            (
                "[files.'api/']\nurl = 'http://a/'",
                "2: url: 'api/' matches folders at any depth; '/api/' is one folder",
            ),
            (
                "[files.'./api/']\nlayout = 'host'",
                "2: layout: './api/' matches folders at any depth; '/api/' is one folder",
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
        for key in options::ONLY_TYPED {
            let said = parsed(&format!("{key} = 1")).unwrap_err().to_string();
            assert_eq!(said, format!("baselink.toml:1: '{key}' is only for the command line"));
        }
    }

    #[test]
    fn keys_become_arguments_of_the_commands_that_know_them() {
        let text = "resolver = 'whatwg'\ngrammar = true\nexplain = true\nstrict = true\n\
            json = false\nenable = ['text', 'json']\njobs = 0x10\ntrust = '-saved'\n\
            color = 'never'\ninclude = 'a'\n";
        let common = ["--enable=text", "--enable=json", "--jobs=16", "--trust=-saved"];
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
        let text = "json = true\npreserve-times = true\n\
            [files.'a/**']\nlayout = 'host'\n[files.'a/b/**']\nurl = 'http://b/'\n";
        assert!(arguments(text, "rewrite", "x").is_empty());
        // `links` writes nothing, so its --json needs no other place for that.
        assert_eq!(arguments(text, "links", "x"), ["--json"]);
        assert_eq!(arguments(text, "links", "a/x"), ["--json", "--layout=host"]);
        assert_eq!(arguments(text, "links", "a/b/x"), ["--json", "--url=http://b/"]);
        let settings = parsed(text).unwrap();
        let beside =
            |typed: &[&str]| settings.arguments("rewrite", &[], &|id: &str| typed.contains(&id));
        assert_eq!(beside(&["output"]), ["--json", "--preserve-times"]);
        assert_eq!(beside(&["dry-run"]), ["--json"]);
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
            let expected = expected.replace("a/", &format!("a{}", std::path::MAIN_SEPARATOR));
            assert_eq!(settings.arguments("links", &[], &nothing), [&*expected]);
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
        let settings = Settings::read(&top.join("site/baselink.toml"), true, &program()).unwrap();
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
            assert_eq!(settings.way_to(&top.join(root)), Path::new(expected), "{root}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_said_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("baselink.toml");
        let said = || {
            let error = Settings::read(&path, true, &program()).unwrap_err().to_string();
            error.strip_prefix(&name(&path)).map(str::to_owned).unwrap()
        };
        assert_eq!(said(), ": no such file");
        // 1 MiB is read, a byte more is not.
        let comment = |length: usize| [b"#".repeat(length - 1), b"\n".to_vec()].concat();
        fs::write(&path, comment(1_048_576)).unwrap();
        assert!(Settings::read(&path, true, &program()).is_ok());
        fs::write(&path, comment(1_048_577)).unwrap();
        assert_eq!(said(), ": settings of more than 1 MiB are not read");
        fs::write(&path, b"strict = true\nurl = '\xff'").unwrap();
        assert_eq!(said(), ":2: this is not UTF-8");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(said(), if cfg!(windows) { ": permission denied" } else { ": a directory" });
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
}
