//! Remote memory access: registered memory ([`Memory`]), and gets from and puts to it ([`Rma`]).

use bitflags::bitflags;

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
}

bitflags! {
    /// The access of peers to registered bytes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Access: u8 {
        /// Peers read them: by [`Rma::get`].
        const READ = 1;
        /// Peers write them: by [`Rma::put`].
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
    fn release(&mut self, region: Self::Region, token: Token);
}

/// Access to registered memory of peers: path R0 uses [`Rma::get`], path R1 [`Rma::put`]. A transport without
/// RDMA emulates both by frames of its own, which the owner of the memory answers when it polls.
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
}
