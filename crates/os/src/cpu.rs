//! Processors really granted to this process.
//!
//! The machine's count says little in a container: what counts is the affinity mask and the
//! control group's quota of processor time.
//!
//! Source: sched_getaffinity(2), cgroup-v2.rst (`cpu.max`), scheduler/sched-bwc.rst
//! (`cpu.cfs_quota_us`).

use std::fs;
use std::path::Path;

/// Processors that this process may use at once: those of its affinity mask, cut to the tightest
/// quota of its control groups; at least 1.
#[must_use]
pub fn granted() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    quota().map_or(allowed, |quota| allowed.min(quota))
}

/// Processors' worth of time that the tightest quota of this process's control groups grants,
/// rounded up; `None` if none sets one.
#[must_use]
pub fn quota() -> Option<usize> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    crate::cgroup::dirs(&own, "cpu")
        .iter()
        .filter_map(|dir| quota_of(dir))
        .min()
}

/// Whole processors that the group in `dir` grants, rounded up; `None` if it sets no quota.
fn quota_of(dir: &Path) -> Option<usize> {
    let read = |name: &str| fs::read_to_string(dir.join(name)).ok();
    if let Some(text) = read("cpu.max") {
        let (quota, period) = text.trim().split_once(' ')?;
        return processors(quota, period);
    }
    processors(&read("cpu.cfs_quota_us")?, &read("cpu.cfs_period_us")?)
}

fn processors(quota: &str, period: &str) -> Option<usize> {
    let quota: u64 = quota.trim().parse().ok()?;
    let period: u64 = period.trim().parse().ok()?;
    (period > 0).then(|| quota.div_ceil(period).max(1) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas() {
        assert_eq!(processors("200000", "100000"), Some(2));
        assert_eq!(processors("150000", "100000\n"), Some(2));
        assert_eq!(processors("1000", "100000"), Some(1));
        assert_eq!(processors("max", "100000"), None);
        assert_eq!(processors("-1", "100000"), None);
        assert_eq!(processors("5", "0"), None);
    }

    #[test]
    fn at_least_one() {
        assert!(granted() >= 1);
    }
}
