//! Fuzzes the address exchange with messages of an untrusted leader.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::exchange(data));
