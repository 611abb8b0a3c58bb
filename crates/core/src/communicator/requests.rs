//! Waiting for requests, testing them and cancelling them.

use std::any::Any;

use oxmpi_wire::engine::{self, Outcome};

use super::super::endpoint::Endpoint;
use super::super::request::{OpenRequest, RawRequest};
use super::super::threading::Threading;
use super::Communicator;
use crate::envelope::Status;
use crate::error::Result;

impl<A: Threading> Communicator<A> {
    /// Waits until the operation has completed. The handle is stale afterwards.
    #[inline(always)]
    pub fn wait(&self, request: RawRequest) -> Result<Status> {
        match request.open {
            Some(open) => self.wait_open(open),
            None => Ok(request.sent),
        }
    }

    /// Waits for all of `requests`, the last first; stale ones have been waited for.
    ///
    /// # Errors
    /// The first error; the other requests are waited for all the same.
    pub fn wait_for_all(&self, requests: &mut Vec<OpenRequest>) -> Result<()> {
        let mut result = Ok(());
        loop {
            self.access.with(|endpoint| endpoint.drop_ended(requests));
            let Some(request) = requests.pop() else {
                return result;
            };
            if let Err(error) = self.wait_open(request)
                && result.is_ok()
            {
                result = Err(error);
            }
        }
    }

    /// Removes stale requests from the list.
    pub fn retain_open(&self, requests: &mut Vec<OpenRequest>) {
        (self.access).with(|endpoint| requests.retain(|&request| endpoint.is_known(request)));
    }

    #[inline(always)]
    pub(super) fn wait_open(&self, request: OpenRequest) -> Result<Status> {
        if let Some(status) = self.access.received(request) {
            return self.status(Ok(status));
        }
        match self.access.wait_briefly(request) {
            Some(outcome) => self.status(outcome),
            None => self.wait_long(request),
        }
    }

    #[inline(never)]
    pub(super) fn wait_long(&self, request: OpenRequest) -> Result<Status> {
        self.access.with(|endpoint| {
            endpoint.check_process()?;
            let polls = endpoint.polls;
            let collectives = &mut endpoint.collectives;
            collectives.patience = if collectives.has(request) { polls } else { 0 };
            Ok(())
        })?;
        let outcome = self.until_or_hopeless(
            |endpoint| self.has_no_answer(endpoint, request),
            |endpoint| endpoint.test(request),
        );
        self.access
            .with(|endpoint| endpoint.collectives.patience = 0);
        match outcome? {
            Some(outcome) => self.status(outcome),
            None => self.take_back(request)?.ok_or_else(|| self.no_sender()),
        }
    }

    /// Makes some progress, then polls whether the operation has ended; if so its handle is stale
    /// afterwards.
    pub fn test(&self, request: RawRequest) -> Option<Result<Status>> {
        self.ended(request, Endpoint::test)
    }

    /// As [`test`](Self::test), but the handle stays valid, and a later test or wait gives the same outcome
    /// (`MPI_Request_get_status`). Several threads may ask at once.
    pub fn peek(&self, request: RawRequest) -> Option<Result<Status>> {
        self.ended(request, |endpoint, request| endpoint.peek(request))
    }

    /// What `look` finds of an operation, at first or after some progress.
    fn ended(
        &self,
        request: RawRequest,
        look: impl Fn(&mut Endpoint, OpenRequest) -> Option<Outcome>,
    ) -> Option<Result<Status>> {
        let Some(request) = request.open else {
            return Some(Ok(request.sent));
        };
        let tested = self.access.with(|endpoint| {
            endpoint.check_process()?;
            let tested = look(endpoint, request).or_else(|| {
                endpoint.progress();
                look(endpoint, request)
            });
            Ok((tested, endpoint.collectives.are_open()))
        });
        let tested = tested.map(|(tested, collectives)| match tested {
            None if collectives => {
                self.access.advance_collectives();
                self.access.with(|endpoint| look(endpoint, request))
            }
            tested => tested,
        });
        match tested {
            Ok(outcome) => outcome.map(|outcome| self.status(outcome)),
            Err(forked) => Some(Err(forked)),
        }
    }

    /// As [`Communicator::take_back`], for any request.
    pub fn cancel(&self, request: RawRequest) -> Result<Option<Status>> {
        match request.open {
            Some(open) => self.take_back(open),
            None => Ok(Some(request.sent)),
        }
    }

    /// Cancels the operation, and waits until its buffer is no longer in use. `None`: it did not take place.
    pub fn take_back(&self, request: OpenRequest) -> Result<Option<Status>> {
        let collectives = self.access.with(|endpoint| {
            endpoint.check_process()?;
            endpoint.take_back(request);
            Ok(endpoint.collectives.are_in_progress())
        })?;
        if collectives {
            self.access.cancel_collective(request);
        }
        let outcome = self.access.until(|endpoint| endpoint.test(request))?;
        match outcome {
            Ok(status) if status.cancelled => Ok(None),
            outcome => self.status(outcome).map(Some),
        }
    }

    /// Lends a list for a scope's requests, which is kept from scope to scope.
    #[inline(always)]
    pub fn lend_list(&self) -> Vec<OpenRequest> {
        self.access.with(|endpoint| endpoint.lend_list())
    }

    /// Takes the list back.
    #[inline(always)]
    pub fn return_list(&self, list: Vec<OpenRequest>) {
        self.access.with(|endpoint| endpoint.return_list(list));
    }

    /// Leaves the operation to the endpoint, which keeps `owner` alive until the operation has completed.
    pub fn detach(&self, request: RawRequest, owner: Box<dyn Any + Send>) {
        if let Some(open) = request.open {
            let ended = self
                .access
                .with(|endpoint| endpoint.detach(open, self.context(), owner, None));
            // Their owners may call the endpoint, which is not lent any more.
            drop(ended);
        }
    }

    /// Waits until all detached operations of this communicator have completed.
    ///
    /// # Errors
    /// When another thread leaves the endpoint meanwhile.
    pub fn wait_for_detached(&self) -> Result<()> {
        let ended = |endpoint: &mut Endpoint| endpoint.has_none_detached(self.context());
        (self.access).until(|endpoint| ended(endpoint).then_some(()))
    }

    /// Waits until the buffered messages have been sent that were sent with this number of a buffer, on any communicator
    /// (`MPI_Buffer_flush`).
    ///
    /// # Errors
    /// When another thread leaves the endpoint meanwhile.
    pub fn wait_for_buffered(&self, buffer: usize) -> Result<()> {
        (self.access).until(|endpoint| endpoint.has_no_buffered(buffer).then_some(()))
    }

    /// A request that completes when [`complete_generalized`](Self::complete_generalized) says so (`MPI_Grequest_start`).
    ///
    /// # Errors
    /// When the endpoint has been left.
    pub fn start_generalized(&self) -> Result<RawRequest> {
        self.access.with(|endpoint| {
            endpoint.check()?;
            Ok(RawRequest::of(endpoint.start_generalized()))
        })
    }

    /// Completes a generalized request (`MPI_Grequest_complete`).
    pub fn complete_generalized(&self, request: RawRequest) {
        if let Some(open) = request.open {
            (self.access).with(|endpoint| {
                endpoint.complete_generalized(open, Ok(engine::Status::generalized(false)));
            });
        }
    }

    /// Waits until one of `requests` has completed, and gives its index. The handle stays valid.
    pub fn wait_first(&self, requests: impl Iterator<Item = RawRequest> + Clone) -> Result<usize> {
        self.access.with(Endpoint::check)?;
        let place = self.until_or_hopeless(
            |endpoint| {
                requests
                    .clone()
                    .filter_map(|request| request.open)
                    .all(|request| self.has_no_answer(endpoint, request))
            },
            |endpoint| {
                requests
                    .clone()
                    .position(|request| endpoint.has_ended(request.open))
            },
        )?;
        place.ok_or_else(|| self.no_sender())
    }

    /// Calls `found`, and once more after some progress. `found` gets a function that tells whether a request
    /// has completed.
    pub fn poll_for<R>(
        &self,
        mut found: impl FnMut(&dyn Fn(RawRequest) -> bool) -> Option<R>,
    ) -> Result<Option<R>> {
        let now = self.access.with(|endpoint| {
            endpoint.check()?;
            Ok(found(&|request| endpoint.has_ended(request.open)))
        })?;
        match now {
            Some(now) => Ok(Some(now)),
            None => self.poll_once(found),
        }
    }

    /// Makes some progress, then calls `found` as [`poll_for`](Self::poll_for) does, once.
    ///
    /// # Errors
    /// The process has left the job, or is a fork of the one that joined it.
    pub fn poll_once<R>(&self, found: impl FnOnce(&dyn Fn(RawRequest) -> bool) -> R) -> Result<R> {
        self.progress()?;
        let ended = |endpoint: &mut Endpoint| found(&|request| endpoint.has_ended(request.open));
        Ok(self.access.with(ended))
    }
}
