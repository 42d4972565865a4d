//! Arguments that clap builds only if their command is named. Building those of all commands takes most of the time of
//! a short run.
//!
//! ```text
//! baselink base page.html  -->  the arguments of `base` are built; of the others, only name and description
//! ```
//!
//! Deliberately absent: the arguments themselves.

use super::help::{brief, brief_end};

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, builder::Resettable};

/// The arguments `T` of one command.
pub struct Deferred<T>(pub Box<T>);

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(augment::<T>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(|arguments| Self(Box::new(arguments)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// The headings of options, in the order of the help.
const HEADINGS: &str =
    "What to move, What to read, What to rewrite, Where to write, What to report, General";

/// Adds the arguments `T`, in the order of their headings, and shortens `-h`. The description of the command stays, which the
/// comment of `T` would replace.
fn augment<T: Args>(command: Command) -> Command {
    let short = Resettable::from(command.get_about().cloned());
    let long = Resettable::from(command.get_long_about().cloned());
    let command = T::augment_args(command).about(short).long_about(long);
    let after = command.get_after_help().map(ToString::to_string);
    let after = after.unwrap_or_default();
    let end = brief_end(&after, command.get_name());
    let mut all: Vec<_> = command.get_arguments().collect();
    all.sort_by_cached_key(|one| HEADINGS.find(one.get_help_heading()?));
    let all: Vec<_> = all.into_iter().map(|one| one.get_id().clone()).collect();
    // `mut_arg` moves an argument to the end.
    all.into_iter()
        .fold(command, |command, id| command.mut_arg(id, brief))
        .after_help(end)
        .after_long_help(after)
}
