//! Bruck's algorithm between nodes with as many ports as full nodes have ranks: which rank exchanges which
//! blocks with which rank. Allgather and reduce-scatter `node-aware` and the multirail algorithms use it.
//!
//! Before a phase all ranks of a node have the blocks of `w` nodes, from their own on around the ring. In the
//! phase port `l` of the node receives the blocks of the node `(l + 1) w` above, and then the ranks of the
//! node exchange what they received. So a node of `m` ports has the blocks of `(m + 1) w` nodes after it.
//! Where fewer nodes are left in the last phase, several ports share the blocks of one. Reversed, it is a
//! reduce-scatter.
//!
//! Ports are those of the k-port model: a node of `m` ports exchanges `m` messages at a time. A rank of a
//! full node serves one. On a last node with fewer ranks, the ports in use are divided among the ranks as evenly
//! as possible.

use super::one_after_another;
use crate::allgather::BruckExchange;
use crate::call::{Call, Parameters};
use crate::digits::Digits;
use crate::partition::{Partition, piece};
use crate::placement::Placement;
use crate::rank_ring::RankRing;
use core::ops::Range;

/// One rank's position: its node, its local number, and the phases between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodePorts {
    place: Placement,
    /// This rank's node, and its local number.
    node: u32,
    local: u32,
    /// The number of phases between nodes.
    phases: u32,
    /// How many ports share the blocks from one source: in the last phase, and in earlier ones.
    parts: [u32; 2],
}

/// A position among the elements of consecutive blocks: after the blocks of `ranks` ranks, and after the
/// first `part` of `parts` almost equal parts of the blocks of `here` more ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockOffset {
    ranks: u32,
    here: u32,
    parts: u32,
    part: u32,
}

impl BlockOffset {
    /// The position after the blocks of `ranks` ranks.
    const fn behind(ranks: u32) -> Self {
        BlockOffset {
            ranks,
            here: 0,
            parts: 1,
            part: 0,
        }
    }

    /// The elements before the position within the blocks that it divides; `of` counts the elements of some
    /// ranks' blocks.
    fn within(&self, of: &impl Fn(Range<u32>) -> u64) -> u64 {
        match self.part {
            0 => 0,
            part if part == self.parts => of(self.ranks..self.ranks + self.here),
            part => {
                let here = of(self.ranks..self.ranks + self.here);
                piece(0, here, self.parts, part).0
            }
        }
    }
}

/// A range of elements of consecutive blocks around the ring, from the block of rank `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockRange {
    pub(super) first: u32,
    from: BlockOffset,
    to: BlockOffset,
}

impl BlockRange {
    pub(super) const EMPTY: BlockRange = BlockRange::new(0, 0);

    /// The blocks of `ranks` ranks.
    pub(super) const fn new(first: u32, ranks: u32) -> Self {
        BlockRange {
            first,
            from: BlockOffset::behind(0),
            to: BlockOffset::behind(ranks),
        }
    }

    /// Parts `some` of the `parts` parts into which the blocks of `here` ranks are cut.
    const fn cut(first: u32, here: u32, parts: u32, some: Range<u32>) -> Self {
        let from = BlockOffset {
            ranks: 0,
            here,
            parts,
            part: some.start,
        };
        let to = BlockOffset {
            part: some.end,
            ..from
        };
        BlockRange { first, from, to }
    }

    /// The range of elements, counted from the first rank's block on; `of` counts the elements of the blocks
    /// of some ranks, likewise counted from there.
    pub(super) fn elements(&self, of: impl Fn(Range<u32>) -> u64) -> Range<u64> {
        let (from, to) = (self.from, self.to);
        if from == to {
            return 0..0;
        }
        let before = of(0..from.ranks);
        let end = before + of(from.ranks..to.ranks) + to.within(&of);
        before + from.within(&of)..end
    }
}

/// What the ranks of a node exchange inside it: their own blocks, or blocks received in a phase. Each rank
/// has a share, except perhaps the last ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeldBlocks {
    Own,
    Received { phase: u32 },
}

/// How many ports of a node, at most `most`, share the blocks from one of `places` sources; in the last phase
/// there may be fewer sources than ports. If more ports are in use than the last node has ranks, the number
/// is such that, if possible, each of its ranks serves as many.
pub(crate) fn sharers(most: u32, place: Placement, places: u32) -> u32 {
    let (ports, last) = (place.ranks_on(0), place.on_last_node());
    let used = places * most.clamp(1, ports / places);
    let even = if used < last {
        used
    } else {
        used - used % last
    };
    (even / places).max(1)
}

/// The digits of the exchanges between nodes.
const fn exchanges_of(place: Placement) -> Digits {
    Digits::new(place.nodes(), place.ranks_on(0).saturating_add(1))
}

/// One exchange with another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeExchange {
    pub(super) source: u32,
    pub(super) destination: u32,
    pub(super) incoming: BlockRange,
    pub(super) outgoing: BlockRange,
}

impl NodePorts {
    /// In block placement; in cyclic placement each rank counts as a node of its own.
    pub(super) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = one_after_another(call, parameters);
        let digits = exchanges_of(place);
        let phases = digits.phases();
        let parts = |phase| sharers(parameters.blocks, place, digits.values(phase));
        NodePorts {
            place,
            node: place.node(call.rank),
            local: place.local(call.rank),
            phases,
            parts: [1, 2].map(|before| phases.checked_sub(before).map_or(1, parts)),
        }
    }

    /// The number of ranks.
    pub(super) const fn size(&self) -> u32 {
        self.place.size()
    }

    /// This rank.
    pub(super) const fn rank(&self) -> u32 {
        self.place.rank(self.node, self.local)
    }

    /// This rank's node in the ring of nodes.
    const fn node(&self) -> RankRing {
        RankRing::new(self.node, self.place.nodes())
    }

    /// This rank in the ring of its node's ranks.
    pub(super) const fn ring(&self) -> RankRing {
        RankRing::new(self.local, self.place.ranks_on(self.node))
    }

    /// The digits of the exchanges between nodes.
    const fn digits(&self) -> Digits {
        exchanges_of(self.place)
    }

    /// The rank with this local number on this rank's node.
    pub(super) const fn neighbor(&self, local: u32) -> u32 {
        self.place.rank(self.node, local)
    }

    /// The number of ranks on a full node.
    pub(super) const fn most_ranks(&self) -> u32 {
        self.place.ranks_on(0)
    }

    /// The number of phases.
    pub(super) const fn phases(&self) -> u32 {
        self.phases
    }

    /// At most the rounds with one message at a time, with `inside` exchanges inside the node before the
    /// first phase and after each phase. An exchange that wraps around the end of the node's blocks takes two
    /// messages.
    pub(super) fn rounds(&self, inside: u32) -> u64 {
        let on_last_node = self.place.on_last_node();
        let crossings = |phase| u64::from(self.used(phase).div_ceil(on_last_node));
        let inside = 2 * u64::from(inside);
        inside
            + (0..self.phases())
                .map(|phase| crossings(phase) + inside)
                .sum::<u64>()
    }

    /// The number of ranks on `nodes` nodes from `first` on around the ring.
    const fn ranks(&self, first: u32, nodes: u32) -> u32 {
        let last = RankRing::new(self.place.nodes() - 1, self.place.nodes());
        let full = self.most_ranks();
        let missing = match last.below(first) < nodes {
            true => full - self.place.on_last_node(),
            false => 0,
        };
        nodes * full - missing
    }

    /// The blocks that all ranks of the node have before a phase.
    pub(super) fn had(&self, phase: u32) -> BlockRange {
        let ranks = self.ranks(self.node, self.digits().weight(phase));
        BlockRange::new(self.neighbor(0), ranks)
    }

    /// How many ports share the blocks from one source in a phase.
    pub(super) const fn parts(&self, phase: u32) -> u32 {
        let [last, earlier] = self.parts;
        if phase + 1 == self.phases {
            last
        } else {
            earlier
        }
    }

    /// How many ports are in use in a phase; fewer than all only in the last.
    fn used(&self, phase: u32) -> u32 {
        self.digits().values(phase) * self.parts(phase)
    }

    /// The number of ports served by ranks below local number `local` on this rank's node.
    fn before(&self, phase: u32, local: u32) -> u32 {
        piece(0, self.used(phase).into(), self.ring().size(), local).0 as u32
    }

    /// The ports that this rank serves in a phase.
    fn ports_of_rank(&self, phase: u32) -> Range<u32> {
        let local = self.ring().rank();
        self.before(phase, local)..self.before(phase, local + 1)
    }

    /// The number of exchanges of this rank in a phase.
    pub(super) fn crossings(&self, phase: u32) -> u32 {
        self.ports_of_rank(phase).len() as u32
    }

    /// The rank that serves a port of a node.
    fn server(&self, phase: u32, node: u32, port: u32) -> u32 {
        let ranks = self.place.ranks_on(node);
        let local = Partition::new(self.used(phase).into(), ranks).index(port.into());
        self.place.rank(node, local)
    }

    /// The most exchanges of a rank of this node in a phase; the first phase uses as many ports as any.
    pub(super) fn crossings_of_one(&self) -> u32 {
        match self.phases() {
            0 => 0,
            _ => self.used(0).div_ceil(self.ring().size()),
        }
    }

    /// Exchange number `i` of this rank in a phase, each with a different rank; in the last phase not all
    /// ranks have one.
    pub(super) fn crossing(&self, phase: u32, i: u32) -> Option<NodeExchange> {
        let (digits, parts, node) = (self.digits(), self.parts(phase), self.node());
        let port = self.ports_of_rank(phase).nth(i as usize)?;
        let exchange = BruckExchange::of(node, digits, phase * (digits.radix() - 1) + port / parts);
        let of_port = |node| {
            let (first, part) = (self.place.rank(node, 0), port % parts);
            BlockRange::cut(
                first,
                self.ranks(node, exchange.blocks),
                parts,
                part..part + 1,
            )
        };
        Some(NodeExchange {
            source: self.server(phase, exchange.source, port),
            destination: self.server(phase, exchange.destination, port),
            incoming: of_port(exchange.source),
            outgoing: of_port(node.rank()),
        })
    }

    /// In a reduce-scatter of one phase, the part of its node's blocks that this rank receives in its
    /// exchanges.
    pub(super) fn gathered(&self) -> [BlockRange; 2] {
        let (had, parts, own) = (self.had(0), self.parts(0), self.ports_of_rank(0));
        let ports = own.len() as u32;
        let (from, around) = match ports < parts {
            true => (own.start % parts, own.start % parts + ports),
            false => (0, parts),
        };
        [from..around.min(parts), 0..around.saturating_sub(parts)]
            .map(|some| BlockRange::cut(had.first, had.to.ranks, parts, some))
    }

    /// Where the share of the rank with local number `local` begins in the held blocks.
    fn share(&self, held: HeldBlocks, local: u32) -> BlockOffset {
        let HeldBlocks::Received { phase } = held else {
            return BlockOffset::behind(local);
        };
        let (had, parts) = (self.digits().weight(phase), self.parts(phase));
        let port = self.before(phase, local);
        // The nodes whose blocks come through ports of earlier sources, and through this source's ports.
        let (first, left) = (self.node().above(had), self.node().size() - had);
        let earlier = left.min(port / parts * had);
        let here = had.min(left - earlier);
        BlockOffset {
            ranks: self.ranks(first, earlier),
            here: self.ranks(self.node().above(had + earlier), here),
            parts,
            part: port % parts,
        }
    }

    /// The shares of `ranks` ranks of the node from local number `first` on; two ranges where they wrap
    /// around the end.
    pub(super) fn shares(&self, held: HeldBlocks, first: u32, ranks: u32) -> [BlockRange; 2] {
        let start = match held {
            HeldBlocks::Own => self.neighbor(0),
            HeldBlocks::Received { phase } => {
                let had = self.digits().weight(phase);
                self.place.rank(self.node().above(had), 0)
            }
        };
        let to_end = ranks.min(self.ring().size() - first);
        [(first, to_end), (0, ranks - to_end)].map(|(first, ranks)| match ranks {
            0 => BlockRange::EMPTY,
            _ => BlockRange {
                first: start,
                from: self.share(held, first),
                to: self.share(held, first + ranks),
            },
        })
    }
}
