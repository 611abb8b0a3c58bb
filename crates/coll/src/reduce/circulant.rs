//! Reduction in blocks over the circulant graph: `n - 1 + ceil(log2 p)` rounds for `n` blocks, the
//! least there is, for every number of ranks.
//!
//! It is the [broadcast](crate::bcast::BcastCirculant) with time reversed: a rank receives partial sums
//! where it would have sent, and sends a block, once its sum is complete, where it would have
//! received it. Partial sums of far ranks meet in no order: the operation must commute.
//!
//! The first contribution to a block comes where the sum is kept, and the input is reduced into it;
//! a block without any is sent from the input. So nothing is copied.

use crate::call::{Call, Parameters};
use crate::circulant::Pipeline;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs, Side, TAGS};

/// One rank's plan for a reduction over the circulant graph. Two steps a round: exchange, and merge
/// what came; one more, which copies, for a rank alone.
///
/// It holds its [`Schedule`](crate::circulant::Schedule), and so is larger than other plans: about
/// 100 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReduceCirculant {
    pipeline: Pipeline,
    /// Whether this is the root with its input in `Out`.
    in_place: bool,
}

impl ReduceCirculant {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let pipeline = Pipeline::of(call, parameters);
        ReduceCirculant {
            pipeline,
            in_place: call.in_place && pipeline.is_root(),
        }
    }

    /// Elements of the vector.
    pub(super) const fn count(&self) -> u64 {
        self.pipeline.count()
    }

    /// The round of the broadcast that step `i` reverses.
    fn round(&self, i: u32) -> u32 {
        self.pipeline.rounds() - 1 - i / 2
    }

    /// The buffer that keeps the sums.
    fn sums(&self) -> Buf {
        if self.pipeline.is_root() {
            Buf::Out
        } else {
            Buf::Scratch
        }
    }

    /// Whether the sum of the block is not yet begun before the round's message has come.
    fn is_fresh(&self, round: u32, block: u32) -> bool {
        !self.in_place && !self.pipeline.goes_after(round, block)
    }

    /// Where a later contribution is received.
    fn room(&self, block: u32) -> Part {
        let first = if self.pipeline.is_root() {
            0
        } else {
            self.pipeline.count()
        };
        Part {
            buf: Buf::Scratch,
            first,
            ..self.pipeline.part(Buf::Scratch, block)
        }
    }

    fn exchange(&self, round: u32, acts: &mut Acts) {
        let tag = round % TAGS;
        let recv = self.pipeline.sent(round).map(|hop| {
            let room = if self.is_fresh(round, hop.block) {
                self.pipeline.part(self.sums(), hop.block)
            } else {
                self.room(hop.block)
            };
            (hop.peer, room)
        });
        let send = self.pipeline.received(round).map(|hop| {
            let home = if self.is_fresh(round, hop.block) {
                Buf::In
            } else {
                Buf::Scratch
            };
            (hop.peer, self.pipeline.part(home, hop.block))
        });
        self.pipeline.exchange(acts, tag, recv, send);
    }

    fn merge(&self, round: u32, acts: &mut Acts) {
        if let Some(hop) = self.pipeline.sent(round) {
            let from = if self.is_fresh(round, hop.block) {
                self.pipeline.part(Buf::In, hop.block)
            } else {
                self.room(hop.block)
            };
            let into = self.pipeline.part(self.sums(), hop.block);
            acts.reduce(from, into, Side::Right);
        }
    }
}

impl Plan for ReduceCirculant {
    fn steps(&self) -> u32 {
        let alone = self.pipeline.rounds() == 0 && self.pipeline.count() > 0;
        2 * self.pipeline.rounds() + u32::from(alone)
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        match self.pipeline.rounds() {
            0 => 0,
            _ if self.pipeline.is_root() => self.pipeline.longest(),
            _ => self.pipeline.count() + self.pipeline.longest(),
        }
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if self.pipeline.rounds() == 0 {
            if !self.in_place {
                let count = self.pipeline.count();
                acts.copy(Part::new(Buf::In, 0, count), Part::new(Buf::Out, 0, count));
            }
        } else if i.is_multiple_of(2) {
            self.exchange(self.round(i), acts);
        } else {
            self.merge(self.round(i), acts);
        }
        Some(i)
    }
}
