//! One way of a k-nomial tree of signals: up to rank 0, or down from it.

use crate::plan::{Acts, Part, Plan, PlanInputs};
use crate::tree::{KnomialPlace, TreePlace};

const ENTERED: u32 = 0;
const RELEASED: u32 = 1;

/// One rank's plan for signals up or down a tree. One step for each child slot and one for the parent; down, the
/// parent's comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signals {
    place: KnomialPlace,
    are_down: bool,
}

impl Signals {
    /// Signals of all ranks of a group to rank 0.
    pub(crate) fn up(rank: u32, size: u32, radix: u32) -> Self {
        Signals {
            place: KnomialPlace::new(rank, size, 0, radix),
            are_down: false,
        }
    }

    /// Signals of rank 0 to all ranks of a group, in the tree of [`Signals::up`].
    pub(crate) fn down(rank: u32, size: u32, radix: u32) -> Self {
        Signals {
            are_down: true,
            ..Signals::up(rank, size, radix)
        }
    }

    fn child(&self, at: u32) -> Option<u32> {
        self.place.down(at).map(|edge| edge.peer)
    }
}

impl Plan for Signals {
    fn steps(&self) -> u32 {
        self.place.places() + 1
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (children, parent) = (self.place.places(), self.place.parent());
        match (self.are_down, i) {
            (false, i) if i < children => {
                if let Some(child) = self.child(i) {
                    acts.recv(child, ENTERED, Part::EMPTY);
                }
                Some(0)
            }
            (false, _) => {
                if let Some(parent) = parent {
                    acts.send(parent, ENTERED, Part::EMPTY);
                }
                Some(children)
            }
            (true, 0) => {
                if let Some(parent) = parent {
                    acts.recv(parent, RELEASED, Part::EMPTY);
                }
                Some(0)
            }
            (true, i) => {
                // The child with the largest subtree has the longest way to go.
                if let Some(child) = self.child(children - i) {
                    acts.send(child, RELEASED, Part::EMPTY);
                }
                Some(1)
            }
        }
    }
}
