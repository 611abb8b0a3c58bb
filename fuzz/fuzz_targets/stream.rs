//! What a peer of a TCP connection writes after its greeting.
#![no_main]

// The body needs the transport's crate, which that of the other bodies does not import.
#[path = "../../crates/tcp/tests/hostile/stream.rs"]
mod stream;

libfuzzer_sys::fuzz_target!(|data: &[u8]| stream::stream(data));
