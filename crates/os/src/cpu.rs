//! The number of processors that this process may use, by affinity and cgroup quota.
//!
//! In a container the affinity mask and the control group's CPU quota count, not the machine's processors.
//!
//! Source: sched_getaffinity(2), cgroup-v2.rst (`cpu.max`), scheduler/sched-bwc.rst
//! (`cpu.cfs_quota_us`).

use std::fs;
use std::path::{Path, PathBuf};

/// The number of processors that this process may use at once: those of its affinity mask, limited by the
/// smallest quota of its control groups; at least 1.
#[must_use]
pub fn granted() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    quota().map_or(allowed, |quota| allowed.min(quota))
}

/// The processor that the calling thread runs on; the thread may move before this returns.
///
/// # Cost
/// Some nanoseconds, no system call.
#[inline]
#[must_use]
pub fn current() -> u32 {
    rustix::thread::sched_getcpu() as u32
}

/// The smallest CPU quota of this process's control groups, in whole processors, rounded up; `None`: no
/// quota.
#[must_use]
pub fn quota() -> Option<usize> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    tightest(&crate::cgroup::dirs(&own, "cpu"))
}

/// The smallest quota of the groups in `dirs`.
fn tightest(dirs: &[PathBuf]) -> Option<usize> {
    dirs.iter().filter_map(|dir| quota_of(dir)).min()
}

/// The quota of the group in `dir`, in whole processors, rounded up; `None` if it sets none.
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
    use oxmpi_testkit::folder::Folder;

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

    /// Control groups of real systems: the lines of `/proc/self/cgroup`, the files, the quota.
    #[test]
    fn recorded_groups() {
        // Version 1: the quota of a group, in periods of 100 ms.
        let v1 = |group: &str, quota: &str| {
            let (quota, period) = (format!("{group}/cpu.cfs_quota_us {quota}"), "100000");
            format!("{quota}\n{group}/cpu.cfs_period_us {period}\n")
        };
        for (what, own, files, expected) in [
            (
                "version 2, the group above is tighter",
                "0::/kubepods/pod7/c1\n",
                "kubepods/cpu.max max 100000\n\
                 kubepods/pod7/cpu.max 200000 100000\n\
                 kubepods/pod7/c1/cpu.max 350000 100000\n",
                Some(2),
            ),
            (
                "version 2, no limit",
                "0::/user.slice\n",
                "user.slice/cpu.max max 100000\n",
                None,
            ),
            (
                "version 2 inside a container: its own root has the file",
                "0::/\n",
                "cpu.max 50000 100000\n",
                Some(1),
            ),
            (
                "version 1",
                "9:name=systemd:/x\n4:cpu,cpuacct:/job\n0::/\n",
                &(v1("cpu", "-1") + &v1("cpu/job", "250000")),
                Some(3),
            ),
            (
                "version 1 inside a container: the path is the host's, the mount its own",
                "1:cpu:/docker/4f1e\n",
                &v1("cpu", "400000"),
                Some(4),
            ),
            (
                "version 1 without a limit, another controller with one",
                "1:cpu:/\n2:cpuset:/small\n",
                &(v1("cpu", "-1") + "cpuset/small/cpu.max 100000 100000\n"),
                None,
            ),
        ] {
            let mount = Folder::fresh();
            for (path, text) in files.lines().filter_map(|line| line.split_once(' ')) {
                mount.write(path, &format!("{text}\n"));
            }
            let quota = tightest(&crate::cgroup::dirs_under(mount.path(), own, "cpu"));
            assert_eq!(quota, expected, "{what}");
        }
    }

    #[test]
    fn at_least_one() {
        assert!(granted() >= 1);
    }
}
