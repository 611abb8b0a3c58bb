//! Windows of memory that the ranks of one host load and store without calls: [`SharedWindow`].

use std::marker::PhantomData;

use oxmpi_core::{Error, ErrorClass, LockKind, Result, Single, Threading, Window};

use super::{Epoch, Kind, SharedView, check, locked, locked_all, own_rank};
use crate::comm::Comm;
use crate::data::Data;

/// A window of memory that all its ranks, which are on one host, load and store as their own; made by
/// [`Comm::shared_window`].
///
/// The memory is never a slice, as others may write it at any time: a [`SharedView`] loads and stores its elements. What
/// one rank has stored is what another one loads after both have called [`fence`](Self::fence); or when it gets the
/// [`lock`](Self::lock) that the first one had; or after a message of the first one, which has called [`sync`](Self::sync)
/// before it sends, as the receiver has after it.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let world = oxmpi::World::init()?;
/// let comm = world.comm().split_by_node(0)?;
/// let window = comm.shared_window::<u64>(4)?;
/// let mine = window.local()?;
/// mine.store(1, comm.rank() as u64);
/// window.fence()?;
/// for rank in 0..comm.size() {
///     assert_eq!(window.of(rank)?.load(1), rank as u64);
/// }
/// // The ranks' memory is one piece.
/// assert_eq!(window.all()?.len(), 4 * comm.size());
/// window.free()?;
/// # Ok(())
/// # }
/// ```
///
/// Elements that are views of a window are gone before it is freed:
///
/// ```compile_fail
/// # fn f(window: oxmpi::window::SharedWindow<u64>) -> oxmpi::Result<()> {
/// let mine = window.local()?;
/// window.free()?;
/// mine.store(0, 1);
/// # Ok(())
/// # }
/// ```
pub struct SharedWindow<T: Data, A: Threading = Single> {
    raw: Window<A>,
    elements: PhantomData<fn(T) -> T>,
}

impl<A: Threading> Comm<A> {
    /// A window with `count` elements of zero bytes for this rank, which all other ranks load and store, too
    /// (`MPI_Win_allocate_shared`). All are on one host: [`Comm::split_by_node`] gives such ranks. Each rank's elements
    /// begin where those of the rank before it end, in memory that rank 0 has allocated. Collective.
    ///
    /// # Errors
    /// On all ranks: where they are on several hosts, or rank 0 has too little shared memory (setting `shm_heap`); when
    /// another rank makes a window of another kind; when a rank is lost meanwhile.
    pub fn shared_window<T: Data>(&self, count: usize) -> Result<SharedWindow<T, A>> {
        SharedWindow::new(self, count, Kind::Shared)
    }

    /// As [`Comm::shared_window`], but each rank has allocated its own elements, which begin at a page and so near its
    /// processor (the hint `alloc_shared_noncontig` of MPI).
    ///
    /// # Errors
    /// As [`Comm::shared_window`], where any rank has too little shared memory.
    pub fn shared_window_noncontiguous<T: Data>(&self, count: usize) -> Result<SharedWindow<T, A>> {
        SharedWindow::new(self, count, Kind::SharedApart)
    }
}

impl<T: Data, A: Threading> SharedWindow<T, A> {
    fn new(comm: &Comm<A>, count: usize, kind: Kind) -> Result<Self> {
        kind.agree(comm, size_of::<T>())?;
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        let unit = size_of::<T>().max(1) as u64;
        let contiguous = matches!(kind, Kind::Shared);
        Ok(Self {
            raw: Window::allocate_shared(&comm.raw, (bytes, unit), contiguous)?,
            elements: PhantomData,
        })
    }

    /// This rank's elements.
    ///
    /// # Errors
    /// In a forked child.
    pub fn local(&self) -> Result<SharedView<'_, T>> {
        self.of(own_rank(&self.raw))
    }

    /// The elements of a rank (`MPI_Win_shared_query`).
    ///
    /// # Errors
    /// Where there is no such rank; in a forked child, in which the memory is not mapped.
    ///
    /// # Cost
    /// A look at a table; loads and stores by the view are those of the processor.
    pub fn of(&self, rank: usize) -> Result<SharedView<'_, T>> {
        check(&self.raw)?;
        let comm = self.raw.comm();
        if rank >= comm.group().size() as usize {
            return Err(comm.rank_error(rank));
        }
        let none = (std::ptr::null_mut(), 0, 1);
        let (start, len, _) = self
            .raw
            .shared(rank)
            .filter(|(_, len, _)| *len > 0)
            .unwrap_or(none);
        let count = len as usize / size_of::<T>().max(1);
        // SAFETY: the window has checked that so many bytes are mapped here, and keeps them while it is borrowed.
        let view = unsafe { SharedView::new(start.cast(), count) };
        view.ok_or_else(|| {
            self.error(
                ErrorClass::RmaShared,
                format!("the elements of rank {rank} are not aligned"),
            )
        })
    }

    /// The elements of all ranks, those of each behind those of the rank before.
    ///
    /// # Errors
    /// Where they are apart, as in a [window](Comm::shared_window_noncontiguous) that is not contiguous; in a forked child.
    pub fn all(&self) -> Result<SharedView<'_, T>> {
        let mut all = self.of(0)?;
        for rank in 1..self.raw.comm().group().size() as usize {
            let joined = all.followed_by(&self.of(rank)?);
            all = joined.ok_or_else(|| {
                let why =
                    format!("the elements of rank {rank} do not begin where those before end");
                self.error(ErrorClass::RmaFlavor, why)
            })?;
        }
        Ok(all)
    }

    /// Waits for all ranks: what each has stored before is what the others load afterwards (`MPI_Win_fence`). Collective.
    ///
    /// # Errors
    /// In an epoch of locks; when a rank is lost.
    pub fn fence(&self) -> Result<()> {
        self.raw.fence(false)
    }

    /// Orders what this rank has stored before what it stores afterwards, and the same of loads (`MPI_Win_sync`). A rank
    /// that waits until an element changes calls it again and again, as it makes progress.
    ///
    /// # Errors
    /// In a forked child; after the [`World`](crate::World) has ended.
    pub fn sync(&self) -> Result<()> {
        self.raw.sync()
    }

    /// An epoch in which `body` has the lock of `rank`, alone or with others that have it so (`MPI_Win_lock`,
    /// `MPI_Win_unlock`). Atomic operations go by the [`Epoch`].
    ///
    /// # Errors
    /// The error of `body`, after the epoch has ended; when a rank that may have the lock is lost.
    pub fn lock<'env, R>(
        &'env self,
        rank: usize,
        kind: LockKind,
        body: impl for<'s> FnOnce(&'s Epoch<'env, T, A>) -> Result<R>,
    ) -> Result<R> {
        locked(&self.raw, rank, kind, || {
            body(&Epoch::new(&self.raw, Some(rank)))
        })
    }

    /// As [`SharedWindow::lock`], with the shared locks of all ranks (`MPI_Win_lock_all`).
    ///
    /// # Errors
    /// As [`SharedWindow::lock`].
    pub fn lock_all<'env, R>(
        &'env self,
        body: impl for<'s> FnOnce(&'s Epoch<'env, T, A>) -> Result<R>,
    ) -> Result<R> {
        locked_all(&self.raw, || body(&Epoch::new(&self.raw, None)))
    }

    /// Frees the window and its memory, once all ranks have called it (`MPI_Win_free`). The memory of a window that is
    /// dropped instead stays until the process ends.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn free(self) -> Result<()> {
        self.raw.free()
    }

    fn error(&self, class: ErrorClass, why: String) -> Error {
        let rank = own_rank(&self.raw);
        Error::Window { rank, class, why }
    }
}
