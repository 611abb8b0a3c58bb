//! A node's segment in which one rank writes what it likes.
#![no_main]

// The body needs the transport, which the crate of the other bodies does not import.
#[path = "../../crates/shm/tests/hostile/segment/mod.rs"]
mod segment;

libfuzzer_sys::fuzz_target!(|data: &[u8]| segment::segment(data));
