//! Whom a rank accesses in one repetition, and what it receives: the pattern of a kernel over windows.
//!
//! A transfer takes a block from a source, the origin's own bytes or the memory of the target, to a destination, the memory
//! of the target or the origin's landing. Both are divided into blocks of the length of a message.

use super::super::pattern::Piece;

/// Whom the ranks access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Targets {
    /// Rank 0 accesses rank 1.
    Peer,
    /// Each of two ranks accesses the other one.
    BothPeers,
    /// All ranks, rank 0 as well, access one block of rank 0.
    Root,
    /// Rank 0 accesses all others.
    FromFirst,
    /// Each rank accesses all others, from its right neighbour on.
    FromAll,
    /// Each rank accesses its left and its right neighbour in a ring.
    Neighbours,
}

/// One transfer of a repetition, as its origin sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// The rank whose memory is accessed.
    pub(crate) target: usize,
    /// The block of the source.
    pub(crate) source: usize,
    /// The block of the destination.
    pub(crate) destination: usize,
}

impl Transfer {
    /// With blocks of `bytes`: where they start instead of their numbers.
    pub(crate) const fn scaled(self, bytes: usize) -> Self {
        Transfer {
            target: self.target,
            source: self.source * bytes,
            destination: self.destination * bytes,
        }
    }
}

impl Targets {
    /// The blocks of a source: a neighbour's message to the left, and that to the right.
    pub(crate) const fn source_blocks(self) -> usize {
        match self {
            Targets::Neighbours => 2,
            _ => 1,
        }
    }

    /// The blocks of a destination, one for each source whose block is proven. Those of `gets` are at the origin.
    pub(crate) const fn destination_blocks(self, gets: bool, ranks: usize) -> usize {
        match self {
            Targets::Neighbours => 2,
            Targets::FromAll => ranks.saturating_sub(1),
            Targets::FromFirst if gets => ranks.saturating_sub(1),
            _ => 1,
        }
    }

    /// The transfers of origin `rank`, in their order.
    pub(crate) fn transfers(
        self,
        gets: bool,
        rank: usize,
        ranks: usize,
    ) -> impl Iterator<Item = Transfer> {
        let one = |target| Transfer {
            target,
            source: 0,
            destination: 0,
        };
        let others = (1..ranks).map(move |distance| Transfer {
            destination: match self {
                Targets::FromFirst if !gets => 0,
                _ => distance - 1,
            },
            ..one((rank + distance) % ranks)
        });
        // What goes to a neighbour comes from the other side there.
        let beside = |target, source: usize| Transfer {
            target,
            source: if gets { 1 - source } else { source },
            destination: if gets { source } else { 1 - source },
        };
        let (left, right) = neighbours(rank, ranks);
        let few = match self {
            Targets::Peer if rank == 0 => [Some(one(1)), None],
            Targets::BothPeers => [Some(one(1 - rank)), None],
            Targets::Root => [Some(one(0)), None],
            Targets::Neighbours => [Some(beside(left, 0)), Some(beside(right, 1))],
            _ => [None, None],
        };
        let has_others = self == Targets::FromAll || (self == Targets::FromFirst && rank == 0);
        let others = has_others.then_some(others).into_iter().flatten();
        few.into_iter().flatten().chain(others)
    }

    /// The origin's or the target's bytes in each block of `rank`'s destination, of messages of `bytes`; none where the rank
    /// receives nothing.
    pub(crate) fn received(
        self,
        gets: bool,
        (rank, ranks): (usize, usize),
        bytes: usize,
    ) -> impl Iterator<Item = Piece> {
        let receives = match self {
            Targets::Peer => (rank == 0) == gets,
            Targets::FromFirst => (rank == 0) == gets,
            Targets::Root => rank == 0,
            Targets::BothPeers | Targets::FromAll | Targets::Neighbours => true,
        };
        let blocks = match receives {
            true => self.destination_blocks(gets, ranks),
            false => 0,
        };
        (0..blocks).map(move |block| match self {
            Targets::Peer | Targets::BothPeers => Piece::all(1 - rank),
            Targets::FromFirst if !gets => Piece::all(0),
            Targets::Neighbours => {
                let (left, right) = neighbours(rank, ranks);
                Piece {
                    from: if block == 0 { left } else { right },
                    first: (1 - block) * bytes,
                }
            }
            _ if gets => Piece::all((rank + block + 1) % ranks),
            _ => Piece::all((rank + ranks - block - 1) % ranks),
        })
    }
}

fn neighbours(rank: usize, ranks: usize) -> (usize, usize) {
    ((rank + ranks - 1) % ranks, (rank + 1) % ranks)
}
