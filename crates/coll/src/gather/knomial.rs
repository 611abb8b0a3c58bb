//! Gather up a k-nomial tree: `ceil(log2 p)` rounds with radix 2, the least there is, and no more
//! than `(p - 1)` blocks into the root, which is the least as well.
//!
//! What a rank gathers from its subtree is consecutive, whatever the root. So the root receives
//! every message where it belongs, and a rank between root and leaves needs room for its subtree
//! and nothing else. A larger radix takes fewer levels with more messages each: fewer times
//! latency, where a rank can receive several messages at a time.

use core::ops::Range;

use crate::catalog::{Call, Parameters};
use crate::plan::{Acts, Buf, Known, Part, Plan};
use crate::tree;

/// One rank's part in a k-nomial gather. One step for each possible child, then one that copies the
/// rank's own block, then one that sends to the parent; a leaf only sends.
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

    /// The first of the blocks that this rank gathers, which it keeps in scratch if it is neither
    /// root nor leaf.
    pub(crate) fn first(&self) -> u32 {
        self.place.subtree().start
    }

    fn is_leaf(&self) -> bool {
        self.place.parent().is_some() && self.place.subtree().len() == 1
    }

    /// Steps that receive.
    fn receives(&self) -> u32 {
        self.place.top() * self.place.siblings()
    }

    /// Where the blocks of the ranks belong, among those that this rank gathers.
    fn room(&self, ranks: Range<u32>) -> Part {
        let count = ranks.len() as u64 * self.count;
        let buf = if self.place.parent().is_some() {
            Buf::Scratch
        } else {
            Buf::Out
        };
        let before = ranks.start - self.place.subtree().start;
        Part::new(buf, u64::from(before) * self.count, count)
    }

    fn input(&self) -> Part {
        Part::new(Buf::In, 0, self.count)
    }
}

impl Plan for Knomial {
    fn steps(&self) -> u32 {
        match self.place.parent() {
            _ if self.count == 0 => 0,
            None => self.receives() + u32::from(!self.in_place),
            Some(_) if self.is_leaf() => 1,
            Some(_) => self.receives() + 2,
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
        let top = self.place.top();
        if let Some(parent) = self.place.parent().filter(|_| self.is_leaf()) {
            acts.send(parent, top, self.input());
            return Some(0);
        }
        if i < self.receives() {
            let (level, n) = (i / self.place.siblings(), i % self.place.siblings());
            if let Some(child) = self.place.child(level, n) {
                acts.recv(child, level, self.room(self.place.brought(level, n)));
            }
            return Some(0);
        }
        match self.place.parent() {
            Some(parent) if i > self.receives() => {
                acts.send(parent, top, self.room(self.place.subtree()));
                Some(i)
            }
            _ => {
                acts.copy(self.input(), self.room(self.rank..self.rank + 1));
                Some(0)
            }
        }
    }
}
