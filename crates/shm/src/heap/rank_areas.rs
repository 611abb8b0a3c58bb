//! Which area of the heap is whose, in a segment.

use std::sync::Arc;
use std::vec::Vec;

use super::Heap;

/// The heap as the ranks of one segment reach it. Cheap to clone beside a list of its ranks.
#[derive(Clone, Debug)]
pub struct RankAreas {
    heap: Arc<Heap>,
    /// By rank: which area is its.
    areas: Vec<u32>,
}

impl RankAreas {
    /// Every rank has the area of its number.
    pub(crate) fn all(heap: Arc<Heap>) -> Self {
        let areas = (0..heap.ranks).collect();
        Self { heap, areas }
    }

    /// The same heap for a segment of some of the ranks, in another order: those with the numbers
    /// `ranks` in this one.
    #[must_use]
    pub fn subset(&self, ranks: impl Iterator<Item = u32>) -> Self {
        let area = |rank| self.areas.get(rank as usize).copied();
        Self {
            heap: Arc::clone(&self.heap),
            areas: ranks.filter_map(area).collect(),
        }
    }

    /// The heap.
    #[must_use]
    pub const fn heap(&self) -> &Arc<Heap> {
        &self.heap
    }

    /// Number of ranks.
    pub(crate) fn ranks(&self) -> usize {
        self.areas.len()
    }

    /// How far into the area of `rank` the `len` bytes from `address` on begin, if all of them lie
    /// in it.
    #[inline]
    pub(crate) fn offset(&self, rank: u32, address: *const u8, len: u64) -> Option<u64> {
        let area = *self.areas.get(rank as usize)?;
        self.heap.offset(area, address, len)
    }

    /// Where the `len` bytes from byte `offset` of the area of `rank` on are in this process, if the
    /// area has them.
    #[inline]
    pub(crate) fn place(&self, rank: u32, offset: u64, len: u64) -> Option<*mut u8> {
        let area = *self.areas.get(rank as usize)?;
        self.heap.place(area, offset, len)
    }
}
