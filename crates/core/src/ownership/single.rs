//! An endpoint that one thread uses, without a lock.

use std::rc::Rc;

use oxmpi_os::RawBytes;
use oxmpi_shm::wait::Waiter;
use oxmpi_wire::{Envelope, EnvelopeFilter, Peer, ShortMessage, Source, Status, Tag};

use super::super::collective;
use super::super::endpoint::Endpoint;
use super::super::request::OpenRequest;
use super::super::thread_endpoints::{self, SingleCount};
use super::super::threading::sealed::EndpointAccess;
use super::super::threading::{EndOfProcess, Threading};
use super::{EndpointCell, drive, list_single};
use crate::error::Result;

/// One thread uses the endpoint, and takes no lock.
#[derive(Clone)]
pub struct Single(pub(super) Rc<SingleEndpoint>);

/// An endpoint that its thread drives for as long as it lives.
pub(super) struct SingleEndpoint {
    pub(super) endpoint: EndpointCell,
    _count: SingleCount,
}

impl Single {
    /// The endpoint of the calling thread, which drives it while it waits.
    #[must_use]
    pub fn new(endpoint: EndpointCell) -> Self {
        let endpoint = Rc::new(SingleEndpoint {
            _count: SingleCount::new(drive),
            endpoint,
        });
        list_single(&endpoint);
        Self(endpoint)
    }

    #[cold]
    #[inline(never)]
    fn progress(&self) {
        self.with(Endpoint::progress);
    }
}

impl Threading for Single {}

impl EndpointAccess for Single {
    const SINGLE: bool = true;

    fn of(endpoint: Endpoint) -> Result<Self> {
        Ok(Self::new(EndpointCell::new(endpoint)?))
    }

    fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    #[inline(always)]
    fn with<R>(&self, work: impl FnOnce(&mut Endpoint) -> R) -> R {
        work(&mut self.0.endpoint.borrow())
    }

    #[inline(always)]
    fn send_short(&self, to: Peer, envelope: Envelope, body: &RawBytes) -> bool {
        // SAFETY: the engine and the transport put a word into a ring; no code of the user runs.
        match unsafe { self.0.endpoint.usable() } {
            Some(endpoint) => endpoint.send_short(to, envelope, body),
            None => false,
        }
    }

    #[inline(always)]
    fn irecv(&self, source: Source, context: u32, tag: Tag, body: RawBytes) -> Result<OpenRequest> {
        let endpoint = &mut *self.0.endpoint.borrow();
        endpoint.check()?;
        Ok(endpoint.irecv(source, context, tag, body))
    }

    #[inline(always)]
    fn received(&self, request: OpenRequest) -> Option<Status> {
        // SAFETY: the engine looks a request up and frees its place; no code of the user runs.
        unsafe { self.0.endpoint.usable() }?.received(request)
    }

    #[inline(always)]
    fn take_short(
        &self,
        source: Peer,
        wanted: EnvelopeFilter,
        body: &RawBytes,
    ) -> Option<ShortMessage> {
        // SAFETY: the engine and the transport take a word from a ring; no code of the user runs.
        let short = unsafe { self.0.endpoint.usable() }?.take_short(source, wanted, body)?;
        if short.poll {
            self.progress();
        }
        Some(short)
    }

    #[inline]
    fn until<R>(&self, mut ready: impl FnMut(&mut Endpoint) -> Option<R>) -> Result<R> {
        let mut endpoint = self.0.endpoint.borrow();
        if endpoint.collectives.are_open() {
            // A message that came before this wait may be for one of them, and the first step may sleep.
            drop(endpoint);
            collective::drive(self);
            endpoint = self.0.endpoint.borrow();
        }
        let mut waiter = endpoint.waiter();
        let end = EndOfProcess;
        let result = loop {
            if let Some(result) = ready(&mut endpoint) {
                break result;
            }
            endpoint.wait_step(&mut waiter);
            // Driving may run an operation of the user, so the endpoint is not held.
            if thread_endpoints::any() {
                drop(endpoint);
                thread_endpoints::drive();
                endpoint = self.0.endpoint.borrow();
            } else if endpoint.collectives.are_open() {
                drop(endpoint);
                collective::drive(self);
                endpoint = self.0.endpoint.borrow();
            }
        };
        std::mem::forget(end);
        Ok(result)
    }

    fn wait_step(&self, waiter: &mut Waiter) -> Result<()> {
        let mut endpoint = self.0.endpoint.borrow();
        // An operation of this thread may have left the world.
        endpoint.check()?;
        endpoint.wait_step(waiter);
        let collectives = endpoint.collectives.are_open();
        drop(endpoint);
        if thread_endpoints::any() {
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
        self.0.endpoint.borrow().waiter()
    }
}
