//! Scatter down a k-nomial tree: `ceil(log2 p)` rounds with radix 2, the least there is, and no
//! more than `(p - 1)` blocks out of the root, which is the least as well.
//!
//! The blocks of a subtree are consecutive, whatever the root. So the root sends every message from
//! where it lies, and a rank between root and leaves needs room for its subtree and nothing else.
//! The child with the largest subtree comes first, since that one has the longest way to go.

use core::ops::Range;

use crate::catalog::{Call, Parameters};
use crate::plan::{Acts, Buf, Known, Part, Plan};
use crate::tree::{Edge, Place, Stock, Subtrees};

/// One rank's part in a k-nomial scatter. Below the root, step 0 receives; then one step for each
/// possible child, and one that copies the rank's own block; a leaf only receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knomial {
    stock: Stock,
    in_place: bool,
}

impl Knomial {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        Knomial {
            stock: Stock::of(call, parameters),
            in_place: call.in_place,
        }
    }

    /// The first of the blocks that this rank hands out, which it keeps in scratch if it is neither
    /// root nor leaf.
    pub(crate) fn first(&self) -> u32 {
        self.stock.first()
    }

    /// The ranks whose blocks come to a rank.
    pub(crate) fn subtree(&self, rank: u32) -> Range<u32> {
        self.stock.place.at(rank).subtree()
    }

    fn output(&self) -> Part {
        Part::new(Buf::Out, 0, self.stock.count)
    }

    /// Sends to possible child `n`, the one that may have the most ranks below it first, or copies this rank's own
    /// block.
    fn hand_out(&self, n: u32, acts: &mut Acts) {
        let place = &self.stock.place;
        if n == place.places() {
            acts.copy(self.stock.own(Buf::In), self.output());
            return;
        }
        let at = place.served(n);
        if let Some(Edge { peer, tag }) = place.down(at) {
            acts.send(peer, tag, self.stock.part(Buf::In, place.brought(at)));
        }
    }
}

impl Plan for Knomial {
    fn steps(&self) -> u32 {
        let place = &self.stock.place;
        match place.parent() {
            _ if self.stock.count == 0 => 0,
            None => place.places() + u32::from(!self.in_place),
            Some(_) if place.is_leaf() => 1,
            Some(_) => 1 + place.places() + 1,
        }
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        self.stock.scratch()
    }

    fn step(&self, i: u32, _: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let place = &self.stock.place;
        let Some(Edge { peer, tag }) = place.up() else {
            self.hand_out(i, acts);
            return Some(0);
        };
        if i == 0 {
            let whole = if place.is_leaf() {
                self.output()
            } else {
                self.stock.part(Buf::In, place.subtree())
            };
            acts.recv(peer, tag, whole);
            return Some(0);
        }
        self.hand_out(i - 1, acts);
        Some(1)
    }
}
