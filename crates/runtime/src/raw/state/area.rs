//! The bytes that a collective reads or writes: one piece, or a block for each rank or neighbour.

use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use crate::data::source;

/// The bytes of one direction.
#[derive(Clone, Debug)]
pub(crate) enum Area {
    /// All elements. Where there is one block for each rank or neighbour, they are equally long and
    /// follow one another in their order.
    Whole(RawBytes),
    /// One block for each rank or neighbour, each of its own length and in its own place: the
    /// collectives whose names end in v or w, and reduce_scatter's input.
    Blocks(BlockRanges),
}

/// Blocks, and how long they are.
#[derive(Clone, Debug)]
pub(crate) struct BlockRanges {
    /// Elements of each block.
    lengths: Vec<u64>,
    /// Where each block is; none where the blocks are only counted.
    places: Vec<RawBytes>,
}

impl Area {
    /// No bytes.
    pub(crate) const fn empty() -> Self {
        Self::Whole(RawBytes::empty())
    }

    /// The bytes that lie in one piece; of blocks none.
    pub(crate) const fn whole(&self) -> RawBytes {
        match self {
            Self::Whole(bytes) => *bytes,
            Self::Blocks(_) => RawBytes::empty(),
        }
    }

    /// Bytes of all of it.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Blocks(blocks) => blocks.places.iter().map(Bytes::len).sum(),
        }
    }

    /// Elements of each block; none where all are equally long.
    pub(super) fn lengths(&self) -> &[u64] {
        match self {
            Self::Whole(_) => &[],
            Self::Blocks(blocks) => &blocks.lengths,
        }
    }

    /// The lengths as plans see them: numbers of 8 bytes, low byte first.
    pub(in crate::raw) fn counts(&self) -> RawBytes {
        const {
            assert!(
                cfg!(target_endian = "little"),
                "ranks tell each other lengths low byte first, as they keep them"
            );
        }
        source(self.lengths())
    }
}

impl BlockRanges {
    /// Where block `n` is, if it has at most `limit` elements.
    pub(in crate::raw) fn place(&self, n: u32, limit: u64) -> Option<RawBytes> {
        let at = n as usize;
        let short = self.lengths.get(at)? <= &limit;
        short.then(|| self.places.get(at).copied())?
    }

    /// Where the blocks are.
    pub(in crate::raw) fn places(&self) -> &[RawBytes] {
        &self.places
    }

    /// The blocks at `places`, in elements of `element` bytes: those of a reduction, else 1.
    pub(crate) fn new(places: Vec<RawBytes>, element: u64) -> Self {
        let lengths = places.iter().map(|place| place.len() / element.max(1));
        Self {
            lengths: lengths.collect(),
            places,
        }
    }

    /// Blocks that have so many elements and are nowhere: what reduce_scatter in place is given.
    pub(crate) const fn counted(lengths: Vec<u64>) -> Self {
        Self {
            lengths,
            places: Vec::new(),
        }
    }
}
