#![no_main]
// Its body needs the transport, which the crate of the other bodies does not import.
#[path = "../../crates/shm/tests/hostile/segment/mod.rs"]
mod segment;
libfuzzer_sys::fuzz_target!(|data: &[u8]| segment::segment(data));
