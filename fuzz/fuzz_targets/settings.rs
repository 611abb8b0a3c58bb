//! Fuzzes the grammars of settings.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::settings(data));
