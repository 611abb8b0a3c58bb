//! What the core does with an endpoint without a lock: calls to it come one after another.

use oxmpi_os::RawBytes;
use oxmpi_shm::wait::Waiter;
use oxmpi_wire::{Envelope, EnvelopeFilter, Peer, ShortMessage, Source, Status, Tag};

use super::super::collective;
use super::super::endpoint::Endpoint;
use super::super::request::OpenRequest;
use super::super::thread_endpoints;
use super::super::threading::sealed::EndpointAccess;
use super::super::threading::{EndOfProcess, Threading};
use super::EndpointCell;
use crate::error::Result;

/// An owner of an endpoint whose calls come one after another.
pub(crate) trait Unlocked: Threading {
    /// Takes the endpoint.
    ///
    /// # Errors
    /// When there is no place for it.
    fn hold(endpoint: EndpointCell) -> Result<Self>;

    /// The endpoint.
    fn cell(&self) -> &EndpointCell;

    /// Whether the calling thread drives other endpoints than this one while it waits.
    fn has_others() -> bool;
}

#[cold]
#[inline(never)]
fn progress(access: &impl Unlocked) {
    access.cell().borrow().progress();
}

impl<U: Unlocked> EndpointAccess for U {
    #[inline(always)]
    fn is_single(&self) -> bool {
        true
    }

    fn of(endpoint: Endpoint) -> Result<Self> {
        Self::hold(EndpointCell::new(endpoint)?)
    }

    fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.cell(), other.cell())
    }

    #[inline(always)]
    fn with<R>(&self, work: impl FnOnce(&mut Endpoint) -> R) -> R {
        work(&mut self.cell().borrow())
    }

    #[inline(always)]
    fn send_short(&self, to: Peer, envelope: Envelope, body: &RawBytes) -> bool {
        // SAFETY: the engine and the transport put a word into a ring; no code of the user runs.
        match unsafe { self.cell().usable() } {
            Some(endpoint) => endpoint.send_short(to, envelope, body),
            None => false,
        }
    }

    #[inline(always)]
    fn irecv(&self, source: Source, context: u32, tag: Tag, body: RawBytes) -> Result<OpenRequest> {
        let endpoint = &mut *self.cell().borrow();
        endpoint.check()?;
        Ok(endpoint.irecv(source, context, tag, body))
    }

    #[inline(always)]
    fn received(&self, request: OpenRequest) -> Option<Status> {
        // SAFETY: the engine looks a request up and frees its place; no code of the user runs.
        unsafe { self.cell().usable() }?.received(request)
    }

    #[inline(always)]
    fn take_short(
        &self,
        source: Peer,
        wanted: EnvelopeFilter,
        body: &RawBytes,
    ) -> Option<ShortMessage> {
        // SAFETY: the engine and the transport take a word from a ring; no code of the user runs.
        let short = unsafe { self.cell().usable() }?.take_short(source, wanted, body)?;
        if short.poll {
            progress(self);
        }
        Some(short)
    }

    #[inline]
    fn until<R>(&self, mut ready: impl FnMut(&mut Endpoint) -> Option<R>) -> Result<R> {
        let mut endpoint = self.cell().borrow();
        let offered = endpoint.suspend_offers();
        if endpoint.collectives.are_open() {
            // A message that came before this wait may be for one of them, and the first step may sleep.
            drop(endpoint);
            collective::drive(self);
            endpoint = self.cell().borrow();
        }
        let mut waiter = endpoint.waiter();
        let end = EndOfProcess;
        let result = loop {
            if let Some(result) = ready(&mut endpoint) {
                break result;
            }
            if endpoint.collectives.are_advanced_elsewhere() {
                endpoint = endpoint.step_beside_helper();
            } else {
                endpoint.wait_step(&mut waiter);
            }
            // Driving may run an operation of the user, so the endpoint is not held.
            if Self::has_others() {
                drop(endpoint);
                thread_endpoints::drive();
                endpoint = self.cell().borrow();
            } else if endpoint.collectives.are_open() {
                drop(endpoint);
                collective::drive(self);
                endpoint = self.cell().borrow();
            }
        };
        std::mem::forget(end);
        endpoint.offers |= offered;
        Ok(result)
    }

    fn wait_step(&self, waiter: &mut Waiter) -> Result<()> {
        let mut endpoint = self.cell().borrow();
        // An operation of this thread may have left the world.
        endpoint.check()?;
        if endpoint.collectives.are_advanced_elsewhere() {
            endpoint = endpoint.step_beside_helper();
        } else {
            endpoint.wait_step(waiter);
        }
        let collectives = endpoint.collectives.are_open();
        drop(endpoint);
        if Self::has_others() {
            thread_endpoints::drive();
        } else if collectives {
            collective::drive(self);
        }
        Ok(())
    }

    fn advance_collectives(&self) {
        collective::drive(self);
    }

    fn cancel_collective(&self, request: OpenRequest) {
        collective::cancel_request(self, request);
    }

    fn waiter(&self) -> Waiter {
        self.cell().borrow().waiter()
    }

    fn offer(&self) {
        self.cell().borrow().offers = true;
    }

    fn suspend_offers(&self) -> bool {
        self.cell().borrow().suspend_offers()
    }
}
