//! What the catalog says about one algorithm.

use super::{Algorithm, Call, Collective, Teams};
use crate::circle::Circle;
use crate::cost::Model;
use crate::placement::{Order, Placement};
use crate::window::SHORT;

/// The numbers that an algorithm can be tuned by. One that it does not take is 0.
///
/// All ranks of a group use the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// Children of a node of the tree, plus one; messages of a rank in one round, plus one.
    pub radix: u32,
    /// The same in the allgather of an algorithm whose `radix` is that of a scatter.
    pub gather_radix: u32,
    /// Pieces that the vector is cut into; or the most ranks of a node that share what comes from another one.
    pub blocks: u32,
    /// Messages under way at a time.
    pub window: u32,
    /// Bytes that a message carries at most.
    pub segment: u64,
    /// Bytes of the longest block that goes through the tree; a longer one goes straight.
    pub cutoff: u64,
    /// Ranks of a node. Where it does not divide the ranks, some algorithms take every rank for a
    /// node of its own; they say so.
    pub per_node: u32,
    /// In which order ranks are on nodes. It is looked at by those that take `per_node`.
    pub order: Order,
    /// What an algorithm does one after the other, where it can be told.
    pub stages: [Option<Stage>; 2],
}

/// A collective that an algorithm does as one of its stages: by which algorithm, and the numbers that
/// this takes; 0 stands for its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stage {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// As [`Parameters::radix`].
    pub radix: u32,
    /// As [`Parameters::gather_radix`].
    pub gather_radix: u32,
    /// As [`Parameters::blocks`].
    pub blocks: u32,
    /// As [`Parameters::window`].
    pub window: u32,
}

impl Stage {
    /// An algorithm with its own numbers.
    pub const fn of(algorithm: Algorithm) -> Self {
        Stage::with(algorithm, &Parameters::NONE)
    }

    /// An algorithm with those of the numbers that a stage has.
    pub const fn with(algorithm: Algorithm, numbers: &Parameters) -> Self {
        Stage {
            algorithm,
            radix: numbers.radix,
            gather_radix: numbers.gather_radix,
            blocks: numbers.blocks,
            window: numbers.window,
        }
    }

    /// What the algorithm runs with as a stage of one that has these parameters: ranks are on the
    /// nodes of the whole.
    #[must_use]
    pub const fn within(self, whole: &Parameters) -> Parameters {
        let own = Parameters {
            radix: self.radix,
            gather_radix: self.gather_radix,
            blocks: self.blocks,
            window: self.window,
            per_node: whole.per_node,
            order: whole.order,
            ..Parameters::NONE
        };
        own.over(self.algorithm.row())
    }
}

impl Parameters {
    /// None.
    pub const NONE: Parameters = Parameters {
        radix: 0,
        gather_radix: 0,
        blocks: 0,
        window: 0,
        segment: 0,
        cutoff: 0,
        per_node: 0,
        order: Order::Block,
        stages: [None; 2],
    };

    /// Blocks that a rank at the edge of a node asks for ahead: as many as travel while one is asked for. With
    /// 3 a ring of 8 KiB takes half to 9/10 of the time that it takes with 1, and no less with 4 (simulated).
    pub(crate) const AHEAD: u32 = 3;

    /// The longest block of which the first of two ranks of a node asks for some ahead: to copy a longer one
    /// takes longer than to ask for it.
    pub(crate) const ASKED_BY_PAIRS: u64 = 32 << 10;

    /// Whether the rank below and the rank above are on other nodes.
    pub(crate) fn edges(&self, circle: Circle) -> [bool; 2] {
        let place = Placement::new(self.order, circle.size(), self.per_node);
        let is_afar = |peer| place.node(peer) != place.node(circle.rank());
        [circle.below(1), circle.above(1)].map(is_afar)
    }

    /// The blocks, of so many bytes, that a rank of a ring asks for before it has passed on the last one: none
    /// where both its neighbours are on its node, else some, so that at the edge of a node nobody waits for what
    /// asks. Nor does the first of two ranks of a node ask for long ones: the other one would copy two that follow
    /// one another closely.
    pub(crate) fn asks_ahead(&self, circle: Circle, block: u64) -> u32 {
        let asks = match self.edges(circle) {
            [_, true] => true,
            [false, false] => false,
            [true, false] => {
                let place = Placement::new(self.order, circle.size(), self.per_node);
                let node = place.node(circle.rank());
                let has_third = place.per_node() > 2 && place.rank(node, 2) < circle.size();
                has_third || block <= Parameters::ASKED_BY_PAIRS
            }
        };
        if asks { Parameters::AHEAD } else { 0 }
    }

    /// The pieces in which blocks of so many bytes go around a ring from node to node. What announces a long block,
    /// and what asks for it, waits at the adapters behind blocks that go the same way; in pieces it waits less.
    ///
    /// Long blocks stay whole on two nodes of which one has a single rank, where blocks pass the other way just when
    /// nobody waits, and where the first of two ranks of the last node does not ask ahead: who gets many pieces at a
    /// time there hands them on in bursts.
    pub(crate) fn pieces_between_nodes(&self, place: Placement, block: u64) -> u32 {
        // So many that a rank's steps can be counted, who may pass everything on twice.
        let pieces = self.blocks.min(u32::MAX / 4 / place.size()).max(1);
        let are_long = block.div_ceil(pieces.into()) > SHORT;
        match (place.on_last_node(), place.nodes()) {
            (1, 2) if are_long && place.per_node() > 1 => 1,
            (2, _) if block > Parameters::ASKED_BY_PAIRS && place.per_node() > 2 => 1,
            _ => pieces,
        }
    }

    /// What an algorithm runs with: these numbers where its row has one, each at least 1 and the
    /// radix within its [limit](Needs::max_radix); the row's where these are 0.
    #[must_use]
    pub const fn over(self, row: &Row) -> Parameters {
        let (most, row) = (row.needs.max_radix, row.parameters);
        const fn choose(own: u64, row: u64) -> u64 {
            if own == 0 || row == 0 { row } else { own }
        }
        const fn radix(own: u32, row: u32, most: u32) -> u32 {
            match choose(own as u64, row as u64) as u32 {
                0 => 0,
                1 => 2,
                radix if radix > most => most,
                radix => radix,
            }
        }
        Parameters {
            radix: radix(self.radix, row.radix, most),
            gather_radix: radix(self.gather_radix, row.gather_radix, most),
            blocks: choose(self.blocks as u64, row.blocks as u64) as u32,
            window: choose(self.window as u64, row.window as u64) as u32,
            segment: choose(self.segment, row.segment),
            cutoff: choose(self.cutoff, row.cutoff),
            per_node: choose(self.per_node as u64, row.per_node as u64) as u32,
            order: self.order,
            stages: match (self.stages, row.stages) {
                ([None, None], own) | (_, own @ [None, None]) => own,
                (told, _) => told,
            },
        }
    }
}

/// What a call, and a radix, must be like for an algorithm to serve it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The operation commutes.
    pub commutative: bool,
    /// The operation is [exact](Call::exact).
    pub exact: bool,
    /// The number of ranks is a power of two.
    pub power_of_two: bool,
    /// The number of ranks is even, or 1.
    pub even: bool,
    /// No rank calls in place.
    pub apart: bool,
    /// Which ranks act together.
    pub teams: Teams,
    /// The largest group.
    pub max_size: u32,
    /// The largest radix, where it takes one; the smallest is 2.
    pub max_radix: u32,
}

impl Needs {
    /// Nothing.
    pub const NOTHING: Needs = Needs {
        commutative: false,
        exact: false,
        power_of_two: false,
        even: false,
        apart: false,
        teams: Teams::None,
        max_size: u32::MAX,
        max_radix: 256,
    };
}

/// What the catalog says about one algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The collective that it implements.
    pub collective: Collective,
    /// The name in settings; unique within the collective.
    pub name: &'static str,
    /// What it is good for, in one line.
    pub about: &'static str,
    /// What a call must be like.
    pub needs: Needs,
    /// The parameters that it takes, with their defaults.
    pub parameters: Parameters,
    /// The rounds that it promises: in one round a rank sends one message and receives one. The
    /// checker sees exactly so many where the vector gives every piece an element, and fewer, if at
    /// all, where it does not. Where a rank has several messages under way, or asks for them, it may
    /// see fewer anyway; or more, if blocks have lengths of their own and some are empty.
    pub rounds: fn(&Call, &Parameters) -> u64,
    /// The time until the last rank is done, in picoseconds: a closed form, but for gathers up a k-nomial tree of few
    /// ranks on several nodes. It grows with the bytes of the call, but at a cutoff; where nodes are not full it may fall, by up to
    /// a tenth, when messages become so long that they are announced. It looks at nothing in which ranks' calls differ. The group
    /// has at least two ranks. See [`cost`](crate::cost).
    pub cost: fn(&Call, &Parameters, &Model) -> u64,
}

#[cfg(test)]
mod tests {
    use super::Parameters;
    use crate::circle::Circle;
    use crate::placement::{Order, Placement};
    use crate::window::SHORT;

    #[test]
    fn blocks_stay_whole_where_pieces_would_come_in_bursts() {
        let pieces = |blocks, per_node, size, block| {
            let parameters = Parameters {
                blocks,
                ..Parameters::NONE
            };
            parameters.pieces_between_nodes(Placement::new(Order::Block, size, per_node), block)
        };
        assert_eq!([0, 1, 4].map(|n| pieces(n, 4, 16, 1 << 20)), [1, 1, 4]);
        let (short, long) = (4 * SHORT, 4 * SHORT + 1);
        assert_eq!([short, long].map(|block| pieces(4, 4, 5, block)), [4, 1]);
        assert_eq!([short, long].map(|block| pieces(4, 4, 9, block)), [4, 4]);
        assert_eq!([short, long].map(|block| pieces(4, 4, 10, block)), [4, 1]);
        assert_eq!([short, long].map(|block| pieces(4, 2, 10, block)), [4, 4]);
        assert_eq!(pieces(u32::MAX, 4, 1 << 31, 8), 1);
    }

    #[test]
    fn ranks_at_the_edges_of_nodes_ask_ahead_but_the_first_of_two_for_long_blocks() {
        let who = |order, per_node, size, block| {
            let parameters = Parameters {
                per_node,
                order,
                ..Parameters::NONE
            };
            let asks = |rank| parameters.asks_ahead(Circle::new(rank, size), block) > 0;
            (0..size).fold(0, |all, rank| all << 1 | u32::from(asks(rank)))
        };
        let (short, long) = (Parameters::ASKED_BY_PAIRS, Parameters::ASKED_BY_PAIRS + 1);
        let cases = [
            (4, 1, [0b0; 2]),
            (4, 4, [0b0000; 2]),
            (1, 3, [0b111; 2]),
            (3, 6, [0b10_1101; 2]),
            (3, 7, [0b101_1011; 2]),
            (3, 8, [0b1011_0111, 0b1011_0101]),
            (2, 4, [0b1111, 0b0101]),
        ];
        for (per_node, size, ahead) in cases {
            let asked = [short, long].map(|block| who(Order::Block, per_node, size, block));
            assert_eq!(asked, ahead, "{per_node}, {size}");
        }
        assert_eq!(who(Order::Cyclic, 3, 6, long), 0b11_1111);
    }
}
