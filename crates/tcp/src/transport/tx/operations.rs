//! [`Operations`]: the gets, puts and atomics of this rank that are in flight, in a bounded table.

use oxmpi_wire::flushes::Flushes;
use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::slab::{Handle, Slab};
use oxmpi_wire::{Busy, Bytes, Fault, Local, Token, Width};

use super::TcpTx;
use crate::frame::OperationId;
use crate::transport::OPERATIONS;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationKind {
    Get,
    Put,
    Atomic(Width),
}

/// An operation of this rank on a peer's memory.
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
    pub(super) kind: OperationKind,
    /// Counts the operations of this rank.
    pub(super) number: u64,
}

/// All operations. An [`OperationId`] is a slab's handle: a repeated or made-up reply ends no other operation.
#[derive(Debug)]
pub(super) struct Operations {
    open: Slab<Operation>,
    pub(super) flushes: Flushes,
}

impl Operations {
    pub(super) const fn new() -> Self {
        Self {
            open: Slab::new(),
            flushes: Flushes::new(),
        }
    }

    pub(super) fn are_full(&self) -> bool {
        self.open.used() as usize + self.flushes.len() >= OPERATIONS
    }

    /// Enters an operation; `None` if the table is full.
    pub(super) fn begin(&mut self, operation: Operation) -> Option<OperationId> {
        (!self.are_full()).then(|| OperationId(self.open.insert(operation).word()))
    }

    /// The index of the operation `id` with `peer`, if it is under way.
    fn find(&self, id: OperationId, peer: u32) -> Option<u32> {
        let index = self.open.find(Handle::from_word(id.0));
        index.filter(|index| self.open[*index].peer == peer)
    }

    /// The operation `id` with `peer`, if it is under way.
    pub(super) fn get(&mut self, id: OperationId, peer: u32) -> Option<&mut Operation> {
        self.find(id, peer).map(|index| &mut self.open[index])
    }

    /// Removes the operation `id` with `peer`.
    pub(super) fn end(&mut self, id: OperationId, peer: u32) -> Option<Operation> {
        let operation = self.find(id, peer).map(|index| self.open.remove(index))?;
        self.flushes.ended(peer, operation.number);
        Some(operation)
    }

    /// Starts the flush `token` of all operations with `peer`.
    pub(super) fn flush(&mut self, peer: u32, token: Token) {
        let of_peer = |index: &u32| {
            self.open
                .get(*index)
                .is_some_and(|entry| entry.peer == peer)
        };
        let open = self.open.indices().filter(of_peer).count();
        self.flushes.begin(peer, open, token);
    }

    /// Removes any one operation with `peer`.
    pub(super) fn end_any(&mut self, peer: u32) -> Option<Operation> {
        let of_peer = |index: &u32| {
            self.open
                .get(*index)
                .is_some_and(|entry| entry.peer == peer)
        };
        let index = self.open.indices().find(of_peer)?;
        Some(self.open.remove(index))
    }
}

impl<B: Bytes> TcpTx<B> {
    /// Enters an operation on `len` bytes of `local`. `None`: it has ended, by a fault, or since there are no bytes.
    ///
    /// # Errors
    /// [`Busy`] when the table is full; the sink gets [`Sink::room`](oxmpi_wire::Sink::room) later.
    pub(super) fn begin_operation(
        &mut self,
        kind: OperationKind,
        peer: u32,
        len: Result<u64, Fault>,
        local: &Local<'_, Region>,
        token: Token,
    ) -> Result<Option<OperationId>, Busy> {
        self.operation_room(peer)?;
        let region = local.region.id();
        let checked = match self.half(peer).lost {
            Some(why) => Err(why),
            None => self.regions.check_own(region, local.at, local.len).and(len),
        };
        if !checked.is_ok_and(|len| len > 0) {
            self.complete(token, checked.map(drop));
            return Ok(None);
        }
        let operation = Operation {
            peer,
            token,
            region,
            at: local.at,
            len: local.len,
            left: local.len,
            pushed: 0,
            kind,
            number: self.operations.flushes.number(),
        };
        let id = self.operations.begin(operation);
        let id = id.ok_or(Busy)?;
        self.regions.enter(region);
        self.half(peer).gets += u32::from(kind == OperationKind::Get);
        Ok(Some(id))
    }

    /// Checks that one more operation with `peer` can start, and that the sink knows the ends of most others.
    pub(super) fn operation_room(&mut self, peer: u32) -> Result<(), Busy> {
        if self.has_operation_room() {
            return Ok(());
        }
        self.refuse(peer);
        Err(Busy)
    }

    /// Whether one more operation can start: those in flight, and the ends that no poll has reported, are bounded.
    pub(super) fn has_operation_room(&self) -> bool {
        !self.operations.are_full() && self.completions.len() < OPERATIONS
    }

    /// Ends the operation `id` with `peer`, if it is in flight.
    pub(super) fn end_operation(&mut self, peer: u32, id: OperationId, result: Result<(), Fault>) {
        if let Some(operation) = self.operations.end(id, peer) {
            let half = self.half(peer);
            half.gets -= u32::from(operation.kind == OperationKind::Get);
            if operation.pushed > 0 {
                half.push_receiver.forget(id);
            }
            self.leave(operation.region);
            self.complete(operation.token, result);
            self.complete_flushes();
        }
    }

    /// Completes the flushes whose operations have ended.
    pub(super) fn complete_flushes(&mut self) {
        while let Some(token) = self.operations.flushes.complete() {
            self.complete(token, Ok(()));
        }
    }
}
