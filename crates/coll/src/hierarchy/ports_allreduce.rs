//! Allreduce through the ports of nodes: a reduce-scatter of the vector's blocks, one for each rank, and an allgather.
//!
//! Both are Bruck's algorithm between nodes that have as many ports as ranks, and inside them. Out of each node and into
//! it go twice the blocks of all other nodes, the least there is where each element is reduced once, in as few phases as there
//! can be with so many ports. Nodes need not be full. Every element is reduced once for all, so all ranks get the same bits.

use super::{NodeBruck, NodeReduceScatter};
use crate::catalog::{Call, Parameters};
use crate::plan::{Acts, Known, Plan};

/// One rank's part: the steps of the reduce-scatter, then those of the allgather.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortsAllreduce {
    scatter: NodeReduceScatter,
    gather: NodeBruck,
    is_empty: bool,
}

impl PortsAllreduce {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        PortsAllreduce {
            scatter: NodeReduceScatter::of_vector(call, parameters),
            gather: NodeBruck::of_vector(call, parameters),
            is_empty: call.count == 0,
        }
    }

    /// The most rounds with one message at a time.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        NodeReduceScatter::rounds(call, parameters) + NodeBruck::rounds(call, parameters)
    }
}

impl Plan for PortsAllreduce {
    fn steps(&self) -> u32 {
        match self.is_empty {
            true => 0,
            false => self.scatter.steps() + self.gather.steps(),
        }
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        self.scatter.scratch(known)
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let scattered = self.scatter.steps();
        match i.checked_sub(scattered) {
            None => self.scatter.step(i, known, acts),
            Some(i) => Some(scattered + self.gather.step(i, known, acts)?),
        }
    }
}
