//! Fuzzes the OpenMP variables that bind threads.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::openmp(data));
