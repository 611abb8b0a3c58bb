//! Rules of which algorithm serves a collective, as JSON.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::rules(data));
