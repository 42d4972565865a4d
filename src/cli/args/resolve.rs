//! The arguments of `baselink resolve`.
//!
//! ```text
//! resolve http://a/b ../c   -->  References { base: http://a/b, references: [../c] }
//! resolve --pairs           -->  Pairs
//! ```
//!
//! Deliberately absent: the lines of standard input.

use baselink_text::error::{Error, Result};
use baselink_url::{Base, Profile};
use clap::{Args, ValueHint};

use super::named::{RESOLVERS, named};
use crate::cli::request::{Resolve, ResolveForm, ResolveInput};

#[derive(Debug, Args)]
pub(super) struct TypedResolve {
    /// An absolute URL
    #[arg(required_unless_present = "pairs", value_hint = ValueHint::Url)]
    base: Option<String>,
    /// The references; without any, each line of standard input is one
    #[arg(value_name = "REFERENCE")]
    references: Vec<String>,
    /// Read a base and a reference from each line of standard input, separated by the first tab, or else by the first white space
    #[arg(long, conflicts_with_all = ["base", "references"], help_heading = "Input")]
    pairs: bool,
    /// The rules of resolution: rfc1808 (default), rfc3986, whatwg
    #[arg(long, value_name = "NAME", value_parser = named::<Profile>(RESOLVERS), hide_possible_values = true, help_heading = "Input")]
    resolver: Option<Profile>,
    /// Show components and steps, so that the result can be checked by hand
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    explain: bool,
    /// Print a JSON object for each reference
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl TypedResolve {
    pub(super) fn into_request(self) -> Result<Resolve> {
        let profile = self.resolver.unwrap_or_default();
        let input = match (self.base, self.references) {
            (None, _) if self.pairs => ResolveInput::Pairs,
            (None, _) => {
                return Err(Error::new(
                    "BASE is missing: the absolute URL to resolve against",
                ));
            }
            (Some(base), references) => {
                Base::parse(profile, &base)?;
                match references.is_empty() {
                    true => ResolveInput::Lines { base },
                    false => ResolveInput::References { base, references },
                }
            }
        };
        let form = match (self.json, self.explain) {
            (true, _) => ResolveForm::Json,
            (_, true) => ResolveForm::Explanation,
            _ => ResolveForm::Target,
        };
        Ok(Resolve {
            profile,
            input,
            form,
        })
    }
}
