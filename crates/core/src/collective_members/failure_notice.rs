//! Failure notices: how all ranks learn that a collective has failed on one of them.
//!
//! A rank whose part of a collective fails sends a notice to every other member: a message of the communicator's
//! collectives under a number that no collective has. A rank that waits in a collective without progress polls
//! for such a notice. So a rank that waits for one that is alive but has given up learns why. A rank that has a
//! notice refuses all later collectives of the communicator.

use oxmpi_coll::plan::TAGS;
use oxmpi_wire::engine::{Mode, Source, Tag};
use oxmpi_wire::{Envelope, Peer};

use super::super::endpoint::Endpoint;
use super::super::failure::{FailureCause, Notice};
use super::super::group::Group;
use super::super::threading::Threading;
use super::Members;
use crate::bytes::{source, target};
use crate::error::{Error, Result};

/// The tag of failure notices, beyond those of every [number](super::super::collective_state::CollectiveNumbers).
const TAG: u32 = u32::MAX - (TAGS - 1);

/// The cause that another rank of the group has notified for collectives of the context, if one has.
pub(crate) fn received_notice(
    endpoint: &mut Endpoint,
    context: u32,
    group: &Group,
) -> Option<FailureCause> {
    let known = endpoint.failures.of(context);
    if known.is_some() {
        return known;
    }
    // An error concerns other messages, and is reported there.
    let Some(Ok(announced)) = endpoint.probe(Source::Any, context, Tag::Exact(TAG)) else {
        return None;
    };
    let mut notice: Box<Notice> = Box::new([0; 2]);
    let from = Source::Peer(announced.source);
    let request = endpoint.irecv(from, context, Tag::Exact(TAG), target(&mut *notice));
    let ended = endpoint.test(request);
    let cause = match ended {
        Some(Ok(status)) if status.len == size_of::<Notice>() as u64 => {
            FailureCause::decode(*notice)
        }
        // A rank that sends any other message with this tag has failed.
        _ => FailureCause::Failed {
            rank: group.rank_of(announced.source.0).unwrap_or_default(),
        },
    };
    if ended.is_none() {
        // The peer announced the notice only: it has no credit left for eager messages to this rank.
        endpoint.detach_memory(request, notice);
    }
    endpoint.failures.note(context, cause);
    endpoint.failures.of(context)
}

impl<A: Threading> Members<'_, A> {
    /// Runs `give` on the endpoint, if the communicator's collectives still work.
    ///
    /// # Errors
    /// When the endpoint has been left, or a collective of the communicator has failed.
    #[inline]
    pub fn while_collectives_work<R>(&self, give: impl FnOnce(&mut Endpoint) -> R) -> Result<R> {
        let given = self.access.with(|endpoint| {
            endpoint.check()?;
            let sound = endpoint.failures.of(self.context).is_none();
            Ok(sound.then(|| give(endpoint)))
        })?;
        given.ok_or_else(|| {
            self.refused(
                &"an earlier one failed or panicked, so the ranks of this communicator are out of \
                  step",
            )
        })
    }

    /// Checks for a failure notice of another rank.
    ///
    /// # Errors
    /// The cause that it names.
    pub fn check_notices(&self) -> Result<()> {
        match (self.access).with(|endpoint| received_notice(endpoint, self.context, self.group)) {
            None => Ok(()),
            Some(cause) => Err(self.error(cause)),
        }
    }

    /// The error of this rank for the cause that another rank has notified.
    #[cold]
    pub fn error(&self, cause: FailureCause) -> Error {
        match cause {
            FailureCause::Lost { rank, fault } => match self.group.link(rank as usize) {
                Some(link) => self.lost(Peer(link), fault),
                None => {
                    self.refused(&"another rank reports the loss of a rank that is not a member")
                }
            },
            FailureCause::Failed { rank } => self.refused(&format_args!(
                "the part of rank {rank} failed there, or its operation panicked"
            )),
        }
    }

    /// Ends the communicator's collectives on this rank for an error, and notifies the other ranks, unless one of
    /// them has notified this one. Gives the error for the caller: where the missing rank has left in order, its
    /// earlier notice says more.
    #[cold]
    pub fn end_collectives_for(&self, error: Error) -> Error {
        self.end_collectives(Some(&error));
        let has_left = matches!(&error, Error::Peer { fault, .. } if fault.has_left());
        match self
            .access
            .with(|endpoint| endpoint.failures.of(self.context))
        {
            Some(cause @ FailureCause::Failed { rank })
                if has_left && rank != self.group.rank() =>
            {
                self.error(cause)
            }
            Some(cause @ FailureCause::Lost { .. }) if has_left => self.error(cause),
            _ => error,
        }
    }

    /// Ends the communicator's collectives on this rank, and notifies the other ranks, unless one of them has
    /// notified this one.
    #[cold]
    pub fn end_collectives(&self, error: Option<&Error>) {
        let own = self.group.rank();
        let cause = match error {
            Some(error) => FailureCause::of(error, own),
            None => FailureCause::Failed { rank: own },
        };
        self.access.with(|endpoint| {
            // A notice that another rank has sent meanwhile comes first.
            let is_known = endpoint.check().is_err()
                || received_notice(endpoint, self.context, self.group).is_some();
            if is_known || !endpoint.failures.note(self.context, cause) {
                return;
            }
            for rank in (0..self.group.size()).filter(|&rank| rank != own) {
                if let Some(link) = self.group.link(rank as usize) {
                    self.notify(endpoint, Peer(link), cause);
                }
            }
        });
    }

    /// Ends the communicator's collectives on this rank for a cause that every other rank finds itself. A notice
    /// would say less.
    #[cold]
    pub(crate) fn end_collectives_here(&self) {
        let own = self.group.rank();
        let cause = FailureCause::Failed { rank: own };
        (self.access).with(|endpoint| endpoint.failures.note(self.context, cause));
    }

    /// Sends a notice to one peer, and does not wait for its arrival.
    fn notify(&self, endpoint: &mut Endpoint, peer: Peer, cause: FailureCause) {
        let notice = Box::new(cause.encode());
        let envelope = Envelope {
            context: self.context,
            tag: TAG,
        };
        let body = source(&*notice);
        if let Some(request) = endpoint.send_now(peer, envelope, Mode::Standard, body) {
            endpoint.detach_memory(request, notice);
        }
    }
}
