//! The setting that makes reductions give the same bits.

use super::Tuning;
use crate::call::Call;

/// When reductions that round, such as floating-point sums, give the same bits. [Exact](Call::exact)
/// operations always do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reproducible {
    /// On all ranks of one call.
    #[default]
    Off,
    /// In all jobs with the same number of ranks, for any placement: the choice, and so the order of
    /// operands, ignores it.
    Placement,
    /// In jobs with any number of ranks. Plans alone cannot do that: the caller must make operations
    /// exact or refuse them.
    Ranks,
}

impl Reproducible {
    /// Whether the choice for the call must not depend on the placement.
    pub const fn binds(self, call: &Call) -> bool {
        !matches!(self, Reproducible::Off) && call.collective.reduces() && !call.exact
    }
}

impl Tuning {
    /// The tuning with which the call is served.
    pub(super) fn for_call(&self, call: &Call) -> Tuning {
        let tuning = self.clone();
        match self.reproducible.binds(call) {
            true => Tuning {
                per_node: 0,
                order: Tuning::default().order,
                ..tuning
            },
            false => tuning,
        }
    }
}
