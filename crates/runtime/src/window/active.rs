//! Windows whose owners take part in their epochs: [`ActiveWindow`].

use std::sync::atomic::{AtomicBool, Ordering};

use oxmpi_core::{Result, Single, Threading};

use super::{EndOfAccesses, Epoch, WindowOf};
use crate::data::Data;
use crate::memory::Memory;

/// A window for epochs in which its owner takes part; made by [`Comm::active_window`](crate::Comm::active_window).
///
/// Between epochs its memory is the owner's slice:
///
/// ```compile_fail
/// # fn f(window: &mut oxmpi::window::ActiveWindow<u64>) -> oxmpi::Result<()> {
/// let mine = window.local_mut();
/// window.fence(|epoch| epoch.put(&[1], 0, 0))?;
/// mine[0] = 2; // another rank may have written it meanwhile
/// # Ok(())
/// # }
/// ```
///
/// What a get writes is borrowed until the epoch ends:
///
/// ```compile_fail
/// # fn f(window: &mut oxmpi::window::ActiveWindow<u64>) -> oxmpi::Result<()> {
/// let mut value = [0];
/// window.fence(|epoch| {
///     epoch.get(&mut value, 0, 0)?;
///     assert_eq!(value[0], 0); // it may not have come
///     Ok(())
/// })
/// # }
/// ```
///
/// There is no access outside of an epoch:
///
/// ```compile_fail
/// # fn f(window: &mut oxmpi::window::ActiveWindow<u64>) -> oxmpi::Result<()> {
/// let mut kept = None;
/// window.fence(|epoch| {
///     kept = Some(epoch);
///     Ok(())
/// })?;
/// kept.unwrap().put(&[1], 0, 0)
/// # }
/// ```
///
/// A window is not freed in an epoch of its own:
///
/// ```compile_fail
/// # fn f(window: oxmpi::window::ActiveWindow<u64>) -> oxmpi::Result<()> {
/// let mut window = window;
/// window.fence(|_| window.free().map(drop))
/// # }
/// ```
pub struct ActiveWindow<T: Data, A: Threading = Single> {
    own: WindowOf<T, A>,
    /// Whether an epoch is open, or has failed: other ranks may write the memory.
    open: AtomicBool,
}

impl<T: Data, A: Threading> ActiveWindow<T, A> {
    pub(super) const fn new(own: WindowOf<T, A>) -> Self {
        let open = AtomicBool::new(false);
        Self { own, open }
    }

    /// This rank's memory.
    ///
    /// # Panics
    /// After an epoch that failed, as a rank was lost in it: others may still write the memory.
    #[must_use]
    pub fn local(&self) -> &[T] {
        self.check();
        &self.own.memory
    }

    /// This rank's memory, to be written.
    ///
    /// # Panics
    /// As [`ActiveWindow::local`].
    #[must_use]
    pub fn local_mut(&mut self) -> &mut [T] {
        self.check();
        &mut self.own.memory
    }

    fn check(&self) {
        assert!(
            !self.open.load(Ordering::Relaxed),
            "an epoch of the window has failed: other ranks may still write its memory"
        );
    }

    /// An epoch of all ranks between two fences (`MPI_Win_fence`): what `body` accesses has ended, here and at its targets,
    /// when this returns. Collective.
    ///
    /// # Errors
    /// The error of `body`, after the epoch has ended; when a rank is lost meanwhile.
    pub fn fence<'env, R>(
        &'env mut self,
        body: impl for<'s> FnOnce(&'s Epoch<'env, T, A>) -> Result<R>,
    ) -> Result<R> {
        let Self { own, open } = self;
        let raw = &own.raw;
        open.store(true, Ordering::Relaxed);
        raw.fence(true)?;
        let end = EndOfAccesses(|| {
            raw.fence(false)
                .inspect(|()| open.store(false, Ordering::Relaxed))
        });
        end.after(|| body(&Epoch::new(raw, None)))
    }

    /// An epoch in which this rank accesses `targets`, and exposes its memory to `origins`, which do the same the other way
    /// round (`MPI_Win_post`, `MPI_Win_start`, `MPI_Win_complete`, `MPI_Win_wait`). Other ranks do not take part.
    ///
    /// # Errors
    /// As [`ActiveWindow::fence`].
    pub fn exchange<'env, R>(
        &'env mut self,
        origins: &[usize],
        targets: &[usize],
        body: impl for<'s> FnOnce(&'s Epoch<'env, T, A>) -> Result<R>,
    ) -> Result<R> {
        let Self { own, open } = self;
        let raw = &own.raw;
        // Origins that have learnt of it may write from now on, also where another one is lost.
        open.store(true, Ordering::Relaxed);
        let posted = match raw.post(origins) {
            Err(error) if !raw.is_exposed()? => {
                open.store(false, Ordering::Relaxed);
                return Err(error);
            }
            posted => posted,
        };
        // Those that live wait for the end of this rank's accesses, so it goes on where one is lost.
        let started = raw.start(targets);
        let end = EndOfAccesses(|| {
            let completed = raw.complete();
            raw.wait()?;
            open.store(false, Ordering::Relaxed);
            completed
        });
        end.after(|| {
            posted.and(started)?;
            body(&Epoch::new(raw, None))
        })
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
