//! Making progress on an endpoint, and resting between two polls that brought nothing.

use oxmpi_shm::wait::{Rest, Waiter};
use oxmpi_wire::engine::Failure;
use oxmpi_wire::{Peer, Rx};

use super::super::thread_endpoints;
use super::{Endpoint, POLLS};

/// Arrivals that one poll hands over at most, so that a flood does not keep a call from seeing that
/// it is done.
const BUDGET: u32 = 64;

impl Endpoint {
    /// Takes in what has come and sends what can go. 0: nothing moved.
    pub(in crate::raw) fn progress(&mut self) -> u32 {
        self.progress_inline()
    }

    #[inline(always)]
    pub(in crate::raw) fn progress_inline(&mut self) -> u32 {
        let sent = self.engine.resume(&mut self.tx);
        let come = self.rx.poll(&mut self.tx, BUDGET, &mut self.engine);
        sent + come
    }

    /// As [`Endpoint::progress`], where another endpoint is waited for. What came to an endpoint that has ended
    /// stays where it is: its buffers are their owners' again. Whether collectives are to be
    /// advanced.
    pub(in crate::raw) fn make_progress(&mut self) -> bool {
        let usable = self.check().is_ok();
        if usable {
            self.progress();
        }
        usable && self.collectives.are_open()
    }

    /// Connects to all ranks of other nodes. The turns that follow do it.
    pub(in crate::raw) fn connect(&mut self) {
        self.tx.connect();
    }

    /// Whether the links from `first` on are connected: `first` is the first that is not, or is lost. Who has
    /// left in order was.
    pub(in crate::raw) fn connected(
        &self,
        first: &mut u32,
    ) -> Option<std::result::Result<(), Failure>> {
        while (*first as usize) < self.pids.len() {
            let peer = Peer(*first);
            match self.engine.fault(peer) {
                Some(fault) if fault.is_failure() => {
                    return Some(Err(Failure::Fault { peer, fault }));
                }
                None if !self.tx.is_connected(peer) => return None,
                _ => *first += 1,
            }
        }
        Some(Ok(()))
    }

    /// A new wait on this endpoint.
    #[inline]
    pub(in crate::raw) const fn waiter(&self) -> Waiter {
        Waiter::new(self.patience)
    }

    /// Makes progress, or rests a little after a turn that made none.
    #[inline]
    pub(in crate::raw) fn wait_step(&mut self, waiter: &mut Waiter) {
        if self.progress() != 0 {
            return waiter.moved();
        }
        if thread_endpoints::any() {
            // Another endpoint's messages would not end a sleep on this one.
            let rest = self.rest(waiter);
            if waiter.unwoken(rest) {
                self.after_nap();
            }
        } else {
            self.rx.idle(&mut self.tx, waiter, &self.gates);
        }
        self.learn(waiter);
    }

    /// Makes progress. After a turn that made none it says how to rest before the next one.
    pub(in crate::raw) fn wait_step_unlocked(&mut self, waiter: &mut Waiter) -> Option<Rest> {
        if self.progress() != 0 {
            waiter.moved();
            return None;
        }
        let rest = self.rest(waiter);
        self.learn(waiter);
        Some(rest)
    }

    /// How to rest after a turn that made no progress, where no peer's message ends it.
    pub(in crate::raw) fn rest(&mut self, waiter: &mut Waiter) -> Rest {
        let rest = waiter.next(&self.gates);
        match rest {
            Rest::Spin => {}
            Rest::Yield => self.rx.poll_network_next(),
            Rest::Sleep => self.tx.watch_all(),
        }
        rest
    }

    /// Takes from a wait how often the next one polls at first.
    #[inline]
    pub(in crate::raw) const fn learn(&mut self, waiter: &Waiter) {
        self.polls = if waiter.gives_way() { 1 } else { POLLS };
    }

    /// A short nap was taken between two turns.
    pub(in crate::raw) fn after_nap(&mut self) {
        self.rx.after_nap();
    }

    /// Lets ranks that share this processor go on, once.
    pub(in crate::raw) fn make_way(&mut self) {
        self.waiter().make_way(&self.gates);
    }
}
