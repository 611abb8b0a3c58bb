//! Windows that are accessed by locks, without their owners: [`PassiveWindow`].

use oxmpi_core::{LockKind, Result, Single, Threading};

use super::{Epoch, WindowOf, locked, locked_all, own_rank};
use crate::data::Data;
use crate::memory::Memory;

/// A window for epochs of locks; made by [`Comm::passive_window`](crate::Comm::passive_window). Its owner accesses its memory
/// as the others do, or by [`with_local`](Self::with_local).
pub struct PassiveWindow<T: Data, A: Threading = Single> {
    own: WindowOf<T, A>,
}

impl<T: Data, A: Threading> PassiveWindow<T, A> {
    pub(super) const fn new(own: WindowOf<T, A>) -> Self {
        Self { own }
    }

    /// An epoch in which `body` accesses the memory of `rank`, alone or with others that have its lock so (`MPI_Win_lock`,
    /// `MPI_Win_unlock`). The lock of a rank of another node is asked for with the first access, which does not wait for it.
    ///
    /// # Errors
    /// The error of `body`, after the epoch has ended; when the target, or a rank that may have the lock, is lost.
    pub fn lock<'env, R>(
        &'env self,
        rank: usize,
        kind: LockKind,
        body: impl for<'s> FnOnce(&'s Epoch<'env, T, A>) -> Result<R>,
    ) -> Result<R> {
        let raw = &self.own.raw;
        locked(raw, rank, kind, || body(&Epoch::new(raw, Some(rank))))
    }

    /// An epoch in which `body` accesses the memory of all ranks, with others that do the same (`MPI_Win_lock_all`).
    ///
    /// # Errors
    /// As [`PassiveWindow::lock`].
    pub fn lock_all<'env, R>(
        &'env self,
        body: impl for<'s> FnOnce(&'s Epoch<'env, T, A>) -> Result<R>,
    ) -> Result<R> {
        let raw = &self.own.raw;
        locked_all(raw, || body(&Epoch::new(raw, None)))
    }

    /// Runs `body` on this rank's memory while no other rank accesses it: under its exclusive lock.
    ///
    /// # Errors
    /// As [`PassiveWindow::lock`].
    pub fn with_local<R>(&mut self, body: impl FnOnce(&mut [T]) -> R) -> Result<R> {
        let WindowOf { raw, memory } = &mut self.own;
        locked(raw, own_rank(raw), LockKind::Exclusive, || Ok(body(memory)))
    }

    /// Frees the window and gives its memory back, once all ranks have called it (`MPI_Win_free`). A window that is dropped
    /// instead keeps its memory until the process ends.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn free(self) -> Result<Memory<T>> {
        self.own.free()
    }
}
