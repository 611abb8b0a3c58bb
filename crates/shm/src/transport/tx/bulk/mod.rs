//! Registered memory and bulk transfer.
//!
//! A file per road: through the link's buffers ([`frames`]), and for gets of offered bytes what
//! their owner does ([`source`]) and what the claimer does ([`sink`]): through a pipe, by the
//! kernel's copy between address spaces ([`single`]), or straight from memory that both have
//! mapped. The claimer picks the road ([`choice`]).

pub(in crate::transport) mod choice;
mod frames;
pub(in crate::transport) mod single;
mod sink;
mod source;

use std::time::Instant;
use std::vec::Vec;

use oxmpi_wire::regions::{Name, Region};
use oxmpi_wire::{Access, Busy, Bytes, Fault, Key, Local, Memory, Peer, Remote, Rma, Token};

use self::choice::{Road, RoadWish, Row};
use super::{ShmTx, Wait};
use crate::transport::OPERATIONS;
use crate::transport::control::{Control, Id};
use crate::transport::link::Wants;

pub(super) use self::frames::Stream;
pub(super) use self::sink::Sinks;
pub(super) use self::source::Sources;

/// Bytes that are copied before the transport looks around again.
const BATCH: u64 = 256 << 10;

/// The same of pipes. Where messages go both ways each side copies in and out by turns, and each turn
/// costs: on a Zen 4 a Sendrecv of 1 MiB took 55 us in pieces of 256 KiB, and 47 in one.
const PIPED: u64 = 1 << 20;

/// A get or put that this rank started.
pub(in crate::transport) struct Operation {
    pub(in crate::transport) turn: u32,
    pub(in crate::transport) open: Option<Open>,
}

#[derive(Clone, Copy)]
pub(in crate::transport) struct Open {
    pub(in crate::transport) peer: u32,
    pub(in crate::transport) token: Token,
    pub(in crate::transport) region: Name,
    /// For a get: where the next bytes go, and how many are missing.
    pub(in crate::transport) at: u64,
    pub(in crate::transport) left: u64,
    pub(in crate::transport) get: bool,
    /// For a get that goes on through the link's buffers, since the road that it was claimed by has
    /// ended before the bytes were there.
    tried: Option<Timed>,
}

/// A get whose time says what a road costs.
#[derive(Clone, Copy)]
struct Timed {
    road: Road,
    /// Whether something went the other way.
    both_ways: bool,
    started: Instant,
    len: u64,
}

impl<B: Bytes> ShmTx<B> {
    /// Sets by which road gets of this rank go, and how large the pieces in a pipe are.
    pub fn set_roads(&mut self, wish: RoadWish) {
        self.wish = wish;
    }

    /// By which roads this rank gets bytes of `peer`, by size, and what each was seen to cost.
    #[must_use]
    pub fn roads(&self, peer: Peer) -> Vec<Row> {
        self.sinks.rows(peer.0, &self.wish)
    }

    /// Moves bulk bytes on, a piece of each transfer. Returns how many pieces.
    pub(super) fn pump(&mut self) -> u32 {
        self.pump_streams() + self.pump_sources() + self.pump_sinks()
    }

    /// Ends what goes on with `peer`, which is lost, but for the operations themselves.
    pub(super) fn drop_bulk(&mut self, peer: u32) {
        self.drop_streams(|stream| stream.peer == peer);
        self.drop_claims(peer);
        self.drop_sources(peer);
    }

    /// The words that bulk transfers wait for, beside credits.
    pub(super) fn bulk_words(&self, waits: &mut Vec<Wait>) {
        self.source_waits(waits);
        self.sink_waits(waits);
    }

    /// Whether bulk transfers need [`ShmTx::pump`].
    pub(super) fn bulk_waits(&self) -> bool {
        !self.streams.is_empty() || self.sources.any() || self.sinks.any()
    }

    /// A transfer of `region` ended.
    pub(super) fn leave(&mut self, region: Name) {
        if let Some(token) = self.regions.leave(region) {
            self.finish(token, Ok(()));
        }
    }

    pub(in crate::transport) fn operation(&self, id: Id, peer: u32) -> Option<Open> {
        let entry = self.operations.get((id.0 >> 32) as usize)?;
        entry
            .open
            .filter(|open| entry.turn == id.0 as u32 && open.peer == peer)
    }

    fn open(&mut self, open: Open) -> Id {
        let place = self.operations.iter().position(|o| o.open.is_none());
        let place = place.unwrap_or_else(|| {
            self.operations.push(Operation {
                turn: 0,
                open: None,
            });
            self.operations.len() - 1
        });
        let entry = &mut self.operations[place];
        entry.turn = entry.turn.wrapping_add(1);
        entry.open = Some(open);
        self.open_operations += 1;
        let id = Id((place as u64) << 32 | u64::from(entry.turn));
        self.regions.enter(open.region);
        id
    }

    pub(in crate::transport) fn close(&mut self, id: Id) -> Option<Open> {
        let open = self.operations[(id.0 >> 32) as usize].open.take()?;
        self.open_operations -= 1;
        self.leave(open.region);
        Some(open)
    }

    /// Whether one more operation with `peer` can start; else remembers who waits.
    fn operation_room(&mut self, peer: u32) -> Result<(), Busy> {
        if self.open_operations < OPERATIONS {
            return Ok(());
        }
        let wants = Wants {
            operation: true,
            ..Wants::default()
        };
        self.block(peer, wants);
        Err(Busy)
    }
}

impl<B: Bytes> Memory for ShmTx<B> {
    type Bytes = B;
    type Region = Region;

    fn register(&mut self, bytes: B, access: Access, _: Peer) -> Result<Region, Fault> {
        Ok(self.regions.add(bytes, access))
    }

    fn key(&mut self, region: &Region, to: Peer) -> Key {
        let offered = self.offer(region.name(), to.0);
        offered.key(region.name())
    }

    fn release(&mut self, region: Region, token: Token) {
        self.withdraw(region.name());
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
        let region = to.region.name();
        if let Err(fault) = self.local(from.len, &to) {
            self.finish(token, fault);
            return Ok(());
        }
        // A claim needs no room, but it may come to a pull yet.
        if !self.out[of.0 as usize].ring.ready() {
            self.make_room(of, false)?;
        }
        let id = self.open(Open {
            peer: of.0,
            token,
            region,
            at: to.at,
            left: to.len,
            get: true,
            tried: None,
        });
        if self.claim(of.0, id, from.key, from.at, from.len) {
            return Ok(());
        }
        let sent = self.pull(of.0, id, Name::of_key(from.key).0, from.at, from.len);
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
        let region = from.region.name();
        if let Err(fault) = self.local(at.len, &from) {
            self.finish(token, fault);
            return Ok(());
        }
        let id = self.open(Open {
            peer: to.0,
            token,
            region,
            at: from.at,
            left: from.len,
            get: false,
            tried: None,
        });
        let push = Some((Name::of_key(at.key).0, at.at));
        self.stream(to.0, id, region, from.at, from.len, push);
        Ok(())
    }
}

impl<B: Bytes> ShmTx<B> {
    /// Asks `peer` to stream bytes of its region. False: there is no room to ask.
    fn pull(&mut self, peer: u32, id: Id, from: Name, at: u64, len: u64) -> bool {
        self.control(peer, &Control::Pull { id, from, at, len })
    }

    /// Checks this rank's side of an operation. The error is what the operation ends in at once:
    /// a fault, or success where there is nothing to move.
    fn local(&self, len: u64, local: &Local<'_, Region>) -> Result<(), Result<(), Fault>> {
        if len != local.len {
            return Err(Err(Fault::Protocol(
                "both sides of a transfer have one length",
            )));
        }
        let own = self.regions.check(local.region.name(), None, local.at, len);
        own.map_err(Err)?;
        if len == 0 { Err(Ok(())) } else { Ok(()) }
    }
}
