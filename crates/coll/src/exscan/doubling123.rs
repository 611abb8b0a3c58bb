//! Exscan by doubling over the distances 1, 2, 3, 6, 12 and so on: `ceil(log2(p - 1) + log2(4/3))`
//! rounds of the whole vector, often one less than a shift and a scan take.
//!
//! Round 0 brings the contribution of the rank below. In round 1 a rank sends that reduced with its
//! own to the rank 2 above, so that each then has the reduction over the three ranks below itself.
//! From then on it sends what it has over that distance, which doubles. What arrives always stands
//! on the left: operations need not commute. Traeff, "Optimal and near-optimal algorithms for the
//! exclusive prefix sums", arXiv 2507.04785, 2025.

use crate::call::{Call, Parameters};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs, Side};

/// The steps of the first two rounds: exchange, reduce with the own contribution, exchange, merge,
/// and, in place, bring the result to `Out`. Each later round takes two.
const FIRST_STEPS: u32 = 5;

/// One rank's plan for exscan by 123-doubling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Doubling123 {
    rank: u32,
    size: u32,
    count: u64,
    in_place: bool,
}

/// The distance of a round.
pub(crate) const fn distance(round: u32) -> u64 {
    match round {
        0 => 1,
        1 => 2,
        _ => 3 << (round - 2),
    }
}

impl Doubling123 {
    /// The number of rounds that `size` ranks take: the ranks below the highest are all reached.
    pub(crate) fn rounds(size: u32) -> u32 {
        let below = u64::from(size - 1);
        (0..)
            .find(|&rounds| match rounds {
                0 => below == 0,
                1 => below == 1,
                _ => distance(rounds) >= below,
            })
            .expect("distances grow without bound")
    }

    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        Doubling123 {
            rank: call.rank,
            size: call.size,
            count: call.count,
            in_place: call.in_place,
        }
    }

    /// Room number `n` in scratch.
    const fn scratch_at(&self, n: u64) -> Part {
        Part::new(Buf::Scratch, n * self.count, self.count)
    }

    const fn output(&self) -> Part {
        Part::new(Buf::Out, 0, self.count)
    }

    /// This rank's contribution.
    const fn input(&self) -> Part {
        let buf = if self.in_place { Buf::Out } else { Buf::In };
        Part::new(buf, 0, self.count)
    }

    /// What came in round 0: in place the contribution is still in `Out`.
    const fn first(&self) -> Part {
        if self.in_place {
            self.scratch_at(0)
        } else {
            self.output()
        }
    }

    /// What is sent in round 1: the contributions of the rank below and of this one, reduced. Rank
    /// 0 has only its own.
    const fn pair(&self) -> Part {
        if self.in_place || self.rank == 0 {
            self.input()
        } else {
            self.scratch_at(0)
        }
    }

    /// Where the messages of all rounds but the first come.
    const fn room(&self) -> Part {
        self.scratch_at(1)
    }

    /// The peers of a round: below, and above. From round 2 on rank 0 has nothing to send.
    fn peers(&self, round: u32) -> [Option<u32>; 2] {
        let empty = round >= 2;
        let distance = distance(round);
        let below = u64::from(self.rank).checked_sub(distance);
        let above = u64::from(self.rank) + distance;
        [
            below.filter(|&below| below > 0 || !empty),
            (above < u64::from(self.size) && (self.rank > 0 || !empty)).then_some(above),
        ]
        .map(|peer| peer.map(|peer| peer as u32))
    }

    fn exchange(&self, round: u32, from: Part, into: Part, acts: &mut Acts) {
        let [below, above] = self.peers(round);
        if let Some(below) = below {
            acts.recv(below, round, into);
        }
        if let Some(above) = above {
            acts.send(above, round, from);
        }
    }

    fn merge(&self, round: u32, into: Part, acts: &mut Acts) {
        if let [Some(_), _] = self.peers(round) {
            acts.reduce(self.room(), into, Side::Left);
        }
    }

    /// Whether this rank reduces its own contribution with the one below, for round 1.
    fn makes_pair(&self) -> bool {
        self.rank > 0 && self.peers(1)[1].is_some()
    }
}

impl Plan for Doubling123 {
    fn steps(&self) -> u32 {
        match Self::rounds(self.size) {
            _ if self.count == 0 => 0,
            0 => 0,
            rounds => FIRST_STEPS + 2 * rounds.saturating_sub(2),
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        2 * self.count
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        match i {
            0 => {
                self.exchange(0, self.input(), self.first(), acts);
                if self.makes_pair() && !self.in_place {
                    acts.copy(self.input(), self.pair());
                }
            }
            1 if self.makes_pair() => acts.reduce(self.first(), self.pair(), Side::Left),
            2 => self.exchange(1, self.pair(), self.room(), acts),
            3 => self.merge(1, self.first(), acts),
            4 if self.in_place && self.rank > 0 => acts.copy(self.first(), self.output()),
            1 | 4 => {}
            _ => {
                let round = 2 + (i - FIRST_STEPS) / 2;
                if (i - FIRST_STEPS).is_multiple_of(2) {
                    self.exchange(round, self.output(), self.room(), acts);
                } else {
                    self.merge(round, self.output(), acts);
                }
            }
        }
        Some(i)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::Doubling123;

    #[test]
    fn the_paper_s_number_of_rounds() {
        for size in 2..=100_000_u32 {
            let bound = (f64::from(size - 1) * 4.0 / 3.0).log2().ceil();
            assert_eq!(f64::from(Doubling123::rounds(size)), bound, "{size} ranks");
        }
        assert_eq!(
            [1, 2, 3, 4, 5, 7, 8].map(Doubling123::rounds),
            [0, 1, 2, 2, 3, 3, 4]
        );
        assert_eq!(Doubling123::rounds(u32::MAX), 33);
    }
}
