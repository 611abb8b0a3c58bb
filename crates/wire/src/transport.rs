//! The interface between the engine and a transport.
//!
//! A transport moves frames and bulk bytes between the processes it connects. It does no matching
//! and keeps no request state: it hands every arrival to a [`Sink`], which is the engine. All of it
//! is generic, so that a lane's transport and engine compile to one piece of code without indirect
//! calls.
//!
//! Bytes that another process may change are never behind a reference. A sender writes them through
//! [`Put`], a receiver reads them once through [`Take`], and a header is copied out before it is
//! checked.

pub mod fast_path;

use self::fast_path::{EnvelopeFilter, ShortMessage};
use crate::fault::Fault;
use crate::header::{Envelope, Header};
use crate::paths::Limits;

/// A transport's own index of a peer: not a rank.
///
/// The runtime gives each transport's sink the table from its peers to the engine's links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Peer(pub u32);

/// Names a bulk operation.
///
/// Chosen by the engine and given back in [`Sink::done`], once for each operation that was started
/// with it: transports keep no request state. The puts of one message have one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token(pub u64);

/// Nothing was sent, and nothing is wrong: [`Sink::room`] says when to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// A write-only place for bytes: a ring, a work request, a socket's buffer.
pub trait Put {
    /// Bytes that still fit.
    fn room(&self) -> usize;
    /// Appends `bytes`.
    ///
    /// # Panics
    /// If `bytes` is longer than [`Put::room`]; the caller asked for the room when it took the slot.
    fn put(&mut self, bytes: &[u8]);
    /// As [`Put::put`], where the length is known to the compiler: a few moves.
    ///
    /// # Panics
    /// As there.
    #[inline(always)]
    fn put_exact<const N: usize>(&mut self, bytes: [u8; N]) {
        self.put(&bytes);
    }
}

/// A frame under construction: the room for its body.
pub trait Slot: Put {
    /// Publishes the frame. A slot that is dropped or forgotten sends nothing.
    fn send(self);
}

/// A read-once source of bytes that came from a peer.
pub trait Take {
    /// Bytes that are left.
    fn left(&self) -> usize;
    /// Moves the next `to.len()` bytes into `to`.
    ///
    /// # Panics
    /// If `to` is longer than [`Take::left`].
    fn take(&mut self, to: &mut [u8]);
    /// As [`Take::take`], where the length is known to the compiler: a few moves.
    ///
    /// # Panics
    /// As there.
    #[inline(always)]
    fn take_exact<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.take(&mut bytes);
        bytes
    }
}

/// Bytes that are this process's own already.
impl Take for &[u8] {
    fn left(&self) -> usize {
        self.len()
    }

    fn take(&mut self, to: &mut [u8]) {
        let (now, later) = self.split_at(to.len());
        to.copy_from_slice(now);
        *self = later;
    }
}

/// A user's bytes, with their layout.
///
/// Made by whoever owns the memory (`oxmpi-os` from a raw pointer), moved through by the engine and
/// the transports. One type serves all transports of a lane. It is a handle: a clone means the same
/// bytes.
pub trait Bytes: Clone {
    /// Length of the packed bytes.
    fn len(&self) -> u64;
    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The address of the first byte, where all lie side by side in this process's memory: what a
    /// transport that copies between address spaces tells the other side. `None` elsewhere.
    fn address(&self) -> Option<u64> {
        None
    }
    /// These bytes, if they are eight side by side, as they lie in memory.
    ///
    /// # Cost
    /// What a short message's road asks first: a compare and a load. Other lengths go by
    /// [`Bytes::drain`].
    #[inline(always)]
    fn word(&self) -> Option<u64> {
        None
    }
    /// Moves `word` to the first eight bytes, if those lie side by side. False: nothing was moved, and
    /// [`Bytes::fill`] does it.
    ///
    /// # Cost
    /// As [`Bytes::word`]'s.
    #[inline(always)]
    fn fill_word(&self, word: u64) -> bool {
        let _ = word;
        false
    }
    /// Moves all that `from` has left to packed offset `at`; what lies beyond [`Bytes::len`] is
    /// left in `from`.
    fn fill(&self, at: u64, from: &mut impl Take);
    /// Appends `len` packed bytes from offset `at` to `to`.
    ///
    /// # Panics
    /// If `at + len` exceeds [`Bytes::len`] or `len` exceeds the room of `to`.
    fn drain(&self, at: u64, len: usize, to: &mut impl Put);
}

/// The sending half of a transport.
pub trait Tx {
    /// The frame under construction that [`Tx::frame`] gives.
    type Slot<'a>: Slot
    where
        Self: 'a;

    /// Reach and costs of the paths to `to`.
    fn limits(&self, to: Peer) -> &Limits;

    /// Sends a short frame (path E0): the transport drains `body` straight into its line. One that
    /// has no such line sends a frame like any other.
    ///
    /// # Errors
    /// [`Busy`] when the peer has no room now.
    ///
    /// # Panics
    /// If `body` is longer than [`Limits::short`].
    fn short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        self.whole(to, head, body)
    }

    /// Sends a frame (path E1) whose whole body is at hand: [`Tx::frame`] and its slot, unless the
    /// transport knows a way that copies less.
    ///
    /// # Errors
    /// [`Busy`] when the peer has no room now.
    ///
    /// # Panics
    /// If `body` is longer than [`Limits::frame`].
    #[inline]
    fn whole<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        let len = body.len() as usize;
        let mut slot = self.frame(to, head, len)?;
        body.drain(0, len, &mut slot);
        slot.send();
        Ok(())
    }

    /// The part of [`Tx::short`] that is worth inlining: sends the frame if `body` is as short as
    /// [`Tx::allow_short`] allows and there is room for certain, and does nothing otherwise. After false,
    /// [`Tx::short`] tells. It runs no code but the transport's and that of `body`, and allocates nothing.
    #[inline(always)]
    fn put_short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> bool {
        let _ = (to, head, body);
        false
    }

    /// From now on [`Tx::put_short`] takes bodies shorter than `below` bytes to `to`, none before the first
    /// call: so a transport finds that beside what else it looks up there. One without a
    /// [`Tx::put_short`] of its own needs none of this.
    #[inline]
    fn allow_short(&mut self, to: Peer, below: u32) {
        let _ = (to, below);
    }

    /// Room for a frame of `len` body bytes (path E1): put exactly `len` bytes, then send.
    ///
    /// # Errors
    /// [`Busy`] when the peer has no room now.
    ///
    /// # Panics
    /// If `len` exceeds [`Limits::frame`].
    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<Self::Slot<'_>, Busy>;

    /// Rings the doorbells of those sent to since the last flush: once per progress pass. Nothing,
    /// where no peer sleeps.
    fn flush(&mut self) {}

    /// The sink gives `peer` up, since it broke the sink's protocol: nothing more is exchanged with
    /// it, and the bulk operations under way with it end as if it were lost. A [`Sink::lost`] about
    /// it may follow.
    fn give_up(&mut self, peer: Peer, why: Fault);
}

/// Has a transport's sending half: that half itself, or one transport made of several.
///
/// A receiving half takes any of these, and hands it on to the sink, so that the engine over several
/// transports answers an arrival of one of them through all.
pub trait AsTx<X> {
    /// The sending half.
    fn as_tx(&mut self) -> &mut X;
}

impl<X> AsTx<X> for X {
    #[inline(always)]
    fn as_tx(&mut self) -> &mut X {
        self
    }
}

/// The receiving half of a transport whose sending half `T` is, or [holds](AsTx).
///
/// The sending half comes along in every poll: credits go back, bulk operations advance, and the
/// sink answers arrivals from inside them.
pub trait Rx<T> {
    /// Hands at most `budget` arrivals from all peers to `sink`, and returns how many it handed
    /// over or how much bulk it moved: 0 means idle.
    fn poll<S: Sink<T>>(&mut self, tx: &mut T, budget: u32, sink: &mut S) -> u32;

    /// As [`Rx::poll`], looking at one peer only: the direct road, and waiting for a named source.
    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, from: Peer, sink: &mut S) -> u32;

    /// A look of the direct road: as [`Rx::poll_from`] (or as [`Rx::poll`], where no sender is
    /// named, with a budget of one), but a whole message without any mark that is `wanted` and not
    /// longer than `body` goes there and not to `sink`, if nothing else came in this look before
    /// it. `None`: none was taken.
    ///
    /// # Cost
    /// Where a transport has its own: one compare each of sequence, kind, envelope and length.
    fn poll_short<C: Bytes, S: Sink<T>>(
        &mut self,
        tx: &mut T,
        from: Option<Peer>,
        wanted: EnvelopeFilter,
        body: &C,
        sink: &mut S,
    ) -> Option<ShortMessage> {
        fast_path::poll_short(self, tx, from, wanted, body, sink)
    }

    /// The part of [`Rx::poll_short`] that is worth inlining: takes the message if it has come from
    /// `from`, and does nothing otherwise. After `None`, [`Rx::poll_short`] tells. It runs no code but
    /// the transport's and that of `body`, and allocates nothing.
    #[inline(always)]
    fn take_short<C: Bytes>(
        &mut self,
        tx: &mut T,
        from: Peer,
        wanted: EnvelopeFilter,
        body: &C,
    ) -> Option<ShortMessage> {
        let _ = (tx, from, wanted, body);
        None
    }
}

/// What can announce that its thread is about to sleep.
pub trait Sleeper {
    /// Announces that the caller is about to sleep. False: something may have come, so poll again and
    /// do not sleep yet.
    fn arm(&mut self) -> bool;
}

/// Where a transport hands its events: the engine.
pub trait Sink<T> {
    /// As [`Sink::frame`], of a whole message without any mark that lies in a line: taken if a
    /// receive is known to wait for it. False: nothing was done, and [`Sink::frame`] follows with
    /// the same message. A transport need not ask.
    #[inline(always)]
    fn expected(&mut self, from: Peer, envelope: Envelope, body: &mut impl Take) -> bool {
        let _ = (from, envelope, body);
        false
    }
    /// A frame came. `head` is already copied out and checked for form; `body` holds `head.len`
    /// bytes, and what the sink leaves in it is skipped.
    fn frame(&mut self, tx: &mut T, from: Peer, head: &Header, body: &mut impl Take);
    /// The bulk operation `token` ended.
    fn done(&mut self, tx: &mut T, token: Token, result: Result<(), Fault>);
    /// There is room to `to` again after a [`Busy`].
    fn room(&mut self, tx: &mut T, to: Peer);
    /// `peer` is gone for good, told once. Gets and puts with it end with it, whether
    /// [`Sink::done`] tells of them or not; a release is answered all the same.
    fn lost(&mut self, tx: &mut T, peer: Peer, why: Fault);
}

/// What lets a peer reach registered bytes: fixed size, fits a request-to-send. Only the transport
/// that made it knows its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub [u8; Key::LEN]);

impl Key {
    /// Size of a key in bytes.
    pub const LEN: usize = 32;
}

/// A range of a peer's registered bytes.
#[derive(Clone, Copy, Debug)]
pub struct Remote<'a> {
    /// The peer's key for the region.
    pub key: &'a Key,
    /// First byte, counted from the region's start.
    pub at: u64,
    /// Number of bytes.
    pub len: u64,
}

/// A range of this process's registered bytes.
#[derive(Clone, Copy, Debug)]
pub struct Local<'a, R> {
    /// The region.
    pub region: &'a R,
    /// First byte, counted from the region's start.
    pub at: u64,
    /// Number of bytes.
    pub len: u64,
}

/// What a peer may do with registered bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The peer reads them.
    Read,
    /// The peer writes them.
    Write,
}

/// Memory that a transport can reach from the other side.
pub trait Memory {
    /// The user's bytes.
    type Bytes: Bytes;
    /// Registered bytes.
    type Region;

    /// Makes `bytes` reachable for `with`, and perhaps for others: one transport made of several
    /// chooses by it.
    ///
    /// # Errors
    /// [`Fault`] when the transport has no room for one more region or the system refuses.
    fn register(
        &mut self,
        bytes: Self::Bytes,
        access: Access,
        with: Peer,
    ) -> Result<Self::Region, Fault>;

    /// The key by which `to` reaches `region`. The transport may start to move the bytes towards
    /// `to` at once.
    fn key(&mut self, region: &Self::Region, to: Peer) -> Key;

    /// Ends a registration. Asynchronous, since a peer may still read: `token` comes back in
    /// [`Sink::done`], in a later poll, when nothing touches the memory any more: also not a get or
    /// put whose peer was lost on the way.
    fn release(&mut self, region: Self::Region, token: Token);
}

/// Bulk transfer. Path R0 is [`Rma::get`], path R1 is [`Rma::put`]; a transport without hardware for
/// them emulates both by frames of its own.
pub trait Rma: Memory {
    /// Reads `from` at the peer into `to`, both of the same length.
    ///
    /// # Errors
    /// [`Busy`] when no more operations can be under way now.
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, Self::Region>,
        token: Token,
    ) -> Result<(), Busy>;

    /// Writes `from` to `at` at the peer, both of the same length. `token` comes back when the bytes
    /// are there: a frame that is sent afterwards finds them.
    ///
    /// # Errors
    /// [`Busy`] when no more operations can be under way now.
    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, Self::Region>,
        at: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy>;
}
