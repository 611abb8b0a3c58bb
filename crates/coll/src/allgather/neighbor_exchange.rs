//! Allgather neighbor-exchange: neighbours exchange first their own blocks, then, alternating between the two
//! neighbours, the two blocks received last.
//!
//! `p / 2` rounds, half as many as around a ring, and the minimum volume, for an even `p`. Only
//! neighbours communicate. Chen, Zhang, Zhang and Yuan, "Performance evaluation of allgather algorithms on
//! terascale Linux cluster with Fast Ethernet", 2005.
//!
//! If `p` is odd, the last rank is folded: it gives its block to the last two other ranks, which
//! forward it with theirs, and receives the block of each other rank directly, two in a round.

use super::RankBlocks;
use crate::call::{Call, Parameters};
use crate::eager::exchange;
use crate::plan::{Acts, Part, Plan, PlanInputs};
use crate::rank_ring::RankRing;
use crate::window::Window;

/// Rounds in which the folded rank posts receives before the first blocks have arrived.
const AHEAD: Window = Window::new(4);

/// One rank's plan for allgather by neighbor exchange: one step a round; the folded rank first has a step
/// that sends its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NeighborExchange(RankBlocks);

impl NeighborExchange {
    pub(crate) const fn of(call: &Call, _: &Parameters) -> Self {
        NeighborExchange(RankBlocks::of(call))
    }

    /// The number of ranks that exchange among `size` ranks: an even number.
    const fn members(size: u32) -> u32 {
        size & !1
    }

    /// The rank among those that exchange.
    const fn member(&self) -> RankRing {
        let place = self.0.place;
        RankRing::new(place.rank(), Self::members(place.size()))
    }

    /// The last rank of an odd number of ranks.
    const fn folded_rank(&self) -> Option<u32> {
        let size = self.0.place.size();
        match size > 1 && size % 2 == 1 {
            true => Some(size - 1),
            false => None,
        }
    }

    /// The blocks of the pair that begins with rank `first`, and of the folded rank if it is theirs.
    fn pair(&self, inputs: &PlanInputs<'_>, first: u32) -> Part {
        let is_fold_partner = self.folded_rank() == Some(first + 2);
        self.0
            .run(inputs, first, if is_fold_partner { 3 } else { 2 })
    }

    /// The pair whose blocks arrive in round `i`; in round 0 one of them is this rank's own.
    ///
    /// Ranks `2 n` and `2 n + 1` are a pair and receive the same pairs of blocks, one rank those
    /// above and the other those below, alternating.
    fn incoming(&self, inputs: &PlanInputs<'_>, i: u32) -> Part {
        let member = self.member();
        let away = 2 * i.div_ceil(2);
        let upwards = member.rank().is_multiple_of(2) == i.is_multiple_of(2);
        let own = RankRing::new(member.rank() & !1, member.size());
        let first = if upwards {
            own.above(away)
        } else {
            own.below(away)
        };
        self.pair(inputs, first)
    }

    /// The first round: the exchange within the pair, and for the last pair with the folded rank.
    fn exchange_own(&self, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        let (layout, member) = (&self.0, self.member());
        let partner = member.rank() ^ 1;
        let incoming = layout.block(inputs, partner);
        exchange(acts, 0, (partner, incoming), (partner, layout.own(inputs)));
        let partner = (member.rank() | 1) + 1;
        if let Some(folded) = self.folded_rank().filter(|&folded| folded == partner) {
            self.receive(folded, inputs, acts);
        }
        layout.take_own(inputs, acts);
    }

    fn receive(&self, rank: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        let block = self.0.block(inputs, rank);
        if !block.is_empty() {
            acts.recv(rank, 0, block);
        }
    }

    fn send_own(&self, rank: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        let own = self.0.own(inputs);
        if !own.is_empty() {
            acts.send(rank, 0, own);
        }
    }

    /// A step of the folded rank.
    fn step_of_folded_rank(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> u32 {
        let Some(round) = i.checked_sub(1) else {
            let ranks_on_full_nodes = self.member().size() - 2..self.member().size();
            ranks_on_full_nodes.for_each(|partner| self.send_own(partner, inputs, acts));
            self.0.take_own(inputs, acts);
            return 0;
        };
        for rank in [2 * round, 2 * round + 1] {
            self.receive(rank, inputs, acts);
        }
        AHEAD.needs(i)
    }
}

impl Plan for NeighborExchange {
    fn steps(&self) -> u32 {
        let place = self.0.place;
        let before = u32::from(self.folded_rank() == Some(place.rank()));
        self.0.steps(place.size() / 2 + before)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (place, folded) = (self.0.place, self.folded_rank());
        if place.size() == 1 {
            self.0.take_own(inputs, acts);
            return Some(0);
        }
        if folded == Some(place.rank()) {
            return Some(self.step_of_folded_rank(i, inputs, acts));
        }
        if i == 0 {
            self.exchange_own(inputs, acts);
        } else {
            let member = self.member();
            let above = member.rank().is_multiple_of(2) == i.is_multiple_of(2);
            let partner = if above {
                member.above(1)
            } else {
                member.below(1)
            };
            let outgoing = match i {
                1 => self.pair(inputs, member.rank() & !1),
                _ => self.incoming(inputs, i - 1),
            };
            let incoming = self.incoming(inputs, i);
            exchange(acts, 0, (partner, incoming), (partner, outgoing));
        }
        if let Some(folded) = folded.filter(|_| i == place.rank() / 2) {
            self.send_own(folded, inputs, acts);
        }
        Some(i)
    }
}
