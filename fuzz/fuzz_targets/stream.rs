//! Fuzzes what a peer of a TCP connection writes after its handshake.
#![no_main]

// The body is beside the tests of the transport's crate, on which the crate of the other bodies does not depend.
#[path = "../../crates/tcp/tests/hostile/stream.rs"]
mod stream;

libfuzzer_sys::fuzz_target!(|data: &[u8]| stream::stream(data));
