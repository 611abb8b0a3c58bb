//! Choices made once, when a lane is set up.

use oxmpi_coll::choice::Tuning;
use oxmpi_shm::Layout;
use oxmpi_shm::heap::Wish;
use oxmpi_shm::wait::Patience;
use oxmpi_wire::Switches;

use crate::error::{Error, Result};
use crate::settings::{self, Sources, Wait};

/// What the settings and the machine say about a lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// Switch points between the paths of a message that somebody has set.
    pub(crate) switches: Switches,
    /// The sizes of a segment for one rank.
    layout: Layout,
    /// The memory that ranks allocate.
    pub(crate) heap: Wish,
    /// Which algorithm a collective takes.
    pub(crate) tuning: Tuning,
    wait: Wait,
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
        let policy = Self {
            switches: values.switches(),
            layout: values.layout(1),
            heap: values.heap(),
            tuning: values.tuning(),
            wait: values.parse("wait", str::parse),
            spin: values.parse("spin", settings::spin),
        };
        Ok((policy, values.warnings))
    }

    /// The sizes of a segment for `ranks` ranks.
    pub(crate) const fn layout(&self, ranks: u32) -> Layout {
        Layout {
            ranks,
            ..self.layout
        }
    }

    /// How to wait among the processes `pids`, of which this one is one.
    pub(super) fn patience(&self, pids: &[u32]) -> Patience {
        match self.wait {
            Wait::Active => Patience::endless(),
            Wait::Passive => Patience::passive(self.spin),
            Wait::Auto if crowded(pids) => Patience::crowded(),
            Wait::Auto => Patience::active(),
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
    // Those that compete with this process for a processor, and the processors they may use.
    let mut rivals = 0;
    let mut processors = own.clone();
    for mask in masks {
        if mask
            .iter()
            .zip(&own)
            .any(|(theirs, ours)| theirs & ours != 0)
        {
            rivals += 1;
            for (all, theirs) in processors.iter_mut().zip(&mask) {
                *all |= theirs;
            }
        }
    }
    let processors: u32 = processors.iter().map(|word| word.count_ones()).sum();
    rivals > processors || quota_is_short(pids.len())
}

/// Whether the control group grants fewer processors than there are ranks. A pinned rank's own mask
/// says nothing about the others', so only a quota below that mask counts.
fn quota_is_short(ranks: usize) -> bool {
    oxmpi_os::cpu::quota().is_some_and(|quota| ranks > quota)
}
