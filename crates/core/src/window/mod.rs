//! Windows: memory that each rank of a group exposes to the others, which access it without its help (MPI 5.0, chapter 12).
//!
//! A rank reaches memory of its node itself, if it is in shared memory or the system lets it: `near`. Whatever else it asks
//! the target for by messages, which the target answers in any of its calls: `far`. Which it is, is decided when the window
//! is made. The calls of both kinds are the same: accesses in `transfer` and `accumulate`, epochs in `active` and `passive`.

mod accumulate;
mod active;
mod allocation;
mod checked;
mod creation;
mod dynamic;
mod far;
mod footprint;
mod near;
mod open_target;
mod passive;
mod single_word;
mod target;
#[cfg(test)]
mod tests;
mod transfer;

use std::mem::ManuallyDrop;

use oxmpi_os::RawBytes;
use oxmpi_wire::{Fault, Peer};

use self::allocation::OwnMemory;
use self::near::Near;
use self::open_target::OpenTarget;
use self::target::Sizes;
use super::communicator::Communicator;
use super::threading::Threading;
use super::window_state::{Epochs, WindowState, WrongEpoch};
use crate::error::{Error, ErrorClass, Result};

pub use self::footprint::WindowFootprint;
pub use self::target::{Shape, WindowRange};
pub use oxmpi_shm::window::LockKind;

/// A window of the ranks of a communicator.
///
/// Dropping it, unlike [`free`](Window::free), leaves its memory open to the other ranks until the endpoint is left: it is
/// for errors.
pub struct Window<A: Threading> {
    /// The ranks, with contexts of their own.
    comm: Communicator<A>,
    memory: RawBytes,
    sizes: Sizes,
    /// By link of this node: what this rank reaches itself.
    near: Box<[Option<Near>]>,
    /// This rank's number on its node.
    me: u32,
    open: OpenTarget,
    /// Whether targets look for accesses that conflict.
    checks: bool,
    /// The memory that it has allocated; leaked unless it is freed, as other ranks may still write it.
    own: Option<ManuallyDrop<OwnMemory>>,
}

impl<A: Threading> Window<A> {
    /// Its ranks.
    #[must_use]
    pub const fn comm(&self) -> &Communicator<A> {
        &self.comm
    }

    /// This rank's memory.
    #[must_use]
    pub const fn memory(&self) -> RawBytes {
        self.memory
    }

    /// The address in this process of the memory of a rank, its bytes and its unit (`MPI_Win_shared_query`); `None` where
    /// it is not mapped here.
    #[must_use]
    pub fn shared(&self, rank: usize) -> Option<(*mut u8, u64, u64)> {
        let link = self.comm.link(rank)?;
        let near = self.near.get(link.0 as usize)?.as_ref()?;
        let (len, unit) = self.sizes.of(rank);
        Some((near.address()?, len, unit))
    }

    /// Whether this rank reaches the memory of another one without its help.
    #[must_use]
    pub fn reaches(&self, rank: usize) -> bool {
        self.comm
            .link(rank)
            .is_some_and(|link| self.near(link).is_some())
    }

    /// Bytes of the memory of a rank, and of its unit.
    #[must_use]
    pub fn memory_of(&self, rank: usize) -> (u64, u64) {
        self.sizes.of(rank)
    }

    /// The link to a rank.
    ///
    /// # Errors
    /// When the window has no such rank.
    #[inline]
    fn peer(&self, rank: usize) -> Result<Peer> {
        (self.comm.link(rank)).ok_or_else(|| self.comm.rank_error(rank))
    }

    fn rank(&self) -> usize {
        self.comm.group().rank() as usize
    }

    #[inline]
    fn near(&self, peer: Peer) -> Option<&Near> {
        self.near.get(peer.0 as usize)?.as_ref()
    }

    /// Runs `with` on the window's state.
    ///
    /// # Errors
    /// When the endpoint is not usable.
    #[inline]
    fn with_state<R>(&self, with: impl FnOnce(&mut WindowState) -> R) -> Result<R> {
        let context = self.comm.context();
        self.comm.access().with(|endpoint| {
            endpoint.check()?;
            Ok(with(endpoint.window(context).ok_or(Error::Finalized)?))
        })
    }

    /// Runs `with` on this rank's epochs; `call` is the name of the call for which. Now and then it makes progress: a program
    /// that looks at a window again and again answers what others ask of it meanwhile.
    fn epochs<R>(
        &self,
        call: &'static str,
        with: impl FnOnce(&mut Epochs) -> Result<R, WrongEpoch>,
    ) -> Result<R> {
        if self.open.close() {
            self.comm.access().with(|endpoint| {
                if endpoint.is_usable() {
                    endpoint.progress();
                }
            });
        }
        self.with_state(|state| with(&mut state.epochs))?
            .map_err(|why| self.wrong_epoch(call, why))
    }

    #[cold]
    fn wrong_epoch(&self, call: &'static str, why: WrongEpoch) -> Error {
        let rank = self.rank();
        Error::WindowEpoch { rank, call, why }
    }

    #[cold]
    fn lost(&self, peer: Peer, fault: Fault) -> Error {
        self.comm.members().lost(peer, fault)
    }

    /// The error of memory that the system does not let this rank reach any more.
    #[cold]
    fn unreached(&self, target: usize) -> Error {
        let rank = self.rank();
        let why = format!("the system does not let it reach the memory of rank {target} any more");
        let class = ErrorClass::Window;
        Error::Window { rank, class, why }
    }
}
