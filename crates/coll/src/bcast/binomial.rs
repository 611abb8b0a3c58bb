//! Broadcast down a binomial tree: `ceil(log2 p)` rounds of the whole vector, the least there is
//! for one block.
//!
//! A rank sends to the child with the largest block first, since that one has the longest way to
//! go.

use crate::catalog::{Call, Parameters};
use crate::plan::{Acts, Buf, Known, Part, Plan};
use crate::tree;

/// One rank's part in a binomial broadcast. Below the root, step 0 receives; each further step
/// sends to one child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binomial {
    place: tree::Binomial,
    count: u64,
}

impl Binomial {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        Binomial {
            place: tree::Binomial::new(call.rank, call.size, call.root),
            count: call.count,
        }
    }
}

impl Plan for Binomial {
    fn steps(&self) -> u32 {
        if self.count == 0 {
            0
        } else {
            self.place.top() + u32::from(self.place.parent().is_some())
        }
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, _: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let top = self.place.top();
        let Some(parent) = self.place.parent() else {
            self.feed(top - 1 - i, Buf::In, acts);
            return Some(0);
        };
        if i == 0 {
            acts.recv(parent, top, Part::new(Buf::Out, 0, self.count));
            return Some(0);
        }
        self.feed(top - i, Buf::Out, acts);
        Some(1)
    }
}

impl Binomial {
    /// Sends to the child at `level`, if there is one.
    fn feed(&self, level: u32, buf: Buf, acts: &mut Acts) {
        if let Some(child) = self.place.child(level) {
            acts.send(child, level, Part::new(buf, 0, self.count));
        }
    }
}
