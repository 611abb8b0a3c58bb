//! Reduce_scatter and reduce_scatter_block, node-aware: Bruck's algorithm reversed, between nodes with as
//! many ports as a full node has ranks, and inside the nodes.
//!
//! It is the node-aware allgather in reverse. In each phase the ranks of a node reduce among themselves, a
//! share each, the blocks for other nodes; every rank sends its share to one of these (on a last node of few
//! ranks to several) and reduces what it receives into the rest, of which the node then has an `(m + 1)`-th.
//! In the end the ranks reduce the blocks of their node among themselves. One sum per block of another node
//! leaves each node, the minimum, in `ceil(log n)` messages of a rank to the base `m + 1`, for `n` full nodes
//! of `m` ranks.
//!
//! A message carries consecutive blocks around the vector, so blocks may have any lengths. Inside a node,
//! blocks that wrap around the end of what the ranks reduce take two messages.
//!
//! Nodes are filled in blocks; in cyclic placement each rank counts as a node of its own. A block is reduced
//! in the order of the exchanges, so the operation must commute.

mod sums;

use self::sums::sums;
use super::node_ports::{BlockRange, HeldBlocks, NodePorts};
use crate::allgather;
use crate::blocks::{Division, RotatedBlocks};
use crate::call::{Call, Collective, Parameters};
use crate::circulant::ScatterResult;
use crate::digits::Digits;
use crate::eager::{EagerLimit, copy};
use crate::partition::run;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs, Side};
use crate::rank_ring::RankRing;
use core::ops::Range;

/// One rank's plan. For each phase, from the last one on: the exchanges inside its node, by the phases of
/// these, and then those between the nodes; after them those inside again, and one step that moves the result
/// to its place. Exchanges of a phase do not depend on each other. Each is a step; a step for each that
/// reduces what it brought follows.
///
/// # Cost
///
/// Where the caller gives the blocks, a step that sends sums over the lengths of those before the one sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeReduceScatter {
    ports: NodePorts,
    /// The vector from the first block of this rank's node on.
    view: RotatedBlocks,
    inside: Digits,
    in_place: bool,
    /// Where the own block goes; sums are in scratch in either case.
    result: ScatterResult,
    short: EagerLimit,
}

/// The exchanges of one phase, inside the node or between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Among { held: HeldBlocks, digit: u32 },
    Across { phase: u32 },
}

/// One exchange of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GroupExchange {
    group: Group,
    number: u32,
}

/// The blocks of an exchange.
struct Exchange {
    source: u32,
    destination: u32,
    sent: [BlockRange; 2],
    received: [BlockRange; 2],
}

/// What a step does.
enum StepKind {
    Exchange(GroupExchange),
    Merge(GroupExchange),
    Deliver,
}

impl NodeReduceScatter {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let blocks = match call.collective {
            Collective::ReduceScatter => Division::Sends(call.count),
            _ => Division::Equal(call.count),
        };
        NodeReduceScatter::with(call, parameters, blocks, ScatterResult::Start)
    }

    /// For a vector that is cut into blocks, each of which ends at its place in the vector.
    pub(super) fn of_vector(call: &Call, parameters: &Parameters) -> Self {
        NodeReduceScatter::with(
            call,
            parameters,
            Division::Partition(call.count),
            ScatterResult::Home,
        )
    }

    fn with(call: &Call, parameters: &Parameters, blocks: Division, result: ScatterResult) -> Self {
        let ports = NodePorts::of(call, parameters);
        NodeReduceScatter {
            ports,
            view: RotatedBlocks {
                ring: RankRing::new(ports.neighbor(0), call.size),
                blocks,
            },
            inside: Digits::new(ports.ring().size(), parameters.radix),
            in_place: call.in_place,
            result,
            short: EagerLimit::of(call),
        }
    }

    /// At most the rounds with one message at a time; exact with one rank per node.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let ports = NodePorts::of(call, parameters);
        let inside = Digits::new(ports.most_ranks(), parameters.radix);
        ports.rounds(inside.exchanges())
    }

    /// Elements of all blocks.
    pub(super) fn count(&self) -> u64 {
        self.view.total()
    }

    /// The blocks of a range of ranks in a vector that is cut: the first element, and their number.
    pub(super) fn blocks(&self, ranks: &Range<u32>) -> (u64, u64) {
        run(self.count(), self.ports.size(), ranks.start, ranks.end)
    }

    /// The number of steps inside the node, at the end or in a phase.
    const fn steps_inside(&self) -> u32 {
        2 * self.inside.exchanges()
    }

    /// The steps of a phase.
    fn in_phase(&self) -> u32 {
        self.steps_inside() + 2 * self.ports.crossings_of_one()
    }

    /// What step `i` does, and the earlier steps that it needs.
    fn doing(&self, i: u32) -> (StepKind, u32) {
        let phases = self.ports.phases();
        let (held, step) = match i.checked_sub(phases * self.in_phase()) {
            Some(step) if step == self.steps_inside() => return (StepKind::Deliver, i),
            Some(step) => (HeldBlocks::Own, step),
            None => {
                let phase = phases - 1 - i / self.in_phase();
                let step = i % self.in_phase();
                if let Some(step) = step.checked_sub(self.steps_inside()) {
                    let crossings = self.ports.crossings_of_one();
                    return StepKind::of(Group::Across { phase }, crossings, step, i);
                }
                (HeldBlocks::Received { phase }, step)
            }
        };
        // The last digit comes first.
        let mut after = self.inside.exchanges();
        let mut digit = self.inside.phases();
        while step >= self.steps_inside() - 2 * after {
            digit -= 1;
            after -= self.inside.values(digit);
        }
        let values = self.inside.values(digit);
        let step = step + 2 * (after + values) - self.steps_inside();
        StepKind::of(Group::Among { held, digit }, values, step, i)
    }

    /// The shares of local ranks `from` to `to`, counted from this rank.
    fn shares(&self, held: HeldBlocks, from: u32, to: u32) -> [BlockRange; 2] {
        let first = self.ports.ring().above(from);
        self.ports.shares(held, first, to - from)
    }

    /// An exchange, if there is one. Inside the node it sends sums of other ranks' shares and receives those
    /// of this rank's and the following ones; between nodes it is the exchange of the allgather, reversed.
    fn exchanged(&self, GroupExchange { group, number }: GroupExchange) -> Option<Exchange> {
        let ring = self.ports.ring();
        match group {
            Group::Among { held, digit } => {
                let first = digit * (self.inside.radix() - 1);
                let reversed = allgather::BruckExchange::of(ring, self.inside, first + number);
                Some(Exchange {
                    source: self.ports.neighbor(reversed.destination),
                    destination: self.ports.neighbor(reversed.source),
                    sent: self.ports.shares(held, reversed.source, reversed.blocks),
                    received: self.ports.shares(held, ring.rank(), reversed.blocks),
                })
            }
            Group::Across { phase } => {
                let reversed = self.ports.crossing(phase, number)?;
                Some(Exchange {
                    source: reversed.destination,
                    destination: reversed.source,
                    sent: [reversed.incoming, BlockRange::EMPTY],
                    received: [reversed.outgoing, BlockRange::EMPTY],
                })
            }
        }
    }

    /// The blocks that this rank keeps in a phase.
    fn kept(&self, group: Group) -> [BlockRange; 2] {
        match group {
            Group::Among { held, digit } => self.shares(held, 0, self.inside.weight(digit)),
            Group::Across { phase } => [self.ports.had(phase), BlockRange::EMPTY],
        }
    }

    /// Whether this rank sends unreduced input: a rank alone on its node does before the first exchanges
    /// between nodes.
    fn sends_input(&self, group: Group, sent: &Range<u64>, inputs: &PlanInputs<'_>) -> bool {
        let reduces_first = match group {
            Group::Among { .. } => false,
            Group::Across { .. } => self.ports.ring().size() > 1,
        };
        !reduces_first && self.are_input(group, sent, inputs)
    }

    /// The elements of a range of blocks, counted from the first block of this rank's node.
    fn elements(&self, run: BlockRange, inputs: &PlanInputs<'_>) -> Range<u64> {
        let before = RankRing::new(run.first, self.ports.size()).below(self.view.ring.rank());
        let of =
            |ranks: Range<u32>| (self.view).len(before + ranks.start, before + ranks.end, inputs);
        let within = run.elements(of);
        if within.is_empty() {
            return 0..0;
        }
        let start = self.view.len(0, before, inputs);
        start + within.start..start + within.end
    }

    /// The elements of two ranges of blocks.
    fn elements_of(&self, runs: [BlockRange; 2], inputs: &PlanInputs<'_>) -> [Range<u64>; 2] {
        runs.map(|run| self.elements(run, inputs))
    }

    /// Where elements are in the input.
    fn input(&self, elements: &Range<u64>, inputs: &PlanInputs<'_>) -> Part {
        let buf = if self.in_place { Buf::Out } else { Buf::In };
        let count = elements.end - elements.start;
        (self.view.natural(buf, 0, 0, inputs)).further(elements.start, count)
    }

    fn exchange(&self, index: GroupExchange, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        let mut merged = [0..0, 0..0];
        if let Some(exchange) = self.exchanged(index) {
            merged = self.elements_of(exchange.received, inputs);
            let sent = self.elements_of(exchange.sent, inputs);
            let sent = sent.map(|sent| match self.sends_input(index.group, &sent, inputs) {
                true => self.input(&sent, inputs),
                false => sums(&sent),
            });
            let is_first = index.number < self.first_ones(index.group, inputs);
            let received = self.landing(index, is_first, &merged, inputs);
            let (recv, send) = ((exchange.source, received), (exchange.destination, sent));
            self.short.exchange_runs(acts, 0, recv, send);
        }
        // Of several phases between nodes only the first one keeps input.
        let keeps_input = match index.group {
            Group::Across { phase } => phase > 0 && phase + 1 == self.ports.phases(),
            Group::Among { .. } => false,
        };
        if index.number == 0 && keeps_input {
            for kept in self.kept(index.group) {
                self.complete(&self.elements(kept, inputs), &merged, inputs, acts);
            }
        }
    }

    fn merge(&self, index: GroupExchange, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        let next = match index.number {
            0 => self.next_to(index.group, inputs),
            _ => None,
        };
        if let Some(next) = next {
            self.prepare(next, inputs, acts);
        }
        let Some(Exchange { received, .. }) = self.exchanged(index) else {
            return;
        };
        let received = self.elements_of(received, inputs);
        let from = match index.number < self.first_ones(index.group, inputs) {
            true => [0, 1].map(|n| self.input(&received[n], inputs)),
            false => self.landing(index, false, &received, inputs),
        };
        for (from, received) in from.into_iter().zip(&received) {
            if !from.is_empty() {
                acts.reduce(from, sums(received), Side::Right);
            }
        }
    }

    /// Whether this rank is alone.
    fn is_alone(&self) -> bool {
        self.ports.size() == 1
    }

    /// Moves the own block to its place.
    fn deliver(&self, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        let own = self.elements(BlockRange::new(self.ports.rank(), 1), inputs);
        let from = match self.is_alone() {
            true if self.in_place => return,
            true => self.input(&own, inputs),
            false => sums(&own),
        };
        let first = match self.result {
            ScatterResult::Home => self.input(&own, inputs).first,
            ScatterResult::Start => 0,
        };
        copy(acts, from, Part::new(Buf::Out, first, from.len()));
    }
}

impl StepKind {
    /// What step `i` does, step number `step` among the exchanges and merges of a phase, and the steps that
    /// it needs.
    fn of(group: Group, exchanges: u32, step: u32, i: u32) -> (Self, u32) {
        match step.checked_sub(exchanges) {
            None => {
                let index = GroupExchange {
                    group,
                    number: step,
                };
                (StepKind::Exchange(index), i - step)
            }
            Some(number) => (StepKind::Merge(GroupExchange { group, number }), i),
        }
    }
}

impl Plan for NodeReduceScatter {
    fn steps(&self) -> u32 {
        self.ports.phases() * self.in_phase() + self.steps_inside() + 1
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        if self.is_alone() {
            return 0;
        }
        let digits = |held| {
            (0..self.inside.phases())
                .map(move |digit| (Group::Among { held, digit }, self.inside.values(digit)))
        };
        let phases = (0..self.ports.phases()).flat_map(|phase| {
            let across = (Group::Across { phase }, self.ports.crossings(phase));
            digits(HeldBlocks::Received { phase }).chain([across])
        });
        // Of the first exchanges one needs no temporary memory.
        let rooms = phases
            .chain(digits(HeldBlocks::Own))
            .map(
                |(group, exchanges)| match exchanges <= self.first_ones(group, inputs) {
                    true => 0,
                    false => u64::from(exchanges).saturating_mul(self.room(group, inputs)),
                },
            );
        self.view.total().saturating_add(rooms.max().unwrap_or(0))
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (doing, needs) = self.doing(i);
        match doing {
            StepKind::Exchange(index) => self.exchange(index, inputs, acts),
            StepKind::Merge(index) => self.merge(index, inputs, acts),
            StepKind::Deliver => self.deliver(inputs, acts),
        }
        Some(needs)
    }
}
