//! Allreduce census: `ceil(log2 p)` rounds of the whole vector for every `p`, the minimum.
//!
//! Each rank knows the reduction over some ranks below itself, around the ring, with and without
//! its own contribution. A round doubles their number, or doubles it and adds one: it sends the one
//! reduction or the other, by the bits of `p - 1`. In return the operation must commute, and because each
//! rank combines in an order of its own, it must give the same
//! bits in every order, as on integers. Bar-Noy, Kipnis and Schieber, "An optimal algorithm for
//! computing census functions in message-passing systems", 1993.

use crate::call::{Call, Parameters};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs, Side};
use crate::rank_ring::RankRing;
use crate::tree::levels;

/// One rank's plan for the census. Two steps a round: exchange, and merge what came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Census {
    ring: RankRing,
    count: u64,
    in_place: bool,
}

impl Census {
    pub(crate) const fn of(call: &Call, _: &Parameters) -> Self {
        Census {
            ring: RankRing::of(call),
            count: call.count,
            in_place: call.in_place,
        }
    }

    const fn rounds(&self) -> u32 {
        levels(self.ring.size())
    }

    /// The number of ranks below whose reduction is known before the round.
    const fn inputs(&self, round: u32) -> u32 {
        match self.rounds() - round {
            u32::BITS => 0,
            left => (self.ring.size() - 1) >> left,
        }
    }

    /// Whether the round sends the reduction with the own contribution.
    const fn sends_own(&self, round: u32) -> bool {
        self.inputs(round + 1) % 2 == 1
    }

    /// Whether the reduction without the own contribution is sent after the round, and so must be
    /// kept.
    fn keeps_others(&self, round: u32) -> bool {
        (round + 1..self.rounds()).any(|later| !self.sends_own(later))
    }

    /// The reduction with the own contribution.
    const fn all(&self) -> Part {
        Part::new(Buf::Out, 0, self.count)
    }

    /// The reduction without it.
    const fn others(&self) -> Part {
        Part::new(Buf::Scratch, self.count, self.count)
    }

    /// The own contribution.
    const fn input(&self) -> Part {
        let buf = if self.in_place { Buf::Out } else { Buf::In };
        Part::new(buf, 0, self.count)
    }

    /// Where the message of the round is received. The first one is all that is known of other ranks.
    fn room(&self, round: u32) -> Part {
        if round > 0 {
            Part::new(Buf::Scratch, 0, self.count)
        } else if self.keeps_others(0) || self.in_place {
            self.others()
        } else {
            self.all()
        }
    }

    fn exchange(&self, round: u32, acts: &mut Acts) {
        let distance = self.inputs(round) + u32::from(self.sends_own(round));
        let given = match round {
            0 => self.input(),
            _ if self.sends_own(round) => self.all(),
            _ => self.others(),
        };
        acts.recv(self.ring.below(distance), round, self.room(round));
        acts.send(self.ring.above(distance), round, given);
        if round == 0 && !self.in_place && self.room(0) != self.all() {
            acts.copy(self.input(), self.all());
        }
    }

    fn merge(&self, round: u32, acts: &mut Acts) {
        let room = self.room(round);
        let from = if room == self.all() {
            self.input()
        } else {
            room
        };
        acts.reduce(from, self.all(), Side::Left);
        if round > 0 && self.keeps_others(round) {
            acts.reduce(room, self.others(), Side::Left);
        }
    }
}

impl Plan for Census {
    fn steps(&self) -> u32 {
        if self.count == 0 {
            0
        } else {
            (2 * self.rounds()).max(1)
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        if self.rounds() == 0 {
            0
        } else {
            2 * self.count
        }
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if self.rounds() == 0 {
            if !self.in_place {
                acts.copy(self.input(), self.all());
            }
        } else if i.is_multiple_of(2) {
            self.exchange(i / 2, acts);
        } else {
            self.merge(i / 2, acts);
        }
        Some(i)
    }
}
