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

use std::io;

use baselink_text::Error;

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

/// A failure that ends the work on a file. In the command line, an [`io::Error`] always comes from standard output.
pub enum Failure {
    /// Standard output cannot be written to.
    Output(io::Error),
    /// The file cannot be read, or its result cannot be written.
    File(Error),
}

/// The result of the work on a file.
pub type FileResult<T> = Result<T, Failure>;

impl Failure {
    /// Separates an error of standard output (outer result) from an error of the file (inner result).
    pub fn separate<T>(ended: FileResult<T>) -> io::Result<Result<T, Error>> {
        match ended {
            Ok(result) => Ok(Ok(result)),
            Err(Self::File(error)) => Ok(Err(error)),
            Err(Self::Output(error)) => Err(error),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}
