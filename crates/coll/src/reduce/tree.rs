//! Reduce up a tree (binomial, k-nomial or postal): each rank receives the whole vector of each of its
//! children.
//!
//! A k-nomial tree has `ceil(log_k p)` levels, in each of which a rank has `k - 1` children. It keeps the
//! rank order under every root, so operations need not commute. In a [postal](crate::tree::PostalPlace) tree ranks
//! are counted from the root, so they must; there no rank waits for a level to end.

use crate::accumulate::Accumulator;
use crate::call::{Call, Parameters};
use crate::phase::phase;
use crate::plan::{Acts, Plan, PlanInputs};
use crate::tree::{self, TreePlace};

/// One rank's plan for a reduction up a tree. Two steps for each child slot: receive, then merge; below the
/// root one more, which sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReduceTree<T> {
    place: T,
    sum: Accumulator,
    /// The first child slot that is not empty; beyond all slots where there is none.
    first: u32,
}

/// Up a k-nomial tree: `(k - 1) ceil(log_k p)` rounds at most, with one message after the other. Without a
/// radix it is binomial, and takes the fewest rounds there are.
pub(crate) type ReduceKnomial = ReduceTree<tree::KnomialPlace>;

impl<T: TreePlace> ReduceTree<T> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = T::of(call, parameters);
        let first = (0..place.places()).find(|&at| place.down(at).is_some());
        ReduceTree {
            place,
            sum: if call.rank == call.root {
                Accumulator::in_out(call.count, call.in_place)
            } else {
                Accumulator::in_scratch(call.count)
            },
            first: first.unwrap_or(u32::MAX),
        }
    }
}

impl<T: TreePlace> Plan for ReduceTree<T> {
    fn steps(&self) -> u32 {
        if self.sum.value(false).is_empty() {
            0
        } else {
            2 * self.place.places() + 1
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        let places = 0..self.place.places();
        let children = places.filter(|&at| self.place.down(at).is_some());
        self.sum.scratch(children.count() as u32)
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let at = i / 2;
        let merged = at > self.first;
        if at < self.place.places() {
            match self.place.down(at) {
                Some(child) if i.is_multiple_of(2) => {
                    acts.recv(child.peer, child.tag, self.sum.room(merged));
                }
                Some(child) => self.sum.merge(merged, child.peer < self.place.rank(), acts),
                None => {}
            }
        } else if let Some(parent) = self.place.up() {
            acts.send(parent.peer, parent.tag, self.sum.value(merged));
        } else if !merged {
            self.sum.take_input(acts);
        }
        Some(i)
    }
}

phase!(ReduceTree<T: TreePlace>);
