//! The grammar of Intel MPI's process pinning: domains and orders.

mod domain;
mod order;

pub use domain::{Domain, Shape};
pub use order::Order;
