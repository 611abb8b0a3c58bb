//! Fuzzes the engine with frames of a hostile peer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::frames(data));
