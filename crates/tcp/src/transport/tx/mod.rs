//! [`TcpTx`]: the sending half of a rank's connections, with gets, puts and registered memory.

mod atomic;
mod bulk;
mod leave;
mod network;
mod operations;
mod peers;

use std::collections::VecDeque;
use std::fmt;

use oxmpi_os::RawBytes;
use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::{
    Access, AsTx, Busy, Bytes, Fault, Header, Key, Limits, Memory, Peer, Put, Sink, Slot, Token, Tx,
};

use self::operations::Operations;
use super::options::TcpOptions;
use super::peer_cards::{PeerCards, index};
use super::send_half::SendHalf;
use super::transfer::Regions;
use super::zero_copy::ZeroCopy;
use crate::address::BusinessCard;
use crate::frame::{Control, FrameSlot};

pub(super) use self::bulk::InboundBulk;

/// Bodies from this length on are written from the user's memory: a copy takes longer than a system call
/// of their own.
const WRITE_THROUGH: u32 = 32 << 10;

/// The sending half of a rank's connections.
pub struct TcpTx<B: Bytes = RawBytes> {
    me: u32,
    cards: PeerCards,
    options: TcpOptions,
    limits: Limits,
    /// By peer; each is made at its first use.
    peers: Vec<Option<Box<SendHalf>>>,
    /// Peers that the next flush writes to.
    scheduled: Vec<u32>,
    /// Peers for which a call has returned [`Busy`].
    peers_awaiting_room: Vec<u32>,
    /// Peers to connect to.
    to_connect: Vec<u32>,
    operations: Operations,
    regions: Regions<B>,
    zero_copy: ZeroCopy,
    /// Regions whose bytes the running pump has written completely.
    sent_regions: Vec<RegionId>,
    completions: VecDeque<(Token, Result<(), Fault>)>,
    losses: VecDeque<(u32, Fault)>,
}

impl<B: Bytes> fmt::Debug for TcpTx<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpTx")
            .field("me", &self.me)
            .finish_non_exhaustive()
    }
}

impl<B: Bytes> TcpTx<B> {
    pub(super) fn new(me: u32, cards: PeerCards, options: TcpOptions) -> Self {
        Self {
            me,
            limits: options.limits(),
            options,
            peers: cards.iter().map(|_| None).collect(),
            cards,
            scheduled: Vec::new(),
            peers_awaiting_room: Vec::new(),
            to_connect: Vec::new(),
            operations: Operations::new(),
            regions: Regions::new(),
            zero_copy: ZeroCopy::new(options.max_zero_copy()),
            sent_regions: Vec::new(),
            completions: VecDeque::new(),
            losses: VecDeque::new(),
        }
    }

    /// Sets the business card of `peer`. The first card stays.
    pub(in crate::transport) fn set_card(&self, peer: Peer, card: BusinessCard) {
        // The leader of a node learns some cards earlier, and gets them again with all others.
        let _ = self.cards[index(peer)].set(card);
    }

    /// Lets the next flush write to `peer`.
    #[inline]
    fn schedule(&mut self, peer: u32) {
        let half = self.half(peer);
        if !half.scheduled {
            half.scheduled = true;
            self.scheduled.push(peer);
        }
    }

    /// Notes that a call returns [`Busy`] for `peer`, so that the sink gets [`Sink::room`] later.
    #[cold]
    fn refuse(&mut self, peer: u32) {
        let half = self.half(peer);
        if !half.awaits_room {
            half.awaits_room = true;
            self.peers_awaiting_room.push(peer);
        }
    }

    /// Writes to `peer` as much as the kernel accepts. Returns the number of writes.
    fn pump(&mut self, peer: u32) -> u32 {
        let Some(half) = &mut self.peers[peer as usize] else {
            return 0;
        };
        let chunks = (self.options.chunk, self.options.frame - Control::LEN as u32);
        let (regions, sent) = (&self.regions, &mut self.sent_regions);
        let result = half.pump(peer, regions, &mut self.zero_copy, chunks, |region| {
            sent.push(region)
        });
        while let Some(region) = self.sent_regions.pop() {
            self.leave(region);
        }
        match result {
            Ok(writes) => writes,
            Err(error) => {
                self.write_failed(peer, &error);
                1
            }
        }
    }

    fn flush_all(&mut self) -> u32 {
        let mut writes = 0;
        // A peer that this loop schedules again waits for the next flush.
        for at in (0..self.scheduled.len()).rev() {
            let peer = self.scheduled.swap_remove(at);
            self.half(peer).scheduled = false;
            writes += self.pump(peer);
            if self.half(peer).has_more() {
                self.schedule(peer);
            }
        }
        writes
    }

    /// Writes to all scheduled peers. Returns the number of writes.
    #[inline]
    pub(super) fn advance(&mut self) -> u32 {
        if self.scheduled.is_empty() {
            0
        } else {
            self.flush_all()
        }
    }

    /// Reports completions, losses and room to `sink`. Returns how many.
    pub(super) fn report<T: AsTx<Self>, S: Sink<T>>(tx: &mut T, sink: &mut S) -> u32 {
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
        let &peer = self.peers_awaiting_room.get(at)?;
        let (free, frame) = (self.has_operation_room(), self.options.frame as usize);
        let half = self.half(peer);
        if !free || !half.buffer.has_room(frame) {
            return None;
        }
        half.awaits_room = false;
        self.peers_awaiting_room.swap_remove(at);
        Some(peer)
    }

    /// The peer of the loss at index `number` among those that are not reported yet.
    pub(super) fn loss(&self, number: usize) -> Option<u32> {
        self.losses.get(number).map(|(peer, _)| *peer)
    }

    fn complete(&mut self, token: Token, result: Result<(), Fault>) {
        self.completions.push_back((token, result));
    }

    /// Ends one use of `region` by a transfer.
    fn leave(&mut self, region: RegionId) {
        if let Some(token) = self.regions.leave(region) {
            self.complete(token, Ok(()));
        }
    }

    /// Writes a frame from its body's memory, if nothing waits before it; false: the caller copies it.
    #[inline(never)]
    fn write_through<C: Bytes>(&mut self, to: u32, head: &Header, body: &C) -> bool {
        let fits = head.len <= self.limits.frame && body.address().is_some();
        if !fits || !self.half(to).is_open() {
            return false;
        }
        match self.half(to).write_through(head, body) {
            Err(error) => self.write_failed(to, &error),
            Ok(true) => {}
            Ok(false) => self.schedule(to),
        }
        true
    }

    /// Begins a frame for `to`, whose body the caller puts.
    #[inline]
    fn begin(&mut self, to: Peer, head: &Header) -> Result<FrameSlot<'_>, Busy> {
        let max = self.limits.frame;
        assert!(
            head.len <= max,
            "a frame of {} B; the longest has {max} B",
            head.len
        );
        self.schedule(to.0);
        let half = self.half(to.0);
        if half.lost.is_some() {
            half.buffer.clear(); // frames for a lost peer are dropped
        }
        if !half.buffer.has_room(head.len as usize) {
            self.refuse(to.0);
            return Err(Busy);
        }
        self.half(to.0).buffer.begin(head).ok_or(Busy)
    }
}

impl<B: Bytes> Tx for TcpTx<B> {
    type Slot<'a>
        = FrameSlot<'a>
    where
        Self: 'a;

    fn limits(&self, _to: Peer) -> &Limits {
        &self.limits
    }

    /// # Cost
    /// Header and body are copied once; [`Tx::flush`] writes them. A body of 32 KiB or more is written at
    /// once if nothing waits before it, and only what the kernel does not take is copied.
    #[inline]
    fn whole<C: Bytes>(&mut self, to: Peer, head: &Header, body: &C) -> Result<(), Busy> {
        if head.len >= WRITE_THROUGH && self.write_through(to.0, head, body) {
            return Ok(());
        }
        self.short(to, head, body)
    }

    /// # Cost
    /// Header and body are copied once; [`Tx::flush`] writes them.
    #[inline]
    fn short<C: Bytes>(&mut self, to: Peer, head: &Header, body: &C) -> Result<(), Busy> {
        let mut slot = self.begin(to, head)?;
        body.drain(0, slot.room(), &mut slot);
        slot.send();
        Ok(())
    }

    #[inline]
    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<FrameSlot<'_>, Busy> {
        debug_assert_eq!(head.len as usize, len, "the header says the body's length");
        self.begin(to, head)
    }

    /// # Cost
    /// Nothing if nothing was sent; else one system call for each peer that was sent to.
    #[inline]
    fn flush(&mut self) {
        self.advance();
    }

    fn give_up(&mut self, peer: Peer, why: Fault) {
        self.lose(peer.0, why);
    }
}

impl<B: Bytes> Memory for TcpTx<B> {
    type Bytes = B;
    type Region = Region;

    fn register(&mut self, bytes: B, access: Access, _: Peer) -> Result<Region, Fault> {
        Ok(self.regions.add(bytes, access))
    }

    fn expose(&mut self, region: &Region, to: Peer) -> Key {
        self.key_with_push(to.0, region.id())
    }

    fn release(&mut self, region: Region, token: Token) {
        self.end_transfer(region.id());
        if let Some(token) = self.regions.release(region, token) {
            self.complete(token, Ok(()));
        }
    }
}
