//! Message passing for high-performance computing, in Rust.

pub mod settings;
