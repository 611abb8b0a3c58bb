//! Allreduce by a reduction of the catalog to rank 0 and then a broadcast of the catalog from there.
//!
//! So an allreduce need not be slower than a reduce and a bcast. All ranks get the same bits, and the
//! order of the ranks is kept where the reduction keeps it.

use crate::bcast;
use crate::catalog::{Call, Parameters};
use crate::hierarchy::renamed;
use crate::phase::Phase;
use crate::plan::{Acts, Buf, Known, Part, Plan};
use crate::reduce;

/// One rank's part in a reduction and a broadcast: the steps of the one, then those of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composed<R, B> {
    reduce: R,
    bcast: B,
    in_place: bool,
}

/// The calls of the reduction and of the broadcast.
fn calls(call: &Call) -> [Call; 2] {
    let &Call {
        rank, size, count, ..
    } = call;
    let reduce = Call::reduce(rank, size, 0, count, call.element_bytes);
    let reduce = reduce.with_commutative(call.commutative);
    [
        reduce.with_in_place(call.in_place && rank == 0),
        Call::bcast(rank, size, 0, count),
    ]
}

/// Up a tree and down again.
pub type Knomial = Composed<reduce::Knomial, bcast::Knomial>;

/// Up a chain and down again, in blocks.
pub type Chain = Composed<reduce::Chain, bcast::Chain>;

/// Up a chain in blocks, and one block for each rank from the root and from everyone to all.
pub type ChainLinear = Composed<reduce::Chain, bcast::LinearLinear>;

/// Up a chain in blocks, and one block for each rank down a tree and by Bruck's algorithm to all.
pub type ChainBruck = Composed<reduce::Chain, bcast::KnomialBruck>;

/// In blocks over the circulant graph, and one for each rank back as in [`ChainLinear`].
pub type CirculantLinear = Composed<reduce::Circulant, bcast::LinearLinear>;

/// In blocks over the circulant graph, and one for each rank back as in [`ChainBruck`].
pub type CirculantBruck = Composed<reduce::Circulant, bcast::KnomialBruck>;

impl<R: Phase, B: Phase> Composed<R, B> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let [up, down] = calls(call);
        Composed {
            reduce: R::of(&up, parameters),
            bcast: B::of(&down, parameters),
            in_place: call.in_place,
        }
    }
}

impl<R: Plan, B: Plan> Plan for Composed<R, B> {
    fn steps(&self) -> u32 {
        self.reduce.steps() + self.bcast.steps()
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        self.reduce.scratch(known).max(self.bcast.scratch(known))
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        // In place the input is in `Out`; so is what rank 0 broadcasts.
        let from_output = |part: Part| part.moved(Buf::In, Buf::Out, 0);
        let Some(after) = i.checked_sub(self.reduce.steps()) else {
            return renamed(&self.reduce, i, known, acts, |act| match self.in_place {
                true => act.with_parts(from_output),
                false => act,
            });
        };
        let needs = renamed(&self.bcast, after, known, acts, |act| {
            act.with_parts(from_output)
        });
        Some(i - after + needs?)
    }
}
