//! Allgather by neighbour exchange: neighbours exchange first their own blocks, then, with the one
//! on the other side in turn, the two blocks that came last.
//!
//! `p / 2` rounds, half as many as around a ring, and the least volume, for an even `p`. Only
//! neighbours talk. Chen, Zhang, Zhang and Yuan, "Performance evaluation of allgather algorithms on
//! terascale Linux cluster with Fast Ethernet", 2005.

use super::Blackboard;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::plan::{Acts, Known, Part, Plan};
use crate::window::exchange;

/// One rank's part in allgather by neighbour exchange. One step a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighborExchange(Blackboard);

impl NeighborExchange {
    /// The number of ranks is even, or 1.
    pub(crate) const fn of(call: &Call, _: &Parameters) -> Self {
        NeighborExchange(Blackboard::of(call))
    }

    /// The two blocks that come in round `i`; in round 0 one of them is this rank's own.
    ///
    /// Ranks `2 n` and `2 n + 1` are a pair and get the same pairs of blocks, one of them those
    /// above and the other those below, in turn.
    fn pair(&self, known: &Known<'_>, i: u32) -> Part {
        let place = self.0.place;
        let away = 2 * i.div_ceil(2);
        let upwards = place.rank().is_multiple_of(2) == i.is_multiple_of(2);
        let own = Circle::new(place.rank() & !1, place.size());
        let first = if upwards {
            own.above(away)
        } else {
            own.below(away)
        };
        self.0.run(known, first, 2)
    }
}

impl Plan for NeighborExchange {
    fn steps(&self) -> u32 {
        self.0.steps(self.0.place.size() / 2)
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let place = self.0.place;
        if i == 0 {
            if place.size() > 1 {
                let partner = place.rank() ^ 1;
                let incoming = self.0.block(known, partner);
                exchange(acts, 0, (partner, incoming), (partner, self.0.own(known)));
            }
            self.0.take_own(known, acts);
            return Some(0);
        }
        let above = place.rank().is_multiple_of(2) == i.is_multiple_of(2);
        let partner = if above {
            place.above(1)
        } else {
            place.below(1)
        };
        let (incoming, outgoing) = (self.pair(known, i), self.pair(known, i - 1));
        exchange(acts, 0, (partner, incoming), (partner, outgoing));
        Some(i)
    }
}
