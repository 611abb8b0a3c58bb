//! Recursive halving: partners exchange halves of what they have and reduce, until each has one
//! piece of the vector, reduced over all places.
//!
//! In round `k` the partner is the place `2^k` away. The place whose bit `k` is 0 keeps the lower
//! half. So after round `k` a place has the result of `2^(k+1)` consecutive places.

use crate::eager::EagerLimit;
use crate::fold::Fold;
use crate::partition::{longest, piece};
use crate::plan::{Acts, Buf, Part, Side};

/// One leader's part in recursive halving. The number of places is a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halving {
    pub(crate) fold: Fold,
    /// The logarithm of the number of places.
    pub(crate) rounds: u32,
    pub(crate) count: u64,
    /// Where sums are kept, `Out` or scratch. In scratch the room comes after them.
    pub(crate) sums: Buf,
    /// Whether the contribution is still in `In` at the start.
    pub(crate) fresh: bool,
    pub(crate) short: EagerLimit,
}

impl Halving {
    /// The elements of scratch for what is received.
    pub(crate) fn room(&self) -> u64 {
        match self.rounds - u32::from(self.fresh).min(self.rounds) {
            0 => 0,
            _ if self.fresh => longest(longest(self.count, 2), 2),
            _ => longest(self.count, 2),
        }
    }

    /// The partner of a round, as a place.
    pub(crate) fn partner(&self, round: u32) -> u32 {
        self.fold.place() ^ (1 << round)
    }

    /// What a place keeps after so many rounds: the first element and the number of elements.
    pub(crate) fn kept(&self, place: u32, rounds: u32) -> (u64, u64) {
        (0..rounds).fold((0, self.count), |(first, count), round| {
            piece(first, count, 2, place >> round & 1)
        })
    }

    /// What a place keeps after so many rounds, in a buffer that holds the whole vector.
    pub(crate) fn part(&self, buf: Buf, place: u32, rounds: u32) -> Part {
        let (first, count) = self.kept(place, rounds);
        Part::new(buf, first, count)
    }

    /// Step `i`, two for each round: exchange, and merge what came.
    pub(crate) fn step(&self, i: u32, acts: &mut Acts) {
        let round = i / 2;
        let (place, partner) = (self.fold.place(), self.partner(round));
        let fresh = self.fresh && round == 0;
        let own = self.part(self.sums, place, round + 1);
        let room = match self.sums {
            _ if fresh => own,
            Buf::Scratch => Part::new(Buf::Scratch, self.count, own.count),
            _ => Part::new(Buf::Scratch, 0, own.count),
        };
        if i.is_multiple_of(2) {
            let source = if fresh { Buf::In } else { self.sums };
            let given = self.part(source, partner, round + 1);
            let partner = self.fold.leader(partner);
            self.short
                .exchange(acts, round, (partner, room), (partner, given));
        } else if !own.is_empty() {
            let from = if fresh {
                Part {
                    buf: Buf::In,
                    ..own
                }
            } else {
                room
            };
            // What stands on the left is the operand or, fresh, what it is reduced into.
            let side = if (partner < place) != fresh {
                Side::Left
            } else {
                Side::Right
            };
            acts.reduce(from, own, side);
        }
    }

    /// The reverse of a round, all rounds above it being reversed: partners exchange what they have.
    pub(crate) fn regain(&self, round: u32, acts: &mut Acts) {
        let partner = self.partner(round);
        let missing = self.part(self.sums, partner, round + 1);
        let own = self.part(self.sums, self.fold.place(), round + 1);
        let tag = self.rounds + round;
        let partner = self.fold.leader(partner);
        self.short
            .exchange(acts, tag, (partner, missing), (partner, own));
    }
}
