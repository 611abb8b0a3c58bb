//! The part of a segment that intra-node collectives use: slots, bounce buffers and pair buffers.
//!
//! Each of the first communicators of a rank has a group index; groups of one index have no rank in common. For each
//! index a rank has a ring of slots, words by which ranks signal steps, a bounce buffer for each slot, and pair buffers
//! for exchanges with single ranks. The slots of all ranks are in the segment; the buffers are mapped at the first
//! collective and cost memory once they are touched.
//!
//! ```text
//! slots of 0, group 0 | .. group 15 | slots of 1, group 0 | ..    bounce of 0, group 0 | pair of 0, group 0 | ..
//! ```

use oxmpi_os::memory::Mapping;

use super::backing::PAGE;
use crate::ring::StepSlots;

/// Slots of a group: a rank may be so many steps ahead of another.
pub(crate) const SLOTS: usize = 16;

/// The slots of one rank for one group.
pub(crate) type CollectiveSlots<W> = StepSlots<W, SLOTS>;

/// Groups that a rank can be in.
pub(crate) const MAX_GROUPS: usize = 16;

/// Greatest number of ranks of a node with collectives: each polls all others of its group, and a set of
/// ranks is a word.
pub(crate) const RANKS: u32 = u64::BITS;

/// Greatest size of the bounce buffers of all ranks for one group, in bytes, and of their pair buffers.
const GROUP_LEN: usize = 16 << 20;

/// Bytes of a bounce buffer: [`MAX_BOUNCE_BUFFER`], less with many ranks.
pub(crate) const fn bounce_buffer_len(ranks: u32) -> usize {
    let room = GROUP_LEN / (ranks as usize * SLOTS);
    if room >= MAX_BOUNCE_BUFFER {
        MAX_BOUNCE_BUFFER
    } else {
        1 << room.ilog2()
    }
}

/// A piece, and a page that is never touched: the processor prefetches beyond the end of a buffer.
const MAX_BOUNCE_BUFFER: usize = LONG_PIECE + PAGE;

/// Longest piece between two ranks, in bytes: pieces of 8 to 16 KiB are as fast for long messages; longer
/// ones delay the reader of a short one.
pub(crate) const PIECE: usize = 16 << 10;

/// Longest piece of one vector among more ranks, in bytes. On shared processors each step may cost a turn of
/// all ranks, but all buffers together should stay in a cache: with eight ranks on two Zen 4 processors an
/// allreduce of 1 MiB takes 3/4 of the time with pieces of 16 KiB, and with 80 KiB a broadcast twice as long.
pub(crate) const LONG_PIECE: usize = 32 << 10;

/// Words of one rank's slots for all groups.
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

/// Index of the first word of the slots of `rank` for `group`, among those of all ranks.
///
/// # Panics
/// If there is no such rank or group.
pub(crate) const fn slots_at(ranks: u32, rank: u32, group: usize) -> usize {
    assert!(rank < ranks && ranks <= RANKS && group < MAX_GROUPS);
    rank as usize * rank_words(ranks) + group * CollectiveSlots::<()>::WORDS
}

/// Bytes of a rank's bounce buffers for a group.
const fn rank_bounce_len(ranks: u32) -> usize {
    SLOTS * bounce_buffer_len(ranks)
}

/// Bytes of a rank's pair buffers for a group; each pair has at most [`SLOTS`] times [`MAX_BOUNCE_BUFFER`].
pub(crate) const fn pair_buffers_len(ranks: u32) -> usize {
    let wanted = (ranks as usize - 1) * SLOTS * MAX_BOUNCE_BUFFER;
    let room = GROUP_LEN / ranks as usize / PAGE * PAGE;
    if wanted < room { wanted } else { room }
}

/// Bytes of a rank's buffers for a group.
pub(crate) const fn rank_len(ranks: u32) -> usize {
    rank_bounce_len(ranks) + pair_buffers_len(ranks)
}

/// Bytes of all ranks' bounce buffers and pair buffers.
pub(crate) const fn bounce_buffers_len(ranks: u32) -> usize {
    if ranks > RANKS {
        return 0;
    }
    ranks as usize * MAX_GROUPS * rank_len(ranks)
}

/// The mapped bounce buffers and pair buffers of all ranks.
#[derive(Debug)]
pub(crate) struct BounceBuffers {
    mapping: Mapping,
    ranks: u32,
}

impl BounceBuffers {
    /// The buffers of `ranks` ranks, which fill `mapping`.
    pub(crate) fn new(mapping: Mapping, ranks: u32) -> Self {
        assert_eq!(mapping.len(), bounce_buffers_len(ranks));
        Self { mapping, ranks }
    }

    /// The first byte of the [`SLOTS`] adjacent bounce buffers of `rank` for `group`, which have
    /// [`bounce_buffer_len`] bytes each.
    ///
    /// # Panics
    /// If there is no such rank or group.
    pub(crate) fn first(&self, rank: u32, group: usize) -> *mut u8 {
        assert!(rank < self.ranks && group < MAX_GROUPS);
        let at = (rank as usize * MAX_GROUPS + group) * rank_len(self.ranks);
        self.mapping.base().wrapping_add(at)
    }

    /// The first byte of the [pair buffers](pair_buffers_len) of `rank` for `group`.
    ///
    /// # Panics
    /// If there is no such rank or group.
    pub(crate) fn pair_buffers(&self, rank: u32, group: usize) -> *mut u8 {
        self.first(rank, group)
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
            for (rank, group) in (0..ranks).flat_map(|r| (0..MAX_GROUPS).map(move |p| (r, p))) {
                let at = slots_at(ranks, rank, group);
                assert!(at >= end, "{rank} of {ranks}, group {group}");
                end = at + words;
            }
            assert!(end * 8 <= slots_len(ranks));
            assert!(bounce_buffer_len(ranks) >= 4096);
            assert!(bounce_buffers_len(ranks) <= MAX_GROUPS * 2 * GROUP_LEN);
        }
        let lens = [2, 16, 64].map(bounce_buffer_len);
        assert_eq!(lens, [36 << 10, 36 << 10, 16 << 10]);
        let none = [slots_len(RANKS + 1), bounce_buffers_len(RANKS + 1)];
        assert_eq!((none, pair_buffers_len(1)), ([0, 0], 0));
    }
}
