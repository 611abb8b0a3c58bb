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
    pub(super) uncounted: UncountedFrames,
}

/// Frames that have arrived, for which nothing was to be done.
#[derive(Debug)]
pub(super) struct UncountedFrames {
    /// Frames until buffers are posted, or a rule is broken.
    until_due: u32,
    /// The same when frames were counted for the last time.
    before: u32,
}

impl Incoming {
    pub(in crate::transport) fn new(
        own: Vec<Option<Buffers>>,
        targets: Vec<Target>,
        order: Order,
    ) -> Self {
        let queue = |own| IncomingQueue {
            own,
            uncounted: UncountedFrames {
                until_due: 1,
                before: 1,
            },
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

impl UncountedFrames {
    /// Adds a frame. Returns whether they have to be counted now.
    #[inline(always)]
    pub(super) const fn add(&mut self) -> bool {
        self.until_due -= 1;
        self.until_due == 0
    }

    /// Their number.
    pub(super) const fn count(&self) -> u32 {
        self.before - self.until_due
    }

    /// Begins anew after they were counted: nothing has to be done for `until_due` frames.
    pub(super) const fn begin(&mut self, until_due: u32) {
        (self.until_due, self.before) = (until_due, until_due);
    }
}
