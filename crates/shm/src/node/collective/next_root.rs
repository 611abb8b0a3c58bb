//! Prediction of the root of the next broadcast or scatter: [`RootPredictor`].
//!
//! In these calls every rank waits for the root alone, and may be a ring of steps behind. Where ranks share processors,
//! the next root must therefore run as soon as it can write. As a branch predictor does, each rank assumes that the root
//! that followed another root the last time follows it again. Ranks that are not next yield to the predicted root on
//! their processor, which keeps the processor until its call has come.
//!
//! Eight ranks on two processors, root changing from call to call: half the time a call. Not used for calls of many steps,
//! which need every rank at every step (1 MiB: 1.15 times the time), nor for two ranks on a processor (1.3 times the time with
//! a barrier after each broadcast).

use crate::segment::arena::RANKS;

/// Which root followed which root the last time. Ranks are numbers on the node.
#[derive(Debug)]
pub(super) struct RootPredictor {
    /// By rank: the root of the call after that rank was root; at first the rank itself.
    successor: [u8; RANKS as usize],
    /// The root of the present call.
    root: u8,
}

/// The ranks that are likely to be root before a given rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PredictedRoots {
    /// These ranks, a bit each; all predicted roots if the given rank is not among them.
    pub(crate) ranks: u64,
    /// Whether the given rank is a predicted root.
    pub(crate) includes_me: bool,
}

impl RootPredictor {
    /// A predictor that has seen no call.
    pub(super) fn new() -> Self {
        Self {
            successor: std::array::from_fn(|rank| rank as u8),
            root: 0,
        }
    }

    /// Records that `rank` is the root of the call that begins.
    #[inline(always)]
    pub(super) fn record(&mut self, rank: u32) {
        let rank = (rank % RANKS) as u8;
        self.successor[usize::from(self.root)] = rank;
        self.root = rank;
    }

    /// The likely roots of the next calls, up to the call in which `me` is root.
    pub(super) fn predict(&self, me: u32) -> PredictedRoots {
        let mut ranks = 0;
        let mut next = self.root;
        loop {
            next = self.successor[usize::from(next)];
            let includes_me = u32::from(next) == me;
            if includes_me || ranks >> next & 1 > 0 {
                return PredictedRoots { ranks, includes_me };
            }
            ranks |= 1 << next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicted(ranks: &[u32], includes_me: bool) -> PredictedRoots {
        let ranks = ranks.iter().fold(0, |all, rank| all | 1 << rank);
        PredictedRoots { ranks, includes_me }
    }

    fn after_roots(roots: impl IntoIterator<Item = u32>) -> RootPredictor {
        let mut predictor = RootPredictor::new();
        roots.into_iter().for_each(|rank| predictor.record(rank));
        predictor
    }

    #[test]
    fn the_last_successor_is_predicted() {
        let always_two = after_roots([2, 2]);
        assert_eq!(always_two.predict(5), predicted(&[2], false));
        assert_eq!(always_two.predict(2), predicted(&[], true));
        let round_robin = after_roots((0..100).map(|call| call % 5));
        for me in 0..5 {
            let before: std::vec::Vec<_> = (0..me).collect();
            assert_eq!(round_robin.predict(me), predicted(&before, true));
        }
        assert_eq!(round_robin.predict(63), predicted(&[0, 1, 2, 3, 4], false));
    }

    #[test]
    fn a_change_is_learned_at_once() {
        let mut predictor = after_roots((0..30).map(|call| call % 3));
        (0..2).for_each(|_| predictor.record(7));
        assert_eq!(predictor.predict(0), predicted(&[7], false));
    }
}
