//! The program `baselink`, as a library for the Python package and the tests.
//!
//! ```
//! assert_eq!(baselink_cli::cli::run(vec!["baselink".into(), "--version".into()]), 0);
//! ```
//!
//! Deliberately absent: promises about its names. Programs should depend on the crate `baselink`.

pub mod cli;
