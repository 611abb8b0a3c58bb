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

/// How long a rank does what before the next step, in empty polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Polls with one PAUSE each.
    pub spin: u32,
    /// Polls with one `sched_yield` each after those.
    pub yields: u32,
}

impl Patience {
    /// For `ranks` ranks on a node that was granted `processors` (see [`oxmpi_os::cpu::granted`]).
    #[must_use]
    pub const fn choose(ranks: usize, processors: usize) -> Self {
        if ranks > processors {
            Self::crowded()
        } else {
            Self::active()
        }
    }

    /// With a processor of its own: about a millisecond of spinning, then yields of about as long.
    #[must_use]
    pub const fn active() -> Self {
        Self {
            spin: 30_000,
            yields: 3_000,
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

    /// A poll brought nothing. Flush what was sent before: this may sleep.
    ///
    /// # Cost
    /// One PAUSE while spinning.
    #[inline(always)]
    pub fn idle<B: Bytes>(&mut self, rx: &mut ShmRx<B>) {
        if self.empty < self.patience.spin {
            self.empty += 1;
            spin_loop();
        } else {
            self.rest(rx);
        }
    }

    #[cold]
    #[inline(never)]
    fn rest<B: Bytes>(&mut self, rx: &mut ShmRx<B>) {
        if self.empty < self.patience.spin.saturating_add(self.patience.yields) {
            self.empty += 1;
            yield_now();
        } else if rx.arm() {
            rx.nap(NAP);
        }
    }
}
