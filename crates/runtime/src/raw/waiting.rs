//! What a thread does between two looks at a lane on which nothing moves.

use std::thread;
use std::time::Duration;

use super::policy::Policy;

/// How long nothing has moved. One for each blocking call.
#[derive(Debug, Default)]
pub struct Idle {
    turns: u32,
}

/// How to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// One pause of the processor.
    Spin,
    /// Let another thread run.
    Yield,
    /// Sleep until a peer sends.
    Sleep,
}

impl Idle {
    /// Something moved.
    pub(super) const fn reset(&mut self) {
        self.turns = 0;
    }

    /// The rest after one more turn without anything.
    pub(super) const fn next(&mut self, policy: &Policy) -> Rest {
        self.turns = self.turns.saturating_add(1);
        if self.turns <= policy.spins {
            Rest::Spin
        } else if self.turns - policy.spins <= policy.yields {
            Rest::Yield
        } else {
            Rest::Sleep
        }
    }
}

impl Rest {
    /// The longest sleep; then the peers' processes are looked at.
    pub(super) const LONGEST: Duration = Duration::from_millis(100);

    /// A sleep where nobody can wake the thread.
    const SHORTEST: Duration = Duration::from_micros(50);

    /// Rests where a peer's message does not wake the thread.
    pub(super) fn brief(self) {
        match self {
            Self::Spin => std::hint::spin_loop(),
            Self::Yield => thread::yield_now(),
            Self::Sleep => thread::sleep(Self::SHORTEST),
        }
    }
}
