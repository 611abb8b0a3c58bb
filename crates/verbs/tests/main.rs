//! Tests of the crate from outside.

mod device;
mod without_device;
