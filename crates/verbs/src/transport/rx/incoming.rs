//! [`Incoming`]: what comes from one peer.

use super::SharedReceives;
use crate::transport::buffers::Buffers;
use crate::transport::initiators::Target;
use crate::transport::order::Order;

/// The receiving half of the connection to one peer.
#[derive(Debug)]
pub(in crate::transport) struct Incoming {
    /// By receive queue.
    pub(super) queues: Vec<IncomingQueue>,
    /// Where messages come from by `X` queues: they stay as long as this.
    _targets: Vec<Target>,
    pub(super) order: Order,
    /// Frames by queues until the peer is offered a ring; 0 when there are no more.
    pub(super) frames_until_ring: u32,
}

/// What comes by one receive queue.
#[derive(Debug)]
pub(super) struct IncomingQueue {
    /// Buffers that are posted to the peer's own queue pair; `None` if the queue is shared.
    pub(super) own: Option<Buffers>,
    /// Frames until their buffers are posted, or a rule is broken.
    until_due: u32,
    /// The same when frames were counted for the last time.
    uncounted_from: u32,
}

impl Incoming {
    pub(in crate::transport) fn new(
        own: Vec<Option<Buffers>>,
        targets: Vec<Target>,
        order: Order,
    ) -> Self {
        let queue = |own| IncomingQueue {
            own,
            until_due: 1,
            uncounted_from: 1,
        };
        Self {
            queues: own.into_iter().map(queue).collect(),
            _targets: targets,
            order,
            frames_until_ring: 0,
        }
    }

    /// The buffers of a queue of the peer's own, or those that all peers share.
    pub(super) fn buffers<'a>(
        &'a self,
        queue: u8,
        shared: Option<&'a SharedReceives>,
    ) -> &'a Buffers {
        let shared = shared.map(|shared| &shared.buffers);
        let buffers = shared.or(self.queues[queue as usize].own.as_ref());
        buffers.expect("a queue has buffers of the peer's own, or shared ones")
    }

    /// Counts a frame that came by a queue. Returns whether it is time to offer the peer a ring.
    #[inline(always)]
    pub(super) const fn count_to_ring(&mut self) -> bool {
        if self.frames_until_ring == 0 {
            return false;
        }
        self.frames_until_ring -= 1;
        self.frames_until_ring == 0
    }
}

impl IncomingQueue {
    /// Counts a frame, and frees its buffer if that is the peer's own. Returns whether the frames have to be
    /// [counted](Self::take_uncounted).
    #[inline(always)]
    pub(super) fn frame_ended(&mut self, buffer: u32) -> bool {
        if let Some(own) = &mut self.own {
            own.free.push(buffer);
        }
        self.until_due -= 1;
        self.until_due == 0
    }

    /// Frames since the last time.
    pub(super) const fn take_uncounted(&mut self) -> u32 {
        let count = self.uncounted_from - self.until_due;
        self.uncounted_from = self.until_due;
        count
    }

    /// Notes that frames have to be counted after `until_due` more.
    pub(super) const fn count_after(&mut self, until_due: u32) {
        (self.until_due, self.uncounted_from) = (until_due, until_due);
    }
}
