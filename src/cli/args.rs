//! Arguments, in two steps: the `Typed…` structs are what was typed, [`Command`] is what it means.
//!
//! ```text
//! --url http://a/ --resolver rfc3986  -->  Options { profile: Rfc3986, retrieval: Some(http://a/), … }
//! ```
//!
//! The first step looks at one argument at a time; whatever takes two of them to see is left to the
//! second.
//!
//! Deliberately absent: files. Nothing is opened or looked for here.

use std::ffi::OsString;
use std::path::PathBuf;

use baselink::base::Retrieval;
use baselink::error::{Error, Result};
use baselink::format::Format;
use baselink::layer::charset::Charset;
use baselink::resolve::{Base, Profile};
use baselink::scan::attributes::{Groups, UserRow};
use baselink::{BaseElement, Fragments, Options, ScanOptions};
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::input::is_standard_input;
use super::output::Talk;

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Asked {
    /// How much is said, and in which colours.
    pub(crate) talk: Talk,
    /// What is to be done.
    pub(crate) command: Command,
}

/// A command with its arguments.
#[derive(Debug)]
pub(crate) enum Command {
    /// Make every relative link absolute.
    Rewrite(Box<Rewrite>),
    /// List every link.
    Links(Box<Links>),
    /// Show the base of each document.
    Base(Box<Bases>),
    /// Resolve references.
    Resolve(Resolve),
}

/// `baselink rewrite`
#[derive(Debug)]
pub(crate) struct Rewrite {
    pub(crate) documents: Documents,
    pub(crate) destination: Destination,
    pub(crate) json: bool,
    pub(crate) strict: bool,
    pub(crate) verify: bool,
}

/// Where a rewritten document goes.
#[derive(Debug)]
pub(crate) enum Destination {
    /// To standard output.
    Standard,
    /// To this file.
    File(PathBuf),
    /// Nowhere; what would change is shown.
    Diff,
    /// Nowhere.
    Nowhere,
}

/// `baselink links`
#[derive(Debug)]
pub(crate) struct Links {
    pub(crate) documents: Documents,
    pub(crate) json: bool,
    pub(crate) strict: bool,
    pub(crate) grammar: bool,
}

/// `baselink base`
#[derive(Debug)]
pub(crate) struct Bases {
    pub(crate) documents: Documents,
    pub(crate) json: bool,
}

/// Which documents, and how they are read.
#[derive(Debug)]
pub(crate) struct Documents {
    /// `-` is standard input; never empty.
    pub(crate) paths: Vec<PathBuf>,
    /// What they are; `None` where each has to be looked at.
    pub(crate) format: Option<Format>,
    /// What the library is told.
    pub(crate) options: Options,
}

/// `baselink resolve`
#[derive(Debug)]
pub(crate) struct Resolve {
    pub(crate) profile: Profile,
    pub(crate) base: String,
    /// `None`: one a line from standard input.
    pub(crate) references: Option<Vec<String>>,
    pub(crate) form: Form,
}

/// What `baselink resolve` prints of a reference.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// The target.
    Target,
    /// The steps to it.
    Explanation,
    /// A JSON object.
    Json,
}

/// Why there is nothing to be done.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// What clap has to say: help, the version, or what is wrong with one argument.
    Clap(clap::Error),
    /// What is wrong with the arguments taken together.
    Sentence(Talk, Error),
}

/// Reads the command line, the program's name first.
pub(crate) fn parse(
    typed: impl IntoIterator<Item = OsString>,
) -> std::result::Result<Asked, Refusal> {
    let typed = Typed::try_parse_from(typed).map_err(Refusal::Clap)?;
    let mut talk = Talk { quiet: typed.talk.quiet, verbose: false, color: typed.talk.color.into() };
    let command = match typed.command {
        TypedCommand::Rewrite(typed) => {
            talk.verbose = typed.policy.verbose;
            typed.meant().map(|meant| Command::Rewrite(Box::new(meant)))
        }
        TypedCommand::Links(typed) => {
            talk.verbose = typed.policy.verbose;
            typed.meant().map(|meant| Command::Links(Box::new(meant)))
        }
        TypedCommand::Base(typed) => typed.meant().map(|meant| Command::Base(Box::new(meant))),
        TypedCommand::Resolve(typed) => typed.meant().map(Command::Resolve),
        TypedCommand::Check { .. } => Err(later("the command check", "name files to `links`")),
        TypedCommand::Localize { .. } => {
            Err(later("the command localize", "`rewrite` makes links absolute"))
        }
    };
    match command {
        Ok(command) => Ok(Asked { talk, command }),
        Err(error) => Err(Refusal::Sentence(talk, error)),
    }
}

/// Refuses what the design has and this version has not.
fn later(what: &str, instead: &str) -> Error {
    Error::new(format!("{what} is not in this version; {instead}"))
}

const PROGRAM_AFTER: &str = "\
Examples:
  baselink rewrite --url http://a.example/docs/page.html page.html -o absolute.html
  baselink links --url http://a.example/docs/page.html page.html
  baselink rewrite --url http://a.example/ inbox.mbox -o absolute.mbox
  baselink base mail.eml
  baselink resolve http://a/b/c/d ../g

`baselink COMMAND --help` has the options of a command.

Exit status:
  0  done
  1  what was asked for does not hold (--strict, --verify, a reference without a target)
  2  a file or an argument could not be used";

const REWRITE_AFTER: &str = "\
Examples:
  baselink rewrite --url http://a.example/docs/page.html page.html -o absolute.html
  curl -s http://a.example/ | baselink rewrite --url http://a.example/ > absolute.html
  baselink rewrite --url http://a.example/docs/page.html --diff page.html
  baselink rewrite --dry-run --strict page.html || echo some links would break
  baselink rewrite --format message --url http://a.example/ < mail.eml > absolute.eml
  baselink rewrite --skip-dkim --verify inbox.mbox -o absolute.mbox

Exit status:
  0  done
  1  --strict: a relative link was not made absolute and was not meant to be left;
     --verify: more than URLs would have changed, and nothing was written
  2  a file or an argument could not be used";

const LINKS_AFTER: &str = "\
Each line of text has the place (path, line, column in bytes), the outcome, the element with its \
attribute, and the reference as written with its target or with the reason why it is left. A link \
of a document inside the document (srcdoc, a part of a message) has its number before its element.

With --json, an object per link: path, entity, line, column, start, end, element, attribute, \
reference, base, rule, source, target, outcome (rewritten, absolute, no-base, left or not-editable), \
reason; and with --grammar also category (absolute, net_path, abs_path, rel_path, fragment or empty), \
conforms, violation (null, or an object with at, the byte of the reference; character; production; \
message). Every key is always there, null where it does not apply.

Examples:
  baselink links --url http://a.example/docs/page.html page.html
  baselink links --grammar page.html
  baselink links --enable social,lazy page.html
  baselink links --enable headers,text mail.eml
  baselink links --json --url http://a.example/ page.html | jq -r .target

Exit status:
  0  done
  1  --strict: a relative link has no target, and is not meant to be left
  2  a file or an argument could not be used";

const BASE_AFTER: &str = "\
The levels of RFC 1808, section 3, are shown innermost first. Marks: `>` the one that gives the \
base, `-` passed over, `!` there, but it cannot be a base; no mark: nothing there. A message is \
shown as the tree of its entities, each with the levels at which there is something.

With --json, an object per document or entity: path, entity, media_type, base, rule, source, declared (null, \
or entity, rule and source of the level that an inherited base comes from), chain (an array of \
entity, rule, source, value, status, reason; status is taken, passed-over, absent or invalid).

Examples:
  baselink base page.html
  baselink base --url http://a.example/docs/page.html page.html
  baselink base --resolver whatwg --url http://a.example/ page.html
  baselink base --json page.html | jq -r .base
  baselink base mail.eml

Exit status:
  0  done, also where a document has no base
  2  a file or an argument could not be used";

const RESOLVE_AFTER: &str = "\
A reference that has no target is printed as it is, with a warning on standard error. One that \
begins with `-` goes after `--`.

With --json, an object per reference: base, reference, target (null when there is none), category, \
conforms, violation (null, or an object with at, character, production, message), resolver.

Examples:
  baselink resolve http://a/b/c/d ../g '?y' '#s'
  baselink resolve --explain 'http://a/b/c/d;p?q' ../g
  baselink resolve --resolver whatwg http://a/b/c/d /../g
  printf '%s\\n' ../g ./g | baselink resolve http://a/b/c/d

Exit status:
  0  done
  1  a reference has no target
  2  a file or an argument could not be used";

/// Make the links of a document mean the same wherever it goes: establish its base URL by RFC 1808,
/// and rewrite relative links in place.
#[derive(Debug, Parser)]
#[command(name = "baselink", version, after_help = PROGRAM_AFTER)]
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
    #[command(hide = true, disable_help_flag = true)]
    Check {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<OsString>,
    },
    #[command(hide = true, disable_help_flag = true)]
    Localize {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<OsString>,
    },
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Messages")]
struct TypedTalk {
    /// Say nothing on standard error but errors
    #[arg(short, long, global = true)]
    quiet: bool,
    /// When to use colours; NO_COLOR is honoured
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    color: TypedColor,
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
    /// Files; standard input without any, or for `-`
    #[arg(value_name = "PATH", help_heading = "Arguments")]
    paths: Vec<PathBuf>,
    /// Where the document was retrieved from: an absolute URL (RFC 1808, 3.3)
    #[arg(short, long)]
    url: Option<String>,
    /// What the document is: html, xhtml, svg, xml, css, message or mbox; otherwise its name and its
    /// first bytes tell
    #[arg(long, value_name = "NAME", value_parser = str::parse::<Format>)]
    format: Option<Format>,
    /// The encoding, where no byte order mark says another
    #[arg(long, value_name = "LABEL", value_parser = charset)]
    charset: Option<Charset>,
    /// The rules of resolution: rfc1808 (default), rfc3986, whatwg
    #[arg(long, value_name = "NAME", value_parser = str::parse::<Profile>)]
    resolver: Option<Profile>,
    /// Of messages: Content-Location is no base, only Base and Content-Base are
    #[arg(long)]
    no_content_location: bool,
    /// Groups of places that count only on request, with commas between, or `all`; repeatable
    ///
    /// They are social, lazy, json, plugin, rdfa, legacy, experimental, amp, custom, html3, ie, smil,
    /// identifier, gcpm, headers, text and xml.
    #[arg(long, value_name = "GROUP", value_parser = str::parse::<Groups>)]
    enable: Vec<Groups>,
    /// A further place, with the syntax url, urls, srcset, css or html; repeatable
    #[arg(long, value_name = "ELEMENT[ATTR]=SYNTAX", value_parser = str::parse::<UserRow>)]
    attribute: Vec<UserRow>,
    #[command(flatten)]
    later: TypedLater,
}

/// What is to come of links.
#[derive(Debug, Args)]
#[command(next_help_heading = "Policies")]
struct TypedPolicy {
    /// References that are only a fragment: rewrite (default), keep, or auto
    ///
    /// `auto` rewrites them only where an embedded base differs from the retrieval URL: there a
    /// browser leaves the page for them, too.
    #[arg(long, value_name = "WHAT", value_parser = str::parse::<Fragments>)]
    fragments: Option<Fragments>,
    /// The base element: absolute (default), keep, remove, or insert
    ///
    /// `absolute` keeps it and makes its own href absolute; `remove` takes it out where every relative
    /// link was rewritten; `insert` puts one in where the document has none.
    #[arg(long, value_name = "WHAT", value_parser = str::parse::<BaseElement>)]
    base_element: Option<BaseElement>,
    /// Leave messages with a DKIM or ARC signature as they are: a changed link would break it
    #[arg(long)]
    skip_dkim: bool,
    /// Exit with 1 when a relative link cannot be made absolute, and was not meant to be left
    #[arg(long)]
    strict: bool,
    /// Say how each base was found, and which links were not made absolute
    #[arg(short, long, help_heading = "Messages")]
    verbose: bool,
}

/// Options that this version refuses, each with what to do instead.
#[derive(Debug, Args)]
struct TypedLater {
    #[arg(short = 'i', long, hide = true)]
    in_place: bool,
    #[arg(long, hide = true)]
    backup: Option<OsString>,
    #[arg(long, hide = true)]
    include: Option<OsString>,
    #[arg(long, hide = true)]
    exclude: Option<OsString>,
    #[arg(short = 'j', long, hide = true)]
    jobs: Option<OsString>,
    #[arg(long, hide = true)]
    progress: Option<OsString>,
}

#[derive(Debug, Args)]
struct TypedRewrite {
    #[command(flatten)]
    documents: TypedDocuments,
    #[command(flatten)]
    policy: TypedPolicy,
    /// Where the result goes; the file is replaced whole or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Show what would change; nothing is written
    #[arg(long, help_heading = "Output")]
    diff: bool,
    /// Write nothing; only say what would become of the links
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// A JSON object per file on standard output; needs -o or --dry-run
    ///
    /// Its keys are path, format, output (null where nothing was written), the numbers of links by
    /// outcome (rewritten, absolute, no-base, left, not-editable), and diagnostics (an array of code,
    /// line, column, start, end, message).
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Prove that nothing but the reported URLs changed, or exit with 1 and write nothing
    #[arg(long, help_heading = "Output")]
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
    /// A JSON object per link
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Debug, Args)]
struct TypedBase {
    #[command(flatten)]
    documents: TypedDocuments,
    /// A JSON object per document
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Debug, Args)]
struct TypedResolve {
    /// An absolute URL
    base: String,
    /// What to resolve; without any, standard input has one a line
    #[arg(value_name = "REFERENCE")]
    references: Vec<String>,
    /// The rules of resolution: rfc1808 (default), rfc3986, whatwg
    #[arg(long, value_name = "NAME", value_parser = str::parse::<Profile>)]
    resolver: Option<Profile>,
    /// Show components and steps, so that the result can be checked by hand
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    explain: bool,
    /// A JSON object per reference
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
    fn meant(self) -> Result<Documents> {
        self.later.refused()?;
        let mut paths = self.paths;
        if paths.is_empty() {
            paths.push("-".into());
        }
        if paths.iter().filter(|path| is_standard_input(path)).count() > 1 {
            return Err(Error::new("standard input (-) can be read only once; name it once"));
        }
        let profile = self.resolver.unwrap_or_default();
        let retrieval = match self.url {
            Some(url) => {
                check_url(profile, &url)?;
                Some(Retrieval::url(url))
            }
            None => None,
        };
        let mut groups = Groups::default();
        for enabled in self.enable {
            groups.extend(enabled);
        }
        let scan = ScanOptions {
            charset: self.charset,
            groups,
            places: self.attribute,
            ..ScanOptions::default()
        };
        let options = Options {
            profile,
            retrieval,
            no_content_location: self.no_content_location,
            scan,
            ..Options::default()
        };
        Ok(Documents { paths, format: self.format, options })
    }

    fn meant_with(self, policy: &TypedPolicy) -> Result<Documents> {
        let mut meant = self.meant()?;
        meant.options.fragments = policy.fragments.unwrap_or_default();
        meant.options.base_element = policy.base_element.unwrap_or_default();
        meant.options.skip_dkim = policy.skip_dkim;
        Ok(meant)
    }
}

impl TypedLater {
    fn refused(&self) -> Result<()> {
        let folders = "name files";
        for (typed, option, instead) in [
            (self.in_place, "--in-place", "use -o FILE"),
            (self.backup.is_some(), "--backup", "use -o with another name"),
            (self.include.is_some(), "--include", folders),
            (self.exclude.is_some(), "--exclude", folders),
            (self.jobs.is_some(), "--jobs", "files are read one after another"),
            (self.progress.is_some(), "--progress", "leave it out"),
        ] {
            if typed {
                return Err(later(option, instead));
            }
        }
        Ok(())
    }
}

impl TypedRewrite {
    fn meant(self) -> Result<Rewrite> {
        let documents = self.documents.meant_with(&self.policy)?;
        let number = documents.paths.len();
        let destination = match self.output.filter(|path| !is_standard_input(path)) {
            Some(_) if number > 1 => {
                return Err(Error::new(format!(
                    "-o takes the result of one file, and {number} were named; name one, or use \
                     --diff or --dry-run"
                )));
            }
            _ if self.diff => Destination::Diff,
            _ if self.dry_run => Destination::Nowhere,
            Some(path) => Destination::File(path),
            None if number > 1 => {
                return Err(Error::new(format!(
                    "{number} files cannot go to one standard output; name one, or use --diff or \
                     --dry-run"
                )));
            }
            None => Destination::Standard,
        };
        if self.json && matches!(destination, Destination::Standard | Destination::Diff) {
            return Err(Error::new(
                "--json needs standard output for itself; use it with -o FILE or --dry-run, and \
                 without --diff",
            ));
        }
        Ok(Rewrite {
            documents,
            destination,
            json: self.json,
            strict: self.policy.strict,
            verify: self.verify,
        })
    }
}

impl TypedLinks {
    fn meant(self) -> Result<Links> {
        let documents = self.documents.meant_with(&self.policy)?;
        Ok(Links { documents, json: self.json, strict: self.policy.strict, grammar: self.grammar })
    }
}

impl TypedBase {
    fn meant(self) -> Result<Bases> {
        Ok(Bases { documents: self.documents.meant()?, json: self.json })
    }
}

impl TypedResolve {
    fn meant(self) -> Result<Resolve> {
        let profile = self.resolver.unwrap_or_default();
        Base::absolute(profile, &self.base)?;
        let form = match (self.json, self.explain) {
            (true, _) => Form::Json,
            (_, true) => Form::Explanation,
            _ => Form::Target,
        };
        let references = (!self.references.is_empty()).then_some(self.references);
        Ok(Resolve { profile, base: self.base, references, form })
    }
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
    Base::absolute(profile, url).map_err(|error| Error::new(format!("--url: {error}")))?;
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
    use clap::CommandFactory;

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
