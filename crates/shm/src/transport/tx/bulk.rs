//! Registered memory and bulk transfer: get and put as streams of chunks through the buffers.

use oxmpi_wire::{Access, Busy, Bytes, Fault, Key, Local, Memory, Peer, Remote, Rma, Take, Token};

use super::ShmTx;
use crate::ring::Corrupt;
use crate::transport::OPERATIONS;
use crate::transport::control::{Control, Id};
use crate::transport::foreign::Foreign;
use crate::transport::link::Wants;
use crate::transport::region::{Name, Regions, ShmRegion};

/// Bytes of this rank on their way to a peer.
pub(super) struct Stream {
    pub(super) peer: u32,
    pub(super) id: Id,
    pub(super) region: Name,
    pub(super) at: u64,
    pub(super) left: u64,
    /// Buffers of one chunk.
    pub(super) chunk: u32,
    /// For a put: where it goes.
    pub(super) push: Option<(Name, u64)>,
}

/// A get or put that this rank started.
pub(super) struct Operation {
    pub(super) turn: u32,
    pub(super) open: Option<Open>,
}

#[derive(Clone, Copy)]
pub(super) struct Open {
    pub(super) peer: u32,
    pub(super) token: Token,
    pub(super) region: Name,
    /// For a get: where the next bytes go, and how many are missing.
    pub(super) at: u64,
    pub(super) left: u64,
    pub(super) get: bool,
}

impl<B: Bytes> ShmTx<B> {
    /// A peer pulls.
    pub(in crate::transport) fn pulled(
        &mut self,
        peer: u32,
        id: Id,
        from: Name,
        at: u64,
        len: u64,
    ) -> Result<(), Corrupt> {
        if self.streams.iter().filter(|s| s.peer == peer).count() >= 2 * OPERATIONS {
            return Err(Corrupt("more pulls at once than there can be"));
        }
        let allowed = self.regions.check(from, Some(Access::Read), at, len);
        if allowed.is_err() || len == 0 {
            return self.answer(peer, Control::Refused { id });
        }
        self.stream(peer, id, from, at, len, None);
        Ok(())
    }

    fn stream(
        &mut self,
        peer: u32,
        id: Id,
        region: Name,
        at: u64,
        len: u64,
        push: Option<(Name, u64)>,
    ) {
        self.regions.enter(region);
        let layout = self.segment.layout();
        // About eight chunks, so that copying in and out overlap, of at most half the buffers.
        let chunk = (len / 8 / u64::from(layout.buffer)).clamp(1, u64::from(layout.buffers / 2));
        self.streams.push(Stream {
            peer,
            id,
            region,
            at,
            left: len,
            chunk: chunk as u32,
            push,
        });
        self.chores = true;
    }

    /// A chunk for operation `id` has come from `peer`. The token, if that was the last.
    pub(in crate::transport) fn arrived(
        &mut self,
        peer: u32,
        id: Id,
        len: usize,
        body: &mut Foreign<'_>,
    ) -> Result<Option<Token>, Corrupt> {
        let Some(open) = self.operation(id, peer) else {
            return Ok(None); // ended early, for instance by a refusal
        };
        if !open.get || len as u64 > open.left {
            return Err(Corrupt("more bytes than were pulled"));
        }
        let now = Open {
            at: open.at + len as u64,
            left: open.left - len as u64,
            ..open
        };
        if let Some(bytes) = self.regions.bytes(open.region) {
            bytes.fill(open.at, body);
        }
        if now.left > 0 {
            self.operations[(id.0 >> 32) as usize].open = Some(now);
            return Ok(None);
        }
        Ok(self.close(id).map(|open| open.token))
    }

    /// A chunk that `peer` pushes.
    pub(in crate::transport) fn pushed(
        &mut self,
        peer: u32,
        id: Id,
        to: Name,
        at: u64,
        last: bool,
        body: &mut Foreign<'_>,
    ) -> Result<(), Corrupt> {
        let len = body.left() as u64;
        let ok = match self.regions.check(to, Some(Access::Write), at, len) {
            Ok(bytes) => {
                bytes.fill(at, body);
                true
            }
            Err(_) => false,
        };
        if last || !ok {
            self.answer(peer, Control::Pushed { id, ok })?;
        }
        Ok(())
    }

    /// Operation `id` with `peer` ended, well or not.
    pub(in crate::transport) fn ended(&mut self, peer: u32, id: Id, result: Result<(), Fault>) {
        if self.operation(id, peer).is_none() {
            return; // a second refusal of one put
        }
        self.drop_streams(|s| s.push.is_some() && s.id == id);
        if let Some(open) = self.close(id) {
            self.finish(open.token, result);
        }
    }

    fn leave(&mut self, region: Name) {
        if let Some(token) = self.regions.leave(region) {
            self.finish(token, Ok(()));
        }
    }

    pub(super) fn drop_streams(&mut self, which: impl Fn(&Stream) -> bool) {
        let mut i = 0;
        while i < self.streams.len() {
            if which(&self.streams[i]) {
                let stream = self.streams.swap_remove(i);
                self.leave(stream.region);
            } else {
                i += 1;
            }
        }
    }

    fn operation(&self, id: Id, peer: u32) -> Option<Open> {
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

    pub(super) fn close(&mut self, id: Id) -> Option<Open> {
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

    /// Copies into free buffers what streams have. Returns the number of chunks.
    pub(super) fn pump(&mut self) -> u32 {
        let mut chunks = 0;
        let mut i = 0;
        while i < self.streams.len() {
            while self.chunk(i) {
                chunks += 1;
            }
            if self.streams[i].left == 0 {
                let stream = self.streams.swap_remove(i);
                self.leave(stream.region);
            } else {
                i += 1;
            }
        }
        chunks
    }

    /// Sends the next chunk of stream `i`. False if it is done or has no room.
    fn chunk(&mut self, i: usize) -> bool {
        let stream = &self.streams[i];
        let (peer, most) = (stream.peer, stream.chunk);
        if stream.left == 0
            || (!self.out[peer as usize].ring.ready() && !self.has_room(peer, false))
        {
            return false;
        }
        let stream = &mut self.streams[i];
        let out = &mut self.out[peer as usize];
        let buffers = match out.side_by_side(most) {
            Ok(0) => return false,
            Ok(n) => n,
            Err(corrupt) => {
                self.breach(peer, corrupt);
                return false;
            }
        };
        let size = u64::from(out.size());
        let len = stream.left.min(u64::from(buffers) * size);
        let buffers = len.div_ceil(size) as u32;
        let first = out.first();
        if let Some(bytes) = self.regions.bytes(stream.region) {
            bytes.drain(stream.at, len as usize, &mut out.buffer(len as usize));
        }
        stream.at += len;
        stream.left -= len;
        let (id, len32) = (stream.id, len as u32);
        let control = match &mut stream.push {
            None => Control::Data {
                id,
                first,
                len: len32,
            },
            Some((to, at)) => {
                let here = *at;
                *at += len;
                Control::Push {
                    id,
                    to: *to,
                    at: here,
                    first,
                    len: len32,
                    last: stream.left == 0,
                }
            }
        };
        out.buffers.take(buffers);
        self.control(peer, &control)
    }
}

impl<B: Bytes> Memory for ShmTx<B> {
    type Bytes = B;
    type Region = ShmRegion;

    fn register(&mut self, bytes: B, access: Access) -> Result<ShmRegion, Fault> {
        Ok(self.regions.add(bytes, access))
    }

    fn key(&self, region: &ShmRegion, _: Peer) -> Key {
        Regions::<B>::key(region.name())
    }

    fn release(&mut self, region: ShmRegion, token: Token) {
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
        to: Local<'_, ShmRegion>,
        token: Token,
    ) -> Result<(), Busy> {
        self.operation_room(of.0)?;
        let region = to.region.name();
        if let Err(fault) = self.local(from.len, &to) {
            self.finish(token, fault);
            return Ok(());
        }
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
        });
        let pull = Control::Pull {
            id,
            from: Name::of_key(from.key),
            at: from.at,
            len: from.len,
        };
        let sent = self.control(of.0, &pull);
        debug_assert!(sent, "room was made above");
        Ok(())
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, ShmRegion>,
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
        });
        let push = Some((Name::of_key(at.key), at.at));
        self.stream(to.0, id, region, from.at, from.len, push);
        Ok(())
    }
}

impl<B: Bytes> ShmTx<B> {
    /// Checks this rank's side of an operation. The error is what the operation ends in at once:
    /// a fault, or success where there is nothing to move.
    fn local(&self, len: u64, local: &Local<'_, ShmRegion>) -> Result<(), Result<(), Fault>> {
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
