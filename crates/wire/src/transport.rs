//! The traits between the engine and a transport: frames ([`Tx`], [`Rx`], [`Sink`]), registered memory and
//! access to it ([`Memory`], [`Rma`]) and user memory ([`Bytes`]).
//!
//! A transport moves frames and bulk bytes between the processes it connects. It does no matching and keeps
//! no request state: it hands every arrival to a [`Sink`], which is the engine. The traits are generic, so
//! that the transport and the engine of an endpoint compile to code without indirect calls.
//!
//! Memory that another process may change is never behind a reference. A sender writes it through [`Put`], a
//! receiver reads it once through [`Take`], and a header is copied before it is checked.

pub mod atomic;
pub mod fast_path;
#[cfg(feature = "alloc")]
mod network;
mod rma;
mod token;

#[cfg(feature = "alloc")]
pub use self::network::{Network, WaitObjects};

pub use self::rma::{Access, Key, Local, Memory, Remote, Rma};
pub use self::token::Token;

use self::atomic::{Atomic, Width};
use self::fast_path::{EnvelopeFilter, QueueHead, ShortMessage};
use crate::fault::Fault;
use crate::header::{Envelope, Header};
use crate::layout::StridedRuns;
use crate::paths::Limits;

/// The index of a peer within a transport; it is not a rank.
///
/// The runtime maps the peers of each transport to the peers of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Peer(pub u32);

/// The transport has no room now and has sent nothing; [`Sink::room`] reports when to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// A write-only destination of bytes: a ring's slot, a work request, a socket's buffer.
pub trait Put {
    /// Number of bytes that still fit.
    fn room(&self) -> usize;
    /// Appends `bytes`.
    ///
    /// # Panics
    /// If `bytes` is longer than [`Put::room`].
    fn put(&mut self, bytes: &[u8]);
    /// Appends each of `ranges`, one after the other. A destination to which each [`Put::put`] is a system call does
    /// it in few.
    ///
    /// # Panics
    /// As [`Put::put`].
    fn put_each(&mut self, ranges: &[&[u8]]) {
        for bytes in ranges {
            self.put(bytes);
        }
    }
    /// As [`Put::put`], for a length that the compiler knows: a few move instructions.
    ///
    /// # Panics
    /// As [`Put::put`].
    #[inline(always)]
    fn put_exact<const N: usize>(&mut self, bytes: [u8; N]) {
        self.put(&bytes);
    }
}

/// A frame under construction: the destination of its body.
pub trait Slot: Put {
    /// Sends the frame. A slot that is dropped or forgotten sends nothing.
    fn send(self);
}

/// A read-once source of bytes, usually of a peer's frame.
pub trait Take {
    /// Number of bytes left.
    fn left(&self) -> usize;
    /// Moves the next `to.len()` bytes into `to`.
    ///
    /// # Panics
    /// If `to` is longer than [`Take::left`].
    fn take(&mut self, to: &mut [u8]);
    /// Moves the next bytes into each of `to`, one after the other. A source to which each [`Take::take`] is a system
    /// call does it in few.
    ///
    /// # Panics
    /// As [`Take::take`].
    fn take_each(&mut self, to: &mut [&mut [u8]]) {
        for to in to {
            self.take(to);
        }
    }
    /// As [`Take::take`], for a length that the compiler knows: a few move instructions.
    ///
    /// # Panics
    /// As [`Take::take`].
    #[inline(always)]
    fn take_exact<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.take(&mut bytes);
        bytes
    }
}

/// Bytes that were copied into this process's memory before.
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

/// A user's buffer with its layout.
///
/// It is a handle: a clone refers to the same bytes. `oxmpi-os` has the implementation for raw pointers. All
/// transports of an endpoint use the same type.
pub trait Bytes: Clone {
    /// Length of the packed bytes.
    fn len(&self) -> u64;
    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The address of the first byte, if all are contiguous in this process's memory: for transports that
    /// copy between address spaces. `None` otherwise.
    fn address(&self) -> Option<u64> {
        None
    }
    /// The address of the first byte, and the places of all counted from there, if they are ranges of equal length at
    /// equal distances in this process's memory; the last one may be shorter. `None` otherwise.
    fn strided(&self) -> Option<(u64, StridedRuns)> {
        None
    }
    /// The bytes in one word, if they are eight contiguous bytes; `None` otherwise: use [`Bytes::drain`].
    ///
    /// # Cost
    /// A compare and a load: a short message asks for it first.
    #[inline(always)]
    fn word(&self) -> Option<u64> {
        None
    }
    /// Writes `word` to the first eight bytes, if these are contiguous. Returns false if nothing was written:
    /// use [`Bytes::fill`].
    ///
    /// # Cost
    /// A compare and a store.
    #[inline(always)]
    fn fill_word(&self, word: u64) -> bool {
        let _ = word;
        false
    }
    /// Performs `atomic` on the word at packed offset `at`, atomically with every other access to that word by
    /// atomic operations, of this or another process. Returns the word before. `None`: it did nothing, since
    /// the bytes have no such word, not all of it lies side by side, or it is not aligned to its width.
    #[must_use]
    fn atomic(&self, at: u64, width: Width, atomic: Atomic) -> Option<u64> {
        let _ = (at, width, atomic);
        None
    }
    /// Moves all bytes of `from` to packed offset `at`; those that exceed [`Bytes::len`] stay in `from`.
    fn fill(&self, at: u64, from: &mut impl Take);
    /// Appends `len` packed bytes from packed offset `at` to `to`.
    ///
    /// # Panics
    /// If `at + len` exceeds [`Bytes::len`] or `len` exceeds the room of `to`.
    fn drain(&self, at: u64, len: usize, to: &mut impl Put);
}

/// The sending half of a transport.
pub trait Tx {
    /// The frame under construction that [`Tx::frame`] returns.
    type Slot<'a>: Slot
    where
        Self: 'a;

    /// Reach and costs of the paths to `to`.
    fn limits(&self, to: Peer) -> &Limits;

    /// Sends a short frame (path E0): the transport drains `body` into a cache line or mailbox. A transport
    /// without one sends a frame like any other.
    ///
    /// # Errors
    /// [`Busy`] when the peer has no room now.
    ///
    /// # Panics
    /// If `body` is longer than [`Limits::short`].
    fn short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        self.whole(to, head, body)
    }

    /// Sends a frame (path E1) with `body`: by [`Tx::frame`], unless the transport overrides it with fewer
    /// copies.
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

    /// The inlined part of [`Tx::short`]: sends the frame if [`Tx::allow_short`] allows its length and there
    /// is room for certain. Returns false if it did nothing: call [`Tx::short`]. It runs only code of the
    /// transport and of `body`, and allocates nothing.
    #[inline(always)]
    fn put_short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> bool {
        let _ = (to, head, body);
        false
    }

    /// As [`Tx::put_short`], for a body of one word, without a call but the one that wakes the receiver: it returns false
    /// too where another call would tell whether there is room.
    #[inline(always)]
    fn put_word(&mut self, to: Peer, envelope: Envelope, word: u64) -> bool {
        let _ = (to, envelope, word);
        false
    }

    /// Allows [`Tx::put_short`] to send bodies shorter than `below` bytes to `to`; before the first call
    /// none. The transport alone keeps this limit, beside its state of the peer, so that a send looks one peer up in one
    /// place; the engine works it out anew whenever the peer's flow control, its loss or the sends that wait for it
    /// change. A transport without its own [`Tx::put_short`] ignores it.
    #[inline]
    fn allow_short(&mut self, to: Peer, below: u32) {
        let _ = (to, below);
    }

    /// Begins a frame with `len` body bytes (path E1): put exactly `len` bytes, then send.
    ///
    /// # Errors
    /// [`Busy`] when the peer has no room now.
    ///
    /// # Panics
    /// If `len` exceeds [`Limits::frame`].
    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<Self::Slot<'_>, Busy>;

    /// Rings the doorbells of the peers that were sent to since the last flush. The runtime calls it once in
    /// each progress pass.
    fn flush(&mut self) {}

    /// The sink gives up `peer`, which broke the protocol: the transport exchanges nothing more with it, and
    /// ends operations with it as if it were lost. A [`Sink::lost`] about it may follow.
    fn give_up(&mut self, peer: Peer, why: Fault);
}

/// Access to a transport's sending half `X`: implemented by that half itself and by a transport composed of
/// several.
///
/// A receiving half accepts either and passes it to the sink, so that an engine over several transports can
/// answer an arrival through any of them.
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

/// The receiving half of a transport. `T` is its sending half, or [contains](AsTx) it.
///
/// Every poll has the sending half as an argument: the transport returns credits and advances bulk
/// operations, and the sink answers arrivals.
pub trait Rx<T> {
    /// Hands at most `budget` arrivals from all peers to `sink`. Returns the number of arrivals and of bulk
    /// steps: 0 means idle.
    fn poll<S: Sink<T>>(&mut self, tx: &mut T, budget: u32, sink: &mut S) -> u32;

    /// As [`Rx::poll`], for arrivals of one peer only: used to wait for a known source.
    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, from: Peer, sink: &mut S) -> u32;

    /// Looks at the next arrival of `from`, or of any peer if that is `None`, and receives it into `body` if it
    /// is a short message without flags, is `wanted` and fits. Whatever else it is stays where it is: the
    /// message is never taken past an earlier one. The caller knows that no receive and no message that the
    /// engine keeps comes first: see the [fast path](fast_path).
    ///
    /// A transport whose arrivals cannot be looked at in place leaves all to the polls.
    ///
    /// # Cost
    /// In a transport that overrides it: one compare each of sequence, kind, envelope and length.
    #[inline(always)]
    fn take_head<C: Bytes>(
        &mut self,
        tx: &mut T,
        from: Option<Peer>,
        wanted: EnvelopeFilter,
        body: &C,
    ) -> QueueHead {
        let _ = (tx, from, wanted, body);
        QueueHead::Other
    }

    /// The inlined part of [`Rx::take_head`]: receives the message if it has arrived from `from`. `None`: it
    /// did nothing; call [`Rx::take_head`]. It runs only code of the transport and of `body`, and allocates
    /// nothing.
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

    /// As [`Rx::take_short`], for a body of one word, without a call: returns the word and the tag. `None` too where the
    /// sender is to be told of free room.
    #[inline(always)]
    fn take_word(
        &mut self,
        from: Peer,
        is_wanted: impl FnOnce(Envelope) -> bool,
    ) -> Option<(u64, u32)> {
        let _ = (from, is_wanted);
        None
    }
}

/// A receiving half whose thread can sleep until a peer rings its doorbell.
pub trait Sleeper {
    /// Announces to the peers that the caller is about to sleep. Returns false if something may have arrived:
    /// poll again before sleeping.
    fn arm(&mut self) -> bool;
}

/// The receiver of a transport's events: the engine.
pub trait Sink<T> {
    /// Offers a whole short message without flags: the sink takes it if a receive is known to wait for it.
    /// Returns false if it did nothing: the transport calls [`Sink::frame`] with the same message. A
    /// transport need not call it.
    #[inline(always)]
    fn expected(&mut self, from: Peer, envelope: Envelope, body: &mut impl Take) -> bool {
        let _ = (from, envelope, body);
        false
    }
    /// A frame arrived. `head` is a checked copy; `body` has `head.len` bytes, and the transport skips those
    /// that the sink leaves.
    fn frame(&mut self, tx: &mut T, from: Peer, head: &Header, body: &mut impl Take);
    /// The operation `token` ended: once for each get, put, atomic, flush and release that was started with it.
    fn done(&mut self, tx: &mut T, token: Token, result: Result<(), Fault>);
    /// There is room for sends to `to` again after a [`Busy`].
    fn room(&mut self, tx: &mut T, to: Peer);
    /// `peer` is lost for good; called once. Every get, put, atomic and flush with it has ended before by a
    /// [`Sink::done`], with `why` unless it was complete; releases still end.
    fn lost(&mut self, tx: &mut T, peer: Peer, why: Fault);
}
