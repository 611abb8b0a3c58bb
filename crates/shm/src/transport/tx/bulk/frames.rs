//! The protocol [`Buffers`](super::protocol::BulkProtocol::Buffers): streams of chunks through a link's
//! larger buffers, each named by a frame.
//!
//! It needs nothing but the link. Puts, gets of a part of a region, and gets for which no other protocol is
//! left use it.

use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Access, Bytes, Fault, Take, Token};

use super::{OpenOperation, OperationKind};
use crate::ring::Corrupt;
use crate::transport::OPERATIONS;
use crate::transport::control::{Control, OperationId};
use crate::transport::shared_bytes::SharedBytes;
use crate::transport::tx::ShmTx;

/// Bytes of this rank that stream to a peer.
pub(in crate::transport) struct BufferStream {
    pub(in crate::transport) peer: u32,
    id: OperationId,
    region: RegionId,
    at: u64,
    left: u64,
    /// Buffers of one chunk.
    chunk: u32,
    /// For a put: the region and the offset of the next chunk.
    push: Option<(RegionId, u64)>,
}

impl<B: Bytes> ShmTx<B> {
    /// Starts to stream what `peer` pulls, or refuses it.
    pub(in crate::transport) fn pulled(
        &mut self,
        peer: u32,
        id: OperationId,
        from: RegionId,
        at: u64,
        len: u64,
    ) -> Result<(), Corrupt> {
        if self.streams.iter().filter(|s| s.peer == peer).count() >= 2 * OPERATIONS {
            return Err(Corrupt("more pulls at once than allowed"));
        }
        let allowed = self.regions.check(from, Access::READ, at, len);
        if allowed.is_err() || len == 0 {
            return self.answer(peer, Control::Refused { id });
        }
        self.stream(peer, id, from, at, len, None);
        Ok(())
    }

    pub(super) fn stream(
        &mut self,
        peer: u32,
        id: OperationId,
        region: RegionId,
        at: u64,
        len: u64,
        push: Option<(RegionId, u64)>,
    ) {
        self.regions.enter(region);
        let layout = self.segment.layout();
        // About eight chunks of at most half the buffers, so that copying in and out overlap.
        let chunk = (len / 8 / u64::from(layout.buffer)).clamp(1, u64::from(layout.buffers / 2));
        self.streams.push(BufferStream {
            peer,
            id,
            region,
            at,
            left: len,
            chunk: chunk as u32,
            push,
        });
        self.has_slow_work = true;
    }

    /// Takes a chunk of operation `id` from `peer`. Returns the token after the last chunk.
    pub(in crate::transport) fn arrived(
        &mut self,
        peer: u32,
        id: OperationId,
        len: usize,
        body: &mut SharedBytes<'_>,
    ) -> Result<Option<Token>, Corrupt> {
        let Some(open) = self.operation(id, peer) else {
            return Ok(None); // ended early, for instance by a refusal
        };
        if open.kind != OperationKind::Get || len as u64 > open.left {
            return Err(Corrupt("more bytes than were pulled"));
        }
        let now = OpenOperation {
            at: open.at + len as u64,
            left: open.left - len as u64,
            ..open
        };
        if let Some(bytes) = self.regions.bytes(open.region) {
            bytes.fill(open.at, body);
        }
        if now.left > 0 {
            self.operations[id.index] = now;
            return Ok(None);
        }
        if let Some(timed) = &now.tried {
            // The time counts for the failed protocol, or it would be tried first for ever.
            self.learn(peer, timed);
        }
        Ok(self.close(id).map(|open| open.token))
    }

    /// Takes a chunk of a put of `peer`.
    pub(in crate::transport) fn pushed(
        &mut self,
        peer: u32,
        id: OperationId,
        to: RegionId,
        at: u64,
        last: bool,
        body: &mut SharedBytes<'_>,
    ) -> Result<(), Corrupt> {
        let len = body.left() as u64;
        let ok = match self.regions.check(to, Access::WRITE, at, len) {
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

    /// Ends operation `id` with `peer` with this result.
    pub(in crate::transport) fn ended(
        &mut self,
        peer: u32,
        id: OperationId,
        result: Result<(), Fault>,
    ) {
        if self.operation(id, peer).is_none() {
            return; // a second refusal of one put
        }
        self.drop_streams(|s| s.push.is_some() && s.id == id);
        if let Some(open) = self.close(id) {
            self.finish(open.token, result);
        }
    }

    pub(in crate::transport) fn drop_streams(&mut self, which: impl Fn(&BufferStream) -> bool) {
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

    /// Copies from streams into free buffers. Returns the number of chunks.
    pub(super) fn pump_streams(&mut self) -> u32 {
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
                // A wrong offset is the owner's to refuse.
                *at = here.wrapping_add(len);
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
