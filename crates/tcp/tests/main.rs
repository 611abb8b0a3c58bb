//! Tests from outside the crate: ranks over the loopback device.

mod common;
mod conformance;
mod connecting;
mod hostile;
mod liveness;
mod speculative_push;
mod zero_copy;
