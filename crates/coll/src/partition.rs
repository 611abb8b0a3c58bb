//! Partitions of a vector into almost equal consecutive pieces.

/// Piece `index` of `count` elements from `first` on, cut into `pieces`: its first element and its
/// length.
///
/// The first `count % pieces` pieces are one element longer; with fewer elements than pieces the
/// last ones are empty.
pub(crate) const fn piece(first: u64, count: u64, pieces: u32, index: u32) -> (u64, u64) {
    let (start, length) = Partition::new(count, pieces).piece(index);
    (first + start, length)
}

/// Pieces `from` to `to` of `count` elements, as by [`piece`]: their first element and their total length.
pub(crate) const fn run(count: u64, pieces: u32, from: u32, to: u32) -> (u64, u64) {
    let cut = Partition::new(count, pieces);
    let first = cut.piece(from).0;
    (first, cut.piece(to).0 - first)
}

/// A partition of elements into pieces as by [`piece`]; it divides once for all pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    /// Elements of the shorter pieces.
    length: u64,
    /// Number of pieces that have one element more.
    longer: u64,
}

impl Partition {
    /// 0 pieces count as 1.
    pub(crate) const fn new(count: u64, pieces: u32) -> Self {
        let pieces = if pieces == 0 { 1 } else { pieces as u64 };
        Partition {
            length: count / pieces,
            longer: count % pieces,
        }
    }

    /// A piece's first element and its length.
    pub(crate) const fn piece(&self, index: u32) -> (u64, u64) {
        let index = index as u64;
        let (before, is_longer) = if index < self.longer {
            (index, 1)
        } else {
            (self.longer, 0)
        };
        (index * self.length + before, self.length + is_longer)
    }

    /// The piece that contains element `place`.
    pub(crate) const fn index(&self, place: u64) -> u32 {
        let among_longer = self.longer * (self.length + 1);
        let index = if place < among_longer {
            place / (self.length + 1)
        } else {
            self.longer + (place - among_longer) / self.length
        };
        index as u32
    }

    /// The length of the longest piece.
    pub(crate) const fn longest(&self) -> u64 {
        self.length + (self.longer > 0) as u64
    }
}

/// The length of the longest piece.
pub(crate) fn longest(count: u64, pieces: u32) -> u64 {
    count.div_ceil(u64::from(pieces))
}

#[cfg(test)]
mod tests {
    use super::{longest, piece};

    #[test]
    fn pieces_follow_one_another_and_differ_by_one_element_at_most() {
        for count in [0, 1, 2, 5, 16, 17, 1000, u64::MAX - 3] {
            for pieces in [1, 2, 3, 7, 64] {
                let mut next = 3;
                for index in 0..pieces {
                    let (first, length) = piece(3, count.min(u64::MAX - 3), pieces, index);
                    assert_eq!(first, next);
                    if length > 0 && count < 1 << 60 {
                        let cut = super::Partition::new(count, pieces);
                        assert_eq!(cut.index(first - 3), index);
                        assert_eq!(cut.index(first - 3 + length - 1), index);
                    }
                    assert!(
                        length == longest(count, pieces) || length + 1 == longest(count, pieces)
                    );
                    next = first + length;
                }
                assert_eq!(next - 3, count);
            }
        }
    }
}
