//! Broadcast in blocks over the circulant graph: `n - 1 + ceil(log2 p)` rounds for `n` blocks, the
//! least there is, for every number of ranks.
//!
//! Each rank gets every block once, and sends at most one block a round. With a cost of `a` for a
//! message and `b` for an element, `n = sqrt((ceil(log2 p) - 1) count b / a)` blocks are best. See
//! [`circulant`](crate::circulant) for the schedules.

use crate::call::{Call, Parameters};
use crate::circulant::{Hop, Pipeline};
use crate::phase::Shorten;
use crate::phase::phase;
use crate::plan::{Acts, Buf, Plan, PlanInputs, TAGS};

/// One rank's plan for a broadcast over the circulant graph. One step a round.
///
/// It holds its [`Schedule`](crate::circulant::Schedule), and so is larger than other plans: about
/// 100 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BcastCirculant {
    pipeline: Pipeline,
}

impl BcastCirculant {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        BcastCirculant {
            pipeline: Pipeline::of(call, parameters),
        }
    }
}

impl Shorten for BcastCirculant {
    fn shortened(&self, count: u64) -> Self {
        BcastCirculant {
            pipeline: self.pipeline.shortened(count),
        }
    }
}

impl Plan for BcastCirculant {
    fn steps(&self) -> u32 {
        self.pipeline.rounds()
    }

    fn step(&self, round: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let tag = round % TAGS;
        let part = |buf, hop: Hop| (hop.peer, self.pipeline.part(buf, hop.block));
        let recv = self.pipeline.received(round).map(|hop| part(Buf::Out, hop));
        let home = if self.pipeline.is_root() {
            Buf::In
        } else {
            Buf::Out
        };
        let send = self.pipeline.sent(round).map(|hop| part(home, hop));
        self.pipeline.exchange(acts, tag, recv, send);
        Some(round)
    }
}

phase!(BcastCirculant);
