//! Tests of the crate from outside.

mod anywhere;
mod device;
