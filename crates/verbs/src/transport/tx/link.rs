//! [`Link`]: the sending half of the connection to one peer, a queue pair for each receive queue.

use super::pair::Pair;
use crate::transport::buffers::Buffers;
use crate::transport::control::Control;
use crate::transport::order::WINDOW;
use oxmpi_wire::Fault;
use oxmpi_wire::regions::RegionId;
use std::collections::{BTreeMap, VecDeque};

/// The sending half of the connection to one peer.
#[derive(Debug)]
pub(in crate::transport) struct Link {
    /// By receive queue.
    pub(super) pairs: Vec<Pair>,
    /// The number of the next frame.
    next: u32,
    /// No frame before this number is in flight.
    oldest: u32,
    /// Frames of the transport itself that wait for room.
    pub(super) waiting: VecDeque<Control>,
    /// Operations that have pieces to post, by index.
    pub(super) pending: VecDeque<u32>,
    /// Regions of the peer whose keys are void, by index: the last one that was released.
    pub(super) released: BTreeMap<u32, RegionId>,
    pub(super) lost: Option<Fault>,
}

impl Link {
    pub(in crate::transport) fn new(pairs: Vec<Pair>) -> Self {
        Self {
            pairs,
            next: 0,
            oldest: 0,
            waiting: VecDeque::new(),
            pending: VecDeque::new(),
            released: BTreeMap::new(),
            lost: None,
        }
    }

    /// The queue pair for a receive queue.
    #[inline]
    pub(super) fn pair(&mut self, queue: u8) -> &mut Pair {
        &mut self.pairs[queue as usize]
    }

    /// Whether a frame can be sent now by a queue, which may take one of the buffers of all peers.
    #[inline]
    pub(super) fn can_send(&self, queue: u8, shared: Option<&Buffers>) -> bool {
        let in_flight = self.next.wrapping_sub(self.oldest);
        in_flight < WINDOW && self.pairs[queue as usize].can_send(shared)
    }

    /// Whether the sink can send a frame now: those of the transport go first.
    #[inline]
    pub(super) fn takes_frame(&self, queue: u8, shared: Option<&Buffers>) -> bool {
        self.waiting.is_empty() && self.can_send(queue, shared)
    }

    /// The number of a frame that is sent now.
    #[inline]
    pub(super) fn number(&mut self) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    /// Counts the end of a frame.
    pub(super) fn frame_ended(&mut self) {
        let (next, oldest) = (self.next, self.oldest);
        if next.wrapping_sub(oldest) < WINDOW / 2 {
            return;
        }
        let ages = self.pairs.iter().filter_map(Pair::oldest_frame);
        let age = ages.map(|number| next.wrapping_sub(number)).max();
        self.oldest = next.wrapping_sub(age.unwrap_or(0));
    }
}
