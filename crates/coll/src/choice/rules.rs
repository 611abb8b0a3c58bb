//! Rules: algorithms that the user requires for ranges of sizes and of ranks.

use core::ops::Deref;

use super::Choice;
use crate::call::{Algorithm, Call, Collective, Parameters};

/// The most rules for one collective, for which a table has capacity.
pub const RULES: usize = 8;

/// An algorithm for the calls of its collective with lengths and ranks in a range. It is used for those
/// of them that it supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its parameters; 0 stands for the default. The placement in them is ignored.
    pub parameters: Parameters,
    /// The smallest and the largest size of a vector or block in bytes, both included. Ignored in
    /// collectives whose lengths [not all ranks know](Collective::has_known_length).
    pub bytes: (u64, u64),
    /// The smallest and the largest number of ranks, both included.
    pub ranks: (u32, u32),
}

/// A list of rules. The first that applies to a call is used. Clones share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(SharedRules);

#[cfg(feature = "alloc")]
type SharedRules = alloc::sync::Arc<[Rule]>;
#[cfg(not(feature = "alloc"))]
type SharedRules = &'static [Rule];

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
    /// Whether the rule is about the collective on groups of this size, for some length.
    pub fn covers(&self, collective: Collective, size: u32) -> bool {
        let (fewest, most) = self.ranks;
        self.algorithm.collective() == collective && (fewest..=most).contains(&size)
    }

    /// Whether the rule applies to calls like this one, for some length.
    pub(super) fn applies_to(&self, call: &Call) -> bool {
        self.covers(call.collective, call.size) && self.algorithm.suits(call).is_ok()
    }

    /// The sizes to which the rule applies, first and last; the same on all ranks.
    pub(super) const fn lengths(&self) -> (u64, u64) {
        if self.algorithm.collective().has_known_length() {
            self.bytes
        } else {
            (0, u64::MAX)
        }
    }

    /// The algorithm with the rule's parameters, and `usual` ones where the rule has none.
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
