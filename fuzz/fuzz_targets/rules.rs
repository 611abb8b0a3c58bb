//! Fuzzes the JSON rules that select algorithms of collectives.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::rules(data));
