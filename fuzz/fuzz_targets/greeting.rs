//! What a stranger says at the door of a TCP transport, and texts about addresses.
#![no_main]

// The body needs the transport's crate, which that of the other bodies does not import.
#[path = "../../crates/tcp/tests/hostile/greeting.rs"]
mod greeting;

libfuzzer_sys::fuzz_target!(|data: &[u8]| greeting::greeting(data));
