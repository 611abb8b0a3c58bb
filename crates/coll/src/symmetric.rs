//! Rank-symmetric plans: every rank does the same relative to its position in the ring of ranks.
//!
//! A [`SymmetricPlan`] holds no rank. It names peers and blocks by distances around the ring;
//! [`RelativeView`] and [`RelativeActs`] translate them into ranks and parts, and reveal nothing but lengths
//! of blocks. So where all blocks have the same length, two ranks with equal plans do the same, rotated by
//! their distance: one comparison shows it, where comparing their acts takes one for each step.

use core::ops::Range;

use crate::blocks::Blocks;
use crate::blocks::{Division, RotatedBlocks};
use crate::eager::{EagerLimit, exchange};
use crate::partition::{Partition, piece};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs, Side};
use crate::rank_ring::RankRing;

/// What every rank of a ring does.
pub(crate) trait SymmetricPlan: Copy + Eq {
    /// [`Plan::steps`] among `size` ranks.
    fn steps(&self, size: u32) -> u32;

    /// As [`Plan::scratch`].
    fn scratch(&self, around: &RelativeView<'_>) -> u64;

    /// As [`Plan::step`]; all lengths are known at the start.
    fn step(&self, i: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) -> u32;
}

/// A symmetric plan as one rank runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtRank<C> {
    place: RankRing,
    plan: C,
}

impl<C> AtRank<C> {
    /// The plan at a position in the ring.
    pub(crate) const fn new(place: RankRing, plan: C) -> Self {
        AtRank { place, plan }
    }

    /// The rank's position in the ring.
    pub(crate) const fn place(&self) -> RankRing {
        self.place
    }

    /// The plan that all ranks share.
    pub(crate) const fn symmetric(&self) -> &C {
        &self.plan
    }
}

impl<C: SymmetricPlan> Plan for AtRank<C> {
    #[inline]
    fn steps(&self) -> u32 {
        self.plan.steps(self.place.size())
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        let place = self.place;
        self.plan.scratch(&RelativeView { place, inputs })
    }

    #[inline]
    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let place = self.place;
        let mut acts = RelativeActs { place, acts };
        Some(
            self.plan
                .step(i, &RelativeView { place, inputs }, &mut acts),
        )
    }

    fn is_rotation(&self, by: u32, other: &Self) -> bool {
        self.plan == other.plan && self.place.rotated(by) == other.place
    }
}

/// The surroundings of a rank by distance: block 0 is its own, and the other blocks follow around the ring.
/// Distances are at most the number of ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelativeView<'a> {
    place: RankRing,
    inputs: &'a PlanInputs<'a>,
}

impl RelativeView<'_> {
    /// The number of ranks.
    pub(crate) const fn size(&self) -> u32 {
        self.place.size()
    }

    /// The distance from the rank `above` this one up to this one.
    pub(crate) const fn back(&self, above: u32) -> u32 {
        self.place.size() - above
    }

    /// A block of the input.
    pub(crate) fn input(&self, blocks: Blocks, above: u32) -> RelativePart {
        RelativePart(blocks.input(self.inputs, self.place.above(above)))
    }

    /// A block of the output.
    pub(crate) fn output(&self, blocks: Blocks, above: u32) -> RelativePart {
        RelativePart(blocks.output(self.inputs, self.place.above(above)))
    }

    /// Blocks of a vector that is divided into `blocks` and begins with rank 0's block.
    pub(crate) fn natural(&self, buf: Buf, blocks: Division, above: Range<u32>) -> RelativePart {
        let view = self.rotated(blocks);
        RelativePart(view.natural(buf, above.start, above.end, self.inputs))
    }

    /// Blocks of a vector that is divided into `blocks` and begins with this rank's block.
    pub(crate) fn owns_first(&self, buf: Buf, blocks: Division, above: Range<u32>) -> RelativePart {
        let view = self.rotated(blocks);
        RelativePart(view.rotated(buf, above.start, above.end, self.inputs))
    }

    /// The number of elements of these blocks.
    pub(crate) fn len(&self, blocks: Division, above: Range<u32>) -> u64 {
        let view = self.rotated(blocks);
        view.len(above.start, above.end, self.inputs)
    }

    /// A piece of a vector that is cut into one piece per rank.
    pub(crate) const fn piece(&self, buf: Buf, pieces: Partition, above: u32) -> RelativePart {
        let (first, count) = pieces.piece(self.place.above(above));
        RelativePart(Part::new(buf, first, count))
    }

    const fn rotated(&self, blocks: Division) -> RotatedBlocks {
        RotatedBlocks {
            ring: self.place,
            blocks,
        }
    }
}

/// Elements somewhere in the buffers: their number is known to the plan, their place is not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelativePart(Part);

impl RelativePart {
    /// No elements.
    pub(crate) const EMPTY: RelativePart = RelativePart(Part::EMPTY);

    /// `count` elements of a buffer from `first` on, the same on every rank.
    pub(crate) const fn fixed(buf: Buf, first: u64, count: u64) -> Self {
        RelativePart(Part::new(buf, first, count))
    }

    /// The same elements of another buffer.
    pub(crate) const fn within(self, buf: Buf) -> Self {
        RelativePart(Part { buf, ..self.0 })
    }

    /// Piece `index` of `pieces`. The elements must be consecutive.
    pub(crate) const fn cut(self, pieces: u32, index: u32) -> Self {
        let (first, count) = piece(self.0.first, self.0.count, pieces, index);
        RelativePart(Part {
            first,
            count,
            ..self.0
        })
    }

    pub(crate) const fn len(&self) -> u64 {
        self.0.len()
    }
}

/// Adds a rank's acts with peers by distance.
#[derive(Debug)]
pub(crate) struct RelativeActs<'a> {
    place: RankRing,
    acts: &'a mut Acts,
}

impl RelativeActs<'_> {
    /// Receives from the rank `below` below, unless there is no element.
    #[inline]
    pub(crate) fn recv(&mut self, below: u32, tag: u32, into: RelativePart) {
        if into.len() > 0 {
            self.acts.recv(self.place.below(below), tag, into.0);
        }
    }

    /// Sends to the rank `above` above, unless there is no element.
    #[inline]
    pub(crate) fn send(&mut self, above: u32, tag: u32, from: RelativePart) {
        if from.len() > 0 {
            self.acts.send(self.place.above(above), tag, from.0);
        }
    }

    /// Receives from the rank `distance` below and sends to the rank `distance` above, in the order of
    /// [`exchange`].
    #[inline]
    pub(crate) fn exchange(
        &mut self,
        distance: u32,
        tag: u32,
        into: RelativePart,
        from: RelativePart,
    ) {
        let (below, above) = (self.place.below(distance), self.place.above(distance));
        exchange(self.acts, tag, (below, into.0), (above, from.0));
    }

    /// The same for elements that need not be bytes.
    #[inline]
    pub(crate) fn exchange_of(
        &mut self,
        short: EagerLimit,
        (distance, tag): (u32, u32),
        into: RelativePart,
        from: RelativePart,
    ) {
        let (below, above) = (self.place.below(distance), self.place.above(distance));
        short.exchange(self.acts, tag, (below, into.0), (above, from.0));
    }

    /// Copies elements, if there are any.
    #[inline]
    pub(crate) fn copy(&mut self, from: RelativePart, into: RelativePart) {
        if from.len() > 0 {
            self.acts.copy(from.0, into.0);
        }
    }

    /// Combines elements, if there are any.
    #[inline]
    pub(crate) fn reduce(&mut self, from: RelativePart, into: RelativePart, side: Side) {
        if from.len() > 0 {
            self.acts.reduce(from.0, into.0, side);
        }
    }
}
