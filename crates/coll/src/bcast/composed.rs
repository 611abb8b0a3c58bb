//! Broadcast by a scatter of the catalog and then an allgather of the catalog.
//!
//! The vector is cut into one block for each rank; but a [folded rank](allgather::NeighborExchange) of the allgather has none,
//! which would travel with those of others. The root has the vector and gets nothing in the allgather. A rank that hands
//! nothing on in the scatter is ready for short blocks of the allgather while it still waits for its own one: what comes
//! early then needs no copy.
//!
//! So a broadcast need not be slower than a scatter and an allgather, whichever are best for the
//! blocks.

use core::marker::PhantomData;

use crate::call::{Call, Parameters};
use crate::phase::Phase;
use crate::placement::Order;
use crate::plan::{Acts, Plan, PlanInputs};
use crate::scattered_vector::ScatteredVector;
use crate::{allgather, scatter};

/// The largest group where every rank sends to every other one, or as often as there are ranks.
pub const MAX_SIZE: u32 = 128;

/// One rank's part in a broadcast by a scatter and an allgather: the steps of the one, then those of
/// the other, in halves. It keeps no plan of either, but makes them when it is asked, and so stays
/// small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composed<S, G> {
    vector: ScatteredVector,
    radix: u32,
    gather_radix: u32,
    window: u32,
    per_node: u32,
    order: Order,
    phases: PhantomData<(S, G)>,
}

/// Every block straight from the root, and then from every rank to every other one.
pub type LinearAll = Composed<scatter::Linear, allgather::Linear>;

/// Every block straight from the root, and then Bruck's algorithm.
pub type LinearBruck = Composed<scatter::Linear, allgather::Bruck>;

/// Every block straight from the root, and then between neighbours.
pub type LinearNeighborExchange = Composed<scatter::Linear, allgather::NeighborExchange>;

/// Every block straight from the root, and then around a ring.
pub type LinearRing = Composed<scatter::Linear, allgather::Ring>;

/// Blocks down a tree, and then from every rank to every other one.
pub type KnomialLinear = Composed<scatter::Knomial, allgather::Linear>;

/// Blocks down a tree, and then Bruck's algorithm.
pub type KnomialBruck = Composed<scatter::Knomial, allgather::Bruck>;

/// Blocks down a tree, and then between neighbours.
pub type KnomialNeighborExchange = Composed<scatter::Knomial, allgather::NeighborExchange>;

/// Blocks down a tree, and then around a ring.
pub type KnomialRing = Composed<scatter::Knomial, allgather::Ring>;

impl<S: Phase, G: Phase> Composed<S, G> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let &Call {
            rank, size, root, ..
        } = call;
        Composed {
            vector: ScatteredVector {
                rank,
                size,
                block: call.count.div_ceil(G::owners(size).into()),
                root: Some(root),
                count: call.count,
            },
            radix: parameters.radix,
            gather_radix: parameters.gather_radix,
            window: parameters.window,
            per_node: parameters.per_node,
            order: parameters.order,
            phases: PhantomData,
        }
    }

    /// What a phase runs with.
    fn with_radix(&self, radix: u32) -> Parameters {
        Parameters {
            radix,
            window: self.window,
            per_node: self.per_node,
            order: self.order,
            ..Parameters::NONE
        }
    }

    fn scatter(&self) -> S {
        S::of(&self.vector.scatter(), &self.with_radix(self.radix))
    }

    fn gather(&self) -> G {
        // Where only one of the two takes a radix, it is that one's.
        let radix = match self.gather_radix {
            0 => self.radix,
            own => own,
        };
        G::of(&self.vector.gather(), &self.with_radix(radix))
    }
}

impl<S: Phase, G: Phase> Plan for Composed<S, G> {
    fn steps(&self) -> u32 {
        self.scatter().steps() + self.vector.halves(&self.gather()).steps()
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let scatter = self.scatter();
        let before = scatter.steps();
        match i.checked_sub(before) {
            None => self.vector.hand_out(&scatter, i, inputs, acts),
            Some(after) => {
                // Who hands nothing on may get other blocks before its own one.
                let ahead = (before, before <= 1);
                let brought = |rank| scatter.subtree_of(rank);
                self.vector
                    .complete(&self.gather(), after, (ahead, brought), inputs, acts)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        KnomialBruck, KnomialLinear, KnomialNeighborExchange, KnomialRing, LinearAll, LinearBruck,
        LinearNeighborExchange, LinearRing,
    };
    use crate::call::{Call, Parameters};
    use crate::plan::{Act, Acts, CallArrays, LearnedLengths, Plan, PlanInputs};

    /// Elements that come to a rank.
    fn received(plan: &impl Plan) -> u64 {
        let learned = LearnedLengths::new();
        let inputs = PlanInputs::new(CallArrays::NOTHING, &learned);
        let in_step = |i| {
            let mut acts = Acts::new();
            plan.step(i, &inputs, &mut acts);
            let come = |act: &Act| match act {
                Act::Recv { into, .. } => into.len(),
                _ => 0,
            };
            acts.iter().map(come).sum::<u64>()
        };
        (0..plan.steps()).map(in_step).sum()
    }

    #[test]
    fn no_block_of_a_folded_rank_travels_with_those_of_others() {
        for size in [5, 9, 23_u32] {
            let block = 10;
            let longest = |rank| {
                let call = Call::bcast(rank, size, 0, u64::from(size - 1) * block);
                let plan = KnomialNeighborExchange::of(&call, &Parameters::NONE);
                let (learned, before) = (LearnedLengths::new(), plan.scatter().steps());
                let inputs = PlanInputs::new(CallArrays::NOTHING, &learned);
                let after = (before..plan.steps()).flat_map(|i| {
                    let mut acts = Acts::new();
                    plan.step(i, &inputs, &mut acts);
                    let sent = acts.iter().filter_map(Act::reads).map(|part| part.len());
                    sent.max()
                });
                after.max().unwrap_or(0)
            };
            assert_eq!((0..size).map(longest).max(), Some(2 * block), "{size}");
            assert_eq!(longest(size - 1), 0, "the folded of {size}");
        }
    }

    #[test]
    fn every_rank_gets_every_element_once() {
        for (size, root, radix) in [(2, 0, 2), (9, 0, 2), (16, 5, 4), (23, 7, 3), (64, 63, 8)] {
            let parameters = Parameters {
                radix,
                gather_radix: radix + 1,
                window: 8,
                per_node: 1,
                ..Parameters::NONE
            };
            for rank in (0..size).filter(|&rank| rank != root) {
                let call = Call::bcast(rank, size, root, 1001);
                let all = [
                    received(&LinearAll::of(&call, &parameters)),
                    received(&LinearBruck::of(&call, &parameters)),
                    received(&LinearRing::of(&call, &parameters)),
                    received(&KnomialLinear::of(&call, &parameters)),
                    received(&KnomialBruck::of(&call, &parameters)),
                    received(&KnomialRing::of(&call, &parameters)),
                    received(&KnomialNeighborExchange::of(&call, &parameters)),
                ];
                assert_eq!(all, [1001; 7], "rank {rank} of {size} below {root}");
                if size % 2 == 0 {
                    let even = received(&LinearNeighborExchange::of(&call, &parameters));
                    assert_eq!(even, 1001, "rank {rank} of {size} below {root}");
                }
            }
        }
    }
}
