//! Get and put, emulated by frames: the work of both sides.
//!
//! ```text
//!  get:   Get{id, from, at, len} ->         put:   Put{id, to, at} + bytes, ... ->
//!                <- Data{id, at} + bytes                     <- Completion{id, ok} after the last
//! ```
//!
//! Each frame has the position of its bytes, so they may arrive in any order. The first bytes of a get may
//! arrive before the receiver requests them: see [`speculative_push`](super::super::speculative_push).

use std::time::Instant;

use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::{Access, Atomic, Busy, Bytes, Fault, Key, Local, Peer, Remote, Rma, Token};

use super::TcpTx;
use super::operations::OperationKind;
use crate::frame::{Control, OperationId, Push};
use crate::transport::OPERATIONS;
use crate::transport::bulk_trials::{KernelCopy, TransferClass};
use crate::transport::send_half::{BulkReason, OutboundBulk};
use crate::transport::transfer::Transfer;

/// The position of the next byte of bulk that a peer sends.
#[derive(Debug)]
pub(in crate::transport) struct InboundBulk {
    region: RegionId,
    at: u64,
    id: OperationId,
    kind: InboundKind,
}

#[derive(Debug)]
enum InboundKind {
    /// A chunk of a get of this rank, with its length.
    Get(u64),
    /// A chunk of a peer's put; this rank answers the `last` one.
    Put { last: bool },
}

impl InboundBulk {
    /// Counts `count` more bytes that are in place.
    pub(in crate::transport) fn advance(&mut self, count: u64) {
        self.at += count;
    }
}

/// The rule of the protocol that a peer violated.
pub(super) type Rule = &'static str;

/// The target of the bulk that follows a frame; `None`: it is dropped.
type Target = Result<Option<InboundBulk>, Rule>;

impl<B: Bytes> Rma for TcpTx<B> {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, Region>,
        token: Token,
    ) -> Result<(), Busy> {
        let len = to.transfer_len(&from);
        let Some(id) = self.begin_operation(OperationKind::Get, of.0, len, &to, token)? else {
            return Ok(());
        };
        let pushed = self.await_push(of.0, &from, id);
        if pushed < from.len {
            let get = Control::Get {
                id,
                from: RegionId::from_key(from.key).0,
                at: from.at + pushed,
                len: from.len - pushed,
            };
            self.send_control(of.0, get);
        }
        Ok(())
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, Region>,
        at: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        let len = from.transfer_len(&at);
        let Some(id) = self.begin_operation(OperationKind::Put, to.0, len, &from, token)? else {
            return Ok(());
        };
        let region = from.region.id();
        self.half(to.0).push_sender.dropped(region);
        let put = BulkReason::Put(RegionId::from_key(at.key).0, at.at);
        self.send_bulk(to.0, id, region, from.at, from.len, put);
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
        self.start_atomic(to.0, &at, atomic, &old, token)
    }

    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy> {
        self.start_flush(to.0, token)
    }
}

impl<B: Bytes> TcpTx<B> {
    /// The number of first bytes of `from` that the peer pushes to the operation `id`.
    fn await_push(&mut self, peer: u32, from: &Remote<'_>, id: OperationId) -> u64 {
        let push = Push::from_key(from.key);
        let fits = from.at == 0 && push.len <= from.len;
        let receiver = &mut self.half(peer).push_receiver;
        if !fits || !receiver.is_outstanding(push) {
            return 0;
        }
        receiver.await_push(push, id);
        if let Some(operation) = self.operations.get(id, peer) {
            operation.pushed = push.len;
        }
        push.len
    }

    /// Queues `left` bytes of `region` from `at` on. The region is in use until the kernel has them.
    fn send_bulk(
        &mut self,
        peer: u32,
        id: OperationId,
        region: RegionId,
        at: u64,
        left: u64,
        reason: BulkReason,
    ) {
        self.begin_transfer(peer, region, at + left);
        self.regions.enter(region);
        self.schedule(peer);
        self.half(peer).outbound.push_back(OutboundBulk {
            id,
            region,
            at,
            left,
            sent: 0,
            reason,
        });
    }

    /// The transfer of the first `len` bytes of `region` to `peer`; its first call selects the protocol.
    fn begin_transfer(&mut self, peer: u32, region: RegionId, len: u64) -> Option<&mut Transfer> {
        let takes_pages = self.zero_copy.takes(len);
        let half = self.peers[peer as usize].as_mut()?;
        let transfer = self.regions.note_mut(region)?;
        if transfer.is_none() {
            let class = TransferClass::new(len, half.transfers == 0);
            half.transfers += 1;
            *transfer = Some(Transfer {
                peer,
                len,
                push: None,
                protocol: match takes_pages {
                    true => half.bulk_trials.choose(class),
                    false => KernelCopy::Copy,
                },
                start: takes_pages.then(|| (class, Instant::now())),
            });
        }
        transfer.as_mut()
    }

    /// Ends the transfer of `region`: the peer has all bytes or wants none. Its time is a sample for the next.
    pub(super) fn end_transfer(&mut self, region: RegionId) {
        let transfer = self.regions.note_mut(region).and_then(Option::take);
        let Some(Transfer {
            peer,
            len,
            protocol,
            start,
            ..
        }) = transfer
        else {
            return;
        };
        let half = self.half(peer);
        half.push_sender.ended(region);
        half.transfers -= 1;
        if let Some((class, start)) = start.filter(|_| half.lost.is_none()) {
            // The time of a concurrent transfer counts from the end of the one before.
            let now = Instant::now();
            let since = half.last_transfer_end.map_or(start, |end| end.max(start));
            half.last_transfer_end = Some(now);
            half.bulk_trials.learn(class, protocol, len, now - since);
        }
    }

    /// The key to `region`, for the next frame to `peer`. A push may follow that frame.
    pub(super) fn key_with_push(&mut self, peer: u32, region: RegionId) -> Key {
        let push = self.begin_push(peer, region);
        let begun = self.regions.note(region).copied().flatten();
        let push = push.or_else(|| begun.filter(|transfer| transfer.peer == peer)?.push);
        push.unwrap_or(Push::NONE).key(region)
    }

    fn begin_push(&mut self, peer: u32, region: RegionId) -> Option<Push> {
        /// Room for any request of the engine.
        const REQUEST: usize = 128;
        if self.regions.note(region)?.is_some() {
            return None;
        }
        let all = self.regions.ahead(region)?.len();
        let max = self.options.speculative_push;
        let half = self.peers[peer as usize].as_mut()?;
        let can = all > 0 && max > 0 && half.is_open_for_bulk(REQUEST);
        if !can || !half.push_sender.may_begin() {
            return None;
        }
        let push = half.push_sender.begin(region, all.min(max));
        self.begin_transfer(peer, region, all)?.push = Some(push);
        let id = OperationId(push.number);
        self.send_bulk(peer, id, region, 0, push.len, BulkReason::Push);
        Some(push)
    }

    /// Handles a control frame from `peer`. Returns the target of the bulk behind it.
    ///
    /// # Errors
    /// The rule that the peer violated.
    pub(in crate::transport) fn control(&mut self, peer: u32, control: Control) -> Target {
        match control {
            Control::Get { id, from, at, len } => self.serve_get(peer, id, from, at, len)?,
            Control::Data { id, at, len } => return self.data(peer, id, at, len.into()),
            Control::Push { number, at, len } => return self.pushed(peer, number, at, len.into()),
            Control::Put {
                id,
                to,
                at,
                len,
                last,
            } => {
                if self.allows(to, Access::WRITE, at, len.into()) {
                    self.regions.enter(to);
                    return Ok(Some(InboundBulk {
                        region: to,
                        at,
                        id,
                        kind: InboundKind::Put { last },
                    }));
                }
                self.reply(peer, Control::Completion { id, ok: false })?;
            }
            Control::Atomic {
                id,
                to,
                at,
                width,
                atomic,
            } => self.change(peer, id, (to, at), (width, atomic))?,
            Control::Changed { id, old } => self.changed(peer, id, old)?,
            Control::Completion { id, ok } => self.completed(peer, id, ok)?,
            Control::Leave => self.lose(peer, Fault::Left),
            Control::Ping => self.reply(peer, Control::Pong)?,
            // A pong proves by its arrival that the peer lives; a pad is empty.
            Control::Pong | Control::Pad => {}
        }
        Ok(None)
    }

    /// Whether a peer has `access` to `len` bytes of a region from `at` on.
    fn allows(&self, region: RegionId, access: Access, at: u64, len: u64) -> bool {
        self.regions.check(region, access, at, len).is_ok()
    }

    /// Answers a get of `peer`.
    fn serve_get(
        &mut self,
        peer: u32,
        id: OperationId,
        from: RegionId,
        at: u64,
        len: u64,
    ) -> Result<(), Rule> {
        let outbound = &self.half(peer).outbound;
        let gets = outbound.iter().filter(|b| b.reason == BulkReason::Get);
        if gets.count() >= OPERATIONS {
            return Err("more gets at once than a rank may have");
        }
        if len == 0 || !self.allows(from, Access::READ, at, len) {
            return self.reply(peer, Control::Completion { id, ok: false });
        }
        if at == 0 {
            self.half(peer).push_sender.dropped(from);
        }
        self.send_bulk(peer, id, from, at, len, BulkReason::Get);
        Ok(())
    }

    /// The target of bytes that this rank gets.
    fn data(&mut self, peer: u32, id: OperationId, at: u64, len: u64) -> Target {
        let Some(operation) = self.operations.get(id, peer) else {
            return Ok(None); // the operation has ended early
        };
        let end = at.checked_add(len);
        let inside = end.is_some_and(|end| end <= operation.len - operation.pushed);
        let is_get = operation.kind == OperationKind::Get;
        if !is_get || !inside || len > operation.left || len == 0 {
            return Err("bytes that were not asked for");
        }
        Ok(Some(InboundBulk {
            region: operation.region,
            at: operation.at + operation.pushed + at,
            id,
            kind: InboundKind::Get(len),
        }))
    }

    /// The target of bytes that the peer pushes; `None` if no get waits for them.
    fn pushed(&mut self, peer: u32, number: u64, at: u64, len: u64) -> Target {
        let receiver = &mut self.half(peer).push_receiver;
        let Some(id) = receiver.arriving(number, at, len)? else {
            return Ok(None);
        };
        let Some(operation) = self.operations.get(id, peer) else {
            return Ok(None);
        };
        if len > operation.left {
            return Err("bytes that were not announced");
        }
        Ok(Some(InboundBulk {
            region: operation.region,
            at: operation.at + at,
            id,
            kind: InboundKind::Get(len),
        }))
    }

    /// The memory of `bulk`, and the offset of its next byte.
    pub(in crate::transport) fn target(&self, bulk: &InboundBulk) -> Option<(&B, u64)> {
        Some((self.regions.bytes(bulk.region)?, bulk.at))
    }

    /// Copies `bytes` to the target of `bulk`; drops them if there is none.
    pub(in crate::transport) fn place(&self, bulk: Option<&mut InboundBulk>, mut bytes: &[u8]) {
        let Some(bulk) = bulk else {
            return;
        };
        let len = bytes.len() as u64;
        if let Some((target, at)) = self.target(bulk) {
            target.fill(at, &mut bytes);
        }
        bulk.advance(len);
    }

    /// Counts a frame from `peer` whose bytes are all in place.
    pub(in crate::transport) fn arrived(&mut self, peer: u32, bulk: InboundBulk) {
        let id = bulk.id;
        match bulk.kind {
            InboundKind::Get(len) => {
                let Some(operation) = self.operations.get(id, peer) else {
                    return;
                };
                operation.left -= len;
                if operation.left == 0 {
                    self.end_operation(peer, id, Ok(()));
                }
            }
            InboundKind::Put { last } => {
                self.leave(bulk.region);
                if last {
                    self.send_control(peer, Control::Completion { id, ok: true });
                }
            }
        }
    }

    /// Ends `bulk` in the middle, since the peer is lost.
    pub(in crate::transport) fn abandon(&mut self, bulk: InboundBulk) {
        if let InboundKind::Put { .. } = bulk.kind {
            self.leave(bulk.region);
        }
    }

    /// Ends an operation of this rank, as `peer` reports.
    fn completed(&mut self, peer: u32, id: OperationId, ok: bool) -> Result<(), Rule> {
        let Some(&mut operation) = self.operations.get(id, peer) else {
            return Ok(()); // a second refusal of the same put
        };
        if ok {
            let outbound = &self.half(peer).outbound;
            let all_sent = !outbound.iter().any(|b| b.id == id && b.is_put());
            if operation.kind != OperationKind::Put || !all_sent {
                return Err("a completion of an operation that has not ended");
            }
            self.end_operation(peer, id, Ok(()));
        } else {
            if let Some(region) = self.half(peer).cancel_put(id) {
                self.leave(region);
            }
            self.end_operation(peer, id, Err(Fault::NOT_REGISTERED));
        }
        Ok(())
    }

    /// Sends a reply to a request of `peer`, which may have as many open as it may have operations.
    pub(super) fn reply(&mut self, peer: u32, control: Control) -> Result<(), Rule> {
        if self.half(peer).replies.len() >= 2 * OPERATIONS {
            return Err("more requests at once than a rank may have");
        }
        self.send_control(peer, control);
        Ok(())
    }

    /// Sends `control` now, or as soon as there is room.
    pub(in crate::transport) fn send_control(&mut self, peer: u32, control: Control) {
        self.schedule(peer);
        let half = self.half(peer);
        if !half.replies.is_empty() || !half.control(&control) {
            half.replies.push_back(control);
        }
    }

    /// Ends every operation with `peer`, which is lost for the reason `why`.
    pub(super) fn drop_bulk(&mut self, peer: u32, why: Fault) {
        while let Some(operation) = self.operations.end_any(peer) {
            self.leave(operation.region);
            self.complete(operation.token, Err(why));
        }
        while let Some(token) = self.operations.flushes.lose(peer) {
            self.complete(token, Err(why));
        }
        self.half(peer).gets = 0;
        self.half(peer).push_receiver.clear();
        while let Some(bulk) = self.half(peer).outbound.pop_front() {
            self.leave(bulk.region);
        }
    }

    /// Whether a get from `peer` is under way.
    pub(in crate::transport) fn awaits_bulk(&self, peer: u32) -> bool {
        let half = self.peers[peer as usize].as_ref();
        half.is_some_and(|half| half.gets > 0)
    }
}
