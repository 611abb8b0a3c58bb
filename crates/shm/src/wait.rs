//! How a rank waits: spin, then yield, then sleep.
//!
//! What is best depends on whether another rank needs this processor. With a processor for each
//! rank, spinning answers fastest, and a wake across processors would cost 20 us. With more ranks
//! than processors spinning keeps the very rank from running that is waited for: yielding at once
//! costs under 1 us.

use std::hint::spin_loop;
use std::thread::yield_now;
use std::time::Duration;

use oxmpi_wire::{Bytes, Rx};

use crate::transport::ShmRx;

/// Longest sleep; then the peers' processes are looked at.
const NAP: Duration = Duration::from_millis(100);

/// The sleep of who cannot be woken.
const SHORT_NAP: Duration = Duration::from_micros(50);

/// How long a rank does what before the next step, in empty polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Polls with one PAUSE each.
    pub spin: u32,
    /// Polls with one `sched_yield` each after those.
    pub yields: u32,
}

impl Patience {
    /// With a processor of its own: about a millisecond of spinning, then yields of about as long.
    #[must_use]
    pub const fn active() -> Self {
        Self {
            spin: 30_000,
            yields: 3_000,
        }
    }

    /// Never yields and never sleeps: for who has asked for it.
    #[must_use]
    pub const fn endless() -> Self {
        Self {
            spin: u32::MAX,
            yields: 0,
        }
    }

    /// With more ranks than processors: yield at once, for about a millisecond.
    #[must_use]
    pub const fn crowded() -> Self {
        Self {
            spin: 0,
            yields: 1_000,
        }
    }

    /// Sparing: sleep soon, so that a rank that waits long takes no processor time.
    #[must_use]
    pub const fn passive(spin: u32) -> Self {
        Self { spin, yields: 20 }
    }
}

/// What to do between two polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// One PAUSE of the processor.
    Spin,
    /// Let another thread run.
    Yield,
    /// Sleep until a peer sends.
    Sleep,
}

impl Rest {
    /// Rests where no peer's message can wake the thread: what would be a sleep is a short one.
    /// True if it was: tell the transport by [`ShmRx::napped`].
    pub fn unwoken(self) -> bool {
        match self {
            Self::Spin => spin_loop(),
            Self::Yield => yield_now(),
            Self::Sleep => std::thread::sleep(SHORT_NAP),
        }
        self == Self::Sleep
    }
}

/// One wait, or a row of them.
#[derive(Clone, Debug)]
pub struct Waiter {
    patience: Patience,
    empty: u32,
}

impl Waiter {
    /// Waits with this patience.
    #[must_use]
    pub const fn new(patience: Patience) -> Self {
        Self { patience, empty: 0 }
    }

    /// A poll brought something, or a new wait begins.
    #[inline(always)]
    pub const fn moved(&mut self) {
        self.empty = 0;
    }

    /// A poll brought nothing: what to do before the next one.
    #[inline(always)]
    pub const fn next(&mut self) -> Rest {
        if self.empty < self.patience.spin || self.patience.spin == u32::MAX {
            self.empty = self.empty.saturating_add(1);
            Rest::Spin
        } else if self.empty < self.patience.spin.saturating_add(self.patience.yields) {
            self.empty += 1;
            Rest::Yield
        } else {
            Rest::Sleep
        }
    }

    /// A poll brought nothing. Flush what was sent before: this may sleep.
    ///
    /// # Cost
    /// One PAUSE while spinning.
    #[inline(always)]
    pub fn idle<B: Bytes>(&mut self, rx: &mut ShmRx<B>) {
        match self.next() {
            Rest::Spin => spin_loop(),
            Rest::Yield => yield_now(),
            Rest::Sleep => sleep(rx),
        }
    }
}

/// Sleeps until a peer sends, for [`NAP`] at most.
#[cold]
#[inline(never)]
fn sleep<B: Bytes>(rx: &mut ShmRx<B>) {
    if rx.arm() {
        rx.nap(NAP);
    }
}
