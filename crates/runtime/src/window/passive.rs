//! Windows that are accessed by locks, without their owners: [`PassiveWindow`].

use oxmpi_core::{LockKind, Result};

use super::active::EndOfAccesses;
use super::{Epoch, WindowOf};
use crate::data::Data;
use crate::memory::Memory;

/// A window for epochs of locks; made by [`Comm::passive_window`](crate::Comm::passive_window). Its owner accesses its memory
/// as the others do, or by [`with_local`](Self::with_local).
pub struct PassiveWindow<T: Data> {
    own: WindowOf<T>,
}

impl<T: Data> PassiveWindow<T> {
    pub(super) const fn new(own: WindowOf<T>) -> Self {
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
        body: impl for<'s> FnOnce(&'s Epoch<'env, T>) -> Result<R>,
    ) -> Result<R> {
        let raw = &self.own.raw;
        raw.lock(rank, kind)?;
        let end = EndOfAccesses(|| raw.unlock(rank));
        end.after(body(&Epoch::new(raw)))
    }

    /// An epoch in which `body` accesses the memory of all ranks, with others that do the same (`MPI_Win_lock_all`).
    ///
    /// # Errors
    /// As [`PassiveWindow::lock`].
    pub fn lock_all<'env, R>(
        &'env self,
        body: impl for<'s> FnOnce(&'s Epoch<'env, T>) -> Result<R>,
    ) -> Result<R> {
        let raw = &self.own.raw;
        raw.lock_all()?;
        let end = EndOfAccesses(|| raw.unlock_all());
        end.after(body(&Epoch::new(raw)))
    }

    /// Runs `body` on this rank's memory while no other rank accesses it: under its exclusive lock.
    ///
    /// # Errors
    /// As [`PassiveWindow::lock`].
    pub fn with_local<R>(&mut self, body: impl FnOnce(&mut [T]) -> R) -> Result<R> {
        let raw = &self.own.raw;
        let me = raw.comm().group().rank() as usize;
        raw.lock(me, LockKind::Exclusive)?;
        let end = EndOfAccesses(|| raw.unlock(me));
        let result = body(&mut self.own.memory);
        end.after(Ok(result))
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
