//! Tests from outside the crate.

mod corpora;
mod fabric;
mod network;
mod switch;
