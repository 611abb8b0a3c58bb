//! Probes and matched probes.

use oxmpi_wire::engine::{self, Failure};

use super::super::endpoint::Endpoint;
use super::super::request::Claimed;
use super::super::threading::Threading;
use super::Communicator;
use crate::envelope::{Source, Status, Tag};
use crate::error::Result;

impl<A: Threading> Communicator<A> {
    pub(crate) fn probe(&self, source: Source, tag: Tag) -> Result<Status> {
        let (source, tag) = self.pattern(source, tag)?;
        self.access.with(Endpoint::check)?;
        let outcome = self.until_or_hopeless(
            |endpoint| self.has_no_sender(endpoint, source),
            |endpoint| endpoint.probe(source, self.context(), tag),
        )?;
        self.status(outcome.ok_or_else(|| self.no_sender())?)
    }

    pub(crate) fn iprobe(&self, source: Source, tag: Tag) -> Result<Option<Status>> {
        let (source, tag) = self.pattern(source, tag)?;
        self.advance_collectives();
        let outcome = self.access.with(|endpoint| {
            endpoint.check()?;
            endpoint.progress();
            Ok(endpoint.probe(source, self.context(), tag))
        })?;
        outcome.map(|outcome| self.status(outcome)).transpose()
    }

    pub(crate) fn mprobe(&self, source: Source, tag: Tag) -> Result<(Claimed, Status)> {
        let (source, tag) = self.pattern(source, tag)?;
        self.access.with(Endpoint::check)?;
        let outcome = self.until_or_hopeless(
            |endpoint| self.has_no_sender(endpoint, source),
            |endpoint| endpoint.claim(source, self.context(), tag),
        )?;
        self.claimed(outcome.ok_or_else(|| self.no_sender())?)
    }

    pub(crate) fn improbe(&self, source: Source, tag: Tag) -> Result<Option<(Claimed, Status)>> {
        let (source, tag) = self.pattern(source, tag)?;
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
    ) -> Result<(Claimed, Status)> {
        match outcome {
            Ok((claimed, status)) => self.status(Ok(status)).map(|status| (claimed, status)),
            Err(failure) => Err(self.failed(failure)),
        }
    }
}
