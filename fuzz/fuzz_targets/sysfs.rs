//! Fuzzes the parser of recorded /proc and /sys.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::sysfs(data));
