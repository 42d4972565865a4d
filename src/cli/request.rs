//! The documents of a request: the arguments of every command that reads documents, and what follows from them.
//!
//! ```text
//! --url http://a/ --resolver rfc3986
//!     -->  Reading { options: Options { resolver: Rfc3986, … }, origins: Origins { root_url: Some(http://a/), … }, … }
//! baselink links --json page.html   -->   Documents { …, inputs: Inputs { paths: [page.html], … } }
//! ```
//!
//! The structs of the commands contain these types.
//!
//! Deliberately absent: the options of single commands, and the output ([`super::args::output`]).

use std::{
    ffi::OsString,
    fs::File,
    io,
    mem::take,
    num::NonZero,
    ops::{Deref, DerefMut},
    path::{Path, PathBuf},
    sync::Arc,
};

use baselink_rewrite::{BaseElement, ContentLocationUse, Dkim, Fragments, LocalCopies, Options};
use baselink_scan::{
    ScanOptions,
    attributes::{Group, Groups, Place},
    group_of, is_read,
};
use baselink_text::{Charset, Error, Format, Result, shell};
use baselink_url::{Resolver, hierarchical_scheme};
use clap::{ArgAction, Args, ColorChoice, ValueHint, builder::Resettable};

use super::{
    args::named::{HostLayout, TrustList, is_trusted, named},
    settings::Settings,
};
use baselink_files::walk::{Globs, Selection};
pub use baselink_files::{folder_of, is_standard_input, write::is_usual_backup};
pub use baselink_site::reading::{Archives, Inputs};
use baselink_site::{
    collection::{
        companion::Companions,
        origin::{Origins, RootUrl, map::UrlMap},
        same::SamePrefixes,
    },
    reading::Reading,
};

/// The options for messages: how many are printed, and the use of colours.
#[derive(Clone, Copy, Default, Args)]
#[command(next_help_heading = "General")]
pub struct Verbosity {
    /// On standard error, print only errors
    #[arg(short, long, global = true, overrides_with = "quiet")]
    pub quiet: bool,
    /// True to print details. The commands that have the option describe it.
    #[arg(skip)]
    pub verbose: bool,
    /// Use colours: auto (default), always or never; NO_COLOR is honoured
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        global = true
    )]
    pub color: ColorChoice,
    /// Print help: -h briefly, --help in full
    #[arg(short, long, global = true, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

impl Deref for Documents {
    type Target = Inputs;

    fn deref(&self) -> &Inputs {
        &self.inputs
    }
}

impl DerefMut for Documents {
    fn deref_mut(&mut self) -> &mut Inputs {
        &mut self.inputs
    }
}

/// The documents, and the options for reading them, with what they mean.
#[derive(Args, Default)]
#[command(next_help_heading = "What to read")]
pub struct Documents {
    #[arg(skip)]
    pub inputs: Inputs,
    /// Files and folders; `-`, or no PATH, means standard input
    #[arg(id = "paths", value_name = "PATH", help_heading = Resettable::Reset)]
    pub typed_paths: Vec<PathBuf>,
    /// The absolute URL from which the document or folder was retrieved (RFC 1808, 3.3)
    // The aliases are for users who call the retrieval URL the base.
    #[arg(
        short,
        long,
        aliases = ["base", "base-url"],
        short_alias = 'b',
        value_hint = ValueHint::Url
    )]
    pub url: Option<String>,
    /// A table of files and URLs (CSV, TSV or JSON Lines), or `-` for standard input; it takes precedence over --url
    ///
    /// CSV and TSV have the columns path and url; in JSON Lines, each line is an object with both keys. A relative
    /// path is looked up in the named folder, then next to the table, then in the current folder, then next to a named file.
    /// If the table has several URLs for a file, links to any of them lead to the file, and the last one is its
    /// retrieval URL.
    #[arg(long, value_name = "FILE")]
    pub url_map: Option<PathBuf>,
    /// The table, if settings name it that were found.
    #[arg(skip)]
    pub map_file: Option<File>,
    /// The name of index files, such as index.html: their URLs end with `/`; repeatable
    #[arg(long, value_name = "NAME")]
    index: Vec<OsString>,
    /// The layout of folders: host or host:SCHEME, if top-level folders are named after hosts, as by wget and crawlers
    ///
    /// Without SCHEME the URLs begin with https.
    #[arg(long, value_name = "LAYOUT", value_parser = named::<HostLayout>(HostLayout::NAMES))]
    layout: Option<HostLayout>,
    /// Sources of base URLs to add (canonical, entry-link) or to remove (-saved, -xattr, -content-location, -local-copies,
    /// -others), separated by commas; repeatable
    ///
    /// On by default: `saved`, the URL that a browser or crawler recorded in a page; `xattr`, the URL in the extended
    /// attributes of a file; `content-location`, a header field of messages; `others`, the other sources in a folder of archives; and
    /// `local-copies`, which is not a source but keeps links to files that a browser saved with a page.
    ///
    /// Off by default: `canonical`, the `<link rel=canonical>` or else the `og:url` of a page without a retrieval URL; and
    /// `entry-link`, the link of a feed's entry, for content without an `xml:base`.
    #[arg(long, value_name = "LIST", value_parser = named::<TrustList>(TrustList::NAMES), allow_hyphen_values = true)]
    trust: Vec<TrustList>,
    /// The scheme of URLs that lack one, such as https. It applies to links that begin with `//` and have no base, to
    /// pages of HTTrack, and to --layout host
    #[arg(long, value_name = "SCHEME", value_parser = hierarchical_scheme)]
    assume_scheme: Option<String>,
    /// In folders and archives, read only files that match; repeatable
    ///
    /// A pattern without `/` is matched against the name, one with `/` against the path below the named
    /// folder; `**` stands for any number of folders. Hidden files are read only with --hidden.
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
    /// In folders and archives, skip files that match, and everything below folders that match; repeatable
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// In folders, read hidden files, too
    #[arg(long)]
    hidden: bool,
    /// In folders, follow symbolic links
    #[arg(long)]
    follow: bool,
    /// The number of files, messages of a mailbox, or records of an archive to process at a time [default: the number of processors]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    #[arg(
        long,
        value_name = "NAME",
        value_parser = named::<Format>(Format::NAMES),
        help = format!("The format of the document [default: detected by its name and first bytes]: {}", Format::NAMES.join(", "))
    )]
    format: Option<Format>,
    /// The encoding of all documents except those with a byte order mark
    #[arg(long, value_name = "LABEL", value_parser = str::parse::<Charset>)]
    charset: Option<Charset>,
    /// The rules of resolution: rfc1808 (default), rfc3986, whatwg
    #[arg(long, value_name = "NAME", value_parser = named::<Resolver>(Resolver::ALL.map(Resolver::name)))]
    resolver: Option<Resolver>,
    #[arg(
        long,
        value_name = "GROUP",
        value_parser = named::<Groups>(groups()),
        help = format!("Groups of additional places to look for links, separated by commas; repeatable: {}", groups().join(", "))
    )]
    enable: Vec<Groups>,
    /// An additional place to look for links, with the syntax url, urls, srcset, css or html; repeatable
    #[arg(long, value_name = "ELEMENT[ATTR]=SYNTAX", value_parser = str::parse::<Place>)]
    attribute: Vec<Place>,
    /// The settings file, or `none` to use no settings [default: baselink.toml of the current folder]
    ///
    /// Its keys are long options without `--`. Options that choose inputs, outputs or what is printed are allowed only
    /// on the command line.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// The names of `--enable`.
fn groups() -> Vec<&'static str> {
    [&Group::ALL.map(Group::name)[..], &["all"]].concat()
}

/// URLs that mean the same as others.
#[derive(Args)]
pub struct SameUrls {
    /// URLs with one of these prefixes mean those with the other, such as https://www.a.example/=https://a.example/; repeatable
    ///
    /// URLs of captures, such as https://web.archive.org/web/2024im_/https://a.example/, mean the captured URLs without this
    /// option.
    #[arg(long = "same", value_name = "PREFIX=PREFIX", value_parser = str::parse::<SamePrefixes>, help_heading = "What to read")]
    prefixes: Vec<SamePrefixes>,
}

impl SameUrls {
    /// Adds these prefixes to the options for reading.
    pub fn apply(&self, reading: &mut Reading) {
        reading.same = Arc::new(self.prefixes.clone().into());
    }
}

/// The policies for links.
#[derive(Clone, Copy, Args)]
#[command(next_help_heading = "What to rewrite")]
pub struct Policy {
    /// Rewrite references that are only a fragment, or keep them: rewrite, keep, auto [default: rewrite; in saved pages auto]
    ///
    /// `auto` keeps them unless an embedded base differs from the retrieval URL. With such a base, they lead a browser
    /// to another page.
    #[arg(long, value_name = "WHAT", value_parser = named::<Fragments>(["rewrite", "keep", "auto"]))]
    fragments: Option<Fragments>,
    /// Make the href of a base element absolute, or keep it: absolute, keep [default: absolute]
    #[arg(long, value_name = "WHAT", value_parser = named::<BaseElement>(["absolute", "keep"]))]
    base_element: Option<BaseElement>,
    /// Do not change messages with a DKIM or ARC signature, since a changed link would break it
    #[arg(long)]
    skip_dkim: bool,
}

impl Policy {
    /// Sets these options.
    pub fn apply(self, options: &mut Options) {
        options.fragments = self.fragments;
        options.base_element = self.base_element.unwrap_or_default();
        if self.skip_dkim {
            options.dkim = Dkim::Keep;
        }
    }
}

impl Documents {
    /// Checks the arguments, and reads the table of URLs. With `settings`, they give the URL or the layout of their
    /// folder.
    pub fn complete(&mut self, settings: Option<&Settings>) -> Result<()> {
        let inputs = &mut self.inputs;
        inputs.paths = take(&mut self.typed_paths);
        if inputs.paths.is_empty() {
            inputs.paths.push("-".into());
        }
        let number = inputs.paths.len() - inputs.roots().count();
        if number > 1 {
            return Err(Error::new(
                "standard input (-) can be read only once; name it once",
            ));
        }
        if number > 0 && self.url_map.as_deref().is_some_and(is_standard_input) {
            return Err(Error::new(
                "--url-map -: standard input cannot be both the table and the document; name files",
            ));
        }
        self.inputs.selection = self.selection()?;
        self.inputs.jobs = self.jobs();
        self.inputs.reading = self.reading()?;
        if let Some(settings) = settings {
            let way = |root: &Path| (root.to_owned(), settings.way_to(root));
            self.inputs.below_settings = self.roots().map(way).collect();
        }
        Ok(())
    }

    /// An error if the last of several paths does not exist, so that it may be meant as the output, or as a form of links.
    pub fn output_among_inputs(&self) -> Option<Error> {
        let [first, .., last] = &*self.paths else {
            return None;
        };
        let missing = [first, last]
            .into_iter()
            .find(|path| !is_standard_input(path) && path.symlink_metadata().is_err())?;
        let option = match missing.to_str() {
            Some(form @ ("disk" | "served")) if self.archives == Archives::None => {
                format!("--relative={form}")
            }
            _ => format!("-o {}", shell::word(&missing.to_string_lossy())),
        };
        let why = format!("no such file or folder; did you mean {option}?");
        Some(Error::file(missing, why.as_str()))
    }

    /// The patterns as typed.
    pub fn patterns(&self) -> String {
        let typed = self
            .include
            .iter()
            .map(|one| ("--include", one))
            .chain(self.exclude.iter().map(|one| ("--exclude", one)));
        typed
            .map(|(option, pattern)| format!(" with {option} {}", shell::word(pattern)))
            .collect()
    }

    /// The selection of files.
    fn selection(&self) -> Result<Selection> {
        let globs = |option: &str, globs: &[String]| {
            Globs::new(globs).map_err(|error| Error::new(format!("{option}: {error}")))
        };
        Ok(Selection {
            include: globs("--include", &self.include)?,
            exclude: globs("--exclude", &self.exclude)?,
            hidden: self.hidden,
            follow: self.follow,
            ..Selection::default()
        })
    }

    /// The number of threads.
    fn jobs(&self) -> usize {
        match self.jobs {
            Some(jobs) => jobs.into(),
            None => std::thread::available_parallelism().map_or(1, NonZero::get),
        }
    }

    /// The options for reading documents.
    fn reading(&self) -> Result<Reading> {
        let resolver = self.resolver.unwrap_or_default();
        if let Some(url) = &self.url {
            check_url(url)?;
        }
        let mut groups = Groups::default();
        for enabled in &self.enable {
            groups.extend(*enabled);
        }
        let trusts = |source| is_trusted(&self.trust, source);
        let local_copies = if trusts("local-copies") {
            LocalCopies::Keep
        } else {
            LocalCopies::Rewrite
        };
        let scan = ScanOptions {
            charset: self.charset,
            entry_links: trusts("entry-link"),
            groups,
            places: self.attribute.as_slice().into(),
            ignore_saved: !trusts("saved"),
            ..ScanOptions::default()
        };
        if let Some(format) = self.format
            && let Some(group) = group_of(format).filter(|_| !is_read(format, &scan))
        {
            return Err(Error::new(format!(
                "--format {} requires --enable {group}; by default such files have no links",
                format.name()
            )));
        }
        let content_location = if trusts("content-location") {
            ContentLocationUse::Base
        } else {
            ContentLocationUse::Label
        };
        let options = Options {
            resolver,
            content_location,
            trusts_notes: trusts("saved"),
            local_copies,
            assumed_scheme: self.assume_scheme.as_deref().map(Arc::from),
            scan,
            ..Options::default()
        };
        let map = self.url_map.as_deref().map(|path| match &self.map_file {
            Some(file) => UrlMap::read_from(file, path),
            None if is_standard_input(path) => UrlMap::read_from(io::stdin().lock(), path),
            None => UrlMap::read(path),
        });
        let map = map.transpose();
        let of_layout = self
            .layout
            .as_ref()
            .and_then(|layout| layout.scheme.as_ref());
        let origins = Origins {
            map: map
                .map_err(|error| Error::new(format!("--url-map: {error}")))?
                .map(Arc::new),
            root_url: self.url.as_deref().map(RootUrl::of_file),
            index: self.index.clone(),
            has_hosts: self.layout.is_some(),
            ignores_xattr: !trusts("xattr"),
            keeps_local_copies: trusts("local-copies"),
            companions: Companions::trusting(trusts("saved")),
            canonical: trusts("canonical"),
            keeps_apart: !trusts("others"),
            given_scheme: of_layout.or(self.assume_scheme.as_ref()).cloned(),
            ..Origins::default()
        };
        Ok(Reading {
            format: self.format,
            options,
            origins,
            same: Arc::default(),
        })
    }
}

/// Rejects a `url` that cannot be a retrieval URL.
fn check_url(url: &str) -> Result<()> {
    if let [letter, b':', b'\\' | b'/', ..] = url.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        return Err(Error::new(format!(
            "--url: '{url}' is a file path; the URL of a file begins with file:///"
        )));
    }
    baselink_url::usable(url).map_err(|why| {
        Error::new(format!(
            "--url: '{url}' cannot be a base URL: {why}; give a URL such as https://a.example/{}",
            with_scheme(url)
        ))
    })?;
    if !baselink_url::parses(url) {
        return Err(Error::new(format!(
            "--url: '{url}' is not a URL: its host is missing or invalid"
        )));
    }
    Ok(())
}

/// The new URL of a folder, for --to; `on_disk` is the argument for a folder that is opened from disk.
pub fn new_url(url: &str, on_disk: &str) -> Result<RootUrl> {
    RootUrl::new(url).map_err(|error| {
        let suggestion = with_scheme(url);
        let error = error.to_string();
        // The error begins with the URL, which may be empty.
        let problem = error.trim_start_matches(": ");
        Error::new(format!(
            "--to: {problem}; give the new URL of the folder, or {on_disk} if it will be read from disk{suggestion}"
        ))
    })
}

/// The end of a message that suggests `url` with a scheme; empty if it does not begin with a host.
fn with_scheme(url: &str) -> String {
    // Browsers show URLs without their scheme. `page.html` looks similar, but is the name of a document.
    let first = url.split(['/', '?', '#']).next().unwrap_or_default();
    let is_host = first.contains('.')
        && first.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !first.contains([':', ' '])
        && !Format::detect(Some(first), b"").is_read();
    if is_host {
        format!("; did you mean https://{url}")
    } else {
        String::new()
    }
}
