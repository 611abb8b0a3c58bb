//! Making progress on an endpoint, and resting between two polls that brought nothing.

use oxmpi_shm::wait::{WaitStep, Waiter};
use oxmpi_wire::engine::Failure;
use oxmpi_wire::{Peer, Rx};

use super::super::thread_endpoints;
use super::super::window_state::Arrivals;
use super::{Endpoint, POLLS};

/// Arrivals that one poll hands over at most, so that a flood does not keep a call from seeing that
/// it is done.
const BUDGET: u32 = 64;

impl Endpoint {
    /// Receives and sends what it can. 0: nothing moved.
    pub(crate) fn progress(&mut self) -> u32 {
        self.progress_inline()
    }

    #[inline(always)]
    pub(crate) fn progress_inline(&mut self) -> u32 {
        self.progress_within(BUDGET)
    }

    /// As [`Endpoint::progress`], with at most so many arrivals.
    #[inline(always)]
    pub(super) fn progress_within(&mut self, budget: u32) -> u32 {
        let sent = self.engine.resume(&mut self.tx);
        let mut arrivals = Arrivals {
            engine: &mut self.engine,
            windows: &mut self.windows,
        };
        let kept = arrivals.hand_over(&mut self.tx);
        let come = kept + self.rx.poll(&mut self.tx, budget, &mut arrivals);
        if self.windows.is_busy() {
            return sent + come + self.advance_windows();
        }
        sent + come
    }

    /// As [`Endpoint::progress`], while this thread waits on another endpoint; whether there are collectives to
    /// advance. On an endpoint that has been left nothing is received: its buffers are their owners' again.
    pub(crate) fn make_progress(&mut self) -> bool {
        let usable = self.check().is_ok();
        if usable {
            self.progress();
        }
        usable && self.collectives.are_open()
    }

    /// Starts to connect to all ranks of other nodes; later progress completes it.
    pub(crate) fn connect(&mut self) {
        self.tx.connect();
    }

    /// Whether the links from `first` on are connected; `first` advances to the first that is not. A rank that
    /// has left in order was connected.
    pub(crate) fn connected(&self, first: &mut u32) -> Option<std::result::Result<(), Failure>> {
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

    /// The state of a new wait on this endpoint.
    #[inline]
    pub(crate) const fn waiter(&self) -> Waiter {
        Waiter::new(self.wait_policy)
    }

    /// One step of a wait: makes progress, or rests where there was none.
    #[inline]
    pub(crate) fn wait_step(&mut self, waiter: &mut Waiter) {
        if self.progress() != 0 {
            return waiter.progressed();
        }
        if thread_endpoints::any() {
            // Another endpoint's messages would not end a sleep on this one.
            let rest = self.rest(waiter);
            if waiter.rest_unwoken(rest) {
                self.after_nap();
            }
        } else {
            self.rx.idle(&mut self.tx, waiter, &self.node_barriers);
        }
        self.set_polls(waiter);
    }

    /// One step of a wait that rests without the endpoint's lock: makes progress, or gives how to rest.
    pub(crate) fn wait_step_unlocked(&mut self, waiter: &mut Waiter) -> Option<WaitStep> {
        if self.progress() != 0 {
            waiter.progressed();
            return None;
        }
        let rest = self.rest(waiter);
        self.set_polls(waiter);
        Some(rest)
    }

    /// How to rest after a step without progress, where no peer's message ends the rest.
    pub(crate) fn rest(&mut self, waiter: &mut Waiter) -> WaitStep {
        let rest = waiter.next(&self.node_barriers);
        match rest {
            WaitStep::Spin => {}
            WaitStep::Yield => self.rx.poll_network_next(),
            WaitStep::Sleep => self.tx.watch_all(),
        }
        rest
    }

    /// Sets from a wait how often the next one polls at first.
    #[inline]
    pub(crate) const fn set_polls(&mut self, waiter: &Waiter) {
        self.polls = if waiter.is_yielding() { 1 } else { POLLS };
    }

    /// Notes that the rank slept for a moment between two steps.
    pub(crate) fn after_nap(&mut self) {
        self.rx.after_nap();
    }

    /// Yields the processor once to ranks that share it.
    pub(crate) fn yield_processor(&mut self) {
        self.waiter().yield_to_co_located(&self.node_barriers);
    }
}
