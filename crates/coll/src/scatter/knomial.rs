//! Scatter down a k-nomial tree: `ceil(log2 p)` rounds with radix 2, the least there is, and no
//! more than `(p - 1)` blocks out of the root, which is the least as well.
//!
//! The blocks of a subtree are consecutive, whatever the root. So the root sends every message from
//! where it lies, and a rank between root and leaves needs room for its subtree and nothing else.
//! The child with the largest subtree comes first, since that one has the longest way to go.

use core::ops::Range;

use crate::catalog::{Call, Parameters};
use crate::plan::{Acts, Buf, Known, Part, Plan};
use crate::tree;

/// One rank's part in a k-nomial scatter. Below the root, step 0 receives; then one step for each
/// possible child, and one that copies the rank's own block; a leaf only receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knomial {
    rank: u32,
    place: tree::Knomial,
    count: u64,
    in_place: bool,
}

impl Knomial {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        Knomial {
            rank: call.rank,
            place: tree::Knomial::new(call.rank, call.size, call.root, parameters.radix),
            count: call.count,
            in_place: call.in_place,
        }
    }

    /// The first of the blocks that this rank hands out, which it keeps in scratch if it is neither
    /// root nor leaf.
    pub(crate) fn first(&self) -> u32 {
        self.place.subtree().start
    }

    /// The ranks whose blocks come to a rank.
    pub(crate) fn subtree(&self, rank: u32) -> Range<u32> {
        self.place.at(rank).subtree()
    }

    fn is_leaf(&self) -> bool {
        self.place.parent().is_some() && self.place.subtree().len() == 1
    }

    /// Steps that send.
    fn sends(&self) -> u32 {
        self.place.top() * self.place.siblings()
    }

    /// Where the blocks of the ranks lie, among those that this rank hands out.
    fn stock(&self, ranks: Range<u32>) -> Part {
        let count = ranks.len() as u64 * self.count;
        let buf = if self.place.parent().is_some() {
            Buf::Scratch
        } else {
            Buf::In
        };
        let before = ranks.start - self.place.subtree().start;
        Part::new(buf, u64::from(before) * self.count, count)
    }

    fn output(&self) -> Part {
        Part::new(Buf::Out, 0, self.count)
    }

    /// Sends to possible child `n`, the last level's first, or copies this rank's own block.
    fn hand_out(&self, n: u32, acts: &mut Acts) {
        if n == self.sends() {
            acts.copy(self.stock(self.rank..self.rank + 1), self.output());
            return;
        }
        let level = self.place.top() - 1 - n / self.place.siblings();
        let n = n % self.place.siblings();
        if let Some(child) = self.place.child(level, n) {
            acts.send(child, level, self.stock(self.place.brought(level, n)));
        }
    }
}

impl Plan for Knomial {
    fn steps(&self) -> u32 {
        match self.place.parent() {
            _ if self.count == 0 => 0,
            None => self.sends() + u32::from(!self.in_place),
            Some(_) if self.is_leaf() => 1,
            Some(_) => 1 + self.sends() + 1,
        }
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        if self.place.parent().is_none() || self.is_leaf() {
            0
        } else {
            self.place.subtree().len() as u64 * self.count
        }
    }

    fn step(&self, i: u32, _: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let Some(parent) = self.place.parent() else {
            self.hand_out(i, acts);
            return Some(0);
        };
        if i == 0 {
            let whole = if self.is_leaf() {
                self.output()
            } else {
                self.stock(self.place.subtree())
            };
            acts.recv(parent, self.place.top(), whole);
            return Some(0);
        }
        self.hand_out(i - 1, acts);
        Some(1)
    }
}
