//! Fuzzes the command line of the benchmarks and its files.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::benchmarks(data));
