//! The buffers of a rank, and parts of them.

use core::ops::Range;

/// A buffer of the rank that runs the plan.
///
/// The module of each collective says what is read and written where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Buf {
    /// The caller's input. Never written.
    In,
    /// The caller's output. In place, the input is here too, and `In` is not used.
    Out,
    /// [`Plan::scratch`](super::Plan::scratch) elements of temporary memory, undefined at the start.
    Scratch,
    /// `In` of a collective with one block per rank or neighbour, found from the start of this block:
    /// elements count from there on through the blocks that follow, and from the last block into the first.
    /// The driver knows where each block lies. Where all blocks have the same length, `In` serves as well.
    InBlock(u32),
    /// `Out` of a collective with one block per rank or neighbour, likewise.
    OutBlock(u32),
    /// [`CallArrays::sends`](super::CallArrays::sends) as 8-byte little-endian numbers, for messages in which
    /// a root tells other ranks the lengths of their blocks. Never written. Elements are bytes.
    Counts,
}

/// Elements of a buffer: `times` blocks of `count` elements, whose starts lie `stride` elements apart.
///
/// An element is one item of the reduction's type; where nothing is reduced, one packed byte.
/// A message carries the elements of a part in the order of [`Part::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The buffer.
    pub buf: Buf,
    /// Number of blocks.
    pub times: u32,
    /// Index of the first block's first element.
    pub first: u64,
    /// Elements in one block.
    pub count: u64,
    /// Elements from the start of one block to the start of the next; negative: the blocks are
    /// taken from high to low.
    pub stride: i64,
    /// If not 0, indexes count modulo this number, and a block that reaches it continues at index 0. At
    /// least `count`. Parts of [`Buf::InBlock`] and [`Buf::OutBlock`] wrap around their blocks anyway.
    pub wrap: u64,
    /// Longer items are skipped: blocks of [`Buf::InBlock`] or [`Buf::OutBlock`] and, in
    /// [`Act::Learn`](super::Act::Learn), numbers.
    pub limit: u64,
}

impl Part {
    /// No elements: the content of a message that only signals. Unlike other parts without elements it has no
    /// block.
    pub const EMPTY: Part = Part {
        times: 0,
        ..Part::new(Buf::In, 0, 0)
    };

    /// The `count` consecutive elements of `buf` that start at `first`.
    pub const fn new(buf: Buf, first: u64, count: u64) -> Self {
        Part {
            buf,
            times: 1,
            first,
            count,
            stride: 0,
            wrap: 0,
            limit: u64::MAX,
        }
    }

    /// `times` blocks like this one, whose starts lie `stride` elements apart.
    pub const fn repeated(self, times: u32, stride: i64) -> Self {
        Part {
            times,
            stride,
            ..self
        }
    }

    /// The part with indexes modulo `wrap`.
    pub const fn around(self, wrap: u64) -> Self {
        Part { wrap, ..self }
    }

    /// The part without items longer than `limit`; see [`Part::limit`].
    pub const fn up_to(self, limit: u64) -> Self {
        Part { limit, ..self }
    }

    /// `count` elements that start `by` elements further on, modulo `wrap`; for a part of one range.
    #[must_use]
    pub(crate) const fn further(self, by: u64, count: u64) -> Self {
        let first = self.first + by;
        Part {
            first: match self.wrap {
                0 => first,
                wrap => first % wrap,
            },
            count,
            ..self
        }
    }

    /// The part, or where it lies in `from`, the same elements of `to`, `by` elements further on.
    #[must_use]
    pub(crate) fn moved(self, from: Buf, to: Buf, by: u64) -> Self {
        match self.buf == from && !self.is_empty() {
            true => Part {
                buf: to,
                first: self.first + by,
                ..self
            },
            false => self,
        }
    }

    /// Number of elements in all blocks together.
    pub const fn len(&self) -> u64 {
        self.count * self.times as u64
    }

    /// Whether there is no element.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The blocks as ranges of element indexes, in message order; a block that wraps gives two ranges.
    ///
    /// A block that would start below zero becomes a range beyond any buffer, which a bounds check rejects;
    /// so does a block longer than `wrap`.
    pub fn blocks(self) -> impl Iterator<Item = Range<u64>> {
        (0..i64::from(self.times)).flat_map(move |n| {
            let first = self.first.wrapping_add_signed(self.stride.wrapping_mul(n));
            if self.wrap == 0 {
                return [Some(first..first.saturating_add(self.count)), None]
                    .into_iter()
                    .flatten();
            }
            let first = (first as i64).rem_euclid(self.wrap as i64) as u64;
            let over = (first.saturating_add(self.count)).saturating_sub(self.wrap);
            let low = (over > 0).then_some(0..over);
            [Some(first..first.saturating_add(self.count - over)), low]
                .into_iter()
                .flatten()
        })
    }

    /// The elements of a part that is one range.
    pub(crate) fn plain(&self) -> Option<Range<u64>> {
        let end = self.first.saturating_add(self.count);
        let plain = self.times == 1 && (self.wrap == 0 || end <= self.wrap);
        plain.then_some(self.first..end)
    }

    /// Whether the two parts share an element. Parts named by blocks name the same block.
    pub fn overlaps(self, other: Part) -> bool {
        let share = |a: &Range<u64>, b: &Range<u64>| a.start.max(b.start) < a.end.min(b.end);
        if self.buf != other.buf {
            return false;
        }
        match (self.plain(), other.plain()) {
            (Some(a), Some(b)) => share(&a, &b),
            _ => self.blocks().any(|a| other.blocks().any(|b| share(&a, &b))),
        }
    }
}

/// The corresponding ranges of two parts of the same length, in message order.
pub fn pairs(one: Part, other: Part) -> impl Iterator<Item = [Range<u64>; 2]> {
    fn take(range: &mut Range<u64>, count: u64) -> Range<u64> {
        let start = range.start;
        range.start += count;
        start..range.start
    }
    let filled = |block: &Range<u64>| block.start < block.end;
    let (mut ones, mut others) = (one.blocks().filter(filled), other.blocks().filter(filled));
    let (mut a, mut b) = (0..0, 0..0);
    core::iter::from_fn(move || {
        if !filled(&a) {
            a = ones.next()?;
        }
        if !filled(&b) {
            b = others.next()?;
        }
        let count = (a.end - a.start).min(b.end - b.start);
        Some([take(&mut a, count), take(&mut b, count)])
    })
}

#[cfg(test)]
mod tests {
    use super::{Buf, Part, pairs};

    #[test]
    fn pairs_are_cut_where_either_part_is() {
        let around = Part::new(Buf::Out, 8, 5).around(10);
        let strided = Part::new(Buf::In, 0, 1).repeated(5, 4);
        let found: heapless::Vec<_, 8> = pairs(around, strided).collect();
        let expected = [(8, 0), (9, 4), (0, 8), (1, 12), (2, 16)];
        assert_eq!(found, expected.map(|(a, b)| [a..a + 1, b..b + 1]));
        let plain: heapless::Vec<_, 8> = pairs(around, Part::new(Buf::In, 3, 5)).collect();
        assert_eq!(plain, [[8..10, 3..5], [0..3, 5..8]]);
    }

    #[test]
    fn blocks_go_around() {
        let blocks = |part: Part| {
            let pairs = part.blocks().map(|block| (block.start, block.end));
            pairs.collect::<heapless::Vec<_, 8>>()
        };
        let part = Part::new(Buf::Out, 7, 5);
        assert_eq!(blocks(part), [(7, 12)]);
        assert_eq!(blocks(part.around(10)), [(7, 10), (0, 2)]);
        assert_eq!(blocks(part.around(12)), [(7, 12)]);
        assert_eq!(blocks(part.around(5)), [(2, 5), (0, 2)]);
        let strided = Part::new(Buf::Out, 6, 2).repeated(3, 3);
        assert_eq!(
            blocks(strided.around(10)),
            [(6, 8), (9, 10), (0, 1), (2, 4)]
        );
        let down = Part::new(Buf::Out, 1, 1).repeated(3, -2);
        assert_eq!(blocks(down.around(8)), [(1, 2), (7, 8), (5, 6)]);
    }

    #[test]
    fn parts_that_go_around_overlap_at_both_ends() {
        let around = Part::new(Buf::Out, 8, 4).around(10);
        for (first, overlap) in [(0, true), (1, true), (2, false), (7, false), (9, true)] {
            assert_eq!(around.overlaps(Part::new(Buf::Out, first, 1)), overlap);
        }
        assert!(!around.overlaps(Part::new(Buf::Scratch, 9, 1)));
    }
}
