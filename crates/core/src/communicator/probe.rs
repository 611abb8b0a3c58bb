//! Probes and matched probes.

use oxmpi_wire::engine::{self, Failure};

use super::super::endpoint::Endpoint;
use super::super::request::Claimed;
use super::super::threading::Threading;
use super::Communicator;
use crate::envelope::{Source, Status, Tag};
use crate::error::Result;

impl<A: Threading> Communicator<A> {
    /// Waits for a message, and leaves it in the queue (`MPI_Probe`).
    ///
    /// # Errors
    /// A wrong rank or tag; a lost peer; no rank that could send the message.
    pub fn probe(&self, source: Source, tag: Tag) -> Result<Status> {
        let Some((source, tag)) = self.pattern(source, tag) else {
            return self.without_pattern(source, tag);
        };
        self.access.with(Endpoint::check)?;
        let outcome = self.until_or_hopeless(
            |endpoint| self.has_no_sender(endpoint, source),
            |endpoint| endpoint.probe(source, self.context(), tag),
        )?;
        self.status(outcome.ok_or_else(|| self.no_sender())?)
    }

    /// As [`Communicator::probe`], but gives `None` when no message has arrived (`MPI_Iprobe`).
    ///
    /// # Errors
    /// A wrong rank or tag; a lost peer, where the call sees it.
    pub fn iprobe(&self, source: Source, tag: Tag) -> Result<Option<Status>> {
        let Some((source, tag)) = self.pattern(source, tag) else {
            return self.without_pattern(source, tag).map(Some);
        };
        self.advance_collectives();
        let outcome = self.access.with(|endpoint| {
            endpoint.check()?;
            endpoint.progress();
            Ok(endpoint.probe(source, self.context(), tag))
        })?;
        outcome.map(|outcome| self.status(outcome)).transpose()
    }

    /// Waits for a message, and takes it out of the queue (`MPI_Mprobe`). `None`: the source is
    /// [`PROC_NULL`](crate::PROC_NULL), and no message is to be received (`MPI_MESSAGE_NO_PROC`).
    ///
    /// # Errors
    /// As [`Communicator::probe`].
    pub fn mprobe(&self, source: Source, tag: Tag) -> Result<(Option<Claimed>, Status)> {
        let Some((source, tag)) = self.pattern(source, tag) else {
            return Ok((None, self.without_pattern(source, tag)?));
        };
        self.access.with(Endpoint::check)?;
        let outcome = self.until_or_hopeless(
            |endpoint| self.has_no_sender(endpoint, source),
            |endpoint| endpoint.claim(source, self.context(), tag),
        )?;
        self.claimed(outcome.ok_or_else(|| self.no_sender())?)
    }

    /// As [`Communicator::mprobe`], but gives `None` when no message has arrived (`MPI_Improbe`).
    ///
    /// # Errors
    /// A wrong rank or tag; a lost peer, where the call sees it.
    pub fn improbe(&self, source: Source, tag: Tag) -> Result<Option<(Option<Claimed>, Status)>> {
        let Some((source, tag)) = self.pattern(source, tag) else {
            return Ok(Some((None, self.without_pattern(source, tag)?)));
        };
        self.advance_collectives();
        let outcome = self.access.with(|endpoint| {
            endpoint.check()?;
            endpoint.progress();
            Ok(endpoint.claim(source, self.context(), tag))
        })?;
        outcome.map(|outcome| self.claimed(outcome)).transpose()
    }

    pub(super) fn claimed(
        &self,
        outcome: Result<(Claimed, engine::Status), Failure>,
    ) -> Result<(Option<Claimed>, Status)> {
        match outcome {
            Ok((claimed, status)) => self
                .status(Ok(status))
                .map(|status| (Some(claimed), status)),
            Err(failure) => Err(self.failed(failure)),
        }
    }
}
