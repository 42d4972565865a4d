//! The values that the jobs prepare once for all pages: options, the base, the selector of lol_html.
//!
//! Deliberately absent: the jobs themselves ([`crate::jobs`]).

use baselink_rewrite::Options;
use baselink_scan::ScanOptions;
use baselink_scan::Scanner;
use baselink_text::format::Format;
use baselink_url::{Base, Resolver};

/// The options for a scanner and pages from `url`.
pub(crate) fn options(scanner: Scanner, url: &str) -> Options {
    let scan = ScanOptions {
        scanner,
        ..ScanOptions::default()
    };
    Options {
        scan,
        ..Options::at(url)
    }
}

/// Values that the jobs prepare once.
pub(crate) struct Tools {
    pub(crate) fast: Options,
    pub(crate) exact: Options,
    pub(crate) message: Options,
    pub(crate) base: Base,
    /// The selector of any element.
    pub(crate) selector: lol_html::Selector,
}

impl Tools {
    /// Prepares the tools for pages from `url`.
    pub(crate) fn new(url: &str) -> Self {
        Self {
            fast: options(Scanner::Fast, url),
            exact: options(Scanner::Exact, url),
            message: Options {
                format: Format::Message,
                ..Options::at(url)
            },
            base: Base::new(Resolver::Rfc1808, url),
            selector: "*".parse().unwrap(),
        }
    }
}
