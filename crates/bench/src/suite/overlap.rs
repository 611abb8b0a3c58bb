//! How far a collective goes on while its ranks compute.

use crate::method::Timing;

/// What overlap is a share of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OverlapBase {
    /// The shorter one of the collective alone and the computation, as in the guide.
    #[default]
    Shorter,
    /// The longer one of them, as in the program.
    Longer,
}

/// The times of one rank whose collective is in the background of a computation, in microseconds of one repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// From the start of the collective to the end of the wait, with the computation between them (`t_ovrl`).
    pub total: f64,
    /// The same without the computation (`t_pure`).
    pub pure: f64,
    /// The computation within the repetition (`t_CPU`).
    pub compute: f64,
    /// The same computation outside of repetitions.
    pub compute_alone: f64,
    /// What [`Overlap::percent`] is a share of.
    pub base: OverlapBase,
}

impl Overlap {
    /// Those of a sample.
    pub(super) fn of(timing: &Timing, base: OverlapBase) -> Self {
        Overlap {
            total: timing.total() as f64 / 1e3 / f64::from(timing.repetitions),
            pure: timing.compute.pure / 1e3,
            compute: timing.compute.within / 1e3,
            compute_alone: timing.compute.alone / 1e3,
            base,
        }
    }

    /// The overlap in percent: what the collective and the computation take one after the other, less what they take at
    /// once, as a share of [`Overlap::base`].
    pub fn percent(&self) -> f64 {
        self.percent_of(self.base)
    }

    /// As [`Overlap::percent`], as a share of this base.
    pub fn percent_of(&self, base: OverlapBase) -> f64 {
        let base = match base {
            OverlapBase::Shorter => self.pure.min(self.compute),
            OverlapBase::Longer => self.pure.max(self.compute),
        };
        let saved = self.pure + self.compute - self.total;
        if base > 0.0 {
            100.0 * (saved / base).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// The share of a processor that the collective leaves to the computation: the computation's time alone over that
    /// within; 1 where nothing is computed.
    pub fn availability(&self) -> f64 {
        if self.compute > 0.0 {
            self.compute_alone / self.compute
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Overlap, OverlapBase};

    #[test]
    fn overlap_is_what_is_saved_of_the_base() {
        for (total, pure, compute, shorter, longer) in [
            // One after the other, worse than that, and wholly at once.
            (30.0, 10.0, 20.0, 0.0, 0.0),
            (40.0, 10.0, 20.0, 0.0, 0.0),
            (20.0, 10.0, 20.0, 100.0, 50.0),
            (15.0, 10.0, 10.0, 50.0, 50.0),
            (25.0, 10.0, 20.0, 50.0, 25.0),
            (5.0, 10.0, 20.0, 100.0, 100.0),
            (10.0, 10.0, 0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0, 0.0, 0.0),
        ] {
            let overlap = |base| Overlap {
                total,
                pure,
                compute,
                compute_alone: 0.5 * compute,
                base,
            };
            let what = std::format!("{total} {pure} {compute}");
            assert_eq!(overlap(OverlapBase::Shorter).percent(), shorter, "{what}");
            assert_eq!(overlap(OverlapBase::Longer).percent(), longer, "{what}");
            let available = if compute > 0.0 { 0.5 } else { 1.0 };
            assert_eq!(overlap(OverlapBase::Shorter).availability(), available);
        }
    }
}
