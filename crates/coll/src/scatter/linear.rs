//! Scatter with a message from the root straight to every rank, which is where large blocks travel
//! least. The blocks may have any lengths.
//!
//! `p - 1` rounds. The root has at most a window's worth of sends open, so that it asks no more of
//! its memory and of the network than that.
//!
//! Short blocks, which are sent at once, go to other nodes first where it is told which these are, so that the network
//! carries them while the root sends to the ranks of its own; and to the farthest of these before the others, as who is
//! behind them in a ring waits longest for what they pass on. Long ones go to the ranks of the root's node first: while
//! these copy theirs it asks whether others are ready.
//!
//! Before another collective, in which ranks send to those above them, blocks of any length go to other nodes first, and
//! on each from the farthest rank above the root on. The last rank of a node, which has the next one above it, then begins
//! first, so that the adapter does; and what ranks send that begin one after another comes to those above them one after
//! another, not together.

use crate::blocks::Blocks;
use crate::call::{Call, Parameters};
use crate::eager::{EagerLimit, copy};
use crate::phase::Phase;
use crate::placement::{Order, Placement};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};
use crate::rank_ring::RankRing;
use crate::window::Window;

/// One rank's part in a linear scatter. The root has one step for each other rank, and one that copies its own block;
/// another rank receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    place: RankRing,
    root: u32,
    /// Elements of this rank's own block.
    own: u64,
    blocks: Blocks,
    window: Window,
    in_place: bool,
    /// How many ranks come last, who are the nearest above the root and below it.
    near: [u32; 2],
    /// Whether these, too, come from the farthest above on.
    downwards: bool,
}

impl Linear {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let is_short = call.count <= EagerLimit::of(call).elements();
        let near = match is_short {
            true => near(call, parameters),
            false => [call.size - 1, 0],
        };
        Linear {
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

    /// The same before another collective, in which messages leave the node.
    pub(crate) fn before_more(call: &Call, parameters: &Parameters) -> Self {
        Linear {
            near: near(call, parameters),
            downwards: true,
            ..Linear::of(call, parameters)
        }
    }

    /// How far above the root the rank is that gets its block in a step.
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

/// How many ranks of the root's node are above it and below it; all, where it is not told which these are.
fn near(call: &Call, parameters: &Parameters) -> [u32; 2] {
    if parameters.per_node == 0 || parameters.order != Order::Block {
        return [call.size - 1, 0];
    }
    let place = Placement::new(Order::Block, call.size, parameters.per_node);
    let below = place.local(call.root);
    let above = place.per_node().min(call.size - (call.root - below)) - 1 - below;
    [above, below]
}

impl Plan for Linear {
    fn steps(&self) -> u32 {
        match () {
            () if self.is_root() && self.blocks.are_empty() => 0,
            () if self.is_root() => self.place.size() - 1 + u32::from(!self.in_place),
            () => u32::from(self.own > 0),
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        0
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

impl Phase for Linear {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        // Else no message leaves the node, or it is not known which ones do.
        match (1..call.size).contains(&parameters.per_node) {
            true => Linear::before_more(call, parameters),
            false => Linear::of(call, parameters),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Linear;
    use crate::call::{Call, Parameters};

    #[test]
    fn short_blocks_go_to_other_nodes_first() {
        let parameters = Parameters {
            per_node: 4,
            window: 8,
            ..Parameters::NONE
        };
        let call = |root, block| Call::scatter(root, 10, root, block);
        let ranks = |plan: Linear| {
            let ranks = (0..9).map(|i| plan.place.above(plan.distance(i)));
            ranks.collect::<heapless::Vec<_, 9>>()
        };
        let alone = |root, block| ranks(Linear::of(&call(root, block), &parameters));
        assert_eq!(alone(0, 8), [9, 8, 7, 6, 5, 4, 1, 2, 3]);
        assert_eq!(alone(5, 8), [3, 2, 1, 0, 9, 8, 6, 7, 4]);
        assert_eq!(alone(9, 8), [7, 6, 5, 4, 3, 2, 1, 0, 8]);
        assert_eq!(alone(5, 1 << 20), [6, 7, 8, 9, 0, 1, 2, 3, 4]);
        for block in [8, 1 << 20] {
            let before = |root| ranks(Linear::before_more(&call(root, block), &parameters));
            assert_eq!(before(0), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
            assert_eq!(before(5), [3, 2, 1, 0, 9, 8, 7, 6, 4]);
            assert_eq!(before(7), [3, 2, 1, 0, 9, 8, 6, 5, 4]);
            assert_eq!(before(9), [7, 6, 5, 4, 3, 2, 1, 0, 8]);
        }
    }
}
