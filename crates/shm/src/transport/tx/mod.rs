//! The sending half.

pub(super) mod bulk;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::vec::Vec;

use oxmpi_os::{RawBytes, clock};
use oxmpi_wire::{
    Busy, Bytes, Fault, Header, Holds, Limits, Peer, Put, Scarce, Sink, Slot, Token, Tx,
};

use self::bulk::protocol::BulkPreference;
use self::bulk::{BufferStream, Claims, Operation, OwnedOffers};
use super::control::{Control, OperationId};
use super::link::{LinkState, SendLink, Shortage, control_head};
use super::offer_key::OfferedRegions;
use super::shared_bytes::SharedBytes;
use super::windows::PingPongWindows;
use super::{Expedited, OPERATIONS, SHORT, limits};
use crate::ring::{Corrupt, MappedWords, RingSlot, SharedWords};
use crate::segment::Segment;

/// The sending half of a node's transport, with its registered memory and bulk transfers.
pub struct ShmTx<B: Bytes = RawBytes> {
    out: Vec<SendLink>,
    /// Whether [`ShmTx::advance`] has anything to look at.
    pub(super) chores: bool,
    regions: OfferedRegions<B>,
    streams: Vec<BufferStream>,
    offers: OwnedOffers,
    claims: Claims,
    preference: BulkPreference,
    windows: PingPongWindows,
    operations: Vec<Operation>,
    open_operations: usize,
    answers: VecDeque<(u32, Control)>,
    finished: VecDeque<(Token, Result<(), Fault>)>,
    blocked: Vec<u32>,
    /// Peers found broken, not yet reported.
    pub(super) broken: Vec<(u32, Fault)>,
    limits: Limits,
    /// Bytes that links may still take before memory is looked at again.
    budget: u64,
    me: u32,
    segment: Arc<Segment>,
}

impl<B: Bytes> ShmTx<B> {
    pub(crate) fn new(segment: Arc<Segment>, me: u32) -> Self {
        let ranks = segment.layout().ranks;
        let out = (0..ranks)
            // SAFETY: the segment is kept beside the links.
            .map(|to| unsafe { SendLink::new(&segment, me, to) })
            .collect();
        Self {
            out,
            chores: false,
            regions: OfferedRegions::new(),
            streams: Vec::new(),
            offers: OwnedOffers::new(ranks),
            claims: Claims::new(ranks),
            preference: BulkPreference::default(),
            windows: PingPongWindows::new(ranks, me),
            operations: Vec::new(),
            open_operations: 0,
            answers: VecDeque::new(),
            finished: VecDeque::new(),
            blocked: Vec::new(),
            broken: Vec::new(),
            limits: limits(segment.layout()),
            budget: 0,
            me,
            segment,
        }
    }

    /// Wakes `peer` if it sleeps. Called after all that is published to it.
    ///
    /// # Cost
    /// One plain load while the peer is awake.
    #[inline(always)]
    pub(crate) fn wake_if_asleep(&self, peer: u32) {
        if self.out[peer as usize].sleep_flag.asleep(&Expedited) {
            self.wake(peer);
        }
    }

    /// Wakes those of `peers`, bit by bit, that sleep.
    #[inline]
    pub fn wake_those_asleep(&self, mut peers: u64) {
        while peers != 0 {
            self.wake_if_asleep(peers.trailing_zeros());
            peers &= peers - 1;
        }
    }

    /// What follows when `peer` was told that slots are free.
    #[cold]
    #[inline(never)]
    pub(super) fn told(&mut self, peer: u32) {
        self.out[peer as usize].ring.retry_ping_pong();
        self.wake_if_asleep(peer);
    }

    #[cold]
    #[inline(never)]
    fn wake(&self, peer: u32) {
        self.out[peer as usize].sleep_flag.clear();
        if let Some(doorbells) = self.segment.doorbells() {
            return doorbells.ring(peer);
        }
        let word = self.segment.asleep(peer);
        // SAFETY: the word is aligned and in the segment, which `self` keeps; the kernel looks it
        // up by its address only.
        let word = unsafe { AtomicU32::from_ptr(word) };
        // A wake that fails delays the sleeper until its nap is over.
        let _ = oxmpi_os::futex::wake(word);
    }

    /// Makes room for one more slot, and for a buffer if asked, or remembers what is missing.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, to: Peer, buffer: bool) -> Result<(), Busy> {
        if self.has_room(to.0, buffer) {
            return Ok(());
        }
        if self.out[to.0 as usize].state == LinkState::Open {
            let shortage = Shortage {
                slot: true,
                buffer,
                operation: false,
            };
            self.block(to.0, shortage);
        }
        Err(Busy)
    }

    /// Whether there is room for one more slot, and for a buffer if asked. Opens the link.
    #[cold]
    #[inline(never)]
    fn has_room(&mut self, to: u32, buffer: bool) -> bool {
        let out = &mut self.out[to as usize];
        match out.state {
            LinkState::Lost => return false,
            LinkState::Closed => {
                let link = self.segment.layout().link_len() as u64;
                if let Err(why) = self.afford(link) {
                    self.report(to, why);
                    return false;
                }
                if !self.out[to as usize].open(&self.segment, self.me, to) {
                    let why = self.no_addresses();
                    self.report(to, why);
                    return false;
                }
                self.segment.link_announcer(to).announce(self.me as usize);
            }
            LinkState::Open => {}
        }
        let out = &mut self.out[to as usize];
        Self::room(out, buffer).unwrap_or_else(|corrupt| {
            self.breach(to, corrupt);
            false
        })
    }

    /// PlanReason the links' larger buffers could not be mapped.
    fn no_addresses(&self) -> Fault {
        match oxmpi_os::limit::address_space() {
            Some(left) => Fault::NoRoom {
                what: Scarce::Addresses,
                wanted: self.segment.layout().all_buffers_len() as u64,
                left: left.bytes,
            },
            None => Fault::Refused("no addresses are left for a link to the peer"),
        }
    }

    /// Whether memory is left for `bytes` more. It is looked at now and then: a look reads files.
    fn afford(&mut self, bytes: u64) -> Result<(), Fault> {
        if self.budget < bytes {
            let left = oxmpi_os::limit::available().map_or(u64::MAX, |a| a.bytes);
            if left < bytes {
                return Err(Fault::NoRoom {
                    what: Scarce::Memory,
                    wanted: bytes,
                    left,
                });
            }
            // All ranks open links at once, and others need memory too.
            let ranks = u64::from(self.segment.layout().ranks);
            self.budget = (left / (8 * ranks)).max(bytes);
        }
        self.budget -= bytes;
        Ok(())
    }

    fn room(out: &mut SendLink, buffer: bool) -> Result<bool, Corrupt> {
        Ok(out.ring.room()? && (!buffer || out.frame_room()?))
    }

    fn block(&mut self, to: u32, shortage: Shortage) {
        let had = &mut self.out[to as usize].shortage;
        if !had.any() {
            self.blocked.push(to);
        }
        had.slot |= shortage.slot;
        had.buffer |= shortage.buffer;
        had.operation |= shortage.operation;
        self.chores = true;
    }

    pub(crate) fn breach(&mut self, peer: u32, corrupt: Corrupt) {
        self.report(peer, Fault::Protocol(corrupt.0));
    }

    /// The next poll gives `peer` up.
    fn report(&mut self, peer: u32, why: Fault) {
        if !self.broken.iter().any(|(p, _)| *p == peer) {
            self.broken.push((peer, why));
            self.chores = true;
        }
    }

    /// Sends one of the transport's own frames, if there is room.
    fn control(&mut self, to: u32, control: &Control) -> bool {
        if !self.out[to as usize].ring.ready() && !self.has_room(to, false) {
            return false;
        }
        let out = &mut self.out[to as usize];
        let slot = out.ring.slot();
        for (i, word) in control.words().into_iter().enumerate() {
            out.ring.set(&slot, i, word);
        }
        out.ring.publish(&slot, control_head());
        self.wake_if_asleep(to);
        true
    }

    /// Answers `peer`, now or when there is room.
    fn answer(&mut self, peer: u32, control: Control) -> Result<(), Corrupt> {
        if self.answers.is_empty() && self.control(peer, &control) {
            return Ok(());
        }
        let bound = 2 * OPERATIONS + self.segment.layout().slots as usize;
        if self.answers.iter().filter(|(p, _)| *p == peer).count() > bound {
            return Err(Corrupt("more questions than there can be"));
        }
        self.answers.push_back((peer, control));
        self.chores = true;
        Ok(())
    }

    fn finish(&mut self, token: Token, result: Result<(), Fault>) {
        self.finished.push_back((token, result));
        self.chores = true;
    }

    /// Moves on all that waits for room. Returns how much moved.
    #[cold]
    #[inline(never)]
    pub(super) fn advance<T: Holds<Self>, S: Sink<T>>(tx: &mut T, sink: &mut S) -> u32 {
        let mut moved = tx.part().answer_waiting() + tx.part().pump();
        while let Some((token, result)) = tx.part().finished.pop_front() {
            sink.done(tx, token, result);
            moved += 1;
        }
        let mut i = 0;
        while let Some(&peer) = tx.part().blocked.get(i) {
            if tx.part().unblocked(peer) {
                tx.part().blocked.swap_remove(i);
                tx.part().out[peer as usize].shortage = Shortage::default();
                sink.room(tx, Peer(peer));
                moved += 1;
            } else {
                i += 1;
            }
        }
        let own = tx.part();
        own.chores = !(own.answers.is_empty()
            && !own.bulk_waits()
            && own.finished.is_empty()
            && own.blocked.is_empty()
            && own.broken.is_empty());
        moved
    }

    /// Sends the answers for which there is room by now. Returns how many.
    fn answer_waiting(&mut self) -> u32 {
        let mut moved = 0;
        for _ in 0..self.answers.len() {
            if let Some((peer, control)) = self.answers.pop_front() {
                if self.out[peer as usize].state == LinkState::Lost {
                    continue;
                }
                if self.control(peer, &control) {
                    moved += 1;
                } else {
                    self.answers.push_back((peer, control));
                }
            }
        }
        moved
    }

    fn unblocked(&mut self, peer: u32) -> bool {
        let shortage = self.out[peer as usize].shortage;
        if shortage.operation && self.open_operations >= OPERATIONS {
            return false;
        }
        // Who waits for an operation may not have sent anything yet.
        self.has_room(peer, shortage.buffer)
    }

    /// Leaves the node in order: peers learn that nothing more comes from this rank, once they have
    /// taken in what was sent. Nothing may be sent afterwards.
    pub fn depart(&mut self) {
        self.segment.exit_flag(self.me).leave();
        self.segment.runnable_hint(self.me).end(clock::now());
        for peer in 0..self.out.len() as u32 {
            self.wake_if_asleep(peer);
        }
    }

    /// The sending side of a link that a frame came on the other way.
    pub(super) fn back(&mut self, peer: u32) -> &mut SendLink {
        &mut self.out[peer as usize]
    }

    pub(super) fn is_lost(&self, peer: u32) -> bool {
        self.out[peer as usize].state == LinkState::Lost
    }

    /// Ends everything with `peer`.
    pub(super) fn lose(&mut self, peer: u32, why: Fault) -> bool {
        let out = &mut self.out[peer as usize];
        if out.state == LinkState::Lost {
            return false;
        }
        out.state = LinkState::Lost;
        out.ring.slots().freeze();
        out.shortage = Shortage::default();
        self.blocked.retain(|&p| p != peer);
        self.answers.retain(|(p, _)| *p != peer);
        self.drop_bulk(peer);
        for place in 0..self.operations.len() {
            let entry = &self.operations[place];
            if entry.open.is_some_and(|open| open.peer == peer) {
                let id = OperationId((place as u64) << 32 | u64::from(entry.turn));
                if let Some(open) = self.close(id) {
                    self.finish(open.token, Err(why));
                }
            }
        }
        true
    }

    /// The words that something here waits for.
    pub(super) fn waits(&mut self, waits: &mut Vec<WordWait>) {
        let peers = self.blocked.iter().copied();
        let peers = peers.chain(self.streams.iter().map(|s| s.peer));
        for peer in peers.chain(self.answers.iter().map(|a| a.0)) {
            let out = &mut self.out[peer as usize];
            let (at, seen) = out.short_of();
            waits.push(WordWait::new(*out.ring.words(), at as usize, seen.into()));
        }
        self.bulk_words(waits);
    }
}

/// A word of the segment whose change ends a wait.
pub(super) struct WordWait {
    words: MappedWords<'static>,
    at: usize,
    seen: u64,
}

impl WordWait {
    /// Word `at` of `words`, which was `seen` when it was found wanting.
    fn new(words: MappedWords<'static>, at: usize, seen: u64) -> Self {
        assert!(at < words.len());
        Self { words, at, seen }
    }

    /// Whether it has changed.
    pub(super) fn is_over(&self) -> bool {
        // SAFETY: in bounds by the assertion in `new`; the segment lives as long as the transport.
        let now = unsafe { self.words.load(self.at, Ordering::Relaxed) };
        now != self.seen
    }
}

impl<B: Bytes> Tx for ShmTx<B> {
    type Slot<'a>
        = ShmSlot<'a, B>
    where
        B: 'a;

    fn limits(&self, _: Peer) -> &Limits {
        &self.limits
    }

    /// # Cost
    /// One line written, two beyond 48 B; no lock, no read-modify-write, no fence, no system call
    /// while the peer is awake.
    #[inline]
    fn short<C: Bytes>(&mut self, to: Peer, head: &Header, body: &C) -> Result<(), Busy> {
        if !self.out[to.0 as usize].ring.ready() {
            self.make_room(to, false)?;
        }
        self.out[to.0 as usize].put(head, body);
        self.wake_if_asleep(to.0);
        Ok(())
    }

    /// # Cost
    /// As that of [`Tx::short`].
    #[inline(always)]
    fn put_short<C: Bytes>(&mut self, to: Peer, head: &Header, body: &C) -> bool {
        let Some(out) = self.out.get_mut(to.0 as usize) else {
            return false;
        };
        if body.len() >= u64::from(out.below) || !(out.ring.ready() || out.look()) {
            return false;
        }
        out.put(head, body);
        if out.sleep_flag.asleep(&Expedited) {
            self.wake(to.0);
        }
        true
    }

    #[inline]
    fn let_short(&mut self, to: Peer, below: u32) {
        self.out[to.0 as usize].below = below;
    }

    #[inline]
    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<ShmSlot<'_, B>, Busy> {
        assert!(len <= self.limits.frame as usize, "longer than a frame");
        debug_assert_eq!(head.len as usize, len);
        let buffered = len > SHORT;
        let out = &mut self.out[to.0 as usize];
        if !out.ring.ready() || (buffered && !out.frame_ready()) {
            self.make_room(to, buffered)?;
        }
        let out = &mut self.out[to.0 as usize];
        let slot = out.ring.slot();
        out.ring.set(&slot, 0, head.envelope.packed());
        let (buffer, place) = if buffered {
            let (buffer, place) = out.frame(len);
            // SAFETY: the same range; the segment lives as long as `self`, which the slot borrows.
            let place = unsafe { place.detach(len) };
            out.ring.set(&slot, 1, buffer.into());
            (buffer, place)
        } else {
            // SAFETY: as above.
            (0, unsafe { out.short(&slot).detach(len) })
        };
        Ok(ShmSlot {
            place,
            slot,
            buffer,
            compact: head.compact(),
            to: to.0,
            tx: self,
        })
    }

    fn give_up(&mut self, peer: Peer, why: Fault) {
        self.report(peer.0, why);
    }

    /// Nothing: every message rings its own doorbell.
    #[inline]
    fn flush(&mut self) {}
}

/// A frame under construction in a node's segment.
pub struct ShmSlot<'a, B: Bytes> {
    place: SharedBytes<'a>,
    slot: RingSlot<MappedWords<'static>>,
    /// The larger buffer, where the body is in one.
    buffer: u32,
    compact: u32,
    to: u32,
    tx: &'a mut ShmTx<B>,
}

impl<B: Bytes> Put for ShmSlot<'_, B> {
    #[inline(always)]
    fn room(&self) -> usize {
        self.place.room()
    }

    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.place.put(bytes);
    }
}

impl<B: Bytes> Slot for ShmSlot<'_, B> {
    #[inline]
    fn send(self) {
        debug_assert_eq!(self.place.room(), 0, "a frame is sent when it is full");
        let out = &mut self.tx.out[self.to as usize];
        if (self.compact & 0xffff) as usize > SHORT {
            out.give(self.buffer);
        }
        out.ring.publish(&self.slot, self.compact);
        self.tx.wake_if_asleep(self.to);
    }
}
