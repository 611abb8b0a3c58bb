//! Shared receive queues, and their limit events.

use super::extended::ExtendedQueue;
use super::{Device, Receive};
use crate::error::ENOMEM;
use crate::ffi::IBV_EVENT_SRQ_LIMIT_REACHED;
use std::collections::VecDeque;
use std::ffi::c_int;

/// A shared receive queue.
pub(super) struct Shared {
    pub(super) domain: usize,
    /// Where its events are announced.
    pub(super) context: usize,
    most: usize,
    posted: VecDeque<Receive>,
    /// There is an event when fewer receives are posted; 0 for none.
    limit: u32,
    /// Of a queue of an XRC domain.
    pub(super) extended: Option<ExtendedQueue>,
}

impl Device {
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
            extended: None,
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
        for taker in self.takers_of(queue) {
            self.advance(self.pairs[&taker].peer);
        }
        0
    }

    /// Whether a message to queue pair `number` waits for a receive of the shared queue `queue`, or of its own.
    pub(super) fn lacks_receive(&self, number: u32, queue: usize) -> bool {
        let pair = &self.pairs[&number];
        match self.shared.get(&queue) {
            Some(shared) => shared.posted.is_empty(),
            // To a queue that there is not, no message waits.
            None => pair.target_of.is_none() && pair.posted.is_empty(),
        }
    }

    /// Takes the receive of a message to queue pair `number`, from the shared queue `queue` if there is one.
    pub(super) fn take_receive(&mut self, number: u32, queue: usize) -> Option<Receive> {
        let pair = self.pairs.get_mut(&number)?;
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
        if (shared.posted.len() as u32) < shared.limit {
            shared.limit = 0;
            let context = shared.context;
            self.announce(context, IBV_EVENT_SRQ_LIMIT_REACHED, queue as u64);
        }
    }
}
