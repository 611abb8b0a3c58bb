//! Allgather by Bruck's algorithm twice: between the nodes, each of which has as many ports as ranks, and inside them.
//!
//! First the ranks of each node tell one another their blocks. Then, in each phase, every rank of a node gets from
//! another node all the blocks that this one has, each from a node farther above, and the ranks of a node tell one
//! another what they got. So a node of `m` ranks has `m + 1` times as many blocks after each phase: of `n` nodes
//! there are `ceil(log n)` phases to the base `m + 1`, in each of which a rank sends one message to another node. Into
//! each node go `p - m` blocks, the least there is, and all its ranks carry them. Bienz, Gautam and Kharel, "A
//! locality-aware Bruck allgather", 2022 (arXiv 2206.03564); between nodes it is the algorithm of Bruck, Ho, Kipnis,
//! Upfal and Weathersby for several ports, 1997.
//!
//! All that a message carries follows one another, around the circle of ranks: blocks may have any lengths, which all
//! ranks know. Where what one rank of a node tells another goes around the end of that, it is two messages.
//!
//! On full nodes that are filled one after another; else each rank is a node of its own.

use super::full_blocks;
use crate::allgather::Exchange;
use crate::blocks::Blocks;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::digits::Digits;
use crate::placement::Placement;
use crate::plan::{Acts, Buf, Known, Part, Plan};
use crate::window::{copy, exchange};

/// One rank's part. The steps inside its node; then for each phase one between the nodes, and those inside again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeBruck {
    place: Placement,
    rank: u32,
    blocks: Blocks,
    in_place: bool,
    inside: Digits,
}

/// What the ranks of a node tell one another: consecutive blocks of the group, around the circle of its ranks. Each has
/// a share of them, the last ones perhaps a smaller one, or none.
#[derive(Clone, Copy)]
struct Stock {
    first: u32,
    share: u32,
    all: u32,
}

impl NodeBruck {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = full_blocks(call, parameters);
        NodeBruck {
            place,
            rank: call.rank,
            blocks: Blocks::of(call),
            in_place: call.in_place,
            inside: Digits::new(place.per_node(), parameters.radix),
        }
    }

    /// The most rounds with one message at a time; exact with one rank a node.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let place = full_blocks(call, parameters);
        let inside = 2 * u64::from(Digits::new(place.per_node(), parameters.radix).exchanges());
        inside + u64::from(between(place).phases()) * (1 + inside)
    }

    /// The steps before the first phase.
    fn before(&self) -> u32 {
        let copies = u32::from(!self.in_place);
        self.inside.exchanges().max(copies)
    }

    /// The steps of a phase.
    const fn in_phase(&self) -> u32 {
        1 + self.inside.exchanges()
    }

    /// Blocks of this many ranks, from the block of `first` on.
    fn run(&self, known: &Known<'_>, first: u32, ranks: u32) -> Part {
        (self.blocks).outputs(known, first, ranks, self.place.size())
    }

    /// This rank's own block where it belongs, and where it is at the start.
    fn own(&self, known: &Known<'_>) -> [Part; 2] {
        let belongs = self.blocks.output(known, self.rank);
        match self.in_place {
            true => [belongs; 2],
            false => [belongs, Part::new(Buf::In, 0, belongs.len())],
        }
    }

    /// The shares of some ranks of the node, from number `first` on around them.
    fn shares(&self, known: &Known<'_>, stock: Stock, first: u32, ranks: u32) -> [Part; 2] {
        let to_end = ranks.min(self.place.per_node() - first);
        [(first, to_end), (0, ranks - to_end)].map(|(first, ranks)| {
            let before = |ranks: u32| {
                let all = u64::from(ranks) * u64::from(stock.share);
                all.min(stock.all.into()) as u32
            };
            let (start, end) = (before(first), before(first + ranks));
            let circle = Circle::new(stock.first, self.place.size());
            self.run(known, circle.above(start), end - start)
        })
    }

    /// Exchange `i` inside the node; it needs the exchanges of earlier phases.
    fn tell(&self, stock: Stock, i: u32, known: &Known<'_>, acts: &mut Acts) -> u32 {
        let circle = Circle::new(self.place.local(self.rank), self.place.per_node());
        let Exchange {
            phase,
            source,
            destination,
            blocks,
        } = Exchange::of(circle, self.inside, i);
        let incoming = self.shares(known, stock, source, blocks);
        let outgoing = self.shares(known, stock, circle.rank(), blocks);
        // Its own block a rank sends from where it is.
        let outgoing = match stock.share {
            1 if phase == 0 => [self.own(known)[1], Part::EMPTY],
            _ => outgoing,
        };
        let node = self.place.node(self.rank);
        let rank = |local| self.place.rank(node, local);
        for (incoming, outgoing) in incoming.into_iter().zip(outgoing) {
            let (recv, send) = ((rank(source), incoming), (rank(destination), outgoing));
            exchange(acts, 0, recv, send);
        }
        phase
    }

    /// This rank's exchange between the nodes in a phase, if it has one.
    fn cross(&self, phase: u32, known: &Known<'_>, acts: &mut Acts) {
        let (digits, local) = (between(self.place), self.place.local(self.rank));
        if local >= digits.values(phase) {
            return;
        }
        let circle = Circle::new(self.place.node(self.rank), self.place.nodes());
        let i = phase * (digits.radix() - 1) + local;
        let Exchange {
            source,
            destination,
            blocks,
            ..
        } = Exchange::of(circle, digits, i);
        let run = |node| {
            let ranks = blocks * self.place.per_node();
            self.run(known, self.place.rank(node, 0), ranks)
        };
        let rank = |node| self.place.rank(node, local);
        let (recv, send) = (
            (rank(source), run(source)),
            (rank(destination), run(circle.rank())),
        );
        exchange(acts, 0, recv, send);
    }

    /// What the ranks of the node have got in a phase.
    fn got(&self, phase: u32) -> Stock {
        let (nodes, ranks) = (self.place.nodes(), self.place.per_node());
        let had = between(self.place).weight(phase);
        let circle = Circle::new(self.place.node(self.rank), nodes);
        let most = u64::from(had) * u64::from(ranks);
        let got = most.min(u64::from(nodes - had)) as u32;
        Stock {
            first: self.place.rank(circle.above(had), 0),
            share: had * ranks,
            all: got * ranks,
        }
    }
}

/// The exchanges between nodes, whose ranks are their ports.
fn between(place: Placement) -> Digits {
    Digits::new(place.nodes(), place.per_node().saturating_add(1))
}

impl Plan for NodeBruck {
    fn steps(&self) -> u32 {
        match self.blocks.are_empty() {
            true => 0,
            false => self.before() + between(self.place).phases() * self.in_phase(),
        }
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let Some(after) = i.checked_sub(self.before()) else {
            let ranks = self.place.per_node();
            let own_node = Stock {
                first: self.place.rank(self.place.node(self.rank), 0),
                share: 1,
                all: ranks,
            };
            let needs = match ranks {
                1 => 0,
                _ => self.tell(own_node, i, known, acts),
            };
            if i == 0 && !self.in_place {
                let [belongs, own] = self.own(known);
                copy(acts, own, belongs);
            }
            return Some(needs);
        };
        let (phase, turn) = (after / self.in_phase(), after % self.in_phase());
        Some(match turn.checked_sub(1) {
            None => {
                self.cross(phase, known, acts);
                i
            }
            Some(turn) => i - turn + self.tell(self.got(phase), turn, known, acts),
        })
    }
}
