//! Gives what the fuzzer makes up to the oracle of the program's settings, which the library does not have.
#![no_main]
#![allow(dead_code, unused_imports)]
#[path = "../../src/cli/mod.rs"]
mod cli;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cli::hold_settings(bytes));
