//! Bruck's algorithm between full nodes that have as many ports as ranks: who exchanges which blocks with whom.
//!
//! Before a phase all ranks of a node have the blocks of `w` nodes, from their own on around the circle. In the phase rank
//! `l` gets those that the node `(l + 1) w` above has, and then the ranks of the node tell one another what they got. So a
//! node of `m` ranks has the blocks of `(m + 1) w` nodes after it. Where fewer nodes are left in the last phase, several
//! ranks share the blocks of one. The other way round it is a reduce-scatter.

use super::full_blocks;
use crate::allgather::Exchange;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::digits::Digits;
use crate::placement::Placement;
use crate::split::piece;

/// One rank's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ports {
    place: Placement,
    rank: u32,
    /// The most ranks that share what comes from one place.
    most: u32,
}

/// The blocks of so many ranks, from that of `first` on around the circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) first: u32,
    pub(super) ranks: u32,
}

/// What the ranks of a node tell one another: a run, of which each has a share, the last ones perhaps a smaller one, or
/// none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stock {
    run: Run,
    /// Ranks whose blocks are in what comes from one place.
    each: u32,
    /// How many ranks share that.
    parts: u32,
}

impl Stock {
    /// The blocks before the share of a rank of the node.
    fn before(&self, local: u32) -> u32 {
        let (place, part) = (local / self.parts, local % self.parts);
        let all = self.run.ranks;
        let start = (u64::from(place) * u64::from(self.each)).min(all.into()) as u32;
        start + part_of(self.each.min(all - start), self.parts, part).0
    }
}

/// How many ranks of a node, at most so many, share what comes from one of the places: in the last phase there may be fewer
/// places than ranks.
pub(crate) fn sharers(most: u32, ranks: u32, places: u32) -> u32 {
    most.clamp(1, ranks / places)
}

/// A part of so many blocks: how many are before it, and in it.
fn part_of(blocks: u32, parts: u32, part: u32) -> (u32, u32) {
    let (first, count) = piece(0, blocks.into(), parts, part);
    (first as u32, count as u32)
}

/// One rank's exchange with other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crossing {
    pub(super) source: u32,
    pub(super) destination: u32,
    pub(super) incoming: Run,
    pub(super) outgoing: Run,
}

impl Ports {
    /// On full nodes that are filled one after another; else each rank is a node of its own.
    pub(super) fn of(call: &Call, parameters: &Parameters) -> Self {
        Ports {
            place: full_blocks(call, parameters),
            rank: call.rank,
            most: parameters.blocks,
        }
    }

    /// All ranks.
    pub(super) const fn size(&self) -> u32 {
        self.place.size()
    }

    /// This rank among those of its node.
    pub(super) const fn circle(&self) -> Circle {
        Circle::new(self.place.local(self.rank), self.place.per_node())
    }

    /// The rank of that number on this rank's node.
    pub(super) const fn neighbor(&self, local: u32) -> u32 {
        self.place.rank(self.place.node(self.rank), local)
    }

    /// The exchanges between nodes.
    fn digits(&self) -> Digits {
        let ports = self.place.per_node();
        Digits::new(self.place.nodes(), ports.saturating_add(1))
    }

    /// How many phases there are.
    pub(super) fn phases(&self) -> u32 {
        self.digits().phases()
    }

    /// The most rounds with one message at a time, of which ranks have so many exchanges inside before the first phase
    /// and after each. One that goes around the end of what they tell one another is two messages.
    pub(super) fn rounds(&self, inside: u32) -> u64 {
        let (inside, phases) = (2 * u64::from(inside), u64::from(self.phases()));
        inside + phases * (1 + inside)
    }

    /// The blocks of some nodes.
    const fn nodes(&self, first: u32, nodes: u32) -> Run {
        Run {
            first: self.place.rank(first, 0),
            ranks: nodes * self.place.per_node(),
        }
    }

    /// This rank's node among all.
    const fn node(&self) -> Circle {
        Circle::new(self.place.node(self.rank), self.place.nodes())
    }

    /// What the ranks of this rank's node have at the start, a block each.
    pub(super) const fn own(&self) -> Stock {
        Stock {
            run: self.nodes(self.node().rank(), 1),
            each: 1,
            parts: 1,
        }
    }

    /// What they have got between the nodes in a phase.
    pub(super) fn got(&self, phase: u32) -> Stock {
        let had = self.digits().weight(phase);
        let most = u64::from(had) * u64::from(self.place.per_node());
        let got = most.min(u64::from(self.place.nodes() - had)) as u32;
        Stock {
            run: self.nodes(self.node().above(had), got),
            each: had * self.place.per_node(),
            parts: self.parts(phase),
        }
    }

    /// What all ranks of the node have before a phase.
    pub(super) fn had(&self, phase: u32) -> Run {
        self.nodes(self.node().rank(), self.digits().weight(phase))
    }

    /// How many ranks share what comes from one place in a phase.
    fn parts(&self, phase: u32) -> u32 {
        sharers(
            self.most,
            self.place.per_node(),
            self.digits().values(phase),
        )
    }

    /// This rank's exchange in a phase; in the last one not all have one.
    pub(super) fn crossing(&self, phase: u32) -> Option<Crossing> {
        let (digits, local) = (self.digits(), self.place.local(self.rank));
        let (parts, ports) = (self.parts(phase), digits.radix() - 1);
        let (place, part) = (local / parts, local % parts);
        if place >= digits.values(phase) {
            return None;
        }
        let exchange = Exchange::of(self.node(), digits, phase * ports + place);
        let rank = |node| self.place.rank(node, local);
        let run = |node| {
            let all = self.nodes(node, exchange.blocks);
            let (before, ranks) = part_of(all.ranks, parts, part);
            let first = Circle::new(all.first, self.size()).above(before);
            Run { first, ranks }
        };
        Some(Crossing {
            source: rank(exchange.source),
            destination: rank(exchange.destination),
            incoming: run(exchange.source),
            outgoing: run(self.node().rank()),
        })
    }

    /// The shares of some ranks of the node, from that of number `first` on around them: two runs where that goes around
    /// the end.
    pub(super) fn shares(&self, stock: Stock, first: u32, ranks: u32) -> [Run; 2] {
        let to_end = ranks.min(self.place.per_node() - first);
        [(first, to_end), (0, ranks - to_end)].map(|(first, ranks)| {
            let (start, end) = (stock.before(first), stock.before(first + ranks));
            let circle = Circle::new(stock.run.first, self.size());
            Run {
                first: circle.above(start),
                ranks: end - start,
            }
        })
    }
}
