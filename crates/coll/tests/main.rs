//! Tests from outside the crate: plans, the checker and the simulator.

#[cfg(feature = "std")]
mod bounds;
#[cfg(feature = "std")]
mod catalog;
mod common;
#[cfg(feature = "std")]
mod crossings;
#[cfg(feature = "std")]
mod cyclic;
mod executor;
#[cfg(feature = "std")]
mod faults;
#[cfg(feature = "sim")]
mod goal;
#[cfg(feature = "std")]
mod hierarchy;
#[cfg(feature = "sim")]
mod intra_node;
#[cfg(feature = "std")]
mod lengths;
#[cfg(feature = "std")]
mod mutants;
#[cfg(feature = "std")]
mod neighbor;
#[cfg(feature = "std")]
mod optimal;
#[cfg(feature = "std")]
mod phased;
#[cfg(feature = "std")]
mod reduce_scatter;
mod run;
#[cfg(feature = "sim")]
mod sim;
mod symmetric;
#[cfg(feature = "std")]
mod trees;
