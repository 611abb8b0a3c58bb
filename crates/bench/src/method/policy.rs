//! The number of repetitions of a sample, by its volume, its time and the policy.

use super::Method;
use crate::kernels::{Info, Schedule};

/// How the number of repetitions is chosen (the guide's `-iter_policy`).
///
/// Whatever the policy, a sample keeps to the time limit of [`Method::seconds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// Fewer for long messages, by their volume, and as many as the time allows.
    #[default]
    Dynamic,
    /// As [`Policy::Dynamic`], but a multiple of the number of ranks, so that all ranks are the root
    /// equally often.
    MultipleNp,
    /// [`Policy::MultipleNp`] for collectives with a root, [`Policy::Dynamic`] for the rest.
    Auto,
    /// The same number for all lengths, whatever their volume.
    Off,
}

impl Policy {
    /// All policies, with the guide's names.
    pub const NAMES: [(&'static str, Policy); 4] = [
        ("dynamic", Policy::Dynamic),
        ("multiple_np", Policy::MultipleNp),
        ("auto", Policy::Auto),
        ("off", Policy::Off),
    ];

    /// The policy's name.
    pub fn name(self) -> &'static str {
        let row = Self::NAMES.iter().find(|(_, policy)| *policy == self);
        row.map_or("", |row| row.0)
    }

    /// Cuts the repetitions to a multiple of the ranks where the policy asks for it and at least one
    /// multiple fits.
    pub(super) fn fair(self, info: &Info, ranks: usize, repetitions: u32) -> u32 {
        let is_multiple = match self {
            Policy::MultipleNp => true,
            Policy::Auto => info.rooted,
            Policy::Dynamic | Policy::Off => false,
        };
        match u32::try_from(ranks) {
            Ok(ranks) if is_multiple && repetitions >= ranks => repetitions - repetitions % ranks,
            _ => repetitions,
        }
    }
}

impl Method {
    /// The repetitions at a length of `bytes`, before the time limit: as many as the volume allows, at
    /// least one, at most [`Method::samples`].
    pub fn repetitions(&self, bytes: usize) -> u32 {
        self.by_volume(self.samples, bytes)
    }

    /// As [`Method::repetitions`], for a schedule that may have fewer.
    pub(super) fn scheduled(&self, schedule: Schedule, bytes: usize) -> u32 {
        match schedule {
            Schedule::Many | Schedule::Aggregated => self.repetitions(bytes),
            Schedule::Few => self.by_volume(self.samples_single, bytes),
        }
    }

    fn by_volume(&self, most: u32, bytes: usize) -> u32 {
        let most = u64::from(most.max(1));
        let by_volume = match self.policy {
            Policy::Off => None,
            _ => self.volume.checked_div(bytes as u64),
        };
        by_volume.unwrap_or(u64::MAX).clamp(1, most) as u32
    }

    /// Cuts the repetitions so that, with `nanoseconds` each, they stay within the time limit.
    pub(super) fn cut(&self, repetitions: u32, nanoseconds: u64) -> u32 {
        let within = self.seconds * 1e9 / nanoseconds.max(1) as f64;
        if within < f64::from(repetitions) {
            (within as u32).max(1)
        } else {
            repetitions
        }
    }
}
