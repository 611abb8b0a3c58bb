//! Plans in which every rank does the same, from where it stands on the circle of ranks.
//!
//! A [`Circular`] plan holds no rank. It says by distances around the circle who is meant and where
//! blocks lie, and whom it says it to, [`Around`] and [`CircularActs`], make ranks and parts of that and
//! tell nothing back but how long blocks are. So where all blocks are equally long, what it says cannot
//! differ from rank to rank: two ranks whose plans are equal do the same, turned by as much as they
//! lie apart. That takes one comparison, where comparing what they do takes one for each step.

use core::ops::Range;

use crate::blocks::Blocks;
use crate::circle::Circle;
use crate::circulant::{Division, Turned};
use crate::plan::{Acts, Buf, Known, Part, Plan, Side};
use crate::split::{Cut, piece};
use crate::window::{Short, exchange};

/// What every rank of a circle does.
pub trait Circular: Copy + Eq {
    /// As [`Plan::steps`], among so many ranks.
    fn steps(&self, size: u32) -> u32;

    /// As [`Plan::scratch`].
    fn scratch(&self, around: &Around<'_>) -> u64;

    /// As [`Plan::step`]; all lengths are known at the start.
    fn step(&self, i: u32, around: &Around<'_>, acts: &mut CircularActs<'_>) -> u32;
}

/// A circular plan as one rank runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed<C> {
    place: Circle,
    plan: C,
}

impl<C> Placed<C> {
    /// The plan at a place.
    pub(crate) const fn new(place: Circle, plan: C) -> Self {
        Placed { place, plan }
    }

    /// Where the rank stands.
    pub(crate) const fn place(&self) -> Circle {
        self.place
    }

    /// What every rank does.
    pub(crate) const fn circular(&self) -> &C {
        &self.plan
    }
}

impl<C: Circular> Plan for Placed<C> {
    #[inline]
    fn steps(&self) -> u32 {
        self.plan.steps(self.place.size())
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        let place = self.place;
        self.plan.scratch(&Around { place, known })
    }

    #[inline]
    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let place = self.place;
        let mut acts = CircularActs { place, acts };
        Some(self.plan.step(i, &Around { place, known }, &mut acts))
    }

    fn is_turned(&self, by: u32, other: &Self) -> bool {
        self.plan == other.plan && self.place.turned(by) == other.place
    }
}

/// What lies around a rank, by distance: block 0 is its own, and the others follow around the circle. A
/// distance is at most the number of ranks.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    place: Circle,
    known: &'a Known<'a>,
}

impl Around<'_> {
    /// The number of ranks.
    pub(crate) const fn size(&self) -> u32 {
        self.place.size()
    }

    /// How far the rank lies above the one that lies so far above itself.
    pub(crate) const fn back(&self, above: u32) -> u32 {
        self.place.size() - above
    }

    /// A block of the input.
    pub(crate) fn input(&self, blocks: Blocks, above: u32) -> Spot {
        Spot(blocks.input(self.known, self.place.above(above)))
    }

    /// A block of the output.
    pub(crate) fn output(&self, blocks: Blocks, above: u32) -> Spot {
        Spot(blocks.output(self.known, self.place.above(above)))
    }

    /// Blocks of a vector that is divided so, and begins with rank 0's.
    pub(crate) fn natural(&self, buf: Buf, blocks: Division, above: Range<u32>) -> Spot {
        let view = self.turned(blocks);
        Spot(view.natural(buf, above.start, above.end, self.known))
    }

    /// Blocks of a vector that is divided so, and begins with the rank's own.
    pub(crate) fn owns_first(&self, buf: Buf, blocks: Division, above: Range<u32>) -> Spot {
        let view = self.turned(blocks);
        Spot(view.turned(buf, above.start, above.end, self.known))
    }

    /// The elements of blocks of such a vector.
    pub(crate) fn len(&self, blocks: Division, above: Range<u32>) -> u64 {
        let view = self.turned(blocks);
        view.len(above.start, above.end, self.known)
    }

    /// A piece of a vector that is cut into one for each rank.
    pub(crate) const fn piece(&self, buf: Buf, pieces: Cut, above: u32) -> Spot {
        let (first, count) = pieces.piece(self.place.above(above));
        Spot(Part::new(buf, first, count))
    }

    const fn turned(&self, blocks: Division) -> Turned {
        Turned {
            circle: self.place,
            blocks,
        }
    }
}

/// Elements, somewhere: how many they are is told, and not where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot(Part);

impl Spot {
    /// None.
    pub(crate) const EMPTY: Spot = Spot(Part::EMPTY);

    /// The first elements of a buffer from `first` on, the same ones on every rank.
    pub(crate) const fn fixed(buf: Buf, first: u64, count: u64) -> Self {
        Spot(Part::new(buf, first, count))
    }

    /// The same elements of another buffer.
    pub(crate) const fn within(self, buf: Buf) -> Self {
        Spot(Part { buf, ..self.0 })
    }

    /// One of so many pieces. The elements follow one another.
    pub(crate) const fn cut(self, pieces: u32, index: u32) -> Self {
        let (first, count) = piece(self.0.first, self.0.count, pieces, index);
        Spot(Part {
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
pub struct CircularActs<'a> {
    place: Circle,
    acts: &'a mut Acts,
}

impl CircularActs<'_> {
    /// Receives from the rank so far below; nothing, if there is no element.
    #[inline]
    pub(crate) fn recv(&mut self, below: u32, tag: u32, into: Spot) {
        if into.len() > 0 {
            self.acts.recv(self.place.below(below), tag, into.0);
        }
    }

    /// Sends to the rank so far above; nothing, if there is no element.
    #[inline]
    pub(crate) fn send(&mut self, above: u32, tag: u32, from: Spot) {
        if from.len() > 0 {
            self.acts.send(self.place.above(above), tag, from.0);
        }
    }

    /// Receives from the rank so far below and sends to the one as far above, in the order of
    /// [`exchange`](crate::window::exchange).
    #[inline]
    pub(crate) fn exchange(&mut self, distance: u32, tag: u32, into: Spot, from: Spot) {
        let (below, above) = (self.place.below(distance), self.place.above(distance));
        exchange(self.acts, tag, (below, into.0), (above, from.0));
    }

    /// The same of elements that need not be bytes.
    #[inline]
    pub(crate) fn exchange_of(
        &mut self,
        short: Short,
        (distance, tag): (u32, u32),
        into: Spot,
        from: Spot,
    ) {
        let (below, above) = (self.place.below(distance), self.place.above(distance));
        short.exchange(self.acts, tag, (below, into.0), (above, from.0));
    }

    /// Copies elements, if there are any.
    #[inline]
    pub(crate) fn copy(&mut self, from: Spot, into: Spot) {
        if from.len() > 0 {
            self.acts.copy(from.0, into.0);
        }
    }

    /// Combines elements, if there are any.
    #[inline]
    pub(crate) fn reduce(&mut self, from: Spot, into: Spot, side: Side) {
        if from.len() > 0 {
            self.acts.reduce(from.0, into.0, side);
        }
    }
}
