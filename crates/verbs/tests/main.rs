//! Tests of the crate from outside.

mod anywhere;
mod device;
mod hostile;
