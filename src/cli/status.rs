//! The exit status of the program.
//!
//! ```text
//! a link without a base, and --strict   -->   NotHeld   -->   1
//! a file that cannot be read            -->   Unusable  -->   2
//! ```
//!
//! Deliberately absent: messages, which are printed where a problem is found.

/// The exit status of a command, in order of severity.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum ExitStatus {
    /// Success.
    #[default]
    Done = 0,
    /// A requested condition does not hold.
    NotHeld = 1,
    /// A file or an argument could not be used.
    Unusable = 2,
    /// Stopped by Ctrl-C or another signal: 128 plus the number of SIGINT, as in shells.
    Stopped = 130,
}
