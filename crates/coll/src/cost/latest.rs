//! When the rank that is latest is done with rounds in which not all ranks do the same.

/// The latest of the ranks that never waited at an adapter, and of those that did.
#[derive(Clone, Copy)]
pub(super) struct Latest {
    steady: u64,
    /// Until when the adapter is busy whose messages waited for one another in every round so far.
    queue: u64,
    queued: u64,
    /// What it adds to each that a way crosses from node to node: who comes late once no longer waits behind
    /// those that came together.
    crossed: Crossings,
    since: Crossings,
    /// What one of the steady ranks is late by besides.
    late: u64,
}

/// What a round takes.
pub(super) struct RoundCost {
    /// If the adapter is free.
    pub(super) alone: u64,
    /// The adapter, for all messages of a node.
    pub(super) load: u64,
    /// From when the adapter turns to the last message until its receiver is done with it.
    pub(super) last: u64,
    /// What the adapter takes for that one.
    pub(super) own: u64,
    /// What a rank has to copy that is late, as its messages came before it asked for them.
    pub(super) copied: u64,
}

impl Latest {
    pub(super) const NONE: Self = Latest {
        steady: 0,
        queue: 0,
        queued: 0,
        crossed: Crossings::NONE,
        since: Crossings::NONE,
        late: 0,
    };

    /// Adds a round.
    pub(super) fn add(&mut self, turn: &RoundCost) {
        let queued = match turn.load {
            0 => 0,
            load => {
                self.queue = self.steady.max(self.queue).saturating_add(load);
                (self.queue.saturating_add(turn.last)).saturating_sub(turn.own)
            }
        };
        if self.late > 0 || self.crossed.most(1) > 0 {
            self.start(turn.copied);
        }
        if self.queued > self.steady {
            self.queued = self.queued.saturating_add(turn.copied);
        }
        self.work(turn.alone);
        if queued > self.queued {
            self.queued = queued;
            self.since = Crossings::NONE;
        }
    }

    /// Lets all ranks wait for the latest.
    pub(super) fn meet(&mut self) {
        self.steady = self.steady.max(self.queued);
    }

    /// Adds what a crossing from node to node adds to the round.
    pub(super) fn cross(&mut self, more: u64) {
        self.crossed.add(more);
        self.since.add(more);
    }

    /// Adds work that nothing overlaps.
    pub(super) const fn work(&mut self, time: u64) {
        self.steady = self.steady.saturating_add(time);
        self.queued = self.queued.saturating_add(time);
    }

    /// Lets a rank start late.
    pub(super) const fn start(&mut self, late: u64) {
        self.late = self.late.saturating_add(late);
    }

    /// Lets no way cross more often than twice.
    pub(super) const fn cross_twice(&mut self) {
        self.crossed.cross_twice();
        self.since.cross_twice();
    }

    /// When the latest is done, if a way crosses at most so often.
    pub(super) fn time(&self, times: u64) -> u64 {
        let steady = self.steady.saturating_add(self.late);
        let crossing = steady.saturating_add(self.crossed.most(times));
        crossing.max(self.queued.saturating_add(self.since.most(times)))
    }

    /// When a rank is done that was spared some of what others waited for. As long as an adapter is busy after ranks are
    /// done that never waited for it, all wait for that.
    pub(super) fn early(&self, times: u64, spared: u64) -> u64 {
        let waits = self.queue.saturating_sub(self.steady);
        let ahead = spared.saturating_sub(waits);
        self.time(times).saturating_sub(ahead)
    }
}

/// What a crossing from one node to the next adds to a round in which some stay, where it adds most: so
/// often a way crosses at most.
#[derive(Clone, Copy)]
pub(super) struct Crossings([u64; 3]);

impl Crossings {
    pub(super) const NONE: Self = Crossings([0; 3]);

    pub(super) fn add(&mut self, mut more: u64) {
        for most in &mut self.0 {
            (*most, more) = (more.max(*most), more.min(*most));
        }
    }

    /// Lets no way cross more often than to a node and back.
    pub(super) const fn cross_twice(&mut self) {
        self.0[2] = 0;
    }

    /// What so many crossings add at most.
    pub(super) fn most(&self, times: u64) -> u64 {
        let times = usize::try_from(times).unwrap_or(usize::MAX);
        let most = self.0.iter().take(times);
        most.fold(0, |sum, &more| sum.saturating_add(more))
    }
}
