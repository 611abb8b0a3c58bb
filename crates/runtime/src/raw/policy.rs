//! Choices made once, when a lane is set up.

use oxmpi_coll::choice::Tuning;

use crate::error::{Error, Result};
use crate::settings::{self, Sources, Wait};

/// What the settings and the machine say about a lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// Longest message that is sent eagerly, in bytes.
    pub(crate) eager: u32,
    /// Which algorithm a collective takes.
    pub(crate) tuning: Tuning,
    wait: Wait,
    spin: u32,
    /// Turns without anything before a waiting thread yields.
    pub(super) spins: u32,
    /// Yields before it sleeps.
    pub(super) yields: u32,
}

/// Yields before a waiting rank sleeps: longer than a wake from another processor takes (20 us), so
/// that who waits briefly is never woken that way.
const YIELDS: u32 = 200;

/// How much longer a rank with a processor of its own spins than a passive one.
const OWN_PROCESSOR: u32 = 10;

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
            eager: values.parse("eager_limit", settings::eager_limit),
            tuning: Tuning::default(),
            wait: values.parse("wait", str::parse),
            spin: values.parse("spin", settings::spin),
            spins: 0,
            yields: 0,
        };
        Ok((policy, values.warnings))
    }

    /// The policy for waiting among the processes `pids`, of which this one is one.
    pub(super) fn among(self, pids: &[u32]) -> Self {
        let (spins, yields) = match self.wait {
            Wait::Active => (u32::MAX, 0),
            Wait::Passive => (self.spin, YIELDS),
            Wait::Auto if crowded(pids) => (0, YIELDS),
            Wait::Auto => (self.spin.saturating_mul(OWN_PROCESSOR), YIELDS),
        };
        Self {
            spins,
            yields,
            ..self
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
        if mask.iter().zip(&own).any(|(theirs, ours)| theirs & ours != 0) {
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
