//! Estimates of what alternatives cost, and a schedule of trials, for choices that are made by measurement.
//!
//! A choice between protocols has an [`Estimate`] for each, which every timed use updates by a [`Policy`], and a
//! [`Schedule`] that says which uses try another one than the cheapest. Nothing here reads a clock or allocates.

use core::time::Duration;

/// How a new sample changes an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The estimate is the least of the last samples: of the latest full block of so many, and of those since.
    LeastOf(u32),
    /// The estimate is the least of the first samples, then an exponential moving average.
    Average {
        /// Samples of which the least counts.
        first: u32,
        /// Each later sample counts as one part in so many.
        weight: u64,
        /// Each later sample counts as so many times the estimate at most.
        clamp: u64,
    },
    /// A lower sample replaces the estimate; of a higher one half of the difference counts.
    Halves,
}

/// What one alternative was seen to cost, in the caller's unit: 1 or more.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// 0 before the first sample.
    current: u64,
    /// The least of the block of samples before.
    previous: u64,
    samples: u32,
}

impl Default for Estimate {
    fn default() -> Self {
        Self::NEW
    }
}

impl Estimate {
    /// Nothing is known.
    pub const NEW: Self = Self {
        current: 0,
        previous: u64::MAX,
        samples: 0,
    };

    /// The cost; 0 while it is unknown.
    #[must_use]
    pub const fn cost(&self) -> u64 {
        if self.previous < self.current {
            self.previous
        } else {
            self.current
        }
    }

    /// Samples so far.
    #[must_use]
    pub const fn samples(&self) -> u32 {
        self.samples
    }

    /// Adds a sample.
    pub fn learn(&mut self, policy: Policy, cost: u64) {
        let known = self.current;
        self.current = match policy {
            Policy::LeastOf(block) if self.samples.is_multiple_of(block) => {
                self.previous = if known == 0 { u64::MAX } else { known };
                cost
            }
            Policy::LeastOf(_) => cost.min(known),
            _ if self.samples == 0 => cost,
            Policy::Average { first, .. } if self.samples < first => cost.min(known),
            Policy::Average { weight, clamp, .. } => {
                self.decay(weight);
                self.current + cost.min(known.saturating_mul(clamp)) / weight
            }
            Policy::Halves => cost.min(known.midpoint(cost)),
        };
        self.samples = self.samples.wrapping_add(1).max(1);
    }

    /// Forgets one part in `parts` of the cost.
    pub const fn decay(&mut self, parts: u64) {
        self.current -= self.current / parts;
    }
}

/// The cost of a byte for a transfer of `bytes` bytes: `unit` is how many units of cost a nanosecond has. At least 1.
#[must_use]
pub fn per_byte(time: Duration, bytes: u64, unit: u64) -> u64 {
    let cost = time.as_nanos().saturating_mul(unit.into()) / u128::from(bytes.max(1));
    u64::try_from(cost).unwrap_or(u64::MAX).max(1)
}

/// Counts the uses of a choice and says which of them are trials.
#[derive(Clone, Copy, Debug, Default)]
pub struct Schedule {
    uses: u64,
}

impl Schedule {
    /// No use so far.
    pub const NEW: Self = Self { uses: 0 };

    /// Counts a use. Of `every` uses the last one is a trial: returns its number, from 1.
    pub const fn count(&mut self, every: u64) -> Option<u64> {
        self.uses += 1;
        if self.uses.is_multiple_of(every) {
            Some(self.uses / every)
        } else {
            None
        }
    }

    /// Uses so far.
    #[must_use]
    pub const fn uses(&self) -> u64 {
        self.uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs<const N: usize>(policy: Policy, samples: [u64; N]) -> [u64; N] {
        let mut estimate = Estimate::NEW;
        assert_eq!(estimate.cost(), 0);
        samples.map(|sample| {
            estimate.learn(policy, sample);
            estimate.cost()
        })
    }

    #[test]
    fn each_policy_has_weights_of_its_own() {
        assert_eq!(
            costs(Policy::LeastOf(2), [9, 5, 7, 8, 9, 9]),
            [9, 5, 5, 5, 7, 7]
        );
        let average = Policy::Average {
            first: 2,
            weight: 4,
            clamp: 2,
        };
        assert_eq!(
            costs(average, [90, 80, 80, 1000, 20]),
            [90, 80, 80, 100, 80]
        );
        assert_eq!(costs(Policy::Halves, [40, 20, 30, 10]), [40, 20, 25, 10]);
    }

    #[test]
    fn trials_come_at_fixed_distances() {
        let mut schedule = Schedule::NEW;
        let trials: [_; 6] = core::array::from_fn(|_| schedule.count(3));
        assert_eq!(trials, [None, None, Some(1), None, None, Some(2)]);
        assert_eq!(schedule.uses(), 6);
    }

    #[test]
    fn costs_of_a_byte_are_never_zero() {
        assert_eq!(per_byte(Duration::from_nanos(3), 2, 1000), 1500);
        assert_eq!(per_byte(Duration::ZERO, 0, 1), 1);
        assert_eq!(per_byte(Duration::MAX, 1, 1 << 20), u64::MAX);
    }
}
