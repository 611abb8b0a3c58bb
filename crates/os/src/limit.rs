//! How much memory is left, by machine, cgroup and process limits, and an error with the figures.
//!
//! A memfd never reports "full": the kernel kills instead. So callers compare with these limits first.
//!
//! Source: proc_meminfo(5), proc_pid_statm(5), setrlimit(2), the kernel's cgroup-v2.rst ("Memory
//! Interface Files") and cgroup-v1/memory.rst.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit, setrlimit};

/// Where a limit comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitSource {
    /// MemAvailable of `/proc/meminfo`.
    Machine,
    /// A control group; its directory.
    Group(PathBuf),
    /// The process's limit of a file's size, RLIMIT_FSIZE, which memfd meets as well.
    FileSize,
    /// The process's limit of its address space, RLIMIT_AS.
    AddressSpace,
}

impl fmt::Display for LimitSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine => f.write_str("left on this machine (MemAvailable)"),
            Self::Group(path) => write!(f, "left in control group {}", path.display()),
            Self::FileSize => f.write_str("allowed in a file (RLIMIT_FSIZE, `ulimit -f`)"),
            Self::AddressSpace => f.write_str("of addresses left (RLIMIT_AS, `ulimit -v`)"),
        }
    }
}

/// Memory that is left, and the limit that bounds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AvailableMemory {
    /// Bytes.
    pub bytes: u64,
    /// The tightest limit, which gave them.
    pub source: LimitSource,
}

/// More memory was requested than is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimitError {
    /// Bytes asked for.
    pub wanted: u64,
    /// What there is.
    pub available: AvailableMemory,
}

impl fmt::Display for MemoryLimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        write!(
            f,
            "{} MiB of shared memory wanted, {} MiB {}",
            mib(self.wanted),
            self.available.bytes >> 20,
            self.available.source
        )
    }
}

impl std::error::Error for MemoryLimitError {}

/// Checks that `wanted` bytes of memory are left.
///
/// # Errors
/// [`MemoryLimitError`] with both numbers. No error if the system reports no limit.
pub fn check(wanted: u64) -> Result<(), MemoryLimitError> {
    match available() {
        Some(available) if available.bytes < wanted => Err(MemoryLimitError { wanted, available }),
        _ => Ok(()),
    }
}

/// Checks that this process may have a file of `wanted` bytes.
///
/// # Errors
/// [`MemoryLimitError`] with both numbers.
pub fn check_file(wanted: u64) -> Result<(), MemoryLimitError> {
    match file_size() {
        Some(available) if available.bytes < wanted => Err(MemoryLimitError { wanted, available }),
        _ => Ok(()),
    }
}

/// The largest file that this process may have. `None`: no limit.
#[must_use]
pub fn file_size() -> Option<AvailableMemory> {
    let bytes = getrlimit(Resource::Fsize).current?;
    Some(AvailableMemory {
        bytes,
        source: LimitSource::FileSize,
    })
}

/// The address space that this process may still map. `None`: no limit.
#[must_use]
pub fn address_space() -> Option<AvailableMemory> {
    let limit = getrlimit(Resource::As).current?;
    let sizes = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let used = sizes.split(' ').next().and_then(|n| n.parse::<u64>().ok());
    let used = used.unwrap_or(0) * crate::page_size::page_size();
    Some(AvailableMemory {
        bytes: limit.saturating_sub(used),
        source: LimitSource::AddressSpace,
    })
}

/// The memory that is left: the least of the machine and of every control group of this process. `None` if
/// the system reports nothing.
#[must_use]
pub fn available() -> Option<AvailableMemory> {
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| field_of_meminfo(&text, "MemAvailable:"))
        .map(|bytes| AvailableMemory {
            bytes,
            source: LimitSource::Machine,
        });
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let groups = crate::cgroup::dirs(&own, "memory")
        .into_iter()
        .filter_map(|dir| {
            Some(AvailableMemory {
                bytes: group_room(&dir)?,
                source: LimitSource::Group(dir),
            })
        });
    machine.into_iter().chain(groups).min_by_key(|a| a.bytes)
}

/// Bytes of this machine's memory.
#[must_use]
pub fn of_machine() -> Option<u64> {
    field_of_meminfo(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")
}

/// A field of proc_meminfo(5) in bytes.
fn field_of_meminfo(meminfo: &str, field: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix(field))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// What the group in `dir` leaves: its limit less its use. `None` if it sets no limit.
fn group_room(dir: &Path) -> Option<u64> {
    let number = |name: &str| {
        fs::read_to_string(dir.join(name))
            .ok()?
            .trim()
            .parse::<u64>()
            .ok()
    };
    let (limit, used) = match number("memory.max") {
        Some(limit) => (limit, number("memory.current")?),
        None => (
            number("memory.limit_in_bytes")?,
            number("memory.usage_in_bytes")?,
        ),
    };
    Some(limit.saturating_sub(used))
}

/// The memory that a process may lock, as a device's registered memory is (RLIMIT_MEMLOCK).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockedMemoryLimit {
    soft: Option<u64>,
    hard: Option<u64>,
    is_exempt: bool,
}

impl LockedMemoryLimit {
    /// A limit of `soft` bytes that can be raised to `hard`; `None` is no limit. One who `is_exempt` has none.
    #[must_use]
    pub const fn new(soft: Option<u64>, hard: Option<u64>, is_exempt: bool) -> Self {
        Self {
            soft,
            hard,
            is_exempt,
        }
    }

    /// The limit of this process, after its soft limit is raised to the hard one, as every process may do.
    pub fn raise() -> Self {
        let mut limit = getrlimit(Resource::Memlock);
        if limit.current != limit.maximum {
            limit.current = limit.maximum;
            // Where it fails, the limit that is read now is the one before.
            let _ = setrlimit(Resource::Memlock, limit);
        }
        let limit = getrlimit(Resource::Memlock);
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self::new(limit.current, limit.maximum, has_ipc_lock(&status))
    }

    /// Bytes that may be locked; `None`: any number.
    #[must_use]
    pub fn bytes(self) -> Option<u64> {
        self.soft.filter(|_| !self.is_exempt)
    }
}

impl fmt::Display for LockedMemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.soft, self.hard) {
            (None, _) => f.write_str("unlimited")?,
            (Some(soft), None) => write!(f, "{soft} B, any number after `ulimit -l unlimited`")?,
            (Some(soft), Some(hard)) => write!(f, "{soft} B, {hard} B at most")?,
        }
        if self.is_exempt {
            f.write_str(" (but not for this process, which has CAP_IPC_LOCK)")?;
        }
        Ok(())
    }
}

/// Whether a proc_pid_status(5) has CAP_IPC_LOCK, with which no limit of locked memory counts.
fn has_ipc_lock(status: &str) -> bool {
    const CAP_IPC_LOCK: u64 = 14;
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    bits.is_some_and(|bits| bits >> CAP_IPC_LOCK & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_memory() {
        let limit = LockedMemoryLimit::raise();
        assert_eq!(limit.soft, limit.hard, "raised");
        assert!(has_ipc_lock("Name:\tx\nCapEff:\t000001ffffffffff\n"));
        assert!(!has_ipc_lock("CapEff:\t0000000000003fff\n"));
        assert!(!has_ipc_lock("CapPrm:\t000001ffffffffff\n"));
        assert_eq!(LockedMemoryLimit::new(Some(1), Some(2), true).bytes(), None);
        assert_eq!(
            LockedMemoryLimit::new(Some(1), Some(2), false).bytes(),
            Some(1)
        );
    }

    #[test]
    fn meminfo() {
        let text = "MemTotal:  100 kB\nMemFree: 1 kB\nMemAvailable:      42 kB\n";
        assert_eq!(field_of_meminfo(text, "MemAvailable:"), Some(42 * 1024));
        for bad in ["", "MemAvailable:", "MemAvailable: x kB", "MemAvailable: 3"] {
            assert_eq!(field_of_meminfo(bad, "MemAvailable:"), None, "{bad:?}");
        }
    }

    #[test]
    fn this_machine_has_a_page_but_not_everything() {
        check(4096).unwrap();
        let refusal = check(u64::MAX).unwrap_err();
        assert_eq!(refusal.wanted, u64::MAX);
        assert!(refusal.to_string().contains("MiB left"), "{refusal}");
    }
}
