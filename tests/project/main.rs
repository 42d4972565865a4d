//! The project: its rooms, its documentation, its public interface, and the findings of fuzzing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod architecture;
#[path = "../common/case_file.rs"]
mod case_file;
mod commands;
mod docs;
mod fixtures_shape;
#[path = "../common/folder.rs"]
mod folder;
mod fuzz;
mod library;
mod limits;
mod names;
mod public_api;
mod readme;
mod workflows;
