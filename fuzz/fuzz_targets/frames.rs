//! Frames from a peer, as an engine reads them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxmpi_testkit::fuzz::frames(data));
