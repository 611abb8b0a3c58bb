//! Cutting a vector into almost equal consecutive pieces.

/// Piece `index` of `count` elements from `first` on, cut into `pieces`: its first element and its
/// length.
///
/// The first `count % pieces` pieces are one element longer; with fewer elements than pieces the
/// last ones are empty.
pub(crate) fn piece(first: u64, count: u64, pieces: u32, index: u32) -> (u64, u64) {
    let (pieces, index) = (u64::from(pieces), u64::from(index));
    let (length, longer) = (count / pieces, count % pieces);
    (
        first + index * length + index.min(longer),
        length + u64::from(index < longer),
    )
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
