//! [`VerbsTx`]: the sending half of a rank's connections, with gets, puts and registered memory.

mod access;
mod access_queue;
mod events;
mod inline_message;
mod lease;
mod link;
mod loss;
mod memory;
mod operation_kind;
mod operations;
mod pair;
mod pending;
mod pipeline;
mod port_pairs;
mod ring;
mod send_queue;
mod slot;
mod stream;

pub(super) use self::link::Link;
#[cfg(test)]
pub(super) use self::loss::NO_RECEIVE;
pub(super) use self::memory::Registrations;
pub(super) use self::pair::Pair;
pub(super) use self::port_pairs::{PortPairs, is_left_notice};
pub use self::slot::VerbsSlot;

use self::inline_message::InlineMessage;
use self::memory::Note;
use self::operations::Operations;
use self::send_queue::Posted;
use self::slot::Route;
use super::OPERATIONS;
use super::buffers::Buffers;
use super::control::Control;
use super::frame_head::{FrameHead, HEAD, own_header};
use super::pipeline_sizes::RANGES;
use super::queue_sizes::QueueSizes;
use super::request_id::RequestId;
use super::ring::FOOTER;
use crate::objects::{Completion, ProtectionDomain};
use oxmpi_os::RawBytes;
use oxmpi_wire::regions::{RegionId, Regions};
use oxmpi_wire::{AsTx, Busy, Bytes, Fault, Header, Limits, Peer, Sink, Token, Tx};
use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;

/// The sending half of a rank's connections.
pub struct VerbsTx {
    // Dropped first: devices then reach no memory of the regions below.
    links: Vec<Option<Box<Link>>>,
    /// Buffers of messages to any peer that are not sent inline, by queue; `None` where each peer has its own.
    shared: Vec<Option<Buffers>>,
    /// The queues of the first rail.
    queues: QueueSizes,
    /// By rail.
    domains: Vec<ProtectionDomain>,
    limits: Limits,
    /// Bytes that one request reads or writes at most.
    piece: u32,
    /// Memory for one use that is shorter goes by frames.
    min_rdma: u64,
    /// Slots of a ring of this rank; 0 for no rings, also of peers.
    ring_slots: u32,
    regions: Regions<RawBytes, Note>,
    registrations: Registrations,
    operations: Operations,
    /// Where frames that are sent inline are written.
    message: InlineMessage,
    /// Peers for which a call has returned [`Busy`], and what it was.
    peers_awaiting_room: Vec<(u32, Refused)>,
    /// Peers whose frames of the transport itself wait for a buffer of all peers.
    awaiting_buffers: Vec<u32>,
    completions: VecDeque<(Token, Result<(), Fault>)>,
    losses: VecDeque<(u32, Fault)>,
    /// Peers are reached by queue pairs that they share.
    has_initiators: bool,
    /// Somebody waits until all frames have ended: the next poll lets those be confirmed that are not signaled.
    awaits_end: Cell<bool>,
}

impl fmt::Debug for VerbsTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerbsTx")
            .field("domains", &self.domains)
            .finish_non_exhaustive()
    }
}

impl VerbsTx {
    pub(super) fn new(
        domains: Vec<ProtectionDomain>,
        peers: u32,
        (queues, shared): (QueueSizes, Vec<Option<Buffers>>),
        limits: Limits,
        [piece, min_rdma, ring_slots]: [u32; 3],
        registrations: Registrations,
    ) -> Self {
        Self {
            links: (0..peers).map(|_| None).collect(),
            shared,
            queues,
            domains,
            limits,
            piece,
            min_rdma: min_rdma.into(),
            ring_slots,
            regions: Regions::new(),
            registrations,
            operations: Operations::new(),
            message: InlineMessage::new(),
            peers_awaiting_room: Vec::new(),
            awaiting_buffers: Vec::new(),
            completions: VecDeque::new(),
            losses: VecDeque::new(),
            has_initiators: false,
            awaits_end: Cell::new(false),
        }
    }

    pub(super) fn add(&mut self, peer: u32, link: Link) {
        self.has_initiators |= link.pairs.iter().any(|pair| pair.initiator().is_some());
        self.links[peer as usize] = Some(Box::new(link));
    }

    /// Ends the connection to `peer`, by which nothing was sent.
    pub(crate) fn forget(&mut self, peer: u32) {
        self.links[peer as usize] = None;
    }

    /// The connection to `peer`, unless it is lost.
    #[inline(always)]
    pub(super) fn live_link(&mut self, peer: u32) -> Option<&mut Link> {
        let link = self.links[peer as usize].as_deref_mut();
        link.filter(|link| link.lost.is_none())
    }

    /// The connection to `peer`.
    ///
    /// # Panics
    /// If there has never been one.
    #[inline(always)]
    pub(super) fn link(&mut self, peer: u32) -> &mut Link {
        self.links[peer as usize]
            .as_mut()
            .expect("a peer that was connected")
    }

    /// The queues by which frames go to `peer`.
    ///
    /// # Panics
    /// As [`VerbsTx::link`].
    #[inline]
    fn queues_to(&self, peer: u32) -> &QueueSizes {
        let link = self.links[peer as usize].as_ref();
        &link.expect("a peer that was connected").queues
    }

    /// Queues of a rail.
    pub(super) fn queues_of_rail(&self) -> u8 {
        self.queues.count()
    }

    /// Notes that a call returns [`Busy`] for `peer`, so that the sink gets [`Sink::room`] when there is room for it.
    #[cold]
    fn refuse(&mut self, peer: u32, refused: Refused) -> Busy {
        let is_same = |(waiting, last): &(u32, Refused)| {
            *waiting == peer && std::mem::discriminant(last) == std::mem::discriminant(&refused)
        };
        self.peers_awaiting_room.retain(|waiting| !is_same(waiting));
        self.peers_awaiting_room.push((peer, refused));
        self.confirm_if_late(peer);
        Busy
    }

    /// Whether the sink can send a frame to `peer` by a queue.
    #[inline]
    fn takes_frame(&self, peer: u32, queue: u8) -> bool {
        let link = self.links[peer as usize].as_ref();
        link.is_some_and(|link| link.takes_frame(queue, self.shared[queue as usize].as_ref()))
    }

    /// How a frame of `len` bytes can be sent to `peer` now. A lost one takes any.
    #[inline]
    fn admit(&mut self, peer: u32, len: u32) -> Result<Route, Busy> {
        let max = self.limits.frame;
        assert!(len <= max, "a frame of {len} B; the longest has {max} B");
        if self.takes_ring_frame(peer, len) {
            return Ok(Route::Ring);
        }
        if let Some(link) = &self.links[peer as usize] {
            let queue = link.queues.smallest(len);
            let shared = self.shared[queue as usize].as_ref();
            if link.takes_frame(queue, shared) || link.lost.is_some() {
                return Ok(Route::Queue(queue));
            }
        }
        Err(self.refuse(peer, Refused::Frame(len)))
    }

    /// Writes to the body of the frame that is staged next for a queue of `peer`.
    fn stage(&mut self, peer: u32, queue: u8, at: usize, bytes: &[u8]) {
        if let Some(link) = &self.links[peer as usize] {
            let shared = self.shared[queue as usize].as_ref();
            link.pairs[queue as usize].stage(shared, HEAD + at, bytes);
        }
    }

    /// Sends the frame whose body is staged next for a queue of `peer`.
    fn send_staged(&mut self, peer: u32, queue: u8, header: &Header, released: Option<RegionId>) {
        let shared = self.shared[queue as usize].as_mut();
        let link = self.links[peer as usize].as_mut();
        let Some(link) = link.filter(|link| link.lost.is_none()) else {
            return;
        };
        let sequence = link.number();
        let pair = link.pair(queue);
        let head = FrameHead {
            grant: pair.send_frame(),
            sequence,
            header: *header,
        };
        let posted = pair.send_staged_frame(shared, &head, released);
        self.check(peer, posted);
    }

    fn send_control(&mut self, peer: u32, control: &Control) {
        let (bytes, queue) = (control.bytes(), self.queues_to(peer).of_control());
        self.stage(peer, queue, 0, &bytes);
        self.send_staged(peer, queue, &own_header(bytes.len()), control.released());
    }

    /// Answers a request of `peer` as soon as there is room.
    ///
    /// # Errors
    /// The rule that the peer broke.
    fn answer(&mut self, peer: u32, control: Control) -> Result<(), &'static str> {
        let link = self.link(peer);
        let answers = link.waiting.iter().filter(|control| control.is_answer());
        if answers.count() >= RANGES * OPERATIONS {
            return Err("more requests at once than a rank may have");
        }
        link.waiting.push_back(control);
        self.advance(peer);
        Ok(())
    }

    /// Sends and posts to `peer` what has waited for room, if anything has: after most messages nothing has.
    #[inline]
    pub(super) fn advance(&mut self, peer: u32) {
        if self.link(peer).has_waiting() {
            self.advance_waiting(peer);
        }
    }

    #[cold]
    pub(super) fn advance_waiting(&mut self, peer: u32) {
        // These may have frames to send.
        self.post_pieces(peer);
        let link = self.link(peer);
        let queue = link.queues.of_control();
        if link.port_pairs.has_failed() {
            self.repeat(peer);
        }
        while let Some(link) = &mut self.links[peer as usize]
            && link.can_send(queue, self.shared[queue as usize].as_ref())
            && let Some(control) = link.waiting.pop_front()
        {
            self.send_control(peer, &control);
        }
        self.post_streams(peer);
        let mut shared = self.shared.iter().flatten();
        if shared.any(|buffers| buffers.free.is_empty())
            && self.link(peer).awaits_buffers()
            && !self.awaiting_buffers.contains(&peer)
        {
            // Those of another peer may be free first.
            self.awaiting_buffers.push(peer);
        }
        for queue in 0..self.shared.len() as u8 {
            let shared = self.shared[queue as usize].as_mut();
            let link = self.links[peer as usize].as_mut();
            let pair = link.map(|link| link.pair(queue));
            let posted = pair.map_or(Ok(()), |pair| pair.send_credit_message(shared));
            self.check(peer, posted);
        }
        self.confirm_if_late(peer);
        self.link(peer).look_for_due();
    }

    /// Counts the end of the oldest request of the send queue of a queue pair of `peer` that completes.
    #[inline(never)]
    pub(super) fn sent(&mut self, peer: u32, queue: u8, completion: Completion) {
        let shared = self.shared[queue as usize].as_mut();
        let Some(link) = &mut self.links[peer as usize] else {
            return;
        };
        if link.lost.is_some() {
            link.pair(queue).done(shared);
            link.pair(queue).leave_idle_initiator();
            if !completion.is_success() {
                self.fail_initiator(queue, completion.queue_pair());
            }
            return;
        }
        if let Err(why) = completion.result() {
            return self.failed(peer, queue, &why);
        }
        let done = link.pair(queue).done(shared);
        link.pair(queue).leave_idle_initiator();
        link.frames_ended();
        match done {
            Some(Posted::Frame { released, .. }) => {
                released.into_iter().for_each(|region| self.leave(region));
            }
            Some(Posted::RingFrame { .. }) => {
                if link.ring.as_mut().is_some_and(ring::RingTx::ended) {
                    link.waiting.push_back(Control::Wake);
                }
            }
            Some(Posted::Access { operation }) => self.piece_ended(operation, queue),
            Some(
                Posted::Confirmation | Posted::Credits { .. } | Posted::Word | Posted::Left { .. },
            )
            | None => {}
        }
        // The frames behind it may have nothing else that tells of their end.
        self.confirm_if_late(peer);
        self.advance(peer);
    }

    /// Posts `count` free buffers to the queue pair of `peer` for a queue of its own.
    #[cold]
    pub(super) fn post_receives(
        &mut self,
        peer: u32,
        queue: u8,
        (buffers, count): (&mut Buffers, u32),
    ) {
        let free = buffers.take_free(count as usize);
        if let Some(pair) = &self.link(peer).pair(queue).pair {
            let first = RequestId::Receive {
                peer,
                queue,
                buffer: 0,
            };
            let first = first.word();
            let id = move |buffer| first | u64::from(buffer);
            let posted =
                pair.post_receives(free.map(move |(buffer, segment)| (id(buffer), segment)));
            self.check(peer, posted);
        }
    }

    /// Reports completions, losses and room to `sink`. Returns how many.
    #[inline]
    pub(super) fn report<T: AsTx<Self>, S: Sink<T>>(tx: &mut T, sink: &mut S) -> u32 {
        let own = tx.as_tx();
        if !own.has_local_work() && own.peers_awaiting_room.is_empty() {
            return 0;
        }
        let own = tx.as_tx();
        if own.awaits_end.take() {
            own.confirm_all();
        }
        for peer in std::mem::take(&mut own.awaiting_buffers) {
            own.advance(peer);
        }
        let mut reported = 0;
        while let Some((token, result)) = tx.as_tx().completions.pop_front() {
            sink.done(tx, token, result);
            reported += 1;
        }
        while let Some((peer, why)) = tx.as_tx().losses.pop_front() {
            sink.lost(tx, Peer(peer), why);
            reported += 1;
        }
        for at in (0..tx.as_tx().peers_awaiting_room.len()).rev() {
            if let Some(peer) = tx.as_tx().take_unblocked(at) {
                sink.room(tx, Peer(peer));
                reported += 1;
            }
        }
        reported
    }

    /// The peer awaiting room at index `at`, removed from the list, if there is room for it now.
    fn take_unblocked(&mut self, at: usize) -> Option<u32> {
        let &(peer, refused) = self.peers_awaiting_room.get(at)?;
        let has_room = match refused {
            Refused::Frame(len) => {
                let link = self.links[peer as usize].as_ref();
                link.is_some_and(|link| self.takes_frame(peer, link.queues.smallest(len)))
                    || self.takes_ring_frame(peer, len)
            }
            Refused::Operation => self.links[peer as usize].is_some() && self.has_operation_room(),
        };
        if !has_room {
            return None;
        }
        self.peers_awaiting_room.swap_remove(at);
        Some(peer)
    }

    fn complete(&mut self, token: Token, result: Result<(), Fault>) {
        self.completions.push_back((token, result));
    }
}

/// What had no room.
#[derive(Debug, Clone, Copy)]
enum Refused {
    /// A frame with a body of so many bytes.
    Frame(u32),
    /// A get, a put, an atomic or a flush.
    Operation,
}

impl Tx for VerbsTx {
    type Slot<'a> = VerbsSlot<'a>;

    fn limits(&self, _to: Peer) -> &Limits {
        &self.limits
    }

    /// # Cost
    /// The body is copied once, and the device's library copies the message once; a longer one than is granted inline
    /// goes by [`Tx::frame`].
    #[inline]
    fn short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        let (len, peer) = (head.len as usize, to.0);
        let link = self.links[peer as usize].as_deref_mut();
        let Some((pair, sequence)) = link.and_then(|link| link.next_short(head.len)) else {
            return self.short_by_route(to, head, body);
        };
        self.message.clear();
        body.drain(0, len, &mut self.message);
        let posted = pair.send_inline_frame(sequence, head, &mut self.message);
        self.check(peer, posted);
        Ok(())
    }

    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<VerbsSlot<'_>, Busy> {
        debug_assert_eq!(head.len as usize, len, "the header says the body's length");
        let route = self.admit(to.0, head.len)?;
        Ok(VerbsSlot {
            tx: self,
            to: to.0,
            route,
            header: *head,
            len: 0,
        })
    }

    fn give_up(&mut self, peer: Peer, why: Fault) {
        self.lose(peer.0, why);
    }
}

impl VerbsTx {
    /// [`Tx::short`] where the queue of the smallest buffers is not the way.
    #[inline(never)]
    fn short_by_route<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        let (len, peer) = (head.len as usize, to.0);
        let route = self.admit(peer, head.len)?;
        let (queue, whole) = match route {
            Route::Queue(queue) => (queue, HEAD + len),
            Route::Ring => (self.queues_to(peer).of_accesses(), HEAD + len + FOOTER),
        };
        let link = self.links[peer as usize].as_mut();
        let link =
            link.filter(|link| link.lost.is_none() && link.pairs[queue as usize].inlines(whole));
        let Some(link) = link else {
            return self.whole(to, head, body);
        };
        let message = &mut self.message;
        message.clear();
        body.drain(0, len, message);
        let posted = match route {
            Route::Ring => link.send_ring_inline(queue, head, message),
            Route::Queue(queue) => {
                let sequence = link.number();
                link.pair(queue).send_inline_frame(sequence, head, message)
            }
        };
        self.check(peer, posted);
        Ok(())
    }
}
