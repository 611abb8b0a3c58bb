//! Windows: memory that ranks access without its owner's help (MPI 5.0, chapter 12).
//!
//! A window owns the memory of its rank. Who may access it when, the type says:
//! - an [`ActiveWindow`] is accessed in epochs that its owner takes part in, and is the owner's slice between them;
//! - a [`PassiveWindow`] may be accessed at any time by whoever has its lock, its owner as well;
//! - a [`SharedWindow`] is memory of one host, whose elements all ranks load and store without calls;
//! - a [`DynamicWindow`] has what its ranks attach to it, and is accessed by address under locks;
//! - a [`ByteWindow`] is accessed by calls as in C.
//!
//! Windows of a [`SharedComm`](crate::SharedComm) are for several threads: each may have the lock of another rank, or all
//! share one epoch that lends them its [`Epoch`].
//!
//! ```
//! use oxmpi::{Op, World};
//!
//! fn main() -> oxmpi::Result<()> {
//!     let world = World::init()?;
//!     let comm = world.comm();
//!     let right = (comm.rank() + 1) % comm.size();
//!
//!     // Each rank writes its number to its right neighbour.
//!     let mut window = comm.active_window(world.alloc::<u64>(8)?)?;
//!     window.fence(|epoch| epoch.put(&[comm.rank() as u64], right, 3))?;
//!     let left = (comm.rank() + comm.size() - 1) % comm.size();
//!     assert_eq!(window.local()[3], left as u64);
//!     window.free()?;
//!
//!     // A counter that all ranks take numbers from.
//!     let counter = comm.passive_window(world.alloc::<u64>(1)?)?;
//!     let mine = counter.lock_all(|epoch| epoch.fetch(&1, Op::SUM, 0, 0))?;
//!     assert!(mine < comm.size() as u64);
//!     counter.free()?;
//!     Ok(())
//! }
//! ```

mod accesses;
mod active;
mod bytes;
mod dynamic;
mod element;
mod epoch;
mod passive;
mod place;
mod request;
mod shared;
mod shared_view;

use std::mem::ManuallyDrop;

use oxmpi_core::{Error, ErrorClass, Result, Threading, Window};
use oxmpi_os::RawBytes;

pub use active::ActiveWindow;
pub use bytes::ByteWindow;
pub use dynamic::{Attached, DynamicEpoch, DynamicWindow};
pub use element::WindowElement;
pub use epoch::Epoch;
pub use oxmpi_core::{AccumulateOp, LockKind, WindowFootprint};
pub use passive::PassiveWindow;
pub use place::Place;
pub use request::WindowRequest;
pub use shared::SharedWindow;
pub use shared_view::SharedView;

use crate::comm::Comm;
use crate::data::Data;
use crate::memory::Memory;

impl<A: Threading> Comm<A> {
    /// A window of each rank's `memory`, for epochs in which its owner takes part (`MPI_Win_create`). Collective. Memory of
    /// [`Comm::alloc`] is the fastest: ranks of its host write and read it themselves.
    ///
    /// # Errors
    /// When another rank makes a window of another kind; when a rank is lost meanwhile.
    pub fn active_window<T: Data>(&self, memory: Memory<T>) -> Result<ActiveWindow<T, A>> {
        WindowOf::new(self, memory, Kind::Active).map(ActiveWindow::new)
    }

    /// A window of each rank's `memory`, for epochs of locks, in which its owner does nothing (`MPI_Win_create`). Collective.
    ///
    /// # Errors
    /// As [`Comm::active_window`].
    pub fn passive_window<T: Data>(&self, memory: Memory<T>) -> Result<PassiveWindow<T, A>> {
        WindowOf::new(self, memory, Kind::Passive).map(PassiveWindow::new)
    }
}

/// Who takes part in the epochs of a window: all ranks mean the same, or a slice would be written behind its owner's back.
#[derive(Clone, Copy)]
enum Kind {
    Active = 1,
    Passive,
    Bytes,
    Shared,
    SharedApart,
    Dynamic,
}

impl Kind {
    /// Checks that all ranks make a window of this kind, with elements of so many bytes.
    fn agree<A: Threading>(self, comm: &Comm<A>, element: usize) -> Result<()> {
        let mine = (element as u64) << 8 | self as u64;
        let mut all = [mine, !mine];
        comm.raw.allreduce_in_place(&mut all, |a, b| a | b)?;
        match all == [mine, !mine] {
            true => Ok(()),
            false => Err(Error::Window {
                rank: comm.rank(),
                class: ErrorClass::Window,
                why: "the ranks make windows of different kinds (active, passive, shared, dynamic or of bytes), or of \
                      elements that differ in size"
                    .into(),
            }),
        }
    }
}

/// A window, and the memory that it owns.
struct WindowOf<T: Data, A: Threading> {
    raw: Window<A>,
    /// Leaked unless the window is freed: until all ranks have done so, one of them may write it.
    memory: ManuallyDrop<Memory<T>>,
}

impl<T: Data, A: Threading> WindowOf<T, A> {
    fn new(comm: &Comm<A>, memory: Memory<T>, kind: Kind) -> Result<Self> {
        kind.agree(comm, size_of::<T>())?;
        let mut memory = ManuallyDrop::new(memory);
        let slice: &mut [T] = &mut memory;
        // SAFETY: the memory is this window's, and lives until all ranks have freed it.
        let bytes = unsafe { RawBytes::new(slice.as_mut_ptr().cast(), size_of_val(slice)) };
        let raw = Window::create(&comm.raw, bytes, size_of::<T>().max(1) as u64)?;
        Ok(Self { raw, memory })
    }

    fn free(self) -> Result<Memory<T>> {
        self.raw.free()?;
        Ok(ManuallyDrop::into_inner(self.memory))
    }
}

/// This rank's number in a window.
fn own_rank<A: Threading>(raw: &Window<A>) -> usize {
    raw.comm().group().rank() as usize
}

/// Checks that the window's calls may be made: not in a forked child, which has no heap.
fn check<A: Threading>(raw: &Window<A>) -> Result<()> {
    raw.comm().heap().map(drop)
}

/// Runs `body` while this rank has the lock of `rank`.
fn locked<A: Threading, R>(
    raw: &Window<A>,
    rank: usize,
    kind: LockKind,
    body: impl FnOnce() -> Result<R>,
) -> Result<R> {
    raw.lock(rank, kind)?;
    EndOfAccesses(|| raw.unlock(rank)).after(body)
}

/// Runs `body` while this rank has the shared locks of all.
fn locked_all<A: Threading, R>(raw: &Window<A>, body: impl FnOnce() -> Result<R>) -> Result<R> {
    raw.lock_all()?;
    EndOfAccesses(|| raw.unlock_all()).after(body)
}

/// Ends an epoch, also where its body panics: buffers that are read into are their owners' afterwards.
struct EndOfAccesses<F: Fn() -> Result<()>>(F);

impl<F: Fn() -> Result<()>> EndOfAccesses<F> {
    /// Ends the epoch after its body.
    fn after<R>(self, body: impl FnOnce() -> Result<R>) -> Result<R> {
        let given = body();
        let ended = (self.0)();
        std::mem::forget(self);
        given.and_then(|value| ended.map(|()| value))
    }
}

impl<F: Fn() -> Result<()>> Drop for EndOfAccesses<F> {
    fn drop(&mut self) {
        // After an error nothing is written any more: the target is lost, or has said what it did not do.
        let _ended = (self.0)();
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_core::Multi;

    use super::*;

    const fn sharable<T: Send + Sync>() {}

    /// Threads share windows of a `SharedComm`, and their epochs.
    #[test]
    fn threads_share_windows_of_shared_communicators() {
        sharable::<ActiveWindow<u64, Multi>>();
        sharable::<PassiveWindow<u64, Multi>>();
        sharable::<ByteWindow<Multi>>();
        sharable::<SharedWindow<u64, Multi>>();
        sharable::<DynamicWindow<Multi>>();
        sharable::<Attached<'_, u64, Multi>>();
        sharable::<Epoch<'_, u64, Multi>>();
        sharable::<DynamicEpoch<'_, Multi>>();
        sharable::<SharedView<'_, u64>>();
    }
}
