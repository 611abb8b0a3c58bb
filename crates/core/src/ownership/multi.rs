//! An endpoint that threads share; each call takes its lock.

use std::sync::Arc;

use oxmpi_shm::wait::Waiter;
use parking_lot::{Mutex, MutexGuard};

use super::super::async_progress;
use super::super::collective;
use super::super::endpoint::Endpoint;
use super::super::request::OpenRequest;
use super::super::thread_endpoints::{self, MultiCount};
use super::super::threading::sealed::EndpointAccess;
use super::super::threading::{EndOfProcess, Threading};
use super::{drive, list_multi};
use crate::error::Result;

/// Threads share the endpoint: each call takes its lock (`MPI_THREAD_MULTIPLE`).
#[derive(Clone)]
pub struct Multi(pub(super) Arc<MultiEndpoint>);

/// An endpoint that all threads drive for as long as it lives.
pub(super) struct MultiEndpoint {
    pub(super) endpoint: Mutex<Endpoint>,
    _count: MultiCount,
}

impl Multi {
    /// `endpoint`, behind a lock. All threads of the process drive it while they wait.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        let endpoint = Arc::new(MultiEndpoint {
            _count: MultiCount::new(drive),
            endpoint: Mutex::new(endpoint),
        });
        list_multi(&endpoint);
        Self(endpoint)
    }
}

impl Multi {
    /// The endpoint, unless another thread has it.
    #[inline(always)]
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Endpoint>> {
        self.0.endpoint.try_lock()
    }
}

impl Threading for Multi {}

impl EndpointAccess for Multi {
    #[inline(always)]
    fn is_single(&self) -> bool {
        false
    }

    fn of(endpoint: Endpoint) -> Result<Self> {
        Ok(Self::new(endpoint))
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn with<R>(&self, work: impl FnOnce(&mut Endpoint) -> R) -> R {
        // A panic inside a call leaves a consistent endpoint: its own code does not panic between its steps.
        work(&mut self.0.endpoint.lock())
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
        // The lock is not held while this thread rests: another thread may need the endpoint.
        if waiter.rest_unwoken(rest) {
            self.with(Endpoint::after_nap);
        }
        thread_endpoints::drive();
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

    /// The helper takes the lock as any thread does, whoever else has called.
    fn offer(&self) {
        async_progress::announce();
    }
}
