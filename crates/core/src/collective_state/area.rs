//! The bytes that a collective reads or writes: one piece, or a block for each rank or neighbour.

use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use crate::bytes::source;

/// The bytes of one direction of a collective.
#[derive(Clone, Debug)]
pub enum Area {
    /// One range with all elements. Where there is a block for each rank or neighbour, the blocks have equal
    /// lengths and follow one another.
    Whole(RawBytes),
    /// One block for each rank or neighbour, each of any length and anywhere: the collectives whose names end
    /// in v or w, and the input of reduce_scatter.
    Blocks(BlockRanges),
}

/// The memory and the lengths of blocks.
#[derive(Clone, Debug)]
pub struct BlockRanges {
    /// Elements of each block.
    lengths: Vec<u64>,
    /// The memory of each block; empty where only the lengths are known.
    places: Vec<RawBytes>,
}

impl Area {
    /// Blocks of bytes at these places.
    pub fn of_blocks(places: Vec<RawBytes>) -> Self {
        Self::Blocks(BlockRanges::new(places, 1))
    }

    /// No bytes.
    pub const fn empty() -> Self {
        Self::Whole(RawBytes::empty())
    }

    /// The range of [`Area::Whole`]; empty for blocks.
    pub const fn whole(&self) -> RawBytes {
        match self {
            Self::Whole(bytes) => *bytes,
            Self::Blocks(_) => RawBytes::empty(),
        }
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Blocks(blocks) => blocks.places.iter().map(Bytes::len).sum(),
        }
    }

    /// Elements of each block; empty where all blocks have equal lengths.
    pub(super) fn lengths(&self) -> &[u64] {
        match self {
            Self::Whole(_) => &[],
            Self::Blocks(blocks) => &blocks.lengths,
        }
    }

    /// The lengths as plans read them: numbers of 8 bytes, low byte first.
    pub(crate) fn counts(&self) -> RawBytes {
        const {
            assert!(
                cfg!(target_endian = "little"),
                "ranks exchange lengths as they are in memory, low byte first"
            );
        }
        source(self.lengths())
    }
}

impl BlockRanges {
    /// The memory of block `n`, if it has at most `limit` elements.
    pub(crate) fn place(&self, n: u32, limit: u64) -> Option<RawBytes> {
        let at = n as usize;
        let short = self.lengths.get(at)? <= &limit;
        short.then(|| self.places.get(at).copied())?
    }

    /// The memory of each block.
    pub(crate) fn places(&self) -> &[RawBytes] {
        &self.places
    }

    /// The blocks at `places`, in elements of `element` bytes: those of a reduction, else 1.
    pub fn new(places: Vec<RawBytes>, element: u64) -> Self {
        let lengths = places.iter().map(|place| place.len() / element.max(1));
        Self {
            lengths: lengths.collect(),
            places,
        }
    }

    /// Blocks of which only the lengths are known: the input of reduce_scatter in place.
    pub const fn counted(lengths: Vec<u64>) -> Self {
        Self {
            lengths,
            places: Vec::new(),
        }
    }
}
