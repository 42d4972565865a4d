//! Passes the bytes of the fuzzer to the oracle `url_map`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| baselink_fuzz::url_map(bytes));
