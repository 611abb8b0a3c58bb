//! Kernels, the suite and reports from outside, over threads of this process and on listings of the original.

mod check;
mod common;
mod faulty;
mod kernels;
mod layout;
mod listings;
#[cfg(feature = "compare")]
mod part_listings;
#[cfg(feature = "compare")]
mod reports;
mod suite;
mod windows;
