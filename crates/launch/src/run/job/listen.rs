//! Waiting for everything that can happen to a job, at once.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use oxmpi_os::pipe::{self, PollFd, PollFlags};

use super::Job;
use super::ending::Ending;

/// What may have something to say, in the order in which it is heard: requests and output of a
/// rank before its end.
#[derive(Clone, Copy)]
pub(super) enum Speaker {
    Typed,
    Stdout,
    Stderr,
    Pmi(usize),
    RankStdout(usize),
    RankStderr(usize),
    RankEnd(usize),
    Signals,
}

impl Job<'_> {
    /// Waits until somebody has something to say.
    pub(super) fn wait(&self) -> io::Result<Vec<Speaker>> {
        let listened = self.listened();
        let mut fds: Vec<PollFd<'_>> = listened
            .iter()
            .map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags))
            .collect();
        let patience = match self.ending {
            Some(Ending::Settling(until) | Ending::Asked(until)) => {
                Some(until.saturating_duration_since(Instant::now()))
            }
            Some(Ending::Killed) | None => None,
        };
        pipe::poll(&mut fds, patience)?;
        let spoke = fds.iter().map(|fd| !fd.revents().is_empty());
        Ok(listened
            .iter()
            .zip(spoke)
            .filter(|(_, spoke)| *spoke)
            .map(|((who, ..), _)| *who)
            .collect())
    }

    /// Everybody who may have something to say now.
    fn listened(&self) -> Vec<(Speaker, BorrowedFd<'_>, PollFlags)> {
        let mut all = Vec::new();
        if let Some(typed) = &self.typed {
            all.push(if typed.is_waiting() {
                (Speaker::Typed, typed.to.as_fd(), PollFlags::OUT)
            } else {
                (Speaker::Typed, typed.from.as_fd(), PollFlags::IN)
            });
        }
        if self.stdout.is_waiting() {
            all.push((Speaker::Stdout, self.stdout.as_fd(), PollFlags::OUT));
        }
        if self.stderr.is_waiting() {
            all.push((Speaker::Stderr, self.stderr.as_fd(), PollFlags::OUT));
        }
        for (i, rank) in self.ranks.iter().enumerate() {
            if let Some(pmi) = rank.pmi() {
                let flags = if rank.is_behind() {
                    PollFlags::OUT
                } else {
                    PollFlags::IN
                };
                all.push((Speaker::Pmi(i), pmi.as_fd(), flags));
            }
            if let Some(source) = rank.stdout.as_ref().filter(|_| !self.stdout.is_crowded()) {
                all.push((Speaker::RankStdout(i), source.as_fd(), PollFlags::IN));
            }
            if let Some(source) = rank.stderr.as_ref().filter(|_| !self.stderr.is_crowded()) {
                all.push((Speaker::RankStderr(i), source.as_fd(), PollFlags::IN));
            }
            if rank.end().is_none() {
                all.push((Speaker::RankEnd(i), rank.as_fd(), PollFlags::IN));
            }
        }
        all.push((Speaker::Signals, self.signals.as_fd(), PollFlags::IN));
        all
    }
}
