//! The exit status of the program.
//!
//! ```text
//! a link without a base, and --strict   -->   NotHeld   -->   1
//! a file that cannot be read            -->   Unusable  -->   2
//! ```
//!
//! Deliberately absent: what is printed of it. It has been said where it was found.

/// The exit status of a command; a worse one is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum ExitStatus {
    /// Done.
    #[default]
    Done = 0,
    /// A condition that was asked for does not hold.
    NotHeld = 1,
    /// A file or an argument could not be used.
    Unusable = 2,
    /// It was stopped, by Ctrl-C or a signal; as shells say it, 128 and the number of the signal.
    Stopped = 130,
}
