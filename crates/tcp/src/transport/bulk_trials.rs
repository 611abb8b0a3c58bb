//! [`BulkTrials`]: selects by measured times how the bytes of a long transfer enter the kernel, by copy or by page.
//!
//! A copied byte passes through both ends' processors, at once where these are two cores. Pages save the sender's copy,
//! but the receiver then copies alone, from memory that may not be in its caches. Which is faster depends on the machine:
//! over loopback with bare sockets, pages took .78 and .87 of the time of copies (256 KiB and 1 MiB to and fro, two
//! threads of a Cascade Lake core), 1.27 and 1.13 (two Zen 5 cores); in windows of messages 1.35 and .83.

use std::time::Duration;

use oxmpi_wire::trials::{Estimate, Policy, Schedule, per_byte};

/// How bytes enter the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KernelCopy {
    /// By page and by copy alternately: the sender copies while the receiver reads the pages before.
    Alternate,
    /// By copy.
    Copy,
    /// By page (vmsplice).
    Pages,
}

impl KernelCopy {
    /// All, in the order of first trials.
    const ALL: [Self; 3] = [Self::Alternate, Self::Copy, Self::Pages];
}

/// First transfers of each protocol, the least time of which counts.
const FIRST: u32 = 4;

/// One of this many later transfers tries another protocol.
const TRIAL_INTERVAL: u64 = 32;

/// The weight of a time. It counts at most twice the estimate, since the receive may have been late.
const POLICY: Policy = Policy::Average {
    first: FIRST,
    weight: 4,
    clamp: 2,
};

/// Number of length classes: each goes up to twice the length of the one before, the last one has no end.
const CLASSES: usize = 5;

/// Longest length of the first class.
const FIRST_CLASS: u64 = 128 << 10;

/// Transfers that share their estimates: those of about one length, alone or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TransferClass {
    length: usize,
    alone: bool,
}

impl TransferClass {
    /// The class of a transfer of `len` bytes; `alone`: its peer waits for no other transfer.
    pub(super) fn new(len: u64, alone: bool) -> Self {
        let doublings = (len.max(1) - 1) / FIRST_CLASS;
        let length = doublings.checked_ilog2().map_or(0, |log| log as usize + 1);
        Self {
            length: length.min(CLASSES - 1),
            alone,
        }
    }
}

/// The measured costs of transfers to one peer, by class.
#[derive(Debug, Default)]
pub(super) struct BulkTrials([[ClassTrials; CLASSES]; 2]);

#[derive(Clone, Copy, Debug, Default)]
struct ClassTrials {
    /// By protocol: picoseconds a byte.
    costs: [Estimate; 3],
    transfers: Schedule,
}

impl BulkTrials {
    /// The protocol of the next transfer.
    pub(super) fn choose(&mut self, class: TransferClass) -> KernelCopy {
        let ClassTrials { costs, transfers } = self.of(class);
        let trial = transfers.count(TRIAL_INTERVAL);
        let mut order = KernelCopy::ALL;
        let is_new = |protocol: &KernelCopy| costs[*protocol as usize].samples() < FIRST;
        if let Some(protocol) = order.into_iter().find(is_new) {
            return protocol;
        }
        order.sort_unstable_by_key(|protocol| costs[*protocol as usize].cost());
        order[trial.map_or(0, |number| 1 + number as usize % 2)]
    }

    /// Records the time of a transfer of `len` bytes.
    pub(super) fn learn(
        &mut self,
        class: TransferClass,
        protocol: KernelCopy,
        len: u64,
        time: Duration,
    ) {
        self.of(class).costs[protocol as usize].learn(POLICY, per_byte(time, len, 1000));
    }

    fn of(&mut self, class: TransferClass) -> &mut ClassTrials {
        &mut self.0[usize::from(class.alone)][class.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASS: TransferClass = TransferClass {
        length: 3,
        alone: true,
    };

    /// How often each protocol is chosen if a transfer of 1 MiB takes these times, in microseconds.
    fn chosen(trials: &mut BulkTrials, transfers: u32, times: [u64; 3]) -> [u32; 3] {
        let mut chosen = [0; 3];
        for _ in 0..transfers {
            let protocol = trials.choose(CLASS);
            chosen[protocol as usize] += 1;
            let time = Duration::from_micros(times[protocol as usize]);
            trials.learn(CLASS, protocol, 1 << 20, time);
        }
        chosen
    }

    #[test]
    fn the_fastest_protocol_is_used_and_changes() {
        let mut trials = BulkTrials::default();
        assert_eq!(trials.choose(CLASS), KernelCopy::Alternate);
        chosen(&mut trials, 3 * FIRST, [114, 101, 130]);
        assert!(chosen(&mut trials, 320, [114, 101, 130])[KernelCopy::Copy as usize] >= 300);
        chosen(&mut trials, 16 * TRIAL_INTERVAL as u32, [187, 215, 200]);
        assert!(chosen(&mut trials, 320, [187, 215, 200])[KernelCopy::Alternate as usize] >= 300);
    }

    #[test]
    fn a_delayed_transfer_changes_little() {
        let mut trials = BulkTrials::default();
        chosen(&mut trials, 100, [114, 80, 130]);
        trials.learn(CLASS, KernelCopy::Copy, 1 << 20, Duration::from_secs(1));
        assert!(chosen(&mut trials, 32, [114, 80, 130])[KernelCopy::Copy as usize] >= 30);
    }

    #[test]
    fn a_class_has_lengths_up_to_twice_as_long() {
        let length = |len| TransferClass::new(len, true).length;
        assert_eq!(
            [0, 1, FIRST_CLASS, FIRST_CLASS + 1].map(length),
            [0, 0, 0, 1]
        );
        assert_eq!([256 << 10, 512 << 10, 1 << 20].map(length), [1, 2, 3]);
        assert_eq!([(1 << 20) + 1, u64::MAX].map(length), [4, 4]);
    }
}
