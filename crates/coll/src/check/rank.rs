//! One rank of the symbolic network: its memory, and when it did what, counted in rounds.

use alloc::collections::VecDeque;

use super::memory::Memory;
use super::ranks::Ranks;

/// What the end of some steps brings.
#[derive(Clone, Debug, Default)]
struct Outcome {
    /// The round in which they end.
    round: u32,
    /// Of whom the rank has then heard. Followed in barriers only.
    heard: Ranks,
}

impl Outcome {
    fn add(&mut self, round: u32, heard: &Ranks) {
        self.round = self.round.max(round);
        if *heard != Ranks::new() {
            self.heard = self.heard.union(heard);
        }
    }
}

/// One rank.
#[derive(Debug)]
pub(super) struct Rank {
    pub(super) memory: Memory,
    /// The step that started last.
    pub(super) step: u32,
    /// Elements sent.
    pub(super) sent: u64,
    /// The round after which the rank can send, and the one after which it can receive: in a round
    /// it sends one message and receives one.
    pub(super) send_free: u32,
    pub(super) recv_free: u32,
    /// What the steps below `base` brought; the step that started last needs no others.
    settled: Outcome,
    base: u32,
    /// What the steps from `base` on have brought so far.
    open: VecDeque<Outcome>,
}

impl Rank {
    /// A rank before its first step, that has heard of `heard`.
    pub(super) fn new(memory: Memory, heard: Ranks) -> Self {
        Rank {
            memory,
            step: 0,
            sent: 0,
            send_free: 0,
            recv_free: 0,
            settled: Outcome { round: 0, heard },
            base: 0,
            open: VecDeque::new(),
        }
    }

    /// Starts a step, all steps below `needs` being done.
    pub(super) fn start(&mut self, step: u32, needs: u32) {
        self.settle(needs);
        self.step = step;
        // Steps without acts may have been left out.
        let started = (step - self.base) as usize + 1;
        self.open.resize_with(started, Outcome::default);
    }

    /// The round after which the running step started.
    pub(super) fn started(&self) -> u32 {
        self.settled.round
    }

    /// Of whom the rank had heard when the running step started.
    pub(super) fn heard(&self) -> &Ranks {
        &self.settled.heard
    }

    /// Of whom the rank has heard when every step is done.
    pub(super) fn heard_at_end(&mut self) -> &Ranks {
        self.settle(u32::MAX);
        self.heard()
    }

    /// Notes a message of `len` elements that was sent in the round.
    pub(super) fn note_sent(&mut self, step: u32, round: u32, len: u64) {
        self.send_free = round;
        self.sent += len;
        self.outcome(step).add(round, &Ranks::new());
    }

    /// Notes a message that came in the round and told of the ranks that its sender had heard of.
    pub(super) fn note_received(&mut self, step: u32, round: u32, heard: &Ranks) {
        self.recv_free = round;
        self.outcome(step).add(round, heard);
    }

    /// Notes what the rank and others did together once the last of them had come, after the round.
    pub(super) fn note_met(&mut self, step: u32, round: u32) {
        self.outcome(step).add(round, &Ranks::new());
    }

    fn settle(&mut self, below: u32) {
        while self.base < below
            && let Some(outcome) = self.open.pop_front()
        {
            self.settled.add(outcome.round, &outcome.heard);
            self.base += 1;
        }
    }

    fn outcome(&mut self, step: u32) -> &mut Outcome {
        &mut self.open[(step - self.base) as usize]
    }
}
