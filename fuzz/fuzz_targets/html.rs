//! Passes the bytes of the fuzzer to the oracle `html`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| baselink_fuzz::html(bytes));
