//! How a receiving rank sleeps until a peer wakes it.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use oxmpi_os::futex;
use oxmpi_os::pipe::{PollFd, PollFlags, poll};
use oxmpi_wire::{Bytes, Sleeper};

use super::{POLLS_PER_CHECK, ShmRx};
use crate::segment::Segment;
use crate::transport::MembarrierFence;
use crate::transport::tx::WordWait;

/// Short naps between two checks of the peers' processes: some milliseconds.
const NAPS: u32 = 64;

impl<B: Bytes> ShmRx<B> {
    /// Whether a poll would hand something over.
    pub(super) fn has_arrivals(&self) -> bool {
        self.opened_links.has_new()
            || (self.open.iter()).any(|&peer| self.links[peer as usize].ring.next().is_some())
            || self.waits.iter().any(WordWait::is_over)
    }

    /// Sleeps until a peer sends, at most about `limit`. Only after [`Sleeper::arm`] returned true; the next
    /// poll checks whether peers are alive.
    ///
    /// # Cost
    /// Two switches of the processor; a wake from another one takes about 20 us.
    pub fn nap(&mut self, limit: Duration) {
        let limit = limit.min(self.longest_nap());
        wait_for_wake(&self.segment, self.me, limit);
        self.disarm();
    }

    /// How another thread sleeps for this rank.
    #[must_use]
    pub fn sleeper(&self) -> ShmSleeper {
        ShmSleeper {
            segment: Arc::clone(&self.segment),
            me: self.me,
            longest: self.longest_nap(),
        }
    }

    /// Whether the rank is armed, and no peer has begun to wake it since.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.segment.sleep_flag(self.me).asleep(&MembarrierFence)
    }

    /// The longest sleep that misses no wake for longer.
    #[must_use]
    pub const fn longest_nap(&self) -> Duration {
        // Without membarrier a wake may be missed.
        match self.reliable {
            true => Duration::MAX,
            false => Duration::from_millis(1),
        }
    }

    /// The descriptor that is readable once a peer has woken this rank, where the node has
    /// [doorbells](crate::Node::with_doorbells). A caller that sleeps by other means than [`ShmRx::nap`]
    /// waits for it, too, and then calls [`ShmRx::disarm`].
    #[must_use]
    pub fn doorbell(&self) -> Option<BorrowedFd<'_>> {
        Some(self.segment.doorbells()?.own().as_fd())
    }

    /// Counts a short nap between two polls as many empty polls, so that a rank that mostly naps checks its
    /// peers in time.
    pub fn napped(&mut self) {
        self.empty |= POLLS_PER_CHECK / NAPS - 1;
    }

    /// Takes [`Sleeper::arm`] back: the caller does not sleep after all, or has slept.
    pub fn disarm(&mut self) {
        self.segment.sleep_flag(self.me).clear();
        if let Some(doorbells) = self.segment.doorbells() {
            doorbells.own().drain();
        }
        self.empty = POLLS_PER_CHECK - 1;
    }
}

/// Waits until a peer wakes rank `me`, which is armed.
fn wait_for_wake(segment: &Segment, me: u32, limit: Duration) {
    // However the wait ends, the caller polls again.
    if let Some(doorbells) = segment.doorbells() {
        let _ = poll(
            &mut [PollFd::new(doorbells.own(), PollFlags::IN)],
            Some(limit),
        );
    } else {
        let _ = futex::wait(segment.asleep(me), 1, limit);
    }
}

/// Sleeps until a peer wakes the rank, while another thread may have its [`ShmRx`]: made by [`ShmRx::sleeper`].
#[derive(Clone, Debug)]
pub struct ShmSleeper {
    segment: Arc<Segment>,
    me: u32,
    longest: Duration,
}

impl ShmSleeper {
    /// Sleeps, at most about `limit`, unless a peer or [`ShmSleeper::wake`] has woken the rank since it was
    /// [armed](Sleeper::arm). Whoever has the [`ShmRx`] next calls [`ShmRx::disarm`].
    pub fn sleep(&self, limit: Duration) {
        wait_for_wake(&self.segment, self.me, limit.min(self.longest));
    }

    /// Wakes the thread that sleeps, or is about to.
    pub fn wake(&self) {
        self.segment.wake(self.me);
    }

    /// As [`ShmRx::doorbell`].
    #[must_use]
    pub fn doorbell(&self) -> Option<BorrowedFd<'_>> {
        Some(self.segment.doorbells()?.own().as_fd())
    }
}

impl<B: Bytes> Sleeper for ShmRx<B> {
    /// The first call of a sleep returns false while bulk transfers are under way: the next poll notes what
    /// they wait for.
    ///
    /// # Cost
    /// A membarrier: 0.4 us, or 11 us while a peer runs on another processor.
    fn arm(&mut self) -> bool {
        self.to_note = !self.noted;
        if self.to_note {
            return false;
        }
        let sleep_flag = self.segment.sleep_flag(self.me);
        sleep_flag.announce(&MembarrierFence);
        let come = self.has_arrivals();
        if come {
            sleep_flag.clear();
        }
        !come
    }
}
