//! Gets and puts by RDMA, or by frames, and atomics by frames.
//!
//! ```text
//!  Atomic{id, to, at, atomic} ->
//!                            <- Changed{id, old}, or Refused{id}
//! ```

use super::VerbsTx;
use super::access_queue::{AccessQueue, reach};
use super::operation_kind::OperationKind;
use super::operations::Operation;
use super::port_pairs::Devices;
use super::send_queue::Posted;
use crate::error::PostError;
use crate::objects::{CompletionError, Payload, SendFlags};
use crate::registration::DeviceRegions;
use crate::transport::control::Control;
use crate::transport::region_key::{Reach, RegionKey};
use crate::transport::remote_memory::RemoteMemory;
use crate::transport::request_id::RequestId;
use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::{Access, Atomic, Busy, Bytes, Fault, Local, Peer, Remote, Rma, Token, Width};

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
    fn reach(&self, peer: u32, remote: &Remote<'_>, access: Access) -> Result<RemoteMemory, Fault> {
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
        let key = RegionKey::from_key(remote.key);
        let fits = |[here, there]: Devices| {
            self.reaches(region, here) && (key.by == Reach::Pieces || key.start.by(there).is_some())
        };
        let link = self.links[peer as usize].as_ref();
        let mut rails = link
            .into_iter()
            .flat_map(|link| link.port_pairs.rails_of_accesses());
        match (self.reach_of(region), key.by) {
            (Reach::Frames, _) | (_, Reach::Frames) => Reach::Frames,
            _ if !rails.any(|(_, devices)| fits(devices)) => Reach::Frames,
            (Reach::Whole, Reach::Whole) => Reach::Whole,
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

    /// Posts reads and writes of the operations with `peer`, as many as its queues take.
    pub(super) fn post_pieces(&mut self, peer: u32) {
        while let Some(link) = &self.links[peer as usize]
            && let Some(&index) = link.pending.front()
        {
            let posted = match self.operations.open[index].kind.is_in_pieces() {
                true => self.post_shown(peer, index),
                false => self.post_part(peer, index),
            };
            let goes_on = matches!(posted, Ok(true));
            self.check(peer, posted.map(drop));
            if !goes_on {
                return;
            }
        }
    }

    /// Posts the next part of the operation at `index`, the first one of `peer`'s that is pending, whose memory is registered as
    /// a whole. False: no queue takes it now.
    fn post_part(&mut self, peer: u32, index: u32) -> Result<bool, PostError> {
        let operation = self.operations.open[index];
        let Some((is_get, start)) = operation.kind.whole() else {
            return Ok(false);
        };
        let Some((regions, first)) = self.registered(operation.region) else {
            return Ok(false);
        };
        let fits = |devices| reach(devices, regions, &start);
        let AccessQueue::Free(queue, devices) = self.access_queue(peer, !is_get, fits) else {
            return Ok(false);
        };
        let len = (operation.len - operation.posted).min(self.piece.into());
        let here = first + (operation.at + operation.posted) as usize;
        let there = start.plus(operation.posted);
        self.post_access(
            peer,
            is_get,
            (queue, devices),
            (regions, here),
            (len, there),
        )?;
        let operation = &mut self.operations.open[index];
        operation.posted += len;
        operation.in_flight += 1;
        let is_last = operation.posted == operation.len;
        let link = self.link(peer);
        link.pair(queue).accessed(index);
        if is_last {
            link.pending.pop_front();
        }
        Ok(true)
    }

    /// Whether a rail is open whose devices reach all memory of an operation that is registered as a whole.
    pub(super) fn has_rail(&self, operation: &Operation) -> bool {
        let (Some((_, start)), Some((regions, _))) =
            (operation.kind.whole(), self.registered(operation.region))
        else {
            return false;
        };
        let fits = |devices| reach(devices, regions, &start);
        let queue = self.access_queue(operation.peer, false, fits);
        !matches!(queue, AccessQueue::None)
    }

    /// Posts a read or a write of `len` bytes by a queue of `peer` and its devices, between `there` and a byte of regions of this
    /// rank.
    pub(super) fn post_access(
        &self,
        peer: u32,
        is_get: bool,
        (queue, [own, other]): (u8, Devices),
        (regions, at): (&DeviceRegions, usize),
        (len, there): (u64, RemoteMemory),
    ) -> Result<(), PostError> {
        let link = self.links[peer as usize].as_ref();
        let pair = link.and_then(|link| link.pairs[queue as usize].pair.as_ref());
        let (Some(pair), Some(region), Some(there)) = (pair, regions.of(own), there.by(other))
        else {
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
