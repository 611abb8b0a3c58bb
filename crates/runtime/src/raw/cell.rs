//! The lane of one thread, lent to one call at a time.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

use oxmpi_os::fork::Latch;

use super::lane::Lane;
use crate::error::{Error, Result};

/// The lane was left, or this is a fork of its process: what the system writes into a child's latch.
const SHUT: u32 = 0;
/// The lane is free, and may be used.
const FREE: u32 = 1;
/// A call has it.
const LENT: u32 = 2;

/// A lane and one word that says whether it may be used: by this process, still, and right now.
///
/// As a [`RefCell`](std::cell::RefCell), whose flag also tells of forks and of the lane's end.
pub(crate) struct LaneCell {
    latch: Latch,
    lane: UnsafeCell<Lane>,
}

impl LaneCell {
    pub(crate) fn new(lane: Lane) -> Result<Self> {
        let latch = Latch::new().map_err(|why| Error::start("guarding against forks", why))?;
        latch.set(lane.is_usable().into());
        Ok(Self {
            latch,
            lane: UnsafeCell::new(lane),
        })
    }

    /// Borrows the lane, whatever its state.
    ///
    /// # Panics
    /// If it is lent: the raw core calls no code of its caller's meanwhile.
    #[inline]
    pub(super) fn borrow(&self) -> Borrowed<'_> {
        self.try_borrow().expect("a lane serves one call at a time")
    }

    /// Borrows the lane, whatever its state, if it is not lent.
    #[inline]
    pub(super) fn try_borrow(&self) -> Option<Borrowed<'_>> {
        if self.latch.get() == LENT {
            return None;
        }
        self.latch.set(LENT);
        Some(Borrowed(self))
    }

    /// The lane, if it may be used.
    ///
    /// # Safety
    /// Until the last use of what this gives, nothing else borrows the lane: what is done with it calls
    /// no code of the face's user, not even that user's allocator or panic hook, which could.
    ///
    /// # Cost
    /// A pointer and one word loaded, and a compare.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "a cell: see its contract")]
    pub(super) unsafe fn usable(&self) -> Option<&mut Lane> {
        if self.latch.get() != FREE {
            return None;
        }
        // SAFETY: the latch says that the lane is not lent, and it is not until this borrow ends, by
        // the caller's word.
        Some(unsafe { &mut *self.lane.get() })
    }
}

/// A lane while it is lent.
pub(super) struct Borrowed<'a>(&'a LaneCell);

impl Drop for Borrowed<'_> {
    #[inline]
    fn drop(&mut self) {
        let state = if self.is_usable() { FREE } else { SHUT };
        self.0.latch.set(state);
    }
}

impl Deref for Borrowed<'_> {
    type Target = Lane;

    #[inline]
    fn deref(&self) -> &Lane {
        // SAFETY: the latch says that the lane is lent, which is done once at a time, and the cell is
        // one thread's: a latch is not `Sync`.
        unsafe { &*self.0.lane.get() }
    }
}

impl DerefMut for Borrowed<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Lane {
        // SAFETY: as above.
        unsafe { &mut *self.0.lane.get() }
    }
}
