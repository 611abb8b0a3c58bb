//! The gets and puts of this rank that are under way: a bounded table.

use oxmpi_wire::Token;
use oxmpi_wire::regions::RegionId;

use crate::frame::OperationId;
use crate::transport::OPERATIONS;

/// A get or a put of this rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) peer: u32,
    pub(super) token: Token,
    /// This rank's memory.
    pub(super) region: RegionId,
    /// Where in the region the operation begins.
    pub(super) at: u64,
    /// Bytes of the whole operation.
    pub(super) len: u64,
    /// Bytes that have not arrived (get) or not left (put) yet.
    pub(super) left: u64,
    /// Bytes that the peer pushes, before the others.
    pub(super) pushed: u64,
    /// A get, else a put.
    pub(super) get: bool,
}

/// All operations. An [`OperationId`] is slot and generation, so that a reply that is repeated or made up
/// ends no other operation.
#[derive(Debug)]
pub(super) struct Operations {
    /// By slot: the generation, and the operation that has it.
    slots: Vec<(u32, Option<Operation>)>,
    free: Vec<u32>,
}

impl Operations {
    pub(super) fn new() -> Self {
        Self {
            slots: vec![(0, None); OPERATIONS],
            free: (0..OPERATIONS as u32).rev().collect(),
        }
    }

    pub(super) const fn are_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Enters an operation, if there is a free slot.
    pub(super) fn begin(&mut self, operation: Operation) -> Option<OperationId> {
        let slot = self.free.pop()?;
        let (generation, entry) = &mut self.slots[slot as usize];
        *generation = generation.wrapping_add(1);
        *entry = Some(operation);
        Some(OperationId(u64::from(slot) << 32 | u64::from(*generation)))
    }

    /// The operation `id` with `peer`, if it is under way.
    pub(super) fn get(&mut self, id: OperationId, peer: u32) -> Option<&mut Operation> {
        let (generation, entry) = self.slots.get_mut((id.0 >> 32) as usize)?;
        let is_current = *generation == id.0 as u32;
        entry
            .as_mut()
            .filter(|operation| is_current && operation.peer == peer)
    }

    /// Removes the operation `id` with `peer`.
    pub(super) fn end(&mut self, id: OperationId, peer: u32) -> Option<Operation> {
        let operation = *self.get(id, peer)?;
        let slot = (id.0 >> 32) as u32;
        self.slots[slot as usize].1 = None;
        self.free.push(slot);
        Some(operation)
    }

    /// Removes any one operation with `peer`.
    pub(super) fn end_any(&mut self, peer: u32) -> Option<Operation> {
        let of_peer = |entry: &(u32, Option<Operation>)| {
            let operation = entry.1.as_ref();
            operation.is_some_and(|operation| operation.peer == peer)
        };
        let slot = self.slots.iter().position(of_peer)?;
        let id = OperationId((slot as u64) << 32 | u64::from(self.slots[slot].0));
        self.end(id, peer)
    }
}
