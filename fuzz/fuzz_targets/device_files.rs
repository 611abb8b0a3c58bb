//! Fuzzes files of device parameters.
#![no_main]

// The body is beside the tests of the transport's crate, on which the crate of the other bodies does not
// depend.
#[path = "../../crates/verbs/tests/hostile/device_files.rs"]
mod device_files;

libfuzzer_sys::fuzz_target!(|data: &[u8]| device_files::device_files(data));
