//! Collective algorithms as pure schedules, with a checker that proves them; no_std.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod allreduce;
pub mod barrier;
pub mod bcast;
pub mod catalog;
#[cfg(feature = "std")]
pub mod check;
pub mod choice;
pub mod exec;
pub mod plan;
pub mod reduce;
pub mod settings;

mod accumulate;
mod split;
mod tree;
