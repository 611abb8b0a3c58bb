//! Broadcast by a scatter and then an allgather, each by any algorithm of the catalog that serves here.
//!
//! The vector is cut into one block per rank. The root has the vector and receives nothing in the allgather. A
//! rank that forwards nothing in the scatter posts its receives of short allgather blocks while it still waits
//! for its own block, so early blocks need no extra copy.
//!
//! So a broadcast need not be slower than the best scatter and allgather of the blocks.

use core::marker::PhantomData;

use crate::call::{Call, Parameters};
use crate::phase::Phase;
use crate::placement::Order;
use crate::plan::{Acts, Plan, PlanInputs};
use crate::scattered_vector::ScatteredVector;
use crate::{allgather, scatter};

/// The largest group where every rank sends to every other, or as many times as there are ranks.
pub(crate) const MAX_SIZE: u32 = 128;

/// One rank's plan for a broadcast by a scatter and an allgather: the steps of the scatter, then those of the
/// allgather, split into halves. It makes the two plans on demand instead of keeping them, and so stays
/// small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Composed<S, G> {
    vector: ScatteredVector,
    radix: u32,
    gather_radix: u32,
    window: u32,
    per_node: u32,
    order: Order,
    phases: PhantomData<(S, G)>,
}

/// Bcast linear-all: linear scatter, linear allgather.
pub(crate) type LinearAll = Composed<scatter::ScatterLinear, allgather::AllgatherLinear>;

/// Bcast linear-bruck: linear scatter, Bruck allgather.
pub(crate) type LinearBruck = Composed<scatter::ScatterLinear, allgather::AllgatherBruck>;

/// Bcast linear-ring: linear scatter, ring allgather.
pub(crate) type LinearRing = Composed<scatter::ScatterLinear, allgather::AllgatherRing>;

/// Bcast knomial-bruck: k-nomial scatter, Bruck allgather.
pub(crate) type KnomialBruck = Composed<scatter::ScatterKnomial, allgather::AllgatherBruck>;

/// Bcast knomial-ring: k-nomial scatter, ring allgather.
pub(crate) type KnomialRing = Composed<scatter::ScatterKnomial, allgather::AllgatherRing>;

impl<S: Phase, G: Phase> Composed<S, G> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let (rank, size, root) = (call.rank, call.size, call.root);
        Composed {
            vector: ScatteredVector {
                rank,
                size,
                block: call.count.div_ceil(size.into()),
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

    /// The parameters of a phase with this radix.
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
        // Where only one phase has a radix, `radix` is that one.
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

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let scatter = self.scatter();
        let before = scatter.steps();
        match i.checked_sub(before) {
            None => self.vector.hand_out(&scatter, i, inputs, acts),
            Some(after) => {
                // A rank that forwards nothing may receive other blocks before its own.
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
    use super::{KnomialBruck, KnomialRing, LinearAll, LinearBruck, LinearRing};
    use crate::call::{Call, Parameters};
    use crate::plan::{Act, Acts, CallArrays, LearnedLengths, Plan, PlanInputs};

    /// Elements that come to a rank.
    fn received(plan: &impl Plan) -> u64 {
        let learned = LearnedLengths::new();
        let inputs = PlanInputs::new(CallArrays::NOTHING, &learned);
        let in_step = |i| {
            let mut acts = Acts::new();
            plan.step(i, &inputs, &mut acts);
            let length = |act: &Act| match act {
                Act::Recv { into, .. } => into.len(),
                _ => 0,
            };
            acts.iter().map(length).sum::<u64>()
        };
        (0..plan.steps()).map(in_step).sum()
    }

    #[test]
    fn every_rank_gets_every_element_once() {
        for (size, root, radix) in [(2, 0, 2), (9, 0, 2), (16, 5, 4), (23, 7, 3), (64, 63, 8)] {
            let parameters = Parameters::NONE
                .with_radix(radix)
                .with_gather_radix(radix + 1)
                .with_window(8)
                .with_per_node(1);
            for rank in (0..size).filter(|&rank| rank != root) {
                let call = Call::bcast(rank, size, root, 1001);
                let all = [
                    received(&LinearAll::of(&call, &parameters)),
                    received(&LinearBruck::of(&call, &parameters)),
                    received(&LinearRing::of(&call, &parameters)),
                    received(&KnomialBruck::of(&call, &parameters)),
                    received(&KnomialRing::of(&call, &parameters)),
                ];
                assert_eq!(all, [1001; 5], "rank {rank} of {size} below {root}");
            }
        }
    }
}
