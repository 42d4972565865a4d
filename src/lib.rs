//! The program `baselink`, as a library for the Python package and the tests: [`cli`] on top of [`purpose`],
//! [`collection`], [`archive`] and [`files`].
//!
//! ```
//! assert_eq!(baselink_cli::cli::run(vec!["baselink".into(), "--version".into()]), 0);
//! ```
//!
//! Deliberately absent: promises about its names. Programs should depend on the crate `baselink`.

#![forbid(unsafe_code)]

pub mod archive;
pub mod cli;
pub mod collection;
pub mod files;
pub mod purpose;
