//! baselink (being built)

pub mod error;
pub mod reference;
pub mod resolve;
pub mod span;
