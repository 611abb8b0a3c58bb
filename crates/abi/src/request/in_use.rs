//! [`InUse`]: a communicator that operations and messages keep.

use std::ops::Deref;
use std::ptr::NonNull;

use super::REQUESTS;
use crate::comm_table::Entry;

/// Keeps a communicator for an operation on it, or for a message of it: one that the program has freed goes with the last
/// of them (MPI 5.0, section 7.4.3).
pub(crate) struct InUse(NonNull<Entry>);

impl InUse {
    pub(crate) fn new(comm: &Entry) -> Self {
        REQUESTS.with(|_| Self::counted(comm))
    }

    /// As [`InUse::new`], while the table of requests is lent.
    pub(super) fn counted(comm: &Entry) -> Self {
        comm.operations.set(comm.operations.get() + 1);
        Self(NonNull::from(comm))
    }

    /// The communicator, for calls that complete or free what it is kept for: the program makes one of them at a time, so
    /// that the communicator lives until that call drops this.
    pub(super) const fn address(&self) -> NonNull<Entry> {
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
    /// Not while the table of requests is lent.
    fn drop(&mut self) {
        let is_last = REQUESTS.with(|_| {
            self.operations.set(self.operations.get() - 1);
            self.operations.get() == 0 && self.is_freed.get()
        });
        if is_last {
            // SAFETY: `free_communicator` left it to the last that keeps it, and no handle names it any more.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

/// Drops a communicator of which no handle is left; once nothing keeps it where something does.
pub(crate) fn free_communicator(comm: Box<Entry>) {
    let comm = NonNull::from(Box::leak(comm));
    let is_last = REQUESTS.with(|_| {
        // SAFETY: made of a box above.
        let comm = unsafe { comm.as_ref() };
        comm.is_freed.set(true);
        comm.operations.get() == 0
    });
    if is_last {
        // SAFETY: as above; nothing keeps it.
        drop(unsafe { Box::from_raw(comm.as_ptr()) });
    }
}
