//! Allreduce by recursive doubling: in round `k` partners at distance `2^k` exchange what they have
//! and reduce it.
//!
//! `log2 p` rounds of the whole vector where `p` is a power of two. For another `p` the lowest
//! ranks first fold in pairs, the even one into the odd one above it, so that a power of two
//! remains, and the odd ones hand back the result at the end: `floor(log2 p) + 2` rounds. Every
//! rank always holds the result of consecutive ranks, and both partners combine in the order of the
//! ranks: operations need not commute, and all ranks get the same bits. Thakur, Rabenseifner and
//! Gropp, "Optimization of collective communication operations in MPICH", 2005.

use crate::accumulate::Accumulator;
use crate::call::{Call, Parameters};
use crate::phase::phase;
use crate::plan::{Acts, Plan, PlanInputs};

/// The tag of the messages that fold and hand back; rounds have tags of their own.
const FOLD: u32 = 32;

/// One rank's plan for allreduce by recursive doubling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AllreduceDoubling {
    rank: u32,
    /// Rounds of exchange among the ranks that remain.
    rounds: u32,
    /// The pairs that fold: ranks `0` and `1`, `2` and `3`, and so on.
    pairs: u32,
    count: u64,
    sum: Accumulator,
    in_place: bool,
}

/// What a rank does at the start and the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Gives its contribution to the rank above and gets the result from it.
    Folded,
    /// Takes part for itself and the rank below.
    Pair,
    /// Takes part for itself.
    Single,
}

impl AllreduceDoubling {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        let (rank, size) = (call.rank, call.size);
        let (count, in_place) = (call.count, call.in_place);
        let rounds = size.ilog2();
        let sum = Accumulator::in_out(count, in_place);
        AllreduceDoubling {
            rank,
            rounds,
            pairs: size - (1 << rounds),
            count,
            sum,
            in_place,
        }
    }

    fn role(&self) -> Role {
        match self.rank {
            rank if rank / 2 >= self.pairs => Role::Single,
            rank if rank % 2 == 0 => Role::Folded,
            _ => Role::Pair,
        }
    }

    /// The partner of a round, in ranks of the group.
    fn partner(&self, round: u32) -> u32 {
        let place = if self.role() == Role::Pair {
            self.rank / 2
        } else {
            self.rank - self.pairs
        };
        let other = place ^ (1 << round);
        if other < self.pairs {
            2 * other + 1
        } else {
            other + self.pairs
        }
    }

    /// A rank that gives its contribution away: send, then receive the result.
    fn folded(&self, i: u32, acts: &mut Acts) -> u32 {
        if i == 0 {
            acts.send(self.rank + 1, FOLD, self.sum.value(false));
            return 0;
        }
        acts.recv(self.rank + 1, FOLD, self.sum.value(true));
        // Only in place does the result overwrite what is still being sent.
        u32::from(self.in_place)
    }
}

impl Plan for AllreduceDoubling {
    fn steps(&self) -> u32 {
        match self.role() {
            _ if self.count == 0 => 0,
            Role::Folded => 2,
            Role::Pair => 2 + 2 * self.rounds + 1,
            Role::Single => (2 * self.rounds).max(1),
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        match self.role() {
            Role::Folded => 0,
            Role::Pair => self.sum.scratch(self.rounds + 1),
            Role::Single => self.sum.scratch(self.rounds),
        }
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        // Pairs have two steps before the rounds: receive what the rank below gives, and merge it.
        let before = match self.role() {
            Role::Folded => return Some(self.folded(i, acts)),
            Role::Pair => 2,
            Role::Single => 0,
        };
        if i < before {
            match i {
                0 => acts.recv(self.rank - 1, FOLD, self.sum.room(false)),
                _ => self.sum.merge(false, true, acts),
            }
        } else if i < before + 2 * self.rounds {
            let round = (i - before) / 2;
            let (partner, merged) = (self.partner(round), i >= 2);
            if (i - before).is_multiple_of(2) {
                acts.recv(partner, round, self.sum.room(merged));
                acts.send(partner, round, self.sum.value(merged));
            } else {
                self.sum.merge(merged, partner < self.rank, acts);
            }
        } else if before > 0 {
            acts.send(self.rank - 1, FOLD, self.sum.value(true));
        } else {
            self.sum.take_input(acts);
        }
        Some(i)
    }
}

phase!(AllreduceDoubling);
