//! Gather up a k-nomial tree: `ceil(log2 p)` rounds with radix 2, the least there is, and no more
//! than `(p - 1)` blocks into the root, which is the least as well.
//!
//! What a rank gathers from its subtree is consecutive, whatever the root. So the root receives
//! every message where it belongs, and a rank between root and leaves needs room for its subtree
//! and nothing else. A larger radix takes fewer levels with more messages each: fewer times
//! latency, where a rank can receive several messages at a time.

use crate::catalog::{Call, Parameters};
use crate::plan::{Acts, Buf, Known, Part, Plan};
use crate::tree::{Edge, Place, Stock, Subtrees};

/// One rank's part in a k-nomial gather. One step for each possible child, then one that copies the
/// rank's own block, then one that sends to the parent; a leaf only sends.
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

    /// The first of the blocks that this rank gathers, which it keeps in scratch if it is neither
    /// root nor leaf.
    pub(crate) fn first(&self) -> u32 {
        self.stock.first()
    }

    fn input(&self) -> Part {
        Part::new(Buf::In, 0, self.stock.count)
    }
}

impl Plan for Knomial {
    fn steps(&self) -> u32 {
        let place = &self.stock.place;
        match place.parent() {
            _ if self.stock.count == 0 => 0,
            None => place.places() + u32::from(!self.in_place),
            Some(_) if place.is_leaf() => 1,
            Some(_) => place.places() + 2,
        }
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        self.stock.scratch()
    }

    fn step(&self, i: u32, _: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let Stock { place, .. } = &self.stock;
        let receives = place.places();
        match place.up() {
            Some(Edge { peer, tag }) if place.is_leaf() => acts.send(peer, tag, self.input()),
            _ if i < receives => {
                if let Some(Edge { peer, tag }) = place.down(i) {
                    acts.recv(peer, tag, self.stock.part(Buf::Out, place.brought(i)));
                }
            }
            Some(Edge { peer, tag }) if i > receives => {
                acts.send(peer, tag, self.stock.part(Buf::Out, place.subtree()));
                return Some(i);
            }
            _ => acts.copy(self.input(), self.stock.own(Buf::Out)),
        }
        Some(0)
    }
}
