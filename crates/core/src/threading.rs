//! What the core does with an endpoint, whichever threads may use it: see [`ownership`](super::ownership).

use oxmpi_shm::wait::Waiter;

use super::async_progress;
use super::endpoint::Endpoint;
use super::request::OpenRequest;
use crate::error::Result;

/// Which threads may use an endpoint: one ([`Single`](crate::Single)), several ([`Multi`](crate::Multi)), one after
/// another ([`Serialized`](crate::Serialized)), or as the process has chosen
/// ([`ProcessEndpoint`](crate::ProcessEndpoint)). Sealed.
pub trait Threading: sealed::EndpointAccess {}

pub(crate) mod sealed {
    use oxmpi_os::RawBytes;
    use oxmpi_wire::{Envelope, EnvelopeFilter, Outcome, Peer, ShortMessage, Source, Status, Tag};

    use super::{EndOfProcess, Endpoint, OpenRequest, Result, Waiter};

    /// What the core does with an endpoint.
    #[allow(
        unnameable_types,
        reason = "the trait is sealed: callers name `Threading`, never this"
    )]
    pub trait EndpointAccess: Clone {
        /// Whether calls to the endpoint come one after another, so that nobody else uses it while a call waits.
        fn is_single(&self) -> bool;

        /// The owner of a new endpoint.
        ///
        /// # Errors
        /// When the system has no page for the cell that lends it.
        fn of(endpoint: Endpoint) -> Result<Self>;

        /// Whether both are the same endpoint.
        fn is_same(&self, other: &Self) -> bool;

        /// Runs `work` on the endpoint; `work` must not use the endpoint otherwise.
        fn with<R>(&self, work: impl FnOnce(&mut Endpoint) -> R) -> R;

        /// [`Endpoint::send_short`], inlined as a closure would not be.
        fn send_short(&self, to: Peer, envelope: Envelope, body: &RawBytes) -> bool {
            self.with(|endpoint| endpoint.is_usable() && endpoint.send_short(to, envelope, body))
        }

        /// [`Endpoint::take_short`], inlined as a closure would not be.
        fn take_short(
            &self,
            source: Peer,
            wanted: EnvelopeFilter,
            body: &RawBytes,
        ) -> Option<ShortMessage> {
            self.with(|endpoint| {
                let short = endpoint
                    .is_usable()
                    .then(|| endpoint.take_short(source, wanted, body));
                let short = short.flatten()?;
                if short.poll {
                    endpoint.progress();
                }
                Some(short)
            })
        }

        /// [`Endpoint::irecv`], inlined as a closure would not be.
        ///
        /// # Errors
        /// When the endpoint is not usable.
        fn irecv(
            &self,
            source: Source,
            context: u32,
            tag: Tag,
            body: RawBytes,
        ) -> Result<OpenRequest> {
            self.with(|endpoint| {
                endpoint.check()?;
                Ok(endpoint.irecv(source, context, tag, body))
            })
        }

        /// [`Endpoint::received`], inlined as a closure would not be. `None` too where the endpoint is not usable.
        fn received(&self, request: OpenRequest) -> Option<Status> {
            self.with(|endpoint| {
                (endpoint.is_usable().then(|| endpoint.received(request))).flatten()
            })
        }

        /// [`Endpoint::wait_briefly`], guarded as [`EndpointAccess::until`] is.
        fn wait_briefly(&self, request: OpenRequest) -> Option<Outcome> {
            let end = EndOfProcess;
            let outcome = self.with(|endpoint| endpoint.wait_briefly(request));
            std::mem::forget(end);
            outcome
        }

        /// Waits until `ready` gives something. Between its calls the endpoint makes progress, or this thread
        /// spins, yields or sleeps.
        ///
        /// # Errors
        /// When another thread leaves the endpoint meanwhile.
        fn until<R>(&self, ready: impl FnMut(&mut Endpoint) -> Option<R>) -> Result<R>;

        /// One step of [`EndpointAccess::until`], for callers that check their condition themselves.
        ///
        /// # Errors
        /// When the endpoint has been left, by another thread or by an operation of this one.
        fn wait_step(&self, waiter: &mut Waiter) -> Result<()>;

        /// Advances each collective that is under way on the endpoint, once.
        fn advance_collectives(&self);

        /// Cancels the started collective of this request, if there is one. One that another thread is advancing
        /// ends afterwards.
        fn cancel_collective(&self, request: OpenRequest);

        /// The state of a new wait.
        fn waiter(&self) -> Waiter;

        /// Notes that the calls so far leave something under way, so that from now on calls offer the endpoint to the
        /// process's helper thread when they end.
        fn offer(&self);

        /// Has the parts of a long call offer the endpoint no more; whether they did. At the end of the call, if so,
        /// [`EndpointAccess::offer`] undoes it. Where threads share the endpoint nobody offers it.
        fn suspend_offers(&self) -> bool {
            false
        }

        /// Leaves the other ranks, after everything sent has gone out and collectives that other threads advance
        /// have come back. The endpoint is held for single steps only.
        ///
        /// # Panics
        /// As [`Endpoint::begin_leaving`].
        fn leave(&self) {
            if !self.with(Endpoint::begin_leaving) {
                return;
            }
            let mut waiter = self.waiter();
            while !self.with(Endpoint::try_leave) {
                // An error means that another thread has left, which the loop's condition sees.
                let _ended = self.wait_step(&mut waiter);
            }
            drop(self.with(Endpoint::take_ended_detached));
        }
    }
}

/// While it lives, the parts of a long call do not offer the endpoint to the helper thread.
pub(super) struct SuspendedOffers<'a, A: sealed::EndpointAccess>(Option<&'a A>);

impl<'a, A: sealed::EndpointAccess> SuspendedOffers<'a, A> {
    #[inline]
    pub(super) fn new(access: &'a A) -> Self {
        let offered = async_progress::is_on() && access.suspend_offers();
        Self(offered.then_some(access))
    }
}

impl<A: sealed::EndpointAccess> Drop for SuspendedOffers<'_, A> {
    #[inline]
    fn drop(&mut self) {
        if let Some(access) = self.0 {
            access.offer();
        }
    }
}

/// Aborts the process when a panic unwinds through it. A call that waits may have posted a request whose buffer
/// is on the stack: after a panic in the endpoint's own code a later message must not be written there.
pub(super) struct EndOfProcess;

impl Drop for EndOfProcess {
    fn drop(&mut self) {
        std::process::abort();
    }
}
