//! Alltoall and alltoallv, linear: a message from every rank directly to every other rank.
//!
//! `p - 1` rounds, one more in place, and the minimum volume. A window of exchanges is under way at a time,
//! and all ranks go through the distances in one order, so that not all send to the same rank: from the next
//! rank up; or, not in place and on more than two unequal nodes, in long strides, so that exchanges inside
//! the node are spread out and the adapter is never idle.

use super::replace::Replace;
use crate::blocks::Blocks;
use crate::call::{Call, Parameters};
use crate::placement::{Order, Placement};
use crate::plan::any_plan;
use crate::rank_ring::RankRing;
use crate::symmetric::{AtRank, RelativeActs, RelativeView, SymmetricPlan};
use crate::window::Window;

/// One rank's plan for a linear alltoall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlltoallLinear {
    /// Directly from input to output.
    Apart(AtRank<PairExchanges>),
    /// In place.
    InPlace(Replace),
}

/// What every rank does: one step for each distance, the last for the rank itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PairExchanges {
    blocks: Blocks,
    window: Window,
    /// The difference of consecutive distances, around the ring.
    stride: u32,
}

impl AlltoallLinear {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let (place, blocks) = (RankRing::of(call), Blocks::of(call));
        let window = Window::new(parameters.window);
        match call.in_place {
            true => AlltoallLinear::InPlace(Replace::new(place, blocks, window.get())),
            false => AlltoallLinear::Apart(AtRank::new(
                place,
                PairExchanges {
                    blocks,
                    window,
                    stride: stride(call, parameters),
                },
            )),
        }
    }
}

/// A stride that reaches every distance once: 1, or about the golden section of the ring, so that exchanges
/// inside the node are spread out.
///
/// On equal nodes and in cyclic placement ranks stay in step, and the adapters are never idle. With several
/// ranks per node except on the last, long strides save 3 to 20 % of long exchanges; on two nodes, and with
/// few ranks on each, they may cost as much (simulated).
fn stride(call: &Call, parameters: &Parameters) -> u32 {
    const FEW: u32 = 4;
    let place = Placement::new(parameters.order, call.size, parameters.per_node);
    let is_uneven = place.order() == Order::Block && !place.is_uniform();
    match is_uneven && place.per_node() > FEW && place.nodes() > 2 {
        true => {
            let golden = (u64::from(call.size) * 610 / 987) as u32;
            // `size - 1` is coprime.
            let coprime = (golden..call.size).find(|&stride| are_coprime(stride, call.size));
            coprime.unwrap_or(1)
        }
        false => 1,
    }
}

const fn are_coprime(mut one: u32, mut other: u32) -> bool {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one == 1
}

impl SymmetricPlan for PairExchanges {
    fn steps(&self, size: u32) -> u32 {
        if self.blocks.are_empty() { 0 } else { size }
    }

    fn scratch(&self, _: &RelativeView<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) -> u32 {
        let turned = (u64::from(i) + 1) * u64::from(self.stride) % u64::from(around.size());
        let distance = match turned as u32 {
            0 => around.size(),
            distance => distance,
        };
        let incoming = around.output(self.blocks, around.back(distance));
        let outgoing = around.input(self.blocks, distance);
        if distance == around.size() {
            acts.copy(outgoing, incoming);
            return 0;
        }
        acts.exchange(distance, 0, incoming, outgoing);
        self.window.needs(i)
    }
}

any_plan!(AlltoallLinear: Apart, InPlace);
