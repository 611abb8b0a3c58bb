//! Reduction by recursive halving and a gather, known as Rabenseifner's: partners exchange halves of
//! what they have and reduce, down to one piece a rank, which the root then gathers.
//!
//! `2 log2 p` rounds and about two vectors sent and received by the busiest rank where `p` is a
//! power of two. For another `p` the lowest ranks first fold in pairs, which takes one more round of
//! the whole vector. Partners are neighbours first: operations need not commute. Rabenseifner,
//! "Optimization of collective reduction operations", 2004; Thakur, Rabenseifner and Gropp,
//! "Optimization of collective communication operations in MPICH", 2005.

use crate::accumulate::Accumulator;
use crate::call::{Call, Parameters};
use crate::eager::EagerLimit;
use crate::fold::Fold;
use crate::halving::Halving;
use crate::plan::{Acts, Buf, Plan, PlanInputs};

/// One rank's plan for Rabenseifner's reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReduceRabenseifner {
    halving: Halving,
    sum: Accumulator,
}

impl ReduceRabenseifner {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        let (rounds, places) = Fold::power(call.size, 2);
        let fold = Fold::new(call.rank, call.size, places, call.root);
        let at_root = call.rank == call.root;
        let sum = if at_root {
            Accumulator::in_out(call.count, call.in_place)
        } else {
            Accumulator::in_scratch(call.count)
        };
        ReduceRabenseifner {
            halving: Halving {
                fold,
                rounds,
                count: call.count,
                sums: if at_root { Buf::Out } else { Buf::Scratch },
                fresh: fold.followers() == 0 && !(at_root && call.in_place),
                short: EagerLimit::of(call),
            },
            sum,
        }
    }

    /// A round of the gather: of two partners that have gathered so far, the one on the root's side
    /// gets what the other has.
    fn gather(&self, round: u32, acts: &mut Acts) {
        let (place, root) = (self.halving.fold.place(), self.halving.fold.root_place());
        if (place ^ root) >> (round + 1) != 0 {
            return;
        }
        let partner = self.halving.partner(round);
        let (leader, tag) = (
            self.halving.fold.leader(partner),
            self.halving.rounds + round,
        );
        let from = if place >> round & 1 == root >> round & 1 {
            partner
        } else {
            place
        };
        let part = self.halving.part(self.halving.sums, from, round + 1);
        match () {
            () if part.is_empty() => {}
            () if from == partner => acts.recv(leader, tag, part),
            () => acts.send(leader, tag, part),
        }
    }
}

impl Plan for ReduceRabenseifner {
    fn steps(&self) -> u32 {
        match () {
            () if self.halving.count == 0 => 0,
            () if !self.halving.fold.leads() => 1,
            () => (2 * self.halving.fold.followers() + 3 * self.halving.rounds).max(1),
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        let sums = match self.halving.sums {
            Buf::Scratch => self.halving.count,
            _ => 0,
        };
        match self.halving.fold.leads() {
            true => {
                (sums + self.halving.room()).max(self.sum.scratch(self.halving.fold.followers()))
            }
            false => 0,
        }
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (folding, rounds) = (2 * self.halving.fold.followers(), self.halving.rounds);
        match i.checked_sub(folding) {
            None => self.halving.fold.gather_step(i, &self.sum, acts),
            Some(_) if !self.halving.fold.leads() => {
                self.halving.fold.send_contribution(&self.sum, acts)
            }
            Some(i) if i < 2 * rounds => self.halving.step(i, acts),
            Some(i) if i < 3 * rounds => self.gather(3 * rounds - 1 - i, acts),
            Some(_) => self.sum.take_input(acts),
        }
        Some(i)
    }
}
