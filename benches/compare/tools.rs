//! What is prepared once, for all pages: options, the base, the selector of lol_html.
//!
//! Deliberately absent: what is done with it. [`crate::jobs`] has that.

use baselink::format::Format;
use baselink::resolve::{Base, Profile};
use baselink::scan::Scanner;
use baselink::{Options, ScanOptions};

use crate::URL;

/// The options for a scanner.
pub(crate) fn options(scanner: Scanner) -> Options {
    let scan = ScanOptions { scanner, ..ScanOptions::default() };
    Options { scan, ..Options::at(URL) }
}

/// What the jobs prepare once.
pub(crate) struct Tools {
    pub(crate) fast: Options,
    pub(crate) exact: Options,
    pub(crate) message: Options,
    pub(crate) base: Base,
    /// Of any element.
    pub(crate) selector: lol_html::Selector,
}

impl Tools {
    pub(crate) fn new() -> Self {
        Self {
            fast: options(Scanner::Fast),
            exact: options(Scanner::Exact),
            message: Options { format: Format::Message, ..Options::at(URL) },
            base: Base::new(Profile::Rfc1808, URL),
            selector: "*".parse().unwrap(),
        }
    }
}
