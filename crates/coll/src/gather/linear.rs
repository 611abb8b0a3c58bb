//! Gather with a message from every rank straight to the root, which is where large blocks travel
//! least. The blocks may have any lengths.
//!
//! `p - 1` rounds. The root sets the pace: it has at most a window's worth of receives open, and of
//! the ranks beyond the first window each waits for a signal, which it gets when its turn comes. So
//! however many ranks there are, no more messages than that reach the root unasked.

use crate::blocks::Blocks;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::plan::{Acts, Buf, Known, Part, Plan};
use crate::window::{Window, copy};

const DATA: u32 = 0;
const SIGNAL: u32 = 1;

/// One rank's part in a linear gather. The root has one step for each other rank, in the order of
/// their distance above it, and one that copies its own block; another rank waits for its signal,
/// if it is to, and sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    place: Circle,
    root: u32,
    /// Elements of this rank's own block.
    own: u64,
    blocks: Blocks,
    /// How far this rank lies above the root.
    distance: u32,
    window: Window,
    in_place: bool,
}

impl Linear {
    pub(crate) const fn of(call: &Call, parameters: &Parameters) -> Self {
        Linear {
            place: Circle::of(call),
            root: call.root,
            own: call.count,
            blocks: Blocks::of(call),
            distance: call.from_root(),
            window: Window::new(parameters.window),
            in_place: call.in_place,
        }
    }

    const fn is_root(&self) -> bool {
        self.distance == 0
    }

    /// Whether a rank so far above the root waits for a signal.
    const fn waits(&self, distance: u32) -> bool {
        distance > self.window.get()
    }
}

impl Plan for Linear {
    fn steps(&self) -> u32 {
        match () {
            () if self.is_root() && self.blocks.are_empty() => 0,
            () if self.is_root() => self.place.size() - 1 + u32::from(!self.in_place),
            () if self.own == 0 => 0,
            () => 1 + u32::from(self.waits(self.distance)),
        }
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let input = Part::new(Buf::In, 0, self.own);
        if !self.is_root() {
            if i + 1 < self.steps() {
                acts.recv(self.root, SIGNAL, Part::EMPTY);
            } else {
                acts.send(self.root, DATA, input);
            }
            return Some(i);
        }
        let distance = i + 1;
        if distance == self.place.size() {
            copy(acts, input, self.blocks.output(known, self.root));
            return Some(0);
        }
        let peer = self.place.above(distance);
        let block = self.blocks.output(known, peer);
        if !block.is_empty() {
            acts.recv(peer, DATA, block);
            if self.waits(distance) {
                acts.send(peer, SIGNAL, Part::EMPTY);
            }
        }
        Some(self.window.needs(i))
    }
}
