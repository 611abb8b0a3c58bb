//! What the raw core does with an endpoint, whichever threads may use it: see [`ownership`](super::ownership).

use oxmpi_shm::wait::Waiter;

use super::endpoint::Endpoint;
use super::request::OpenRequest;
use crate::error::Result;

/// How a communicator reaches its endpoint. Sealed: the two ways are [`Single`] and [`Multi`].
pub trait Threading: sealed::EndpointAccess {}

pub(crate) mod sealed {
    use oxmpi_os::RawBytes;
    use oxmpi_wire::{Envelope, Outcome, Peer, Short, Source, Status, Tag, Wanted};

    use super::{EndOfProcess, Endpoint, OpenRequest, Result, Waiter};

    /// What the raw core does with an endpoint.
    #[allow(
        unnameable_types,
        reason = "the trait is sealed: callers name `Threading`, never this"
    )]
    pub trait EndpointAccess: Clone {
        /// Whether only the calling thread can use the endpoint.
        const SINGLE: bool;

        /// Whether both reach the same endpoint.
        fn is_same(&self, other: &Self) -> bool;

        /// Works on the endpoint. `work` must not call back into it.
        fn with<R>(&self, work: impl FnOnce(&mut Endpoint) -> R) -> R;

        /// [`Endpoint::send_short`], inlined as no closure is.
        fn send_short(&self, to: Peer, envelope: Envelope, body: &RawBytes) -> bool {
            self.with(|endpoint| endpoint.is_usable() && endpoint.send_short(to, envelope, body))
        }

        /// [`Endpoint::take_short`], inlined as no closure is.
        fn take_short(&self, source: Peer, wanted: Wanted, body: &RawBytes) -> Option<Short> {
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

        /// [`Endpoint::recv_short`] for a microsecond or two.
        fn recv_short(
            &self,
            source: Peer,
            context: u32,
            tag: Tag,
            body: RawBytes,
        ) -> Option<Status> {
            let source = Source::Peer(source);
            self.with(|endpoint| endpoint.recv_short(endpoint.polls, source, context, tag, &body))
        }

        /// [`Endpoint::irecv`], inlined as no closure is.
        ///
        /// # Errors
        /// When the endpoint may not be used.
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

        /// [`Endpoint::received`], inlined as no closure is. `None` too where the endpoint may not be used.
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

        /// Drives the endpoint until `ready` gives something. Between its calls the endpoint makes
        /// progress, or this thread spins, yields or sleeps.
        ///
        /// # Errors
        /// When the endpoint ends meanwhile, which only another thread can do.
        fn until<R>(&self, ready: impl FnMut(&mut Endpoint) -> Option<R>) -> Result<R>;

        /// One turn of [`EndpointAccess::until`], for callers that look for themselves.
        ///
        /// # Errors
        /// When the endpoint has ended: another thread, or an operation of this one's, has left.
        fn wait_step(&self, waiter: &mut Waiter) -> Result<()>;

        /// Advances each collective that is under way on the endpoint, once.
        fn advance_collectives(&self);

        /// Cancels the started collective of this request, if there is one. One that another thread is advancing
        /// ends afterwards.
        fn cancel_collective(&self, request: OpenRequest);

        /// A new wait.
        fn waiter(&self) -> Waiter;

        /// Leaves the other ranks: everything sent goes out first, and what another thread
        /// advances comes back. No endpoint is held meanwhile but by its turns.
        ///
        /// # Panics
        /// As [`Endpoint::begin_leaving`].
        fn leave(&self) {
            if !self.with(Endpoint::begin_leaving) {
                return;
            }
            let mut waiter = self.waiter();
            while !self.with(Endpoint::try_leave) {
                // An error: another thread has left, which the next look sees.
                let _ended = self.wait_step(&mut waiter);
            }
        }
    }
}

/// Ends the process when a panic passes it. A call that waits may have a request posted whose buffer
/// lies in the stack: a mistake of ours in the endpoint must not leave it there for a later message.
pub(super) struct EndOfProcess;

impl Drop for EndOfProcess {
    fn drop(&mut self) {
        std::process::abort();
    }
}
