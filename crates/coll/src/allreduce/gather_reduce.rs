//! Allreduce by an allgather: every rank gets every rank's vector and reduces them all by itself.
//!
//! `ceil(log2 p)` rounds, the minimum, for every `p` and every operation: each rank combines
//! from left to right, so operations need not commute, and all ranks get the same bits. It sends
//! `p - 1` vectors and reduces as many, and holds all of them: for few ranks and small vectors.

use crate::blocks::{Division, RotatedBlocks};
use crate::call::{Call, Parameters};
use crate::circulant::{CirculantGather, OwnBlock};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs, Side};
use crate::rank_ring::RankRing;

/// The largest group whose steps can be counted.
pub(crate) const MAX_SIZE: u32 = 1 << 30;

/// One rank's plan for allreduce by an allgather: the steps of that, then one for each vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GatherReduce {
    gather: CirculantGather,
    count: u64,
}

impl GatherReduce {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        let own = if call.in_place { Buf::Out } else { Buf::In };
        GatherReduce {
            gather: CirculantGather {
                view: RotatedBlocks {
                    ring: RankRing::of(call),
                    blocks: Division::Equal(call.count),
                },
                own: OwnBlock::Apart(own),
            },
            count: call.count,
        }
    }

    const fn size(&self) -> u32 {
        self.gather.view.ring.size()
    }
}

impl Plan for GatherReduce {
    fn steps(&self) -> u32 {
        match self.count {
            0 => 0,
            _ => self.gather.steps() + self.size(),
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        self.count.saturating_mul(self.size().into())
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let result = Part::new(Buf::Out, 0, self.count);
        let vector = |rank| Part::new(Buf::Scratch, u64::from(rank) * self.count, self.count);
        match i.checked_sub(self.gather.steps()) {
            None => self.gather.step(i, inputs, acts),
            Some(0) => acts.copy(vector(0), result),
            Some(rank) => acts.reduce(vector(rank), result, Side::Right),
        }
        Some(i)
    }
}
