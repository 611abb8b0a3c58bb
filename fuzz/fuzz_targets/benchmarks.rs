//! The command line of the benchmarks, and the files it names.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::benchmarks(data));
