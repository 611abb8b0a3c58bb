//! [`Link`]: the sending half of the connection to one peer, a queue pair for each receive queue.

use super::inline_message::InlineMessage;
use super::pair::Pair;
use super::port_pairs::PortPairs;
use super::ring::RingTx;
use super::stream::Stream;
use crate::error::PostError;
use crate::objects::RemoteAddress;
use crate::transport::buffers::Buffers;
use crate::transport::control::Control;
use crate::transport::credits::Grant;
use crate::transport::frame_head::FrameHead;
use crate::transport::order::WINDOW;
use crate::transport::queue_sizes::QueueSizes;
use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Fault, Header};
use std::collections::{BTreeMap, VecDeque};

/// The sending half of the connection to one peer.
#[derive(Debug)]
pub(in crate::transport) struct Link {
    /// By receive queue of each rail.
    pub(super) pairs: Vec<Pair>,
    /// The queues that frames take: those of the current port pair.
    pub(super) queues: QueueSizes,
    /// The queue of the smallest buffers.
    short_queue: u8,
    /// Frames with shorter bodies go by it, inline. 0 while something else decides.
    pub(super) short_below: u32,
    /// A credit message may be due.
    may_be_due: bool,
    pub(super) port_pairs: PortPairs,
    /// The number of the next frame.
    next: u32,
    /// No frame before this number is in flight.
    oldest: u32,
    /// Frames of the transport itself that wait for room.
    pub(super) waiting: VecDeque<Control>,
    /// Operations that have pieces to post, by index.
    pub(super) pending: VecDeque<u32>,
    /// Bytes that go to the peer by frames.
    pub(super) streams: VecDeque<Stream>,
    /// Regions of the peer whose keys are void, by index: the last one that was released.
    pub(super) released: BTreeMap<u32, RegionId>,
    /// The ring of the peer, to which this rank writes.
    pub(super) ring: Option<RingTx>,
    /// The queue by which this rank answers the sender of its own ring.
    pub(super) word_queue: u8,
    /// The word of the peer for that ring.
    pub(super) word: Option<RemoteAddress>,
    pub(super) lost: Option<Fault>,
}

impl Link {
    pub(in crate::transport) fn new(
        pairs: Vec<Pair>,
        port_pairs: PortPairs,
        sizes: &QueueSizes,
    ) -> Self {
        let queues = sizes.on_rail(port_pairs.rail());
        let (size, short_queue) = queues.smallest_of_all();
        Self {
            short_below: pairs[short_queue as usize].inlines_below(size),
            short_queue,
            may_be_due: false,
            pairs,
            word_queue: queues.of_accesses(),
            queues,
            port_pairs,
            next: 0,
            oldest: 0,
            waiting: VecDeque::new(),
            pending: VecDeque::new(),
            streams: VecDeque::new(),
            released: BTreeMap::new(),
            ring: None,
            word: None,
            lost: None,
        }
    }

    /// Leaves a port pair, if another one is open. Its requests then fail one by one.
    pub(super) fn leave(&mut self, port_pair: usize, sizes: &QueueSizes) -> bool {
        let Some(rail) = self.port_pairs.leave(port_pair) else {
            return false;
        };
        self.queues = sizes.on_rail(self.port_pairs.rail());
        let of_rail = &mut self.pairs[sizes.queues_of(rail)];
        of_rail.iter_mut().for_each(Pair::retire);
        if let Some(ring) = &mut self.ring {
            ring.close_on(rail, sizes);
        }
        if sizes.rail_of(self.word_queue) == rail {
            self.word = None;
        }
        true
    }

    /// The queue pair for a receive queue.
    #[inline(always)]
    pub(in crate::transport) fn pair(&mut self, queue: u8) -> &mut Pair {
        &mut self.pairs[queue as usize]
    }

    /// The queue pair by which a frame with a body of `len` bytes is sent inline now, and its number; `None` if it is
    /// not, or something has to be looked at first.
    #[inline]
    pub(super) fn next_short(&mut self, len: u32) -> Option<(&mut Pair, u32)> {
        if len >= self.short_below || !self.waiting.is_empty() || !self.has_window() {
            return None;
        }
        let pair = &mut self.pairs[self.short_queue as usize];
        if !pair.can_send(None) {
            return None;
        }
        let number = self.next;
        self.next = number.wrapping_add(1);
        Some((pair, number))
    }

    /// Whether a frame can be sent now by a queue, which may take one of the buffers of all peers.
    #[inline]
    pub(super) fn can_send(&self, queue: u8, shared: Option<&Buffers>) -> bool {
        self.has_window() && self.pairs[queue as usize].can_send(shared)
    }

    /// Whether another frame is not too far ahead of those in flight.
    #[inline]
    pub(super) const fn has_window(&self) -> bool {
        self.next.wrapping_sub(self.oldest) < WINDOW
    }

    /// Whether the sink can write a frame to the ring now.
    #[inline]
    pub(super) fn takes_ring_frame(&self, len: u32) -> bool {
        let ring = self.ring.as_ref();
        ring.is_some_and(|ring| ring.can_send(len))
            && self.waiting.is_empty()
            && self.has_window()
            && self.lost.is_none()
    }

    /// What precedes the body of a frame that is written to the ring now.
    fn ring_head(&mut self, header: &Header) -> FrameHead {
        FrameHead {
            grant: Grant::default(),
            sequence: self.number(),
            header: *header,
        }
    }

    /// Sends the frame whose body is staged for the ring.
    pub(super) fn send_ring_frame(&mut self, header: &Header) -> Result<(), PostError> {
        let queue = self.queues.of_accesses();
        let head = self.ring_head(header);
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        let write = |pair: &_, id| ring.send_staged(pair, id, &head);
        self.pairs[queue as usize].send_ring_frame(head.sequence, write)
    }

    /// Sends a frame inline to the ring, whose body is in the message.
    pub(super) fn send_ring_inline(
        &mut self,
        queue: u8,
        header: &Header,
        message: &mut InlineMessage,
    ) -> Result<(), PostError> {
        let head = self.ring_head(header);
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        let write = |pair: &_, id| ring.send_inline(pair, id, &head, message);
        self.pairs[queue as usize].send_ring_frame(head.sequence, write)
    }

    /// Whether the sink can send a frame now: those of the transport go first.
    #[inline]
    pub(super) fn takes_frame(&self, queue: u8, shared: Option<&Buffers>) -> bool {
        self.waiting.is_empty() && self.can_send(queue, shared)
    }

    /// Whether something waits to be sent or posted.
    #[inline]
    pub(in crate::transport) fn has_waiting(&self) -> bool {
        !(self.pending.is_empty() && self.waiting.is_empty() && self.streams.is_empty())
            || self.port_pairs.has_failed()
            || self.may_be_due
    }

    /// Takes the credits of a queue that a message of the peer carries back.
    ///
    /// # Errors
    /// The rule that the peer broke.
    #[inline(always)]
    pub(in crate::transport) fn take_credits(
        &mut self,
        queue: u8,
        grant: Grant,
    ) -> Result<(), &'static str> {
        if grant == Grant::default() {
            return Ok(());
        }
        self.may_be_due |= grant.credit_messages > 0;
        self.pair(queue).credits.take(grant)
    }

    /// Counts frames that have arrived by a queue. Returns the number of buffers to post now, and
    /// [for how many frames](crate::transport::credits::Credits::frames_until_due) nothing else is to be done.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(in crate::transport) fn frames_arrived(
        &mut self,
        queue: u8,
        count: u32,
    ) -> Result<[u32; 2], &'static str> {
        let credits = &mut self.pair(queue).credits;
        let to_post = credits.frames_arrived(count)?;
        let until_due = credits.frames_until_due();
        self.may_be_due |= to_post > 0;
        Ok([to_post, until_due])
    }

    /// Notes whether a credit message is still due.
    pub(super) fn look_for_due(&mut self) {
        self.may_be_due = self.is_message_due();
    }

    fn is_message_due(&self) -> bool {
        (self.pairs.iter()).any(|pair| pair.credits.is_message_due())
    }

    /// Whether something waits that may take a buffer of all peers.
    pub(super) fn awaits_buffers(&self) -> bool {
        !(self.waiting.is_empty() && self.streams.is_empty())
            || self.port_pairs.awaits_buffers()
            || self.is_message_due()
    }

    /// Whether a frame waits for room, or has not been acknowledged yet.
    pub(super) fn has_unsent(&self) -> bool {
        let is_idle = |pair: &Pair| pair.oldest_frame().is_none();
        !(self.waiting.is_empty() && self.streams.is_empty() && self.pairs.iter().all(is_idle))
            || self.port_pairs.has_unsent()
    }

    /// The number of a frame that is sent now.
    #[inline]
    pub(super) fn number(&mut self) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    /// Counts the end of frames.
    pub(super) fn frames_ended(&mut self) {
        if self.next.wrapping_sub(self.oldest) >= WINDOW / 2 {
            self.find_oldest();
        }
    }

    #[cold]
    fn find_oldest(&mut self) {
        let next = self.next;
        let oldest = self.pairs.iter().filter_map(Pair::oldest_frame);
        let age = (oldest.chain(self.port_pairs.numbers()))
            .map(|number| next.wrapping_sub(number))
            .max();
        self.oldest = next.wrapping_sub(age.unwrap_or(0));
    }
}
