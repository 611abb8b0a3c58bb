//! Registered memory and access to it: [`Memory`] and [`Rma`] of [`ShmTx`].
//!
//! Puts and pulls go through the link's buffers ([`frames`]). A get of offered bytes has an owner's side ([`owner`]) and
//! a claimer's side ([`claimer`]); the claimer picks the [protocol] by measured costs ([`choice`]). Atomics and flushes
//! are in [`atomic`].

mod atomic;
pub(in crate::transport) mod choice;
mod claimer;
mod frames;
mod grant;
mod owner;
pub(in crate::transport) mod protocol;

use std::time::Instant;
use std::vec::Vec;

use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::{
    Access, Atomic, Busy, Bytes, Fault, Key, Local, Memory, Peer, Remote, Rma, Token, Width,
};

use self::choice::BulkChoice;
use self::protocol::{BulkPreference, BulkProtocol};
use super::{ShmTx, WordWait};
use crate::transport::OPERATIONS;
use crate::transport::control::{Control, OperationId};
use crate::transport::link::BlockedOn;

pub(super) use self::claimer::Claims;
pub(super) use self::frames::BufferStream;
pub(super) use self::owner::OwnedOffers;

/// Bytes that a step copies before the transport does other work.
const BATCH: u64 = 256 << 10;

/// The same for windows of shared memory. Where messages go both ways each side copies in and out by turns,
/// and each change costs: a Sendrecv of 1 MiB took 55 us in pieces of 256 KiB and 47 us in one (Zen 4).
const MAX_COPY: u64 = 1 << 20;

/// The end of an operation with a peer that is lost.
const LOST: Fault = Fault::Unreachable("it was lost before");

/// An operation on a peer's memory that this rank has started.
#[derive(Clone, Copy)]
pub(in crate::transport) struct OpenOperation {
    pub(in crate::transport) peer: u32,
    pub(in crate::transport) token: Token,
    pub(in crate::transport) region: RegionId,
    /// For a get: where the next bytes go, and how many are missing. For an atomic: where the word goes.
    pub(in crate::transport) at: u64,
    pub(in crate::transport) left: u64,
    kind: OperationKind,
    /// Counts the operations of this rank.
    number: u64,
    /// For a get that goes on through the link's buffers: the claim that failed before.
    tried: Option<TimedGet>,
}

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperationKind {
    Get,
    Put,
    Atomic(Width),
}

/// A get whose time is a sample of its protocol's cost.
#[derive(Clone, Copy)]
pub(in crate::transport) struct TimedGet {
    protocol: BulkProtocol,
    /// Whether something went the other way, too.
    bidirectional: bool,
    /// Whether the bytes have gaps on either side.
    gaps: bool,
    started: Instant,
    len: u64,
}

impl<B: Bytes> ShmTx<B> {
    /// Sets the protocol of this rank's gets and the pieces in a FIFO.
    pub fn set_bulk_preference(&mut self, preference: BulkPreference) {
        self.preference = preference;
    }

    /// The protocols of this rank's gets from `peer`, by size class, and their measured costs.
    #[must_use]
    pub fn bulk_choices(&self, peer: Peer) -> Vec<BulkChoice> {
        self.claims.choices(peer.0, &self.preference)
    }

    /// Moves bulk transfers on, a piece of each. Returns how many pieces moved.
    pub(super) fn pump(&mut self) -> u32 {
        self.pump_streams() + self.pump_offers() + self.pump_claims()
    }

    /// Ends the transfers with `peer`, which is lost, but not their operations.
    pub(super) fn drop_bulk(&mut self, peer: u32) {
        self.drop_streams(|stream| stream.peer == peer);
        self.drop_claims(peer);
        self.drop_offers(peer);
    }

    /// Adds the words whose change moves bulk transfers on, beside credits.
    pub(super) fn bulk_words(&self, waits: &mut Vec<WordWait>) {
        self.offer_waits(waits);
        self.claim_waits(waits);
    }

    /// Whether bulk transfers need [`ShmTx::pump`].
    pub(super) fn bulk_waits(&self) -> bool {
        !self.streams.is_empty() || self.offers.any() || self.claims.any()
    }

    /// Ends a use of `region`.
    pub(super) fn leave(&mut self, region: RegionId) {
        if let Some(token) = self.regions.leave(region) {
            self.finish(token, Ok(()));
        }
    }

    pub(in crate::transport) fn operation(
        &self,
        id: OperationId,
        peer: u32,
    ) -> Option<OpenOperation> {
        let index = self.operations.find(id)?;
        Some(self.operations[index]).filter(|open| open.peer == peer)
    }

    fn open(
        &mut self,
        peer: u32,
        token: Token,
        local: &Local<'_, Region>,
        kind: OperationKind,
    ) -> OperationId {
        let region = local.region.id();
        self.regions.enter(region);
        self.operations.insert(OpenOperation {
            peer,
            token,
            region,
            at: local.at,
            left: local.len,
            kind,
            number: self.flushes.number(),
            tried: None,
        })
    }

    pub(in crate::transport) fn close(&mut self, id: OperationId) -> Option<OpenOperation> {
        let index = self.operations.find(id)?;
        let open = self.operations.remove(index);
        self.leave(open.region);
        self.flushes.ended(open.peer, open.number);
        self.has_slow_work |= self.flushes.has_complete();
        Some(open)
    }

    /// Whether one more operation can start: those in flight, and the ends that no poll has reported, are bounded.
    pub(in crate::transport::tx) fn has_operation_room(&self) -> bool {
        let open = self.operations.used() as usize + self.flushes.len();
        open < OPERATIONS && self.finished.len() < OPERATIONS
    }

    /// Checks that one more operation with `peer` can start; else the peer counts as blocked.
    fn operation_room(&mut self, peer: u32) -> Result<(), Busy> {
        if self.has_operation_room() {
            return Ok(());
        }
        let blocked_on = BlockedOn {
            operation: true,
            ..BlockedOn::default()
        };
        self.block(peer, blocked_on);
        Err(Busy)
    }
}

impl<B: Bytes> Memory for ShmTx<B> {
    type Bytes = B;
    type Region = Region;

    fn register(&mut self, bytes: B, access: Access, _: Peer) -> Result<Region, Fault> {
        Ok(self.regions.add(bytes, access))
    }

    fn expose(&mut self, region: &Region, to: Peer) -> Key {
        match self.mapped_key(region.id()) {
            Some(mapped) => mapped.key(region.id()),
            None => self.offer(region.id(), to.0).key(region.id()),
        }
    }

    fn release(&mut self, region: Region, token: Token) {
        self.withdraw(region.id());
        if let Some(token) = self.regions.release(region, token) {
            self.finish(token, Ok(()));
        }
    }
}

impl<B: Bytes> Rma for ShmTx<B> {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, Region>,
        token: Token,
    ) -> Result<(), Busy> {
        self.operation_room(of.0)?;
        if !self.is_started(of.0, token, to.transfer_len(&from), &to) {
            return Ok(());
        }
        // A claim needs no room, but the pull after a failed one does.
        if !self.out[of.0 as usize].ring.ready() {
            self.make_room(of, false)?;
        }
        let id = self.open(of.0, token, &to, OperationKind::Get);
        if self.claim(of.0, id, from.key, from.at, from.len) {
            return Ok(());
        }
        let sent = self.pull(of.0, id, RegionId::from_key(from.key).0, from.at, from.len);
        debug_assert!(sent, "room was made above");
        Ok(())
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, Region>,
        at: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        self.operation_room(to.0)?;
        if self.is_started(to.0, token, from.transfer_len(&at), &from) {
            let id = self.open(to.0, token, &from, OperationKind::Put);
            let push = Some((RegionId::from_key(at.key).0, at.at));
            self.stream(to.0, id, from.region.id(), from.at, from.len, push);
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        to: Peer,
        at: Remote<'_>,
        atomic: Atomic,
        old: Local<'_, Region>,
        token: Token,
    ) -> Result<(), Busy> {
        self.start_atomic(to, &at, atomic, &old, token)
    }

    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy> {
        self.start_flush(to, token)
    }
}

impl<B: Bytes> ShmTx<B> {
    /// Asks `peer` to stream bytes of its region. False: there is no room for the frame.
    fn pull(&mut self, peer: u32, id: OperationId, from: RegionId, at: u64, len: u64) -> bool {
        self.control(peer, &Control::Pull { id, from, at, len })
    }

    /// Checks this rank's side of operation `token`, of `len` bytes. False: the operation has ended, by a fault, or
    /// since there is nothing to move.
    fn is_started(
        &mut self,
        peer: u32,
        token: Token,
        len: Result<u64, Fault>,
        local: &Local<'_, Region>,
    ) -> bool {
        let own = self
            .regions
            .check_own(local.region.id(), local.at, local.len);
        let checked = match self.is_lost(peer) {
            true => Err(LOST),
            false => own.and(len),
        };
        let goes_on = checked.is_ok_and(|len| len > 0);
        if !goes_on {
            self.finish(token, checked.map(drop));
        }
        goes_on
    }
}
