//! Allreduce over the circulant graph: reduce-scatter, then allgather. `2 ceil(log2 p)` rounds and
//! `2 (p - 1) / p` vectors sent by each rank, the least volume there is, for every number of ranks.
//!
//! No rank is folded into another where `p` is no power of two. Each block is reduced once, so all
//! ranks get the same bits; it is reduced in the order of the graph, so the operation must commute.
//! Traeff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms", arXiv 2410.14234, 2024.

use crate::blocks::Division;
use crate::call::{Call, Parameters};
use crate::circulant::{CirculantGather, CirculantScatter, OwnBlock, ScatterResult};
use crate::plan::{Acts, Plan, PlanInputs};
use crate::symmetric::AtRank;

/// One rank's plan for allreduce over the circulant graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AllreduceCirculant {
    scatter: AtRank<CirculantScatter>,
    count: u64,
}

impl AllreduceCirculant {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        AllreduceCirculant {
            scatter: CirculantScatter::placed(
                call,
                Division::Partition(call.count),
                ScatterResult::Home,
            ),
            count: call.count,
        }
    }

    fn gather(&self) -> CirculantGather {
        CirculantGather {
            view: self.scatter.symmetric().view(self.scatter.place()),
            own: OwnBlock::Output,
        }
    }
}

impl Plan for AllreduceCirculant {
    fn steps(&self) -> u32 {
        if self.count == 0 {
            0
        } else {
            self.scatter.steps() + self.gather().steps()
        }
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        self.scatter.scratch(inputs)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        match i.checked_sub(self.scatter.steps()) {
            None => self.scatter.step(i, inputs, acts),
            Some(k) => {
                self.gather().step(k, inputs, acts);
                Some(i)
            }
        }
    }
}
