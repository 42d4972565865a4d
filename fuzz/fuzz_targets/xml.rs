//! Gives what the fuzzer makes up to the oracle `xml`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| baselink_fuzz::xml(bytes));
