//! Gets and puts by RDMA, in pieces, or by frames, and atomics by frames.
//!
//! ```text
//!  Atomic{id, to, at, atomic} ->
//!                            <- Changed{id, old}, or Refused{id}
//! ```

use super::VerbsTx;
use super::link::Link;
use super::operations::{Operation, OperationKind};
use super::pair::Posted;
use crate::error::PostError;
use crate::objects::{CompletionError, Payload, RemoteAddress, SendFlags};
use crate::transport::control::Control;
use crate::transport::region_key::RegionKey;
use crate::transport::request_id::RequestId;
use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::slab::Handle;
use oxmpi_wire::{Access, Atomic, Busy, Bytes, Fault, Local, Peer, Remote, Rma, Token, Width};

/// Writes in flight by each of several port pairs. The port pair whose writes end first gets the next one, so each carries as much of a
/// message as its bandwidth allows.
const STRIPES: u32 = 4;

/// Regions that a rank has at once, at most: so many are remembered of each peer.
const REGIONS: u32 = 1 << 20;

impl Rma for VerbsTx {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, Region>,
        token: Token,
    ) -> Result<(), Busy> {
        let (len, region) = (to.transfer_len(&from), to.region.id());
        let kind = |tx: &Self| {
            tx.check_writable(region)?;
            let reached = tx.reach(of.0, &from, Access::READ)?;
            Ok(match tx.goes_by_frames(of.0, region, &from) {
                true => OperationKind::GetByFrames,
                false => OperationKind::Get(reached),
            })
        };
        let begun = self.begin_operation(of.0, &to, len, kind, token)?;
        self.start(of.0, begun, &from);
        Ok(())
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, Region>,
        at: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        let (len, region) = (from.transfer_len(&at), from.region.id());
        let kind = |tx: &Self| {
            let reached = tx.reach(to.0, &at, Access::WRITE)?;
            Ok(match tx.goes_by_frames(to.0, region, &at) {
                true => OperationKind::PutByFrames,
                false => OperationKind::Put(reached),
            })
        };
        let begun = self.begin_operation(to.0, &from, len, kind, token)?;
        if begun.is_some() {
            self.fill_copy(region, from.at, from.len);
        }
        self.start(to.0, begun, &at);
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
        let width = old.word_width(&at);
        let kind = |_: &Self| width.map(OperationKind::Atomic);
        let begun = self.begin_operation(to.0, &old, width.map(Width::bytes), kind, token)?;
        if let (Some(index), Ok(width)) = (begun, width) {
            let request = Control::Atomic {
                id: self.operations.open.handle(index).word(),
                to: RegionKey::from_key(at.key).id,
                at: at.at,
                width,
                atomic,
            };
            // As many as there are operations.
            self.link(to.0).waiting.push_back(request);
            self.advance(to.0);
        }
        Ok(())
    }

    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy> {
        self.start_flush(to.0, token)
    }
}

impl VerbsTx {
    /// Where `remote` is at `peer`.
    ///
    /// # Errors
    /// [`Fault::NOT_REGISTERED`], as far as the key says.
    fn reach(
        &self,
        peer: u32,
        remote: &Remote<'_>,
        access: Access,
    ) -> Result<RemoteAddress, Fault> {
        let key = RegionKey::from_key(remote.key);
        let link = self.links[peer as usize].as_ref();
        let released = link.and_then(|link| link.released.get(&index_of(key.id)));
        // Those before the last one were released before it.
        if released.is_some_and(|last| !last.is_before(key.id)) {
            return Err(Fault::NOT_REGISTERED);
        }
        key.reach(remote, access)
    }

    /// Whether no device reaches both the region of this rank and the memory of a peer.
    fn goes_by_frames(&self, peer: u32, region: RegionId, remote: &Remote<'_>) -> bool {
        let link = self.links[peer as usize].as_ref();
        RegionKey::from_key(remote.key).by_frames
            || self.registered(region).is_none()
            || link.is_some_and(|link| link.port_pairs.rail_of_accesses().is_none())
    }

    /// Starts an operation that has begun.
    fn start(&mut self, peer: u32, begun: Option<u32>, remote: &Remote<'_>) {
        let Some(index) = begun else {
            return;
        };
        let operation = &mut self.operations.open[index];
        operation.remote = (RegionKey::from_key(remote.key).id, remote.at);
        match operation.kind {
            OperationKind::GetByFrames | OperationKind::PutByFrames => {
                let (region, at) = operation.remote;
                self.start_stream(peer, index, region, at);
            }
            _ => {
                self.link(peer).pending.push_back(index);
                self.post_pieces(peer);
            }
        }
    }

    /// Posts reads and writes of the operations with `peer`, as many as its queue takes.
    pub(super) fn post_pieces(&mut self, peer: u32) {
        while let Some(link) = &self.links[peer as usize]
            && let Some(&index) = link.pending.front()
            && let Some(queue) = self.queue_of_accesses(link)
            && link.pairs[queue as usize].takes_access()
        {
            let operation = self.operations.open[index];
            let len = (operation.len - operation.posted).min(self.piece.into());
            let posted = self.post_piece(&operation, queue, len);
            let is_posted = posted.is_ok();
            self.check(peer, posted);
            if !is_posted {
                return;
            }
            let operation = &mut self.operations.open[index];
            operation.posted += len;
            operation.in_flight += 1;
            let is_last = operation.posted == operation.len;
            let link = self.link(peer);
            link.pair(queue).accessed(index);
            if is_last {
                link.pending.pop_front();
            }
        }
    }

    /// The queue by whose queue pair the next operation that waits reaches memory of the peer.
    fn queue_of_accesses(&self, link: &Link) -> Option<u8> {
        let queue = |rail| self.queues.of_accesses() + rail * self.queues.count();
        let next = link
            .pending
            .front()
            .map(|index| self.operations.open[*index].kind);
        match next {
            Some(OperationKind::Put(_)) if link.port_pairs.has_several() => {
                let load = |queue: &u8| link.pairs[*queue as usize].accesses();
                let queues = link.port_pairs.rails_of_accesses().map(queue);
                let queue = queues.min_by_key(load)?;
                (link.port_pairs.rails_of_accesses().count() == 1 || load(&queue) < STRIPES)
                    .then_some(queue)
            }
            _ => link.port_pairs.rail_of_accesses().map(queue),
        }
    }

    /// Posts the next `len` bytes of an operation by a queue.
    fn post_piece(&self, operation: &Operation, queue: u8, len: u64) -> Result<(), PostError> {
        let link = self.links[operation.peer as usize].as_ref();
        let pair = link.and_then(|link| link.pairs[queue as usize].pair.as_ref());
        let Some((pair, (region, start))) = pair.zip(self.registered(operation.region)) else {
            return Ok(());
        };
        let at = start + (operation.at + operation.posted) as usize;
        let here = [region.segment(at..at + len as usize)];
        let peer = operation.peer;
        let id = RequestId::Send { peer, queue }.word();
        let there = |start: RemoteAddress| RemoteAddress {
            address: start.address + operation.posted,
            ..start
        };
        match operation.kind {
            OperationKind::Get(start) => {
                pair.post_read(id, &here, there(start), SendFlags::SIGNALED)
            }
            OperationKind::Put(start) => {
                let payload = Payload::Segments(&here);
                pair.post_write(id, payload, there(start), None, SendFlags::SIGNALED)
            }
            OperationKind::Atomic(_) | OperationKind::GetByFrames | OperationKind::PutByFrames => {
                Ok(())
            }
        }
    }

    /// Counts the end of a read or a write of an operation.
    pub(super) fn piece_ended(&mut self, index: u32) {
        let operation = &mut self.operations.open[index];
        if operation.is_broken_off {
            return self.access_ended(index);
        }
        operation.in_flight -= 1;
        if operation.in_flight > 0 || operation.posted < operation.len {
            return;
        }
        let Operation {
            kind,
            region,
            at,
            len,
            ..
        } = *operation;
        if let OperationKind::Get(_) = kind {
            self.drain_copy(region, at, len);
        }
        self.end_operation(index, Ok(()));
    }

    /// Ends the operation whose access the peer's device has refused, and which has thereby broken the connection.
    pub(super) fn end_refused(&mut self, peer: u32, queue: u8, why: &CompletionError) {
        if why.name() == "IBV_WC_REM_ACCESS_ERR"
            && let Some(Posted::Access { operation }) = self.link(peer).pair(queue).oldest()
        {
            let link = self.link(peer);
            link.pending.retain(|pending| *pending != operation);
            self.end_operation(operation, Err(Fault::NOT_REGISTERED));
        }
    }

    /// Handles a frame of the transport from `peer`.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(in crate::transport) fn control(
        &mut self,
        peer: u32,
        control: Control,
    ) -> Result<(), &'static str> {
        match control {
            Control::Atomic {
                id,
                to,
                at,
                width,
                atomic,
            } => {
                let both = Access::READ | Access::WRITE;
                let bytes = self.regions.check(to, both, at, width.bytes());
                let old = bytes.ok().and_then(|bytes| bytes.atomic(at, width, atomic));
                let answer = match old {
                    Some(old) => Control::Changed { id, old },
                    None => Control::Refused { id },
                };
                self.answer(peer, answer)
            }
            Control::Changed { id, old } => self.answered(peer, id, Ok(Some(old))),
            Control::Written { id } => self.answered(peer, id, Ok(None)),
            Control::Refused { id } => self.answered(peer, id, Err(Fault::NOT_REGISTERED)),
            Control::Read { id, to, at, len } => self.answer_read(peer, [id, at, len], to),
            Control::Released { region } => {
                let index = index_of(region);
                if index >= REGIONS {
                    return Err("a region of an index that no rank gets to");
                }
                self.link(peer).released.insert(index, region);
                Ok(())
            }
            Control::Ring {
                start,
                shape,
                port_pair,
            } => self.take_ring(peer, port_pair, start, shape),
            Control::RingTaken { word } => {
                self.link(peer).word = Some(word);
                Ok(())
            }
            Control::Wake => Ok(()),
        }
    }

    /// Ends the operation `id`, as `peer` says: with the word before, if it is an atomic.
    fn answered(
        &mut self,
        peer: u32,
        id: u64,
        answer: Result<Option<u64>, Fault>,
    ) -> Result<(), &'static str> {
        let index = self.operations.open.find(Handle::from_word(id));
        let found = index.map(|index| (index, self.operations.open[index]));
        let Some((index, operation)) = found.filter(|(_, operation)| operation.peer == peer) else {
            return Err("an answer to nothing");
        };
        match (operation.kind, answer) {
            (OperationKind::Atomic(width), Ok(Some(old))) => {
                if let Some(bytes) = self.regions.bytes(operation.region) {
                    width.fill(bytes, operation.at, old);
                }
            }
            (OperationKind::PutByFrames, Ok(None))
            | (OperationKind::Atomic(_), Err(_))
            | (OperationKind::PutByFrames | OperationKind::GetByFrames, Err(_)) => {}
            _ => return Err("an answer that was not asked for"),
        }
        self.end_operation(index, answer.map(drop));
        Ok(())
    }
}

/// The place of a region in its owner's table; the next region there has another id.
fn index_of(id: RegionId) -> u32 {
    (id.word() >> 32) as u32
}
