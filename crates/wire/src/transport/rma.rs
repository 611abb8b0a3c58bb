//! Remote memory access: registered memory ([`Memory`]), and gets, puts and atomics on it ([`Rma`]).

use bitflags::bitflags;

use super::atomic::{Atomic, Width};
use super::{Busy, Bytes, Peer, Token};
use crate::fault::Fault;

/// A remote key: lets a peer access registered bytes. It travels in a request-to-send; only the transport
/// that made it knows its content.
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
    /// Offset of the first byte from the region's start.
    pub at: u64,
    /// Number of bytes.
    pub len: u64,
}

/// A range of this process's registered bytes.
#[derive(Clone, Copy, Debug)]
pub struct Local<'a, R> {
    /// The region.
    pub region: &'a R,
    /// Offset of the first byte from the region's start.
    pub at: u64,
    /// Number of bytes.
    pub len: u64,
}

impl<R> Local<'_, R> {
    /// The number of bytes that a transfer between the two ranges moves.
    ///
    /// # Errors
    /// [`Fault::Invalid`] if their lengths differ.
    pub const fn transfer_len(&self, remote: &Remote<'_>) -> Result<u64, Fault> {
        if self.len == remote.len {
            Ok(self.len)
        } else {
            Err(Fault::Invalid("both ranges of a transfer have one length"))
        }
    }

    /// The width of the word that an atomic at `remote` changes, and that this range is to hold.
    ///
    /// # Errors
    /// [`Fault::Invalid`] if the ranges are not both of 4 bytes or both of 8.
    pub const fn word_width(&self, remote: &Remote<'_>) -> Result<Width, Fault> {
        match (Width::of_bytes(self.len), self.len == remote.len) {
            (Some(width), true) => Ok(width),
            _ => Err(Fault::Invalid("an atomic works on 4 or 8 bytes")),
        }
    }
}

bitflags! {
    /// The access of peers to registered bytes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Access: u8 {
        /// Peers read them: by [`Rma::get`].
        const READ = 1;
        /// Peers write them: by [`Rma::put`]. An [`Rma::atomic`] needs both.
        const WRITE = 2;
    }
}

/// Registration of memory for access by peers.
pub trait Memory {
    /// The user's bytes.
    type Bytes: Bytes;
    /// A registration.
    type Region;

    /// Registers `bytes` for access by `with`, and perhaps by other peers. A transport composed of several
    /// selects one of them by `with`.
    ///
    /// # Errors
    /// [`Fault`] if the transport has no room for another region, or the system refuses.
    fn register(
        &mut self,
        bytes: Self::Bytes,
        access: Access,
        with: Peer,
    ) -> Result<Self::Region, Fault>;

    /// Exposes `region` to `to`, and returns the key by which `to` accesses it.
    ///
    /// Send the key in the next frame to `to`: bytes of a region that peers only read may be on their way to
    /// `to` at once, ahead of its get. They are those of the moment of this call or of a later one, so the
    /// owner changes none of them until the region is released. A region that peers may write is not read
    /// ahead: a get returns the bytes of the time of the get.
    ///
    /// Exposing a region to `to` again returns a key to the same bytes. Exposing it to several peers is
    /// allowed; only the first one may get bytes ahead.
    ///
    /// # Cost
    /// May copy the first bytes of the region, write them to a socket, or take a window of shared memory.
    fn expose(&mut self, region: &Self::Region, to: Peer) -> Key;

    /// Ends a registration. A later poll returns `token` in [`Sink::done`](super::Sink::done), when no get or
    /// put accesses the memory any more, not even one whose peer was lost. From then on the transport refuses
    /// its keys.
    ///
    /// Where peers have the memory mapped, the owner does not see their atomics: it releases a region on
    /// which peers perform atomics once these peers say that they are finished.
    fn release(&mut self, region: Self::Region, token: Token);
}

/// Access to registered memory of peers: path R0 uses [`Rma::get`], path R1 [`Rma::put`]. A transport without
/// RDMA emulates all by frames of its own, which the owner of the memory answers when it polls.
///
/// # Ends
/// Each operation that is started ends with one [`Sink::done`](super::Sink::done) in a later poll, also when
/// its peer is lost, or was lost before. One that cannot succeed changes no memory, neither here nor there,
/// except that a put may have written those of its bytes that are within the peer's registration:
/// - [`Fault::Invalid`]: the two ranges do not belong together, or this rank's is not within its region;
/// - [`Fault::NOT_REGISTERED`]: the peer's range is not registered for this access;
/// - the [`Fault`] of the loss.
///
/// # Errors
/// [`Busy`] if no more operations can be in flight now; [`Sink::room`](super::Sink::room) reports when to try
/// again.
pub trait Rma: Memory {
    /// Reads `from` at peer `of` into `to`, both of the same length.
    ///
    /// # Errors
    /// [`Busy`], as for all operations.
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, Self::Region>,
        token: Token,
    ) -> Result<(), Busy>;

    /// Writes `from` to `at` at peer `to`, both of the same length. `token` is returned when the bytes are in
    /// the peer's memory: a frame that is sent afterwards arrives after them.
    ///
    /// # Errors
    /// [`Busy`], as for all operations.
    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, Self::Region>,
        at: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy>;

    /// Performs `atomic` on the word `at` of 4 or 8 bytes at peer `to`, and writes the word that was there
    /// before to `old`, of the same length (MPI 5.0, section 12.3.4: `MPI_Fetch_and_op`,
    /// `MPI_Compare_and_swap`). The word is aligned to its width; else the end is
    /// [`Fault::NOT_REGISTERED`].
    ///
    /// It is atomic with all other atomics on the word, whichever peer starts them and whichever transport
    /// performs them: a processor does, by its own atomic instruction. It is not atomic with gets and puts.
    /// Atomics of one rank on one word take effect in the order in which they were started.
    ///
    /// # Errors
    /// [`Busy`], as for all operations.
    ///
    /// # Cost
    /// Where the peer's memory is mapped, one atomic instruction, without help of the peer; else a frame in
    /// each direction.
    fn atomic(
        &mut self,
        to: Peer,
        at: Remote<'_>,
        atomic: Atomic,
        old: Local<'_, Self::Region>,
        token: Token,
    ) -> Result<(), Busy>;

    /// Returns `token` when all gets, puts and atomics with `to` that were started before have ended, at this
    /// rank and at the peer: their effects are in the peer's memory, visible to the peer and to everybody who
    /// accesses it, and a frame that is sent afterwards arrives after them (MPI 5.0, section 12.5.4:
    /// `MPI_Win_flush`). It tells nothing of later operations, nor whether the earlier ones succeeded: each
    /// has its own end, which is reported before.
    ///
    /// # Errors
    /// [`Busy`], as for all operations.
    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy>;
}
