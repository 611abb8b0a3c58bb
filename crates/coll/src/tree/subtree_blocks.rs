//! Gather and scatter of equal blocks over a k-nomial tree: where a rank keeps its subtree's blocks.

use core::ops::Range;

use super::{KnomialPlace, Subtrees, TreePlace};
use crate::call::{Call, Parameters};
use crate::plan::{Buf, Part};

/// One rank's tree position and the consecutive blocks of its subtree: at the root in the caller's buffer, at
/// a rank between root and leaves in scratch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubtreeBlocks {
    pub(crate) place: KnomialPlace,
    /// Elements of a block.
    pub(crate) count: u64,
    in_place: bool,
}

impl SubtreeBlocks {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        SubtreeBlocks {
            place: KnomialPlace::of(call, parameters),
            count: call.count,
            in_place: call.in_place,
        }
    }

    /// The steps of a plan with one for each child slot, one that copies the rank's own block, and below the
    /// root one for the parent; a leaf has that one only.
    pub(crate) fn steps(&self) -> u32 {
        match self.place.parent() {
            _ if self.count == 0 => 0,
            None => self.place.places() + u32::from(!self.in_place),
            Some(_) if self.place.is_leaf() => 1,
            Some(_) => self.place.places() + 2,
        }
    }

    /// The first rank whose block is kept.
    pub(crate) fn first(&self) -> u32 {
        self.place.subtree().start
    }

    /// The elements that are kept in scratch.
    pub(crate) fn scratch(&self) -> u64 {
        if self.place.parent().is_none() || self.place.is_leaf() {
            0
        } else {
            self.place.subtree().len() as u64 * self.count
        }
    }

    /// Where the blocks of some ranks of the subtree lie; at the root, in buffer `rooted`.
    pub(crate) fn part(&self, rooted: Buf, ranks: Range<u32>) -> Part {
        let buf = match self.place.parent() {
            Some(_) => Buf::Scratch,
            None => rooted,
        };
        let (before, len) = (ranks.start - self.first(), ranks.len());
        Part::new(buf, u64::from(before) * self.count, len as u64 * self.count)
    }

    /// Where this rank's own block lies among them.
    pub(crate) fn own(&self, rooted: Buf) -> Part {
        let rank = self.place.rank();
        self.part(rooted, rank..rank + 1)
    }
}
