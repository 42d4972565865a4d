//! Arguments, in two steps: the `Typed…` structs are what was typed, [`Command`] is what it means.
//!
//! ```text
//! --url http://a/ --resolver rfc3986  -->  Options { profile: Rfc3986, retrieval: Some(http://a/), … }
//! ```
//!
//! The first step looks at one argument at a time; whatever takes two of them to see is left to the
//! second.
//!
//! Deliberately absent: documents. What is read here is a settings file and the table of `--url-map`.

use std::ffi::{OsStr, OsString};
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baselink::error::{Error, Result, name, visible};
use baselink::format::Format;
use baselink::layer::charset::Charset;
use baselink::reference::{Grammar, scheme as scheme_of};
use baselink::resolve::{Base, Profile};
use baselink::scan::Scanner;
use baselink::scan::attributes::{Groups, UserRow};
use baselink::tree::companion::Companions;
use baselink::tree::origin::map::UrlMap;
use baselink::tree::origin::{Layout, Origins, RootUrl};
use baselink::tree::walk::{Globs, Selection};
use baselink::tree::write::{InPlace, Suffix};
use baselink::{BaseElement, Fragments, LocalCopies, Options, ScanOptions};
use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use self::base_from::{BaseFrom, hierarchical_scheme, scheme};
use self::check::TypedCheck;
use self::help::{
    BASE_AFTER, CHECK_AFTER, COMPLETIONS_AFTER, LINKS_AFTER, LOCALIZE_AFTER, MAN_AFTER,
    PROGRAM_AFTER, RESOLVE_AFTER, REWRITE_AFTER,
};
use self::line::{Line, Sections, settings_of};
use self::localize::TypedLocalize;
use self::named::{
    BASE_ELEMENT, BASE_FROM, FORMATS, FRAGMENTS, GROUPS, LOCAL_COPIES, RESOLVERS, SCANNERS, named,
};
use self::resolve::TypedResolve;
use super::request::{
    Asked, Bases, BasesForm, Command, Destination, Documents, Links, LinksForm, Reading, Rewrite,
    Talk, is_standard_input,
};
use super::settings::Settings;
use super::shell;

mod base_from;
mod check;
mod help;
mod line;
mod localize;
mod named;
mod resolve;

/// Why there is nothing to be done.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// What clap has to say: help, the version, or what is wrong with one argument.
    Clap(clap::Error),
    /// What is wrong with the arguments taken together.
    Sentence(Talk, Error),
}

/// Reads the command line, the program's name first, and the settings that go with it.
pub(crate) fn parse(
    words: impl IntoIterator<Item = OsString>,
) -> std::result::Result<Asked, Refusal> {
    let (typed, line) = Line::read(words.into_iter().collect()).map_err(mistake)?;
    let talk = typed.talk();
    let refused = |error| Refusal::Sentence(talk, error);
    let Some(path) = typed.settings().map_err(refused)? else {
        let command = typed.meant().map_err(refused)?;
        command.reads().map_or(Ok(()), refuse_map_of_others).map_err(refused)?;
        return Ok(Asked { talk, settings: None, command });
    };
    let settings = Settings::read(&path, &Typed::command()).map_err(refused)?;
    let is_found = !line.is_typed("config");
    // Only who types it may keep quiet that there are settings.
    let is_said = !talk.quiet;
    let typed = line.with(&settings, &[]).map_err(Refusal::Clap)?;
    let talk = typed.talk();
    let map = typed.documents().and_then(|documents| documents.url_map.as_deref());
    if let Some(map) = map.filter(|_| is_found && !line.is_typed("url_map")) {
        settings.holds(map).map_err(refused)?;
    }
    let mut command = typed.meant().map_err(|error| Refusal::Sentence(talk, error))?;
    if line.is_typed("url_map") {
        command.reads().map_or(Ok(()), refuse_map_of_others).map_err(refused)?;
    }
    if let Some(documents) = command.documents() {
        let sections = Sections::new(line, settings, &documents.paths, &documents.reading);
        documents.sections = Some(Box::new(sections));
    }
    Ok(Asked { talk, settings: is_said.then_some(path), command })
}

/// What is said of words that clap refuses: a sentence where a common mistake has a better answer.
fn mistake(error: clap::Error) -> Refusal {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let sentence = match (of(ContextKind::InvalidSubcommand), of(ContextKind::InvalidArg)) {
        (Some(word), _) => {
            let (path, shown) = (Path::new(word), visible(word));
            match refuse_url("rewrite", path) {
                Err(error) => Some(error.to_string()),
                Ok(()) if path.exists() => {
                    let word = shell::word(word);
                    Some(format!(
                        "{shown} is not a command; put one before it: baselink links {word}"
                    ))
                }
                Ok(()) => None,
            }
        }
        (_, Some("--url" | "--base" | "--base-url" | "-u" | "-b"))
            if error.kind() == ErrorKind::UnknownArgument && usage.contains("baselink resolve") =>
        {
            Some("the base is the first argument: baselink resolve BASE REFERENCE...".to_owned())
        }
        // As sed has it.
        (_, Some("-.")) => {
            Some("-i takes no suffix; for copies of the old files, -i --backup .bak".to_owned())
        }
        (_, Some(option))
            if option.starts_with("--in-place")
                && of(ContextKind::InvalidValue).is_some_and(|value| value.starts_with('.')) =>
        {
            Some(
                "--in-place takes no suffix; for copies of the old files, --backup .bak".to_owned(),
            )
        }
        _ => None,
    };
    match sentence {
        Some(sentence) => Refusal::Sentence(Talk::default(), Error::new(sentence)),
        None => Refusal::Clap(error),
    }
}

/// The command line as clap has it, to be described in other forms.
pub(crate) fn program() -> clap::Command {
    Typed::command()
}

impl Typed {
    fn talk(&self) -> Talk {
        let verbose = match &self.command {
            TypedCommand::Rewrite(typed) => typed.policy.verbose,
            TypedCommand::Links(typed) => typed.policy.verbose,
            TypedCommand::Localize(typed) => typed.verbose,
            TypedCommand::Check(typed) => typed.verbose,
            _ => false,
        };
        Talk { quiet: self.talk.quiet, verbose, color: self.talk.color.into() }
    }

    /// The settings file that counts.
    fn settings(&self) -> Result<Option<PathBuf>> {
        let (settings, paths) = match (self.documents(), &self.command) {
            (Some(typed), _) => (&typed.settings, &*typed.paths),
            (None, TypedCommand::Resolve(typed)) => (&typed.settings, &[][..]),
            (None, _) => return Ok(None),
        };
        match settings {
            TypedSettings { config: Some(path), .. } => Ok(Some(path.clone())),
            TypedSettings { no_config: true, .. } => Ok(None),
            TypedSettings { .. } => settings_of(paths),
        }
    }

    fn documents(&self) -> Option<&TypedDocuments> {
        match &self.command {
            TypedCommand::Rewrite(typed) => Some(&typed.documents),
            TypedCommand::Links(typed) => Some(&typed.documents),
            TypedCommand::Base(typed) => Some(&typed.documents),
            TypedCommand::Localize(typed) => Some(&typed.documents),
            TypedCommand::Check(typed) => Some(&typed.documents),
            TypedCommand::Resolve(_)
            | TypedCommand::Completions { .. }
            | TypedCommand::Man { .. } => None,
        }
    }

    fn meant(self) -> Result<Command> {
        if let Some(documents) = self.documents() {
            let command = match &self.command {
                TypedCommand::Links(_) => "links",
                TypedCommand::Base(_) => "base",
                TypedCommand::Check(_) => "check",
                TypedCommand::Localize(_) => "localize",
                _ => "rewrite",
            };
            documents.paths.iter().try_for_each(|path| refuse_url(command, path))?;
        }
        Ok(match self.command {
            TypedCommand::Rewrite(typed) => Command::Rewrite(Box::new(typed.meant()?)),
            TypedCommand::Links(typed) => Command::Links(Box::new(typed.meant()?)),
            TypedCommand::Base(typed) => Command::Base(Box::new(typed.meant()?)),
            TypedCommand::Resolve(typed) => Command::Resolve(typed.meant()?),
            TypedCommand::Localize(typed) => Command::Localize(Box::new(typed.meant()?)),
            TypedCommand::Check(typed) => Command::Check(Box::new(typed.meant()?)),
            TypedCommand::Completions { shell } => Command::Completions(shell),
            TypedCommand::Man { folder } => Command::Man(folder),
        })
    }

    /// How documents are read, without the table of `--url-map`.
    fn reading(self) -> Result<Reading> {
        let (mut documents, policy) = match self.command {
            TypedCommand::Check(typed) => return typed.reading(),
            TypedCommand::Rewrite(typed) => (typed.documents, Some(typed.policy)),
            TypedCommand::Links(typed) => (typed.documents, Some(typed.policy)),
            TypedCommand::Base(typed) => (typed.documents, None),
            TypedCommand::Localize(typed) => {
                let policy = typed.policy();
                (typed.documents, Some(policy))
            }
            _ => return Err(Error::new("it has no documents")),
        };
        documents.url_map = None;
        let mut reading = documents.reading()?;
        match policy {
            Some(policy) => policy.add_to(&mut reading.options),
            None => reading.origins.every_source = true,
        }
        Ok(reading)
    }
}

/// Make the links of a document mean the same wherever it goes: establish its base URL by RFC 1808,
/// and rewrite relative links in place.
#[derive(Debug, Parser)]
#[command(
    name = "baselink",
    version,
    after_help = PROGRAM_AFTER,
    disable_help_flag = true,
    disable_version_flag = true
)]
struct Typed {
    #[command(subcommand)]
    command: TypedCommand,
    #[command(flatten)]
    talk: TypedTalk,
}

#[derive(Debug, Subcommand)]
enum TypedCommand {
    /// Make every relative link absolute.
    ///
    /// Only the bytes of URLs change. One document goes to standard output, or to a file with -o.
    #[command(after_help = REWRITE_AFTER)]
    Rewrite(Box<TypedRewrite>),
    /// List every link: where, as written, its target, and what `rewrite` makes of it.
    #[command(after_help = LINKS_AFTER)]
    Links(Box<TypedLinks>),
    /// Show the base of each document, and the rule that gave it.
    #[command(after_help = BASE_AFTER)]
    Base(Box<TypedBase>),
    /// Resolve references against a base URL, one a line.
    #[command(after_help = RESOLVE_AFTER)]
    Resolve(TypedResolve),
    /// Say which links of a folder survive that it moves, and why the others do not.
    ///
    /// Every link gets one class: travels, pinned, escapes, dangling, fragment, outside or left.
    #[command(after_help = CHECK_AFTER, mut_arg("paths", one_folder))]
    Check(Box<TypedCheck>),
    /// Make an offline mirror of a folder: links to its files lead there, all others to the network.
    ///
    /// Only the bytes of URLs change. The mirror is another folder with -o, or the folder itself with -i.
    #[command(after_help = LOCALIZE_AFTER, mut_arg("paths", one_folder))]
    Localize(Box<TypedLocalize>),
    /// Print the script with which a shell completes the arguments of baselink.
    #[command(after_help = COMPLETIONS_AFTER)]
    Completions {
        /// The shell: bash, zsh, fish, elvish or powershell
        #[arg(hide_possible_values = true)]
        shell: Shell,
    },
    /// Print the manual page of baselink, or write one for each command to a folder.
    #[command(after_help = MAN_AFTER)]
    Man {
        /// Where all pages are written to: baselink.1, baselink-rewrite.1 and so on
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: Option<PathBuf>,
    },
}

/// The argument for paths, where it is one folder.
fn one_folder(paths: Arg) -> Arg {
    paths.value_name("DIR").help("The folder").action(ArgAction::Set).num_args(1).required(true)
}

#[derive(Debug, Args)]
#[command(next_help_heading = "General")]
struct TypedTalk {
    /// Say nothing on standard error but errors
    #[arg(short, long, global = true)]
    quiet: bool,
    /// When to use colours: auto (default), always or never; NO_COLOR is honoured
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        global = true
    )]
    color: TypedColor,
    /// Print help; -h is shorter than --help
    #[arg(short, long, global = true, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TypedColor {
    Auto,
    Always,
    Never,
}

impl From<TypedColor> for anstream::ColorChoice {
    fn from(typed: TypedColor) -> Self {
        match typed {
            TypedColor::Auto => Self::Auto,
            TypedColor::Always => Self::Always,
            TypedColor::Never => Self::Never,
        }
    }
}

/// How documents are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Documents")]
struct TypedDocuments {
    /// Files and folders; standard input without any, or for `-`
    #[arg(value_name = "PATH", help_heading = Resettable::Reset)]
    paths: Vec<PathBuf>,
    /// Where the document was retrieved from: an absolute URL (RFC 1808, 3.3); of a folder, the URL of
    /// the folder
    // Many take it for the base, which it often is.
    #[arg(
        short,
        long,
        aliases = ["base", "base-url"],
        short_alias = 'b',
        value_hint = ValueHint::Url,
        help_heading = "Retrieval URLs"
    )]
    url: Option<String>,
    /// A table of files and URLs (CSV, TSV or JSON Lines), or `-` for standard input; it comes before --url
    ///
    /// CSV and TSV have the columns path and url, JSON Lines an object with both a line. A path begins at the
    /// folder that was named, that of the table, the current one, or that of a file that was named. Where a
    /// file has several URLs, the last one counts.
    #[arg(long, value_name = "FILE", help_heading = "Retrieval URLs")]
    url_map: Option<PathBuf>,
    /// The file that stands for its folder: its URL ends with `/`
    #[arg(long, value_name = "NAME", help_heading = "Retrieval URLs")]
    index: Option<OsString>,
    /// How folders are named: host, where the first is the host of the URLs, as wget and crawlers do
    #[arg(long, value_name = "HOW", hide_possible_values = true, help_heading = "Retrieval URLs")]
    layout: Option<TypedLayout>,
    /// The scheme of URLs that --layout host and pages of HTTrack give without one [default: https]
    #[arg(long, value_name = "NAME", value_parser = scheme, help_heading = "Retrieval URLs")]
    scheme: Option<String>,
    /// Whether a page is believed that says from where it was saved [default: yes]
    #[arg(
        long,
        value_name = "yes|no",
        hide_possible_values = true,
        help_heading = "Retrieval URLs"
    )]
    trust_saved_from: Option<YesOrNo>,
    /// Links to files that a browser saved with a page: keep or rewrite [default: keep]
    ///
    /// They lie in a folder that is called as the page, with _files or the like behind it, and were never on the
    /// network.
    #[arg(long, value_name = "WHAT", value_parser = named::<LocalCopies>(LOCAL_COPIES), hide_possible_values = true, help_heading = "Retrieval URLs")]
    local_copies: Option<LocalCopies>,
    /// Where no base is known, what else gives one, with commas between: canonical, entry-link; repeatable
    ///
    /// `canonical`: for a page without a retrieval URL, its `<link rel=canonical>`, or else its `og:url`.
    /// `entry-link`: for the content of a feed's entry without an `xml:base`, the link of the entry.
    #[arg(long, value_name = "WHAT", value_parser = named::<BaseFrom>(BASE_FROM), hide_possible_values = true, help_heading = "Retrieval URLs")]
    base_from: Vec<BaseFrom>,
    /// Where there is no base, the scheme of links that begin with `//`, such as https
    #[arg(long, value_name = "SCHEME", value_parser = hierarchical_scheme, help_heading = "Retrieval URLs")]
    assume_scheme: Option<String>,
    /// In folders, only files that match; repeatable
    ///
    /// A pattern without `/` is matched against the name, one with `/` against the path below the folder
    /// that was named; `**` stands for any number of folders. Hidden files count only with --hidden.
    #[arg(long, value_name = "GLOB", help_heading = "Folders")]
    include: Vec<String>,
    /// In folders, no files that match, and nothing below a folder that does; repeatable
    #[arg(long, value_name = "GLOB", help_heading = "Folders")]
    exclude: Vec<String>,
    /// In folders, also hidden files
    #[arg(long, help_heading = "Folders")]
    hidden: bool,
    /// In folders, also what symbolic links lead to
    #[arg(long, help_heading = "Folders")]
    follow: bool,
    /// How many files at a time, and threads for one large HTML file or mailbox [default: as many as there are processors]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Folders")]
    jobs: Option<u16>,
    /// When to show how far the work is: auto (default: on a terminal, when it takes long) or never
    #[arg(long, value_name = "WHEN", hide_possible_values = true, help_heading = "Folders")]
    progress: Option<TypedProgress>,
    /// What the document is: html, xhtml, svg, xml, css, message or mbox; otherwise its name and its
    /// first bytes tell
    #[arg(long, value_name = "NAME", value_parser = named::<Format>(FORMATS), hide_possible_values = true)]
    format: Option<Format>,
    /// The encoding, where no byte order mark says another
    #[arg(long, value_name = "LABEL", value_parser = charset)]
    charset: Option<Charset>,
    /// The rules of resolution: rfc1808 (default), rfc3986, whatwg
    #[arg(long, value_name = "NAME", value_parser = named::<Profile>(RESOLVERS), hide_possible_values = true)]
    resolver: Option<Profile>,
    /// Which scanner of HTML is asked first: fast (default), or exact, its slow referee
    ///
    /// Both find the same; what the fast one cannot prove it leaves to the exact one.
    #[arg(long, value_name = "NAME", value_parser = named::<Scanner>(SCANNERS), hide_possible_values = true)]
    scanner: Option<Scanner>,
    /// Of messages: Content-Location is no base, only Base and Content-Base are
    #[arg(long)]
    no_content_location: bool,
    /// Groups of places that count only on request, with commas between, or `all`; repeatable
    ///
    /// They are social, lazy, json, plugin, rdfa, legacy, experimental, amp, custom, html3, ie, smil,
    /// identifier, gcpm, headers, text and xml.
    #[arg(long, value_name = "GROUP", value_parser = named::<Groups>(GROUPS), hide_possible_values = true)]
    enable: Vec<Groups>,
    /// A further place, with the syntax url, urls, srcset, css or html; repeatable
    #[arg(long, value_name = "ELEMENT[ATTR]=SYNTAX", value_parser = str::parse::<UserRow>)]
    attribute: Vec<UserRow>,
    #[command(flatten)]
    settings: TypedSettings,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TypedLayout {
    Host,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum YesOrNo {
    Yes,
    No,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TypedProgress {
    Auto,
    Never,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TypedInPlace {
    Files,
    BreakLinks,
}

/// The settings file.
#[derive(Debug, Args)]
struct TypedSettings {
    /// The settings file; otherwise baselink.toml in the first input or a folder above it
    ///
    /// Its keys are these options without `--`, but for those that say what is written.
    #[arg(long, value_name = "FILE", conflicts_with = "no_config", help_heading = "Settings")]
    config: Option<PathBuf>,
    /// Ignore settings files
    #[arg(long, help_heading = "Settings")]
    no_config: bool,
}

/// What is to come of links.
#[derive(Debug, Args)]
#[command(next_help_heading = "Policies")]
struct TypedPolicy {
    /// References that are only a fragment: rewrite, keep, or auto [default: rewrite; auto in pages that say that they were saved]
    ///
    /// `auto` rewrites them only where an embedded base differs from the retrieval URL: there a
    /// browser leaves the page for them, too.
    #[arg(long, value_name = "WHAT", value_parser = named::<Fragments>(FRAGMENTS), hide_possible_values = true)]
    fragments: Option<Fragments>,
    /// The base element: absolute (default), keep, remove, or insert
    ///
    /// `absolute` keeps it and makes its own href absolute; `remove` takes it out where every relative
    /// link was rewritten; `insert` puts one in where the document has none.
    #[arg(long, value_name = "WHAT", value_parser = named::<BaseElement>(BASE_ELEMENT), hide_possible_values = true)]
    base_element: Option<BaseElement>,
    /// Leave messages with a DKIM or ARC signature as they are: a changed link would break it
    #[arg(long)]
    skip_dkim: bool,
    /// Exit with 1 when a relative link cannot be made absolute, and was not meant to be left
    #[arg(long)]
    strict: bool,
    /// Say how each base was found, and which links were not made absolute
    #[arg(short, long, help_heading = "General")]
    verbose: bool,
}

#[derive(Debug, Args)]
struct TypedRewrite {
    #[command(flatten)]
    documents: TypedDocuments,
    #[command(flatten)]
    policy: TypedPolicy,
    #[command(flatten)]
    output: TypedOutput,
    /// With -o, leave out what is no document
    #[arg(long, help_heading = "Output")]
    only_documents: bool,
    /// A JSON object per file on standard output; needs -o, -i or --dry-run
    ///
    /// Its keys are path, format, output (null where nothing was written), the numbers of links by
    /// outcome (rewritten, absolute, no-base, left, not-editable), and diagnostics (an array of code,
    /// line, column, start, end, message).
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Where rewritten documents go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct TypedOutput {
    /// Where the result goes: a file, or for folders and several files a folder
    ///
    /// A file that is there is replaced whole or not at all. A folder gets what the named folder has, and
    /// of several each under its name.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Rewrite the files themselves; each is replaced whole or not at all
    ///
    /// A file that other names lead to (hard links) is left, and said; `--in-place=break-links` replaces
    /// it, and the other names keep the old bytes.
    #[arg(short, long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "files", hide_possible_values = true)]
    in_place: Option<TypedInPlace>,
    /// With --in-place, keep each file as it was first, under its name and this
    ///
    /// A backup that is there is never written again, and in folders no backup is rewritten.
    #[arg(long, value_name = "SUFFIX")]
    backup: Option<OsString>,
    /// Give changed files the times of the old ones
    #[arg(long)]
    preserve_times: bool,
    /// Show what would change; nothing is written
    #[arg(long)]
    diff: bool,
    /// Write nothing; only say what would become of the links
    #[arg(long)]
    dry_run: bool,
    /// Prove that nothing but the reported URLs changed, or exit with 1 and write nothing
    #[arg(long)]
    verify: bool,
}

#[derive(Debug, Args)]
struct TypedLinks {
    #[command(flatten)]
    documents: TypedDocuments,
    #[command(flatten)]
    policy: TypedPolicy,
    /// Say of each reference whether it keeps the grammar of RFC 1808, and where not
    #[arg(long, help_heading = "Output")]
    grammar: bool,
    /// Print only the targets, one absolute URL a line; a link without a target is left out
    #[arg(long, help_heading = "Output", conflicts_with_all = ["json", "grammar"])]
    only_targets: bool,
    /// With --only-targets, end each with a zero byte instead of a line end, for xargs -0
    #[arg(short = '0', long, help_heading = "Output", requires = "only_targets")]
    null: bool,
    /// A JSON object per link
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Debug, Args)]
struct TypedBase {
    #[command(flatten)]
    documents: TypedDocuments,
    /// One line a document: its path, its base or none, and the source of the base, with tabs between
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    short: bool,
    /// A JSON object per document
    #[arg(long, help_heading = "Output")]
    json: bool,
}

fn charset(label: &str) -> Result<Charset> {
    Charset::for_label(label).ok_or_else(|| {
        Error::new(
            "no encoding is called so; labels are those of the Encoding Standard, such as utf-8",
        )
    })
}

impl TypedDocuments {
    fn meant(mut self) -> Result<Documents> {
        let mut paths = std::mem::take(&mut self.paths);
        if paths.is_empty() {
            paths.push("-".into());
        }
        let inputs = paths.iter().filter(|path| is_standard_input(path)).count();
        if inputs > 1 {
            return Err(Error::new("standard input (-) can be read only once; name it once"));
        }
        if inputs > 0 && self.url_map.as_deref().is_some_and(is_standard_input) {
            return Err(Error::new(
                "--url-map -: standard input cannot be both the table and the document; name files",
            ));
        }
        let globs = |option: &str, globs: &[String]| {
            Globs::new(globs).map_err(|error| Error::new(format!("{option}: {error}")))
        };
        let selection = Selection {
            include: globs("--include", &self.include)?,
            exclude: globs("--exclude", &self.exclude)?,
            hidden: self.hidden,
            follow: self.follow,
            ..Selection::default()
        };
        let jobs = self.jobs.map_or_else(
            || std::thread::available_parallelism().map_or(1, NonZero::get),
            usize::from,
        );
        let progress = !matches!(self.progress, Some(TypedProgress::Never));
        let reading = Arc::new(self.reading()?);
        Ok(Documents { paths, selection, jobs, progress, reading, sections: None })
    }

    fn reading(self) -> Result<Reading> {
        let profile = self.resolver.unwrap_or_default();
        if let Some(url) = &self.url {
            check_url(profile, url)?;
        }
        let mut groups = Groups::default();
        for enabled in self.enable {
            groups.extend(enabled);
        }
        let trust_saved_from = !matches!(self.trust_saved_from, Some(YesOrNo::No));
        let local_copies = self.local_copies.unwrap_or_default();
        let mut base_from = BaseFrom::default();
        self.base_from.into_iter().for_each(|one| base_from.extend(one));
        let scan = ScanOptions {
            charset: self.charset,
            entry_links: base_from.entry_link,
            groups,
            places: self.attribute,
            ignore_saved: !trust_saved_from,
            scanner: self.scanner.unwrap_or_default(),
            ..ScanOptions::default()
        };
        let options = Options {
            profile,
            no_content_location: self.no_content_location,
            local_copies,
            assumed_scheme: self.assume_scheme.map(Arc::from),
            scan,
            ..Options::default()
        };
        let map = self.url_map.as_deref().map(|path| match is_standard_input(path) {
            true => UrlMap::read_from(io::stdin().lock(), path),
            false => UrlMap::read(path),
        });
        let map = map.transpose();
        let origins = Origins {
            map: map.map_err(|error| Error::new(format!("--url-map: {error}")))?.map(Arc::new),
            root_url: self.url.as_deref().map(RootUrl::of_file),
            index: self.index,
            layout: self.layout.map(|TypedLayout::Host| Layout::Host),
            trust_saved_from,
            keeps_local_copies: local_copies == LocalCopies::Keep,
            companions: Companions::trusting(trust_saved_from),
            canonical: base_from.canonical,
            ..Origins::default()
        };
        let origins = match self.scheme {
            Some(scheme) => Origins { scheme, assumes_scheme: false, ..origins },
            None => origins,
        };
        Ok(Reading { format: self.format, options, origins })
    }

    fn meant_with(self, policy: &TypedPolicy) -> Result<Documents> {
        let mut meant = self.meant()?;
        if let Some(reading) = Arc::get_mut(&mut meant.reading) {
            policy.add_to(&mut reading.options);
        }
        Ok(meant)
    }
}

impl TypedPolicy {
    fn add_to(&self, options: &mut Options) {
        options.fragments = self.fragments;
        options.base_element = self.base_element.unwrap_or_default();
        options.skip_dkim = self.skip_dkim;
    }
}

impl TypedRewrite {
    fn meant(self) -> Result<Rewrite> {
        let mut documents = self.documents.meant_with(&self.policy)?;
        let verify = self.output.verify;
        let (destination, backup) =
            self.output.meant(&mut documents, self.only_documents, self.json)?;
        let (json, strict) = (self.json, self.policy.strict);
        Ok(Rewrite { documents, destination, backup, json, strict, verify })
    }
}

impl TypedOutput {
    fn meant(
        self,
        documents: &mut Documents,
        only_documents: bool,
        json: bool,
    ) -> Result<(Destination, Option<Suffix>)> {
        // Of an output folder all is wanted, the empty folders, too; unless only some files are.
        documents.selection.folders =
            self.output.is_some() && !only_documents && documents.selection.include.is_empty();
        let number = documents.paths.len();
        let refused = |why: &str| Err(Error::new(why));
        let (output, in_place) = (self.output, self.in_place);
        if in_place.is_none() && self.backup.is_some() {
            return refused(
                "--backup goes with --in-place; with -o the old files stay as they are",
            );
        }
        if output.is_none() && only_documents {
            return refused("--only-documents goes with -o DIR: nothing else is written anyway");
        }
        if output.is_none() && in_place.is_none() && self.preserve_times {
            return refused("--preserve-times goes with -o or --in-place");
        }
        let backup = self.backup.as_deref().map(backup_suffix).transpose()?;
        if in_place.is_some() && documents.selection.follow {
            return refused(
                "--follow cannot go with --in-place, which writes through no symbolic link; use -o DIR",
            );
        }
        let destination = match (output.filter(|path| !is_standard_input(path)), in_place) {
            (Some(_), Some(_)) => {
                return refused("-o and --in-place cannot go together: one of them says where to");
            }
            (_, Some(_)) if documents.paths.iter().any(|path| is_standard_input(path)) => {
                return refused("standard input cannot be rewritten in place; name files");
            }
            (_, in_place) if self.diff || self.dry_run => {
                // What `--in-place` would do is what is asked about.
                let _ = in_place;
                if self.diff { Destination::Diff } else { Destination::Nowhere }
            }
            (Some(path), None) => {
                Destination::Path { path, only_documents, preserve_times: self.preserve_times }
            }
            (None, Some(how)) => Destination::InPlace(InPlace {
                break_links: matches!(how, TypedInPlace::BreakLinks),
                preserve_times: self.preserve_times,
                backup: backup.clone(),
            }),
            (None, None) if number > 1 => {
                return Err(Error::new(format!(
                    "{number} files cannot go to one standard output; use -o DIR or --in-place, or \
                     look with --diff or --dry-run"
                )));
            }
            (None, None) => Destination::Standard,
        };
        if json && matches!(destination, Destination::Standard | Destination::Diff) {
            return refused(
                "--json needs standard output for itself; use it with -o, --in-place or --dry-run, \
                 and without --diff",
            );
        }
        Ok((destination, backup))
    }
}

impl TypedLinks {
    fn meant(self) -> Result<Links> {
        let documents = self.documents.meant_with(&self.policy)?;
        let form = match (self.json, self.only_targets) {
            (true, _) => LinksForm::Json,
            (_, true) => LinksForm::Target { ends_with_zero: self.null },
            _ => LinksForm::Text,
        };
        Ok(Links { documents, form, strict: self.policy.strict, grammar: self.grammar })
    }
}

impl TypedBase {
    fn meant(self) -> Result<Bases> {
        let mut documents = self.documents.meant()?;
        if let Some(reading) = Arc::get_mut(&mut documents.reading) {
            reading.origins.every_source = true;
        }
        let form = match (self.json, self.short) {
            (true, _) => BasesForm::Json,
            (_, true) => BasesForm::Short,
            _ => BasesForm::Levels,
        };
        Ok(Bases { documents, form })
    }
}

/// How the names of backups end.
fn backup_suffix(typed: &OsStr) -> Result<Suffix> {
    let refused = |why: &dyn std::fmt::Display| Error::new(format!("--backup: {why}"));
    let suffix = Suffix::new(typed).map_err(|error| refused(&error))?;
    if Format::detect(Some(&format!("a{}", typed.to_string_lossy())), b"").is_read() {
        return Err(refused(
            &"documents have names with this suffix, which would all count as backups; take another, \
              such as .orig",
        ));
    }
    Ok(suffix)
}

/// How many letters a drive of Windows has in a path.
const DRIVE: usize = 1;

/// Refuses an input of `command` that is a URL, and not the path of a file that is there.
fn refuse_url(command: &str, path: &Path) -> Result<()> {
    let Some(url) = path.to_str() else { return Ok(()) };
    let is_url = scheme_of(Grammar::Rfc3986, url)
        .is_some_and(|scheme| scheme.len() > DRIVE && url[scheme.len()..].starts_with("://"));
    if !is_url || path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let shown = visible(url);
    Err(Error::new(match (command, url.get(..5)) {
        (_, Some(scheme)) if scheme.eq_ignore_ascii_case("file:") => {
            format!("{shown} is a URL; name the file by its path")
        }
        ("check" | "localize", _) => format!(
            "{shown} is a URL; {command} takes a folder, such as the one that wget --mirror makes of it"
        ),
        _ => {
            let url = shell::word(url);
            format!("{shown} is a URL: curl -sL {url} | baselink {command} --url {url} -")
        }
    }))
}

/// Refuses a table of URLs that has a line for none of the inputs that are there.
fn refuse_map_of_others(documents: &Documents) -> Result<()> {
    let Some(map) = &documents.reading.origins.map else { return Ok(()) };
    let roots: Vec<_> = documents.roots().map(Path::to_owned).collect();
    if roots.is_empty() {
        return Err(Error::new(
            "--url-map: standard input has no path, by which a table could have its URL; use --url",
        ));
    }
    if map.speaks_of(&roots) || !roots.iter().any(|root| root.exists()) {
        return Ok(());
    }
    let inputs =
        if roots.len() == 1 { name(&roots[0]) } else { "the files that were named".to_owned() };
    Err(Error::new(match map.first() {
        None => "--url-map: the table is empty".to_owned(),
        Some(first) => format!(
            "--url-map: the table has no line for {inputs}; its paths, such as '{}', begin at a folder that \
             was named, or at the folder of the table, of a named file, or the current one",
            name(first)
        ),
    }))
}

/// Whether `url` can be where a document was retrieved from.
fn check_url(profile: Profile, url: &str) -> Result<()> {
    if let [letter, b':', b'\\' | b'/', ..] = url.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        return Err(Error::new(format!(
            "--url: '{url}' is the path of a file; a URL of one begins with file:///"
        )));
    }
    // A host without a scheme, as browsers show it; the name of a document is none.
    let first = url.split(['/', '?', '#']).next().unwrap_or_default();
    let is_host = first.contains('.')
        && first.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !first.contains([':', ' '])
        && !Format::detect(Some(first), b"").is_read();
    let perhaps = if is_host { format!("; perhaps https://{url}") } else { String::new() };
    let refused = |error: Error| Error::new(format!("--url: {error}{perhaps}"));
    Base::absolute(profile, url).map_err(refused)?;
    if !baselink::resolve::parses(url) {
        return Err(Error::new(format!(
            "--url: '{url}' is not a URL: its host is missing or wrong"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use baselink::scan::attributes::Group;

    #[test]
    fn the_arguments_are_consistent_and_the_help_names_every_group() {
        let mut command = Typed::command();
        command.build();
        command.clone().debug_assert();
        let links = command.find_subcommand_mut("links").map(|links| links.render_long_help());
        let help = links.map(|help| help.to_string()).unwrap_or_default();
        for group in Group::ALL {
            assert!(help.contains(group.name()), "{}", group.name());
        }
    }
}
