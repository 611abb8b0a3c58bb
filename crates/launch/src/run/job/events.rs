//! The descriptors of a job that the event loop polls.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use oxmpi_os::pipe::{self, PollFd, PollFlags};

use super::Job;
use crate::run::output::OutputSource;

/// A source of events, in the order of handling: requests and output of a rank before its end.
#[derive(Clone, Copy)]
pub(super) enum EventSource {
    Input,
    Output(OutputSource),
    Pmi(usize),
    RankEnd(usize),
    Signals,
}

impl Job<'_> {
    /// Waits until a source is ready.
    pub(super) fn wait(&self) -> io::Result<Vec<EventSource>> {
        let now = Instant::now();
        let sources = self.sources(now);
        let mut fds: Vec<PollFd<'_>> = sources
            .iter()
            .map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags))
            .collect();
        let input = self.input.as_ref().and_then(|input| input.held_until(now));
        let deadline = [self.ending.deadline(), input].into_iter().flatten().min();
        let timeout = deadline.map(|at| at.saturating_duration_since(now));
        let timeouts = [timeout, self.output.timeout()];
        pipe::poll(&mut fds, timeouts.into_iter().flatten().min())?;
        let is_ready = fds.iter().map(|fd| !fd.revents().is_empty());
        Ok(sources
            .iter()
            .zip(is_ready)
            .filter(|(_, is_ready)| *is_ready)
            .map(|((source, ..), _)| *source)
            .collect())
    }

    /// The sources to poll, with their descriptors.
    fn sources(&self, now: Instant) -> Vec<(EventSource, BorrowedFd<'_>, PollFlags)> {
        let mut all = Vec::new();
        if let Some(input) = &self.input {
            let pipes = input.unsent().map(|pipe| pipe.to.as_fd());
            all.extend(pipes.map(|pipe| (EventSource::Input, pipe, PollFlags::OUT)));
            if all.is_empty() && input.held_until(now).is_none() {
                all.push((EventSource::Input, input.from.as_fd(), PollFlags::IN));
            }
        }
        let output = self.output.sources();
        all.extend(output.map(|(source, fd, flags)| (EventSource::Output(source), fd, flags)));
        for (i, rank) in self.ranks.iter().enumerate() {
            if let Some(pmi) = rank.pmi() {
                let flags = if rank.has_pending_replies() {
                    PollFlags::OUT
                } else {
                    PollFlags::IN
                };
                all.push((EventSource::Pmi(i), pmi.as_fd(), flags));
            }
            if rank.end().is_none() {
                all.push((EventSource::RankEnd(i), rank.as_fd(), PollFlags::IN));
            }
        }
        all.push((EventSource::Signals, self.signals.as_fd(), PollFlags::IN));
        all
    }
}
