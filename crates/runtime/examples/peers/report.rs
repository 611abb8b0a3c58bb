//! Prints measurements, and reports wrong data.

use crate::blocks::{self, Measured};
use oxmpi::Comm;

/// Rank 0 prints the measurement, with times divided by `parts`; other ranks print a message when their data
/// is wrong.
pub(crate) fn report(
    kernel: &str,
    comm: &Comm,
    bytes: usize,
    measured: &Measured,
    parts: f64,
    right: bool,
) {
    if comm.rank() == 0 {
        blocks::print(kernel, comm.size(), bytes, measured, parts, right);
    } else if !right {
        eprintln!("{kernel}: wrong data at {bytes} bytes");
    }
}
