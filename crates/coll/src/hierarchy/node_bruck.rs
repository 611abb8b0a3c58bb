//! Allgather and allgatherv, node-aware: Bruck's algorithm between nodes with as many ports as a full node
//! has ranks, and inside the nodes.
//!
//! First the ranks of each node exchange their blocks. Then, in each phase, every rank of a node receives all
//! the blocks of another node, each rank from a different one, and the ranks of the node exchange what they
//! received. So a node of `m` ranks has `m + 1` times as many blocks after each phase: `n` nodes take
//! `ceil(log n)` phases to the base `m + 1`, in each of which a rank sends one message to another node; a
//! rank of a last node of `q` ranks sends up to `ceil(m / q)`. Each node receives the blocks of all other
//! nodes once, the minimum, spread over its ranks. Bienz, Gautam and Kharel, "A locality-aware Bruck
//! allgather", 2022 (arXiv 2206.03564); between nodes it is the multiport algorithm of Bruck, Ho, Kipnis,
//! Upfal and Weathersby, 1997.
//!
//! A message carries consecutive blocks around the ring of ranks, so blocks may have any lengths, which all
//! ranks know. Inside a node, blocks that wrap around the end of the node's blocks take two messages.
//!
//! Nodes are filled in blocks; in cyclic placement each rank counts as a node of its own.

use super::node_ports::{BlockRange, HeldBlocks, NodeExchange, NodePorts};
use crate::allgather::BruckExchange;
use crate::blocks::Blocks;
use crate::call::{Call, Parameters};
use crate::digits::Digits;
use crate::eager::{copy, exchange, exchange_runs};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};

/// One rank's plan: the steps inside its node; then for each phase the steps between nodes, which do not
/// depend on each other, and steps inside the node again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeBruck {
    ports: NodePorts,
    blocks: Blocks,
    in_place: bool,
    inside: Digits,
}

impl NodeBruck {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        NodeBruck::with(call, parameters, Blocks::of(call), call.in_place)
    }

    /// The allgather of the blocks that a vector is cut into, at their places in the vector.
    pub(super) fn of_vector(call: &Call, parameters: &Parameters) -> Self {
        let blocks = Blocks::Partition(call.count, call.size);
        NodeBruck::with(call, parameters, blocks, true)
    }

    fn with(call: &Call, parameters: &Parameters, blocks: Blocks, in_place: bool) -> Self {
        let ports = NodePorts::of(call, parameters);
        NodeBruck {
            ports,
            blocks,
            in_place,
            inside: Digits::new(ports.ring().size(), parameters.radix),
        }
    }

    /// At most the rounds with one message at a time; exact with one rank per node.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let ports = NodePorts::of(call, parameters);
        let inside = Digits::new(ports.most_ranks(), parameters.radix);
        ports.rounds(inside.exchanges())
    }

    /// The steps before the first phase.
    fn before(&self) -> u32 {
        let copies = u32::from(!self.in_place);
        self.inside.exchanges().max(copies)
    }

    /// The steps of a phase.
    fn in_phase(&self) -> u32 {
        self.ports.crossings_of_one() + self.inside.exchanges()
    }

    fn run(&self, inputs: &PlanInputs<'_>, run: BlockRange) -> Part {
        (self.blocks).within_outputs(inputs, run.first, self.ports.size(), |of| run.elements(of))
    }

    /// This rank's own block: its final place, and its place at the start.
    fn own(&self, inputs: &PlanInputs<'_>) -> [Part; 2] {
        let belongs = self.blocks.output(inputs, self.ports.rank());
        match self.in_place {
            true => [belongs; 2],
            false => [belongs, Part::new(Buf::In, 0, belongs.len())],
        }
    }

    /// Exchange `i` inside the node, of blocks received in a phase or, before the first phase, of own blocks.
    /// It needs the exchanges of earlier phases of Bruck's algorithm.
    fn share(&self, held: HeldBlocks, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> u32 {
        let ring = self.ports.ring();
        let BruckExchange {
            phase,
            source,
            destination,
            blocks,
        } = BruckExchange::of(ring, self.inside, i);
        let shares = |first| {
            let runs = self.ports.shares(held, first, blocks);
            runs.map(|run| self.run(inputs, run))
        };
        // A rank sends its own block from its place at the start.
        let outgoing = match held {
            HeldBlocks::Own if phase == 0 => [self.own(inputs)[1], Part::EMPTY],
            _ => shares(ring.rank()),
        };
        let [source_rank, destination] = [source, destination].map(|at| self.ports.neighbor(at));
        let recv = (source_rank, shares(source));
        exchange_runs(acts, 0, recv, (destination, outgoing));
        phase
    }

    /// Exchange number `i` between nodes in a phase, if this rank has one.
    fn cross(&self, phase: u32, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        if let Some(NodeExchange {
            source,
            destination,
            incoming,
            outgoing,
        }) = self.ports.crossing(phase, i)
        {
            let (recv, send) = (self.run(inputs, incoming), self.run(inputs, outgoing));
            exchange(acts, 0, (source, recv), (destination, send));
        }
    }
}

impl Plan for NodeBruck {
    fn steps(&self) -> u32 {
        match self.blocks.are_empty() {
            true => 0,
            false => self.before() + self.ports.phases() * self.in_phase(),
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let Some(after) = i.checked_sub(self.before()) else {
            let needs = match self.inside.exchanges() {
                0 => 0,
                _ => self.share(HeldBlocks::Own, i, inputs, acts),
            };
            if i == 0 && !self.in_place {
                let [belongs, own] = self.own(inputs);
                copy(acts, own, belongs);
            }
            return Some(needs);
        };
        let (phase, at) = (after / self.in_phase(), after % self.in_phase());
        Some(match at.checked_sub(self.ports.crossings_of_one()) {
            None => {
                self.cross(phase, at, inputs, acts);
                i - at
            }
            Some(at) => i - at + self.share(HeldBlocks::Received { phase }, at, inputs, acts),
        })
    }
}
