//! The choice for ranks in cyclic placement: a decision tree for each collective, which `cargo xtask tune-tables` learns from
//! simulations.
//!
//! A tree takes the place of the [cost forms](crate::cost), which know little about cyclic placement, where which messages
//! stay inside a node depends on divisors of distances. The files beside this one are the trees. They are read when the
//! crate is compiled, and a name in them that the catalog lacks does not compile.

mod features;
mod read;

pub use features::{FEATURES, Feature, features};

use super::candidates::pattern;
use super::{Choice, Choosable, Tuning};
use crate::call::{Call, Collective, Parameters};
use crate::placement::{Order, Placement};
use read::trees;

/// The radix of a choice that stands for the number of nodes: then either all ranks of a level of a tree share a node, or
/// all are on different ones.
pub const NODES: u32 = u32::MAX;

/// The most nodes, ranks of a node and ranks of the groups from which trees are learned.
pub const LEARNED_NODES: u32 = 64;
/// See [`LEARNED_NODES`].
pub const LEARNED_PER_NODE: u32 = 64;
/// See [`LEARNED_NODES`].
pub const LEARNED_RANKS: u32 = 1_000;

/// A tree of decisions, from the first node on.
#[derive(Debug)]
pub(super) struct DecisionTree {
    /// What can be chosen. The first one takes the place of others that do not suit.
    choices: &'static [Choice],
    nodes: &'static [Node],
}

/// A node of a tree.
#[derive(Clone, Copy, Debug)]
enum Node {
    /// The number of the choice to use.
    Use(u8),
    /// If the feature with this number is below a value, the next node decides, else the one with the last number.
    Below(u8, u64, u16),
}

trees! {
    Collective::Barrier: "barrier.json",
    Collective::Bcast: "bcast.json",
    Collective::Gather: "gather.json",
    Collective::Scatter: "scatter.json",
    Collective::Alltoall: "alltoall.json",
    Collective::Reduce: "reduce.json",
    Collective::ReduceScatter: "reduce_scatter.json",
    Collective::ReduceScatterBlock: "reduce_scatter_block.json",
    Collective::Scan: "scan.json",
    Collective::Exscan: "exscan.json",
}

/// Whether a tree chooses for such a call, unless the user requires an algorithm.
pub fn decides(call: &Call, tuning: &Tuning) -> bool {
    DecisionTree::of(&pattern(call), &tuning.for_call(call)).is_some()
}

/// Whether groups so large are among those from which trees are learned.
const fn is_learned(place: Placement) -> bool {
    place.nodes() <= LEARNED_NODES
        && place.per_node() <= LEARNED_PER_NODE
        && place.size() <= LEARNED_RANKS
}

/// Whether a tree is right for larger groups, too. In the others whole vectors go from rank to rank, in a time that grows
/// with the group: on 1,000 nodes of 8 ranks (gemini) a bcast of 100 kB would take 34 times that of the least cost.
const fn extrapolates(collective: Collective) -> bool {
    !matches!(collective, Collective::Bcast | Collective::Reduce)
}

impl DecisionTree {
    /// The tree for such a call, if ranks are placed so that one decides.
    pub(super) fn of(call: &Call, tuning: &Tuning) -> Option<&'static DecisionTree> {
        let place = tuning.placement(call.size);
        let nodes = place.nodes();
        let is_cyclic = tuning.order == Order::Cyclic && 1 < nodes && nodes < call.size;
        let is_meant = is_cyclic && tuning.choosable == Choosable::All && !call.in_place;
        let decides = is_meant && (extrapolates(call.collective) || is_learned(place));
        let tree = of_collective(call.collective).filter(|_| decides)?;
        tree.choices[0]
            .algorithm
            .suits(call)
            .is_ok()
            .then_some(tree)
    }

    /// The choice for calls of this length, and the next length from which on it may be another one.
    pub(super) fn choice(
        &self,
        call: &Call,
        features: &[Feature],
        (bytes, tuning): (u64, &Tuning),
    ) -> (Choice, Option<u64>) {
        let (mut at, mut next) = (0, u64::MAX);
        loop {
            match self.nodes[at] {
                Node::Use(choice) => {
                    let named = &self.choices[usize::from(choice)];
                    let suits = named.algorithm.suits(call).is_ok();
                    let choice = if suits { named } else { &self.choices[0] };
                    return (
                        choice.placed(call, tuning),
                        (next < u64::MAX).then_some(next),
                    );
                }
                Node::Below(feature, value, other) => {
                    let feature = features[usize::from(feature)];
                    if feature.value(bytes) < value {
                        next = next.min(feature.bytes_for(value).unwrap_or(u64::MAX));
                        at += 1;
                    } else {
                        at = usize::from(other);
                    }
                }
            }
        }
    }
}

impl Choice {
    /// The choice with the numbers that it leaves to the tuning, and the nodes.
    pub fn placed(&self, call: &Call, tuning: &Tuning) -> Choice {
        let (own, usual) = (
            self.parameters,
            tuning.choice(self.algorithm, call.size).parameters,
        );
        let radix = match own.radix {
            NODES => {
                let most = self.algorithm.row().needs.max_radix.max(2);
                tuning.placement(call.size).nodes().clamp(2, most)
            }
            radix => radix,
        };
        Choice {
            algorithm: self.algorithm,
            parameters: Parameters {
                radix,
                segment: usual.segment,
                cutoff: usual.cutoff,
                per_node: usual.per_node,
                order: usual.order,
                ..own
            },
        }
    }
}

#[cfg(test)]
mod tests;
