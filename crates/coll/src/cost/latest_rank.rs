//! The completion time of the latest rank after rounds in which ranks do different things.

/// The times of the latest rank that never waited at an adapter, and of the latest that did.
#[derive(Clone, Copy)]
pub(super) struct LatestRank {
    steady: u64,
    /// The time until which an adapter is busy whose messages queued in every round so far.
    queue: u64,
    queued: u64,
    /// The time added per crossing between nodes: a rank that is late once no longer queues behind
    /// others.
    crossed: Crossings,
    since: Crossings,
    /// The additional lateness of one rank that never waits at an adapter.
    late: u64,
}

/// The times of one round.
pub(super) struct RoundCost {
    /// The round's time if the adapter is free.
    pub(super) alone: u64,
    /// The adapter's time for all messages of a node.
    pub(super) load: u64,
    /// The time from when the adapter starts the last message until its receiver is done with it.
    pub(super) last: u64,
    /// The adapter's time for the last message.
    pub(super) own: u64,
    /// The copies of a late rank, whose messages arrived before it posted receives.
    pub(super) copied: u64,
}

impl LatestRank {
    pub(super) const NONE: Self = LatestRank {
        steady: 0,
        queue: 0,
        queued: 0,
        crossed: Crossings::NONE,
        since: Crossings::NONE,
        late: 0,
    };

    /// Adds a round.
    pub(super) fn add(&mut self, round: &RoundCost) {
        let queued = match round.load {
            0 => 0,
            load => {
                self.queue = self.steady.max(self.queue).saturating_add(load);
                (self.queue.saturating_add(round.last)).saturating_sub(round.own)
            }
        };
        if self.late > 0 || self.crossed.most(1) > 0 {
            self.start(round.copied);
        }
        if self.queued > self.steady {
            self.queued = self.queued.saturating_add(round.copied);
        }
        self.work(round.alone);
        if queued > self.queued {
            self.queued = queued;
            self.since = Crossings::NONE;
        }
    }

    /// Makes all ranks wait for the latest.
    pub(super) fn wait_for_latest(&mut self) {
        self.steady = self.steady.max(self.queued);
    }

    /// Adds the time that a crossing between nodes adds to the round.
    pub(super) fn cross(&mut self, more: u64) {
        self.crossed.add(more);
        self.since.add(more);
    }

    /// Adds work that nothing overlaps.
    pub(super) const fn work(&mut self, time: u64) {
        self.steady = self.steady.saturating_add(time);
        self.queued = self.queued.saturating_add(time);
    }

    /// Makes a rank start late.
    pub(super) const fn start(&mut self, late: u64) {
        self.late = self.late.saturating_add(late);
    }

    /// Limits the crossings of a path to two.
    pub(super) const fn cross_twice(&mut self) {
        self.crossed.cross_twice();
        self.since.cross_twice();
    }

    /// The completion time of the latest rank, if a path crosses between nodes at most `times` times.
    pub(super) fn time(&self, times: u64) -> u64 {
        let steady = self.steady.saturating_add(self.late);
        let crossing = steady.saturating_add(self.crossed.most(times));
        crossing.max(self.queued.saturating_add(self.since.most(times)))
    }

    /// The completion time of a rank that was spared some of the others' waiting.
    pub(super) fn early(&self, times: u64, spared: u64) -> u64 {
        let waits = self.queue.saturating_sub(self.steady);
        let ahead = spared.saturating_sub(waits);
        self.time(times).saturating_sub(ahead)
    }
}

/// The largest times that crossings between nodes add to rounds in which some ranks stay inside a node.
#[derive(Clone, Copy)]
pub(super) struct Crossings([u64; 3]);

impl Crossings {
    pub(super) const NONE: Self = Crossings([0; 3]);

    pub(super) fn add(&mut self, mut more: u64) {
        for most in &mut self.0 {
            (*most, more) = (more.max(*most), more.min(*most));
        }
    }

    /// Limits the crossings of a path to a node and back.
    pub(super) const fn cross_twice(&mut self) {
        self.0[2] = 0;
    }

    /// The most that this many crossings add.
    pub(super) fn most(&self, times: u64) -> u64 {
        let times = usize::try_from(times).unwrap_or(usize::MAX);
        let most = self.0.iter().take(times);
        most.fold(0, |sum, &more| sum.saturating_add(more))
    }
}
