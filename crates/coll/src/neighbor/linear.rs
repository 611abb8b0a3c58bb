//! Neighbourhood collectives with a message for every edge of the graph, which is what each rank has
//! to send and receive at least.
//!
//! Few messages are all under way at once; of many a window's worth is, in an order in which nobody
//! waits for ever. Of several messages between the same two ranks the first one sent is the first
//! one received, and on a Cartesian grid what goes down a dimension comes from above, also where a
//! periodic dimension has one rank or two, and above and below are the same rank.

use super::edges::{Edge, Edges};
use crate::blocks::Blocks;
use crate::call::{Call, Collective, Parameters};
use crate::eager::copy;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs, TAGS};
use crate::window::Window;

/// One rank's plan for a linear neighbourhood collective. Where all messages fit the window, a step
/// for each source and destination of the same number; else one for each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NeighborLinear {
    edges: Edges,
    blocks: Blocks,
    /// Elements of the one block that goes to all destinations, if there is only one.
    shared: Option<u64>,
    window: Window,
}

impl NeighborLinear {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let shares = matches!(
            call.collective,
            Collective::NeighborAllgather | Collective::NeighborAllgatherv
        );
        NeighborLinear {
            edges: Edges {
                rank: call.rank,
                size: call.size,
                sources: call.sources,
                destinations: call.destinations,
                cartesian: call.cartesian,
            },
            blocks: Blocks::of(call),
            shared: shares.then_some(call.count),
            window: Window::new(parameters.window),
        }
    }

    /// Whether all messages may be under way at a time.
    const fn fits(&self) -> bool {
        self.edges.len() <= self.window.get()
    }

    /// The tag of the message that source number `place` of its receiver sends. On a grid two
    /// messages between the same ranks are not received in the order in which they are sent.
    const fn tag(&self, place: u32) -> u32 {
        if self.edges.cartesian {
            place % TAGS
        } else {
            0
        }
    }

    /// The neighbour, unless it is nobody.
    fn peer(&self, neighbors: &[u32], place: u32) -> Option<u32> {
        let peer = neighbors.get(place as usize).copied();
        peer.filter(|&peer| peer < self.edges.size)
    }

    fn receive(&self, place: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        let block = self.blocks.output(inputs, place);
        if let Some(peer) = self.peer(inputs.arrays.sources, place)
            && peer != self.edges.rank
            && !block.is_empty()
        {
            acts.recv(peer, self.tag(place), block);
        }
    }

    fn send(&self, place: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        let block = match self.shared {
            Some(count) => Part::new(Buf::In, 0, count),
            None => self.blocks.input(inputs, place),
        };
        let Some(peer) = self.peer(inputs.arrays.destinations, place) else {
            return;
        };
        if peer == self.edges.rank {
            if let Some(place) = self.own(place, inputs) {
                copy(acts, block, self.blocks.output(inputs, place));
            }
        } else if !block.is_empty() {
            acts.send(peer, self.tag(self.edges.sent_as(place)), block);
        }
    }

    /// The source that gets what this rank sends to itself as destination number `place`.
    fn own(&self, place: u32, inputs: &PlanInputs<'_>) -> Option<u32> {
        let (rank, given) = (self.edges.rank, inputs.arrays.destinations);
        let earlier = given.iter().take(place as usize);
        let n = earlier.filter(|&&to| to == rank).count() as u32;
        self.edges.nth_from(rank, n, inputs)
    }
}

impl Plan for NeighborLinear {
    fn steps(&self) -> u32 {
        match self.fits() {
            _ if self.blocks.are_empty() => 0,
            true => self.edges.sources.max(self.edges.destinations),
            false => self.edges.len(),
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if self.fits() {
            if i < self.edges.sources {
                self.receive(i, inputs, acts);
            }
            if i < self.edges.destinations {
                self.send(i, inputs, acts);
            }
            return Some(0);
        }
        match self.edges.nth(i, inputs) {
            Some(Edge::From(place)) => self.receive(place, inputs, acts),
            Some(Edge::To(place)) => self.send(place, inputs, acts),
            None => {}
        }
        Some(self.window.needs(i))
    }
}
