//! Passes the bytes of the fuzzer to the oracle of the program's settings.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| baselink::cli::hold_settings(bytes));
