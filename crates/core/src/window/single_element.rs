//! Accumulates of one element of a rank of this node: the short path of counters and locks of programs.

use oxmpi_wire::Bytes;

use super::super::threading::Threading;
use super::Window;
use super::accumulate::{Operands, Room};
use super::near::Near;
use super::target::WindowRange;
use crate::bytes::target;
use crate::error::Result;

/// Bytes of the largest elements, and of their operands, that take this path.
const LARGEST: usize = 16;

impl<A: Threading> Window<A> {
    /// Combines one element, if it is within the memory of an open target that this rank reaches, and nobody else combines its
    /// block now. `None`: nothing is done.
    #[inline]
    pub(super) fn combine_one(
        &self,
        operands: &Operands<'_>,
        (range, len): (&WindowRange<'_>, u64),
    ) -> Option<Result<()>> {
        let operation = operands.operation;
        let is_one = len == operation.kind.size() as u64 && len <= LARGEST as u64;
        if !is_one || operation.cell().is_some() || !operation.suits(operands.given(len), len) {
            return None;
        }
        let (near, at) = self.open_near(range, len)?;
        let (words, block) = (near.words(), near.words().block_of(at));
        if block != words.block_of(at + len - 1) {
            return None;
        }
        let locks = words.locks();
        locks.lock_block(block, self.me).ok()?;
        let done = combine_locked(near, at, operands, len as usize);
        locks.unlock_block(block);
        Some(done.map_err(|_| self.unreached(range.rank)))
    }
}

/// Combines the element of `len` bytes, whose block is locked.
fn combine_locked(
    near: &Near,
    at: u64,
    operands: &Operands<'_>,
    len: usize,
) -> Result<(), oxmpi_shm::window::Unreached> {
    let operation = operands.operation;
    let (mut given, mut element) = (Room([0; 2 * LARGEST]), Room([0; LARGEST]));
    let given = &mut given.0[..operation.operands(len as u64) as usize];
    if !given.is_empty() {
        target(given).copy_from(operands.operands);
    }
    near.update(at, &mut element.0[..len], |element| {
        if let Some(before) = operands.before {
            before.fill(0, &mut &*element);
        }
        operation.apply(given, element)
    })
}
