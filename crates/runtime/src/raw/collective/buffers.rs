//! What a collective works on.

use std::sync::Arc;

use oxmpi_coll::plan::{Given, Side};
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::widened::WidenedBuffers;
use crate::data::source;

/// A reduction's operation: combines the elements of `from` into those of `into`, which are as many
/// bytes and do not overlap. The side says on which side of the operation `from` stands.
pub(crate) type Operation<'a> = &'a dyn Fn(RawBytes, RawBytes, Side);

/// What a collective reads and writes. What each one finds where is told in its module of
/// `oxmpi-coll`; what it does not have is [`Area::empty`].
#[derive(Debug)]
pub(crate) struct Buffers {
    /// What the caller gives. It is not read in a call in place.
    pub(crate) input: Area,
    /// What the caller gets. A call in place finds its input here.
    pub(crate) output: Area,
    /// With whom a neighbourhood collective talks.
    pub(crate) neighbors: Option<Arc<Neighbors>>,
    /// Of a reduction whose elements stand for narrower ones of the caller's.
    pub(crate) wide: Option<Box<WidenedBuffers>>,
}

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

/// With whom a neighbourhood collective talks, in the caller's order:
/// [`NOBODY`](oxmpi_coll::catalog::NOBODY) may be among them.
#[derive(Clone, Debug)]
pub(crate) struct Neighbors {
    /// Ranks that send to this one.
    pub(crate) sources: Vec<u32>,
    /// Ranks to which this one sends.
    pub(crate) destinations: Vec<u32>,
}

impl Buffers {
    /// None.
    pub(crate) const NONE: Self = Self::new(Area::empty(), Area::empty());

    /// Of a collective that needs no neighbours.
    pub(crate) const fn new(input: Area, output: Area) -> Self {
        Self {
            input,
            output,
            neighbors: None,
            wide: None,
        }
    }

    /// Before the collective begins.
    #[inline]
    pub(super) fn begin(&self) {
        if let Some(wide) = &self.wide {
            wide.widen();
        }
    }

    /// After its end.
    #[inline]
    pub(super) fn end(&self) {
        if let Some(wide) = &self.wide {
            wide.narrow();
        }
    }

    /// The arrays that plans look at.
    pub(super) fn given(&self) -> Given<'_> {
        let neighbors = self.neighbors.as_deref();
        Given {
            sends: self.input.lengths(),
            recvs: self.output.lengths(),
            sources: neighbors.map_or(&[], |neighbors| &neighbors.sources),
            destinations: neighbors.map_or(&[], |neighbors| &neighbors.destinations),
        }
    }
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
    fn lengths(&self) -> &[u64] {
        match self {
            Self::Whole(_) => &[],
            Self::Blocks(blocks) => &blocks.lengths,
        }
    }

    /// The lengths as plans see them: numbers of 8 bytes, low byte first.
    pub(super) fn counts(&self) -> RawBytes {
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
    pub(super) fn place(&self, n: u32, limit: u64) -> Option<RawBytes> {
        let at = n as usize;
        let short = self.lengths.get(at)? <= &limit;
        short.then(|| self.places.get(at).copied())?
    }

    /// Where the blocks are.
    pub(super) fn places(&self) -> &[RawBytes] {
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
