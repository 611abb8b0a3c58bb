//! Fuzzes the parser of hwloc's XML.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::xml(data));
