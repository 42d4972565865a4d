//! Option values with fixed names, which a shell can complete, and lists of them: `--trust` (the sources of bases that are
//! used) and `--layout` (the layout of folders).
//!
//! ```text
//! --resolver WHATWG          -->   Resolver::Whatwg
//! --resolver w<Tab>          -->   whatwg
//! --format htlm              -->   unknown format 'htlm'; use one of …; did you mean 'html'?
//! --trust canonical,-saved   -->   TrustList([(canonical, true), (saved, false)])
//! ```
//!
//! The library parses most names and reports an unknown one. This file lists them, and accepts them in any case.
//!
//! Deliberately absent: looking for a base in the sources.

use std::{ffi::OsStr, marker::PhantomData, str::FromStr};

use baselink_text::{Error, Result, nearest};
use baselink_url::hierarchical_scheme;
use clap::{
    Arg, Command,
    builder::{PossibleValue, TypedValueParser},
};

/// Creates a parser for a value that is one of `names`, or a list of them.
pub fn named<T>(names: impl Into<Vec<&'static str>>) -> NameParser<T> {
    NameParser {
        names: names.into(),
        of: PhantomData,
    }
}

/// A parser for a value with fixed names. It may also accept values that are not among the names.
#[derive(Clone)]
pub struct NameParser<T> {
    names: Vec<&'static str>,
    of: PhantomData<fn() -> T>,
}

impl<T> TypedValueParser for NameParser<T>
where
    T: FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        option: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let names = self.names.clone();
        let parse = move |text: &str| {
            let lower = text.to_ascii_lowercase();
            let parsed = text
                .parse()
                .or_else(|error| lower.parse().map_err(|_| error));
            let unknown = lower.split(',').find(|item| !names.contains(item));
            let meant = unknown.and_then(|word| nearest(word, names.iter().copied()));
            parsed.map_err(|error: Error| match meant {
                Some(meant) => Error::new(format!("{error}; did you mean '{meant}'?")),
                None => error,
            })
        };
        parse.parse_ref(command, option, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(PossibleValue::new)))
    }
}

/// The sources of bases that can be added or removed:
///
/// - the URL that a browser or crawler noted in a page
/// - files that a browser saved with a page: links to them are kept
/// - the URL in the extended attributes of a file
/// - the `Content-Location` of messages
/// - the other sources in a folder of archives
/// - the canonical URL of a page, as its retrieval URL
/// - the link of a feed's entry, as the base of its content
const SOURCES: &str = "saved, local-copies, xattr, content-location, others, canonical, entry-link";

/// True if `source` is trusted after these lists changed the defaults in order.
pub fn is_trusted(lists: &[TrustList], source: &str) -> bool {
    let mut changes = lists.iter().flat_map(|list| &list.0).rev();
    let last = changes.find(|(name, _)| *name == source);
    last.map_or(
        !matches!(source, "canonical" | "entry-link"),
        |(_, is_trusted)| *is_trusted,
    )
}

/// A list of sources, each to be added or removed.
#[derive(Clone)]
pub struct TrustList(Vec<(&'static str, bool)>);

impl TrustList {
    /// The changes of the defaults.
    pub const NAMES: [&str; 7] = [
        "canonical",
        "entry-link",
        "-saved",
        "-xattr",
        "-content-location",
        "-local-copies",
        "-others",
    ];
}

impl FromStr for TrustList {
    type Err = Error;

    fn from_str(list: &str) -> Result<Self> {
        let change = |item: &str| {
            let removed = item.strip_prefix('-');
            let name = removed.unwrap_or(item);
            let source = SOURCES.split(", ").find(|known| *known == name);
            let source = source.ok_or_else(|| {
                Error::new(format!("unknown source '{name}'; use one of {SOURCES}"))
            })?;
            Ok((source, removed.is_none()))
        };
        list.split(',').map(change).collect::<Result<_>>().map(Self)
    }
}

/// The layout `host`, with the scheme of the URLs.
#[derive(Clone)]
pub struct HostLayout {
    pub scheme: Option<String>,
}

impl HostLayout {
    /// The layouts that a shell completes.
    pub const NAMES: [&str; 3] = ["host", "host:http", "host:https"];
}

impl FromStr for HostLayout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':') {
            None if text == "host" => Ok(Self { scheme: None }),
            Some(("host", scheme)) => Ok(Self {
                scheme: Some(hierarchical_scheme(scheme)?),
            }),
            _ => Err(Error::new(format!(
                "unknown layout '{text}'; use host or host:SCHEME, such as host:http"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::cli::args::{built_program, program};

    /// The parser of each option with fixed names accepts them.
    #[test]
    fn every_name_is_accepted() {
        let mut number = 0;
        for command in built_program().get_subcommands() {
            for option in command
                .get_arguments()
                .filter(|one| one.get_long().is_some())
            {
                for name in option.get_possible_values() {
                    let is_flag = !option.get_action().takes_values();
                    if is_flag || option.get_long() == Some("color") {
                        continue;
                    }
                    let option = format!(
                        "--{}={}",
                        option.get_long().unwrap_or_default(),
                        name.get_name()
                    );
                    let words = ["baselink", command.get_name(), &option, "--help"];
                    let refused = program().try_get_matches_from(words);
                    let refused = refused.map(drop).unwrap_err();
                    assert_eq!(
                        refused.kind(),
                        clap::error::ErrorKind::DisplayHelp,
                        "{words:?}: {refused}"
                    );
                    number += 1;
                }
            }
        }
        assert!(number > 100, "{number}");
    }
}
