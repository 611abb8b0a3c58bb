//! Collectives that fail, and how all ranks come to know.
//!
//! A rank whose part fails tells every other member by a message of the communicator's collectives,
//! under a number that no collective has. Who waits in a collective and sees nothing move polls for
//! such a message. So a rank that waits for one that is alive, but has given up, learns why; and no
//! collective of the communicator is begun any more where this is known.

use oxmpi_coll::plan::TAGS;
use oxmpi_wire::engine::{Mode, Source, Tag};
use oxmpi_wire::{Envelope, Peer};

use super::super::endpoint::Endpoint;
use super::super::failure::{FailureCause, Notice};
use super::super::group::Group;
use super::super::threading::Threading;
use super::Members;
use crate::data::{source, target};
use crate::error::{Error, Result};

/// The tag of messages that tell of trouble: beyond those of every [number](super::super::state::CollectiveNumbers).
const TAG: u32 = u32::MAX - (TAGS - 1);

/// Looks whether another rank of the group tells of trouble with collectives of the context.
pub(crate) fn received_notice(
    endpoint: &mut Endpoint,
    context: u32,
    group: &Group,
) -> Option<FailureCause> {
    let known = endpoint.failures.of(context);
    if known.is_some() {
        return known;
    }
    // An error is about other messages that this could be, and never will.
    let Some(Ok(told)) = endpoint.probe(Source::Any, context, Tag::Exact(TAG)) else {
        return None;
    };
    let mut notice: Box<Notice> = Box::new([0; 2]);
    let from = Source::Peer(told.source);
    let request = endpoint.irecv(from, context, Tag::Exact(TAG), target(&mut *notice));
    let ended = endpoint.test(request);
    let cause = match ended {
        Some(Ok(status)) if status.len == size_of::<Notice>() as u64 => {
            FailureCause::decode(*notice)
        }
        // Whatever it brings, who sends it has failed.
        _ => FailureCause::Failed {
            rank: group.rank_of(told.source.0).unwrap_or_default(),
        },
    };
    if ended.is_none() {
        // Only offered: the peer may send this rank nothing unasked, as so much waits here.
        endpoint.detach(request, notice);
    }
    endpoint.failures.note(context, cause);
    endpoint.failures.of(context)
}

impl<A: Threading> Members<'_, A> {
    /// What the endpoint gives, unless it or the communicator's collectives have ended.
    ///
    /// # Errors
    /// In those cases.
    #[inline]
    pub(crate) fn if_sound<R>(&self, give: impl FnOnce(&mut Endpoint) -> R) -> Result<R> {
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

    /// Looks whether another rank tells of trouble.
    ///
    /// # Errors
    /// What it tells, in terms of this rank.
    pub(crate) fn check_notices(&self) -> Result<()> {
        match (self.access).with(|endpoint| received_notice(endpoint, self.context, self.group)) {
            None => Ok(()),
            Some(cause) => Err(self.error(cause)),
        }
    }

    /// The error of this rank for what another one tells.
    #[cold]
    pub(crate) fn error(&self, cause: FailureCause) -> Error {
        match cause {
            FailureCause::Lost { rank, fault } => match self.group.link(rank as usize) {
                Some(link) => self.lost(Peer(link), fault),
                None => self.refused(&"another rank tells of the loss of a rank that there is not"),
            },
            FailureCause::Failed { rank } => self.refused(&format_args!(
                "the part of rank {rank} failed there, or its operation panicked"
            )),
        }
    }

    /// Ends the communicator's collectives on this rank for an error, and tells the other ranks,
    /// unless one of them told this one. What to give the caller: where a rank is missed that has
    /// left in order, what it told before says more.
    #[cold]
    pub(crate) fn end_for(&self, error: Error) -> Error {
        self.end_all(Some(&error));
        let has_left = matches!(&error, Error::Peer { fault, .. } if !fault.is_failure());
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

    /// Ends the communicator's collectives on this rank, and tells the other ones, unless one of
    /// them told this one.
    #[cold]
    pub(crate) fn end_all(&self, error: Option<&Error>) {
        let own = self.group.rank();
        let cause = match error {
            Some(error) => FailureCause::of(error, own),
            None => FailureCause::Failed { rank: own },
        };
        self.access.with(|endpoint| {
            // What another rank told meanwhile comes first.
            let told = endpoint.check().is_err()
                || received_notice(endpoint, self.context, self.group).is_some();
            if told || !endpoint.failures.note(self.context, cause) {
                return;
            }
            for rank in (0..self.group.size()).filter(|&rank| rank != own) {
                if let Some(link) = self.group.link(rank as usize) {
                    self.notify(endpoint, Peer(link), cause);
                }
            }
        });
    }

    /// Ends the communicator's collectives on this rank for what every other rank finds by itself:
    /// told of it before, one would say less.
    #[cold]
    pub(in crate::raw) fn end_here(&self) {
        let own = self.group.rank();
        let cause = FailureCause::Failed { rank: own };
        (self.access).with(|endpoint| endpoint.failures.note(self.context, cause));
    }

    /// Tells one peer. Whether it hears is its own affair.
    fn notify(&self, endpoint: &mut Endpoint, peer: Peer, cause: FailureCause) {
        let notice = Box::new(cause.encode());
        let envelope = Envelope {
            context: self.context,
            tag: TAG,
        };
        let body = source(&*notice);
        if let Some(request) = endpoint.send_now(peer, envelope, Mode::Standard, body) {
            endpoint.detach(request, notice);
        }
    }
}
