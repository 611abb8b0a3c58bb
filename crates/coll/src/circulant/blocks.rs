//! A vector of one block for each rank, seen from one rank: block 0 is its own, and the others
//! follow around the circle.

use crate::blocks::sum;
use crate::circle::Circle;
use crate::plan::{Buf, Known, Part};
use crate::split::run;

/// How a vector is divided into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// A vector of so many elements, cut into almost equal blocks.
    Cut(u64),
    /// So many elements each.
    Equal(u64),
    /// As [`Given::sends`](crate::plan::Given::sends) says, so many elements in all.
    Sends(u64),
    /// As [`Given::recvs`](crate::plan::Given::recvs) says, so many elements in all.
    Recvs(u64),
}

/// Blocks as one rank counts them.
///
/// # Cost
///
/// Where the caller gives the lengths, a sum over those of the blocks asked for; [`Turned::natural`]
/// adds those before the first of them. Else constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turned {
    pub(crate) circle: Circle,
    pub(crate) blocks: Division,
}

impl Turned {
    /// The elements of all blocks.
    pub(crate) fn total(&self) -> u64 {
        match self.blocks {
            Division::Cut(count) | Division::Sends(count) | Division::Recvs(count) => count,
            Division::Equal(count) => u64::from(self.circle.size()) * count,
        }
    }

    /// The elements of blocks `from` to `to`, at most the number of ranks.
    pub(crate) fn len(&self, from: u32, to: u32, known: &Known<'_>) -> u64 {
        let (start, count) = (self.circle.above(from), to - from);
        let to_end = self.circle.size() - start;
        match count <= to_end {
            true => self.between(start, start + count, known),
            false => {
                let around = self.between(0, count - to_end, known);
                self.between(start, self.circle.size(), known) + around
            }
        }
    }

    /// Blocks `from` to `to` in a buffer that begins with this rank's block.
    pub(crate) fn turned(&self, buf: Buf, from: u32, to: u32, known: &Known<'_>) -> Part {
        let first = self.len(0, from, known);
        Part::new(buf, first, self.len(from, to, known))
    }

    /// Blocks `from` to `to` in a buffer that begins with rank 0's block; they may go around.
    pub(crate) fn natural(&self, buf: Buf, from: u32, to: u32, known: &Known<'_>) -> Part {
        let (start, size) = (self.circle.above(from), self.circle.size());
        // Fewer lengths are summed from the nearer end.
        let first = match start <= size / 2 {
            true => self.between(0, start, known),
            false => (self.total()).saturating_sub(self.between(start, size, known)),
        };
        Part::new(buf, first, self.len(from, to, known)).around(self.total())
    }

    /// The elements of the blocks of ranks `from` to `to`.
    fn between(&self, from: u32, to: u32, known: &Known<'_>) -> u64 {
        match self.blocks {
            Division::Cut(count) => run(count, self.circle.size(), from, to).1,
            Division::Equal(count) => u64::from(to - from) * count,
            Division::Sends(_) => sum(known.given.sends, from, to),
            Division::Recvs(_) => sum(known.given.recvs, from, to),
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
                blocks: Division::Sends(16),
            };
            assert_eq!(view.total(), 16);
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
