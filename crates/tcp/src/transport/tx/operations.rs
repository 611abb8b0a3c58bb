//! [`Operations`]: the gets and puts of this rank that are under way, in a bounded table.

use oxmpi_wire::Token;
use oxmpi_wire::regions::RegionId;
use oxmpi_wire::slab::{Handle, Slab};

use crate::frame::OperationId;
use crate::transport::OPERATIONS;

/// A get or a put of this rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) peer: u32,
    pub(super) token: Token,
    /// The memory of this rank.
    pub(super) region: RegionId,
    /// Where in the region the operation begins.
    pub(super) at: u64,
    /// Bytes of the whole operation.
    pub(super) len: u64,
    /// Bytes of a get that have not arrived yet.
    pub(super) left: u64,
    /// First bytes, which the peer pushes.
    pub(super) pushed: u64,
    /// A get, else a put.
    pub(super) get: bool,
}

/// All operations. An [`OperationId`] is a slab's handle: a repeated or made-up reply ends no other operation.
#[derive(Debug)]
pub(super) struct Operations(Slab<Operation>);

impl Operations {
    pub(super) const fn new() -> Self {
        Self(Slab::new())
    }

    pub(super) fn are_full(&self) -> bool {
        self.0.used() as usize >= OPERATIONS
    }

    /// Enters an operation; `None` if the table is full.
    pub(super) fn begin(&mut self, operation: Operation) -> Option<OperationId> {
        (!self.are_full()).then(|| OperationId(self.0.insert(operation).word()))
    }

    /// The index of the operation `id` with `peer`, if it is under way.
    fn find(&self, id: OperationId, peer: u32) -> Option<u32> {
        let index = self.0.find(Handle::from_word(id.0));
        index.filter(|index| self.0[*index].peer == peer)
    }

    /// The operation `id` with `peer`, if it is under way.
    pub(super) fn get(&mut self, id: OperationId, peer: u32) -> Option<&mut Operation> {
        self.find(id, peer).map(|index| &mut self.0[index])
    }

    /// Removes the operation `id` with `peer`.
    pub(super) fn end(&mut self, id: OperationId, peer: u32) -> Option<Operation> {
        self.find(id, peer).map(|index| self.0.remove(index))
    }

    /// Removes any one operation with `peer`.
    pub(super) fn end_any(&mut self, peer: u32) -> Option<Operation> {
        let of_peer = |index: &u32| self.0.get(*index).is_some_and(|entry| entry.peer == peer);
        let index = self.0.indices().find(of_peer)?;
        Some(self.0.remove(index))
    }
}
