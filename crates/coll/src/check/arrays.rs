//! The arrays of lengths and neighbours that ranks pass to a collective.

use alloc::sync::Arc;

use crate::plan::CallArrays;

/// The lengths of consecutive blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    lengths: Arc<[u64]>,
    /// The start of each block, then the end of the last one.
    starts: Arc<[u64]>,
}

impl Lengths {
    /// Blocks of these lengths.
    pub fn new(lengths: impl IntoIterator<Item = u64>) -> Self {
        let lengths: Arc<[u64]> = lengths.into_iter().collect();
        let mut end = 0;
        let ends = lengths.iter().map(|length| {
            end += length;
            end
        });
        let starts = core::iter::once(0).chain(ends).collect();
        Lengths { lengths, starts }
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The start of block `index`; for the number of blocks, the end of the last one. `None` beyond.
    pub fn start(&self, index: usize) -> Option<u64> {
        self.starts.get(index).copied()
    }

    /// The elements of all blocks together.
    pub fn total(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The length of block `index`.
    ///
    /// # Panics
    ///
    /// If there is no such block.
    pub fn length(&self, index: usize) -> u64 {
        self.lengths[index]
    }
}

/// The arrays that one rank passes to a collective. Cloning is cheap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrays {
    /// As [`CallArrays::sends`].
    pub sends: Lengths,
    /// As [`CallArrays::recvs`].
    pub recvs: Lengths,
    /// As [`CallArrays::sources`].
    pub sources: Arc<[u32]>,
    /// As [`CallArrays::destinations`].
    pub destinations: Arc<[u32]>,
}

impl Arrays {
    /// The arrays in the form that a plan gets.
    pub fn given(&self) -> CallArrays<'_> {
        CallArrays {
            sends: &self.sends.lengths,
            recvs: &self.recvs.lengths,
            sources: &self.sources,
            destinations: &self.destinations,
        }
    }
}
