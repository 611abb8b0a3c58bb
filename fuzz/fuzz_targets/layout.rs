//! Fuzzes derived datatypes against their typemaps.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::layout(data));
