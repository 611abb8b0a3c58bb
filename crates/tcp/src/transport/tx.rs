//! The sending half.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Arc;

use oxmpi_os::RawBytes;
use oxmpi_os::tcp::Stream;
use oxmpi_wire::regions::{Name, Region};
use oxmpi_wire::{
    Access, Busy, Bytes, Fault, Header, Holds, Key, Limits, Local, Memory, Peer, Put, Remote, Rma,
    Sink, Slot, Token, Tx,
};

use super::bulk::index;
use super::operations::Operations;
use super::outgoing::Outgoing;
use super::passing::Passing;
use super::site::{Cards, Options};
use super::transfer::Regions;
use crate::address::Card;
use crate::door::Standing;
use crate::frame::{Control, Draft};
use crate::log::warn;

/// Bodies from this length on are written from where they lie: to copy them takes longer than a system
/// call that takes nothing else along.
const THROUGH: u32 = 32 << 10;

/// The sending half of a rank's connections.
pub struct TcpTx<B: Bytes = RawBytes> {
    me: u32,
    cards: Cards,
    options: Options,
    limits: Limits,
    /// By peer; made when it is first met.
    pub(super) peers: Vec<Option<Box<Outgoing>>>,
    /// Peers with something to write.
    listed: Vec<u32>,
    /// Peers that somebody was told [`Busy`] about.
    refused: Vec<u32>,
    /// Peers to call.
    wanted: Vec<u32>,
    pub(super) operations: Operations,
    pub(super) regions: Regions<B>,
    pub(super) passing: Passing,
    /// Bytes of a region that may follow its key.
    pub(super) ahead: u64,
    /// Regions whose bytes have left, while a pump runs.
    emptied: Vec<Name>,
    finished: VecDeque<(Token, Result<(), Fault>)>,
    losses: VecDeque<(u32, Fault)>,
}

/// The name of a peer's host.
pub(super) fn host_of(cards: &Cards, peer: u32) -> &str {
    let card = cards[peer as usize].get();
    card.map_or("an unknown host", |card| &card.host)
}

impl<B: Bytes> fmt::Debug for TcpTx<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpTx")
            .field("me", &self.me)
            .finish_non_exhaustive()
    }
}

impl<B: Bytes> TcpTx<B> {
    pub(super) fn new(me: u32, cards: Cards, options: Options) -> Self {
        Self {
            me,
            limits: options.limits(),
            options,
            peers: cards.iter().map(|_| None).collect(),
            cards,
            listed: Vec::new(),
            refused: Vec::new(),
            wanted: Vec::new(),
            operations: Operations::new(),
            regions: Regions::new(),
            passing: Passing::new(options.by_page()),
            ahead: options.ahead,
            emptied: Vec::new(),
            finished: VecDeque::new(),
            losses: VecDeque::new(),
        }
    }

    /// Says where `peer` is, before it is sent to. What was said first holds.
    pub fn introduce(&self, peer: Peer, card: Card) {
        // A peer may be introduced twice: to the leader of a node, and with all others.
        let _ = self.cards[index(peer)].set(card);
    }

    /// Connects to `peer` before anything is sent to it. The polls that follow do it.
    pub fn connect(&mut self, peer: Peer) {
        self.outgoing(peer.0);
    }

    /// Whether there is a connection to `peer`.
    #[must_use]
    pub fn is_connected(&self, peer: Peer) -> bool {
        let outgoing = self.peers[index(peer)].as_ref();
        outgoing.is_some_and(|outgoing| outgoing.stream.is_some())
    }

    /// The name of the host that `peer` runs on, as that host says it.
    #[must_use]
    pub fn host(&self, peer: Peer) -> &str {
        host_of(&self.cards, peer.0)
    }

    /// Closes every connection at once and without a word, as the kernel does for a process that was
    /// killed: to give up a job that has failed. The peers hear of a death. What has not been delivered when the
    /// receiving half is gone too is dropped if it may be memory that is used again.
    pub fn die(mut self) {
        let is_memory = self.passing.was_used();
        for outgoing in self.peers.iter_mut().flatten() {
            if let Some(stream) = outgoing.stream.take() {
                let _ = stream.finish();
                if is_memory {
                    let _ = stream.reset_at_end();
                }
            }
        }
    }

    pub(super) fn is_lost(&self, peer: u32) -> bool {
        let outgoing = self.peers[peer as usize].as_ref();
        outgoing.is_some_and(|outgoing| outgoing.lost.is_some())
    }

    /// What is sent to `peer`. It is called at the next poll if this is the first time.
    #[inline]
    pub(super) fn outgoing(&mut self, peer: u32) -> &mut Outgoing {
        if self.peers[peer as usize].is_none() {
            self.meet(peer);
        }
        self.peers[peer as usize].as_mut().expect("met above")
    }

    #[cold]
    #[inline(never)]
    fn meet(&mut self, peer: u32) {
        let outgoing = Outgoing::new(self.options.outbox());
        self.peers[peer as usize] = Some(Box::new(outgoing));
        if peer == self.me {
            self.lose(
                peer,
                Fault::Unreachable("a rank has no connection to itself"),
            );
        } else {
            self.wanted.push(peer);
        }
    }

    /// Peers that are to be called, each once.
    pub(super) fn take_wanted(&mut self) -> Option<u32> {
        self.wanted.pop()
    }

    /// How this rank stands with `peer`, whose call has come, as far as this half knows: it does not see how far
    /// its own call is.
    pub(super) fn standing(&self, peer: u32) -> Standing {
        match &self.peers[peer as usize] {
            None => Standing::Apart,
            Some(outgoing) if outgoing.lost.is_some() => Standing::Lost,
            Some(outgoing) if outgoing.stream.is_some() => Standing::Met,
            Some(_) => Standing::Calling,
        }
    }

    /// There is a connection.
    pub(super) fn connected(&mut self, peer: u32, stream: Arc<Stream>) {
        let outgoing = self.outgoing(peer);
        outgoing.stream = Some(stream);
        outgoing.writable = true;
        self.wanted.retain(|wanted| *wanted != peer);
        self.list(peer);
    }

    /// The kernel takes more for `peer`.
    pub(super) fn writable(&mut self, peer: u32) {
        if let Some(outgoing) = &mut self.peers[peer as usize]
            && !outgoing.shut
        {
            outgoing.writable = true;
            if !outgoing.is_idle() {
                self.list(peer);
            }
        }
    }

    /// Whether something waits for `peer` until the kernel takes more.
    #[inline]
    pub(super) fn is_blocked(&self, peer: u32) -> bool {
        let outgoing = self.peers[peer as usize].as_ref();
        outgoing.is_some_and(|outgoing| !outgoing.writable && !outgoing.is_idle())
    }

    /// `peer` has something to write at the next flush.
    #[inline]
    pub(super) fn list(&mut self, peer: u32) {
        let outgoing = self.outgoing(peer);
        if !outgoing.listed {
            outgoing.listed = true;
            self.listed.push(peer);
        }
    }

    /// Somebody was told [`Busy`].
    #[cold]
    pub(super) fn refuse(&mut self, peer: u32) {
        let outgoing = self.outgoing(peer);
        if !outgoing.refused {
            outgoing.refused = true;
            self.refused.push(peer);
        }
    }

    /// Writes to `peer` what the kernel takes.
    fn pump(&mut self, peer: u32) -> u32 {
        let Some(outgoing) = &mut self.peers[peer as usize] else {
            return 0;
        };
        let chunks = (self.options.chunk, self.options.frame - Control::LEN as u32);
        let (regions, passing, emptied) = (&self.regions, &mut self.passing, &mut self.emptied);
        let wrote = outgoing.pump(peer, regions, passing, chunks, |region| {
            emptied.push(region)
        });
        while let Some(region) = self.emptied.pop() {
            self.leave(region);
        }
        match wrote {
            Ok(writes) => writes,
            Err(error) => {
                self.cannot_write(peer, &error);
                1
            }
        }
    }

    fn flush_all(&mut self) -> u32 {
        let mut writes = 0;
        // Who is listed again on the way stands behind and has its turn the next time.
        for at in (0..self.listed.len()).rev() {
            let peer = self.listed.swap_remove(at);
            self.outgoing(peer).listed = false;
            writes += self.pump(peer);
            if self.outgoing(peer).has_more() {
                self.list(peer);
            }
        }
        writes
    }

    /// Writes what waits. Returns how much was done.
    #[inline]
    pub(super) fn advance(&mut self) -> u32 {
        if self.listed.is_empty() {
            0
        } else {
            self.flush_all()
        }
    }

    /// Whether the next poll has something to do that no arrival tells of: a peer to call, an end to tell. Do not
    /// sleep before it.
    #[must_use]
    pub fn has_news(&self) -> bool {
        !(self.finished.is_empty() && self.losses.is_empty() && self.wanted.is_empty())
    }

    /// Tells `sink` what has ended, who is lost and where there is room. Returns how much.
    pub(super) fn tell<T: Holds<Self>, S: Sink<T>>(tx: &mut T, sink: &mut S) -> u32 {
        let mut told = 0;
        while let Some((token, result)) = tx.part().finished.pop_front() {
            sink.done(tx, token, result);
            told += 1;
        }
        while let Some((peer, why)) = tx.part().losses.pop_front() {
            sink.lost(tx, Peer(peer), why);
            told += 1;
        }
        for at in (0..tx.part().refused.len()).rev() {
            if let Some(peer) = tx.part().relent(at) {
                sink.room(tx, Peer(peer));
                told += 1;
            }
        }
        told
    }

    /// The peer at this place of the refused ones, which is taken from them if there is room for it.
    fn relent(&mut self, at: usize) -> Option<u32> {
        let &peer = self.refused.get(at)?;
        let (free, frame) = (self.may_begin(), self.options.frame as usize);
        let outgoing = self.outgoing(peer);
        if !free || !outgoing.outbox.has_room(frame) {
            return None;
        }
        outgoing.refused = false;
        self.refused.swap_remove(at);
        Some(peer)
    }

    /// The losses that are still to be told, by number.
    pub(super) fn loss(&self, number: usize) -> Option<u32> {
        self.losses.get(number).map(|(peer, _)| *peer)
    }

    pub(super) fn finish(&mut self, token: Token, result: Result<(), Fault>) {
        self.finished.push_back((token, result));
    }

    /// A transfer of `region` has ended.
    pub(super) fn leave(&mut self, region: Name) {
        if let Some(token) = self.regions.leave(region) {
            self.finish(token, Ok(()));
        }
    }

    /// `peer` is gone, or given up. Told once.
    pub(super) fn lose(&mut self, peer: u32, why: Fault) {
        let outgoing = self.outgoing(peer);
        if outgoing.lost.is_some() {
            return;
        }
        outgoing.lost = Some(why);
        if let Some(stream) = outgoing.stream.take()
            && why.is_failure()
        {
            // What still waits in the kernel may be memory that its owner now uses again.
            let _ = stream.reset_at_end();
        }
        outgoing.refused = false;
        outgoing.outbox.clear();
        outgoing.answers.clear();
        self.passing.lose(peer);
        self.drop_bulk(peer);
        self.refused.retain(|refused| *refused != peer);
        self.wanted.retain(|wanted| *wanted != peer);
        self.losses.push_back((peer, why));
        if why.is_failure() {
            let host = self.host(Peer(peer));
            tracing::info!(peer, host, %why, "connection lost");
        }
    }

    /// The kernel takes nothing more for `peer`. Where it has closed, what it sent before decides how it is
    /// lost, and the reading side comes to that: its end has been told there, or is about to be.
    #[cold]
    fn cannot_write(&mut self, peer: u32, error: &io::Error) {
        use io::ErrorKind::{BrokenPipe, ConnectionReset};
        if matches!(error.kind(), ConnectionReset | BrokenPipe) {
            let outgoing = self.outgoing(peer);
            outgoing.shut = true;
            outgoing.writable = false;
        } else {
            self.broken(peer, error);
        }
    }

    /// The connection to `peer` has broken.
    pub(super) fn broken(&mut self, peer: u32, error: &io::Error) {
        let why = match error.kind() {
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Fault::PeerDead,
            io::ErrorKind::TimedOut => Fault::Silent,
            io::ErrorKind::HostUnreachable => Fault::Unreachable("no route to its host"),
            io::ErrorKind::NetworkUnreachable => Fault::Unreachable("no route to its network"),
            _ => Fault::Refused("the connection to the peer"),
        };
        let host = self.host(Peer(peer));
        tracing::debug!(peer, host, %error, "a connection has broken");
        self.lose(peer, why);
    }

    /// `peer` broke `rule`; `told` says how.
    #[cold]
    pub(super) fn breach(&mut self, peer: u32, told: &dyn fmt::Display, rule: &'static str) {
        let host = self.host(Peer(peer));
        let what = format_args!("rank {peer} on {host} broke the protocol: {told}");
        warn(self.me, self.options.log, what);
        self.lose(peer, Fault::Protocol(rule));
    }

    /// Whether something that was sent is not with the kernel yet.
    #[must_use]
    pub fn has_waiting(&self) -> bool {
        let mut peers = self.peers.iter().flatten();
        peers.any(|outgoing| !outgoing.is_done())
    }

    /// Connections that are open.
    pub(super) fn open(&self) -> impl Iterator<Item = (u32, &Arc<Stream>)> {
        let peers = (0..).zip(&self.peers);
        peers.filter_map(|(peer, outgoing)| Some((peer, outgoing.as_ref()?.stream.as_ref()?)))
    }

    /// Writes a frame from where its body lies, if that can be done now; false: it is to be copied.
    #[inline(never)]
    fn write_through<C: Bytes>(&mut self, to: u32, head: &Header, body: &C) -> bool {
        let most = self.limits.frame;
        let fits = head.len <= most && body.place().is_some();
        if !fits || !self.outgoing(to).is_open() {
            return false;
        }
        match self.outgoing(to).write_through(head, body) {
            Err(error) => self.cannot_write(to, &error),
            Ok(true) => {}
            Ok(false) => self.list(to),
        }
        true
    }

    /// Begins a frame for `peer`; its body is still to be put.
    #[inline]
    fn begin(&mut self, to: Peer, head: &Header) -> Result<Draft<'_>, Busy> {
        let most = self.limits.frame;
        assert!(
            head.len <= most,
            "a frame of {} B; the longest has {most} B",
            head.len
        );
        self.list(to.0);
        let outgoing = self.outgoing(to.0);
        if outgoing.lost.is_some() {
            outgoing.outbox.clear(); // it goes nowhere
        }
        if !outgoing.outbox.has_room(head.len as usize) {
            self.refuse(to.0);
            return Err(Busy);
        }
        self.outgoing(to.0).outbox.begin(head).ok_or(Busy)
    }
}

impl<B: Bytes> Tx for TcpTx<B> {
    type Slot<'a>
        = Draft<'a>
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
        if head.len >= THROUGH && self.write_through(to.0, head, body) {
            return Ok(());
        }
        self.short(to, head, body)
    }

    /// # Cost
    /// Header and body are copied once; [`Tx::flush`] writes them.
    #[inline]
    fn short<C: Bytes>(&mut self, to: Peer, head: &Header, body: &C) -> Result<(), Busy> {
        let mut draft = self.begin(to, head)?;
        body.drain(0, draft.room(), &mut draft);
        draft.send();
        Ok(())
    }

    #[inline]
    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<Draft<'_>, Busy> {
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

    fn key(&mut self, region: &Region, to: Peer) -> Key {
        self.key_with_run(to.0, region.name())
    }

    fn release(&mut self, region: Region, token: Token) {
        self.end_transfer(region.name());
        if let Some(token) = self.regions.release(region, token) {
            self.finish(token, Ok(()));
        }
    }
}

impl<B: Bytes> Rma for TcpTx<B> {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, Region>,
        token: Token,
    ) -> Result<(), Busy> {
        assert_eq!(from.len, to.len, "both ranges have one length");
        self.begin_get(of.0, from, &to, token)
            .then_some(())
            .ok_or(Busy)
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, Region>,
        at: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        assert_eq!(from.len, at.len, "both ranges have one length");
        self.begin_put(to.0, &from, at, token)
            .then_some(())
            .ok_or(Busy)
    }
}

impl<B: Bytes> Drop for TcpTx<B> {
    /// Leaves in order: says farewell, and waits a bounded time until the kernel has taken all that was
    /// sent. A peer that reads nothing for so long does not get the rest.
    fn drop(&mut self) {
        super::site::farewell(self);
    }
}

impl<B: Bytes> TcpTx<B> {
    /// Says to every peer that nothing more comes, and writes. True: all of it is written.
    pub(super) fn take_leave(&mut self, first: bool) -> bool {
        let mut done = true;
        for peer in 0..self.peers.len() as u32 {
            let Some(outgoing) = &mut self.peers[peer as usize] else {
                continue;
            };
            if outgoing.stream.is_none() {
                continue;
            }
            if first {
                outgoing.answers.push_back(Control::Leave);
            }
            outgoing.writable = true;
            self.pump(peer);
            let outgoing = self.outgoing(peer);
            done &= outgoing.is_done();
        }
        done
    }
}
