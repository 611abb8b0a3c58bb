//! When the results of reductions have the same bits.

use super::Tuning;
use crate::call::Call;

/// When the results of reductions that round, such as sums of floats, have the same bits. Those of
/// [exact](Call::exact) operations always have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reproducible {
    /// On every rank.
    #[default]
    Off,
    /// On as many ranks, wherever they are: what is chosen, and so the order in which operands are
    /// combined, does not depend on it.
    Placement,
    /// On any number of ranks. No schedule alone can do that: who runs the plans makes operations
    /// exact or refuses them.
    Ranks,
}

impl Reproducible {
    /// Whether the call may be served only by what does not depend on where ranks are.
    pub const fn binds(self, call: &Call) -> bool {
        !matches!(self, Reproducible::Off) && call.collective.reduces() && !call.exact
    }
}

impl Tuning {
    /// The tuning that the call is served by.
    pub(super) fn of(&self, call: &Call) -> Tuning {
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
