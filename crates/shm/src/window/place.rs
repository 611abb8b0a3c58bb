//! Where a rank's memory in a window is, and its locks: [`WindowPlace`].

use std::sync::Arc;

use oxmpi_wire::Bytes;

use super::{WindowMemory, WindowWords};
use crate::heap::{HeapBlock, RankAreas};
use crate::transport::ShmTx;

/// Where the memory of a rank in a window is, as it tells the other ranks of its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowPlace {
    /// Offset of the first byte in the rank's area of the heap, if all bytes lie there.
    heap: Option<u64>,
    /// Address of the first byte in the rank's process.
    address: u64,
    /// Bytes.
    len: u64,
    /// Offset of the locks in the rank's area of the heap.
    locks: Option<u64>,
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
        let offset = |start: *const u8, len| areas.and_then(|areas| areas.offset(me, start, len));
        Self {
            heap: offset(start, len).filter(|_| len > 0),
            address: start.addr() as u64,
            len,
            locks: locks.and_then(|block| offset(block.start().as_ptr(), block.len())),
        }
    }

    /// The place as words.
    #[must_use]
    pub fn words(&self) -> [u64; Self::WORDS] {
        let offset = |offset: Option<u64>| offset.map_or(0, |at| at + 1);
        [
            offset(self.heap),
            self.address,
            self.len,
            offset(self.locks),
        ]
    }

    /// The reverse of [`WindowPlace::words`]. Any words are a place, perhaps of no memory.
    #[must_use]
    pub const fn of_words([heap, address, len, locks]: [u64; Self::WORDS]) -> Self {
        Self {
            heap: heap.checked_sub(1),
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
            Some(offset) => WindowMemory::mapped(areas, rank, offset, self.len)?,
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
                heap: Some(0),
                address: 1 << 47,
                len: 9,
                locks: Some(1 << 40),
            },
        ] {
            assert_eq!(WindowPlace::of_words(place.words()), place);
        }
        let any = WindowPlace::of_words([u64::MAX; 4]);
        assert_eq!(any.heap, Some(u64::MAX - 1), "checked when it is reached");
    }
}
