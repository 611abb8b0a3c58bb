//! [`Link`]: the sending half of one connection.

use crate::error::PostError;
use crate::objects::{Payload, QueuePair, ReadyToSend, SendFlags};
use crate::transport::OPERATIONS;
use crate::transport::buffers::Buffers;
use crate::transport::control::Control;
use crate::transport::credits::Credits;
use crate::transport::frame_head::{FrameHead, HEAD, own_header};
use crate::transport::request_id::RequestId;
use oxmpi_wire::Fault;
use oxmpi_wire::regions::RegionId;
use std::collections::{BTreeMap, VecDeque};

/// The sending half of the connection to one peer.
#[derive(Debug)]
pub(in crate::transport) struct Link {
    /// `None` once the peer is lost.
    pub(in crate::transport) pair: Option<QueuePair<ReadyToSend>>,
    pub(super) credits: Credits,
    /// Buffers of messages that are not sent inline.
    pub(super) staging: Buffers,
    /// The most messages in the send queue, as many as there are staged buffers.
    most: u32,
    /// Bytes of a message that the device takes inline.
    inline: usize,
    /// The requests of the send queue, the oldest first: the connection completes them in this order.
    posted: VecDeque<Posted>,
    /// Messages among them. The others are accesses.
    messages: u32,
    /// Frames of the transport itself that wait for credits.
    pub(super) waiting: VecDeque<Control>,
    /// Operations that have pieces to post, by index.
    pub(super) pending: VecDeque<u32>,
    /// Regions of the peer whose keys are void, by index: the last one that was released.
    pub(super) released: BTreeMap<u32, RegionId>,
    pub(super) lost: Option<Fault>,
}

/// A request of the send queue.
#[derive(Debug, Clone, Copy)]
pub(super) enum Posted {
    /// A frame or a credit message.
    Message {
        /// The staged buffer, if it was not sent inline.
        staged: Option<u32>,
        /// The region whose release it announces.
        released: Option<RegionId>,
    },
    /// A read or a write: a piece of the operation of this index.
    Access { operation: u32 },
}

impl Link {
    pub(in crate::transport) fn new(
        pair: QueuePair<ReadyToSend>,
        credits: Credits,
        mut staging: Buffers,
        most: u32,
    ) -> Self {
        staging.free.extend(0..most);
        Self {
            inline: pair.capacity().max_inline_data as usize,
            pair: Some(pair),
            credits,
            staging,
            most,
            posted: VecDeque::with_capacity(most as usize + OPERATIONS),
            messages: 0,
            waiting: VecDeque::new(),
            pending: VecDeque::new(),
            released: BTreeMap::new(),
            lost: None,
        }
    }

    /// Whether the device takes a message of `len` bytes inline.
    #[inline]
    pub(super) const fn inlines(&self, len: usize) -> bool {
        len <= self.inline
    }

    /// Whether a frame can be sent now.
    #[inline]
    pub(super) const fn can_send(&self) -> bool {
        self.credits.has_frame() && self.messages < self.most
    }

    /// Whether the sink can send a frame now: those of the transport go first.
    #[inline]
    pub(super) fn takes_frame(&self) -> bool {
        self.can_send() && self.waiting.is_empty()
    }

    /// Whether a message waits for credits, or has not been acknowledged yet.
    pub(super) fn has_unsent(&self) -> bool {
        self.messages > 0 || !self.waiting.is_empty()
    }

    /// Whether a read or a write can be posted now.
    pub(super) fn takes_access(&self) -> bool {
        self.pair.is_some() && self.posted.len() - (self.messages as usize) < OPERATIONS
    }

    /// The buffer of the next message that is staged. Messages to a lost peer are written to any.
    pub(super) fn next_staged(&self) -> u32 {
        self.staging.free.last().copied().unwrap_or(0)
    }

    /// Sends the message whose body is in the next staged buffer.
    pub(super) fn send_staged(
        &mut self,
        peer: u32,
        head: FrameHead,
        released: Option<RegionId>,
    ) -> Result<(), PostError> {
        let Some((pair, buffer)) = self.pair.as_ref().zip(self.staging.free.pop()) else {
            return Ok(());
        };
        self.staging.write(buffer, 0, &head.bytes());
        let message = [self.staging.part(buffer, HEAD + head.header.len as usize)];
        post(pair, peer, Payload::Segments(&message))?;
        self.count(Some(buffer), released);
        Ok(())
    }

    /// Sends a message inline.
    pub(super) fn send_inline(&mut self, peer: u32, message: &[u8]) -> Result<(), PostError> {
        if let Some(pair) = &self.pair {
            post(pair, peer, Payload::Inline(message))?;
            self.count(None, None);
        }
        Ok(())
    }

    fn count(&mut self, staged: Option<u32>, released: Option<RegionId>) {
        self.posted.push_back(Posted::Message { staged, released });
        self.messages += 1;
    }

    /// Sends a credit message, if it is time for one.
    pub(super) fn send_credit_message(&mut self, peer: u32) -> Result<(), PostError> {
        if self.messages == self.most || self.pair.is_none() {
            return Ok(());
        }
        let Some(grant) = self.credits.send_credit_message() else {
            return Ok(());
        };
        let head = FrameHead {
            grant,
            header: own_header(0),
        };
        match self.inlines(HEAD) {
            true => self.send_inline(peer, &head.bytes()),
            false => self.send_staged(peer, head, None),
        }
    }

    /// Counts a read or a write of `operation` that was posted.
    pub(super) fn accessed(&mut self, operation: u32) {
        self.posted.push_back(Posted::Access { operation });
    }

    /// The oldest request.
    pub(super) fn oldest(&self) -> Option<Posted> {
        self.posted.front().copied()
    }

    /// Removes the oldest request, which is done.
    pub(super) fn done(&mut self) -> Option<Posted> {
        let posted = self.posted.pop_front()?;
        if let Posted::Message { staged, .. } = posted {
            self.messages -= 1;
            self.staging.free.extend(staged);
        }
        Some(posted)
    }
}

fn post(pair: &QueuePair<ReadyToSend>, peer: u32, payload: Payload<'_>) -> Result<(), PostError> {
    let id = RequestId::Send { peer }.word();
    pair.post_send(id, payload, None, SendFlags::SIGNALED)
}
