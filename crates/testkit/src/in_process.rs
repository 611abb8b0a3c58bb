//! The sending half of both in-process transports ([`InProcessTx`]): frames, gets, puts, registered memory.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use oxmpi_wire::{
    Access, Busy, Bytes, Fault, Header, Key, Limits, Local, Memory, Peer, Put, Remote, Rma, Sink,
    Slot, Token, Tx,
};

use crate::memory::Buffer;
use crate::region_store::{RegionOffset, RegionStore, key_of, number_in};

/// Most operations of one end that are in flight.
const OPERATIONS: usize = 256;

/// What the ends of an in-process transport share: the frames under way and the registered memory.
pub trait InProcessNet: fmt::Debug {
    /// The registered memory of all ends.
    fn regions(&mut self) -> &mut RegionStore;
    /// Whether there is room for a frame of `len` body bytes from end `from` to end `to` now.
    fn admits_frame(&mut self, from: u32, to: u32, len: u32) -> bool;
    /// Whether end `me` may start a get or a put with `peer` now.
    fn admits_move(&mut self, me: u32, peer: u32) -> bool {
        let _ = (me, peer);
        true
    }
    /// Takes a complete frame, for which there was room.
    fn post(&mut self, from: u32, to: u32, head: Header, body: Vec<u8>);
    /// Whether a bulk operation that could end now ends later.
    fn delays(&mut self) -> bool {
        false
    }
    /// Moves the bytes of a get or a put of end `me`.
    fn move_bytes(&mut self, me: u32, bulk: &Move) -> Result<(), Fault>;
}

/// A get or a put in flight.
#[derive(Debug)]
pub struct Move {
    pub(crate) peer: u32,
    /// The ranges at this end and at the peer.
    own: RegionOffset,
    there: RegionOffset,
    pub(crate) len: u64,
    /// What it does at the peer: reads, if it is a get.
    access: Access,
    token: Token,
}

impl Move {
    /// The source and the target, each with the offset of the first byte, if the registrations allow the move.
    pub(crate) fn ends<'a>(
        &self,
        regions: &'a RegionStore,
    ) -> Result<[(&'a Buffer, u64); 2], Fault> {
        let own = (regions.check_own(self.own, self.len)?, self.own.2);
        let there = regions.check(self.there, self.access, self.len)?;
        let there = (there, self.there.2);
        Ok(if self.access == Access::READ {
            [there, own]
        } else {
            [own, there]
        })
    }

    /// Copies the bytes.
    pub(crate) fn copy(&self, regions: &RegionStore) -> Result<(), Fault> {
        let [(source, from), (target, to)] = self.ends(regions)?;
        target.copy_from(to, source, from, self.len);
        Ok(())
    }
}

/// An operation in flight.
#[derive(Debug)]
enum Bulk {
    Move(Move),
    Release {
        region: u64,
        token: Token,
    },
    /// It has ended; the sink is not told yet.
    Ended(Token, Result<(), Fault>),
}

/// Counts of bulk operations that an end has started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkCounts {
    /// Gets.
    pub gets: u64,
    /// Puts.
    pub puts: u64,
    /// Most operations under way at once.
    pub most: u64,
}

/// The sending half of one end.
#[derive(Debug)]
pub struct InProcessTx<N> {
    me: u32,
    pub(crate) net: Rc<RefCell<N>>,
    limits: Limits,
    bulk: Vec<Bulk>,
    /// Peers that had no room when this end last sent to them.
    pub(crate) refused: Vec<u32>,
    /// Peers that the sink has given up, with the reason.
    pub given_up: Vec<(Peer, Fault)>,
    /// Peers that are lost, given up or not.
    lost: Vec<(u32, Fault)>,
    /// Counts of the bulk operations of this end.
    pub moves: BulkCounts,
}

impl<N: InProcessNet> InProcessTx<N> {
    pub(crate) fn new(me: u32, net: &Rc<RefCell<N>>, limits: Limits) -> Self {
        Self {
            me,
            net: Rc::clone(net),
            limits,
            bulk: Vec::new(),
            refused: Vec::new(),
            given_up: Vec::new(),
            lost: Vec::new(),
            moves: BulkCounts::default(),
        }
    }

    /// The number of this end as a peer of the others.
    #[must_use]
    pub const fn me(&self) -> Peer {
        Peer(self.me)
    }

    /// Starts a get or a put, by its `access` at `peer`.
    fn start(
        &mut self,
        access: Access,
        Peer(peer): Peer,
        there: Remote<'_>,
        own: Local<'_, u64>,
        token: Token,
    ) -> Result<(), Busy> {
        let lost = self.lost.iter().find(|(lost, _)| *lost == peer);
        let checked = match lost {
            Some(&(_, why)) => Err(why),
            None => own.transfer_len(&there),
        };
        let len = match checked {
            Ok(len) => len,
            Err(fault) => {
                self.bulk.push(Bulk::Ended(token, Err(fault)));
                return Ok(());
            }
        };
        let full = self.bulk.len() >= OPERATIONS;
        if full || !self.net.borrow_mut().admits_move(self.me, peer) {
            self.refuse(peer);
            return Err(Busy);
        }
        self.bulk.push(Bulk::Move(Move {
            peer,
            own: (self.me, *own.region, own.at),
            there: (peer, number_in(there.key), there.at),
            len,
            access,
            token,
        }));
        let moves = self.bulk.iter().filter(|b| matches!(b, Bulk::Move(_)));
        self.moves.most = self.moves.most.max(moves.count() as u64);
        Ok(())
    }

    fn refuse(&mut self, peer: u32) {
        if !self.refused.contains(&peer) {
            self.refused.push(peer);
        }
    }

    /// Ends all gets and puts with `peer`, which is lost.
    pub(crate) fn lose(&mut self, peer: u32, why: Fault) {
        self.lost.push((peer, why));
        self.refused.retain(|refused| *refused != peer);
        for bulk in &mut self.bulk {
            if let Bulk::Move(with) = bulk
                && with.peer == peer
            {
                *bulk = Bulk::Ended(with.token, Err(why));
            }
        }
    }

    /// Tells the sink all ends that it does not know yet.
    pub(crate) fn report<S: Sink<Self>>(&mut self, sink: &mut S) {
        let all = std::mem::take(&mut self.bulk);
        for bulk in all {
            match bulk {
                Bulk::Ended(token, result) => sink.done(self, token, result),
                other => self.bulk.push(other),
            }
        }
    }

    /// Ends the bulk operations that are not delayed, in any order. Returns how many.
    pub(crate) fn advance<S: Sink<Self>>(&mut self, sink: &mut S) -> u32 {
        let (mut ended, mut at) = (0, 0);
        while at < self.bulk.len() {
            let mut net = self.net.borrow_mut();
            if net.delays() {
                at += 1;
                continue;
            }
            let (token, result) = match self.bulk.swap_remove(at) {
                Bulk::Move(bulk) => (bulk.token, net.move_bytes(self.me, &bulk)),
                Bulk::Release { region, token } => {
                    net.regions().release(self.me, region);
                    (token, Ok(()))
                }
                Bulk::Ended(token, result) => (token, result),
            };
            drop(net);
            ended += 1;
            sink.done(self, token, result);
        }
        ended
    }
}

impl<N: InProcessNet> Tx for InProcessTx<N> {
    type Slot<'a>
        = FrameBuilder<'a, N>
    where
        Self: 'a;

    fn limits(&self, _to: Peer) -> &Limits {
        &self.limits
    }

    fn short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        let fits = body.len() <= u64::from(self.limits.short);
        assert!(fits, "longer than the short path");
        self.whole(to, head, body)
    }

    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<FrameBuilder<'_, N>, Busy> {
        let fits = head.len <= self.limits.frame && len == head.len as usize;
        assert!(fits, "a frame of {len} B");
        let admitted = (self.net.borrow_mut()).admits_frame(self.me, to.0, head.len);
        if !admitted {
            self.refuse(to.0);
            return Err(Busy);
        }
        Ok(FrameBuilder {
            body: Vec::with_capacity(len),
            tx: self,
            to: to.0,
            head: *head,
        })
    }

    fn give_up(&mut self, peer: Peer, why: Fault) {
        self.given_up.push((peer, why));
        self.lose(peer.0, why);
    }
}

impl<N: InProcessNet> Memory for InProcessTx<N> {
    type Bytes = Buffer;
    type Region = u64;

    fn register(&mut self, bytes: Buffer, access: Access, _: Peer) -> Result<u64, Fault> {
        let mut net = self.net.borrow_mut();
        Ok(net.regions().register(self.me, bytes, access))
    }

    fn expose(&mut self, region: &u64, _to: Peer) -> Key {
        key_of(*region)
    }

    fn release(&mut self, region: u64, token: Token) {
        self.bulk.push(Bulk::Release { region, token });
    }
}

impl<N: InProcessNet> Rma for InProcessTx<N> {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, u64>,
        token: Token,
    ) -> Result<(), Busy> {
        self.start(Access::READ, of, from, to, token)?;
        self.moves.gets += 1;
        Ok(())
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, u64>,
        at: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        self.start(Access::WRITE, to, at, from, token)?;
        self.moves.puts += 1;
        Ok(())
    }
}

/// A frame under construction.
#[derive(Debug)]
pub struct FrameBuilder<'a, N> {
    tx: &'a InProcessTx<N>,
    to: u32,
    head: Header,
    body: Vec<u8>,
}

impl<N> Put for FrameBuilder<'_, N> {
    fn room(&self) -> usize {
        self.head.len as usize - self.body.len()
    }

    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room(), "more than the frame holds");
        self.body.extend_from_slice(bytes);
    }
}

impl<N: InProcessNet> Slot for FrameBuilder<'_, N> {
    fn send(self) {
        assert_eq!(self.room(), 0, "the frame is not full");
        let mut net = self.tx.net.borrow_mut();
        net.post(self.tx.me, self.to, self.head, self.body);
    }
}
