//! Where the collectives of a node have their slots and cells.
//!
//! Every rank has a few places, one for each of the first communicators that it is in: groups that
//! use the same place have no rank in common. A place has a ring of slots, which are words by which
//! ranks steer, a cell of bytes for each slot, and bytes for its dialogues with others. The words
//! of all ranks stand in the segment; the bytes are mapped at the first collective, and cost memory once
//! they are touched.
//!
//! ```text
//! slots of 0, place 0 | .. place 7 | slots of 1, place 0 | ..    cells of 0, place 0 | dialogues of 0, place 0 | ..
//! ```

use oxmpi_os::memory::Mapping;

use super::backing::PAGE;
use crate::ring::StepSlots;

/// CollectiveSlots of a place: as many steps may a rank be ahead of another.
pub(crate) const SLOTS: usize = 16;

/// The slots of one rank and place.
pub(crate) type CollectiveSlots<W> = StepSlots<W, SLOTS>;

/// Places of a rank.
pub(crate) const MAX_GROUPS: usize = 8;

/// Ranks that a node with places has at most: each looks at all others of its group, and a set of
/// them is a word.
pub(crate) const RANKS: u32 = u64::BITS;

/// Bytes of the cells of all ranks at one place at most, and as much of their dialogues.
const GROUP_LEN: usize = 16 << 20;

/// Bytes of a cell: [`MAX_BOUNCE_BUFFER`], less where many ranks have some.
pub(crate) const fn bounce_buffer_len(ranks: u32) -> usize {
    let room = GROUP_LEN / (ranks as usize * SLOTS);
    if room >= MAX_BOUNCE_BUFFER {
        MAX_BOUNCE_BUFFER
    } else {
        1 << room.ilog2()
    }
}

/// Room for a piece, and a page that nobody touches: a processor that reads a cell fetches ahead beyond its end.
const MAX_BOUNCE_BUFFER: usize = LONG_PIECE + PAGE;

/// Bytes that go in a step between two ranks at most: from 8 to 16 KiB on pieces of a long message go as
/// fast as they do; longer ones let more of a short one go by before the reader starts.
pub(crate) const PIECE: usize = 16 << 10;

/// Bytes of one vector that go in a step among more ranks at most. Where they share processors each
/// step may cost a turn of all, but all cells together should stay in a cache: on two Zen 4 processors
/// an allreduce of 1 MiB took three quarters of the time of pieces of 16 KiB so with eight ranks, and
/// with 80 KiB a broadcast twice as long.
pub(crate) const LONG_PIECE: usize = 32 << 10;

/// SharedWords of one rank's slots at all places.
const fn rank_words(ranks: u32) -> usize {
    if ranks > RANKS {
        return 0;
    }
    (MAX_GROUPS * CollectiveSlots::<()>::WORDS).next_multiple_of(PAGE / 8)
}

/// Bytes of all ranks' slots.
pub(crate) const fn slots_len(ranks: u32) -> usize {
    ranks as usize * rank_words(ranks) * 8
}

/// The first word of the slots of `rank` at `place`, counted from those of all ranks.
///
/// # Panics
/// If there is no such rank or place.
pub(crate) const fn slots_at(ranks: u32, rank: u32, place: usize) -> usize {
    assert!(rank < ranks && ranks <= RANKS && place < MAX_GROUPS);
    rank as usize * rank_words(ranks) + place * CollectiveSlots::<()>::WORDS
}

/// Bytes of a rank's cells at a place.
const fn rank_bounce_len(ranks: u32) -> usize {
    SLOTS * bounce_buffer_len(ranks)
}

/// Bytes of a rank at a place for its dialogues, of which each has [`SLOTS`] times [`MAX_BOUNCE_BUFFER`] at most.
pub(crate) const fn pair_buffers_len(ranks: u32) -> usize {
    let wanted = (ranks as usize - 1) * SLOTS * MAX_BOUNCE_BUFFER;
    let room = GROUP_LEN / ranks as usize / PAGE * PAGE;
    if wanted < room { wanted } else { room }
}

/// Bytes of a rank at a place.
pub(crate) const fn rank_len(ranks: u32) -> usize {
    rank_bounce_len(ranks) + pair_buffers_len(ranks)
}

/// Bytes of all ranks' cells and dialogues.
pub(crate) const fn bounce_buffers_len(ranks: u32) -> usize {
    if ranks > RANKS {
        return 0;
    }
    ranks as usize * MAX_GROUPS * rank_len(ranks)
}

/// The cells and dialogues of all ranks, mapped.
#[derive(Debug)]
pub(crate) struct BounceBuffers {
    mapping: Mapping,
    ranks: u32,
}

impl BounceBuffers {
    /// Those of `ranks` ranks, which are all of `mapping`.
    pub(crate) fn new(mapping: Mapping, ranks: u32) -> Self {
        assert_eq!(mapping.len(), bounce_buffers_len(ranks));
        Self { mapping, ranks }
    }

    /// The first byte of the first of the [`SLOTS`] cells of `rank` at `place`, which stand side by
    /// side and have [`cell`] bytes each.
    ///
    /// # Panics
    /// If there is no such rank or place.
    pub(crate) fn first(&self, rank: u32, place: usize) -> *mut u8 {
        assert!(rank < self.ranks && place < MAX_GROUPS);
        let at = (rank as usize * MAX_GROUPS + place) * rank_len(self.ranks);
        self.mapping.base().wrapping_add(at)
    }

    /// The first byte of the memory of `rank` for [`dialogues`] at `place`.
    ///
    /// # Panics
    /// If there is no such rank or place.
    pub(crate) fn pair_buffers(&self, rank: u32, place: usize) -> *mut u8 {
        self.first(rank, place)
            .wrapping_add(rank_bounce_len(self.ranks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_all_is_bounded() {
        for ranks in [1, 2, 5, 8, 17, RANKS] {
            let (mut end, words) = (0, CollectiveSlots::<()>::WORDS);
            for (rank, place) in (0..ranks).flat_map(|r| (0..MAX_GROUPS).map(move |p| (r, p))) {
                let at = slots_at(ranks, rank, place);
                assert!(at >= end, "{rank} of {ranks}, place {place}");
                end = at + words;
            }
            assert!(end * 8 <= slots_len(ranks));
            assert!(
                bounce_buffer_len(ranks) >= 4096
                    && bounce_buffers_len(ranks) <= MAX_GROUPS * 2 * GROUP_LEN
            );
        }
        assert_eq!(
            (
                bounce_buffer_len(2),
                bounce_buffer_len(16),
                bounce_buffer_len(64)
            ),
            (36 << 10, 36 << 10, 16 << 10)
        );
        assert_eq!(
            (slots_len(RANKS + 1), bounce_buffers_len(RANKS + 1)),
            (0, 0)
        );
        assert_eq!(pair_buffers_len(1), 0);
    }
}
