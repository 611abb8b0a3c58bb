//! Fuzzes the parser of listings of the Intel MPI Benchmarks.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::listing(data));
