//! Reduction up a k-nomial tree: each rank takes the whole vector of `k - 1` children a level, and
//! there are `ceil(log_k p)` levels.
//!
//! `(k - 1) ceil(log_k p)` rounds at most, with one message after the other. The tree keeps the
//! order of the ranks under every root, so operations need not commute.

use crate::accumulate::Accumulator;
use crate::catalog::{Call, Parameters};
use crate::plan::{Acts, Known, Plan};
use crate::tree::Knomial as Tree;

/// One rank's part in a k-nomial reduction. Two steps for each place of a child: receive, then
/// merge; below the root one more, which sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knomial {
    rank: u32,
    place: Tree,
    sum: Accumulator,
    /// The first place with a child; beyond all places where there is none.
    first: u32,
}

impl Knomial {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let mut knomial = Knomial {
            rank: call.rank,
            place: Tree::new(call.rank, call.size, call.root, parameters.radix),
            sum: if call.rank == call.root {
                Accumulator::in_out(call.count, call.in_place)
            } else {
                Accumulator::in_scratch(call.count)
            },
            first: u32::MAX,
        };
        if let Some(first) = (0..knomial.places()).find(|&at| knomial.child(at).is_some()) {
            knomial.first = first;
        }
        knomial
    }

    /// Where children can be.
    fn places(&self) -> u32 {
        self.place.top() * self.place.siblings()
    }

    fn child(&self, at: u32) -> Option<u32> {
        let siblings = self.place.siblings();
        self.place.child(at / siblings, at % siblings)
    }
}

impl Plan for Knomial {
    fn steps(&self) -> u32 {
        if self.sum.value(false).is_empty() {
            0
        } else {
            2 * self.places() + 1
        }
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        let children = (0..self.places()).filter(|&at| self.child(at).is_some());
        self.sum.scratch(children.count() as u32)
    }

    fn step(&self, i: u32, _: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let at = i / 2;
        let merged = at > self.first;
        if at < self.places() {
            let level = at / self.place.siblings();
            match self.child(at) {
                Some(child) if i.is_multiple_of(2) => {
                    acts.recv(child, level, self.sum.room(merged));
                }
                Some(child) => self.sum.merge(merged, child < self.rank, acts),
                None => {}
            }
        } else if let Some(parent) = self.place.parent() {
            acts.send(parent, self.place.top(), self.sum.value(merged));
        } else if !merged {
            self.sum.take_input(acts);
        }
        Some(i)
    }
}
