//! Scatter with a message from the root straight to every rank, which is where large blocks travel
//! least. The blocks may have any lengths.
//!
//! `p - 1` rounds. The root has at most a window's worth of sends open, so that it asks no more of
//! its memory and of the network than that.

use crate::blocks::Blocks;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::plan::{Acts, Buf, Known, Part, Plan};
use crate::window::{Window, copy};

/// One rank's part in a linear scatter. The root has one step for each other rank, in the order of
/// their distance above it, and one that copies its own block; another rank receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    place: Circle,
    root: u32,
    /// Elements of this rank's own block.
    own: u64,
    blocks: Blocks,
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
            window: Window::new(parameters.window),
            in_place: call.in_place,
        }
    }

    const fn is_root(&self) -> bool {
        self.place.rank() == self.root
    }
}

impl Plan for Linear {
    fn steps(&self) -> u32 {
        match () {
            () if self.is_root() && self.blocks.are_empty() => 0,
            () if self.is_root() => self.place.size() - 1 + u32::from(!self.in_place),
            () => u32::from(self.own > 0),
        }
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let output = Part::new(Buf::Out, 0, self.own);
        match i + 1 {
            _ if !self.is_root() => acts.recv(self.root, 0, output),
            distance if distance < self.place.size() => {
                let peer = self.place.above(distance);
                let block = self.blocks.input(known, peer);
                if !block.is_empty() {
                    acts.send(peer, 0, block);
                }
            }
            _ => {
                copy(acts, self.blocks.input(known, self.root), output);
                return Some(0);
            }
        }
        Some(self.window.needs(i))
    }
}
