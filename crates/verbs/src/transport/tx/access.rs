//! Gets and puts by RDMA, or by frames, and atomics by frames.
//!
//! ```text
//!  Atomic{id, to, at, atomic} ->
//!                            <- Changed{id, old}, or Refused{id}
//! ```

use super::VerbsTx;
use super::link::Link;
use super::operation_kind::OperationKind;
use super::operations::Operation;
use super::send_queue::Posted;
use crate::error::PostError;
use crate::objects::{CompletionError, MemoryRegion, Payload, RemoteAddress, SendFlags};
use crate::transport::control::Control;
use crate::transport::region_key::{Reach, RegionKey};
use crate::transport::request_id::RequestId;
use oxmpi_wire::regions::{Region, RegionId};
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
            Ok(match tx.transfer(of.0, region, [to.at, to.len], &from) {
                Reach::Frames => OperationKind::GetByFrames,
                Reach::Pieces => OperationKind::GetInPieces(reached),
                Reach::Whole => OperationKind::Get(reached),
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
            // There the end of a write does not say that it has arrived.
            let is_iwarp = tx.domains[0].context().is_iwarp();
            Ok(match tx.transfer(to.0, region, [from.at, from.len], &at) {
                Reach::Frames => OperationKind::PutByFrames,
                _ if is_iwarp => OperationKind::PutByFrames,
                Reach::Pieces => OperationKind::PutInPieces(reached),
                Reach::Whole => OperationKind::Put(reached),
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

    /// How `len` bytes move between byte `at` of `region` and the memory of a peer.
    fn transfer(
        &self,
        peer: u32,
        region: RegionId,
        [at, len]: [u64; 2],
        remote: &Remote<'_>,
    ) -> Reach {
        let link = self.links[peer as usize].as_ref();
        if link.is_some_and(|link| link.port_pairs.rail_of_accesses().is_none()) {
            return Reach::Frames;
        }
        match (self.reach_of(region), RegionKey::from_key(remote.key).by) {
            (Reach::Whole, Reach::Whole) => Reach::Whole,
            (Reach::Frames, _) | (_, Reach::Frames) => Reach::Frames,
            _ => match self.pieces_of(region, [at, len], remote).is_empty() {
                true => Reach::Frames,
                false => Reach::Pieces,
            },
        }
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
            OperationKind::GetInPieces(_) | OperationKind::PutInPieces(_) => {
                self.start_pipeline(peer, index, remote);
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
        {
            let queue = self.queue_of_accesses(link);
            if queue.is_some_and(|queue| !link.pairs[queue as usize].takes_access()) {
                return;
            }
            let operation = self.operations.open[index];
            if operation.kind.is_in_pieces() {
                let posted = self.post_shown(peer, index, queue);
                let is_posted = posted.is_ok();
                self.check(peer, posted);
                if !is_posted {
                    return;
                }
                continue;
            }
            let Some(queue) = queue else {
                return;
            };
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

    /// Posts the next `len` bytes of an operation on memory that is registered as a whole, by a queue.
    fn post_piece(&self, operation: &Operation, queue: u8, len: u64) -> Result<(), PostError> {
        let (is_get, start) = match operation.kind {
            OperationKind::Get(start) => (true, start),
            OperationKind::Put(start) => (false, start),
            _ => return Ok(()),
        };
        let Some((region, first)) = self.registered(operation.region) else {
            return Ok(());
        };
        let here = (region, first + (operation.at + operation.posted) as usize);
        let there = RemoteAddress {
            address: start.address + operation.posted,
            ..start
        };
        self.post_access(operation.peer, queue, is_get, here, (len, there))
    }

    /// Posts a read or a write of `len` bytes by a queue of `peer`, between `there` and a byte of a region of the device.
    pub(super) fn post_access(
        &self,
        peer: u32,
        queue: u8,
        is_get: bool,
        (region, at): (&MemoryRegion, usize),
        (len, there): (u64, RemoteAddress),
    ) -> Result<(), PostError> {
        let link = self.links[peer as usize].as_ref();
        let Some(pair) = link.and_then(|link| link.pairs[queue as usize].pair.as_ref()) else {
            return Ok(());
        };
        let here = [region.segment(at..at + len as usize)];
        let id = RequestId::Send { peer, queue }.word();
        if is_get {
            return pair.post_read(id, &here, there, SendFlags::SIGNALED);
        }
        let payload = Payload::Segments(&here);
        pair.post_write(id, payload, there, None, SendFlags::SIGNALED)
    }

    /// Counts the end of a read or a write of an operation by a queue.
    pub(super) fn piece_ended(&mut self, index: u32, queue: u8) {
        let operation = &mut self.operations.open[index];
        if operation.kind.is_in_pieces() {
            return self.pipeline_piece_ended(index, queue);
        }
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
            Control::Read {
                id,
                to,
                at,
                len,
                before,
            } => self.answer_read(peer, [id, at, len, before], to),
            Control::Pieces {
                id,
                to,
                at,
                len,
                around,
            } => self.lease(peer, id, to, [at, len], around),
            Control::Piece { id, at, len, start } => self.piece_shown(peer, id, [at, len], start),
            Control::PieceMoved { id, at } => self.take_back_piece(peer, id, at),
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
                self.take_word(peer, word);
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
        let index = self.operation(peer, id).ok_or("an answer to nothing")?;
        let operation = self.operations.open[index];
        match (operation.kind, answer) {
            (OperationKind::PutInPieces(_), Ok(None)) => {
                self.end_range(index, true);
                return Ok(());
            }
            (OperationKind::GetInPieces(_) | OperationKind::PutInPieces(_), Err(_)) => {
                self.pipeline_refused(index);
                return Ok(());
            }
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
