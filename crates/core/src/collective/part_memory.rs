//! Maps the parts of a collective's plan to the memory of the call: its input, output and scratch buffers.

use oxmpi_coll::plan::{Buf, Part};
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::super::collective_state::{Area, Buffers};

/// The error of a part that is not in its buffer: the buffer is shorter than the call says, or the plan is
/// wrong.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartOutside;

/// The buffers of one rank's call, and the sizes that turn element numbers into bytes.
#[derive(Clone, Copy)]
pub(super) struct PartMemory<'a> {
    pub(super) buffers: &'a Buffers,
    pub(super) scratch: RawBytes,
    /// Bytes of one element.
    pub(super) element: u64,
    /// Bytes of one block where all blocks of a buffer are equally long.
    pub(super) block: u64,
}

impl<'a> PartMemory<'a> {
    /// The part as one range, if a message can be sent from it or received into it without a copy. `None`
    /// also for a part that is [outside](PartOutside).
    pub(super) fn whole(&self, part: Part) -> Option<RawBytes> {
        let (bytes, shift) = match (part.buf, &self.buffers.input, &self.buffers.output) {
            (Buf::In, Area::Whole(bytes), _) | (Buf::Out, _, Area::Whole(bytes)) => (*bytes, 0),
            (Buf::Scratch, ..) => (self.scratch, 0),
            _ if part.is_empty() => return Some(RawBytes::empty()),
            (Buf::InBlock(n), Area::Whole(bytes), _)
            | (Buf::OutBlock(n), _, Area::Whole(bytes)) => {
                (*bytes, self.block.checked_mul(n.into())?)
            }
            (Buf::InBlock(n), Area::Blocks(blocks), _)
            | (Buf::OutBlock(n), _, Area::Blocks(blocks)) => (blocks.place(n, part.limit)?, 0),
            _ => return None,
        };
        if !is_layout(part) {
            return None;
        }
        let at = part.first.checked_mul(self.element)?.checked_add(shift)?;
        let count = part.count.checked_mul(self.element)?;
        if at == 0 && part.times == 1 && count == bytes.len() {
            return Some(bytes);
        }
        let stride = part.stride.checked_mul(self.element as i64)?;
        bytes.part(at, count, stride, part.times)
    }

    /// The part as ranges without gaps, in message order; a range that is outside its buffer ends them with
    /// an error.
    pub(super) fn pieces(
        self,
        part: Part,
    ) -> impl Iterator<Item = Result<RawBytes, PartOutside>> + use<'a> {
        let element = self.element;
        part.blocks().flat_map(move |range| {
            let walk = || {
                let len = range.end.checked_sub(range.start)?.checked_mul(element)?;
                self.walk(part, range.start.checked_mul(element)?, len)
            };
            let (walk, outside) = match walk() {
                Some(walk) => (Some(walk), None),
                None => (None, Some(Err(PartOutside))),
            };
            walk.into_iter().flatten().chain(outside)
        })
    }

    /// `len` bytes, starting `at` bytes after the start of the part's buffer or block.
    fn walk(
        self,
        part: Part,
        at: u64,
        len: u64,
    ) -> Option<impl Iterator<Item = Result<RawBytes, PartOutside>> + use<'a>> {
        let whole = |bytes| (BlockList::One(bytes), 0, 0);
        let (blocks_of, index, shift) = match (part.buf, &self.buffers.input, &self.buffers.output)
        {
            (Buf::Scratch, ..) => whole(self.scratch),
            (Buf::Counts, input, _) => whole(input.counts()),
            (Buf::In, Area::Whole(bytes), _) | (Buf::Out, _, Area::Whole(bytes)) => whole(*bytes),
            (Buf::In, Area::Blocks(blocks), _) | (Buf::Out, _, Area::Blocks(blocks)) => {
                (BlockList::Blocks(blocks.places()), 0, 0)
            }
            (Buf::InBlock(n), Area::Whole(bytes), _)
            | (Buf::OutBlock(n), _, Area::Whole(bytes)) => {
                (BlockList::One(*bytes), 0, self.block.checked_mul(n.into())?)
            }
            (Buf::InBlock(n), Area::Blocks(blocks), _)
            | (Buf::OutBlock(n), _, Area::Blocks(blocks)) => {
                (BlockList::Blocks(blocks.places()), n as usize, 0)
            }
            _ => return None,
        };
        let wraps = matches!(part.buf, Buf::InBlock(_) | Buf::OutBlock(_));
        let walk = BlockWalk {
            blocks_of,
            index,
            // The first block occurs twice where the last one continues in the first.
            visits_left: if wraps {
                blocks_of.len() + 1
            } else {
                blocks_of.len()
            },
            limit: part.limit.saturating_mul(self.element),
            skip: at.checked_add(shift)?,
            left: len,
        };
        Some(walk.flat_map(|piece| {
            let (bytes, at, len) = piece.unwrap_or((RawBytes::empty(), 0, 0));
            let outside = piece.is_err().then_some(Err(PartOutside));
            bytes.pieces(at, len).map(Ok).chain(outside)
        }))
    }
}

/// The memory that a walk visits: one range, or blocks as if they lay side by side.
#[derive(Clone, Copy)]
enum BlockList<'a> {
    One(RawBytes),
    Blocks(&'a [RawBytes]),
}

impl BlockList<'_> {
    const fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Blocks(places) => places.len(),
        }
    }

    fn get(&self, index: usize) -> Option<RawBytes> {
        match self {
            Self::One(bytes) => Some(*bytes),
            Self::Blocks(places) => places.get(index).copied(),
        }
    }
}

/// Iterates over the bytes of blocks from block `index` on; after the last block comes the first.
struct BlockWalk<'a> {
    blocks_of: BlockList<'a>,
    /// The block to visit next.
    index: usize,
    /// How many more blocks may be visited; needing more is an error.
    visits_left: usize,
    /// The walk skips blocks of more bytes than this.
    limit: u64,
    /// Bytes left to skip before the first byte to return.
    skip: u64,
    /// Bytes left to return.
    left: u64,
}

impl Iterator for BlockWalk<'_> {
    /// A block, the offset of the first of its packed bytes, and their number.
    type Item = Result<(RawBytes, u64, u64), PartOutside>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            let block = self.blocks_of.get(self.index);
            let (Some(block), Some(visits_left)) = (block, self.visits_left.checked_sub(1)) else {
                self.left = 0;
                return Some(Err(PartOutside));
            };
            self.visits_left = visits_left;
            self.index = (self.index + 1) % self.blocks_of.len();
            if block.len() > self.limit {
                continue;
            }
            let at = self.skip.min(block.len());
            self.skip -= at;
            let len = self.left.min(block.len() - at);
            if len > 0 {
                self.left -= len;
                return Some(Ok((block, at, len)));
            }
        }
        None
    }
}

/// Whether the elements of a part are contiguous or at equal distances. This holds for
/// a part with a wrap-around only if it ends before it wraps.
fn is_layout(part: Part) -> bool {
    let reach = part.first.checked_add(part.count);
    part.wrap == 0 || part.times == 1 && reach.is_some_and(|reach| reach <= part.wrap)
}
