//! The project: its rooms, its documentation, what it promises to those who build on it, and what fuzzing found.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod architecture;
mod docs;
mod fixtures_shape;
mod fuzz;
mod library;
mod limits;
mod public_api;
mod readme;
