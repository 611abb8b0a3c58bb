//! Scatter and scatterv, linear: the root sends each rank its block directly, so that blocks travel once.
//!
//! `p - 1` rounds. The root has at most a window of sends open, which bounds its demand for memory and
//! network.
//!
//! Eager blocks go to other nodes first where the placement is known, so that the network carries them while
//! the root sends to the ranks of its node; the farthest of these come first, because the ranks behind them
//! in a ring wait longest for forwarded blocks. Long blocks go to the ranks of the root's node first: while
//! these copy, the root asks whether other ranks are ready.
//!
//! Before another collective in which ranks send upwards, blocks of any length go to other nodes first, and
//! on each node from the farthest rank above the root on. So the last rank of a node, whose upper neighbour
//! is on the next node, begins first, its adapter starts early, and ranks that begin one after another reach
//! their upper neighbours one after another.

use crate::blocks::Blocks;
use crate::call::{Call, Parameters};
use crate::eager::{EagerLimit, copy};
use crate::phase::Phase;
use crate::placement::{Order, Placement};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};
use crate::rank_ring::RankRing;
use crate::window::Window;

/// One rank's plan for a linear scatter. The root has one step for each other rank, and one that copies its
/// own block; another rank receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScatterLinear {
    place: RankRing,
    root: u32,
    /// Elements of this rank's own block.
    own: u64,
    blocks: Blocks,
    window: Window,
    in_place: bool,
    /// How many ranks come last: the nearest above the root and the nearest below it.
    near: [u32; 2],
    /// Whether these ranks, too, are served from the farthest above on.
    downwards: bool,
}

impl ScatterLinear {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let is_short = call.count <= EagerLimit::of(call).elements();
        let near = match is_short {
            true => near(call, parameters),
            false => [call.size - 1, 0],
        };
        ScatterLinear {
            place: RankRing::of(call),
            root: call.root,
            own: call.count,
            blocks: Blocks::of(call),
            window: Window::new(parameters.window),
            in_place: call.in_place,
            near,
            downwards: false,
        }
    }

    /// The plan before another collective in which messages leave the node.
    pub(crate) fn before_more(call: &Call, parameters: &Parameters) -> Self {
        ScatterLinear {
            near: near(call, parameters),
            downwards: true,
            ..ScatterLinear::of(call, parameters)
        }
    }

    /// The distance above the root of the rank that a step serves.
    const fn distance(&self, i: u32) -> u32 {
        let (others, [above, below]) = (self.place.size() - 1, self.near);
        let far = others - above - below;
        match (i.checked_sub(far), self.downwards) {
            (None, _) => others - below - i,
            (Some(near), true) if near < above => above - near,
            (Some(near), false) if near < above => near + 1,
            (Some(near), true) => others + above - near,
            (Some(near), false) => far + near + 1,
        }
    }

    const fn is_root(&self) -> bool {
        self.place.rank() == self.root
    }
}

/// How many ranks of the root's node are above it and below it; all ranks where the placement is unknown.
fn near(call: &Call, parameters: &Parameters) -> [u32; 2] {
    if parameters.per_node == 0 || parameters.order != Order::Block {
        return [call.size - 1, 0];
    }
    let place = Placement::new(Order::Block, call.size, parameters.per_node);
    let below = place.local(call.root);
    let above = place.per_node().min(call.size - (call.root - below)) - 1 - below;
    [above, below]
}

impl Plan for ScatterLinear {
    fn steps(&self) -> u32 {
        match () {
            () if self.is_root() && self.blocks.are_empty() => 0,
            () if self.is_root() => self.place.size() - 1 + u32::from(!self.in_place),
            () => u32::from(self.own > 0),
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let output = Part::new(Buf::Out, 0, self.own);
        match i + 1 {
            _ if !self.is_root() => acts.recv(self.root, 0, output),
            sent if sent < self.place.size() => {
                let peer = self.place.above(self.distance(i));
                let block = self.blocks.input(inputs, peer);
                if !block.is_empty() {
                    acts.send(peer, 0, block);
                }
            }
            _ => {
                copy(acts, self.blocks.input(inputs, self.root), output);
                return Some(0);
            }
        }
        Some(self.window.needs(i))
    }
}

impl Phase for ScatterLinear {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        // Otherwise no message leaves the node, or the placement is unknown.
        match (1..call.size).contains(&parameters.per_node) {
            true => ScatterLinear::before_more(call, parameters),
            false => ScatterLinear::of(call, parameters),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ScatterLinear;
    use crate::call::{Call, Parameters};

    #[test]
    fn short_blocks_go_to_other_nodes_first() {
        let parameters = Parameters::NONE.with_per_node(4).with_window(8);
        let call = |root, block| Call::scatter(root, 10, root, block);
        let ranks = |plan: ScatterLinear| {
            let ranks = (0..9).map(|i| plan.place.above(plan.distance(i)));
            ranks.collect::<heapless::Vec<_, 9>>()
        };
        let alone = |root, block| ranks(ScatterLinear::of(&call(root, block), &parameters));
        assert_eq!(alone(0, 8), [9, 8, 7, 6, 5, 4, 1, 2, 3]);
        assert_eq!(alone(5, 8), [3, 2, 1, 0, 9, 8, 6, 7, 4]);
        assert_eq!(alone(9, 8), [7, 6, 5, 4, 3, 2, 1, 0, 8]);
        assert_eq!(alone(5, 1 << 20), [6, 7, 8, 9, 0, 1, 2, 3, 4]);
        for block in [8, 1 << 20] {
            let before = |root| ranks(ScatterLinear::before_more(&call(root, block), &parameters));
            assert_eq!(before(0), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
            assert_eq!(before(5), [3, 2, 1, 0, 9, 8, 7, 6, 4]);
            assert_eq!(before(7), [3, 2, 1, 0, 9, 8, 6, 5, 4]);
            assert_eq!(before(9), [7, 6, 5, 4, 3, 2, 1, 0, 8]);
        }
    }
}
