//! Tests from outside the crate: nodes of threads and of processes.

mod collectives;
mod common;
mod conformance;
mod doorbells;
mod gaps;
mod hostile;
mod node_barriers;
mod processes;
mod transport;
