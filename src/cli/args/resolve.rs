//! The arguments of `baselink resolve`.
//!
//! ```text
//! resolve http://a/b ../c   -->  Resolve { base: Some(http://a/b), references: [../c], … }
//! ```
//!
//! Deliberately absent: the lines of standard input.

use baselink_text::error::Result;
use baselink_url::{Base, Resolver};
use clap::{Args, ValueHint};

use super::help::RESOLVE_AFTER;
use super::named::{RESOLVERS, named};

#[derive(Args)]
#[command(after_help = RESOLVE_AFTER)]
pub(crate) struct Resolve {
    /// An absolute URL
    #[arg(required_unless_present = "pairs", value_hint = ValueHint::Url)]
    pub(crate) base: Option<String>,
    /// The references; without any, each line of standard input is one
    #[arg(value_name = "REFERENCE")]
    pub(crate) references: Vec<String>,
    /// Read a base and a reference from each line of standard input, separated by the first tab, or else by the first white space
    #[arg(long, conflicts_with_all = ["base", "references"], help_heading = "Input")]
    pairs: bool,
    /// The rules of resolution: rfc1808 (default), rfc3986, whatwg
    #[arg(long, value_name = "NAME", value_parser = named::<Resolver>(RESOLVERS), hide_possible_values = true, help_heading = "Input")]
    resolver: Option<Resolver>,
    /// Show components and steps, so that the result can be checked by hand
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub(crate) explain: bool,
    /// Print a JSON object for each reference
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

impl Resolve {
    /// The rules of resolution.
    pub(crate) fn resolver(&self) -> Resolver {
        self.resolver.unwrap_or_default()
    }

    /// Checks the base.
    pub(super) fn check(&self) -> Result<()> {
        let base = self.base.as_deref();
        base.map(|base| Base::parse(self.resolver(), base).map(drop))
            .unwrap_or(Ok(()))
    }
}
