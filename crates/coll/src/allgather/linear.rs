//! Allgather and allgatherv, linear: a message from every rank directly to every other rank.
//!
//! `p - 1` rounds and the minimum volume, as around a ring, but no message depends on another:
//! a window of exchanges is under way at a time. Each rank starts with the rank above it, so
//! that not all send to the same one.

use super::BlockLayout;
use crate::call::{Call, Parameters};
use crate::phase::Phase;
use crate::rank_ring::RankRing;
use crate::symmetric::{AtRank, RelativeActs, RelativeView, SymmetricPlan};
use crate::window::Window;

/// One rank's plan for a linear allgather. One step for each distance.
pub(crate) type AllgatherLinear = AtRank<BlockExchanges>;

/// What every rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockExchanges {
    layout: BlockLayout,
    window: Window,
}

impl AllgatherLinear {
    pub(crate) const fn of(call: &Call, parameters: &Parameters) -> Self {
        let exchanges = BlockExchanges {
            layout: BlockLayout::of(call),
            window: Window::new(parameters.window),
        };
        AtRank::new(RankRing::of(call), exchanges)
    }

    /// Exchanges under way at a time.
    pub(crate) const fn window(&self) -> u32 {
        self.symmetric().window.get()
    }
}

impl SymmetricPlan for BlockExchanges {
    fn steps(&self, size: u32) -> u32 {
        self.layout.steps(size, size - 1)
    }

    fn scratch(&self, _: &RelativeView<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) -> u32 {
        if around.size() > 1 {
            let distance = i + 1;
            let incoming = self.layout.block(around, around.back(distance));
            acts.exchange(distance, 0, incoming, self.layout.own(around));
        }
        if i == 0 {
            self.layout.take_own(around, acts);
        }
        self.window.needs(i)
    }
}

impl Phase for AllgatherLinear {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        AllgatherLinear::of(call, parameters)
    }

    fn free(&self) -> u32 {
        self.window()
    }
}
