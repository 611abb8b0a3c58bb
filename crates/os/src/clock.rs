//! The monotonic clock, which all processes of a machine share.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock, at least 1. All processes of a machine in one time namespace share it.
///
/// Source: clock_gettime(2), CLOCK_MONOTONIC; time_namespaces(7).
///
/// # Cost
/// About 25 ns; no system call where the vDSO can read the clock source.
#[inline]
#[must_use]
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    (time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64).max(1)
}

/// The time between two readings of [`now`]; zero if the second is earlier.
#[inline]
#[must_use]
pub const fn between(from: u64, to: u64) -> Duration {
    Duration::from_nanos(to.saturating_sub(from))
}

/// The time since a reading of [`now`].
#[inline]
#[must_use]
pub fn since(then: u64) -> Duration {
    between(then, now())
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Instant;

    use super::*;

    #[test]
    fn it_goes_on_while_a_thread_waits() {
        let before = now();
        let start = Instant::now();
        Command::new("true").status().unwrap();
        let waited = start.elapsed();
        assert!(since(before) >= waited);
        assert_eq!(between(5, 3), Duration::ZERO);
    }
}
