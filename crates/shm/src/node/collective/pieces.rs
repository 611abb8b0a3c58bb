//! How a vector is cut into the steps of a collective: [`Pieces`].

use std::ops::Range;

use crate::segment::arena::{CollectiveSlots, LONG_PIECE};

/// Where a rank puts the data of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PayloadPath {
    /// In its slot.
    Slots,
    /// In the bounce buffer of its slot, for all others to read.
    Bounce,
    /// In a ping-pong buffer of its pair with each reader.
    PingPong,
}

#[cfg(test)]
impl PayloadPath {
    /// The name of the protocol that goes this path.
    const fn name(self) -> &'static str {
        match self {
            Self::Slots => "slots",
            Self::Bounce => "bounce",
            Self::PingPong => "ping_pong",
        }
    }
}

/// The steps of a call. In each a rank writes up to a buffer, and of one vector up to [`LONG_PIECE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pieces {
    /// Bytes of a vector.
    len: u64,
    /// Bytes of it in one step.
    piece: usize,
    /// Where they go: in slots, if the data of a step fits one.
    pub(super) path: PayloadPath,
}

/// Payload bytes of a slot.
pub(super) const SLOT_LEN: usize = CollectiveSlots::<()>::PAYLOAD * 8;

/// Bytes of a cache line: pieces start at one where they can.
pub(super) const LINE: usize = 64;

impl Pieces {
    /// Cuts `parts` vectors of `len` bytes, each through buffers of `buffer_len` bytes of its own, between
    /// elements of `element` bytes; short ones go side by side in a slot.
    #[inline]
    pub(super) fn new(
        len: u64,
        parts: usize,
        (buffer_len, path): (usize, PayloadPath),
        element: usize,
    ) -> Self {
        let fits_slot = len <= SLOT_LEN as u64 && len as usize * parts <= SLOT_LEN;
        let (piece, path) = match fits_slot {
            true => (len as usize, PayloadPath::Slots),
            false => (longest_in(buffer_len.min(LONG_PIECE), element), path),
        };
        #[cfg(test)]
        super::record::note(path.name());
        Self { len, piece, path }
    }

    /// Cuts a vector of which each of `ranks` ranks sends every other one a share, through buffers of
    /// `buffer_len` bytes, in pieces of at most `longest_piece` bytes.
    pub(super) fn in_shares(
        len: u64,
        ranks: usize,
        (buffer_len, longest_piece): (usize, usize),
        element: usize,
    ) -> Self {
        let shares = (buffer_len / element).saturating_mul(ranks * element);
        let piece = longest_in(longest_piece.min(shares), element);
        let path = PayloadPath::PingPong;
        Self { len, piece, path }
    }

    /// The number of steps.
    #[inline]
    pub(super) const fn steps(&self) -> u64 {
        // Avoids a division, which takes as long as the rest of a short call.
        if self.len <= self.piece as u64 {
            (self.len > 0) as u64
        } else {
            self.len.div_ceil(self.piece as u64)
        }
    }

    /// The offset in a vector and the length of the bytes of step `index`.
    #[inline]
    pub(super) fn part(&self, index: u64) -> (u64, usize) {
        let at = index * self.piece as u64;
        (at, (self.len - at).min(self.piece as u64) as usize)
    }

    /// The offset of vector number `part` in its slot or buffer.
    pub(super) const fn place(&self, part: usize) -> usize {
        match self.path {
            PayloadPath::Slots => part * self.piece,
            _ => 0,
        }
    }
}

/// The longest piece of whole elements in `room` bytes, of whole lines where elements divide them.
fn longest_in(room: usize, element: usize) -> usize {
    let unit = if LINE.is_multiple_of(element) {
        LINE
    } else {
        element
    };
    room / unit * unit
}

/// The share of `rank` of `size` in a piece of `len` bytes, between elements of `element` bytes.
pub(super) fn share_of(rank: usize, size: usize, len: usize, element: usize) -> Range<usize> {
    let elements = len / element;
    let start = |rank: usize| elements * rank / size * element;
    start(rank)..start(rank + 1)
}

/// The index of the vector for `reader` among those that `writer` writes, one for each other rank.
pub(super) const fn vector_index(writer: usize, reader: usize) -> usize {
    if reader < writer { reader } else { reader - 1 }
}

/// Whether elements of `element` bytes fit a step through buffers of `buffer_len` bytes.
pub(super) const fn fits(element: u64, buffer_len: usize) -> bool {
    element > 0 && element <= super::scratch::SCRATCH_LEN as u64 && element <= buffer_len as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_cover_a_vector_between_elements(
            count in 0u64..100_000, element in 1usize..200, parts in 1usize..63, buffer_len in 14u32..17,
        ) {
            let buffer_len = 1usize << buffer_len;
            prop_assume!(fits(element as u64, buffer_len / parts));
            let len = count * element as u64;
            let pieces = Pieces::new(len, parts, (buffer_len, PayloadPath::Bounce), element);
            let in_shares = Pieces::in_shares(len, parts, (buffer_len / parts, buffer_len), element);
            let share = (in_shares.piece / element).div_ceil(parts) * element;
            prop_assert!(share <= buffer_len / parts && in_shares.piece <= buffer_len);
            let mut end = 0;
            for index in 0..pieces.steps() {
                let (at, piece) = pieces.part(index);
                prop_assert_eq!(at, end);
                prop_assert!(piece > 0 && piece.is_multiple_of(element));
                let last = pieces.place(parts - 1) + piece;
                let room = if pieces.path == PayloadPath::Slots { SLOT_LEN } else { buffer_len };
                prop_assert!(last <= room);
                end += piece as u64;
            }
            prop_assert_eq!(end, len);
        }
    }

    #[test]
    fn vectors_of_a_writer_are_all_different() {
        for writer in 0..5 {
            let others = (0..5).filter(|&reader| reader != writer);
            let vectors: std::vec::Vec<_> =
                others.map(|reader| vector_index(writer, reader)).collect();
            assert_eq!(vectors, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn buffers_hold_elements_that_are_not_too_long() {
        let buffer_len = 16 << 10;
        assert!(fits(8, buffer_len) && fits(4096, 4096));
        assert!(!fits(0, buffer_len) && !fits(4097, 4096) && !fits(1 << 20, 1 << 20));
    }

    #[test]
    fn shares_cover_a_piece() {
        for (size, len, element) in [(3, 16384, 8), (7, 16380, 12), (5, 24, 24), (64, 4096, 1)] {
            let mut end = 0;
            for rank in 0..size {
                let share = share_of(rank, size, len, element);
                assert_eq!(share.start, end);
                assert!(share.len().is_multiple_of(element));
                end = share.end;
            }
            assert_eq!(end, len);
        }
    }
}
