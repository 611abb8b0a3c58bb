//! [`PipelineSizes`]: which bytes of a long message go by frames, and which in pieces that are registered for their transfer.

use std::ops::Range;

/// Pieces of one transfer that are registered at a time.
pub(super) const PIECES: usize = 4;

/// Ranges of one transfer that go by frames at a time: before and after the pieces, and a piece that is not registered.
pub(super) const RANGES: usize = 3;

/// The smallest page. Registrations are for whole pages.
const PAGE: u64 = 4096;

/// The sizes of the three phases of openib's RDMA pipeline, in bytes.
///
/// Source: the Open MPI FAQ, "How do I tune large message behavior in the Open MPI v1.3 (and later) series?".
#[derive(Debug, Clone, Copy)]
pub(super) struct PipelineSizes {
    /// The bytes at the start that go by frames.
    pub(super) first: u64,
    /// The bytes at the end that do.
    pub(super) last: u64,
    /// The longest piece between them.
    pub(super) piece: u64,
}

impl PipelineSizes {
    /// The bytes that go in pieces, of memory of `len` bytes.
    ///
    /// The page of the last byte is not among them: other memory of the program is likely to be on it, which a forked
    /// child may need.
    pub(super) fn pieces(&self, len: u64) -> Range<u64> {
        let end = len.saturating_sub(self.last.max(PAGE));
        self.first.min(end)..end
    }

    /// The length of the next piece of memory at the address `start`, of which `left` bytes are to go: it ends with a
    /// page where it can, so that no page belongs to two pieces.
    pub(super) fn next(&self, start: u64, left: u64) -> u64 {
        let longest = self.piece.min(left);
        let over = start.wrapping_add(longest) % PAGE;
        match longest < left && over < longest {
            true => longest - over,
            false => longest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_are_whole_pages_and_none_is_the_last(
            start in 0..1u64 << 40, len in 0..1u64 << 22, first in 0..1u64 << 17, last in 0..1u64 << 21, piece in 1..1u64 << 20,
        ) {
            let sizes = PipelineSizes { first, last, piece };
            let pieces = sizes.pieces(len);
            let (mut at, end) = (pieces.start, pieces.end);
            while at < end {
                let next = sizes.next(start + at, end - at);
                prop_assert!((1..=piece).contains(&next) && at + next <= end);
                let is_whole = (start + at + next).is_multiple_of(PAGE);
                prop_assert!(is_whole || at + next == end || piece < PAGE);
                prop_assert!((start + at + next - 1) / PAGE < (start + len - 1) / PAGE);
                at += next;
            }
            prop_assert!(at >= end && pieces.start <= first && len.saturating_sub(end) >= last.min(len));
        }
    }
}
