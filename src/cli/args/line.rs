//! A command line, and the settings that go with it: for all files, and for those of a section.
//!
//! ```text
//! baselink -q links docs   +   strict = true   -->   baselink -q links --strict docs
//! ```
//!
//! What a settings file says of a file is known once its sections are; each set of sections is read
//! once.
//!
//! Deliberately absent: what a settings file may say ([`super::super::settings`]).

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use baselink::collection::origin::map::UrlMap;
use baselink::error::{Error, Result, name};
use baselink::files::walk::TreeEntry;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};

use super::commands::Typed;
use crate::cli::request::{BySection, Reading, is_standard_input};
use crate::cli::settings::Settings;
use crate::cli::settings::options::OF_A_DOCUMENT;

/// What was typed, word by word.
#[derive(Debug)]
pub(super) struct Line {
    words: Vec<OsString>,
    command: String,
    /// Where the name of the command is.
    at: usize,
    /// The options that were typed, by clap's ids.
    typed: HashSet<String>,
}

impl Line {
    /// Reads the words of a command line, the program's name first.
    pub(super) fn read(words: Vec<OsString>) -> std::result::Result<(Typed, Self), clap::Error> {
        let matches = Typed::command().try_get_matches_from(&words)?;
        let typed = Typed::from_arg_matches(&matches)?;
        let mut line = Self { words, command: String::new(), at: 0, typed: HashSet::new() };
        if let Some((command, matches)) = matches.subcommand() {
            let is_typed = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
            line.typed =
                matches.ids().map(|id| id.as_str().to_owned()).filter(|id| is_typed(id)).collect();
            line.at = line.words.iter().position(|word| word == command).unwrap_or_default();
            command.clone_into(&mut line.command);
        }
        Ok((typed, line))
    }

    /// Whether the option with this id of clap's was typed.
    pub(super) fn is_typed(&self, id: &str) -> bool {
        self.typed.contains(id)
    }

    /// The options of a document, and others that decide what is in a result: one a line, those of `settings` among them,
    /// but for sections.
    pub(super) fn deciding(&self, settings: Option<&Settings>) -> Vec<String> {
        let mut program = Typed::command();
        program.build();
        let words = match settings {
            Some(settings) => self.words_with(settings, &[]),
            None => self.words.clone(),
        };
        let matches = program.clone().try_get_matches_from(words).ok();
        let Some((command, matches)) = matches.as_ref().and_then(ArgMatches::subcommand) else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        let command = program.find_subcommand(command);
        for option in command.into_iter().flat_map(clap::Command::get_arguments) {
            let id = option.get_id().as_str();
            let key = option.get_long().unwrap_or_default();
            if !(OF_A_DOCUMENT.contains(&key) || ["url-map", "grammar"].contains(&key))
                || matches.value_source(id) != Some(ValueSource::CommandLine)
            {
                continue;
            }
            let values = matches.get_raw(id).into_iter().flatten();
            lines.extend(values.map(|value| format!("--{key} {value:?}")));
        }
        lines
    }

    /// The same with what `settings` say beside it of the files of these sections.
    pub(super) fn with(
        &self,
        settings: &Settings,
        sections: &[usize],
    ) -> std::result::Result<Typed, clap::Error> {
        Typed::try_parse_from(self.words_with(settings, sections))
    }

    fn words_with(&self, settings: &Settings, sections: &[usize]) -> Vec<OsString> {
        let set = settings.arguments(&self.command, sections, &|id| self.typed.contains(id));
        let (before, after) = self.words.split_at(self.words.len().min(self.at + 1));
        before.iter().chain(&set).chain(after).cloned().collect()
    }
}

/// How files of the same sections are read, or why they cannot be.
type Meant = std::result::Result<Arc<Reading>, String>;

/// What settings say of each file.
#[derive(Debug)]
pub(super) struct Sections {
    line: Line,
    settings: Settings,
    /// The path of each root below the folder of the settings.
    ways: HashMap<PathBuf, PathBuf>,
    map: Option<Arc<UrlMap>>,
    readings: Mutex<HashMap<Vec<usize>, Meant>>,
}

impl Sections {
    pub(super) fn new(line: Line, settings: Settings, roots: &[PathBuf], all: &Reading) -> Self {
        let way = |root: &PathBuf| (root.clone(), settings.way_to(root));
        let ways = roots.iter().filter(|root| !is_standard_input(root)).map(way).collect();
        let map = all.origins.map.clone();
        Self { line, settings, ways, map, readings: Mutex::default() }
    }

    fn read(&self, sections: &[usize]) -> Result<Reading> {
        let typed = self.line.with(&self.settings, sections);
        let typed = typed.map_err(|error| Error::new(error.to_string().trim().to_owned()))?;
        let mut reading = typed.reading()?;
        reading.origins.map.clone_from(&self.map);
        Ok(reading)
    }
}

impl BySection for Sections {
    fn reading_of(&self, entry: &TreeEntry) -> Result<(Arc<Reading>, Option<TreeEntry>)> {
        let way = self.ways.get(&*entry.root).map(PathBuf::as_path).unwrap_or(Path::new(""));
        let path: PathBuf = way.iter().chain(entry.relative.iter().map(|name| &**name)).collect();
        let sections = self.settings.matching(&path);
        let folder = self.settings.folder(&sections, &|id| self.line.typed.contains(id));
        let seen = folder.and_then(|folder| {
            let relative = path.strip_prefix(folder).ok()?.iter().map(OsString::from).collect();
            Some(TreeEntry { relative, ..entry.clone() })
        });
        let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        let reading = readings.entry(sections).or_insert_with_key(|sections| {
            self.read(sections).map(Arc::new).map_err(|error| error.to_string())
        });
        match reading {
            Ok(reading) => Ok((Arc::clone(reading), seen)),
            Err(why) => Err(Error::new(format!("{}: {why}", name(&entry.path)))),
        }
    }
}
