//! The sending half of both in-process transports ([`InProcessTx`]): frames, registered memory and access to it.

mod operation;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use oxmpi_wire::flushes::Flushes;
use oxmpi_wire::{
    Access, Atomic, Busy, Bytes, Fault, Header, Key, Limits, Local, Memory, Peer, Put, Remote, Rma,
    Sink, Slot, Token, Tx,
};

use self::operation::{Operation, OperationKind, WordChange};

use crate::memory::Buffer;
use crate::region_store::{RegionStore, key_of, number_in};

pub(crate) use self::operation::Move;

/// Most operations of one end that are in flight.
const OPERATIONS: usize = 256;

/// What the ends of an in-process transport share: the frames under way and the registered memory.
pub trait InProcessNet: fmt::Debug {
    /// The registered memory of all ends.
    fn regions(&mut self) -> &mut RegionStore;
    /// Whether there is room for a frame of `len` body bytes from end `from` to end `to` now.
    fn admits_frame(&mut self, from: u32, to: u32, len: u32) -> bool;
    /// Whether end `me` may start an operation on the memory of `peer` now.
    fn admits_move(&mut self, me: u32, peer: u32) -> bool {
        let _ = (me, peer);
        true
    }
    /// Takes a complete frame, for which there was room.
    fn post(&mut self, from: u32, to: u32, head: Header, body: Vec<u8>);
    /// Whether `peer` is dead.
    fn is_dead(&self, peer: u32) -> bool {
        let _ = peer;
        false
    }
    /// Whether an operation that could end now ends later.
    fn delays(&mut self) -> bool {
        false
    }
    /// Moves the bytes of a get or a put of end `me`.
    fn move_bytes(&mut self, me: u32, bulk: &Move) -> Result<(), Fault>;
}

/// Counts of bulk operations that an end has started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkCounts {
    /// Gets.
    pub gets: u64,
    /// Puts.
    pub puts: u64,
    /// Most gets and puts in flight at once.
    pub most: u64,
}

/// The sending half of one end.
#[derive(Debug)]
pub struct InProcessTx<N> {
    me: u32,
    pub(crate) net: Rc<RefCell<N>>,
    limits: Limits,
    operations: Vec<Operation>,
    flushes: Flushes,
    /// Released regions.
    releases: Vec<(u64, Token)>,
    /// Operations whose ends are still to be reported to the sink.
    ended: Vec<(Token, Result<(), Fault>)>,
    /// What [`Tx::allow_short`] allows, by peer.
    below: BTreeMap<u32, u32>,
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
            operations: Vec::new(),
            flushes: Flushes::new(),
            releases: Vec::new(),
            ended: Vec::new(),
            below: BTreeMap::new(),
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

    /// Starts an operation with `peer`; an error is its end.
    fn start(
        &mut self,
        Peer(peer): Peer,
        kind: Result<OperationKind, Fault>,
        token: Token,
    ) -> Result<(), Busy> {
        let kind = match self.check_peer(peer).and(kind) {
            Ok(kind) => kind,
            Err(fault) => {
                self.ended.push((token, Err(fault)));
                return Ok(());
            }
        };
        self.check_room(peer)?;
        let number = self.flushes.number();
        self.operations.push(Operation {
            peer,
            number,
            token,
            kind,
        });
        let moves = self.operations.iter().filter(|one| !one.is_atomic());
        self.moves.most = self.moves.most.max(moves.count() as u64);
        Ok(())
    }

    /// A get or a put, by its `access` at `peer`.
    fn bulk(
        &self,
        access: Access,
        peer: Peer,
        there: Remote<'_>,
        own: Local<'_, u64>,
    ) -> Result<OperationKind, Fault> {
        Ok(OperationKind::Move(Move {
            len: own.transfer_len(&there)?,
            own: (self.me, *own.region, own.at),
            there: (peer.0, number_in(there.key), there.at),
            access,
        }))
    }

    /// Why `peer` is lost, if it is.
    fn check_peer(&self, peer: u32) -> Result<(), Fault> {
        let lost = self.lost.iter().find(|(lost, _)| *lost == peer);
        lost.map_or(Ok(()), |(_, why)| Err(*why))
    }

    fn check_room(&mut self, peer: u32) -> Result<(), Busy> {
        let open = self.operations.len() + self.flushes.len();
        let full = open >= OPERATIONS || self.ended.len() >= OPERATIONS;
        if full || !self.net.borrow_mut().admits_move(self.me, peer) {
            self.refuse(peer);
            return Err(Busy);
        }
        Ok(())
    }

    fn refuse(&mut self, peer: u32) {
        if !self.refused.contains(&peer) {
            self.refused.push(peer);
        }
    }

    /// Ends all operations with `peer`, which is lost.
    pub(crate) fn lose(&mut self, peer: u32, why: Fault) {
        self.lost.push((peer, why));
        self.refused.retain(|refused| *refused != peer);
        let with_peer = |one: &mut Operation| one.peer == peer;
        for operation in self.operations.extract_if(.., with_peer) {
            self.ended.push((operation.token, Err(why)));
        }
        while let Some(token) = self.flushes.lose(peer) {
            self.ended.push((token, Err(why)));
        }
    }

    /// Tells the sink the ends that it does not know yet. Returns how many.
    pub(crate) fn report<S: Sink<Self>>(&mut self, sink: &mut S) -> u32 {
        let ended = std::mem::take(&mut self.ended);
        let count = ended.len() as u32;
        for (token, result) in ended {
            sink.done(self, token, result);
        }
        count
    }

    /// Ends the operations that are not delayed: gets and puts in any order, atomics of a peer in theirs. Returns how
    /// many.
    pub(crate) fn advance<S: Sink<Self>>(&mut self, sink: &mut S) -> u32 {
        let mut at = 0;
        while at < self.operations.len() {
            let mut net = self.net.borrow_mut();
            if net.delays() || self.is_early(&self.operations[at]) {
                at += 1;
                continue;
            }
            let operation = self.operations.swap_remove(at);
            let result = match operation.kind {
                _ if net.is_dead(operation.peer) => Err(Fault::PeerDead),
                OperationKind::Move(bulk) => net.move_bytes(self.me, &bulk),
                OperationKind::Atomic(word) => word.perform(net.regions()),
            };
            self.ended.push((operation.token, result));
            self.flushes.ended(operation.peer, operation.number);
            while let Some(token) = self.flushes.complete() {
                self.ended.push((token, Ok(())));
            }
        }
        self.release_some();
        self.report(sink)
    }

    /// Whether `operation` is an atomic that has to wait for an earlier one.
    fn is_early(&self, operation: &Operation) -> bool {
        let earlier = |one: &Operation| {
            one.is_atomic() && one.peer == operation.peer && one.number < operation.number
        };
        operation.is_atomic() && self.operations.iter().any(earlier)
    }

    /// Ends the registrations that are released and not delayed.
    fn release_some(&mut self) {
        let mut net = self.net.borrow_mut();
        for (region, token) in std::mem::take(&mut self.releases) {
            if net.delays() {
                self.releases.push((region, token));
            } else {
                net.regions().release(self.me, region);
                self.ended.push((token, Ok(())));
            }
        }
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

    fn put_short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> bool {
        let below = self.below.get(&to.0).copied().unwrap_or(0);
        body.len() < below.into() && self.short(to, head, body).is_ok()
    }

    fn allow_short(&mut self, to: Peer, below: u32) {
        self.below.insert(to.0, below);
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
        self.releases.push((region, token));
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
        let get = self.bulk(Access::READ, of, from, to);
        self.start(of, get, token)?;
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
        let put = self.bulk(Access::WRITE, to, at, from);
        self.start(to, put, token)?;
        self.moves.puts += 1;
        Ok(())
    }

    fn atomic(
        &mut self,
        to: Peer,
        at: Remote<'_>,
        atomic: Atomic,
        old: Local<'_, u64>,
        token: Token,
    ) -> Result<(), Busy> {
        let change = old.word_width(&at).map(|width| WordChange {
            there: (to.0, number_in(at.key), at.at),
            old: (self.me, *old.region, old.at),
            width,
            atomic,
        });
        self.start(to, change.map(OperationKind::Atomic), token)
    }

    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy> {
        if let Err(why) = self.check_peer(to.0) {
            self.ended.push((token, Err(why)));
            return Ok(());
        }
        self.check_room(to.0)?;
        let open = self.operations.iter().filter(|one| one.peer == to.0);
        self.flushes.begin(to.0, open.count(), token);
        while let Some(token) = self.flushes.complete() {
            self.ended.push((token, Ok(())));
        }
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
