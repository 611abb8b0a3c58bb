//! Fuzzes PMI with a hostile process manager and a hostile rank.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::pmi(data));
