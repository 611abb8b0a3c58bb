//! The target that accesses may go to without another look at the epochs: [`OpenTarget`].

use std::sync::atomic::{AtomicU32, Ordering};

/// Calls between two that make progress.
const CALLS: u32 = 64;

/// Whether the target is locked, besides its rank and 1.
const LOCKED: u32 = 1 << 31;

/// The target of the last access, until another call looks at the epochs. A program whose threads access a target while one of
/// them ends its epoch is wrong, so nothing here orders them.
#[derive(Debug, Default)]
pub(super) struct OpenTarget {
    target: AtomicU32,
    /// Calls that are left before progress is due.
    left: AtomicU32,
}

impl OpenTarget {
    /// An access to `rank` is allowed, as it is `locked` or in an epoch of another kind.
    pub(super) fn open(&self, rank: u32, locked: bool) {
        let locked = if locked { LOCKED } else { 0 };
        self.target.store((rank + 1) | locked, Ordering::Relaxed);
    }

    /// The epochs may change. Whether progress is due.
    pub(super) fn close(&self) -> bool {
        self.target.store(0, Ordering::Relaxed);
        let is_due = !self.count();
        if is_due {
            self.left.store(CALLS, Ordering::Relaxed);
        }
        is_due
    }

    /// Whether an access to `rank` is allowed; it is counted.
    #[inline]
    pub(super) fn allows(&self, rank: usize) -> bool {
        let target = self.target.load(Ordering::Relaxed);
        Self::is(target, rank) && self.count()
    }

    /// Whether a flush of `rank` is allowed; it is counted.
    #[inline]
    pub(super) fn allows_flush(&self, rank: usize) -> bool {
        let target = self.target.load(Ordering::Relaxed);
        target & LOCKED != 0 && Self::is(target, rank) && self.count()
    }

    #[inline]
    const fn is(target: u32, rank: usize) -> bool {
        target != 0 && (target & !LOCKED) as usize == rank.wrapping_add(1)
    }

    #[inline]
    fn count(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_stays_open_until_progress_is_due() {
        let open = OpenTarget::default();
        assert!(!open.allows(usize::MAX) && !open.allows(0) && !open.allows_flush(usize::MAX));
        assert!(open.close(), "at the first call");
        open.open(3, false);
        assert!(open.allows(3) && !open.allows(2) && !open.allows_flush(3));
        open.open(3, true);
        assert!(open.allows_flush(3) && !open.allows_flush(2));
        let allowed = (0..100).filter(|_| open.allows(3));
        assert_eq!(allowed.count(), CALLS as usize - 2);
        assert!(open.close());
        open.open(0, true);
        assert!(!open.close() && !open.allows(0) && !open.allows_flush(0));
        // Calls that change the epochs count, too.
        assert_eq!(
            (0..1000).filter(|_| open.close()).count(),
            1000 / (CALLS as usize + 1)
        );
    }
}
