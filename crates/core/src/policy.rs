//! What the settings of a process say about its job and its endpoints, read once when it joins; and how its rank
//! waits.

use std::time::Duration;

use oxmpi_coll::choice::Tuning;
use oxmpi_shm::wait::WaitPolicy;
use oxmpi_wire::PathOverrides;

use crate::boot::{AgreedSettings, RemoteRanks, StartOptions};

/// How a rank waits for messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitMode {
    /// Polls for about a millisecond where every rank has a processor of its own, else yields while other
    /// ranks need the processor; then sleeps.
    #[default]
    Auto,
    /// Polls, and keeps its processor.
    Active,
    /// Polls for a short while, then yields its processor, then sleeps.
    Passive,
}

/// What the settings of a process say about its job.
#[derive(Clone, Debug)]
pub struct JobPolicy {
    /// The settings of the endpoint of all ranks, and of all endpoints made from it.
    pub endpoint: EndpointPolicy,
    /// The settings that all ranks of a job must have in common.
    pub agreed: AgreedSettings,
    /// Whether ranks connect to all ranks of other nodes at the start.
    pub connect_at_start: bool,
    /// Whether each rank reports what it took to find the others.
    pub start_report: bool,
    /// Whether a helper thread carries on communication while the program computes, and how.
    pub async_progress: AsyncProgress,
    /// Whether a C program's rank reports the handles that it has not freed.
    pub handle_leaks: bool,
    /// Warnings about settings that rank 0 gives.
    pub warnings: Vec<String>,
}

/// The helper thread that carries on communication while the program computes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsyncProgress {
    /// Whether a process has one from its start.
    pub on: bool,
    /// The processors of the helpers of a node's ranks, in turn; empty: a helper runs where its rank may.
    pub cpus: Vec<usize>,
    /// How long a helper polls at most before it sleeps, on a processor that it shares. On one of its own it polls as long
    /// as something is under way.
    pub poll: Duration,
}

/// The settings of an endpoint.
#[derive(Clone, Debug)]
pub struct EndpointPolicy {
    /// How its ranks connect, and the transports and memory that they share.
    pub start: StartOptions,
    /// Switch points between the paths of a message that somebody has set.
    pub switches: PathOverrides,
    /// The protocol of large messages between the ranks of a node.
    pub bulk: oxmpi_shm::BulkPreference,
    /// Which algorithms collectives take.
    pub tuning: Tuning,
    /// Whether ranks of a node run collectives by flags and buffers in shared memory.
    pub node_collectives: bool,
    /// The protocol that their long collectives go by where it may serve them; all ranks have the same.
    pub node_protocol: Option<oxmpi_shm::node::collective::ProtocolPreference>,
    /// Whether ranks compare their calls before each collective.
    pub checks: bool,
    /// Whether the rank accesses windows of its node itself, where it can.
    pub direct_windows: bool,
    /// Whether targets look for accesses to windows that conflict; then all accesses are messages.
    pub check_windows: bool,
    /// How the rank waits for messages.
    pub wait: WaitMode,
    /// Empty polls before a passive wait yields.
    pub spin: u32,
}

impl Default for EndpointPolicy {
    /// What the defaults of the settings are, on a machine without a network.
    fn default() -> Self {
        Self {
            start: StartOptions::default(),
            switches: PathOverrides::default(),
            bulk: oxmpi_shm::BulkPreference::default(),
            tuning: Tuning::default(),
            node_collectives: true,
            node_protocol: None,
            checks: false,
            direct_windows: true,
            check_windows: false,
            wait: WaitMode::Auto,
            spin: 2000,
        }
    }
}

impl EndpointPolicy {
    /// How to wait among the processes `pids` of this node, this one included; `remote` are the ranks of other
    /// nodes, of which some may run on this machine.
    pub(super) fn wait_policy(&self, pids: &[u32], remote: Option<&RemoteRanks>) -> WaitPolicy {
        let node = (pids.len(), pids);
        let (machine, visible) = remote.map_or(node, |remote| {
            (remote.ranks_on_machine as usize, &remote.visible_pids[..])
        });
        let others = machine > pids.len();
        // A rank that is pinned to one processor has it for itself if the others are elsewhere.
        let machine_is_oversubscribed = || match visible.len() == machine {
            true => is_oversubscribed(visible),
            false => machine > oxmpi_os::cpu::granted(),
        };
        match self.wait {
            WaitMode::Auto if others && machine_is_oversubscribed() => {
                WaitPolicy::oversubscribed_unseen()
            }
            WaitMode::Active => WaitPolicy::busy(),
            WaitMode::Passive => WaitPolicy::passive(self.spin, is_oversubscribed(pids)),
            WaitMode::Auto if is_oversubscribed(pids) => WaitPolicy::oversubscribed(),
            WaitMode::Auto => WaitPolicy::active(),
        }
    }
}

/// Whether more of the processes `pids` run than there are processors for them, by their affinity masks and
/// the control group's quota.
fn is_oversubscribed(pids: &[u32]) -> bool {
    let Ok(own) = oxmpi_os::affinity::current() else {
        return pids.len() > oxmpi_os::cpu::granted();
    };
    let masks = pids
        .iter()
        .filter_map(|&pid| oxmpi_os::affinity::of_thread(pid.cast_signed()).ok());
    // The mask of a pinned rank says nothing about the other ranks, so beside it only a quota counts.
    let quota_is_short = oxmpi_os::cpu::quota().is_some_and(|quota| pids.len() > quota);
    quota_is_short || masks_oversubscribe(&own, masks)
}

/// Whether the processes whose `masks` overlap with `own` (which is one of them) outnumber the processors of
/// their masks.
fn masks_oversubscribe(own: &[u64], masks: impl IntoIterator<Item = Vec<u64>>) -> bool {
    let mut rivals = 0;
    let mut processors = own.to_vec();
    for mask in masks {
        if mask
            .iter()
            .zip(own)
            .any(|(theirs, ours)| theirs & ours != 0)
        {
            rivals += 1;
            for (all, theirs) in processors.iter_mut().zip(&mask) {
                *all |= theirs;
            }
        }
    }
    let processors: u32 = processors.iter().map(|word| word.count_ones()).sum();
    rivals > processors
}

#[cfg(test)]
mod tests {
    use super::masks_oversubscribe;

    #[test]
    fn ranks_are_counted_against_the_processors_they_share() {
        let oversubscribed = |own: u64, others: &[u64]| {
            let masks = std::iter::once(&own).chain(others);
            masks_oversubscribe(&[0, own], masks.map(|&mask| vec![0, mask]))
        };
        assert!(!oversubscribed(0b1, &[]));
        // Pinned to different processors, then two to one.
        assert!(!oversubscribed(0b01, &[0b10]));
        assert!(oversubscribed(0b01, &[0b01]));
        // Others share a processor that is not this process's.
        assert!(!oversubscribed(0b01, &[0b10, 0b10, 0b10]));
        // Not pinned, on two processors.
        assert!(!oversubscribed(0b11, &[0b11]));
        assert!(oversubscribed(0b11, &[0b11, 0b11]));
        // A process may run where another one is pinned, and has other processors too.
        assert!(!oversubscribed(0b01, &[0b111]));
        assert!(oversubscribed(0b01, &[0b11, 0b11]));
    }
}
