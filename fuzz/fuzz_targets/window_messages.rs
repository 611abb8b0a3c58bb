//! Fuzzes the messages of windows.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::window_messages(data));
