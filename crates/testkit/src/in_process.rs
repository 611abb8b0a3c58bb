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
    /// Moves the bytes of a get or a put of end `me`. `None`: the peer is dead, and the operation never ends.
    fn move_bytes(&mut self, me: u32, bulk: &Move) -> Option<Result<(), Fault>>;
}

/// A get or a put under way.
#[derive(Debug)]
pub struct Move {
    pub(crate) peer: u32,
    pub(crate) from: RegionOffset,
    pub(crate) to: RegionOffset,
    pub(crate) len: u64,
    token: Token,
}

/// A bulk operation under way.
#[derive(Debug)]
enum Bulk {
    Move(Move),
    Release { region: u64, token: Token },
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
            moves: BulkCounts::default(),
        }
    }

    /// The number of this end as a peer of the others.
    #[must_use]
    pub const fn me(&self) -> Peer {
        Peer(self.me)
    }

    fn start(&mut self, bulk: Move) -> Result<(), Busy> {
        if !self.net.borrow_mut().admits_move(self.me, bulk.peer) {
            self.refuse(bulk.peer);
            return Err(Busy);
        }
        self.bulk.push(Bulk::Move(bulk));
        let moves = self.bulk.iter().filter(|b| matches!(b, Bulk::Move(_)));
        self.moves.most = self.moves.most.max(moves.count() as u64);
        Ok(())
    }

    fn refuse(&mut self, peer: u32) {
        if !self.refused.contains(&peer) {
            self.refused.push(peer);
        }
    }

    /// Drops all gets and puts with `peer`.
    pub(crate) fn forget_moves(&mut self, peer: u32) {
        self.bulk
            .retain(|bulk| !matches!(bulk, Bulk::Move(with) if with.peer == peer));
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
                    (token, Some(Ok(())))
                }
            };
            drop(net);
            if let Some(result) = result {
                ended += 1;
                sink.done(self, token, result);
            }
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
        self.forget_moves(peer.0);
        self.refused.retain(|refused| *refused != peer.0);
    }
}

impl<N: InProcessNet> Memory for InProcessTx<N> {
    type Bytes = Buffer;
    type Region = u64;

    fn register(&mut self, bytes: Buffer, _: Access, _: Peer) -> Result<u64, Fault> {
        Ok(self.net.borrow_mut().regions().register(self.me, bytes))
    }

    fn key(&mut self, region: &u64, _to: Peer) -> Key {
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
        assert_eq!(from.len, to.len, "both ranges have one length");
        self.start(Move {
            peer: of.0,
            from: (of.0, number_in(from.key), from.at),
            to: (self.me, *to.region, to.at),
            len: to.len,
            token,
        })?;
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
        assert_eq!(from.len, at.len, "both ranges have one length");
        self.start(Move {
            peer: to.0,
            from: (self.me, *from.region, from.at),
            to: (to.0, number_in(at.key), at.at),
            len: at.len,
            token,
        })?;
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
