//! baselink (being built)

pub mod error;
pub mod span;
