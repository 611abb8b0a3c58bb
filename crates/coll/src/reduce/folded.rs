//! Reduce folded: the [circulant](super::Circulant) reduction of all ranks but one, the folded rank, whose
//! vector the root receives directly while it waits for the first sums.
//!
//! Where the number of ranks is a power of two, every round of the circulant reduction waits for the
//! one before. With one rank less, some ranks are idle in some rounds, and the last sum arrives about a round
//! earlier; meanwhile the root has time for the vector of the folded rank. That pays for short vectors. The
//! operation must commute.
//!
//! Rounds, with one message at a time: one for the folded rank, and those of the others.

use super::ReduceCirculant;
use crate::call::{Call, Parameters};
use crate::circulant::Pipeline;
use crate::plan::renamed;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs, Side};
use crate::rank_ring::RankRing;

/// One rank's plan for a reduction with a folded rank, the rank below the root. The folded rank has one step,
/// which sends; the root receives its vector in a step, merges it in another one, and goes on as the root of
/// the other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Folded {
    ring: RankRing,
    root: u32,
    in_place: bool,
    /// The plan of the other ranks; at the folded rank the root's.
    others: ReduceCirculant,
}

/// The call of the other ranks, counted from the root. The folded rank's is the root's.
pub(crate) const fn without_folded_rank(call: &Call) -> Call {
    let size = if call.size > 1 { call.size - 1 } else { 1 };
    Call {
        rank: call.from_root() % size,
        size,
        root: 0,
        ..*call
    }
}

impl Folded {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        // The root's sum has begun with the folded rank's vector.
        let others = without_folded_rank(call).with_in_place(call.in_place || call.size > 1);
        Folded {
            ring: RankRing::of(call),
            root: call.root,
            in_place: call.in_place,
            others: ReduceCirculant::of(&others, parameters),
        }
    }

    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let of_folded_rank = u64::from(call.size > 1 && call.count > 0);
        of_folded_rank + Pipeline::rounds_of(&without_folded_rank(call), parameters)
    }

    /// The root, as the folded rank's partner.
    fn partner(&self) -> RankRing {
        RankRing::new(self.root, self.ring.size())
    }

    fn folded_rank(&self) -> u32 {
        self.partner().below(1)
    }

    fn is_fold_partner(&self) -> bool {
        self.ring.rank() == self.root
    }

    /// Whether there is a folded rank with elements.
    fn has_folded_rank(&self) -> bool {
        self.ring.size() > 1 && self.others.count() > 0
    }

    fn is_folded(&self) -> bool {
        self.has_folded_rank() && self.ring.rank() == self.folded_rank()
    }

    /// The whole vector.
    fn vector(&self, buf: Buf) -> Part {
        Part::new(buf, 0, self.others.count())
    }

    /// The root's steps before those of the others.
    fn before(&self) -> u32 {
        if self.has_folded_rank() && self.is_fold_partner() {
            2
        } else {
            0
        }
    }

    /// Receives the folded rank's vector, or merges it.
    fn welcome(&self, i: u32, acts: &mut Acts) {
        let (room, own) = match self.in_place {
            true => (Buf::Scratch, Buf::Scratch),
            false => (Buf::Out, Buf::In),
        };
        match i {
            0 => acts.recv(self.folded_rank(), 0, self.vector(room)),
            _ => acts.reduce(self.vector(own), self.vector(Buf::Out), Side::Right),
        }
    }
}

impl Plan for Folded {
    fn steps(&self) -> u32 {
        match self.is_folded() {
            true => 1,
            false => self.before() + self.others.steps(),
        }
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        match () {
            () if self.is_folded() => 0,
            // Temporary memory for the folded rank's vector holds a block as well.
            () if self.in_place && self.before() > 0 => self.others.count(),
            () => self.others.scratch(inputs),
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if self.is_folded() {
            acts.send(self.root, 0, self.vector(Buf::In));
            return Some(i);
        }
        let Some(after) = i.checked_sub(self.before()) else {
            self.welcome(i, acts);
            return Some(i);
        };
        let partner = self.partner();
        let needs = renamed(&self.others, after, inputs, acts, |act| {
            act.with_peer(|rank| partner.above(rank))
        });
        Some(i - after + needs?)
    }
}
