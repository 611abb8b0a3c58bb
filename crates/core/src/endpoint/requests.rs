//! The requests of an endpoint: testing, cancelling and detaching them.

use std::any::Any;

use oxmpi_wire::Tx;
use oxmpi_wire::engine::{Failure, Outcome, Source, Status};

use super::super::request::OpenRequest;
use super::{BufferOwner, DetachedRequest, Endpoint};

impl Endpoint {
    /// The status of a receive that has completed without an error, whose handle is stale from then on.
    #[inline(always)]
    pub(crate) fn received(&mut self, request: OpenRequest) -> Option<Status> {
        self.engine.received(request)
    }

    /// The outcome of an operation that has completed; its handle is stale from then on.
    #[inline(always)]
    pub(crate) fn test(&mut self, request: OpenRequest) -> Option<Outcome> {
        self.engine.test(request)
    }

    /// As [`test`](Self::test), but the handle stays valid.
    pub(crate) fn peek(&self, request: OpenRequest) -> Option<Outcome> {
        self.engine.peek(request)
    }

    /// The operation's outcome, if it ends within as many polls as suit this endpoint. `None` too in a fork
    /// of the process, and where collectives are under way, which these polls would not advance.
    #[inline(never)]
    pub(crate) fn wait_briefly(&mut self, request: OpenRequest) -> Option<Outcome> {
        if self.fork.forked() {
            return None;
        }
        let before = self.engine.test(request);
        if before.is_some() || self.collectives.are_open() {
            return before;
        }
        for _ in 0..self.polls {
            if self.progress_inline() == 0 {
                std::hint::spin_loop();
            } else if let Some(status) = self.engine.received(request) {
                return Some(Ok(status));
            } else if self.engine.is_done(request) {
                return self.engine.test(request);
            }
        }
        None
    }

    /// Removes requests from the end of the list that are stale or have completed without an error.
    pub(crate) fn drop_ended(&mut self, requests: &mut Vec<OpenRequest>) {
        if self.fork.forked() {
            return;
        }
        while let Some(&request) = requests.last() {
            let ended = match self.engine.peek(request) {
                None => false,
                Some(Ok(status)) => !status.cancelled,
                Some(Err(failure)) => failure == Failure::Stale,
            };
            if !ended {
                return;
            }
            self.engine.detach(request);
            requests.pop();
        }
    }

    /// Whether the request is not stale.
    pub(crate) fn is_known(&self, request: OpenRequest) -> bool {
        self.engine.is_known(request)
    }

    /// Whether the operation has completed; `None` counts as completed.
    pub(crate) fn has_ended(&self, request: Option<OpenRequest>) -> bool {
        request.is_none_or(|request| self.engine.is_done(request))
    }

    /// Begins an operation that the engine only names: a started collective.
    pub(crate) fn start_generalized(&mut self) -> OpenRequest {
        self.engine.start_generalized()
    }

    /// Completes such an operation.
    pub(crate) fn complete_generalized(&mut self, request: OpenRequest, outcome: Outcome) {
        self.engine.complete_generalized(request, outcome);
    }

    pub(crate) fn take_back(&mut self, request: OpenRequest) {
        self.engine.cancel(&mut self.tx, request);
        self.tx.flush();
    }

    /// Keeps `owner` until the operation has completed; a buffered message counts against a buffer. Gives the owners of those that have, to be dropped once the endpoint
    /// is not lent any more.
    ///
    /// # Cost
    /// Constant on average: completed operations are looked for when the list has doubled.
    #[must_use]
    pub(crate) fn detach(
        &mut self,
        request: OpenRequest,
        context: u32,
        owner: BufferOwner,
        buffer: Option<usize>,
    ) -> Vec<BufferOwner> {
        if self.test(request).is_some() {
            return vec![owner];
        }
        let mut ended = Vec::new();
        if self.detached.len() == self.detached.capacity() {
            ended = self.take_ended_detached();
            self.detached.reserve(self.detached.len() + 1);
        }
        self.detached.push(DetachedRequest {
            request,
            context: Some(context),
            buffer,
            owner,
        });
        ended
    }

    /// Keeps plain memory until the operation has completed.
    pub(crate) fn detach_memory(&mut self, request: OpenRequest, memory: Box<dyn Any + Send>) {
        self.detached.push(DetachedRequest {
            request,
            context: None,
            buffer: None,
            owner: memory,
        });
    }

    /// The owners of detached operations that have completed; their outcomes are dropped.
    pub(crate) fn take_ended_detached(&mut self) -> Vec<BufferOwner> {
        let engine = &mut self.engine;
        let ended = |detached: &mut DetachedRequest| engine.test(detached.request).is_some();
        let ended = self.detached.extract_if(.., ended);
        ended.map(|detached| detached.owner).collect()
    }

    /// Whether every buffered message that counts against this buffer has been sent.
    pub(crate) fn has_no_buffered(&self, buffer: usize) -> bool {
        self.have_ended(|detached| detached.buffer == Some(buffer))
    }

    /// Whether every detached operation of this context has completed.
    pub(crate) fn has_none_detached(&self, context: u32) -> bool {
        self.have_ended(|detached| detached.context == Some(context))
    }

    /// Whether all of these detached operations have completed.
    fn have_ended(&self, of: impl Fn(&DetachedRequest) -> bool) -> bool {
        let mut these = self.detached.iter().filter(|&detached| of(detached));
        these.all(|detached| self.engine.is_done(detached.request))
    }

    /// The source that the operation waits for, if it is a receive without a match yet.
    pub(crate) fn awaited_source(&self, request: OpenRequest) -> Option<Source> {
        self.engine.awaited(request)
    }

    /// Whether a send waits for room.
    pub(crate) fn has_waiting(&self) -> bool {
        self.engine.has_waiting()
    }

    /// Lends an empty list of requests; a scope inside another allocates its own.
    #[inline(always)]
    pub(crate) fn lend_list(&mut self) -> Vec<OpenRequest> {
        std::mem::take(&mut self.list)
    }

    /// Takes back the list, which is empty again.
    #[inline(always)]
    pub(crate) fn return_list(&mut self, list: Vec<OpenRequest>) {
        self.list = list;
    }
}
