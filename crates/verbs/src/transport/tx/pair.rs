//! [`Pair`]: the sending half of the queue pair for one receive queue of a peer.

use super::inline_message::InlineMessage;
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
use std::collections::VecDeque;

/// The sending half of a queue pair.
#[derive(Debug)]
pub(in crate::transport) struct Pair {
    /// `None` once the peer is lost.
    pub(super) pair: Option<QueuePair<ReadyToSend>>,
    /// A queue pair in error, which still gives back the receives that it took from a shared queue.
    retired: Option<QueuePair<ReadyToSend>>,
    /// The number of its requests.
    id: u64,
    pub(in crate::transport) credits: Credits,
    /// Buffers of messages that are not sent inline; `None` if those of all peers are shared.
    own: Option<Buffers>,
    /// The most messages in the send queue.
    most: u32,
    /// Bytes of a message that the device takes inline.
    inline: usize,
    /// The requests of the send queue, the oldest first: the queue pair completes them in this order.
    posted: VecDeque<Posted>,
    /// Messages among them.
    messages: u32,
    /// Reads and writes of operations among them.
    accesses: u32,
    /// Words of rings among them.
    pub(super) words: u32,
    /// The most reads, writes and words.
    most_accesses: u32,
}

/// A request of the send queue.
#[derive(Debug, Clone, Copy)]
pub(in crate::transport) enum Posted {
    /// A frame.
    Frame {
        sequence: u32,
        /// The staged buffer, if it was not sent inline.
        staged: Option<u32>,
        /// The region whose release it announces.
        released: Option<RegionId>,
    },
    /// A credit message.
    Credits {
        /// As of a frame.
        staged: Option<u32>,
    },
    /// A frame that was written to a ring.
    RingFrame { sequence: u32 },
    /// The word of a ring.
    Word,
    /// A notice of the port pairs that were left.
    Left {
        /// As of a frame.
        staged: Option<u32>,
    },
    /// A read or a write: a piece of the operation of this index.
    Access { operation: u32 },
}

impl Pair {
    /// That of a rail which the peer has no counterpart of: nothing is sent.
    pub(in crate::transport) fn absent(queue: PerPeerQueue) -> Self {
        Self {
            inline: 0,
            pair: None,
            retired: None,
            id: 0,
            credits: Credits::new(queue),
            own: None,
            most: 0,
            posted: VecDeque::new(),
            messages: 0,
            accesses: 0,
            words: 0,
            most_accesses: 0,
        }
    }

    /// The sending half for a receive queue of a peer, which gives this rank the share `queue`, with at most
    /// `most` messages in flight. They are staged in `own` buffers if the queue is the peer's own.
    pub(in crate::transport) fn new(
        pair: QueuePair<ReadyToSend>,
        id: RequestId,
        queue: PerPeerQueue,
        most: u32,
        own: Option<Buffers>,
    ) -> Self {
        Self {
            // Devices grant more than was asked for.
            inline: (pair.capacity().max_inline_data as usize).min(MAX_INLINE),
            id: id.word(),
            own,
            most,
            posted: VecDeque::with_capacity(most as usize + OPERATIONS),
            most_accesses: match pair.is_initiator() {
                true => MOST_ACCESSES,
                false => OPERATIONS as u32,
            },
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
        self.credits.has_frame() && has_buffer && self.messages < self.most
    }

    /// Whether a read or a write can be posted now.
    pub(super) fn takes_access(&self) -> bool {
        self.pair.is_some() && self.accesses + self.words < self.most_accesses
    }

    /// Reads and writes of operations in flight.
    pub(super) const fn accesses(&self) -> u32 {
        self.accesses
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
        self.count(Posted::Frame {
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
        if let Some(pair) = &self.pair {
            let message = message.with_head(&head.bytes());
            post(pair, self.id, Payload::Inline(message))?;
            self.count(Posted::Frame {
                sequence,
                staged: None,
                released: None,
            });
        }
        Ok(())
    }

    #[inline]
    fn count(&mut self, message: Posted) {
        self.posted.push_back(message);
        self.messages += 1;
    }

    /// Sends a credit message, if it is time for one and there is a buffer for it.
    pub(super) fn send_credit_message(
        &mut self,
        shared: Option<&mut Buffers>,
    ) -> Result<(), PostError> {
        if self.messages == self.most || self.pair.is_none() {
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
        self.count(Posted::Credits { staged });
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
        self.count(Posted::Left { staged });
        Ok(())
    }

    /// Counts a read or a write of `operation` that was posted.
    pub(super) fn accessed(&mut self, operation: u32) {
        self.posted.push_back(Posted::Access { operation });
        self.accesses += 1;
    }

    /// Writes the frame of this number to a ring, by `write`.
    pub(super) fn send_ring_frame(
        &mut self,
        sequence: u32,
        write: impl FnOnce(&QueuePair<ReadyToSend>, u64) -> Result<(), PostError>,
    ) -> Result<(), PostError> {
        if let Some(pair) = &self.pair {
            write(pair, self.id)?;
            self.posted.push_back(Posted::RingFrame { sequence });
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
            self.posted.push_back(Posted::Word);
            self.words += 1;
        }
        Ok(())
    }

    /// The oldest request.
    pub(super) fn oldest(&self) -> Option<Posted> {
        self.posted.front().copied()
    }

    /// The number of the oldest frame in flight.
    pub(super) fn oldest_frame(&self) -> Option<u32> {
        self.posted.iter().find_map(|posted| match posted {
            Posted::Frame { sequence, .. } | Posted::RingFrame { sequence } => Some(*sequence),
            _ => None,
        })
    }

    /// The regions whose release is announced by frames in flight.
    pub(super) fn released(&self) -> impl Iterator<Item = RegionId> {
        self.posted.iter().filter_map(|posted| match posted {
            Posted::Frame { released, .. } => *released,
            _ => None,
        })
    }

    /// Removes the oldest request, which is done, if it is a frame that was sent inline. Returns whether it was.
    #[inline]
    pub(super) fn inline_frame_done(&mut self) -> bool {
        let is_frame = matches!(
            self.posted.front(),
            Some(Posted::Frame {
                staged: None,
                released: None,
                ..
            })
        );
        if is_frame {
            self.posted.pop_front();
            self.messages -= 1;
        }
        is_frame
    }

    /// Removes the oldest request, which is done, and frees its buffer.
    pub(super) fn done(&mut self, shared: Option<&mut Buffers>) -> Option<Posted> {
        let posted = self.posted.pop_front()?;
        match posted {
            Posted::Frame { staged, .. } | Posted::Credits { staged } | Posted::Left { staged } => {
                self.messages -= 1;
                if let Some(staging) = self.own.as_mut().or(shared) {
                    staging.free.extend(staged);
                }
            }
            Posted::RingFrame { .. } => {}
            Posted::Word => self.words -= 1,
            Posted::Access { .. } => self.accesses -= 1,
        }
        Some(posted)
    }

    /// The number of the queue pair.
    pub(super) fn number(&self) -> Option<u32> {
        let pair = self.pair.as_ref().or(self.retired.as_ref());
        pair.map(QueuePair::number)
    }

    /// Destroys a queue pair that is kept until all its requests have completed. False if they have not.
    pub(super) fn destroy_retired(&mut self) -> bool {
        if self.posted.is_empty() {
            self.retired = None;
        }
        self.pair.is_none() && self.retired.is_none()
    }

    /// Puts the queue pair of a port pair that is left in error. It stays, so that all its requests complete.
    pub(super) fn retire(&mut self) {
        let Some(pair) = self.pair.take() else {
            return;
        };
        if let Err(why) = pair.set_error() {
            tracing::debug!(%why, "a queue pair is in error already");
        }
        self.retired = Some(pair);
    }

    /// Ends the queue pair: its peer is lost. Returns whether its requests still complete, and others do not.
    ///
    /// A queue pair that has taken receives from a shared queue stays, in error, until it has given them back, unless
    /// it accesses memory of the user: that has to end now. An initiator also serves other peers, and goes on.
    pub(super) fn end(&mut self) -> bool {
        let is_shared = self.own.is_none();
        let has_accesses = self.accesses > 0;
        let Some(pair) = self.pair.take() else {
            self.retired.take_if(|_| has_accesses);
            return self.retired.is_some();
        };
        let ends_late = || pair.is_initiator() || pair.set_error().is_ok();
        if is_shared && !has_accesses && ends_late() {
            self.retired = Some(pair);
        }
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
