//! Gather and gatherv, linear: each rank sends its block directly to the root, so that blocks travel once.
//!
//! `p - 1` rounds. The root sets the pace: it has at most a window of receives open, and every rank
//! beyond the first window waits for the root's signal. So no more messages than the window reach the root
//! unasked, for any number of ranks.
//!
//! The root copies its own block while others arrive. To have requested long blocks by then, it first waits
//! for a signal that the next rank has announced its block.

use core::cmp::Ordering;

use crate::blocks::Blocks;
use crate::call::{Call, Parameters};
use crate::eager::{EagerLimit, copy};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};
use crate::rank_ring::RankRing;
use crate::window::Window;

const DATA: u32 = 0;
const SIGNAL: u32 = 1;

/// One rank's plan for a linear gather. The root may first wait for the announcement signal; it has one step
/// for each other rank, in the order of their distance above it, and one that copies its own block. Another
/// rank waits for its signal, if it is beyond the window, and sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GatherLinear {
    place: RankRing,
    root: u32,
    /// Elements of this rank's own block.
    own: u64,
    blocks: Blocks,
    /// The distance of this rank above the root.
    distance: u32,
    window: Window,
    short: EagerLimit,
    in_place: bool,
}

impl GatherLinear {
    pub(crate) const fn of(call: &Call, parameters: &Parameters) -> Self {
        GatherLinear {
            place: RankRing::of(call),
            root: call.root,
            own: call.count,
            blocks: Blocks::of(call),
            distance: call.from_root(),
            window: Window::new(parameters.window),
            short: EagerLimit::of(call),
            in_place: call.in_place,
        }
    }

    const fn is_root(&self) -> bool {
        self.distance == 0
    }

    /// Whether the rank `distance` above the root waits for a signal.
    const fn awaits_signal(&self, distance: u32) -> bool {
        distance > self.window.get()
    }

    /// Whether the rank `distance` above the root, with a block of `block` elements, signals its
    /// announcement.
    const fn announces(&self, distance: u32, block: u64) -> bool {
        distance == 1 && block > self.short.elements()
    }

    /// Steps of the root before it receives blocks: the announcement signal, if any.
    fn announcements(&self) -> u32 {
        u32::from(self.place.size() > 1)
    }

    /// Receives of the root before it copies its own block: those that need no signal.
    fn first(&self) -> u32 {
        self.window.get().min(self.place.size() - 1)
    }

    /// The rounds for blocks of one length: the root receives a message from each other rank, sends signals
    /// to those beyond the first window, and waits for the announcement of a long block.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let messages = call.size - 1;
        let beyond = messages.saturating_sub(parameters.window);
        let asks = if parameters.window > 1 {
            beyond.min(1)
        } else {
            beyond
        };
        let announces = messages > 0 && GatherLinear::of(call, parameters).announces(1, call.count);
        u64::from(messages) + u64::from(asks) + u64::from(announces)
    }
}

impl Plan for GatherLinear {
    fn steps(&self) -> u32 {
        match () {
            () if self.is_root() && self.blocks.are_empty() => 0,
            () if self.is_root() => {
                self.place.size() - 1 + self.announcements() + u32::from(!self.in_place)
            }
            () if self.own == 0 => 0,
            () => 1 + u32::from(self.awaits_signal(self.distance)),
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let input = Part::new(Buf::In, 0, self.own);
        if !self.is_root() {
            if i + 1 < self.steps() {
                acts.recv(self.root, SIGNAL, Part::EMPTY);
            } else {
                acts.send(self.root, DATA, input);
                if self.announces(self.distance, self.own) {
                    acts.send(self.root, SIGNAL, Part::EMPTY);
                }
            }
            return Some(i);
        }
        let announcements = self.announcements();
        let Some(before) = i.checked_sub(announcements) else {
            let next = self.place.above(1);
            if self.announces(1, self.blocks.output(inputs, next).len()) {
                acts.recv(next, SIGNAL, Part::EMPTY);
            }
            return Some(0);
        };
        let first = self.first();
        let receives = match before.cmp(&first) {
            Ordering::Equal if !self.in_place => {
                copy(acts, input, self.blocks.output(inputs, self.root));
                return Some(announcements);
            }
            Ordering::Greater if !self.in_place => before - 1,
            _ => before,
        };
        let distance = receives + 1;
        let peer = self.place.above(distance);
        let block = self.blocks.output(inputs, peer);
        if !block.is_empty() {
            acts.recv(peer, DATA, block);
            if self.awaits_signal(distance) {
                acts.send(peer, SIGNAL, Part::EMPTY);
            }
        }
        Some(match self.window.needs(receives) {
            0 => 0,
            needs if needs > first && !self.in_place => announcements + needs + 1,
            needs => announcements + needs,
        })
    }
}
