//! One rank of the symbolic network: its memory, and the rounds of its steps.

use alloc::collections::VecDeque;

use super::memory::RankMemory;
use super::ranks::Ranks;

/// The result of some steps.
#[derive(Clone, Debug, Default)]
struct StepsResult {
    /// The round in which the steps end.
    round: u32,
    /// The ranks then known to have entered. Tracked in barriers only.
    entered: Ranks,
}

impl StepsResult {
    fn add(&mut self, round: u32, entered: &Ranks) {
        self.round = self.round.max(round);
        if *entered != Ranks::new() {
            self.entered = self.entered.union(entered);
        }
    }
}

/// The state of one rank.
#[derive(Debug)]
pub(super) struct RankState {
    pub(super) memory: RankMemory,
    /// The step that started last.
    pub(super) step: u32,
    /// Elements sent.
    pub(super) sent: u64,
    /// The rounds after which the rank can send and receive again: one message each per round.
    pub(super) send_free: u32,
    pub(super) recv_free: u32,
    /// The result of the steps below `base`, which are all that the last started step needs.
    settled: StepsResult,
    base: u32,
    /// The results so far of the steps from `base` on.
    open: VecDeque<StepsResult>,
}

impl RankState {
    /// A rank before its first step, which knows that `heard` have entered.
    pub(super) fn new(memory: RankMemory, entered: Ranks) -> Self {
        RankState {
            memory,
            step: 0,
            sent: 0,
            send_free: 0,
            recv_free: 0,
            settled: StepsResult { round: 0, entered },
            base: 0,
            open: VecDeque::new(),
        }
    }

    /// Starts a step; all steps below `needs` are done.
    pub(super) fn start(&mut self, step: u32, needs: u32) {
        self.settle(needs);
        self.step = step;
        // Steps without acts may have been skipped.
        let started = (step - self.base) as usize + 1;
        self.open.resize_with(started, StepsResult::default);
    }

    /// The round after which the current step started.
    pub(super) fn started(&self) -> u32 {
        self.settled.round
    }

    /// The ranks known to have entered when the current step started.
    pub(super) fn entered(&self) -> &Ranks {
        &self.settled.entered
    }

    /// The ranks known to have entered when every step is done.
    pub(super) fn entered_at_end(&mut self) -> &Ranks {
        self.settle(u32::MAX);
        self.entered()
    }

    /// Records a message of `len` elements sent in a round.
    pub(super) fn note_sent(&mut self, step: u32, round: u32, len: u64) {
        self.send_free = round;
        self.sent += len;
        self.outcome(step).add(round, &Ranks::new());
    }

    /// Records a message received in a round, with the ranks that its sender knew to have entered.
    pub(super) fn note_received(&mut self, step: u32, round: u32, entered: &Ranks) {
        self.recv_free = round;
        self.outcome(step).add(round, entered);
    }

    /// Records the end of an intra-node phase, after the round in which its last rank entered.
    pub(super) fn note_phase(&mut self, step: u32, round: u32) {
        self.outcome(step).add(round, &Ranks::new());
    }

    fn settle(&mut self, below: u32) {
        while self.base < below
            && let Some(outcome) = self.open.pop_front()
        {
            self.settled.add(outcome.round, &outcome.entered);
            self.base += 1;
        }
    }

    fn outcome(&mut self, step: u32) -> &mut StepsResult {
        &mut self.open[(step - self.base) as usize]
    }
}
