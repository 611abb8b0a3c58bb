//! What the helper thread needs of an endpoint, and what calls that offer it to the helper leave behind.

use oxmpi_wire::Tx;

use super::super::async_progress;
use super::super::links::LinksSleeper;
use super::Endpoint;

/// Arrivals of one pass of the helper: a call that wants the endpoint waits for no more. Each long message moves on by one
/// step besides, which copies at most 256 KiB.
const PASS_BUDGET: u32 = 16;

/// What a call leaves behind when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterCall {
    /// The endpoint has been left, or this is a fork of its process.
    Shut,
    /// The next call may use it.
    Free,
    /// As [`AfterCall::Free`], and the helper may use it until then.
    Offered,
}

impl Endpoint {
    /// What the end of a call leaves.
    #[inline]
    pub(crate) fn after_call(&mut self) -> AfterCall {
        if !self.is_usable() {
            AfterCall::Shut
        } else if self.offers {
            self.offer_or_free()
        } else {
            AfterCall::Free
        }
    }

    #[cold]
    fn offer_or_free(&mut self) -> AfterCall {
        self.offers = async_progress::is_on() && self.has_open();
        match self.offers {
            true => AfterCall::Offered,
            false => {
                self.end_sleep();
                AfterCall::Free
            }
        }
    }

    /// Whether the helper, which sleeps for this endpoint, may go on sleeping, as this call leaves nothing to do before a
    /// peer's next message.
    pub(crate) fn may_sleep_on(&mut self) -> bool {
        self.armed
            && !self.collectives.are_in_progress()
            && self.progress() == 0
            && self.rx.is_armed()
    }

    /// Has the parts of a long call offer the endpoint no more; whether they did. The call itself polls.
    #[inline]
    pub(crate) fn suspend_offers(&mut self) -> bool {
        let offered = std::mem::take(&mut self.offers);
        if offered {
            self.end_sleep();
        }
        offered
    }

    /// Whether something is under way that goes on while the program computes: a message, also one that has completed and of
    /// whose end a peer has not been notified, a collective, or a window that peers reach by messages.
    pub(crate) fn has_open(&self) -> bool {
        self.engine.open_requests() != 0
            || self.has_unsent()
            || self.collectives.are_in_progress()
            || self.windows.are_served()
    }

    /// Whether something waits in this process for a connection or for room.
    pub(crate) fn has_unsent(&self) -> bool {
        self.engine.has_waiting() || self.tx.has_unsent()
    }

    /// One bounded pass of the helper. Whether something moved.
    pub(crate) fn pass(&mut self) -> bool {
        self.end_sleep();
        let moved = self.progress_within(PASS_BUDGET);
        self.tx.flush();
        moved != 0
    }

    /// Operations that have completed so far.
    pub(crate) const fn completed(&self) -> u64 {
        self.engine.counters().completed
    }

    /// Prepares a sleep of the helper, in which calls may use the endpoint. `None`: a pass would bring something.
    pub(crate) fn begin_sleep(&mut self) -> Option<LinksSleeper> {
        let sleeper = self.rx.arm(&mut self.tx, &self.node_barriers);
        self.armed = sleeper.is_some();
        sleeper
    }

    /// Ends a sleep of the helper, if it has begun one: from now on this thread polls.
    #[inline]
    pub(crate) fn end_sleep(&mut self) {
        if std::mem::take(&mut self.armed) {
            self.rx.disarm();
        }
    }
}
