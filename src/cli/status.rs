//! The end of a command: its exit status, and the failures that end the work on a file.
//!
//! ```text
//! a link without a base, and --strict   -->  NotHeld          -->  1
//! page.html cannot be read              -->  Failure::File    -->  it is reported, and the next file follows; 2
//! standard output cannot be written to  -->  Failure::Output  -->  the command ends
//! ```
//!
//! Deliberately absent: messages, which are printed where a problem is found, and errors after which the work on the file
//! goes on.

pub use baselink_files::results::{Failure, FileResult};

/// The exit status of a command, in order of severity.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitStatus {
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
