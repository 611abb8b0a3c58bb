//! Ring algorithms: in how many pieces a message travels between nodes, and how many receives a rank posts
//! ahead.

use crate::call::Parameters;
use crate::eager::EAGER_BYTES;
use crate::placement::Placement;
use crate::rank_ring::RankRing;
use crate::symmetric::RelativePart;

/// The pieces in which a rank of a ring receives and forwards messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RingPieces {
    /// Pieces of a message from or to another node; also the transfers that a message takes.
    pub(crate) number: u32,
    /// Whether the rank receives, and sends, in pieces.
    pub(crate) cut: [bool; 2],
}

impl RingPieces {
    /// For messages of `bytes` bytes. A message between nodes goes in pieces where its receiver
    /// [posts receives ahead](Parameters::receives_ahead).
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

    /// The same number of pieces in both directions.
    pub(crate) const fn all(number: u32) -> Self {
        RingPieces {
            number,
            cut: [number > 1; 2],
        }
    }

    /// The part of a message that arrives in a transfer: a piece, or the whole in the first transfer.
    pub(crate) fn incoming(&self, transfer: u32, whole: RelativePart) -> RelativePart {
        self.part(self.cut[0], transfer, whole)
    }

    /// The part of a message that leaves in a transfer.
    pub(crate) fn outgoing(&self, transfer: u32, whole: RelativePart) -> RelativePart {
        self.part(self.cut[1], transfer, whole)
    }

    fn part(&self, is_cut: bool, transfer: u32, whole: RelativePart) -> RelativePart {
        match (is_cut, transfer % self.number) {
            (true, piece) => whole.cut(self.number, piece),
            (false, 0) => whole,
            (false, _) => RelativePart::EMPTY,
        }
    }

    /// The number of transfers before which the part that leaves in transfer `sent` had arrived.
    pub(crate) const fn behind(&self, sent: u32) -> u32 {
        match self.cut[1] {
            true => (sent + 1).saturating_sub(self.number),
            false => sent,
        }
    }
}

impl Parameters {
    /// Receives that a rank at the edge of a node posts ahead: as many blocks as travel while one is
    /// requested. 3 make a ring of 8 KiB blocks take 1/2 to 9/10 of the time of 1, and 4 save no more
    /// (simulated).
    pub(crate) const AHEAD: u32 = 3;

    /// The longest block for which the first of two ranks of a node posts receives ahead: copying a longer
    /// one takes longer than requesting it.
    pub(crate) const LONGEST_AHEAD_IN_PAIRS: u64 = 32 << 10;

    /// Whether the rank below and the rank above are on other nodes.
    pub(crate) fn edges(&self, ring: RankRing) -> [bool; 2] {
        let place = Placement::new(self.order, ring.size(), self.per_node);
        let is_remote = |peer| place.node(peer) != place.node(ring.rank());
        [ring.below(1), ring.above(1)].map(is_remote)
    }

    /// How many blocks of `block` bytes a rank of a ring requests before it has forwarded the last one: none
    /// where both neighbours are on its node, else [`Parameters::AHEAD`], so that no adapter idles while a
    /// request travels. The first of two ranks of a node requests no long blocks ahead, because the second
    /// rank would copy two blocks in close succession.
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

    /// The pieces in which a block of `block` bytes travels around a ring from node to node. The announcement
    /// and the request of a long block queue at the adapters behind blocks of the same direction; pieces
    /// shorten this.
    ///
    /// Long blocks stay whole in two cases: on two nodes of which one has a single rank, and where the first
    /// of two ranks of the last node posts no receives ahead, because it would forward the pieces in bursts.
    pub(crate) fn pieces_between_nodes(&self, place: Placement, block: u64) -> u32 {
        // A limit, so that 32 bits count the steps of a rank that forwards everything twice.
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
            let parameters = Parameters::NONE.with_blocks(blocks);
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
        let ranks_ahead = |order, per_node, size, block| {
            let parameters = Parameters::NONE.with_per_node(per_node).with_order(order);
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
            let asked = [short, long].map(|block| ranks_ahead(Order::Block, per_node, size, block));
            assert_eq!(asked, ahead, "{per_node}, {size}");
        }
        assert_eq!(ranks_ahead(Order::Cyclic, 3, 6, long), 0b11_1111);
    }
}
