//! [`Pair`]: the sending half of the queue pair for one receive queue of a peer.

use super::inline_message::InlineMessage;
use super::send_queue::{Posted, SendQueue};
use crate::error::PostError;
use crate::objects::{Payload, QueuePair, ReadyToSend, RemoteAddress, Segment, SendFlags};
use crate::transport::OPERATIONS;
use crate::transport::buffers::Buffers;
use crate::transport::credits::{Credits, Grant};
use crate::transport::frame_head::{FrameHead, HEAD, MAX_INLINE, own_header};
use crate::transport::initiators::MOST_ACCESSES;
use crate::transport::receive_queues::PerPeerQueue;
use crate::transport::request_id::RequestId;
use oxmpi_wire::Header;
use oxmpi_wire::regions::RegionId;

/// The sending half of a queue pair.
#[derive(Debug)]
pub(in crate::transport) struct Pair {
    /// `None` once the peer is lost.
    pub(super) pair: Option<QueuePair<ReadyToSend>>,
    /// A queue pair in error, which still gives back the receives that it took from a shared queue.
    retired: Option<QueuePair<ReadyToSend>>,
    /// The number of its requests, and of those that do not complete unless they fail.
    id: u64,
    unsignaled_id: u64,
    pub(in crate::transport) credits: Credits,
    /// Buffers of messages that are not sent inline; `None` if those of all peers are shared.
    own: Option<Buffers>,
    /// Bytes of a message that the device takes inline.
    inline: usize,
    /// What was posted and has not ended.
    sends: SendQueue,
}

impl Pair {
    /// That of a rail which the peer has no counterpart of: nothing is sent.
    pub(in crate::transport) fn absent(queue: PerPeerQueue) -> Self {
        Self {
            inline: 0,
            pair: None,
            retired: None,
            id: 0,
            unsignaled_id: 0,
            credits: Credits::new(queue),
            own: None,
            sends: SendQueue::new(0, 0),
        }
    }

    /// The sending half for the receive queue `number` of `peer`, which gives this rank the share `queue`, with at most
    /// `most` messages in flight. They are staged in `own` buffers if the queue is the peer's own.
    pub(in crate::transport) fn new(
        pair: QueuePair<ReadyToSend>,
        (peer, number): (u32, u8),
        queue: PerPeerQueue,
        most: u32,
        own: Option<Buffers>,
    ) -> Self {
        let most_accesses = match pair.is_initiator() {
            true => MOST_ACCESSES,
            false => OPERATIONS as u32,
        };
        let mut sends = SendQueue::new(most, most_accesses);
        if pair.is_iwarp() {
            sends.signal_all();
        }
        Self {
            // Devices grant more than was asked for.
            inline: (pair.capacity().max_inline_data as usize).min(MAX_INLINE),
            id: RequestId::Send {
                peer,
                queue: number,
            }
            .word(),
            unsignaled_id: RequestId::Unsignaled {
                peer,
                queue: number,
            }
            .word(),
            own,
            sends,
            pair: Some(pair),
            ..Self::absent(queue)
        }
    }

    /// Sends nothing inline from now on: a copy of each message is left until it is confirmed.
    pub(in crate::transport) const fn keep_copies(&mut self) {
        self.inline = 0;
    }

    /// Whether the device takes a message of `len` bytes inline.
    #[inline]
    pub(super) const fn inlines(&self, len: usize) -> bool {
        len <= self.inline
    }

    /// Frames with shorter bodies than this are sent inline to buffers for bodies of `size` bytes.
    pub(super) fn inlines_below(&self, size: u32) -> u32 {
        let most = self.inline.checked_sub(HEAD);
        most.map_or(0, |most| size.min(most as u32) + 1)
    }

    /// Whether a frame can be sent now, which may take one of the buffers of all peers.
    #[inline]
    pub(super) fn can_send(&self, shared: Option<&Buffers>) -> bool {
        let has_buffer = shared.is_none_or(|buffers| !buffers.free.is_empty());
        self.credits.has_frame() && has_buffer && self.sends.takes_message()
    }

    /// Whether a read or a write can be posted now.
    pub(super) fn takes_access(&self) -> bool {
        self.pair.is_some() && self.sends.takes_access()
    }

    /// Reads and writes of operations in flight.
    pub(super) const fn accesses(&self) -> u32 {
        self.sends.accesses()
    }

    /// Writes of the transport's own in flight: words of rings, and of nothing.
    pub(super) const fn words(&self) -> u32 {
        self.sends.words()
    }

    /// The credits that a frame carries back, which is sent now.
    #[inline]
    pub(super) fn send_frame(&mut self) -> Grant {
        self.credits.send_frame()
    }

    /// Buffers of messages that are not sent inline.
    pub(super) fn staging<'a>(&'a self, shared: Option<&'a Buffers>) -> &'a Buffers {
        let buffers = self.own.as_ref().or(shared);
        buffers.expect("a queue pair has buffers of its own, or those of all peers")
    }

    /// Writes to the buffer of the next message that is staged. Of messages to a lost peer, which need none, nothing is
    /// written where none is free.
    pub(super) fn stage(&self, shared: Option<&Buffers>, at: usize, bytes: &[u8]) {
        let staging = self.staging(shared);
        if let Some(&buffer) = staging.free.last() {
            staging.write(buffer, at, bytes);
        }
    }

    /// Sends the message whose body is in the next staged buffer. Returns that buffer.
    fn send_staged(
        &mut self,
        shared: Option<&mut Buffers>,
        head: &FrameHead,
    ) -> Result<Option<u32>, PostError> {
        let staging = self.own.as_mut().or(shared);
        let Some((pair, staging)) = self.pair.as_ref().zip(staging) else {
            return Ok(None);
        };
        let Some(buffer) = staging.free.pop() else {
            return Ok(None);
        };
        staging.write(buffer, 0, &head.bytes());
        let message = [staging.part(buffer, HEAD + head.header.len as usize)];
        post(pair, self.id, Payload::Segments(&message))?;
        Ok(Some(buffer))
    }

    /// Sends the frame whose body is in the next staged buffer.
    pub(super) fn send_staged_frame(
        &mut self,
        shared: Option<&mut Buffers>,
        head: &FrameHead,
        released: Option<RegionId>,
    ) -> Result<(), PostError> {
        let staged = self.send_staged(shared, head)?;
        let sequence = head.sequence;
        self.sends.add(Posted::Frame {
            sequence,
            staged,
            released,
        });
        Ok(())
    }

    /// Sends a frame inline, whose body is in the message.
    #[inline(always)]
    pub(super) fn send_inline_frame(
        &mut self,
        sequence: u32,
        header: &Header,
        message: &mut InlineMessage,
    ) -> Result<(), PostError> {
        let head = FrameHead {
            grant: self.send_frame(),
            sequence,
            header: *header,
        };
        let Some(pair) = &self.pair else {
            return Ok(());
        };
        let is_signaled = self.sends.signals_next();
        let (id, flags) = match is_signaled {
            true => (self.id, SendFlags::SIGNALED),
            false => (self.unsignaled_id, SendFlags::empty()),
        };
        let payload = Payload::Inline(message.with_head(&head.bytes()));
        pair.post_send(id, payload, None, flags)?;
        match is_signaled {
            true => self.sends.add(Posted::Frame {
                sequence,
                staged: None,
                released: None,
            }),
            false => self.sends.add_unsignaled(sequence),
        }
        Ok(())
    }

    /// Writes nothing to the peer, if nothing else tells of the end of frames: when the write has ended, they have.
    ///
    /// Source: InfiniBand Architecture Specification 1.3, C9-88: a write of no bytes needs no key.
    pub(super) fn confirm(&mut self) -> Result<(), PostError> {
        if let Some(pair) = &self.pair
            && self.sends.is_silent()
        {
            let nowhere = RemoteAddress {
                address: 0,
                rkey: 0,
            };
            let nothing = Payload::Segments(&[]);
            pair.post_write(self.id, nothing, nowhere, None, SendFlags::SIGNALED)?;
            self.sends.add(Posted::Confirmation);
        }
        Ok(())
    }

    /// Sends a credit message, if it is time for one and there is a buffer for it.
    pub(super) fn send_credit_message(
        &mut self,
        shared: Option<&mut Buffers>,
    ) -> Result<(), PostError> {
        if !self.sends.takes_message() || self.pair.is_none() {
            return Ok(());
        }
        let inlines = self.inlines(HEAD);
        if !inlines && self.staging(shared.as_deref()).free.is_empty() {
            return Ok(());
        }
        let Some(grant) = self.credits.send_credit_message() else {
            return Ok(());
        };
        let head = FrameHead {
            grant,
            sequence: 0,
            header: own_header(0),
        };
        let staged = match &self.pair {
            Some(pair) if inlines => {
                post(pair, self.id, Payload::Inline(&head.bytes()))?;
                None
            }
            _ => self.send_staged(shared, &head)?,
        };
        self.sends.add(Posted::Credits { staged });
        Ok(())
    }

    /// Sends a notice whose body is in the next staged buffer. Like a frame it takes a credit; it has no number.
    pub(super) fn send_left_notice(
        &mut self,
        shared: Option<&mut Buffers>,
        header: &Header,
    ) -> Result<(), PostError> {
        let head = FrameHead {
            grant: self.send_frame(),
            sequence: 0,
            header: *header,
        };
        let staged = self.send_staged(shared, &head)?;
        self.sends.add(Posted::Left { staged });
        Ok(())
    }

    /// Counts a read or a write of `operation` that was posted.
    pub(super) fn accessed(&mut self, operation: u32) {
        self.sends.add(Posted::Access { operation });
    }

    /// Writes the frame of this number to a ring, by `write`.
    pub(super) fn send_ring_frame(
        &mut self,
        sequence: u32,
        write: impl FnOnce(&QueuePair<ReadyToSend>, u64) -> Result<(), PostError>,
    ) -> Result<(), PostError> {
        if let Some(pair) = &self.pair {
            write(pair, self.id)?;
            self.sends.add(Posted::RingFrame { sequence });
        }
        Ok(())
    }

    /// Writes a word `to` the sender of a ring, from `source` if the device grants nothing inline.
    pub(super) fn write_word(
        &mut self,
        bits: u64,
        to: RemoteAddress,
        source: &[Segment<'_>],
    ) -> Result<(), PostError> {
        let bytes = bits.to_le_bytes();
        let payload = match self.inlines(bytes.len()) {
            true => Payload::Inline(&bytes),
            false => Payload::Segments(source),
        };
        if let Some(pair) = &self.pair {
            pair.post_write(self.id, payload, to, None, SendFlags::SIGNALED)?;
            self.sends.add(Posted::Word);
        }
        Ok(())
    }

    /// The oldest request that completes.
    pub(super) fn oldest(&self) -> Option<Posted> {
        self.sends.oldest()
    }

    /// The number of the oldest frame in flight.
    pub(super) fn oldest_frame(&self) -> Option<u32> {
        self.sends.oldest_frame()
    }

    /// The regions whose release is announced by frames in flight.
    pub(super) fn released(&self) -> impl Iterator<Item = RegionId> {
        self.sends.released()
    }

    /// Removes the oldest request that completes, which is done, and frees its buffer.
    pub(super) fn done(&mut self, shared: Option<&mut Buffers>) -> Option<Posted> {
        let posted = self.sends.done()?;
        if let Posted::Frame { staged, .. } | Posted::Credits { staged } | Posted::Left { staged } =
            posted
            && let Some(staging) = self.own.as_mut().or(shared)
        {
            staging.free.extend(staged);
        }
        Some(posted)
    }

    /// The number of the queue pair.
    pub(super) fn number(&self) -> Option<u32> {
        let pair = self.pair.as_ref().or(self.retired.as_ref());
        pair.map(QueuePair::number)
    }

    /// Lets go of an initiator that is kept until the requests of this peer have completed, if they have: no event says so, as
    /// one does of other queue pairs.
    pub(super) fn leave_idle_initiator(&mut self) {
        let is_idle = self.sends.is_empty();
        self.retired.take_if(|pair| is_idle && pair.is_initiator());
    }

    /// Destroys a queue pair that is kept until all its requests have completed. False if they have not.
    pub(super) fn destroy_retired(&mut self) -> bool {
        if self.sends.is_empty() {
            self.retired = None;
        }
        self.pair.is_none() && self.retired.is_none()
    }

    /// Puts the queue pair of a port pair that is left in error. It stays, so that all its requests complete. An initiator goes
    /// on for other peers.
    pub(super) fn retire(&mut self) {
        let Some(pair) = self.pair.take() else {
            return;
        };
        if !pair.is_initiator()
            && let Err(why) = pair.set_error()
        {
            tracing::debug!(%why, "a queue pair is in error already");
        }
        self.retired = Some(pair);
        self.leave_idle_initiator();
    }

    /// Ends the queue pair: its peer is lost. Returns whether its requests still complete, and others do not.
    ///
    /// A queue pair that has taken receives from a shared queue stays, in error, until it has given them back, unless
    /// it accesses memory of the user: that has to end now. An initiator also serves other peers, and goes on.
    pub(super) fn end(&mut self) -> bool {
        let is_shared = self.own.is_none();
        let has_accesses = self.accesses() > 0;
        let Some(pair) = self.pair.take() else {
            self.retired.take_if(|_| has_accesses);
            return self.retired.is_some();
        };
        let ends_late = || pair.is_initiator() || pair.set_error().is_ok();
        if is_shared && !has_accesses && ends_late() {
            self.retired = Some(pair);
        }
        self.leave_idle_initiator();
        self.retired.is_some()
    }
}

/// Of an initiator, by which a rank reaches several peers.
impl Pair {
    /// The number of the initiator.
    pub(super) fn initiator(&self) -> Option<u32> {
        let pair = self.pair.as_ref().or(self.retired.as_ref());
        pair.filter(|pair| pair.is_initiator())
            .map(QueuePair::number)
    }

    /// Ends its part of the initiator `number`, of which no request completes any more.
    pub(super) fn leave_initiator(&mut self, number: u32) {
        if self.initiator() == Some(number) {
            (self.pair, self.retired) = (None, None);
        }
    }

    /// Puts an initiator in error, of which a request has failed: no peer is connected by it any more.
    pub(super) fn fail_initiator(&self) {
        let pair = self.pair.as_ref().or(self.retired.as_ref());
        if let Some(pair) = pair.filter(|pair| pair.is_initiator())
            && let Err(why) = pair.set_error()
        {
            tracing::debug!(%why, "an initiator is in error already");
        }
    }
}

#[inline]
fn post(pair: &QueuePair<ReadyToSend>, id: u64, payload: Payload<'_>) -> Result<(), PostError> {
    pair.post_send(id, payload, None, SendFlags::SIGNALED)
}
