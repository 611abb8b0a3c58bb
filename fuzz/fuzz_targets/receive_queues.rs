//! Fuzzes receive queues and the addresses of queue pairs.
#![no_main]

// The body is beside the tests of the transport's crate, on which the crate of the other bodies does not
// depend.
#[path = "../../crates/verbs/tests/hostile/receive_queues.rs"]
mod receive_queues;

libfuzzer_sys::fuzz_target!(|data: &[u8]| receive_queues::receive_queues(data));
