//! Calling a peer: which address next, when again, and when to give up.

/// A call that is tried until it succeeds or its time is over. Time is in milliseconds, from any
/// moment.
#[derive(Clone, Debug)]
pub struct Dial {
    /// How many ways there are to the peer.
    ways: usize,
    next: usize,
    /// Rounds over all ways that have failed.
    rounds: u32,
    not_before: u64,
    until: u64,
    /// The attempt under way is given up then.
    attempt_until: u64,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Try this way.
    Try(usize),
    /// Ask again at this time.
    Wait(u64),
    /// No way is left.
    GiveUp,
}

impl Dial {
    /// The longest that one attempt to connect takes.
    const ATTEMPT: u64 = 2000;
    /// Rounds that are tried at least.
    const ROUNDS: u32 = 3;
    /// Pauses between rounds: the first, which doubles, and the longest.
    const PAUSES: [u64; 2] = [10, 500];

    /// Calls by one of `ways` ways, for `patience` from `now` on.
    #[must_use]
    pub const fn new(ways: usize, now: u64, patience: u64) -> Self {
        Self {
            ways,
            next: 0,
            rounds: 0,
            not_before: now,
            until: now.saturating_add(patience),
            attempt_until: 0,
        }
    }

    /// What to do at `now`, while no attempt is under way. Whoever asks seldom still tries each way a
    /// few times before it gives up.
    #[must_use]
    pub fn next(&mut self, now: u64) -> Next {
        if self.ways == 0 || (now >= self.until && self.rounds >= Self::ROUNDS) {
            return Next::GiveUp;
        }
        if now < self.not_before {
            return Next::Wait(self.not_before);
        }
        self.attempt_until = now.saturating_add(Self::ATTEMPT);
        Next::Try(self.next)
    }

    /// The attempt under way has a connection, and `greeting` from `now` on for what follows.
    pub const fn connected(&mut self, now: u64, greeting: u64) {
        self.attempt_until = now.saturating_add(greeting);
    }

    /// Whether the attempt under way has taken too long.
    #[must_use]
    pub const fn is_overdue(&self, now: u64) -> bool {
        now >= self.attempt_until
    }

    /// When the attempt under way has taken too long.
    #[must_use]
    pub const fn overdue_at(&self) -> u64 {
        self.attempt_until
    }

    /// The attempt failed: the next way, and after the last one a pause.
    pub fn failed(&mut self, now: u64) {
        self.next += 1;
        if self.next >= self.ways {
            let [first, longest] = Self::PAUSES;
            let pause = first
                .checked_shl(self.rounds)
                .unwrap_or(longest)
                .min(longest);
            self.next = 0;
            self.rounds = (self.rounds + 1).min(16);
            self.not_before = now.saturating_add(pause);
        }
    }

    /// Calls on for `patience` from `now`, as if it had just begun.
    pub const fn renew(&mut self, now: u64, patience: u64) {
        self.until = now.saturating_add(patience);
        self.rounds = 0;
    }

    /// The peer's own call goes before this one: pause until it must have come.
    pub fn refused(&mut self, now: u64) {
        let [_, longest] = Self::PAUSES;
        self.not_before = now.saturating_add(longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_in_turn_pauses_and_an_end() {
        let mut dial = Dial::new(2, 1000, 5000);
        assert_eq!(dial.next(1000), Next::Try(0));
        assert!(!dial.is_overdue(2999) && dial.is_overdue(3000));
        dial.failed(1001);
        assert_eq!(dial.next(1001), Next::Try(1));
        dial.failed(1002);
        assert_eq!(dial.next(1002), Next::Wait(1012));
        assert_eq!(dial.next(1012), Next::Try(0));
        dial.refused(1013);
        assert_eq!(dial.next(1100), Next::Wait(1513));
        assert_eq!(dial.next(1513), Next::Try(0), "the same way again");
        for round in 2..=3 {
            assert_eq!(dial.next(9000 * round), Next::Try(0), "its time is over");
            dial.failed(9000 * round);
            assert_eq!(dial.next(9000 * round), Next::Try(1));
            dial.failed(9000 * round);
        }
        assert_eq!(dial.next(27_000), Next::GiveUp);
        dial.renew(28_000, 1000);
        assert_eq!(dial.next(28_000), Next::Try(0));
        dial.connected(28_001, 300);
        assert!(!dial.is_overdue(28_300) && dial.is_overdue(28_301));
        assert_eq!(Dial::new(0, 0, 9).next(0), Next::GiveUp);
    }

    #[test]
    fn pauses_grow_to_a_bound() {
        let mut dial = Dial::new(1, 0, u64::MAX);
        let mut now = 0;
        let mut pauses = Vec::new();
        for _ in 0..40 {
            assert_eq!(dial.next(now), Next::Try(0));
            dial.failed(now);
            let Next::Wait(until) = dial.next(now) else {
                panic!("a pause after each round");
            };
            pauses.push(until - now);
            now = until;
        }
        assert!(pauses.is_sorted() && pauses[0] == 10 && pauses[39] == 500);
    }
}
