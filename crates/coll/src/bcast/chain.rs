//! Broadcast down a chain: each rank passes the vector on to the next one, block by block.
//!
//! `n + p - 2` rounds for `n` blocks, and every rank sends each block to one rank only: for few
//! ranks and large vectors.

use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::plan::{Acts, Buf, Known, Part, Plan, TAGS};
use crate::split::Cut;

/// The largest group whose rounds can be counted.
pub const MAX_SIZE: u32 = 1 << 30;

/// One rank's part in a broadcast down a chain. Step `i` receives block `i` and passes on the one
/// before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    circle: Circle,
    from_root: u32,
    blocks: u32,
    cut: Cut,
}

impl Chain {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let most = u64::from(parameters.blocks).clamp(1, u64::from(MAX_SIZE));
        let blocks = most.min(call.count) as u32;
        Chain {
            circle: Circle::of(call),
            from_root: call.from_root(),
            blocks,
            cut: Cut::new(call.count, blocks),
        }
    }

    fn pass(&self, block: u32, buf: Buf, acts: &mut Acts) {
        if self.from_root + 1 < self.circle.size() {
            acts.send(self.circle.above(1), block % TAGS, self.part(buf, block));
        }
    }

    fn part(&self, buf: Buf, block: u32) -> Part {
        let (first, count) = self.cut.piece(block);
        Part::new(buf, first, count)
    }
}

impl Plan for Chain {
    fn steps(&self) -> u32 {
        match self.blocks {
            0 => 0,
            blocks => blocks + u32::from(self.from_root > 0),
        }
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, _: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        if self.from_root == 0 {
            self.pass(i, Buf::In, acts);
            return Some(0);
        }
        if i < self.blocks {
            acts.recv(self.circle.below(1), i % TAGS, self.part(Buf::Out, i));
        }
        if let Some(arrived) = i.checked_sub(1) {
            self.pass(arrived, Buf::Out, acts);
        }
        Some(i)
    }
}
