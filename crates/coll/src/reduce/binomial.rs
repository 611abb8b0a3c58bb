//! Reduction up a binomial tree: `ceil(log2 p)` rounds of the whole vector, the least there is.
//!
//! The tree keeps the order of the ranks under every root, so operations that do not commute need
//! nothing special, and the result has the same bits whichever rank is the root.

use crate::accumulate::Accumulator;
use crate::catalog::{Call, Parameters};
use crate::plan::{Acts, Known, Plan};
use crate::tree;

/// One rank's part in a binomial reduction. Two steps for each level below the rank's own: receive,
/// then merge; below the root one more, which sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binomial {
    rank: u32,
    place: tree::Binomial,
    count: u64,
    sum: Accumulator,
    /// The lowest level that brings a child; above all levels where none does.
    first: u32,
}

impl Binomial {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        let &Call {
            rank,
            size,
            root,
            count,
            in_place,
            ..
        } = call;
        let place = tree::Binomial::new(rank, size, root);
        let first = (0..place.top())
            .find(|&level| place.child(level).is_some())
            .unwrap_or(u32::MAX);
        let sum = if rank == root {
            Accumulator::in_out(count, in_place)
        } else {
            Accumulator::in_scratch(count)
        };
        Binomial {
            rank,
            place,
            count,
            sum,
            first,
        }
    }

    /// The children.
    fn contributions(&self) -> u32 {
        (0..self.place.top())
            .filter(|&level| self.place.child(level).is_some())
            .count() as u32
    }
}

impl Plan for Binomial {
    fn steps(&self) -> u32 {
        if self.count == 0 {
            0
        } else {
            2 * self.place.top() + 1
        }
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        self.sum.scratch(self.contributions())
    }

    fn step(&self, i: u32, _: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let level = i / 2;
        let merged = level > self.first;
        if level < self.place.top() {
            match self.place.child(level) {
                Some(child) if i.is_multiple_of(2) => {
                    acts.recv(child, level, self.sum.room(merged))
                }
                Some(child) => self.sum.merge(merged, child < self.rank, acts),
                None => {}
            }
        } else if let Some(parent) = self.place.parent() {
            acts.send(parent, level, self.sum.value(merged));
        } else if !merged {
            self.sum.take_input(acts);
        }
        Some(i)
    }
}
