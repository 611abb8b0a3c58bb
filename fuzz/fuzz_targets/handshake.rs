//! Fuzzes the handshake of a TCP transport and the texts of addresses: bytes of an untrusted connection.
#![no_main]

// The body is beside the tests of the transport's crate, on which the crate of the other bodies does not depend.
#[path = "../../crates/tcp/tests/hostile/handshake.rs"]
mod handshake;

libfuzzer_sys::fuzz_target!(|data: &[u8]| handshake::handshake(data));
