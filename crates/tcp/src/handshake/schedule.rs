//! [`ConnectSchedule`]: which address of a peer to try next, when, and when to give up.

/// The attempts to connect to one peer, until one succeeds or the time is over. Times are in milliseconds.
#[derive(Clone, Debug)]
pub struct ConnectSchedule {
    /// Number of pairs of addresses.
    pairs: usize,
    next: usize,
    /// Rounds over all pairs that have failed.
    rounds: u32,
    not_before: u64,
    until: u64,
    /// When the attempt under way is given up.
    attempt_until: u64,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleStep {
    /// Try this pair of addresses.
    Try(usize),
    /// Ask again at this time.
    Wait(u64),
    /// The time is over.
    GiveUp,
}

impl ConnectSchedule {
    /// Longest time of an attempt without a connection.
    const ATTEMPT: u64 = 2000;
    /// Least number of rounds.
    const ROUNDS: u32 = 3;
    /// Pauses between rounds: the first, which doubles, and the longest.
    const PAUSES: [u64; 2] = [10, 500];

    /// A schedule of `pairs` pairs for `timeout` from `now` on.
    #[must_use]
    pub const fn new(pairs: usize, now: u64, timeout: u64) -> Self {
        Self {
            pairs,
            next: 0,
            rounds: 0,
            not_before: now,
            until: now.saturating_add(timeout),
            attempt_until: 0,
        }
    }

    /// What to do at `now`, while no attempt is under way. A rank that polls seldom still tries each pair
    /// three times before it gives up.
    #[must_use]
    pub fn next(&mut self, now: u64) -> ScheduleStep {
        if self.pairs == 0 || (now >= self.until && self.rounds >= Self::ROUNDS) {
            return ScheduleStep::GiveUp;
        }
        if now < self.not_before {
            return ScheduleStep::Wait(self.not_before);
        }
        self.attempt_until = now.saturating_add(Self::ATTEMPT);
        ScheduleStep::Try(self.next)
    }

    /// The attempt under way is connected, and has `handshake` from `now` on for the handshake.
    pub const fn connected(&mut self, now: u64, handshake: u64) {
        self.attempt_until = now.saturating_add(handshake);
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

    /// The attempt failed: the next pair is due, after the last one with a pause.
    pub fn failed(&mut self, now: u64) {
        self.next += 1;
        if self.next >= self.pairs {
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

    /// Starts again, for `timeout` from `now`.
    pub const fn renew(&mut self, now: u64, timeout: u64) {
        self.until = now.saturating_add(timeout);
        self.rounds = 0;
    }

    /// The peer's own connect wins: pause until it must have arrived.
    pub fn yielded(&mut self, now: u64) {
        let [_, longest] = Self::PAUSES;
        self.not_before = now.saturating_add(longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_in_order_pauses_and_an_end() {
        let mut schedule = ConnectSchedule::new(2, 1000, 5000);
        assert_eq!(schedule.next(1000), ScheduleStep::Try(0));
        assert!(!schedule.is_overdue(2999) && schedule.is_overdue(3000));
        assert_eq!(schedule.overdue_at(), 3000);
        schedule.failed(1001);
        assert_eq!(schedule.next(1001), ScheduleStep::Try(1));
        schedule.failed(1002);
        assert_eq!(schedule.next(1002), ScheduleStep::Wait(1012));
        assert_eq!(schedule.next(1012), ScheduleStep::Try(0));
        schedule.yielded(1013);
        assert_eq!(schedule.next(1100), ScheduleStep::Wait(1513));
        assert_eq!(
            schedule.next(1513),
            ScheduleStep::Try(0),
            "the same pair again"
        );
        for round in 2..=3 {
            assert_eq!(
                schedule.next(9000 * round),
                ScheduleStep::Try(0),
                "its time is over"
            );
            schedule.failed(9000 * round);
            assert_eq!(schedule.next(9000 * round), ScheduleStep::Try(1));
            schedule.failed(9000 * round);
        }
        assert_eq!(schedule.next(27_000), ScheduleStep::GiveUp);
        schedule.renew(28_000, 1000);
        assert_eq!(schedule.next(28_000), ScheduleStep::Try(0));
        schedule.connected(28_001, 300);
        assert!(!schedule.is_overdue(28_300) && schedule.is_overdue(28_301));
        assert_eq!(ConnectSchedule::new(0, 0, 9).next(0), ScheduleStep::GiveUp);
    }

    #[test]
    fn pauses_grow_to_a_bound() {
        let mut schedule = ConnectSchedule::new(1, 0, u64::MAX);
        let mut now = 0;
        let mut pauses = Vec::new();
        for _ in 0..40 {
            assert_eq!(schedule.next(now), ScheduleStep::Try(0));
            schedule.failed(now);
            let ScheduleStep::Wait(until) = schedule.next(now) else {
                panic!("a pause after each round");
            };
            pauses.push(until - now);
            now = until;
        }
        assert!(pauses.is_sorted() && pauses[0] == 10 && pauses[39] == 500);
    }
}
