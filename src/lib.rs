//! baselink (being built)

pub mod edit;
pub mod error;
pub mod layer;
pub mod scan;
pub mod span;
