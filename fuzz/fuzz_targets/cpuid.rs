//! Fuzzes the parser of cpuid dumps.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::cpuid(data));
