//! Tests from outside the crate.

mod grammar;
mod laws;
