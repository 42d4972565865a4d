//! Passes the bytes of the fuzzer to the oracle `message`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| baselink_fuzz::message(bytes));
