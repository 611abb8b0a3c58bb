//! Choices made once, when an endpoint is set up.

use oxmpi_coll::choice::Tuning;
use oxmpi_shm::Layout;
use oxmpi_shm::heap::Wish;
use oxmpi_shm::wait::Patience;
use oxmpi_wire::Switches;

use crate::boot::{AgreedSettings, NetworkPreference, RemoteRanks};
use crate::error::{Error, Result};
use crate::settings::{self, Sources, WaitMode};
use crate::transports;

/// What the settings and the machine say about an endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    /// Switch points between the paths of a message that somebody has set.
    pub(crate) switches: Switches,
    /// The sizes of a segment for one rank.
    layout: Layout,
    /// The memory that ranks allocate.
    pub(crate) heap: Wish,
    /// Which transports are taken, and how the ranks of other nodes are reached.
    pub(crate) network: NetworkPreference,
    /// How large messages go between the ranks of a node.
    pub(crate) roads: oxmpi_shm::RoadWish,
    /// Which algorithm a collective takes.
    pub(crate) tuning: Tuning,
    /// Whether ranks of a node have flags and buffers for collectives.
    pub(super) node_collectives: bool,
    /// Whether ranks compare what they call.
    pub(super) checks: bool,
    /// What all ranks of a job must have been told alike.
    pub(crate) told: AgreedSettings,
    /// Whether this rank says what it took to find the others.
    pub(crate) start_report: bool,
    wait: WaitMode,
    spin: u32,
}

impl Policy {
    /// The policy of the process's settings, and the warnings about them.
    ///
    /// # Errors
    /// [`Error::Setting`] for the first wrong one.
    pub(crate) fn of_process() -> Result<(Self, Vec<String>)> {
        let wrong = |bad: settings::BadSetting| Error::Setting(bad.to_string());
        let sources = Sources::of_process().map_err(wrong)?;
        let values = settings::resolve(settings::TABLE, &sources).map_err(wrong)?;
        let selection = transports::selection(&values);
        let tuning = Tuning {
            rules: values.rules().map_err(wrong)?,
            ..values.tuning()
        };
        let policy = Self {
            switches: values.switch_points(),
            layout: values.layout(1),
            heap: values.heap(),
            network: NetworkPreference {
                filter: values.tcp_filter().among(selection.interfaces.clone()),
                options: values.tcp_options(),
                selection,
                at_start: values.parse("connect_at_start", oxmpi_text::switch),
            },
            roads: values.bulk_protocols(),
            node_collectives: values.node_collectives(),
            checks: values.checks_collectives(),
            told: AgreedSettings::of(&values, &tuning),
            tuning,
            start_report: values.parse("start_report", oxmpi_text::switch),
            wait: values.parse("wait", str::parse),
            spin: values.parse("spin", settings::spin),
        };
        Ok((policy, values.warnings))
    }

    /// Opens the transports that are taken. What does not open is taken no more; gives the warning of that.
    pub(crate) fn open(&mut self) -> Option<String> {
        let layout = self.layout(2);
        transports::open(&mut self.network.selection, layout)
    }

    /// The sizes of a segment for `ranks` ranks.
    pub(crate) const fn layout(&self, ranks: u32) -> Layout {
        Layout {
            ranks,
            ..self.layout
        }
    }

    /// How to wait among the processes `pids` of this node, of which this one is one, where `far` are the
    /// ranks of other nodes, of which some may run on this machine.
    pub(super) fn patience(&self, pids: &[u32], far: Option<&RemoteRanks>) -> Patience {
        let node = (pids.len(), pids);
        let (machine, seen) = far.map_or(node, |far| (far.machine as usize, &far.seen[..]));
        let strangers = machine > pids.len();
        // A rank that is pinned to one processor has that one to itself if the others are elsewhere.
        let crowd = || match seen.len() == machine {
            true => crowded(seen),
            false => machine > oxmpi_os::cpu::granted(),
        };
        match self.wait {
            WaitMode::Auto if strangers && crowd() => Patience::beside_strangers(),
            WaitMode::Active => Patience::endless(),
            WaitMode::Passive => Patience::passive(self.spin, crowded(pids)),
            WaitMode::Auto if crowded(pids) => Patience::crowded(),
            WaitMode::Auto => Patience::active(),
        }
    }
}

/// Whether more of the processes `pids` want to run than there are processors for them: those of
/// their affinity masks, or what the control group grants.
fn crowded(pids: &[u32]) -> bool {
    let Ok(own) = oxmpi_os::affinity::current() else {
        return pids.len() > oxmpi_os::cpu::granted();
    };
    let masks = pids
        .iter()
        .filter_map(|&pid| oxmpi_os::affinity::of_thread(pid.cast_signed()).ok());
    // A pinned rank's own mask says nothing about the others', so only a quota counts beside it.
    let quota_is_short = oxmpi_os::cpu::quota().is_some_and(|quota| pids.len() > quota);
    quota_is_short || masks_are_crowded(&own, masks)
}

/// Whether those of `masks` that share a processor with `own` (which is one of them) are more than
/// their processors together.
fn masks_are_crowded(own: &[u64], masks: impl IntoIterator<Item = Vec<u64>>) -> bool {
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
    use super::masks_are_crowded;

    #[test]
    fn ranks_are_counted_against_the_processors_they_share() {
        let crowded = |own: u64, others: &[u64]| {
            let masks = std::iter::once(&own).chain(others);
            masks_are_crowded(&[0, own], masks.map(|&mask| vec![0, mask]))
        };
        assert!(!crowded(0b1, &[]));
        // Pinned apart, and two on one processor.
        assert!(!crowded(0b01, &[0b10]));
        assert!(crowded(0b01, &[0b01]));
        // Others crowd a processor that is not ours.
        assert!(!crowded(0b01, &[0b10, 0b10, 0b10]));
        // Unpinned on two processors.
        assert!(!crowded(0b11, &[0b11]));
        assert!(crowded(0b11, &[0b11, 0b11]));
        // One may go where another one is pinned, and has room elsewhere.
        assert!(!crowded(0b01, &[0b111]));
        assert!(crowded(0b01, &[0b11, 0b11]));
    }
}
