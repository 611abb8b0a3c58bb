//! Fuzzes the shared-memory segment of a node: one rank writes arbitrary bytes.
#![no_main]

// The body is beside the tests of the transport's crate, on which the crate of the other bodies does not depend.
#[path = "../../crates/shm/tests/hostile/segment/mod.rs"]
mod segment;

libfuzzer_sys::fuzz_target!(|data: &[u8]| segment::segment(data));
