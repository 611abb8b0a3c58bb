//! Fuzzes what a peer of a verbs connection writes.
#![no_main]

// The body is beside the tests of the transport's crate, on which the crate of the other bodies does not
// depend.
#[path = "../../crates/verbs/tests/hostile/verbs_frames.rs"]
mod verbs_frames;

libfuzzer_sys::fuzz_target!(|data: &[u8]| verbs_frames::verbs_frames(data));
