//! [`ByteWindow`]: a window whose epochs are calls, with memory of its own for what accesses bring.

use std::mem::ManuallyDrop;

use oxmpi_core::{
    AccumulateOp, ElementKind, Error, ErrorClass, LockKind, Op, Result, Single, Threading, Window,
    WindowRange,
};
use oxmpi_os::RawBytes;

use super::{Kind, WindowElement, check, own_rank};
use crate::comm::Comm;
use crate::data::{Data, source, target};
use crate::memory::Memory;

/// A window of bytes whose epochs begin and end by calls, as in MPI; made by [`Comm::byte_window`].
///
/// Accesses bring bytes into memory of the window, its landing, so that a program may start many of them before it completes
/// them, also to the same place. A call outside of the epoch that it needs is an error. Places are bytes, counted from the
/// start of the memory.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let world = oxmpi::World::init()?;
/// let comm = world.comm();
/// let right = (comm.rank() + 1) % comm.size();
/// let mut window = comm.byte_window(comm.alloc(64)?, comm.alloc(16)?)?;
/// window.lock_all()?;
/// for _ in 0..100 {
///     window.put(&[7; 16], right, 32)?;
/// }
/// window.flush_all()?; // all of them
/// window.get(0..16, right, 32)?;
/// assert_eq!(window.landing()?, [7; 16]);
/// window.unlock_all()?;
/// window.free()?;
/// # Ok(())
/// # }
/// ```
pub struct ByteWindow<A: Threading = Single> {
    raw: Window<A>,
    /// Leaked unless the window is freed: until all ranks have done so, one of them may write it.
    memory: ManuallyDrop<Memory<u8>>,
    /// Leaked unless the window is freed: an access may be in flight.
    landing: ManuallyDrop<Memory<u8>>,
    /// The bytes of `landing`.
    landing_bytes: RawBytes,
}

impl<A: Threading> Comm<A> {
    /// A window of each rank's `memory` whose epochs are calls (`MPI_Win_create`); what this rank gets comes into its
    /// `landing`. Collective. Memory of [`Comm::alloc`] is the fastest: ranks of its host write and read it themselves.
    ///
    /// # Errors
    /// When another rank makes a window of another kind; when a rank is lost meanwhile.
    pub fn byte_window(&self, memory: Memory<u8>, landing: Memory<u8>) -> Result<ByteWindow<A>> {
        Kind::Bytes.agree(self, 1)?;
        let mut memory = ManuallyDrop::new(memory);
        let mut landing = ManuallyDrop::new(landing);
        let landing_bytes = target(&mut landing);
        Ok(ByteWindow {
            raw: Window::create(&self.raw, target(&mut memory), 1)?,
            memory,
            landing,
            landing_bytes,
        })
    }

    /// `count` elements of zero bytes that the other ranks of this host reach, as [`World::alloc`](crate::World::alloc).
    ///
    /// # Errors
    /// When the system refuses the memory.
    pub fn alloc<T: Data>(&self, count: usize) -> Result<Memory<T>> {
        Memory::zeroed(self.rank(), self.raw.heap()?.as_ref(), count)
    }
}

impl<A: Threading> ByteWindow<A> {
    fn rank(&self) -> usize {
        own_rank(&self.raw)
    }

    /// The part of the landing from byte `at` on.
    fn landing_part(&self, at: usize, len: usize) -> Result<RawBytes> {
        let part = self.landing_bytes.range(at as u64, len as u64);
        part.ok_or_else(|| Error::Window {
            rank: self.rank(),
            class: ErrorClass::Argument,
            why: format!(
                "{len} B from byte {at} of the landing, which has {} B; give the window a longer one",
                self.landing.len()
            ),
        })
    }

    /// Copies this rank's own memory from byte `at` on into `into`, in an epoch that lets it access itself.
    ///
    /// # Errors
    /// Beyond the memory; outside of an epoch.
    pub fn load(&self, into: &mut [u8], at: usize) -> Result<()> {
        let me = self.rank();
        let range = WindowRange::bytes(me, at as u64, into.len() as u64);
        let read = self.raw.get(target(into), &range);
        // An access that failed midway may have bytes in flight, too.
        self.raw.finish(me).and(read)
    }

    /// Copies `from` into this rank's own memory from byte `at` on, in an epoch that lets it access itself.
    ///
    /// # Errors
    /// As [`ByteWindow::load`].
    pub fn store(&self, from: &[u8], at: usize) -> Result<()> {
        self.put(from, self.rank(), at)?;
        self.raw.finish(self.rank())
    }

    /// What accesses have brought: completes all of them first.
    ///
    /// # Errors
    /// When a target is lost; in a forked child.
    pub fn landing(&mut self) -> Result<&mut [u8]> {
        check(&self.raw)?;
        let ranks = self.raw.comm().group().size() as usize;
        (0..ranks).try_for_each(|rank| self.raw.finish(rank))?;
        Ok(&mut self.landing)
    }

    /// Writes `from` to the memory of `rank` (`MPI_Put`). The bytes are read before this returns.
    ///
    /// # Errors
    /// Beyond the target's memory; where the epoch is not one of this target; when the target is lost.
    #[inline]
    pub fn put(&self, from: &[u8], rank: usize, at: usize) -> Result<()> {
        let range = WindowRange::bytes(rank, at as u64, from.len() as u64);
        self.raw.put(source(from), &range)
    }

    /// Reads memory of `rank` from byte `at` on into a range of the landing (`MPI_Get`).
    ///
    /// # Errors
    /// As [`ByteWindow::put`]; beyond the landing.
    #[inline]
    pub fn get(&self, into: std::ops::Range<usize>, rank: usize, at: usize) -> Result<()> {
        let len = into.len();
        let range = WindowRange::bytes(rank, at as u64, len as u64);
        self.raw.get(self.landing_part(into.start, len)?, &range)
    }

    /// Combines elements of `rank` with `values`, each atomically (`MPI_Accumulate`).
    ///
    /// # Errors
    /// As [`ByteWindow::put`]; where the elements do not have the operation.
    #[inline]
    pub fn accumulate<T: WindowElement>(
        &self,
        values: &[T],
        op: Op,
        rank: usize,
        at: usize,
    ) -> Result<()> {
        let range = WindowRange::bytes(rank, at as u64, size_of_val(values) as u64);
        self.raw
            .accumulate(source(values), with(op, T::KIND), &range)
    }

    /// As [`ByteWindow::accumulate`], with the elements before in the landing from byte `into` on (`MPI_Get_accumulate`,
    /// `MPI_Fetch_and_op`).
    ///
    /// # Errors
    /// As [`ByteWindow::accumulate`]; beyond the landing.
    #[inline]
    pub fn get_accumulate<T: WindowElement>(
        &self,
        values: &[T],
        op: Op,
        into: usize,
        rank: usize,
        at: usize,
    ) -> Result<()> {
        let len = size_of_val(values);
        let (range, before) = (
            WindowRange::bytes(rank, at as u64, len as u64),
            self.landing_part(into, len)?,
        );
        (self.raw).get_accumulate(source(values), before, with(op, T::KIND), &range)
    }

    /// Stores `new` if the element at byte `at` of `rank` is `expected`, atomically; the element before comes into the landing
    /// from byte `into` on (`MPI_Compare_and_swap`).
    ///
    /// # Errors
    /// As [`ByteWindow::put`]; beyond the landing; for elements that are no integers.
    #[inline]
    pub fn compare_and_swap<T: WindowElement>(
        &self,
        [expected, new]: [T; 2],
        into: usize,
        rank: usize,
        at: usize,
    ) -> Result<()> {
        let range = WindowRange::bytes(rank, at as u64, size_of::<T>() as u64);
        let before = self.landing_part(into, size_of::<T>())?;
        (self.raw).compare_and_swap(source(&[expected, new]), before, T::KIND, &range)
    }

    /// Ends an epoch of all ranks and, if it `opens` one, begins another (`MPI_Win_fence`). Collective.
    ///
    /// # Errors
    /// While a target is locked; when a rank is lost.
    pub fn fence(&self, opens: bool) -> Result<()> {
        self.raw.fence(opens)
    }

    /// Begins accesses to `rank` under its lock (`MPI_Win_lock`).
    ///
    /// # Errors
    /// In another epoch; when the target, or a rank that may have the lock, is lost.
    pub fn lock(&self, rank: usize, kind: LockKind) -> Result<()> {
        self.raw.lock(rank, kind)
    }

    /// Completes the accesses to `rank` and gives its lock back (`MPI_Win_unlock`).
    ///
    /// # Errors
    /// When it was not locked; when it is lost.
    pub fn unlock(&self, rank: usize) -> Result<()> {
        self.raw.unlock(rank)
    }

    /// Begins accesses to all ranks, under shared locks (`MPI_Win_lock_all`).
    ///
    /// # Errors
    /// In another epoch.
    pub fn lock_all(&self) -> Result<()> {
        self.raw.lock_all()
    }

    /// Completes all accesses and gives the locks back (`MPI_Win_unlock_all`).
    ///
    /// # Errors
    /// When there is no such epoch; when a target is lost.
    pub fn unlock_all(&self) -> Result<()> {
        self.raw.unlock_all()
    }

    /// Completes all accesses to `rank` so far, here and there (`MPI_Win_flush`).
    ///
    /// # Errors
    /// When the target is not locked; when it is lost.
    #[inline]
    pub fn flush(&self, rank: usize) -> Result<()> {
        self.raw.flush(rank)
    }

    /// As [`ByteWindow::flush`], but only here (`MPI_Win_flush_local`).
    ///
    /// # Errors
    /// As [`ByteWindow::flush`].
    pub fn flush_local(&self, rank: usize) -> Result<()> {
        self.raw.flush_local(rank)
    }

    /// As [`ByteWindow::flush_local`], for all targets that are locked (`MPI_Win_flush_local_all`).
    ///
    /// # Errors
    /// As [`ByteWindow::flush`].
    pub fn flush_local_all(&self) -> Result<()> {
        self.raw.flush_local_all()
    }

    /// As [`ByteWindow::flush`], for all targets that are locked (`MPI_Win_flush_all`).
    ///
    /// # Errors
    /// As [`ByteWindow::flush`].
    #[inline]
    pub fn flush_all(&self) -> Result<()> {
        self.raw.flush_all()
    }

    /// Frees the window and gives its memory back, once all ranks have called it (`MPI_Win_free`). A window that is dropped
    /// instead keeps its memory until the process ends.
    ///
    /// # Errors
    /// In an epoch; when a rank is lost meanwhile.
    pub fn free(self) -> Result<Memory<u8>> {
        self.raw.free()?;
        drop(ManuallyDrop::into_inner(self.landing));
        Ok(ManuallyDrop::into_inner(self.memory))
    }
}

/// An operation as the core knows it.
const fn with(op: Op, kind: ElementKind) -> (ElementKind, AccumulateOp) {
    (kind, AccumulateOp::Predefined(op))
}
