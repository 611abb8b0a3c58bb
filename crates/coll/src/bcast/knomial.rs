//! Broadcast down a k-nomial tree: each rank brings the whole vector to `k - 1` children a level,
//! and there are `ceil(log_k p)` levels.
//!
//! `(k - 1) ceil(log_k p)` rounds at most, with one message after the other; fewer levels than a
//! binomial tree where the messages of one level travel together.

use crate::catalog::{Call, Parameters};
use crate::plan::{Acts, Buf, Known, Part, Plan};
use crate::tree::Knomial as Tree;

/// One rank's part in a k-nomial broadcast. Step 0 receives; each further step sends to one child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knomial {
    place: Tree,
    count: u64,
}

impl Knomial {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        Knomial {
            place: Tree::new(call.rank, call.size, call.root, parameters.radix),
            count: call.count,
        }
    }

    /// The number of rounds.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        rounds_below(call.root, call, parameters.radix).into()
    }
}

/// The rounds from when a rank has the vector to when its whole subtree has it. Of the children's
/// subtrees of one level all but one are whole, and take as many rounds as each other.
fn rounds_below(rank: u32, call: &Call, radix: u32) -> u32 {
    let place = Tree::new(rank, call.size, call.root, radix);
    let (mut sent, mut rounds) = (0, 0);
    for level in (0..place.top()).rev() {
        for n in (0..place.siblings()).rev() {
            let Some(child) = place.child(level, n) else {
                continue;
            };
            sent += 1;
            let below = if place.brought(level, n).len() as u64 == u64::from(radix).pow(level) {
                level * place.siblings()
            } else {
                rounds_below(child, call, radix)
            };
            rounds = rounds.max(sent + below);
        }
    }
    rounds
}

impl Plan for Knomial {
    fn steps(&self) -> u32 {
        if self.count == 0 {
            0
        } else {
            1 + self.place.top() * self.place.siblings()
        }
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, _: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let (top, parent) = (self.place.top(), self.place.parent());
        let Some(sent) = i.checked_sub(1) else {
            if let Some(parent) = parent {
                acts.recv(parent, top, Part::new(Buf::Out, 0, self.count));
            }
            return Some(0);
        };
        // The largest blocks first, and of them the farthest: the reverse of a reduction.
        let siblings = self.place.siblings();
        let (level, n) = (top - 1 - sent / siblings, siblings - 1 - sent % siblings);
        if let Some(child) = self.place.child(level, n) {
            let buf = if parent.is_some() { Buf::Out } else { Buf::In };
            acts.send(child, level, Part::new(buf, 0, self.count));
        }
        Some(1)
    }
}
