//! A communicator as the core knows it: a group of ranks with two contexts on an endpoint.

mod messages;
mod no_sender;
mod prepared;
mod probe;
mod requests;

pub use prepared::PreparedMessage;

use std::fmt::Display;
use std::sync::Arc;

use oxmpi_coll::choice::Reproducible;
use oxmpi_shm::heap::Heap;
use oxmpi_wire::engine::{self, Failure, Outcome};
use oxmpi_wire::{Envelope, Peer};

use super::collective_members::Members;
use super::collective_state::CollectiveNumbers;
use super::endpoint::Endpoint;
use super::group::Group;
use super::threading::Threading;
use crate::envelope::{PROC_NULL, Source, Status, Tag};
use crate::error::{Error, MAX_TAG, Result};

/// An ordered group of ranks with two contexts on one endpoint: an even one for messages, and the next one for
/// collectives.
///
/// It has no attributes, error handler or name (MPI 5.0, sections 7.7, 9.3 and 7.8), as no call of the core reads one.
/// A face that has them keeps them in the entry of its handle, beside the communicator: every call comes by a handle,
/// and so do the calls that copy attributes after [`duplicate`](Self::duplicate), delete them before the communicator
/// is dropped, and handle an error that a call, or the wait for a request of the communicator, has returned.
///
/// The fields keep this order: a message reads the first three, from the start of a cache line.
#[repr(C)]
pub struct Communicator<A: Threading> {
    access: A,
    /// The context for messages, as packed envelopes hold it.
    context: u64,
    group: Group,
    numbers: CollectiveNumbers,
    reproducible: Reproducible,
    checks: bool,
}

impl<A: Threading> Communicator<A> {
    /// A communicator of `group` whose contexts are `context`, an even number, and the next one.
    pub fn new(access: A, context: u32, group: Group) -> Self {
        let settings = access.with(|endpoint| {
            (
                endpoint.policy().tuning.reproducible,
                endpoint.policy().checks,
            )
        });
        let (reproducible, checks) = settings;
        Self {
            access,
            context: Envelope { context, tag: 0 }.packed(),
            group,
            numbers: CollectiveNumbers::new(),
            reproducible,
            checks,
        }
    }

    /// The same communicator with another owner of its endpoint, made of the one it has.
    #[must_use]
    pub fn with_access<B: Threading>(self, access: impl FnOnce(A) -> B) -> Communicator<B> {
        Communicator {
            access: access(self.access),
            context: self.context,
            group: self.group,
            numbers: self.numbers,
            reproducible: self.reproducible,
            checks: self.checks,
        }
    }

    /// Its ranks.
    #[inline]
    #[must_use]
    pub const fn group(&self) -> &Group {
        &self.group
    }

    /// How reproducible the results of its reductions are.
    #[inline]
    pub const fn reproducible(&self) -> Reproducible {
        self.reproducible
    }

    /// Whether its ranks compare their calls before each collective.
    #[inline]
    pub(super) const fn checks(&self) -> bool {
        self.checks
    }

    /// Its endpoint.
    #[inline]
    pub const fn access(&self) -> &A {
        &self.access
    }

    /// The heap from which ranks allocate shared memory, if there is one.
    pub fn heap(&self) -> Result<Option<Arc<Heap>>> {
        self.access.with(|endpoint| {
            endpoint.check()?;
            Ok(endpoint.heap().cloned())
        })
    }

    /// The context of this communicator's messages.
    pub(crate) const fn context(&self) -> u32 {
        Envelope::unpack(self.context).context
    }

    /// The envelope of a message with this tag.
    #[inline(always)]
    pub(crate) const fn envelope(&self, tag: u32) -> Envelope {
        Envelope::unpack(self.context + tag as u64)
    }

    /// The ranks of this communicator with a context apart, of which there are [`APART`](Self::APART): its messages match
    /// no messages of this one. An even number also gives groups ([`create_group`](Self::create_group)), if the next number
    /// is left free for that. No rank communicates.
    #[must_use]
    pub fn apart(&self, number: u32) -> Self {
        let context = self.context() + number % 2 + (number / 2 % 3 + 1) * Endpoint::APART;
        Self::new(self.access.clone(), context, self.group.clone())
    }

    /// How many contexts apart a communicator has.
    pub const APART: u32 = 6;

    /// The context of this communicator's collectives.
    pub(super) const fn collective_context(&self) -> u32 {
        self.context() + 1
    }

    /// The numbers of its collectives. Ranks start collectives in the same order, so their numbers agree.
    #[inline]
    pub(super) const fn numbers(&self) -> &CollectiveNumbers {
        &self.numbers
    }

    /// Whether this process is a fork of the one that joined the job.
    pub fn forked(&self) -> bool {
        (self.access).with(|endpoint| endpoint.check_process().is_err())
    }

    /// Connects to every rank, and waits until all are connected.
    ///
    /// # Errors
    /// When one is lost, or no network reaches it.
    pub fn connect(&self) -> Result<()> {
        self.access().with(Endpoint::connect);
        let mut first = 0;
        let done = (self.access()).until(|endpoint| endpoint.connected(&mut first))?;
        done.map_err(|failure| self.members().failed(failure))
    }

    /// Leaves the other ranks in order; later calls on this endpoint give [`Error::Finalized`].
    pub fn leave(&self) {
        self.access.leave();
    }

    /// Makes progress once on the endpoint, without waiting: takes what has arrived, and moves what is under way on.
    ///
    /// # Errors
    /// When the endpoint has been left, or this is a fork of its process.
    ///
    /// # Cost
    /// A look at each peer that has sent something before; where nothing has come, tens of nanoseconds a peer.
    pub fn progress(&self) -> Result<()> {
        self.access.with(|endpoint| {
            endpoint.check()?;
            endpoint.progress();
            Ok(())
        })?;
        self.advance_collectives();
        Ok(())
    }

    /// Advances the collectives that are under way on the endpoint.
    fn advance_collectives(&self) {
        if self.access.with(|endpoint| endpoint.collectives.are_open()) {
            self.access.advance_collectives();
        }
    }

    /// The ranks of its collectives.
    #[inline]
    pub fn members(&self) -> Members<'_, A> {
        Members {
            access: &self.access,
            group: &self.group,
            context: self.collective_context(),
        }
    }

    #[cold]
    pub(super) fn refused(&self, why: &dyn Display) -> Error {
        self.members().refused(why)
    }

    /// The link to rank `to`, and the envelope of a message to it; `None`: the message is for [`PROC_NULL`].
    #[inline]
    fn address(&self, to: usize, tag: u32) -> Result<Option<(Peer, Envelope)>> {
        match self.link(to) {
            Some(peer) if tag <= MAX_TAG => Ok(Some((peer, self.envelope(tag)))),
            _ => self.check_proc_null(to, Tag::Is(tag)).map(|()| None),
        }
    }

    /// Checks the call for which no message is matched or sent, as it names a wrong rank or tag, or [`PROC_NULL`].
    ///
    /// # Errors
    /// The error of the wrong rank or tag. None where the rank is [`PROC_NULL`].
    #[cold]
    fn check_proc_null(&self, rank: usize, tag: Tag) -> Result<()> {
        if rank != PROC_NULL && self.link(rank).is_none() {
            return Err(self.rank_error(rank));
        }
        if let Tag::Is(tag) = tag {
            self.check_tag(tag)?;
        }
        self.access.with(Endpoint::check)
    }

    /// The status of a receive or probe that has no [pattern](Self::pattern), as its source is [`PROC_NULL`].
    ///
    /// # Errors
    /// The error of a wrong rank or tag.
    #[cold]
    fn without_pattern(&self, source: Source, tag: Tag) -> Result<Status> {
        let rank = match source {
            Source::Any => self.group.rank() as usize,
            Source::Rank(rank) => rank,
        };
        self.check_proc_null(rank, tag)?;
        Ok(Status::PROC_NULL)
    }

    /// The source and tag as the engine matches them; `None`: see [`Self::without_pattern`].
    #[inline(always)]
    fn pattern(&self, source: Source, tag: Tag) -> Option<(engine::Source, engine::Tag)> {
        let source = match source {
            Source::Any => engine::Source::Any,
            Source::Rank(rank) => engine::Source::Peer(self.link(rank)?),
        };
        match tag {
            Tag::Any => Some((source, engine::Tag::Any)),
            Tag::Is(tag) if tag <= MAX_TAG => Some((source, engine::Tag::Exact(tag))),
            Tag::Is(_) => None,
        }
    }

    #[inline(always)]
    pub(super) fn link(&self, rank: usize) -> Option<Peer> {
        self.group.link(rank).map(Peer)
    }

    /// The error of a call that names `rank`, which the communicator does not have.
    #[cold]
    pub fn rank_error(&self, rank: usize) -> Error {
        self.members().no_rank(rank)
    }

    /// Checks that the tag is at most [`MAX_TAG`].
    pub(super) fn check_tag(&self, tag: u32) -> Result<()> {
        match tag <= MAX_TAG {
            true => Ok(()),
            false => Err(self.tag_error(tag)),
        }
    }

    #[cold]
    fn tag_error(&self, tag: u32) -> Error {
        Error::Tag {
            rank: self.group.rank() as usize,
            tag,
        }
    }

    #[inline]
    fn status(&self, outcome: Outcome) -> Result<Status> {
        match outcome {
            // Only the end of the world cancels it like this.
            Ok(status) if status.cancelled => Err(Error::Finalized),
            Ok(status) => Ok(Status {
                source: self.rank_of(status.source).unwrap_or_default(),
                tag: status.tag,
                bytes: status.len,
            }),
            Err(failure) => Err(self.failed(failure)),
        }
    }

    /// Whether the peer is this rank itself.
    fn is_own(&self, peer: Peer) -> bool {
        self.access.with(|endpoint| endpoint.is_own(peer))
    }

    fn rank_of(&self, peer: Peer) -> Option<usize> {
        self.group.rank_of(peer.0).map(|rank| rank as usize)
    }

    /// The error of a failure, in ranks of this communicator.
    #[cold]
    pub(super) fn failed(&self, failure: Failure) -> Error {
        self.members().failed(failure)
    }
}
