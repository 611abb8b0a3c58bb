//! Allreduce multirail: a reduce-scatter of the vector's blocks, one per rank, and then an allgather.
//!
//! Both are Bruck's algorithm between nodes with as many ports as ranks, and inside the nodes. Twice the
//! blocks of all other nodes leave and enter each node, the minimum where each element is reduced once, in
//! the fewest phases for this number of ports. Nodes need not be full. All ranks get the same bits.

use super::{NodeBruck, NodeReduceScatter};
use crate::call::{Call, Parameters};
use crate::plan::{Acts, Plan, PlanInputs};

/// One rank's plan: the steps of the reduce-scatter, then those of the allgather.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MultirailAllreduce {
    scatter: NodeReduceScatter,
    gather: NodeBruck,
    is_empty: bool,
}

impl MultirailAllreduce {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        MultirailAllreduce {
            scatter: NodeReduceScatter::of_vector(call, parameters),
            gather: NodeBruck::of_vector(call, parameters),
            is_empty: call.count == 0,
        }
    }

    /// At most the rounds with one message at a time.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        NodeReduceScatter::rounds(call, parameters) + NodeBruck::rounds(call, parameters)
    }
}

impl Plan for MultirailAllreduce {
    fn steps(&self) -> u32 {
        match self.is_empty {
            true => 0,
            false => self.scatter.steps() + self.gather.steps(),
        }
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        self.scatter.scratch(inputs)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let scattered = self.scatter.steps();
        match i.checked_sub(scattered) {
            None => self.scatter.step(i, inputs, acts),
            Some(i) => Some(scattered + self.gather.step(i, inputs, acts)?),
        }
    }
}
