//! `MPI_Wtime` and `MPI_Wtick`.

use std::sync::OnceLock;
use std::time::Instant;

/// Seconds since the first call.
pub(crate) fn wtime() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// The clock counts nanoseconds.
pub(crate) const fn wtick() -> f64 {
    1e-9
}
