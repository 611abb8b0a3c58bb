//! The sending half of the transport: [`ShmTx`], its slow path and its end. Messages, room and bulk transfers
//! have files of their own.

pub(super) mod bulk;
mod messages;
mod room;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::vec::Vec;

use oxmpi_os::{RawBytes, clock};
use oxmpi_wire::flushes::Flushes;
use oxmpi_wire::slab::Slab;
use oxmpi_wire::{AsTx, Bytes, Fault, Limits, Peer, Sink, Token};

use self::bulk::protocol::BulkPreference;
use self::bulk::{BufferStream, Claims, OpenOperation, OwnedOffers};
use super::control::Control;
use super::link::{BlockedOn, LinkState, SendLink, control_head};
use super::offer_key::OfferedRegions;
use super::windows::PingPongWindows;
use super::{MembarrierFence, OPERATIONS, limits};
use crate::ring::{Corrupt, MappedWords, SharedWords};
use crate::segment::Segment;

pub use self::messages::ShmSlot;

/// The sending half of a node's transport, with its registered memory and bulk transfers.
pub struct ShmTx<B: Bytes = RawBytes> {
    out: Vec<SendLink>,
    /// Whether [`ShmTx::advance`] has anything to do.
    pub(super) has_slow_work: bool,
    regions: OfferedRegions<B>,
    streams: Vec<BufferStream>,
    offers: OwnedOffers,
    claims: Claims,
    preference: BulkPreference,
    windows: PingPongWindows,
    operations: Slab<OpenOperation>,
    flushes: Flushes,
    answers: VecDeque<(u32, Control)>,
    finished: VecDeque<(Token, Result<(), Fault>)>,
    blocked: Vec<u32>,
    /// Peers found broken that the next poll reports.
    pub(super) broken: Vec<(u32, Fault)>,
    limits: Limits,
    /// Bytes that links may still take before the free memory is read again.
    budget: u64,
    me: u32,
    segment: Arc<Segment>,
}

impl<B: Bytes> ShmTx<B> {
    pub(crate) fn new(segment: Arc<Segment>, me: u32) -> Self {
        let ranks = segment.layout().ranks;
        let out = (0..ranks)
            // SAFETY: `segment` is kept beside the links.
            .map(|to| unsafe { SendLink::new(&segment, me, to) })
            .collect();
        Self {
            out,
            has_slow_work: false,
            regions: OfferedRegions::new(),
            streams: Vec::new(),
            offers: OwnedOffers::new(ranks),
            claims: Claims::new(ranks),
            preference: BulkPreference::default(),
            windows: PingPongWindows::new(ranks, me),
            operations: Slab::new(),
            flushes: Flushes::new(),
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

    /// Wakes `peer` if it sleeps. Call it after everything that is published to the peer.
    ///
    /// # Cost
    /// One plain load while the peer is awake.
    #[inline(always)]
    pub(crate) fn wake_if_asleep(&self, peer: u32) {
        if self.out[peer as usize].sleep_flag.asleep(&MembarrierFence) {
            self.wake(peer);
        }
    }

    /// Follows credits to `peer`: gives the ping-pong slot back if it may, and wakes the peer.
    #[cold]
    #[inline(never)]
    pub(super) fn credits_written(&mut self, peer: u32) {
        self.out[peer as usize].ring.retry_ping_pong();
        self.wake_if_asleep(peer);
    }

    #[cold]
    #[inline(never)]
    fn wake(&self, peer: u32) {
        self.segment.wake(peer);
    }

    pub(crate) fn breach(&mut self, peer: u32, corrupt: Corrupt) {
        self.report(peer, Fault::Protocol(corrupt.0));
    }

    /// Has the next poll give `peer` up.
    fn report(&mut self, peer: u32, why: Fault) {
        if !self.broken.iter().any(|(p, _)| *p == peer) {
            self.broken.push((peer, why));
            self.has_slow_work = true;
        }
    }

    /// Sends a control frame, if there is room.
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

    /// Sends a control frame to `peer`, now or when there is room.
    fn answer(&mut self, peer: u32, control: Control) -> Result<(), Corrupt> {
        if self.answers.is_empty() && self.control(peer, &control) {
            return Ok(());
        }
        let bound = 2 * OPERATIONS + self.segment.layout().slots as usize;
        if self.answers.iter().filter(|(p, _)| *p == peer).count() > bound {
            return Err(Corrupt("more pulls and puts than allowed"));
        }
        self.answers.push_back((peer, control));
        self.has_slow_work = true;
        Ok(())
    }

    fn finish(&mut self, token: Token, result: Result<(), Fault>) {
        self.finished.push_back((token, result));
        self.has_slow_work = true;
    }

    /// Moves on everything that waits for room. Returns how much moved.
    #[cold]
    #[inline(never)]
    pub(super) fn advance<T: AsTx<Self>, S: Sink<T>>(tx: &mut T, sink: &mut S) -> u32 {
        let mut moved = tx.as_tx().answer_waiting() + tx.as_tx().pump();
        tx.as_tx().finish_flushes();
        while let Some((token, result)) = tx.as_tx().finished.pop_front() {
            sink.done(tx, token, result);
            moved += 1;
        }
        let mut i = 0;
        while let Some(&peer) = tx.as_tx().blocked.get(i) {
            if tx.as_tx().unblocked(peer) {
                tx.as_tx().blocked.swap_remove(i);
                tx.as_tx().out[peer as usize].blocked_on = BlockedOn::default();
                sink.room(tx, Peer(peer));
                moved += 1;
            } else {
                i += 1;
            }
        }
        let own = tx.as_tx();
        own.has_slow_work = !(own.answers.is_empty()
            && !own.bulk_waits()
            && own.finished.is_empty()
            && own.blocked.is_empty()
            && own.broken.is_empty());
        moved
    }

    /// Sends queued control frames while there is room. Returns how many.
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

    /// Leaves the node in order: peers learn, once they have taken in what was sent, that nothing more comes.
    /// Send nothing afterwards.
    pub fn depart(&mut self) {
        self.segment.exit_flag(self.me).leave();
        self.segment.runnable_hint(self.me).end(clock::now());
        for peer in 0..self.out.len() as u32 {
            self.wake_if_asleep(peer);
        }
    }

    /// The sending side of the link to `peer`.
    pub(super) fn back(&mut self, peer: u32) -> &mut SendLink {
        &mut self.out[peer as usize]
    }

    pub(super) fn is_lost(&self, peer: u32) -> bool {
        self.out[peer as usize].state == LinkState::Lost
    }

    /// Ends everything with `peer`. False: it was lost before.
    pub(super) fn lose(&mut self, peer: u32, why: Fault) -> bool {
        let out = &mut self.out[peer as usize];
        if out.state == LinkState::Lost {
            return false;
        }
        out.state = LinkState::Lost;
        out.ring.slots().freeze();
        out.blocked_on = BlockedOn::default();
        self.blocked.retain(|&p| p != peer);
        self.answers.retain(|(p, _)| *p != peer);
        self.drop_bulk(peer);
        for index in self.operations.indices() {
            let id = self.operations.handle(index);
            if self.operation(id, peer).is_some()
                && let Some(open) = self.close(id)
            {
                self.finish(open.token, Err(why));
            }
        }
        while let Some(token) = self.flushes.lose(peer) {
            self.finish(token, Err(why));
        }
        true
    }

    /// Adds the words whose change moves this half on.
    pub(super) fn waits(&mut self, waits: &mut Vec<WordWait>) {
        let peers = self.blocked.iter().copied();
        let peers = peers.chain(self.streams.iter().map(|s| s.peer));
        for peer in peers.chain(self.answers.iter().map(|a| a.0)) {
            let out = &mut self.out[peer as usize];
            let (at, last) = out.short_of();
            waits.push(WordWait::new(*out.ring.words(), at as usize, last.into()));
        }
        self.bulk_words(waits);
    }
}

/// A word of the segment whose change ends a wait.
pub(super) struct WordWait {
    words: MappedWords<'static>,
    at: usize,
    last: u64,
}

impl WordWait {
    /// Word `at` of `words`, with the value that was `last` read.
    fn new(words: MappedWords<'static>, at: usize, last: u64) -> Self {
        assert!(at < words.len());
        Self { words, at, last }
    }

    /// Whether it has changed.
    pub(super) fn is_over(&self) -> bool {
        // SAFETY: in bounds by the assertion in `new`; the segment lives as long as the transport.
        let now = unsafe { self.words.load(self.at, Ordering::Relaxed) };
        now != self.last
    }
}
