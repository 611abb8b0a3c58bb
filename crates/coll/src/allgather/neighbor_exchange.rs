//! Allgather by neighbour exchange: neighbours exchange first their own blocks, then, with the one
//! on the other side in turn, the two blocks that came last.
//!
//! `p / 2` rounds, half as many as around a ring, and the least volume, for an even `p`. Only
//! neighbours talk. Chen, Zhang, Zhang and Yuan, "Performance evaluation of allgather algorithms on
//! terascale Linux cluster with Fast Ethernet", 2005.
//!
//! Where `p` is odd the last rank is a guest: it gives its block to the last two of the others, who
//! hand it on with theirs, and gets that of each other rank straight, two in a round.

use super::Blackboard;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::plan::{Acts, Known, Part, Plan};
use crate::window::{Window, exchange};

/// Rounds in which a guest asks for blocks before the first of them have come.
const AHEAD: Window = Window::new(4);

/// One rank's part in allgather by neighbour exchange. One step a round; a guest has one before, in which
/// it gives its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighborExchange(Blackboard);

impl NeighborExchange {
    pub(crate) const fn of(call: &Call, _: &Parameters) -> Self {
        NeighborExchange(Blackboard::of(call))
    }

    /// How many of so many ranks exchange: an even number.
    pub(crate) const fn members(size: u32) -> u32 {
        size & !1
    }

    /// The rank among those that exchange.
    const fn member(&self) -> Circle {
        let place = self.0.place;
        Circle::new(place.rank(), Self::members(place.size()))
    }

    /// The last rank of an odd number of them.
    const fn guest(&self) -> Option<u32> {
        let size = self.0.place.size();
        match size > 1 && size % 2 == 1 {
            true => Some(size - 1),
            false => None,
        }
    }

    /// The blocks of the pair that begins with the rank, and of its guest.
    fn pair(&self, known: &Known<'_>, first: u32) -> Part {
        let is_host = self.guest() == Some(first + 2);
        self.0.run(known, first, if is_host { 3 } else { 2 })
    }

    /// The pair whose blocks come in round `i`; in round 0 one of them is this rank's own.
    ///
    /// Ranks `2 n` and `2 n + 1` are a pair and get the same pairs of blocks, one of them those
    /// above and the other those below, in turn.
    fn incoming(&self, known: &Known<'_>, i: u32) -> Part {
        let member = self.member();
        let away = 2 * i.div_ceil(2);
        let upwards = member.rank().is_multiple_of(2) == i.is_multiple_of(2);
        let own = Circle::new(member.rank() & !1, member.size());
        let first = if upwards {
            own.above(away)
        } else {
            own.below(away)
        };
        self.pair(known, first)
    }

    /// The first round: with the other one of the pair, and for the last pair with the guest.
    fn meet(&self, known: &Known<'_>, acts: &mut Acts) {
        let (board, member) = (&self.0, self.member());
        let partner = member.rank() ^ 1;
        let incoming = board.block(known, partner);
        exchange(acts, 0, (partner, incoming), (partner, board.own(known)));
        let host = (member.rank() | 1) + 1;
        if let Some(guest) = self.guest().filter(|&guest| guest == host) {
            self.receive(guest, known, acts);
        }
        board.take_own(known, acts);
    }

    fn receive(&self, rank: u32, known: &Known<'_>, acts: &mut Acts) {
        let block = self.0.block(known, rank);
        if !block.is_empty() {
            acts.recv(rank, 0, block);
        }
    }

    fn give_own(&self, rank: u32, known: &Known<'_>, acts: &mut Acts) {
        let own = self.0.own(known);
        if !own.is_empty() {
            acts.send(rank, 0, own);
        }
    }

    /// A step of the guest.
    fn step_of_guest(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> u32 {
        let Some(round) = i.checked_sub(1) else {
            let hosts = self.member().size() - 2..self.member().size();
            hosts.for_each(|host| self.give_own(host, known, acts));
            self.0.take_own(known, acts);
            return 0;
        };
        for rank in [2 * round, 2 * round + 1] {
            self.receive(rank, known, acts);
        }
        AHEAD.needs(i)
    }
}

impl Plan for NeighborExchange {
    fn steps(&self) -> u32 {
        let place = self.0.place;
        let before = u32::from(self.guest() == Some(place.rank()));
        self.0.steps(place.size() / 2 + before)
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let (place, guest) = (self.0.place, self.guest());
        if place.size() == 1 {
            self.0.take_own(known, acts);
            return Some(0);
        }
        if guest == Some(place.rank()) {
            return Some(self.step_of_guest(i, known, acts));
        }
        if i == 0 {
            self.meet(known, acts);
        } else {
            let member = self.member();
            let above = member.rank().is_multiple_of(2) == i.is_multiple_of(2);
            let partner = if above {
                member.above(1)
            } else {
                member.below(1)
            };
            let outgoing = match i {
                1 => self.pair(known, member.rank() & !1),
                _ => self.incoming(known, i - 1),
            };
            let incoming = self.incoming(known, i);
            exchange(acts, 0, (partner, incoming), (partner, outgoing));
        }
        if let Some(guest) = guest.filter(|_| i == place.rank() / 2) {
            self.give_own(guest, known, acts);
        }
        Some(i)
    }
}
