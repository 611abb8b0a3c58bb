//! Fuzzes the parser of /proc/cpuinfo.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::cpuinfo(data));
