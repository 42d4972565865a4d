//! Option values with fixed names, which a shell can complete.
//!
//! ```text
//! --resolver whatwg   -->   Resolver::Whatwg
//! --resolver w<Tab>   -->   whatwg
//! ```
//!
//! The library parses the names and reports an unknown one. This file lists them.
//!
//! Deliberately absent: names that the library does not parse; a test parses each name.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::str::FromStr;

use baselink_scan::attributes::Group;
use baselink_text::error::Error;
use baselink_text::format::Format;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};

pub(super) const FORMATS: &[&str] = &Format::NAMES;
pub(super) const RESOLVERS: &[&str] = &["rfc1808", "rfc3986", "whatwg"];
pub(super) const FRAGMENTS: &[&str] = &["rewrite", "keep", "auto"];
pub(super) const BASE_ELEMENT: &[&str] = &["absolute", "keep"];
pub(super) const GROUPS: &[&str] = &groups();

const fn groups() -> [&'static str; Group::ALL.len() + 1] {
    let mut names = ["all"; Group::ALL.len() + 1];
    let mut at = 0;
    while at < Group::ALL.len() {
        names[at] = Group::ALL[at].name();
        at += 1;
    }
    names
}

/// Creates a parser for a value that is one of `names`.
pub(super) fn named<T>(names: &'static [&'static str]) -> NameParser<T> {
    NameParser {
        names,
        of: PhantomData,
    }
}

/// A parser for a value that is one of a list of names.
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
        str::parse::<T>.parse_ref(command, option, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(PossibleValue::new)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        assert!(Resolver::ALL.map(Resolver::name).iter().eq(RESOLVERS));
    }
}
