//! The cell that lends the endpoint of one thread to one call at a time, and between calls to the helper thread.

use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use oxmpi_os::fork::WipeOnForkWord;

use super::super::async_progress;
use super::super::endpoint::{AfterCall, Endpoint};
use super::endpoint_latch::EndpointLatch;
use crate::error::Result;

/// Looks at the latch, with a pause each, before a call that waits for the end of the helper's pass yields the processor:
/// about as long as a pass takes. The helper may need this processor.
const LOOKS: u32 = 200;

/// How long the owner leaves the endpoint to a helper that has taken a collective out of it.
const LEFT_TO_HELPER: Duration = Duration::from_micros(50);

/// The endpoint has been left, or this process is a fork: the system writes this into a child's word.
const SHUT: u32 = 0;
/// The endpoint is usable, and nobody has it.
const FREE: u32 = 1;
/// A call has it.
const LENT: u32 = 2;
/// Whether the helper has it is said by the latch.
const OFFERED: u32 = 3;

/// An endpoint and one word that says whether a call may use it.
///
/// A [`RefCell`](std::cell::RefCell) whose flag also covers forks, endpoints that have been left, and the helper thread, to
/// which calls may offer the endpoint.
pub struct EndpointCell {
    state: WipeOnForkWord,
    endpoint: UnsafeCell<ManuallyDrop<Endpoint>>,
    shared: Arc<EndpointLatch>,
}

impl EndpointCell {
    /// A cell that lends `endpoint` to the calls of one thread.
    ///
    /// # Errors
    /// When the system has no page for the word that a fork wipes.
    pub fn new(endpoint: Endpoint) -> Result<Self> {
        let (state, shared) = EndpointLatch::new()?;
        state.set(if endpoint.is_usable() { FREE } else { SHUT });
        Ok(Self {
            state,
            endpoint: UnsafeCell::new(ManuallyDrop::new(endpoint)),
            shared,
        })
    }

    /// Lets the helper thread take the endpoint when calls offer it; `calls_program`: also to call functions of the program.
    ///
    /// # Safety
    /// The cell stays where it is until it is dropped.
    pub(super) unsafe fn list(&self, calls_program: bool) {
        self.shared
            .list(self.endpoint.get().cast::<Endpoint>(), calls_program);
    }

    /// Borrows the endpoint, whatever its state.
    ///
    /// # Panics
    /// If it is lent. The core calls no code of the user while it has the endpoint.
    #[inline]
    pub(crate) fn borrow(&self) -> BorrowedEndpoint<'_> {
        if let Some(borrowed) = self.try_borrow() {
            return borrowed;
        }
        self.wait_for_helper();
        BorrowedEndpoint(self)
    }

    /// Takes the endpoint when the helper has ended its pass.
    #[cold]
    fn wait_for_helper(&self) {
        assert_eq!(
            self.state.get(),
            OFFERED,
            "an endpoint serves one call at a time"
        );
        let mut looks = 0;
        self.shared.latch().lend(|| {
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                thread::yield_now();
            }
        });
        self.state.set(LENT);
    }

    /// Borrows the endpoint, whatever its state, if neither a call nor the helper has it.
    #[inline]
    pub(crate) fn try_borrow(&self) -> Option<BorrowedEndpoint<'_>> {
        let state = self.state.get();
        if state >= LENT && !(state == OFFERED && self.shared.latch().try_lend()) {
            return None;
        }
        self.state.set(LENT);
        Some(BorrowedEndpoint(self))
    }

    /// The endpoint, if it is usable, not lent and not offered.
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
        if self.state.get() != FREE {
            return None;
        }
        // SAFETY: the word says that nobody has the endpoint, and by the caller's promise it is not lent until
        // this borrow ends; the helper takes none that is free.
        Some(unsafe { &mut *self.endpoint.get() })
    }
}

impl Drop for EndpointCell {
    fn drop(&mut self) {
        let mut borrowed = self.borrow();
        if borrowed.check_process().is_err() {
            // The helper of the parent may have been at work on it, so its parts need not fit each other.
            return;
        }
        while borrowed.collectives.are_advanced_elsewhere() {
            borrowed = borrowed.leave_to_helper();
        }
        // The call never ends: nobody gets the endpoint again.
        std::mem::forget(borrowed);
        self.state.set(SHUT);
        // SAFETY: the cell is not used any more, and the endpoint is not offered.
        unsafe { ManuallyDrop::drop(self.endpoint.get_mut()) };
    }
}

/// An endpoint while it is lent.
pub(crate) struct BorrowedEndpoint<'a>(&'a EndpointCell);

impl<'a> BorrowedEndpoint<'a> {
    /// One step of a wait while the helper has a collective to put back: makes progress, or leaves the endpoint for a moment
    /// to the helper.
    #[cold]
    pub(crate) fn step_beside_helper(mut self) -> Self {
        match self.progress() {
            0 => self.leave_to_helper(),
            _ => self,
        }
    }

    fn leave_to_helper(mut self) -> Self {
        let cell = self.0;
        let offered = std::mem::replace(&mut self.offers, true);
        drop(self);
        thread::sleep(LEFT_TO_HELPER);
        let mut again = cell.borrow();
        again.offers = offered;
        again
    }
}

impl Drop for BorrowedEndpoint<'_> {
    #[inline]
    fn drop(&mut self) {
        let state = match self.after_call() {
            AfterCall::Shut => SHUT,
            AfterCall::Free => FREE,
            AfterCall::Offered => return self.offer(),
        };
        self.0.state.set(state);
    }
}

impl BorrowedEndpoint<'_> {
    #[cold]
    fn offer(&mut self) {
        let sleeps_on = self.may_sleep_on();
        self.0.state.set(OFFERED);
        self.0.shared.latch().offer();
        if !sleeps_on {
            async_progress::announce();
        }
    }
}

impl Deref for BorrowedEndpoint<'_> {
    type Target = Endpoint;

    #[inline]
    fn deref(&self) -> &Endpoint {
        // SAFETY: this value exists only while the word is LENT, which lends to one borrower at a time, and the latch
        // keeps the helper away; and the cell belongs to one thread, as the word is not `Sync`.
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
