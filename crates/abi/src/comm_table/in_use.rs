//! [`InUse`]: a communicator that its handle, operations and messages keep.

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use super::Entry;

/// Keeps a communicator, for its handle, for an operation on it, or for a message of it: one that the program has freed goes
/// with the last of them (MPI 5.0, section 7.4.3).
///
/// As an `Arc` does, but without a locked instruction below `MPI_THREAD_MULTIPLE`, and kept again by a reference.
pub(crate) struct InUse(NonNull<Entry>);

impl InUse {
    /// Gives a communicator memory of its own, for its handle.
    pub(super) fn first(entry: Entry) -> Self {
        let place = NonNull::from(Box::leak(Box::new(entry)));
        // SAFETY: the box is leaked, and nobody else knows of it.
        unsafe { place.as_ref() }
            .place
            .store(place.as_ptr(), Ordering::Relaxed);
        Self(place)
    }

    /// Keeps a communicator of the table once more.
    pub(crate) fn new(comm: &Entry) -> Self {
        comm.holders.add();
        let place = NonNull::new(comm.place.load(Ordering::Relaxed));
        Self(place.expect("every communicator that is lent has been given memory of its own"))
    }

    /// The communicator, for calls that complete or free what it is kept for: the program makes one of them at a time, so
    /// that the communicator lives until that call drops this.
    pub(crate) const fn address(&self) -> NonNull<Entry> {
        self.0
    }
}

impl Deref for InUse {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        // SAFETY: the entry is dropped when it is not counted any more, and this counts it.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        if self.holders.remove() {
            // SAFETY: the pointer is that of the box that `first` has leaked, and nothing else keeps the entry.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}
