//! Allreduce by recursive halving and doubling, known as Rabenseifner's: partners exchange halves of
//! what they have and reduce, down to one piece a rank, and then gather the pieces the same way
//! back.
//!
//! `2 log2 p` rounds and `2 (p - 1) / p` vectors sent where `p` is a power of two. For another `p`
//! the lowest ranks first fold in pairs, which takes two more rounds of the whole vector. Partners
//! are neighbours first, so that each rank always holds the result of consecutive ranks: operations
//! need not commute, and all ranks get the same bits. Rabenseifner, "Optimization of collective
//! reduction operations", 2004; Thakur, Rabenseifner and Gropp, 2005.

use crate::accumulate::Accumulator;
use crate::call::{Call, Parameters};
use crate::eager::EagerLimit;
use crate::fold::Fold;
use crate::halving::Halving;
use crate::plan::{Acts, Buf, Plan, PlanInputs};

/// One rank's plan for Rabenseifner's allreduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AllreduceRabenseifner {
    halving: Halving,
    sum: Accumulator,
}

impl AllreduceRabenseifner {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        let (rounds, places) = Fold::power(call.size, 2);
        let fold = Fold::new(call.rank, call.size, places, 0);
        AllreduceRabenseifner {
            halving: Halving {
                fold,
                rounds,
                count: call.count,
                sums: Buf::Out,
                fresh: !call.in_place && fold.followers() == 0,
                short: EagerLimit::of(call),
            },
            sum: Accumulator::in_out(call.count, call.in_place),
        }
    }
}

impl Plan for AllreduceRabenseifner {
    fn steps(&self) -> u32 {
        match () {
            () if self.halving.count == 0 => 0,
            () if !self.halving.fold.leads() => 2,
            () => (3 * self.halving.fold.followers() + 3 * self.halving.rounds).max(1),
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        match self.halving.fold.leads() {
            true => self
                .halving
                .room()
                .max(self.sum.scratch(self.halving.fold.followers())),
            false => 0,
        }
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (folding, rounds) = (2 * self.halving.fold.followers(), self.halving.rounds);
        let Some(after) = i.checked_sub(folding) else {
            self.halving.fold.gather_step(i, &self.sum, acts);
            return Some(i);
        };
        match () {
            () if !self.halving.fold.leads() && i == 0 => {
                self.halving.fold.send_contribution(&self.sum, acts)
            }
            () if !self.halving.fold.leads() => self.halving.fold.recv_result(&self.sum, acts),
            () if after < 2 * rounds => self.halving.step(after, acts),
            () if after < 3 * rounds => self.halving.regain(3 * rounds - 1 - after, acts),
            () if folding > 0 => self.halving.fold.send_result(0, &self.sum, acts),
            () => self.sum.take_input(acts),
        }
        Some(i)
    }
}
