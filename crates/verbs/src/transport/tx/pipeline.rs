//! Gets and puts of long memory that does not stay registered: openib's RDMA pipeline.
//!
//! ```text
//!  requester                                         owner of the memory
//!  Pieces{id, region, at, len, before, after}   ->   register
//!                                              <-    Answer{id, at, bytes} ...      before and after, of a get
//!                                              <-    Piece{id, at, len, start} ...
//!  register, read or write, deregister
//!  PieceMoved{id, at}                           ->   deregister, register the next one
//! ```
//!
//! The bytes at both ends are copied to frames while the pieces between are registered, here and there. At most
//! [`PIECES`] of a transfer are registered at a time. Where memory of one side is registered as a whole, only the other
//! side registers pieces. A piece that a device does not register goes by frames.

use super::VerbsTx;
use super::access_queue::{AccessQueue, reach};
use super::operation_kind::OperationKind;
use super::stream::Stream;
use crate::error::PostError;
use crate::registration::Placed;
use crate::transport::control::Control;
use crate::transport::data_head::{DataHead, DataKind};
use crate::transport::pipeline_sizes::{PIECES, RANGES};
use crate::transport::region_key::{Reach, RegionKey};
use crate::transport::remote_memory::RemoteMemory;
use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Bytes, Fault, Remote};
use std::collections::VecDeque;
use std::ops::Range;

/// A get or a put in pieces. Offsets count from its first byte.
#[derive(Debug)]
pub(super) struct Pipeline {
    /// The region of the peer.
    to: RegionId,
    /// The first byte in it.
    there: u64,
    /// Where the peer's first byte is, if its memory is registered as a whole.
    whole: Option<RemoteMemory>,
    /// The peer has answered the request for pieces, or need not.
    is_granted: bool,
    /// Ranges that go by frames, in their order.
    by_frames: VecDeque<Range<u64>>,
    /// Bytes whose pieces the peer has not shown.
    rest: Range<u64>,
    shown: VecDeque<Piece>,
    /// The registration of this rank's memory for the piece that begins here, which waits for its rail.
    waiting: Option<(u64, Placed)>,
    posted: Vec<Posted>,
    /// The peer has refused a part.
    is_refused: bool,
}

/// A piece that is read or written.
#[derive(Debug)]
struct Posted {
    piece: Piece,
    /// The registration of this rank's memory.
    _placed: Placed,
    queue: u8,
}

/// A piece of a transfer.
#[derive(Debug, Clone, Copy)]
struct Piece {
    at: u64,
    len: u64,
    /// Where it is at the peer; `None`: not registered.
    start: Option<RemoteMemory>,
}

impl Pipeline {
    fn is_done(&self) -> bool {
        self.rest.is_empty()
            && self.shown.is_empty()
            && self.posted.is_empty()
            && self.by_frames.is_empty()
    }
}

/// The part of `of` that lies in the bytes `whole` of a region, of which the transfer begins at `at`.
fn within(of: &Range<u64>, whole: &Range<u64>, at: u64) -> Range<u64> {
    let start = of.start.max(whole.start.saturating_sub(at));
    start..of.end.min(whole.end.saturating_sub(at)).max(start)
}

impl VerbsTx {
    /// The bytes of a transfer of `len` bytes that go in pieces: between byte `at` of `region`, and `remote`.
    pub(super) fn pieces_of(
        &self,
        region: RegionId,
        [at, len]: [u64; 2],
        remote: &Remote<'_>,
    ) -> Range<u64> {
        let sizes = &self.registrations.pipeline;
        let key = RegionKey::from_key(remote.key);
        let mut pieces = 0..len;
        if self.reach_of(region) == Reach::Pieces {
            let whole = self.regions.bytes(region).map_or(0, Bytes::len);
            pieces = within(&pieces, &sizes.pieces(whole), at);
        }
        if key.by == Reach::Pieces {
            pieces = within(&pieces, &sizes.pieces(key.len), remote.at);
        }
        pieces
    }

    /// Starts the operation at `index` with the memory `remote` of `peer`, in pieces.
    pub(super) fn start_pipeline(&mut self, peer: u32, index: u32, remote: &Remote<'_>) {
        let operation = self.operations.open[index];
        let (is_get, start) = match operation.kind {
            OperationKind::GetInPieces(start) => (true, start),
            OperationKind::PutInPieces(start) => (false, start),
            _ => return,
        };
        let pieces = self.pieces_of(operation.region, [operation.at, operation.len], remote);
        let key = RegionKey::from_key(remote.key);
        let is_whole = key.by == Reach::Whole;
        let ends = [0..pieces.start, pieces.end..operation.len];
        let mut pipeline = Pipeline {
            to: key.id,
            there: remote.at,
            whole: is_whole.then_some(start),
            is_granted: is_whole,
            by_frames: VecDeque::new(),
            rest: pieces.clone(),
            shown: VecDeque::new(),
            waiting: None,
            posted: Vec::with_capacity(PIECES),
            is_refused: false,
        };
        if !is_whole {
            let lengths = ends.clone().map(|end| (end.end - end.start) as u32);
            let request = Control::Pieces {
                id: self.operations.open.handle(index).word(),
                to: key.id,
                at: remote.at + pieces.start,
                len: pieces.end - pieces.start,
                around: if is_get { lengths } else { [0, 0] },
            };
            if is_get {
                let ends = ends.iter().filter(|end| !end.is_empty());
                pipeline.by_frames.extend(ends.cloned());
            }
            // As many as there are operations.
            self.link(peer).waiting.push_back(request);
        }
        self.operations.pipelines.insert(index, pipeline);
        if is_whole {
            for end in ends {
                self.move_by_frames(index, end);
            }
            self.resume(peer, index);
        }
        self.advance(peer);
    }

    /// Takes a piece that `peer` has registered, or not, for the operation `id`: from byte `at` of its region on.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn piece_shown(
        &mut self,
        peer: u32,
        id: u64,
        [at, len]: [u64; 2],
        start: Option<RemoteMemory>,
    ) -> Result<(), &'static str> {
        let longest = self.piece.into();
        let (index, pipeline) = self.pipeline(peer, id).ok_or("a piece of nothing")?;
        let next = at.wrapping_sub(pipeline.there);
        if next != pipeline.rest.start || len == 0 || len > pipeline.rest.end - next {
            return Err("a piece that was not asked for");
        }
        if pipeline.shown.len() + pipeline.posted.len() >= PIECES {
            return Err("more pieces at once than a rank registers");
        }
        if len > longest {
            return Err("a piece that one request does not move");
        }
        pipeline.rest.start += len;
        pipeline.shown.push_back(Piece {
            at: next,
            len,
            start,
        });
        let is_first = !std::mem::replace(&mut pipeline.is_granted, true);
        let pieces = next..pipeline.rest.end;
        let operation = self.operations.open[index];
        if is_first && let OperationKind::PutInPieces(_) = operation.kind {
            for end in [0..pieces.start, pieces.end..operation.len] {
                self.move_by_frames(index, end);
            }
        }
        self.resume(peer, index);
        self.advance(peer);
        Ok(())
    }

    /// The operation `id` with `peer`, if it goes in pieces.
    fn pipeline(&mut self, peer: u32, id: u64) -> Option<(u32, &mut Pipeline)> {
        let index = self.operation(peer, id)?;
        let pipeline = self.operations.pipelines.get_mut(&index)?;
        Some((index, pipeline))
    }

    /// Lets a range of the operation at `index` go by frames.
    fn move_by_frames(&mut self, index: u32, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let id = self.operations.open.handle(index).word();
        let operation = self.operations.open[index];
        let Some(pipeline) = self.operations.pipelines.get_mut(&index) else {
            return;
        };
        let (to, at, len) = (
            pipeline.to,
            pipeline.there + range.start,
            range.end - range.start,
        );
        let before = range.start;
        pipeline.by_frames.push_back(range);
        let link = self.link(operation.peer);
        if let OperationKind::GetInPieces(_) = operation.kind {
            link.waiting.push_back(Control::Read {
                id,
                to,
                at,
                len,
                before,
            });
        } else {
            let head = DataHead {
                kind: DataKind::Write,
                id,
                region: to,
                at,
            };
            let from = (operation.region, operation.at + before);
            link.streams.push_back(Stream::new(head, from, len));
        }
    }

    /// Lets the operation at `index` post pieces, as soon as a queue pair takes some.
    pub(super) fn resume(&mut self, peer: u32, index: u32) {
        let is_broken_off = self.operations.open[index].is_broken_off;
        let link = self.links[peer as usize].as_mut();
        if let Some(link) = link.filter(|link| !is_broken_off && !link.pending.contains(&index)) {
            link.pending.push_back(index);
        }
    }

    /// Posts a piece of the operation at `index`, the first one of `peer`'s that has some, or lets it go by frames. An operation
    /// that has none now is not pending any more. False: no queue takes it now.
    pub(super) fn post_shown(&mut self, peer: u32, index: u32) -> Result<bool, PostError> {
        let operation = self.operations.open[index];
        let is_get = matches!(operation.kind, OperationKind::GetInPieces(_));
        let queue = self.access_queue(peer, !is_get, |_| true);
        if matches!(queue, AccessQueue::Busy) {
            return Ok(false);
        }
        let Some((piece, is_refused)) = self.next_piece(index) else {
            self.link(peer).pending.retain(|pending| *pending != index);
            return Ok(true);
        };
        if is_refused {
            self.piece_moved(peer, index, piece.at);
            self.end_pipeline(index);
            return Ok(true);
        }
        let start = piece.start.filter(|_| !matches!(queue, AccessQueue::None));
        let placed = start.and_then(|start| {
            let pipeline = self.operations.pipelines.get_mut(&index)?;
            let waiting = pipeline.waiting.take_if(|(at, _)| *at == piece.at);
            let placed = waiting.map(|(_, placed)| placed).or_else(|| {
                self.place_range(operation.region, operation.at + piece.at, piece.len)
            })?;
            Some((start, placed))
        });
        let Some((start, placed)) = placed else {
            self.piece_by_frames(peer, index, piece);
            return Ok(true);
        };
        let fits = |devices| reach(devices, &placed.0, &start);
        let (queue, devices) = match self.access_queue(peer, !is_get, fits) {
            AccessQueue::Free(queue, devices) => (queue, devices),
            AccessQueue::Busy => {
                if let Some(pipeline) = self.operations.pipelines.get_mut(&index) {
                    pipeline.shown.push_front(piece);
                    pipeline.waiting = Some((piece.at, placed));
                }
                return Ok(false);
            }
            AccessQueue::None => {
                self.piece_by_frames(peer, index, piece);
                return Ok(true);
            }
        };
        let here = (&*placed.0, placed.1);
        self.post_access(peer, is_get, (queue, devices), here, (piece.len, start))?;
        self.link(peer).pair(queue).accessed(index);
        if let Some(pipeline) = self.operations.pipelines.get_mut(&index) {
            pipeline.posted.push(Posted {
                piece,
                _placed: placed,
                queue,
            });
        }
        Ok(true)
    }

    /// Lets a piece of the operation at `index` go by frames.
    fn piece_by_frames(&mut self, peer: u32, index: u32, piece: Piece) {
        self.move_by_frames(index, piece.at..piece.at + piece.len);
        self.piece_moved(peer, index, piece.at);
    }

    /// Takes the next piece that can be moved now, and whether the peer has refused others.
    fn next_piece(&mut self, index: u32) -> Option<(Piece, bool)> {
        let operation = self.operations.open[index];
        let bytes = self.regions.bytes(operation.region)?;
        let local = bytes.start().addr() as u64 + operation.at;
        let pipeline = self.operations.pipelines.get_mut(&index)?;
        let has_room = pipeline.posted.len() < PIECES && pipeline.by_frames.len() < RANGES;
        if !has_room && !pipeline.is_refused {
            return None;
        }
        let piece = match (pipeline.shown.pop_front(), pipeline.whole) {
            (Some(shown), _) => shown,
            (None, Some(first)) if !pipeline.rest.is_empty() => {
                let Range { start: at, end } = pipeline.rest;
                let len = self.registrations.pipeline.next(local + at, end - at);
                pipeline.rest.start += len;
                let start = Some(first.plus(at));
                Piece { at, len, start }
            }
            _ => return None,
        };
        Some((piece, pipeline.is_refused))
    }

    /// Tells the peer that a piece has moved, or goes by frames, if it has registered it for this transfer.
    fn piece_moved(&mut self, peer: u32, index: u32, at: u64) {
        let id = self.operations.open.handle(index).word();
        let pipeline = self.operations.pipelines.get(&index);
        if let Some(pipeline) = pipeline.filter(|pipeline| pipeline.whole.is_none()) {
            let at = pipeline.there + at;
            // As many as there are pieces of operations.
            let moved = Control::PieceMoved { id, at };
            self.link(peer).waiting.push_back(moved);
        }
    }

    /// Takes the oldest piece of the operation at `index` that was posted by a queue.
    fn take_posted(&mut self, index: u32, queue: u8) -> Option<(&mut Pipeline, Piece)> {
        let pipeline = self.operations.pipelines.get_mut(&index)?;
        let oldest = (pipeline.posted.iter()).position(|posted| posted.queue == queue)?;
        // Deregistered, unless it stays in the cache.
        let piece = pipeline.posted.remove(oldest).piece;
        Some((pipeline, piece))
    }

    /// Lets the oldest piece of the operation at `index` that was posted by a queue, whose port pair has failed, be posted again.
    pub(super) fn post_again(&mut self, index: u32, queue: u8) {
        if let Some((pipeline, piece)) = self.take_posted(index, queue) {
            pipeline.shown.push_front(piece);
        }
    }

    /// Counts the end of the oldest read or write of the operation at `index` by a queue.
    pub(super) fn pipeline_piece_ended(&mut self, index: u32, queue: u8) {
        let operation = self.operations.open[index];
        let Some((_, piece)) = self.take_posted(index, queue) else {
            return;
        };
        if let OperationKind::GetInPieces(_) = operation.kind {
            self.drain_copy(operation.region, operation.at + piece.at, piece.len);
        }
        self.piece_moved(operation.peer, index, piece.at);
        self.resume(operation.peer, index);
        self.end_pipeline(index);
    }

    /// Takes bytes of the operation at `index` that have come by frames.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn take_range(&mut self, index: u32, at: u64, len: u64) -> Result<(), &'static str> {
        let pipeline = self.operations.pipelines.get_mut(&index);
        let range = pipeline.and_then(|pipeline| pipeline.by_frames.front_mut());
        let range = range.filter(|range| range.start == at && len <= range.end - at);
        range.ok_or("bytes that were not asked for")?.start += len;
        Ok(())
    }

    /// Ends the oldest range of the operation at `index` that goes by frames, if all of it has arrived: of a put, by the
    /// peer's word.
    pub(super) fn end_range(&mut self, index: u32, is_written: bool) {
        let Some(pipeline) = self.operations.pipelines.get_mut(&index) else {
            return;
        };
        let oldest = pipeline.by_frames.front();
        if oldest.is_some_and(|range| is_written || range.is_empty()) {
            pipeline.by_frames.pop_front();
            let peer = self.operations.open[index].peer;
            self.resume(peer, index);
            self.end_pipeline(index);
        }
    }

    /// The peer has refused the request for pieces, or a range that goes by frames. What is in flight ends first.
    pub(super) fn pipeline_refused(&mut self, index: u32) {
        let Some(pipeline) = self.operations.pipelines.get_mut(&index) else {
            return;
        };
        pipeline.is_refused = true;
        if pipeline.is_granted {
            pipeline.by_frames.pop_front();
        } else {
            pipeline.by_frames.clear();
            pipeline.rest.start = pipeline.rest.end;
        }
        let peer = self.operations.open[index].peer;
        self.resume(peer, index);
        self.end_pipeline(index);
    }

    fn end_pipeline(&mut self, index: u32) {
        let pipeline = self.operations.pipelines.get(&index);
        let Some(pipeline) = pipeline.filter(|pipeline| pipeline.is_done()) else {
            return;
        };
        let result = match pipeline.is_refused {
            true => Err(Fault::NOT_REGISTERED),
            false => Ok(()),
        };
        let peer = self.operations.open[index].peer;
        let link = self.link(peer);
        link.pending.retain(|pending| *pending != index);
        link.port_pairs.forget(index);
        self.end_operation(index, result);
    }
}
