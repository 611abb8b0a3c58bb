//! What a leader of another node says of where its ranks are.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::exchange(data));
