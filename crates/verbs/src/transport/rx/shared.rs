//! [`SharedReceives`]: the receives of a queue that all peers share.

use crate::error::{PostError, VerbsError};
use crate::objects::{CompletionQueue, ProtectionDomain, SharedReceiveQueue, XrcDomain};
use crate::transport::buffers::Buffers;
use crate::transport::receive_queues::SharedQueue;
use crate::transport::request_id::RequestId;

/// A shared receive queue with its buffers.
///
/// Whenever no more than `low_mark` receives are posted, all free buffers are. The device announces that as well, as a
/// limit event, which wakes a rank that sleeps while its peers take the last ones.
///
/// # Why nobody waits for ever
/// A sender has [credits](crate::transport::credits), which it gets back as by queues of its own, so messages find a
/// receive. Let there be more senders than shares, though, and messages that wait for one.
///
/// A sender has `sends` messages in flight at most, and waits for the end of one. A message in flight ends when a
/// receive is posted: the receiver posts all buffers when it has polled the messages that took them, whether or not it
/// can send, and no buffer waits for another message (see [`Order`](crate::transport::order::Order)). The model in the
/// tests tries all orders of events of small queues.
#[derive(Debug)]
pub(in crate::transport) struct SharedReceives {
    queue: SharedReceiveQueue,
    number: u8,
    sizes: SharedQueue,
    pub(super) buffers: Buffers,
    posted: u32,
    is_armed: bool,
}

impl SharedReceives {
    /// Makes the queue `number` of a rank, and posts all its buffers. One of an XRC domain completes on the queue beside that.
    ///
    /// # Errors
    /// When the device has no such queues, or the process may lock no more memory.
    pub(in crate::transport) fn new(
        domain: &ProtectionDomain,
        xrc: Option<(&XrcDomain, &CompletionQueue)>,
        number: u8,
        sizes: &SharedQueue,
    ) -> Result<Self, super::VerbsTransportError> {
        let SharedQueue { size, buffers, .. } = *sizes;
        let (room, key) = ([buffers, 1], number.into());
        let queue = match xrc {
            Some((xrc, queue)) => domain.create_xrc_receive_queue(xrc, queue, room, key)?,
            None => domain.create_shared_receive_queue(buffers, 1, key)?,
        };
        let mut receives = Self {
            queue,
            number,
            sizes: *sizes,
            buffers: Buffers::all_free(domain, buffers, size)?,
            posted: 0,
            is_armed: false,
        };
        receives.post_free()?;
        receives.arm_limit()?;
        Ok(receives)
    }

    /// The queue, for the queue pairs that take its receives.
    pub(in crate::transport) const fn queue(&self) -> &SharedReceiveQueue {
        &self.queue
    }

    /// Frees the buffer of a message that was taken from the queue, and posts all free ones if it is time.
    ///
    /// # Errors
    /// When the device takes no receive.
    pub(super) fn free(&mut self, buffer: u32) -> Result<(), PostError> {
        self.posted -= 1;
        self.buffers.free.push(buffer);
        match self.sizes.refills(self.posted) {
            true => self.post_free(),
            false => Ok(()),
        }
    }

    fn post_free(&mut self) -> Result<(), PostError> {
        let (queue, count) = (self.number, self.buffers.free.len());
        let id = |buffer| RequestId::Shared { queue, buffer }.word();
        let free = self.buffers.take_free(count);
        self.queue
            .post_receives(free.map(|(buffer, segment)| (id(buffer), segment)))?;
        self.posted += count as u32;
        Ok(())
    }

    /// Notes that a limit event has come.
    pub(super) const fn limit_reached(&mut self) {
        self.is_armed = false;
    }

    /// Asks for a limit event, if none is asked for and there is not one at once.
    ///
    /// # Errors
    /// When the device refuses.
    pub(super) fn arm_limit(&mut self) -> Result<(), VerbsError> {
        if !self.is_armed && !self.sizes.refills(self.posted) {
            self.queue.arm_limit(self.sizes.low_mark)?;
            self.is_armed = true;
        }
        Ok(())
    }
}
