//! A vector of one block for each rank, seen from one rank: block 0 is its own, and the others
//! follow around the circle.

use crate::circle::Circle;
use crate::plan::{Buf, Known, Part};
use crate::split::piece;

/// How a vector is divided into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// A vector of so many elements, cut into almost equal blocks.
    Cut(u64),
    /// So many elements each.
    Equal(u64),
    /// As [`Given::sends`](crate::plan::Given::sends) says.
    Sends,
    /// As [`Given::recvs`](crate::plan::Given::recvs) says.
    Recvs,
}

/// Blocks as one rank counts them.
///
/// # Cost
///
/// Where the caller gives the lengths, each question is a sum over them; else constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turned {
    pub(crate) circle: Circle,
    pub(crate) blocks: Division,
}

impl Turned {
    /// The elements of all blocks.
    pub(crate) fn total(&self, known: &Known<'_>) -> u64 {
        self.before(self.circle.size(), known)
    }

    /// The elements of blocks `from` to `to`, at most the number of ranks.
    pub(crate) fn len(&self, from: u32, to: u32, known: &Known<'_>) -> u64 {
        self.until(to, known) - self.until(from, known)
    }

    /// Blocks `from` to `to` in a buffer that begins with this rank's block, at element `base`.
    pub(crate) fn turned(
        &self,
        buf: Buf,
        base: u64,
        from: u32,
        to: u32,
        known: &Known<'_>,
    ) -> Part {
        let first = base + self.len(0, from, known);
        Part::new(buf, first, self.len(from, to, known))
    }

    /// Blocks `from` to `to` in a buffer that begins with rank 0's block; they may go around.
    pub(crate) fn natural(&self, buf: Buf, from: u32, to: u32, known: &Known<'_>) -> Part {
        let first = self.before(self.circle.above(from), known);
        Part::new(buf, first, self.len(from, to, known)).around(self.total(known))
    }

    /// The elements from rank 0's block on before block `block`, counted on around the circle.
    fn until(&self, block: u32, known: &Known<'_>) -> u64 {
        let (rank, size) = (self.circle.rank(), self.circle.size());
        if block <= size - rank {
            self.before(rank + block, known)
        } else {
            self.total(known) + self.before(block - (size - rank), known)
        }
    }

    /// The elements of the blocks of the ranks below `rank`.
    fn before(&self, rank: u32, known: &Known<'_>) -> u64 {
        match self.blocks {
            Division::Cut(count) => piece(0, count, self.circle.size(), rank).0,
            Division::Equal(count) => u64::from(rank) * count,
            Division::Sends => known.given.sends.iter().take(rank as usize).sum(),
            Division::Recvs => known.given.recvs.iter().take(rank as usize).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Circle, Division, Turned};
    use crate::plan::{Buf, Given, Known, Learned};

    #[test]
    fn blocks_follow_around_the_circle() {
        let lengths = [3, 0, 5, 1, 7];
        let given = Given {
            sends: &lengths,
            ..Given::NOTHING
        };
        let learned = Learned::new();
        let known = Known::new(given, &learned);
        for rank in 0..5_u32 {
            let circle = Circle::new(rank, 5);
            let view = Turned {
                circle,
                blocks: Division::Sends,
            };
            assert_eq!(view.total(&known), 16);
            for from in 0..=5 {
                let mut len = 0;
                for to in from..=5 {
                    assert_eq!(view.len(from, to, &known), len);
                    let part = view.natural(Buf::Out, from, to, &known);
                    let first: u64 = lengths[..circle.above(from) as usize].iter().sum();
                    assert_eq!((part.first, part.count, part.wrap), (first, len, 16));
                    len += lengths[circle.above(to) as usize];
                }
            }
        }
    }
}
