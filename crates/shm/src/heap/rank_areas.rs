//! The areas of the heap that belong to the ranks of one segment: [`RankAreas`].

use std::sync::Arc;
use std::vec::Vec;

use super::Heap;

/// The heap, and the area of each rank of a segment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RankAreas {
    heap: Arc<Heap>,
    /// By rank: the number of its area.
    areas: Vec<u32>,
}

impl RankAreas {
    /// Each rank has the area of its own number.
    pub(crate) fn all(heap: Arc<Heap>) -> Self {
        let areas = (0..heap.ranks).collect();
        Self { heap, areas }
    }

    /// The same heap for a segment of other ranks: those with the numbers `ranks` in this one, in that order.
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

    /// Offset in the area of `rank` of the `len` bytes from `address` on, if all of them lie in it.
    #[inline]
    #[must_use]
    pub fn offset(&self, rank: u32, address: *const u8, len: u64) -> Option<u64> {
        let area = *self.areas.get(rank as usize)?;
        self.heap.offset(area, address, len)
    }

    /// The address in this process of the `len` bytes from byte `offset` of the area of `rank` on, if the
    /// area has them. Access them by opaque copies only: they are another process's.
    #[inline]
    #[must_use]
    pub fn place(&self, rank: u32, offset: u64, len: u64) -> Option<*mut u8> {
        let area = *self.areas.get(rank as usize)?;
        self.heap.place(area, offset, len)
    }
}
