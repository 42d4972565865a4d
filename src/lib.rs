//! baselink (being built)

pub mod error;
pub mod reference;
pub mod span;
