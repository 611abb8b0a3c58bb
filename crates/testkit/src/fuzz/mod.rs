//! Fuzz bodies: what a fuzz target does with its bytes.
//!
//! One module per target, with one function of the same name that panics on a finding. The targets
//! under `fuzz/fuzz_targets` call them with bytes that cargo-fuzz makes; the test `corpora` calls
//! them with the corpora under version control, so that every old finding is a test.

/// What a target does with its bytes; panics on a finding.
pub type Body = fn(&[u8]);

/// Every target by name.
pub const TARGETS: &[(&str, Body)] = &[];
