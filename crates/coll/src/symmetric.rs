//! Plans in which every rank does the same, from where it stands on the ring of ranks.
//!
//! A [`SymmetricPlan`] plan holds no rank. It says by distances around the ring who is meant and where
//! blocks lie, and whom it says it to, [`RelativeView`] and [`RelativeActs`], make ranks and parts of that and
//! tell nothing back but how long blocks are. So where all blocks are equally long, what it says cannot
//! differ from rank to rank: two ranks whose plans are equal do the same, turned by as much as they
//! lie apart. That takes one comparison, where comparing what they do takes one for each step.

use core::ops::Range;

use crate::blocks::Blocks;
use crate::blocks::{Division, RotatedBlocks};
use crate::eager::{EagerLimit, exchange};
use crate::partition::{Partition, piece};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs, Side};
use crate::rank_ring::RankRing;

/// What every rank of a ring does.
pub trait SymmetricPlan: Copy + Eq {
    /// As [`Plan::steps`], among so many ranks.
    fn steps(&self, size: u32) -> u32;

    /// As [`Plan::scratch`].
    fn scratch(&self, around: &RelativeView<'_>) -> u64;

    /// As [`Plan::step`]; all lengths are known at the start.
    fn step(&self, i: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) -> u32;
}

/// A symmetric plan as one rank runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtRank<C> {
    place: RankRing,
    plan: C,
}

impl<C> AtRank<C> {
    /// The plan at a place.
    pub(crate) const fn new(place: RankRing, plan: C) -> Self {
        AtRank { place, plan }
    }

    /// Where the rank stands.
    pub(crate) const fn place(&self) -> RankRing {
        self.place
    }

    /// What every rank does.
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

/// What lies around a rank, by distance: block 0 is its own, and the others follow around the ring. A
/// distance is at most the number of ranks.
#[derive(Clone, Copy, Debug)]
pub struct RelativeView<'a> {
    place: RankRing,
    inputs: &'a PlanInputs<'a>,
}

impl RelativeView<'_> {
    /// The number of ranks.
    pub(crate) const fn size(&self) -> u32 {
        self.place.size()
    }

    /// How far the rank lies above the one that lies so far above itself.
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

    /// Blocks of a vector that is divided so, and begins with rank 0's.
    pub(crate) fn natural(&self, buf: Buf, blocks: Division, above: Range<u32>) -> RelativePart {
        let view = self.rotated(blocks);
        RelativePart(view.natural(buf, above.start, above.end, self.inputs))
    }

    /// Blocks of a vector that is divided so, and begins with the rank's own.
    pub(crate) fn owns_first(&self, buf: Buf, blocks: Division, above: Range<u32>) -> RelativePart {
        let view = self.rotated(blocks);
        RelativePart(view.rotated(buf, above.start, above.end, self.inputs))
    }

    /// The elements of blocks of such a vector.
    pub(crate) fn len(&self, blocks: Division, above: Range<u32>) -> u64 {
        let view = self.rotated(blocks);
        view.len(above.start, above.end, self.inputs)
    }

    /// A piece of a vector that is cut into one for each rank.
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

/// Elements, somewhere: how many they are is told, and not where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelativePart(Part);

impl RelativePart {
    /// None.
    pub(crate) const EMPTY: RelativePart = RelativePart(Part::EMPTY);

    /// The first elements of a buffer from `first` on, the same ones on every rank.
    pub(crate) const fn fixed(buf: Buf, first: u64, count: u64) -> Self {
        RelativePart(Part::new(buf, first, count))
    }

    /// The same elements of another buffer.
    pub(crate) const fn within(self, buf: Buf) -> Self {
        RelativePart(Part { buf, ..self.0 })
    }

    /// One of so many pieces. The elements follow one another.
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

/// Takes what a rank does, by distance, and adds the acts. Nothing is told back.
#[derive(Debug)]
pub struct RelativeActs<'a> {
    place: RankRing,
    acts: &'a mut Acts,
}

impl RelativeActs<'_> {
    /// Receives from the rank so far below; nothing, if there is no element.
    #[inline]
    pub(crate) fn recv(&mut self, below: u32, tag: u32, into: RelativePart) {
        if into.len() > 0 {
            self.acts.recv(self.place.below(below), tag, into.0);
        }
    }

    /// Sends to the rank so far above; nothing, if there is no element.
    #[inline]
    pub(crate) fn send(&mut self, above: u32, tag: u32, from: RelativePart) {
        if from.len() > 0 {
            self.acts.send(self.place.above(above), tag, from.0);
        }
    }

    /// Receives from the rank so far below and sends to the one as far above, in the order of
    /// [`exchange`](crate::eager::exchange).
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

    /// The same of elements that need not be bytes.
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
