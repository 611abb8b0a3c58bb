//! Bytes of memory that go by frames, where a device does not reach them: openib's send/receive protocol.
//!
//! ```text
//!  get:  Read{id, region, at, len}       ->
//!                                       <-   Answer{id, at, bytes} ... or Refused{id}
//!  put:  Write{id, region, at, bytes} ... ->
//!        LastWrite{id, region, at, bytes} ->
//!                                       <-   Written{id}, or Refused{id}
//! ```
//!
//! The owner of the memory copies, so it needs no registration: for messages for which that costs more than a copy, for
//! memory that the device does not register, and for operations on such memory of a peer.

use super::VerbsTx;
use super::operation_kind::OperationKind;
use crate::transport::OPERATIONS;
use crate::transport::buffers::Buffers;
use crate::transport::control::Control;
use crate::transport::data_head::{DataHead, DataKind, data_header};
use crate::transport::frame_head::HEAD;
use crate::transport::pipeline_sizes::RANGES;
use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Access, Bytes, Put, Take};

/// Bytes that this rank sends by frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    /// Of the first frame: what it is for, and where its bytes go.
    head: DataHead,
    /// Where they come from: a region of this rank.
    from: RegionId,
    at: u64,
    len: u64,
    sent: u64,
}

/// The bytes of a frame under construction, behind its head.
struct StagedData<'a> {
    staging: &'a Buffers,
    buffer: u32,
    at: usize,
    room: usize,
}

impl Put for StagedData<'_> {
    fn room(&self) -> usize {
        self.room
    }

    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room, "more than there is room for");
        self.staging.write(self.buffer, self.at, bytes);
        self.at += bytes.len();
        self.room -= bytes.len();
    }
}

impl VerbsTx {
    /// Starts the operation at `index` with the memory `to` of `peer`, from its byte `at` on, by frames.
    pub(super) fn start_stream(&mut self, peer: u32, index: u32, to: RegionId, at: u64) {
        let id = self.operations.open.handle(index).word();
        let operation = self.operations.open[index];
        let len = operation.len;
        if operation.kind == OperationKind::GetByFrames {
            // As many as there are operations.
            let read = Control::Read {
                id,
                to,
                at,
                len,
                before: 0,
            };
            self.link(peer).waiting.push_back(read);
        } else {
            let head = DataHead {
                kind: DataKind::Write,
                id,
                region: to,
                at,
            };
            let from = (operation.region, operation.at);
            (self.link(peer).streams).push_back(Stream::new(head, from, len));
        }
        self.advance(peer);
    }

    /// Answers a [`Control::Read`] of `peer`.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn answer_read(
        &mut self,
        peer: u32,
        [id, at, len, before]: [u64; 4],
        to: RegionId,
    ) -> Result<(), &'static str> {
        if len == 0 || self.regions.check(to, Access::READ, at, len).is_err() {
            return self.answer(peer, Control::Refused { id });
        }
        self.send_range(peer, [id, at, len, before], to)?;
        self.advance(peer);
        Ok(())
    }

    /// Sends `len` bytes of the region `to`, from byte `at` on, to `peer`, whose operation `id` has had the bytes `before`
    /// them.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn send_range(
        &mut self,
        peer: u32,
        [id, at, len, before]: [u64; 4],
        to: RegionId,
    ) -> Result<(), &'static str> {
        let streams = &mut self.link(peer).streams;
        let answers = streams.iter().filter(|stream| stream.is_answer());
        if answers.count() >= RANGES * OPERATIONS {
            return Err("more requests at once than a rank may have");
        }
        let head = DataHead {
            kind: DataKind::Answer,
            id,
            region: to,
            at: before,
        };
        streams.push_back(Stream::new(head, (to, at), len));
        self.regions.enter(to);
        Ok(())
    }

    /// Sends frames of streams to `peer`, as many as there is room for.
    pub(super) fn post_streams(&mut self, peer: u32) {
        while let Some(link) = &self.links[peer as usize]
            && let Some(&stream) = link.streams.front()
        {
            let most = u64::from(self.limits.frame) - DataHead::LEN as u64;
            let bytes = most.min(stream.len - stream.sent);
            let len = DataHead::LEN + bytes as usize;
            let queue = link.queues.smallest(len as u32);
            if !self.takes_frame(peer, queue) {
                return;
            }
            let is_last = stream.sent + bytes == stream.len;
            let head = stream.head.next(stream.sent, is_last);
            self.stage(peer, queue, 0, &head.bytes());
            self.stage_region(peer, queue, &stream, bytes as usize);
            self.send_staged(peer, queue, &data_header(len), None);
            let streams = &mut self.link(peer).streams;
            if !is_last {
                if let Some(first) = streams.front_mut() {
                    first.sent += bytes;
                }
                continue;
            }
            streams.pop_front();
            if stream.is_answer() {
                self.leave(stream.from);
            }
        }
    }

    /// Copies the next `len` bytes of a stream to the frame that is staged next.
    fn stage_region(&self, peer: u32, queue: u8, stream: &Stream, len: usize) {
        let link = self.links[peer as usize].as_ref();
        let Some((link, bytes)) = link.zip(self.regions.bytes(stream.from)) else {
            return;
        };
        let staging = link.pairs[queue as usize].staging(self.shared[queue as usize].as_ref());
        let mut to = StagedData {
            staging,
            buffer: staging.free.last().copied().unwrap_or(0),
            at: HEAD + DataHead::LEN,
            room: len,
        };
        bytes.drain(stream.at + stream.sent, len, &mut to);
    }

    /// Takes a frame with bytes of memory.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(in crate::transport) fn take_data(
        &mut self,
        peer: u32,
        body: &mut impl Take,
    ) -> Result<(), &'static str> {
        if body.left() <= DataHead::LEN {
            return Err("a frame of memory without bytes");
        }
        let head = DataHead::parse(&body.take_exact());
        let DataHead {
            kind,
            id,
            region,
            at,
        } = head.ok_or("an unknown frame of memory")?;
        let len = body.left() as u64;
        if kind == DataKind::Answer {
            return self.take_answer(peer, id, at, body);
        }
        let is_allowed = self.regions.check(region, Access::WRITE, at, len).is_ok();
        if is_allowed {
            self.store(region, at, body);
        }
        match (kind, is_allowed) {
            (DataKind::LastWrite, true) => self.answer(peer, Control::Written { id }),
            (DataKind::LastWrite, false) => self.answer(peer, Control::Refused { id }),
            _ => Ok(()),
        }
    }

    /// Takes bytes that this rank has asked for.
    fn take_answer(
        &mut self,
        peer: u32,
        id: u64,
        at: u64,
        body: &mut impl Take,
    ) -> Result<(), &'static str> {
        let index = self.operation(peer, id).ok_or("an answer to nothing")?;
        let operation = &mut self.operations.open[index];
        let len = body.left() as u64;
        if let OperationKind::GetInPieces(_) = operation.kind {
            let (region, start) = (operation.region, operation.at);
            self.take_range(index, at, len)?;
            self.store(region, start + at, body);
            self.end_range(index, false);
            return Ok(());
        }
        if (operation.kind, operation.posted) != (OperationKind::GetByFrames, at)
            || len > operation.len - at
        {
            return Err("bytes that were not asked for");
        }
        operation.posted += len;
        let (region, start, is_last) = (
            operation.region,
            operation.at,
            operation.posted == operation.len,
        );
        self.store(region, start + at, body);
        if is_last {
            self.end_operation(index, Ok(()));
        }
        Ok(())
    }

    /// Ends the use of memory by the answers to a peer that is lost.
    pub(super) fn end_streams(&mut self, peer: u32) {
        for stream in std::mem::take(&mut self.link(peer).streams) {
            if stream.is_answer() {
                self.leave(stream.from);
            }
        }
    }
}

impl Stream {
    /// The `len` bytes of the region `from`, from its byte on.
    pub(super) const fn new(head: DataHead, (from, at): (RegionId, u64), len: u64) -> Self {
        Self {
            head,
            from,
            at,
            len,
            sent: 0,
        }
    }

    fn is_answer(&self) -> bool {
        self.head.kind == DataKind::Answer
    }
}
