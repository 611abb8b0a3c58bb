//! Messages of a ring that go from node to node in pieces.

use crate::call::Parameters;
use crate::eager::EAGER_BYTES;
use crate::placement::Placement;
use crate::rank_ring::RankRing;
use crate::symmetric::RelativePart;

/// How a rank gets and passes on what goes around a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RingPieces {
    /// The pieces of what comes from another node or goes there; the turns in which a message passes.
    pub(crate) number: u32,
    /// Whether messages come, and go, in pieces.
    pub(crate) cut: [bool; 2],
}

impl RingPieces {
    /// Of messages of so many bytes. What goes from node to node is in pieces where its receiver
    /// [asks ahead](Parameters::receives_ahead).
    pub(crate) fn of(ring: RankRing, parameters: &Parameters, bytes: u64) -> Self {
        let place = Placement::new(parameters.order, ring.size(), parameters.per_node);
        let number = parameters.pieces_between_nodes(place, bytes);
        let [below, above] = parameters.edges(ring);
        let asks = |ring| parameters.receives_ahead(ring, bytes) > 0;
        match (number, below && asks(ring), above && asks(ring.rotated(1))) {
            (1, ..) | (_, false, false) => RingPieces::all(1),
            (_, comes, goes) => RingPieces {
                number,
                cut: [comes, goes],
            },
        }
    }

    /// The same number both ways.
    pub(crate) const fn all(number: u32) -> Self {
        RingPieces {
            number,
            cut: [number > 1; 2],
        }
    }

    /// What of a message comes in a turn; all of it in the first, if it is not cut.
    pub(crate) fn coming(&self, turn: u32, whole: RelativePart) -> RelativePart {
        self.part(self.cut[0], turn, whole)
    }

    /// What of a message goes in a turn.
    pub(crate) fn going(&self, turn: u32, whole: RelativePart) -> RelativePart {
        self.part(self.cut[1], turn, whole)
    }

    fn part(&self, is_cut: bool, turn: u32, whole: RelativePart) -> RelativePart {
        match (is_cut, turn % self.number) {
            (true, piece) => whole.cut(self.number, piece),
            (false, 0) => whole,
            (false, _) => RelativePart::EMPTY,
        }
    }

    /// Before so many turns what goes in this one had come: a piece, or the last one of a message.
    pub(crate) const fn behind(&self, sent: u32) -> u32 {
        match self.cut[1] {
            true => (sent + 1).saturating_sub(self.number),
            false => sent,
        }
    }
}

impl Parameters {
    /// Blocks that a rank at the edge of a node asks for ahead: as many as travel while one is asked for. With
    /// 3 a ring of 8 KiB takes half to 9/10 of the time that it takes with 1, and no less with 4 (simulated).
    pub(crate) const AHEAD: u32 = 3;

    /// The longest block of which the first of two ranks of a node asks for some ahead: to copy a longer one
    /// takes longer than to ask for it.
    pub(crate) const LONGEST_AHEAD_IN_PAIRS: u64 = 32 << 10;

    /// Whether the rank below and the rank above are on other nodes.
    pub(crate) fn edges(&self, ring: RankRing) -> [bool; 2] {
        let place = Placement::new(self.order, ring.size(), self.per_node);
        let is_afar = |peer| place.node(peer) != place.node(ring.rank());
        [ring.below(1), ring.above(1)].map(is_afar)
    }

    /// The blocks, of so many bytes, that a rank of a ring asks for before it has passed on the last one: none
    /// where both its neighbours are on its node, else some, so that at the edge of a node nobody waits for what
    /// asks. Nor does the first of two ranks of a node ask for long ones: the other one would copy two that follow
    /// one another closely.
    pub(crate) fn receives_ahead(&self, ring: RankRing, block: u64) -> u32 {
        let asks = match self.edges(ring) {
            [_, true] => true,
            [false, false] => false,
            [true, false] => {
                let place = Placement::new(self.order, ring.size(), self.per_node);
                let node = place.node(ring.rank());
                let has_third = place.per_node() > 2 && place.rank(node, 2) < ring.size();
                has_third || block <= Parameters::LONGEST_AHEAD_IN_PAIRS
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
        let are_long = block.div_ceil(pieces.into()) > EAGER_BYTES;
        match (place.on_last_node(), place.nodes()) {
            (1, 2) if are_long && place.per_node() > 1 => 1,
            (2, _) if block > Parameters::LONGEST_AHEAD_IN_PAIRS && place.per_node() > 2 => 1,
            _ => pieces,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::call::Parameters;
    use crate::eager::EAGER_BYTES;
    use crate::placement::{Order, Placement};
    use crate::rank_ring::RankRing;

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
        let (short, long) = (4 * EAGER_BYTES, 4 * EAGER_BYTES + 1);
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
            let asks = |rank| parameters.receives_ahead(RankRing::new(rank, size), block) > 0;
            (0..size).fold(0, |all, rank| all << 1 | u32::from(asks(rank)))
        };
        let (short, long) = (
            Parameters::LONGEST_AHEAD_IN_PAIRS,
            Parameters::LONGEST_AHEAD_IN_PAIRS + 1,
        );
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
