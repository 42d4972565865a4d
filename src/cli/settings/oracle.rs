//! What has to hold of any bytes as settings: for the fuzz target `settings`, and for a test.
//!
//! ```text
//! any bytes  -->  settings, whose arguments clap takes;   or   b.toml:3: what is wrong
//! ```
//!
//! Deliberately absent: bytes. A fuzzer finds them.

use std::path::Path;

use clap::Command;
use clap::error::ErrorKind;

use super::Settings;

/// Reads `bytes` as settings for `program`.
///
/// # Panics
///
/// They are refused in more than a line or in what is not visible, or read, and clap refuses one of the arguments.
pub(crate) fn settings(bytes: &[u8], program: &Command) {
    let settings = match Settings::parse(bytes, Path::new("b.toml"), program) {
        Ok(settings) => settings,
        Err(error) => {
            let said = error.to_string();
            let is_shown = |one: char| !one.is_control() && one != '\u{202e}';
            assert!(said.starts_with("b.toml:") && said.chars().all(is_shown), "{said:?}");
            return;
        }
    };
    let sections = settings.matching(Path::new("docs/a.html"));
    for command in program.get_subcommands().map(Command::get_name) {
        let arguments = settings.arguments(command, &sections, &|_| false);
        let words = ["baselink", command].into_iter().map(Into::into).chain(arguments);
        let Err(error) = program.clone().try_get_matches_from(words.collect::<Vec<_>>()) else {
            continue;
        };
        // Each value was tried; that two of them go together, and that inputs are named, was not.
        let may_be = [
            ErrorKind::ArgumentConflict,
            ErrorKind::MissingRequiredArgument,
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
        ];
        assert!(may_be.contains(&error.kind()), "{error}");
    }
}
