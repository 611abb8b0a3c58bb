//! How a communicator reaches its endpoint: as the one owner, or through a lock.

use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use oxmpi_os::RawBytes;
use oxmpi_shm::wait::Waiter;
use oxmpi_wire::{Envelope, Peer, Short, Source, Status, Tag, Wanted};

use super::cell::EndpointCell;
use super::collective;
use super::communicator::OpenRequest;
use super::endpoint::Endpoint;
use super::thread_endpoints::{self, MultiEndpoint, SingleEndpoint};
use crate::error::Result;

/// How a communicator reaches its endpoint. Sealed: the two ways are [`Single`] and [`Multi`].
pub trait Threading: sealed::EndpointAccess {}

/// The endpoint belongs to one thread; no lock.
#[derive(Clone)]
pub struct Single(pub(super) Rc<SingleEndpoint>);

/// The endpoint is shared by threads; each call takes its lock.
#[derive(Clone)]
pub struct Multi(pub(super) Arc<MultiEndpoint>);

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

use sealed::EndpointAccess;

/// Ends the process when a panic passes it. A call that waits may have a request posted whose buffer
/// lies in the stack: a mistake of ours in the endpoint must not leave it there for a later message.
struct EndOfProcess;

impl Drop for EndOfProcess {
    fn drop(&mut self) {
        std::process::abort();
    }
}

impl Single {
    pub(crate) fn new(endpoint: EndpointCell) -> Self {
        Self(SingleEndpoint::new(endpoint))
    }
}

impl Multi {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self(MultiEndpoint::new(endpoint))
    }
}

impl Single {
    #[cold]
    #[inline(never)]
    fn progress(&self) {
        self.with(Endpoint::progress);
    }
}

impl Threading for Single {}

impl EndpointAccess for Single {
    const SINGLE: bool = true;

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

    // Out of line: what a call does while it waits takes no time.
    #[inline(never)]
    fn recv_short(&self, source: Peer, context: u32, tag: Tag, body: RawBytes) -> Option<Status> {
        let source = Source::Peer(source);
        let mut endpoint = self.0.endpoint.borrow();
        let polls = endpoint.polls;
        endpoint.recv_short(polls, source, context, tag, &body)
    }

    #[inline(always)]
    fn take_short(&self, source: Peer, wanted: Wanted, body: &RawBytes) -> Option<Short> {
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
            // What came before this wait may be for one of them, and the first turn may sleep.
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
            // What is driven here may run an operation of the user's, and so no endpoint is held.
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
        // An operation of this thread's may have left the world.
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

    fn waiter(&self) -> Waiter {
        self.0.endpoint.borrow().waiter()
    }
}

impl Threading for Multi {}

impl EndpointAccess for Multi {
    const SINGLE: bool = false;

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn with<R>(&self, work: impl FnOnce(&mut Endpoint) -> R) -> R {
        // A panic inside a call leaves no half-made state behind that a later call could trip on:
        // the endpoint's own code does not panic between its steps.
        work(
            &mut self
                .0
                .endpoint
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    fn until<R>(&self, mut ready: impl FnMut(&mut Endpoint) -> Option<R>) -> Result<R> {
        let mut waiter = self.waiter();
        let end = EndOfProcess;
        let result = loop {
            if let Some(result) = self.with(&mut ready) {
                break Ok(result);
            }
            if let Err(error) = self.wait_step(&mut waiter) {
                break Err(error);
            }
        };
        std::mem::forget(end);
        result
    }

    fn wait_step(&self, waiter: &mut Waiter) -> Result<()> {
        let (rest, collectives) = self.with(|endpoint| {
            endpoint.check()?;
            Ok((
                endpoint.wait_step_unlocked(waiter),
                endpoint.collectives.are_open(),
            ))
        })?;
        if collectives {
            collective::drive(self);
        }
        let Some(rest) = rest else {
            return Ok(());
        };
        // The lock is not held while this thread rests; another one may need the endpoint meanwhile.
        if waiter.unwoken(rest) {
            self.with(Endpoint::after_nap);
        }
        thread_endpoints::drive();
        Ok(())
    }

    fn waiter(&self) -> Waiter {
        self.with(|endpoint| endpoint.waiter())
    }
}
