//! Fuzzes the parser of synthetic machines.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::synthetic(data));
