//! Shared receive queues, and their limit events.

use super::{Device, Receive};
use crate::error::ENOMEM;
use std::collections::VecDeque;
use std::ffi::c_int;
use std::os::unix::net::UnixDatagram;

/// A shared receive queue.
pub(super) struct Shared {
    pub(super) domain: usize,
    /// Where its events are announced.
    context: usize,
    most: usize,
    posted: VecDeque<Receive>,
    /// There is an event when fewer receives are posted; 0 for none.
    limit: u32,
}

impl Device {
    pub(in crate::fake) fn set_events(&mut self, context: usize, events: UnixDatagram) {
        self.events.insert(context, events);
    }

    pub(in crate::fake) fn create_shared(
        &mut self,
        queue: usize,
        [context, domain]: [usize; 2],
        most: u32,
    ) {
        let shared = Shared {
            domain,
            context,
            most: most as usize,
            posted: VecDeque::new(),
            limit: 0,
        };
        self.shared.insert(queue, shared);
    }

    pub(in crate::fake) fn destroy_shared(&mut self, queue: usize) {
        self.shared.remove(&queue);
    }

    pub(in crate::fake) fn arm_limit(&mut self, queue: usize, limit: u32) {
        if let Some(shared) = self.shared.get_mut(&queue) {
            shared.limit = limit;
            self.check_limit(queue);
        }
    }

    /// Posts a receive to a shared receive queue; returns an errno or 0.
    pub(in crate::fake) fn post_shared(&mut self, queue: usize, receive: Receive) -> c_int {
        let is_running = self.script.is_some();
        let Some(shared) = self.shared.get_mut(&queue).filter(|_| is_running) else {
            return 0;
        };
        if shared.posted.len() == shared.most {
            return ENOMEM;
        }
        shared.posted.push_back(receive);
        let users = self.pairs.iter().filter(|(_, pair)| pair.shared == queue);
        let senders: Vec<u32> = users.map(|(_, pair)| pair.peer).collect();
        for sender in senders {
            self.advance(sender);
        }
        0
    }

    /// Whether a message to queue pair `number` has a receive.
    pub(super) fn has_receive(&self, number: u32) -> bool {
        let pair = &self.pairs[&number];
        match self.shared.get(&pair.shared) {
            Some(shared) => !shared.posted.is_empty(),
            None => !pair.posted.is_empty(),
        }
    }

    /// Takes the receive of a message to queue pair `number`.
    pub(super) fn take_receive(&mut self, number: u32) -> Option<Receive> {
        let pair = self.pairs.get_mut(&number)?;
        let queue = pair.shared;
        let Some(shared) = self.shared.get_mut(&queue) else {
            return pair.posted.pop_front();
        };
        let receive = shared.posted.pop_front();
        self.check_limit(queue);
        receive
    }

    /// Announces that a queue has fewer receives than its limit, once.
    fn check_limit(&mut self, queue: usize) {
        let Some(shared) = self.shared.get_mut(&queue) else {
            return;
        };
        let Some(events) = self.events.get(&shared.context) else {
            return;
        };
        if (shared.posted.len() as u32) < shared.limit {
            shared.limit = 0;
            events
                .send(&queue.to_ne_bytes())
                .expect("the test takes events");
        }
    }
}
