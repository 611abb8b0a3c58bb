//! [`Incoming`]: what comes from one peer.

use super::SharedReceives;
use crate::transport::buffers::Buffers;
use crate::transport::initiators::Target;
use crate::transport::order::Order;

/// The receiving half of the connection to one peer.
#[derive(Debug)]
pub(in crate::transport) struct Incoming {
    /// By receive queue: buffers that are posted to the peer's own queue pair; `None` if the queue is shared.
    pub(super) own: Vec<Option<Buffers>>,
    /// Where messages come from by `X` queues: they stay as long as this.
    _targets: Vec<Target>,
    pub(super) order: Order,
    /// Frames that came by queues so far.
    pub(super) frames: u32,
}

impl Incoming {
    pub(in crate::transport) const fn new(
        own: Vec<Option<Buffers>>,
        targets: Vec<Target>,
        order: Order,
    ) -> Self {
        Self {
            own,
            _targets: targets,
            order,
            frames: 0,
        }
    }

    /// The buffers of a queue of the peer's own, or those that all peers share.
    pub(super) fn buffers<'a>(
        &'a self,
        queue: u8,
        shared: Option<&'a SharedReceives>,
    ) -> &'a Buffers {
        let shared = shared.map(|shared| &shared.buffers);
        let buffers = shared.or(self.own[queue as usize].as_ref());
        buffers.expect("a queue has buffers of the peer's own, or shared ones")
    }

    /// The buffers of a queue of the peer's own.
    #[inline(always)]
    pub(super) fn own_mut(&mut self, queue: u8) -> &mut Buffers {
        let buffers = self.own[queue as usize].as_mut();
        buffers.expect("only receives of own queues name a peer")
    }
}
