//! The cell that lends the endpoint of one thread to one call at a time.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

use oxmpi_os::fork::WipeOnForkWord;

use super::super::endpoint::Endpoint;
use crate::error::{Error, Result};

/// The endpoint has been left, or this process is a fork: the system writes this into a child's latch.
const SHUT: u32 = 0;
/// The endpoint is usable, and no call has it.
const FREE: u32 = 1;
/// A call has it.
const LENT: u32 = 2;

/// An endpoint and one word that says whether a call may use it.
///
/// A [`RefCell`](std::cell::RefCell) whose flag also covers forks and endpoints that have been left.
pub struct EndpointCell {
    latch: WipeOnForkWord,
    endpoint: UnsafeCell<Endpoint>,
}

impl EndpointCell {
    /// A cell that lends `endpoint` to the calls of one thread.
    ///
    /// # Errors
    /// When the system has no page for the word that a fork wipes.
    pub fn new(endpoint: Endpoint) -> Result<Self> {
        let latch =
            WipeOnForkWord::new().map_err(|why| Error::start("guarding against forks", why))?;
        latch.set(endpoint.is_usable().into());
        Ok(Self {
            latch,
            endpoint: UnsafeCell::new(endpoint),
        })
    }

    /// Borrows the endpoint, whatever its state.
    ///
    /// # Panics
    /// If it is lent. The core calls no code of the user while it has the endpoint.
    #[inline]
    pub(crate) fn borrow(&self) -> BorrowedEndpoint<'_> {
        self.try_borrow()
            .expect("an endpoint serves one call at a time")
    }

    /// Borrows the endpoint, whatever its state, if it is not lent.
    #[inline]
    pub(crate) fn try_borrow(&self) -> Option<BorrowedEndpoint<'_>> {
        if self.latch.get() == LENT {
            return None;
        }
        self.latch.set(LENT);
        Some(BorrowedEndpoint(self))
    }

    /// The endpoint, if it is usable and not lent.
    ///
    /// # Safety
    /// Until the last use of the returned reference nothing else borrows the endpoint: the caller runs no code of
    /// the user meanwhile, not even the user's allocator or panic hook.
    ///
    /// # Cost
    /// A pointer and one word loaded, and a compare.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "a cell: see its contract")]
    pub(crate) unsafe fn usable(&self) -> Option<&mut Endpoint> {
        if self.latch.get() != FREE {
            return None;
        }
        // SAFETY: the latch says that the endpoint is not lent, and by the caller's promise it is not lent until
        // this borrow ends.
        Some(unsafe { &mut *self.endpoint.get() })
    }
}

/// An endpoint while it is lent.
pub(crate) struct BorrowedEndpoint<'a>(&'a EndpointCell);

impl Drop for BorrowedEndpoint<'_> {
    #[inline]
    fn drop(&mut self) {
        let state = if self.is_usable() { FREE } else { SHUT };
        self.0.latch.set(state);
    }
}

impl Deref for BorrowedEndpoint<'_> {
    type Target = Endpoint;

    #[inline]
    fn deref(&self) -> &Endpoint {
        // SAFETY: this value exists only while the latch is LENT, which lends to one borrower at a time; and the
        // cell belongs to one thread, as a latch is not `Sync`.
        unsafe { &*self.0.endpoint.get() }
    }
}

impl DerefMut for BorrowedEndpoint<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Endpoint {
        // SAFETY: as above.
        unsafe { &mut *self.0.endpoint.get() }
    }
}
