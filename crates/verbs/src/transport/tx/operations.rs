//! [`Operations`]: the gets, puts and atomics of this rank that are in flight, in a bounded table.

use super::lease::Lease;
use super::operation_kind::OperationKind;
use super::pipeline::Pipeline;
use super::{Refused, VerbsTx};
use crate::transport::OPERATIONS;
use oxmpi_wire::flushes::Flushes;
use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::slab::{Handle, Slab};
use oxmpi_wire::{Busy, Fault, Local, Token};
use std::collections::BTreeMap;

/// An operation of this rank on a peer's memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    pub(super) peer: u32,
    pub(super) token: Token,
    pub(super) kind: OperationKind,
    /// The memory of this rank.
    pub(super) region: RegionId,
    /// Where in the region the operation begins.
    pub(super) at: u64,
    pub(super) len: u64,
    /// Bytes whose reads or writes were posted, or that have come by frames.
    pub(super) posted: u64,
    /// Reads or writes that have not ended.
    pub(super) in_flight: u32,
    /// The memory of the peer: a region of its, and where in it.
    pub(super) remote: (RegionId, u64),
    /// An access has failed, or cannot be posted: the operation begins anew when all others have ended.
    pub(super) is_broken_off: bool,
    /// Counts the operations of this rank.
    number: u64,
}

/// All operations.
#[derive(Debug)]
pub(super) struct Operations {
    pub(super) open: Slab<Operation>,
    pub(super) flushes: Flushes,
    /// What is known of operations in pieces, by index.
    pub(super) pipelines: BTreeMap<u32, Pipeline>,
    /// What peers do in pieces.
    pub(super) leases: Vec<Lease>,
}

impl Operations {
    pub(super) const fn new() -> Self {
        Self {
            open: Slab::new(),
            flushes: Flushes::new(),
            pipelines: BTreeMap::new(),
            leases: Vec::new(),
        }
    }

    fn of_peer(&self, peer: u32) -> impl Iterator<Item = u32> {
        let of_peer = move |index: &u32| {
            self.open
                .get(*index)
                .is_some_and(|operation| operation.peer == peer)
        };
        self.open.indices().filter(of_peer)
    }
}

impl VerbsTx {
    /// Whether one more operation can start: those in flight, and the ends that no poll has reported, are bounded.
    pub(super) fn has_operation_room(&self) -> bool {
        let started = self.operations.open.used() as usize + self.operations.flushes.len();
        started < OPERATIONS && self.completions.len() < OPERATIONS
    }

    /// Checks that an operation with `peer` can start. Says why the peer is lost, if it is.
    fn operation_room(&mut self, peer: u32) -> Result<Option<Fault>, Busy> {
        if !self.has_operation_room() {
            return Err(self.refuse(peer, Refused::Operation));
        }
        match &self.links[peer as usize] {
            Some(link) => Ok(link.lost),
            None => Err(self.refuse(peer, Refused::Operation)),
        }
    }

    /// Enters an operation between `len` bytes of `local` and what `kind` says. `None`: it has ended, by a fault, or
    /// since there are no bytes.
    ///
    /// # Errors
    /// [`Busy`] when there are too many; the sink gets [`Sink::room`](oxmpi_wire::Sink::room) later.
    pub(super) fn begin_operation(
        &mut self,
        peer: u32,
        local: &Local<'_, Region>,
        len: Result<u64, Fault>,
        kind: impl FnOnce(&Self) -> Result<OperationKind, Fault>,
        token: Token,
    ) -> Result<Option<u32>, Busy> {
        let lost = self.operation_room(peer)?;
        let region = local.region.id();
        let checked = match lost {
            Some(why) => Err(why),
            None => self.regions.check_own(region, local.at, local.len).and(len),
        };
        let kind = match checked {
            Ok(0) => {
                self.complete(token, Ok(()));
                return Ok(None);
            }
            checked => checked.and_then(|_| kind(self)),
        };
        match kind {
            Ok(kind) => {
                self.regions.enter(region);
                let number = self.operations.flushes.number();
                let handle = self.operations.open.insert(Operation {
                    peer,
                    token,
                    kind,
                    region,
                    at: local.at,
                    len: local.len,
                    posted: 0,
                    in_flight: 0,
                    remote: (region, 0),
                    is_broken_off: false,
                    number,
                });
                Ok(Some(handle.index))
            }
            Err(why) => {
                self.complete(token, Err(why));
                Ok(None)
            }
        }
    }

    /// The index of the operation `id`, if it is one with `peer`.
    pub(super) fn operation(&self, peer: u32, id: u64) -> Option<u32> {
        let index = self.operations.open.find(Handle::from_word(id))?;
        (self.operations.open[index].peer == peer).then_some(index)
    }

    /// Ends an operation.
    pub(super) fn end_operation(&mut self, index: u32, result: Result<(), Fault>) {
        let operation = self.operations.open.remove(index);
        // Deregisters the pieces of a transfer whose queue pair has failed.
        self.operations.pipelines.remove(&index);
        self.operations
            .flushes
            .ended(operation.peer, operation.number);
        self.leave(operation.region);
        self.complete(operation.token, result);
        self.complete_flushes();
    }

    /// Starts a flush of the operations with `peer`.
    pub(super) fn start_flush(&mut self, peer: u32, token: Token) -> Result<(), Busy> {
        match self.operation_room(peer)? {
            Some(why) => self.complete(token, Err(why)),
            None => {
                let open = self.operations.of_peer(peer).count();
                self.operations.flushes.begin(peer, open, token);
            }
        }
        self.complete_flushes();
        Ok(())
    }

    fn complete_flushes(&mut self) {
        while let Some(token) = self.operations.flushes.complete() {
            self.complete(token, Ok(()));
        }
    }

    /// Ends every operation and flush with `peer`, which is lost for the reason `why`.
    pub(super) fn end_operations(&mut self, peer: u32, why: Fault) {
        while let Some(token) = self.operations.flushes.lose(peer) {
            self.complete(token, Err(why));
        }
        let open: Vec<u32> = self.operations.of_peer(peer).collect();
        for index in open {
            self.end_operation(index, Err(why));
        }
    }
}
