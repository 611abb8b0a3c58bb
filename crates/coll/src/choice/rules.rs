//! What the user asks for on some sizes of some groups.

use super::Choice;
use crate::catalog::{Algorithm, Call, Parameters};

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
    /// Bytes of the shortest and the longest vector or block, both included.
    pub bytes: (u64, u64),
    /// Ranks of the smallest and the largest group, both included.
    pub ranks: (u32, u32),
}

impl Rule {
    /// Whether it speaks of calls like this one, of some length.
    pub(super) fn meets(&self, call: &Call) -> bool {
        let (fewest, most) = self.ranks;
        (fewest..=most).contains(&call.size) && self.algorithm.suits(call).is_ok()
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
