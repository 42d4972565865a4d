//! Proof (soon).
