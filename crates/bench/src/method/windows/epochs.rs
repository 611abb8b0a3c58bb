//! The epochs in which a kernel accesses its window, and what completes its transfers there.

use crate::Window;
use crate::kernels::{Active, Completion, Transfer, WindowKernel};

/// How a kernel accesses windows.
#[derive(Clone, Copy)]
enum Epochs {
    Fences,
    /// Each of two ranks locks both.
    Locks,
    LockOfAll,
}

impl Epochs {
    fn of(kernel: &WindowKernel) -> Self {
        let completion = kernel.access.map(|access| access.completion);
        match (completion, kernel.info.active) {
            (Some(Completion::Fence), _) => Epochs::Fences,
            (_, Active::Two) => Epochs::Locks,
            (_, Active::All) => Epochs::LockOfAll,
        }
    }
}

/// Begins the epochs of `kernel` in a group of so many ranks: this rank may access the others and itself.
pub(super) fn begin<W: Window>(
    window: &mut W,
    kernel: &WindowKernel,
    ranks: usize,
) -> Result<(), W::Error> {
    match Epochs::of(kernel) {
        Epochs::Fences => window.fence(true),
        Epochs::Locks => (0..ranks).try_for_each(|rank| window.lock(rank)),
        Epochs::LockOfAll => window.lock_all(),
    }
}

/// Ends them.
pub(super) fn end<W: Window>(
    window: &mut W,
    kernel: &WindowKernel,
    ranks: usize,
) -> Result<(), W::Error> {
    match Epochs::of(kernel) {
        Epochs::Fences => window.fence(false),
        Epochs::Locks => (0..ranks).try_for_each(|rank| window.unlock(rank)),
        Epochs::LockOfAll => window.unlock_all(),
    }
}

/// Completes what was begun; a rank that has accessed nothing takes part in fences only.
pub(super) fn complete<W: Window>(
    window: &mut W,
    completion: Completion,
    transfers: &[Transfer],
) -> Result<(), W::Error> {
    let mut targets = transfers.iter().map(|transfer| transfer.target);
    match completion {
        Completion::Fence => window.fence(true),
        Completion::Flush => targets.try_for_each(|target| window.flush(target)),
        Completion::FlushLocal => targets.try_for_each(|target| window.flush_local(target)),
        Completion::FlushAll | Completion::FlushLocalAll if transfers.is_empty() => Ok(()),
        Completion::FlushAll => window.flush_all(),
        Completion::FlushLocalAll => window.flush_local_all(),
    }
}

/// Brings to their targets what was completed at the origin only.
pub(super) fn settle<W: Window>(window: &mut W, completion: Completion) -> Result<(), W::Error> {
    match completion {
        Completion::FlushLocal | Completion::FlushLocalAll => window.flush_all(),
        Completion::Fence | Completion::Flush | Completion::FlushAll => Ok(()),
    }
}
