//! How the helper thread uses the endpoint of another thread: [`HelperAccess`].

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use oxmpi_shm::wait::Waiter;

use super::super::collective;
use super::super::endpoint::Endpoint;
use super::super::ownership::EndpointLatch;
use super::super::request::OpenRequest;
use super::super::threading::sealed::EndpointAccess;
use super::super::threading::{EndOfProcess, Threading};
use crate::error::{Error, Result};

/// How long the helper leaves the endpoint to a call that has it, between two looks.
const NAP: Duration = Duration::from_micros(20);

/// An endpoint that its owner offers.
#[derive(Clone)]
pub(super) struct HelperAccess {
    latch: Arc<EndpointLatch>,
    /// Whether this thread has taken the latch. Else each use takes it, and waits until the endpoint is offered.
    held: bool,
}

impl HelperAccess {
    /// An endpoint that this thread has not taken.
    pub(super) const fn of_offered(latch: Arc<EndpointLatch>) -> Self {
        Self { latch, held: false }
    }

    /// Runs `pass` on the endpoint, which it gives back afterwards. `None`: the endpoint is not offered.
    pub(super) fn take<R>(&self, pass: impl FnOnce(&Self) -> R) -> Option<R> {
        if !self.latch.latch().take() {
            return None;
        }
        let held = Self {
            latch: Arc::clone(&self.latch),
            held: true,
        };
        // A call that waits for the end of the pass would wait forever.
        let end = EndOfProcess;
        let result = pass(&held);
        std::mem::forget(end);
        self.latch.latch().give_back();
        Some(result)
    }

    /// Whether a call waits for the end of the pass.
    pub(super) fn is_wanted(&self) -> bool {
        self.latch.latch().is_wanted()
    }
}

impl Threading for HelperAccess {}

impl EndpointAccess for HelperAccess {
    fn is_single(&self) -> bool {
        false
    }

    /// The helper makes no endpoints.
    fn of(_: Endpoint) -> Result<Self> {
        Err(Error::Finalized)
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.latch, &other.latch)
    }

    fn with<R>(&self, work: impl FnOnce(&mut Endpoint) -> R) -> R {
        let latch = self.latch.latch();
        if !self.held {
            while !latch.take() {
                thread::sleep(NAP);
            }
        }
        // SAFETY: this thread has taken the latch of a listed endpoint, so no call uses it, and the endpoint is there. In the
        // thread itself `work` uses no endpoint otherwise, by its contract.
        let endpoint = unsafe { &mut *self.latch.endpoint() };
        let result = work(endpoint);
        if !self.held {
            latch.give_back();
        }
        result
    }

    fn until<R>(&self, mut ready: impl FnMut(&mut Endpoint) -> Option<R>) -> Result<R> {
        let mut waiter = self.waiter();
        loop {
            if let Some(result) = self.with(&mut ready) {
                return Ok(result);
            }
            self.wait_step(&mut waiter)?;
        }
    }

    fn wait_step(&self, waiter: &mut Waiter) -> Result<()> {
        let rest = self.with(|endpoint| {
            endpoint.check()?;
            Ok(endpoint.wait_step_unlocked(waiter))
        })?;
        if rest.is_some_and(|rest| waiter.rest_unwoken(rest)) {
            self.with(Endpoint::after_nap);
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
        self.with(|endpoint| endpoint.waiter())
    }

    /// It is offered already.
    fn offer(&self) {}
}
