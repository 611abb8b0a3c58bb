//! Queues that fit into the memory that a process may lock, and what to do where they do not.
//!
//! Source: Open MPI's FAQ on InfiniBand, "How can a system administrator (or user) change locked memory limits?" and
//! "I'm still getting errors about "error registering openib memory"; what do I do?".

use crate::error::{EINVAL, ENOMEM, VerbsError};
use oxmpi_os::limit::LockedMemoryLimit;
use std::fmt;

/// What a user or an administrator can do about a limit of locked memory.
pub const LOCKED_MEMORY_REMEDIES: &str = "\
    Raise the limit, best to unlimited, on every node:\n\
    - for users: `* soft memlock unlimited` and `* hard memlock unlimited` in /etc/security/limits.d/95-rdma.conf, read \
    by pam_limits at a login;\n\
    - for one user, up to the hard limit: `ulimit -l unlimited` (csh: `limit memorylocked unlimited`) in the shell's \
    start-up file, which must run also where no terminal is, as under ssh;\n\
    - where a resource manager starts the job: its daemon keeps the limit that it was started with, which limits.d does \
    not change: set LimitMEMLOCK=infinity in its systemd unit (or `ulimit -l` in its script) and restart it; Slurm also \
    passes on or cuts limits itself (PropagateResourceLimits);\n\
    - where a login by ssh has less than limits.d says: UsePAM yes in sshd_config, and nothing in /etc/profile.d that \
    lowers it.\n\
    `ulimit -l` in a job, such as `oxmpi run -n 1 sh -c 'ulimit -l'`, shows what counts.";

/// The buffers of queues, and how few of them do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueNeeds {
    /// Bytes that are registered whatever the number of buffers.
    pub fixed: u64,
    /// Bytes that one buffer more takes, for all peers.
    pub per_buffer: u64,
    /// Buffers that the settings ask for.
    pub wanted: u32,
    /// Buffers without which it does not work.
    pub least: u32,
}

/// Even the smallest queues exceed the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockedMemoryShortage {
    /// Bytes that they need.
    pub needed: u64,
    /// The limit.
    pub limit: u64,
}

impl fmt::Display for LockedMemoryShortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, limit } = self;
        write!(
            f,
            "the smallest receive queues need {needed} B of locked memory, and this process may lock {limit} B \
             (RLIMIT_MEMLOCK). {LOCKED_MEMORY_REMEDIES}"
        )
    }
}

impl std::error::Error for LockedMemoryShortage {}

impl QueueNeeds {
    /// The number of buffers that a process may have that locks at most `limit` bytes (`None`: any number), of which
    /// half is left to the user's memory.
    ///
    /// # Errors
    /// [`LockedMemoryShortage`], if the least number exceeds the limit.
    pub fn fit(&self, limit: Option<u64>) -> Result<u32, LockedMemoryShortage> {
        let bytes = |buffers: u32| {
            let buffers = self.per_buffer.saturating_mul(buffers.into());
            self.fixed.saturating_add(buffers)
        };
        let Some(limit) = limit else {
            return Ok(self.wanted);
        };
        let needed = bytes(self.least);
        if needed > limit {
            return Err(LockedMemoryShortage { needed, limit });
        }
        let room = (limit / 2).saturating_sub(self.fixed);
        let fitting = room.checked_div(self.per_buffer).unwrap_or(u64::MAX);
        let fitting = u32::try_from(fitting).unwrap_or(u32::MAX);
        Ok(fitting.clamp(self.least.min(self.wanted), self.wanted))
    }
}

/// A failure of a call on `host`, with the limit of locked memory and what to do, for a person.
#[must_use]
pub fn explain_failure(failure: &VerbsError, host: &str, limit: LockedMemoryLimit) -> String {
    let remedy = match (failure.call(), failure.errno()) {
        (_, ENOMEM) if limit.bytes().is_some() => LOCKED_MEMORY_REMEDIES,
        ("ibv_reg_mr", ENOMEM) => {
            "The limit is not the reason, unless the driver counts it for every process, as soft-iWARP (siw) does: try \
             `ulimit -l unlimited`. Else the device may register too little memory. For mlx4, raise its module \
             parameter log_num_mtt; else ask for less by the receive queues."
        }
        (_, ENOMEM) => {
            "The limit is not the reason: the device has no room. Ask for fewer or shorter receive queues, or start \
             fewer ranks on the node."
        }
        ("ibv_create_cq" | "ibv_create_qp" | "ibv_create_srq", EINVAL) => {
            "The device refuses a size. Ask for fewer buffers; if it refuses the default ones, the driver is not the \
             one of the library (`ibv_devinfo -v` shows its limits), or the adapter is faulty."
        }
        _ => {
            "`ibv_devinfo -v` shows whether others can use the device; the kernel's log (dmesg) may say why not."
        }
    };
    format!("host {host}: {failure}\n    locked memory: {limit}\n    {remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_os::limit::LockedMemoryLimit;
    use proptest::prelude::*;

    #[test]
    fn queues_shrink_to_the_limit() {
        let needs = QueueNeeds {
            fixed: 1000,
            per_buffer: 100,
            wanted: 64,
            least: 2,
        };
        for (limit, expected) in [
            (None, Ok(64)),
            (Some(1 << 20), Ok(64)),
            (Some(4000), Ok(10)),
            (Some(1200), Ok(2)),
            (
                Some(1199),
                Err(LockedMemoryShortage {
                    needed: 1200,
                    limit: 1199,
                }),
            ),
        ] {
            assert_eq!(needs.fit(limit), expected, "{limit:?}");
        }
        let text = needs.fit(Some(1199)).unwrap_err().to_string();
        assert!(
            text.contains("need 1200 B") && text.contains("may lock 1199 B"),
            "{text}"
        );
        assert!(
            text.contains("ulimit -l unlimited") && text.contains("LimitMEMLOCK"),
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn what_fits_is_within_the_limit(fixed in 0..1_u64 << 40, per_buffer in 0..1_u64 << 30, wanted: u32, least in 1..8_u32, limit: u64) {
            let needs = QueueNeeds { fixed, per_buffer, wanted: wanted.max(least), least };
            match needs.fit(Some(limit)) {
                Ok(buffers) => {
                    prop_assert!((least..=needs.wanted).contains(&buffers));
                    prop_assert!(fixed + per_buffer * u64::from(buffers) <= limit);
                }
                Err(why) => prop_assert!(why.needed > limit),
            }
        }
    }

    /// The six failures of the FAQ, each with what it needs to be understood far from where it happened.
    #[test]
    fn a_failure_names_host_device_call_reason_limit_and_remedy() {
        let limited = LockedMemoryLimit::new(Some(32767), Some(65536), false);
        let free = LockedMemoryLimit::new(None, None, false);
        let root = LockedMemoryLimit::new(Some(32767), Some(32767), true);
        for (call, attributes, errno, limit, reason, remedy) in [
            (
                "ibv_reg_mr",
                "1048576 B",
                12,
                limited,
                "Cannot allocate memory",
                "limits.d",
            ),
            (
                "ibv_create_srq",
                "",
                12,
                limited,
                "Cannot allocate memory",
                "limits.d",
            ),
            (
                "ibv_create_cq",
                "",
                22,
                limited,
                "Invalid argument",
                "refuses a size",
            ),
            (
                "ibv_create_cq",
                "",
                12,
                limited,
                "Cannot allocate memory",
                "UsePAM",
            ),
            (
                "ibv_create_qp",
                "",
                12,
                limited,
                "Cannot allocate memory",
                "LimitMEMLOCK",
            ),
            (
                "ibv_reg_mr",
                "1048576 B",
                12,
                free,
                "unlimited",
                "log_num_mtt",
            ),
            ("ibv_create_qp", "", 12, root, "CAP_IPC_LOCK", "has no room"),
            (
                "ibv_open_device",
                "",
                13,
                free,
                "Permission denied",
                "ibv_devinfo",
            ),
        ] {
            let failure = VerbsError::new(call, "mthca0", attributes, errno);
            let text = explain_failure(&failure, "node06", limit);
            assert!(
                text.starts_with(&format!("host node06: {call} of mthca0: ")),
                "{text}"
            );
            for part in [reason, remedy] {
                assert!(text.contains(part), "{part}: {text}");
            }
            if limit == limited {
                assert!(
                    text.contains("locked memory: 32767 B, 65536 B at most"),
                    "{text}"
                );
            }
        }
    }
}
