//! Where a rank's memory in a window is, and its locks: [`WindowPlace`].

use std::sync::Arc;

use oxmpi_wire::Bytes;

use super::{WindowMemory, WindowWords};
use crate::heap::{HeapBlock, RankAreas};
use crate::transport::ShmTx;

/// Where the memory of a rank in a window is, as it tells the other ranks of its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowPlace {
    /// Whose area of the heap has all bytes, if one has, and the offset of the first there.
    heap: Option<AreaPlace>,
    /// Address of the first byte in the rank's process.
    address: u64,
    /// Bytes.
    len: u64,
    /// Offset of the locks in the rank's area of the heap.
    locks: Option<u64>,
}

/// A place in the area of a rank of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AreaPlace {
    /// The rank's number on the node.
    rank: u16,
    offset: u64,
}

/// Bits of a word that have an offset; those above have the rank.
const OFFSET_BITS: u32 = 48;

impl AreaPlace {
    const fn word(self) -> u64 {
        ((self.rank as u64) << OFFSET_BITS | self.offset) + 1
    }

    const fn of_word(word: u64) -> Option<Self> {
        let Some(word) = word.checked_sub(1) else {
            return None;
        };
        let offset = word & ((1 << OFFSET_BITS) - 1);
        let rank = (word >> OFFSET_BITS) as u16;
        Some(Self { rank, offset })
    }
}

impl WindowPlace {
    /// Words of a place that is sent.
    pub const WORDS: usize = 4;

    /// The place of the `len` bytes from `start` on, which are those of rank `me`, with locks in `locks`.
    #[must_use]
    pub fn of(
        areas: Option<&RankAreas>,
        me: u32,
        (start, len): (*mut u8, u64),
        locks: Option<&HeapBlock>,
    ) -> Self {
        let offset = |rank: u32, start: *const u8, len| areas?.offset(rank, start, len);
        // Mostly the rank's own; that of another one where they share what one of them has allocated.
        let ranks = std::iter::once(me).chain(0..areas.map_or(0, RankAreas::ranks) as u32);
        let heap = ranks.filter(|_| len > 0).find_map(|rank| {
            let offset = offset(rank, start, len).filter(|&offset| offset < 1 << OFFSET_BITS)?;
            let rank = u16::try_from(rank).ok()?;
            Some(AreaPlace { rank, offset })
        });
        Self {
            heap,
            address: start.addr() as u64,
            len,
            locks: locks.and_then(|block| offset(me, block.start().as_ptr(), block.len())),
        }
    }

    /// The place as words.
    #[must_use]
    pub fn words(&self) -> [u64; Self::WORDS] {
        [
            self.heap.map_or(0, AreaPlace::word),
            self.address,
            self.len,
            self.locks.map_or(0, |at| at + 1),
        ]
    }

    /// The reverse of [`WindowPlace::words`]. Any words are a place, perhaps of no memory.
    #[must_use]
    pub const fn of_words([heap, address, len, locks]: [u64; Self::WORDS]) -> Self {
        Self {
            heap: AreaPlace::of_word(heap),
            address,
            len,
            locks: locks.checked_sub(1),
        }
    }

    /// The memory at this place of rank `rank` and its locks, if this rank reaches both.
    ///
    /// # Cost
    /// A system call the first time that memory of the rank is reached by one.
    pub fn reach<B: Bytes>(
        &self,
        areas: &RankAreas,
        rank: u32,
        tx: &mut ShmTx<B>,
    ) -> Option<(WindowMemory, WindowWords)> {
        let words = self.reach_locks(areas, rank)?;
        let memory = match self.heap {
            Some(AreaPlace { rank, offset }) => {
                WindowMemory::mapped(areas, rank.into(), offset, self.len)?
            }
            None => WindowMemory::of_process(tx.process(rank)?, self.address, self.len),
        };
        Some((memory, words))
    }

    /// The locks of the memory at this place of rank `rank`, if this rank reaches them.
    #[must_use]
    pub fn reach_locks(&self, areas: &RankAreas, rank: u32) -> Option<WindowWords> {
        WindowWords::mapped(areas, rank, self.locks?, self.len)
    }

    /// Memory for the locks of `len` bytes, in this rank's area of the heap.
    #[must_use]
    pub fn allocate_locks(areas: &RankAreas, len: u64) -> Option<HeapBlock> {
        let heap = Arc::clone(areas.heap());
        heap.allocate(WindowWords::bytes(len)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_there_and_back() {
        for place in [
            WindowPlace::default(),
            WindowPlace {
                heap: Some(AreaPlace { rank: 3, offset: 0 }),
                address: 1 << 47,
                len: 9,
                locks: Some(1 << 40),
            },
        ] {
            assert_eq!(WindowPlace::of_words(place.words()), place);
        }
        let any = WindowPlace::of_words([u64::MAX; 4]);
        assert_eq!(any.heap.map(|place| place.rank), Some(u16::MAX));
        assert_eq!(any.locks, Some(u64::MAX - 1), "checked when it is reached");
    }
}
