//! A network that the core does not know ([`OtherNetwork`]): experiments, tests, networks of other crates.
//!
//! The traits of transports are generic, so that known networks are called without a pointer. This one is behind
//! pointers: each call is an indirect one, each frame that is sent is allocated, and each that arrives is copied
//! before the engine sees it, as the network's poll knows its own sending half only.

use std::any::Any;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use oxmpi_os::RawBytes;
use oxmpi_wire::{
    Access, Atomic, Busy, Fault, Header, Key, Limits, Local, Network, Peer, Remote, Rx, Sink, Slot,
    Take, Token, WaitObjects,
};

/// A network that the core does not know, with two halves that have joined the ranks of a job. Its peers are ranks.
///
/// # Cost
/// Calls through pointers, an allocation for each frame that is sent, and a copy of each frame that arrives.
pub struct OtherNetwork {
    pub(super) tx: Box<dyn OtherTx>,
    pub(super) rx: Box<dyn OtherRx>,
}

impl OtherNetwork {
    /// The network with these halves.
    pub fn new<T, R>(tx: T, rx: R) -> Self
    where
        T: Network<Bytes = RawBytes, Region: Send> + Send + 'static,
        R: for<'a> WaitObjects<WaitObject<'a> = BorrowedFd<'a>> + Rx<T> + Send + 'static,
    {
        let rx = Box::new(ErasedRx {
            rx,
            of: std::marker::PhantomData::<fn(T)>,
        });
        Self {
            tx: Box::new(ErasedTx(tx)),
            rx,
        }
    }
}

/// [`Slot`] behind a pointer.
pub(crate) trait OtherSlot {
    fn room(&self) -> usize;
    fn put(&mut self, bytes: &[u8]);
    fn send(self: Box<Self>);
}

struct ErasedSlot<S>(S);

impl<S: Slot> OtherSlot for ErasedSlot<S> {
    fn room(&self) -> usize {
        self.0.room()
    }

    fn put(&mut self, bytes: &[u8]) {
        self.0.put(bytes);
    }

    fn send(self: Box<Self>) {
        self.0.send();
    }
}

/// A region of a network that the core does not know.
pub(crate) type AnyRegion = Box<dyn Any + Send>;

/// [`Network`] behind a pointer. Regions are those that it has made.
pub(crate) trait OtherTx: Any + Send {
    fn limits(&self, to: Peer) -> &Limits;
    fn frame(
        &mut self,
        to: Peer,
        head: &Header,
        len: usize,
    ) -> Result<Box<dyn OtherSlot + '_>, Busy>;
    fn flush(&mut self);
    fn give_up(&mut self, peer: Peer, why: Fault);
    fn register(&mut self, bytes: RawBytes, access: Access, with: Peer)
    -> Result<AnyRegion, Fault>;
    fn expose(&mut self, region: &AnyRegion, to: Peer) -> Key;
    fn release(&mut self, region: AnyRegion, token: Token);
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, AnyRegion>,
        token: Token,
    ) -> Result<(), Busy>;
    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, AnyRegion>,
        into: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy>;
    fn atomic(
        &mut self,
        to: Peer,
        word: Remote<'_>,
        atomic: Atomic,
        old: Local<'_, AnyRegion>,
        token: Token,
    ) -> Result<(), Busy>;
    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy>;
    fn introduce(&mut self, card: &str, peers: &[(Peer, Option<u16>)]) -> Result<(), String>;
    fn connect(&mut self, peer: Peer);
    fn is_connected(&self, peer: Peer) -> bool;
    fn host(&self, peer: Peer) -> &str;
    fn routes(&self, peer: Peer) -> String;
    fn has_local_work(&self) -> bool;
    fn has_unsent(&self) -> bool;
    fn abort(self: Box<Self>);
}

struct ErasedTx<T>(T);

/// A region as the network `T` knows it.
fn region_of<T: Network<Region: 'static>>(region: &AnyRegion) -> &T::Region {
    ((**region).downcast_ref()).expect("an endpoint has one network, which made its regions")
}

/// A range of a region as the network `T` knows it.
fn local<T: Network<Region: 'static>>(range: Local<'_, AnyRegion>) -> Local<'_, T::Region> {
    let Local { region, at, len } = range;
    let region = region_of::<T>(region);
    Local { region, at, len }
}

impl<T: Network<Bytes = RawBytes, Region: Send> + Send + 'static> OtherTx for ErasedTx<T> {
    fn limits(&self, to: Peer) -> &Limits {
        self.0.limits(to)
    }

    fn frame(
        &mut self,
        to: Peer,
        head: &Header,
        len: usize,
    ) -> Result<Box<dyn OtherSlot + '_>, Busy> {
        let slot = self.0.frame(to, head, len)?;
        Ok(Box::new(ErasedSlot(slot)))
    }

    fn flush(&mut self) {
        self.0.flush();
    }

    fn give_up(&mut self, peer: Peer, why: Fault) {
        self.0.give_up(peer, why);
    }

    fn register(
        &mut self,
        bytes: RawBytes,
        access: Access,
        with: Peer,
    ) -> Result<AnyRegion, Fault> {
        let region = self.0.register(bytes, access, with)?;
        Ok(Box::new(region))
    }

    fn expose(&mut self, region: &AnyRegion, to: Peer) -> Key {
        self.0.expose(region_of::<T>(region), to)
    }

    fn release(&mut self, region: AnyRegion, token: Token) {
        let region = region.downcast().expect("it made the region");
        self.0.release(*region, token);
    }

    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, AnyRegion>,
        token: Token,
    ) -> Result<(), Busy> {
        self.0.get(of, from, local::<T>(to), token)
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, AnyRegion>,
        into: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        self.0.put(to, local::<T>(from), into, token)
    }

    fn atomic(
        &mut self,
        to: Peer,
        word: Remote<'_>,
        atomic: Atomic,
        old: Local<'_, AnyRegion>,
        token: Token,
    ) -> Result<(), Busy> {
        self.0.atomic(to, word, atomic, local::<T>(old), token)
    }

    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy> {
        self.0.flush_peer(to, token)
    }

    fn introduce(&mut self, card: &str, peers: &[(Peer, Option<u16>)]) -> Result<(), String> {
        (self.0.introduce(card, peers)).map_err(|why| why.to_string())
    }

    fn connect(&mut self, peer: Peer) {
        self.0.connect(peer);
    }

    fn is_connected(&self, peer: Peer) -> bool {
        self.0.is_connected(peer)
    }

    fn host(&self, peer: Peer) -> &str {
        self.0.host(peer)
    }

    fn routes(&self, peer: Peer) -> String {
        self.0.routes(peer)
    }

    fn has_local_work(&self) -> bool {
        self.0.has_local_work()
    }

    fn has_unsent(&self) -> bool {
        self.0.has_unsent()
    }

    fn abort(self: Box<Self>) {
        self.0.abort();
    }
}

/// [`Rx`] and [`WaitObjects`] behind a pointer.
pub(crate) trait OtherRx: Send {
    /// Polls all peers, or `from` only. `tx` is the sending half of the same network. Returns the number of arrivals
    /// and steps, and the events for the sink.
    fn poll(&mut self, tx: &mut dyn OtherTx, from: Option<Peer>, budget: u32) -> (u32, Vec<Event>);
    fn arm(&mut self) -> bool;
    fn watch<'a>(&'a self, watch: &mut dyn FnMut(BorrowedFd<'a>));
    fn longest_sleep(&self) -> Duration;
}

struct ErasedRx<T, R> {
    rx: R,
    of: std::marker::PhantomData<fn(T)>,
}

impl<T, R> OtherRx for ErasedRx<T, R>
where
    T: 'static,
    R: for<'a> WaitObjects<WaitObject<'a> = BorrowedFd<'a>> + Rx<T> + Send + 'static,
{
    fn poll(&mut self, tx: &mut dyn OtherTx, from: Option<Peer>, budget: u32) -> (u32, Vec<Event>) {
        let tx = (tx as &mut dyn Any).downcast_mut::<ErasedTx<T>>();
        let ErasedTx(tx) = tx.expect("both halves are of one network");
        let mut events = Events(Vec::new());
        let moved = match from {
            Some(from) => self.rx.poll_from(tx, from, &mut events),
            None => self.rx.poll(tx, budget, &mut events),
        };
        (moved, events.0)
    }

    fn arm(&mut self) -> bool {
        self.rx.arm()
    }

    fn watch<'a>(&'a self, watch: &mut dyn FnMut(BorrowedFd<'a>)) {
        self.rx.watch(watch);
    }

    fn longest_sleep(&self) -> Duration {
        self.rx.longest_sleep()
    }
}

/// An event of a poll, kept until the sink may have the endpoint's sending half.
pub(crate) enum Event {
    Frame(Peer, Header, Vec<u8>),
    Done(Token, Result<(), Fault>),
    Room(Peer),
    Lost(Peer, Fault),
}

impl Event {
    pub(super) fn hand<T>(self, tx: &mut T, sink: &mut impl Sink<T>) {
        match self {
            Self::Frame(from, head, body) => sink.frame(tx, from, &head, &mut &body[..]),
            Self::Done(token, result) => sink.done(tx, token, result),
            Self::Room(to) => sink.room(tx, to),
            Self::Lost(peer, why) => sink.lost(tx, peer, why),
        }
    }
}

struct Events(Vec<Event>);

impl<T> Sink<T> for Events {
    fn frame(&mut self, _: &mut T, from: Peer, head: &Header, body: &mut impl Take) {
        let mut bytes = vec![0; body.left()];
        body.take(&mut bytes);
        self.0.push(Event::Frame(from, *head, bytes));
    }

    fn done(&mut self, _: &mut T, token: Token, result: Result<(), Fault>) {
        self.0.push(Event::Done(token, result));
    }

    fn room(&mut self, _: &mut T, to: Peer) {
        self.0.push(Event::Room(to));
    }

    fn lost(&mut self, _: &mut T, peer: Peer, why: Fault) {
        self.0.push(Event::Lost(peer, why));
    }
}
