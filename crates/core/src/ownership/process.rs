//! The endpoint of a process that chooses its thread level when it starts.

use oxmpi_os::RawBytes;
use oxmpi_shm::wait::Waiter;
use oxmpi_wire::{Envelope, EnvelopeFilter, Outcome, Peer, ShortMessage, Source, Status, Tag};

use super::super::endpoint::Endpoint;
use super::super::request::OpenRequest;
use super::super::threading::Threading;
use super::super::threading::sealed::EndpointAccess;
use super::{Multi, Serialized};
use crate::error::Result;

/// The endpoint of a process, at the thread level that it chose when it joined its job: for a face that learns the level
/// from its program (`MPI_Init_thread`).
///
/// # Cost
/// One branch in each call, which always goes the same way.
#[derive(Clone)]
pub enum ProcessEndpoint {
    /// Calls come one after another (`MPI_THREAD_SERIALIZED` and below).
    Serialized(Serialized),
    /// Calls come from several threads at once (`MPI_THREAD_MULTIPLE`).
    Multiple(Multi),
}

/// Calls the same method of whichever owner there is.
macro_rules! either {
    ($self:ident, $owner:ident => $call:expr) => {
        match $self {
            ProcessEndpoint::Serialized($owner) => $call,
            ProcessEndpoint::Multiple($owner) => $call,
        }
    };
}

impl Threading for ProcessEndpoint {}

impl EndpointAccess for ProcessEndpoint {
    #[inline(always)]
    fn is_single(&self) -> bool {
        matches!(self, Self::Serialized(_))
    }

    fn of(endpoint: Endpoint) -> Result<Self> {
        Serialized::of(endpoint).map(Self::Serialized)
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Serialized(one), Self::Serialized(other)) => one.is_same(other),
            (Self::Multiple(one), Self::Multiple(other)) => one.is_same(other),
            _ => false,
        }
    }

    #[inline]
    fn with<R>(&self, work: impl FnOnce(&mut Endpoint) -> R) -> R {
        either!(self, owner => owner.with(work))
    }

    #[inline(always)]
    fn send_short(&self, to: Peer, envelope: Envelope, body: &RawBytes) -> bool {
        either!(self, owner => owner.send_short(to, envelope, body))
    }

    #[inline(always)]
    fn take_short(
        &self,
        source: Peer,
        wanted: EnvelopeFilter,
        body: &RawBytes,
    ) -> Option<ShortMessage> {
        either!(self, owner => owner.take_short(source, wanted, body))
    }

    #[inline(always)]
    fn irecv(&self, source: Source, context: u32, tag: Tag, body: RawBytes) -> Result<OpenRequest> {
        either!(self, owner => owner.irecv(source, context, tag, body))
    }

    #[inline(always)]
    fn received(&self, request: OpenRequest) -> Option<Status> {
        either!(self, owner => owner.received(request))
    }

    fn wait_briefly(&self, request: OpenRequest) -> Option<Outcome> {
        either!(self, owner => owner.wait_briefly(request))
    }

    fn until<R>(&self, ready: impl FnMut(&mut Endpoint) -> Option<R>) -> Result<R> {
        either!(self, owner => owner.until(ready))
    }

    fn wait_step(&self, waiter: &mut Waiter) -> Result<()> {
        either!(self, owner => owner.wait_step(waiter))
    }

    fn advance_collectives(&self) {
        either!(self, owner => owner.advance_collectives());
    }

    fn cancel_collective(&self, request: OpenRequest) {
        either!(self, owner => owner.cancel_collective(request));
    }

    fn waiter(&self) -> Waiter {
        either!(self, owner => owner.waiter())
    }

    fn offer(&self) {
        either!(self, owner => owner.offer());
    }

    fn suspend_offers(&self) -> bool {
        either!(self, owner => owner.suspend_offers())
    }

    fn leave(&self) {
        either!(self, owner => owner.leave());
    }
}
