//! Option values with fixed names, which a shell can complete.
//!
//! ```text
//! --resolver WHATWG   -->   Resolver::Whatwg
//! --resolver w<Tab>   -->   whatwg
//! --format htlm       -->   unknown format 'htlm'; use one of …; did you mean 'html'?
//! ```
//!
//! The library parses the names and reports an unknown one. This file lists them, and accepts them in any case.
//!
//! Deliberately absent: names that the library does not parse; a test parses each name.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::str::FromStr;

use baselink_scan::attributes::Group;
use baselink_text::error::{Error, nearest};
use baselink_text::format::Format;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};

pub(super) const FORMATS: &[&str] = &Format::NAMES;
pub(super) const RESOLVERS: &[&str] = &["rfc1808", "rfc3986", "whatwg"];
pub(super) const FRAGMENTS: &[&str] = &["rewrite", "keep", "auto"];
pub(super) const BASE_ELEMENT: &[&str] = &["absolute", "keep"];
pub(super) const GROUPS: &[&str] = &groups();

pub(super) const LAYOUTS: &[&str] = &["host", "host:http", "host:https"];
pub(super) const SOURCES: &[&str] = &[
    "canonical",
    "entry-link",
    "-saved",
    "-xattr",
    "-content-location",
    "-local-copies",
];
pub(super) const CLASSES: &[&str] = &[
    "travels",
    "no-slash",
    "clean-url",
    "lines",
    "pinned",
    "escapes",
    "dangling",
    "missing",
    "missing-page",
    "fragment",
    "outside",
    "left",
    "all",
    "none",
];

const fn groups() -> [&'static str; Group::ALL.len() + 1] {
    let mut names = ["all"; Group::ALL.len() + 1];
    let mut at = 0;
    while at < Group::ALL.len() {
        names[at] = Group::ALL[at].name();
        at += 1;
    }
    names
}

/// Creates a parser for a value that is one of `names`, or a list of them.
pub(super) fn named<T>(names: &'static [&'static str]) -> NameParser<T> {
    NameParser {
        names,
        of: PhantomData,
    }
}

/// A parser for a value with fixed names. It may also accept values that are not among the names.
#[derive(Clone)]
pub(super) struct NameParser<T> {
    names: &'static [&'static str],
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
        let names = self.names;
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

#[cfg(test)]
mod tests {
    use super::super::check::Classes;
    use super::super::trust::{HostLayout, TrustList};
    use super::*;
    use crate::purpose::check::Class;
    use baselink_rewrite::{BaseElement, Fragments};
    use baselink_scan::attributes::Groups;
    use baselink_url::Resolver;

    fn check<T: FromStr<Err = Error>>(names: &[&str]) {
        for name in names {
            assert!(name.parse::<T>().is_ok(), "{name}");
        }
    }

    #[test]
    fn the_library_reads_every_name() {
        check::<Format>(FORMATS);
        check::<Resolver>(RESOLVERS);
        check::<Fragments>(FRAGMENTS);
        check::<BaseElement>(BASE_ELEMENT);
        check::<Groups>(GROUPS);
        check::<HostLayout>(LAYOUTS);
        check::<TrustList>(SOURCES);
        check::<Classes>(CLASSES);
        assert_eq!(CLASSES.len(), Class::ALL.len() + 2);
        assert!(Resolver::ALL.map(Resolver::name).iter().eq(RESOLVERS));
    }
}
