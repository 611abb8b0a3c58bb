//! Broadcast down a tree (binomial, k-nomial or postal): each rank sends the whole vector to its children.
//!
//! A k-nomial tree has `ceil(log_k p)` levels, in each of which a rank has `k - 1` children: fewer levels
//! than a binomial tree where the messages of one level travel together. In a [postal](crate::tree::PostalPlace)
//! tree no rank waits for a level to end.

use crate::call::{Call, Parameters};
use crate::phase::Shorten;
use crate::phase::phase;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};
use crate::tree::{self, TreePlace};

/// One rank's plan for a broadcast down a tree. Step 0 receives; each further step sends to one child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BcastTree<T> {
    place: T,
    count: u64,
}

/// Down a k-nomial tree: `(k - 1) ceil(log_k p)` rounds at most, with one message after the other. Without a
/// radix it is binomial, and takes the fewest rounds there are for one block.
pub(crate) type BcastKnomial = BcastTree<tree::KnomialPlace>;

impl<T: TreePlace> BcastTree<T> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        BcastTree {
            place: T::of(call, parameters),
            count: call.count,
        }
    }
}

impl<T: TreePlace> Shorten for BcastTree<T> {
    fn shortened(&self, count: u64) -> Self {
        BcastTree { count, ..*self }
    }
}

impl<T: TreePlace> Plan for BcastTree<T> {
    fn steps(&self) -> u32 {
        if self.count == 0 {
            0
        } else {
            1 + self.place.places()
        }
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let parent = self.place.up();
        let Some(sent) = i.checked_sub(1) else {
            if let Some(parent) = parent {
                acts.recv(parent.peer, parent.tag, Part::new(Buf::Out, 0, self.count));
            }
            return Some(0);
        };
        // The child with the most ranks below it comes first: the reverse of a reduction.
        if let Some(child) = self.place.down(self.place.places() - 1 - sent) {
            let buf = if parent.is_some() { Buf::Out } else { Buf::In };
            acts.send(child.peer, child.tag, Part::new(buf, 0, self.count));
        }
        Some(1)
    }
}

phase!(BcastTree<T: TreePlace>);
