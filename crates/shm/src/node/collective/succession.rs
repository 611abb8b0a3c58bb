//! Which rank leads a call after which: for taking turns at a processor.
//!
//! In a broadcast or scatter everybody waits for one rank, the leader; the others may be a ring of steps behind. Where
//! ranks share processors, what counts is therefore that the next leader runs as soon as it can write. Which one that is, its
//! own calls tell each rank: as with a processor's branches, what came after a rank the last time is likely to come again. So
//! ranks that are not next make way for the one of their processor that is, and that one keeps its place until its turn has
//! come. With eight ranks on two processors and a root that changes from call to call, a call took half as long so. A call of many
//! steps needs all ranks in turns anyway: 1 MiB took 1.15 times as long. Nor is it for two ranks on a processor: with a barrier
//! after each broadcast those took 1.3 times as long, and without one as long as before.

use crate::segment::arena::RANKS;

/// Which rank has led after which one. Ranks are numbers on the node.
#[derive(Debug)]
pub(super) struct Succession {
    /// Who led after each rank the last time; at first itself.
    after: [u8; RANKS as usize],
    /// Who leads now.
    leader: u8,
}

/// Who is likely to lead before a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    /// Those ranks, bit by bit: of all who are likely to lead, if this one is not.
    pub(crate) ranks: u64,
    /// Whether this one is likely to lead at all.
    pub(crate) leads: bool,
}

impl Succession {
    /// Nothing has been learned.
    pub(super) fn new() -> Self {
        Self {
            after: std::array::from_fn(|rank| rank as u8),
            leader: 0,
        }
    }

    /// Now `rank` leads.
    #[inline(always)]
    pub(super) fn lead(&mut self, rank: u32) {
        let rank = (rank % RANKS) as u8;
        self.after[usize::from(self.leader)] = rank;
        self.leader = rank;
    }

    /// Who is likely to lead from the next call on, before `me` does.
    pub(super) fn before(&self, me: u32) -> Before {
        let mut ranks = 0;
        let mut next = self.leader;
        loop {
            next = self.after[usize::from(next)];
            let leads = u32::from(next) == me;
            if leads || ranks >> next & 1 > 0 {
                return Before { ranks, leads };
            }
            ranks |= 1 << next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(ranks: &[u32]) -> u64 {
        ranks.iter().fold(0, |all, rank| all | 1 << rank)
    }

    fn led_by(leaders: impl IntoIterator<Item = u32>) -> Succession {
        let mut succession = Succession::new();
        leaders.into_iter().for_each(|rank| succession.lead(rank));
        succession
    }

    #[test]
    fn what_came_last_comes_again() {
        let always_first = led_by([2, 2]);
        let (ranks, leads) = (bits(&[2]), false);
        assert_eq!(always_first.before(5), Before { ranks, leads });
        assert_eq!(
            always_first.before(2),
            Before {
                ranks: 0,
                leads: true
            }
        );
        let in_turn = led_by((0..100).map(|call| call % 5));
        let leads = true;
        for me in 0..5 {
            let ranks = bits(&(0..me).collect::<std::vec::Vec<_>>());
            assert_eq!(in_turn.before(me), Before { ranks, leads });
        }
        let (ranks, leads) = (bits(&[0, 1, 2, 3, 4]), false);
        assert_eq!(in_turn.before(63), Before { ranks, leads });
    }

    #[test]
    fn a_change_is_learned_at_once() {
        let mut succession = led_by((0..30).map(|call| call % 3));
        (0..2).for_each(|_| succession.lead(7));
        let (ranks, leads) = (bits(&[7]), false);
        assert_eq!(succession.before(0), Before { ranks, leads });
    }
}
