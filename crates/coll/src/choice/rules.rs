//! What the user asks for on some sizes of some groups.

use core::ops::Deref;

use super::Choice;
use crate::call::{Algorithm, Call, Collective, Parameters};

/// The most rules for one collective: so many always find room in a table.
pub const RULES: usize = 8;

/// An algorithm for the calls of its collective whose length and group are within bounds. It serves
/// those that it suits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What serves them.
    pub algorithm: Algorithm,
    /// Its parameters; 0 stands for the default. Ranks of a node and their order are not looked at.
    pub parameters: Parameters,
    /// Bytes of the shortest and the longest vector or block, both included. Not looked at in
    /// collectives whose lengths [not all ranks know](Collective::has_known_length).
    pub bytes: (u64, u64),
    /// Ranks of the smallest and the largest group, both included.
    pub ranks: (u32, u32),
}

/// Rules; of two that speak of one call the first counts. Clones share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(Shared);

#[cfg(feature = "alloc")]
type Shared = alloc::sync::Arc<[Rule]>;
#[cfg(not(feature = "alloc"))]
type Shared = &'static [Rule];

impl Deref for Rules {
    type Target = [Rule];

    #[inline]
    fn deref(&self) -> &[Rule] {
        self.0.iter().as_slice()
    }
}

impl From<&'static [Rule]> for Rules {
    fn from(rules: &'static [Rule]) -> Self {
        #[cfg(feature = "alloc")]
        let rules = rules.into();
        Rules(rules)
    }
}

#[cfg(feature = "alloc")]
impl From<alloc::vec::Vec<Rule>> for Rules {
    fn from(rules: alloc::vec::Vec<Rule>) -> Self {
        Rules(rules.into())
    }
}

impl Rule {
    /// Whether it speaks of the collective on groups of so many ranks, with some length.
    pub fn speaks_of(&self, collective: Collective, size: u32) -> bool {
        let (fewest, most) = self.ranks;
        self.algorithm.collective() == collective && (fewest..=most).contains(&size)
    }

    /// Whether it serves calls like this one, of some length.
    pub(super) fn meets(&self, call: &Call) -> bool {
        self.speaks_of(call.collective, call.size) && self.algorithm.suits(call).is_ok()
    }

    /// The bytes from which and up to which it serves: all ranks find the same.
    pub(super) const fn lengths(&self) -> (u64, u64) {
        if self.algorithm.collective().has_known_length() {
            self.bytes
        } else {
            (0, u64::MAX)
        }
    }

    /// The algorithm with the rule's parameters, and the usual ones where it says nothing.
    pub(super) const fn choice(&self, usual: Choice) -> Choice {
        const fn or(own: u64, usual: u64) -> u64 {
            if own == 0 { usual } else { own }
        }
        let (own, usual) = (self.parameters, usual.parameters);
        Choice {
            algorithm: self.algorithm,
            parameters: Parameters {
                segment: or(own.segment, usual.segment),
                cutoff: or(own.cutoff, usual.cutoff),
                per_node: usual.per_node,
                order: usual.order,
                ..own
            },
        }
    }
}
