//! A communicator as the raw core knows it, and messages between its ranks.

use std::any::Any;
use std::sync::Arc;

use oxmpi_coll::choice::Reproducible;
use oxmpi_os::RawBytes;
use oxmpi_shm::heap::Heap;
use oxmpi_wire::engine::{self, Failure, Mode, Outcome};
use oxmpi_wire::{Bytes, Envelope, Peer, Wanted};

use super::access::Threading;
use super::collective::{self, CollectiveNumbers};
use super::endpoint::Endpoint;
use super::group::Group;
use super::thread_endpoints;
use crate::envelope::{Source, Status, Tag};
use crate::error::{Error, MAX_TAG, Result};

/// LinkRanks one operation that the engine knows.
pub(crate) type OpenRequest = engine::Request;

/// LinkRanks one operation of an endpoint until it has ended.
///
/// No enum: its variants would lie over each other, and words of one size be read as those of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawRequest {
    /// The engine knows it; otherwise it was over when it was started.
    pub(crate) open: Option<OpenRequest>,
    /// Of a send that was over when it was started, and whose bytes are on their way.
    sent: Status,
}

impl RawRequest {
    #[inline(always)]
    pub(super) const fn of(request: OpenRequest) -> Self {
        Self {
            open: Some(request),
            sent: Status {
                source: 0,
                tag: 0,
                bytes: 0,
            },
        }
    }

    /// The send of `bytes` to rank `to`, which is over.
    #[inline(always)]
    const fn sent(bytes: u64, to: usize, tag: u32) -> Self {
        Self {
            open: None,
            sent: Status {
                source: to,
                tag,
                bytes,
            },
        }
    }
}

/// Looks at the start of a wait that do not ask whether what it waits for can still come.
const POLLS_BEFORE_CHECK: u32 = 8;

/// A message that a matched probe has taken out of the queue.
pub(crate) type Claimed = engine::Message;

/// An ordered group of ranks, with two contexts on one endpoint: the even one for messages, the next
/// for collectives.
///
/// The fields keep this order: a message reads the first three, from the start of one line.
#[repr(C)]
pub(crate) struct Communicator<A: Threading> {
    access: A,
    /// The context as it stands in packed envelopes.
    context: u64,
    group: Group,
    numbers: CollectiveNumbers,
    reproducible: Reproducible,
    checks: bool,
}

impl<A: Threading> Communicator<A> {
    pub(crate) fn new(access: A, context: u32, group: Group) -> Self {
        let wishes = access.with(|endpoint| {
            (
                endpoint.policy().tuning.reproducible,
                endpoint.policy().checks,
            )
        });
        let (reproducible, checks) = wishes;
        Self {
            access,
            context: Envelope { context, tag: 0 }.packed(),
            group,
            numbers: CollectiveNumbers::new(),
            reproducible,
            checks,
        }
    }

    #[inline]
    pub(crate) const fn group(&self) -> &Group {
        &self.group
    }

    /// When results of its reductions have the same bits.
    #[inline]
    pub(crate) const fn reproducible(&self) -> Reproducible {
        self.reproducible
    }

    /// Whether its ranks compare what they call.
    #[inline]
    pub(super) const fn checks(&self) -> bool {
        self.checks
    }

    #[inline]
    pub(crate) const fn access(&self) -> &A {
        &self.access
    }

    /// The memory that ranks allocate, if there is any.
    pub(crate) fn heap(&self) -> Result<Option<Arc<Heap>>> {
        self.access.with(|endpoint| {
            endpoint.check()?;
            Ok(endpoint.heap().cloned())
        })
    }

    /// The context of this communicator's messages.
    pub(super) const fn context(&self) -> u32 {
        Envelope::unpack(self.context).context
    }

    /// The envelope of its messages with this tag.
    #[inline(always)]
    const fn envelope(&self, tag: u32) -> Envelope {
        Envelope::unpack(self.context + tag as u64)
    }

    /// The context of this communicator's collectives.
    pub(super) const fn collective_context(&self) -> u32 {
        self.context() + 1
    }

    /// The numbers of its collectives. Ranks start them in the same order, so they agree.
    #[inline]
    pub(super) const fn numbers(&self) -> &CollectiveNumbers {
        &self.numbers
    }

    /// Whether this process is a fork of the one that joined the job.
    pub(crate) fn forked(&self) -> bool {
        self.access
            .with(|endpoint| endpoint.check_process().is_err())
    }

    /// Connects to every rank, and waits until that is done.
    ///
    /// # Errors
    /// When one is lost, or no network reaches it.
    pub(crate) fn connect(&self) -> Result<()> {
        self.access().with(Endpoint::connect);
        let mut first = 0;
        let done = self
            .access()
            .until(|endpoint| endpoint.connected(&mut first))?;
        done.map_err(|failure| self.members().failed(failure))
    }

    /// Leaves the other ranks in order, on this endpoint and on all that threads share; later calls
    /// give [`Error::Finalized`].
    pub(crate) fn leave(&self) {
        self.access.leave();
        thread_endpoints::leave();
    }

    /// Sends a short message in standard mode, if it finds room. False too where the arguments are
    /// wrong: [`Communicator::send`] takes over in all cases.
    #[inline(always)]
    pub(crate) fn send_short(&self, bytes: &RawBytes, to: usize, tag: u32) -> bool {
        match self.link(to) {
            Some(peer) if tag <= MAX_TAG => self.access.send_short(peer, self.envelope(tag), bytes),
            _ => false,
        }
    }

    /// Sends and waits until the bytes may be used again.
    #[inline(never)]
    pub(crate) fn send(&self, bytes: RawBytes, to: usize, tag: u32, mode: Mode) -> Result<()> {
        let (peer, envelope) = self.address(to, tag)?;
        let sent = self.access.with(|endpoint| {
            endpoint.check()?;
            Ok(endpoint.send_now(peer, envelope, mode, bytes))
        })?;
        match sent {
            None => Ok(()),
            Some(request) if A::SINGLE && to == self.group.rank() as usize => {
                self.wait_for_self(request, peer, envelope)
            }
            Some(request) => self.wait_open(request).map(drop),
        }
    }

    /// Waits for a send of this rank to itself, on an endpoint of its own. Only this thread could post
    /// the receive, and it is here: without one the wait would never end.
    #[cold]
    fn wait_for_self(&self, request: OpenRequest, peer: Peer, envelope: Envelope) -> Result<()> {
        let source = engine::Source::Peer(peer);
        let tag = engine::Tag::Exact(envelope.tag);
        let outcome = self.access.until(|endpoint| match endpoint.test(request) {
            Some(outcome) => Some(Some(outcome)),
            None => endpoint.probe(source, envelope.context, tag).map(|_| None),
        })?;
        match outcome {
            Some(outcome) => self.status(outcome).map(drop),
            None => {
                self.take_back(request)?;
                Err(Error::SelfSend {
                    rank: self.group.rank() as usize,
                    tag: envelope.tag,
                })
            }
        }
    }

    /// Takes a short message of a named rank that nothing goes before, also one that comes within a
    /// microsecond or two. `None` too where the arguments are wrong: [`Communicator::recv`] takes over in all cases.
    #[inline(always)]
    pub(crate) fn recv_short(&self, bytes: &RawBytes, source: Source, tag: Tag) -> Option<Status> {
        let Source::Rank(source) = source else {
            return None;
        };
        let (peer, context) = (self.link(source)?, self.context());
        let wanted = match tag {
            Tag::Is(tag) => Wanted::exact(self.envelope(tag)),
            Tag::Any => Wanted::any_tag(context),
        };
        if let Some(taken) = self.access.take_short(peer, wanted, bytes) {
            return Some(Status {
                source,
                tag: taken.tag,
                bytes: taken.len.into(),
            });
        }
        let tag = match tag {
            Tag::Is(tag) => engine::Tag::Exact(tag),
            Tag::Any => engine::Tag::Any,
        };
        let come = self.access.recv_short(peer, context, tag, *bytes)?;
        Some(Status {
            source,
            tag: come.tag,
            bytes: come.len,
        })
    }

    /// Receives into `bytes`.
    #[inline(never)]
    pub(crate) fn recv(&self, bytes: RawBytes, source: Source, tag: Tag) -> Result<Status> {
        let (source, tag) = self.pattern(source, tag)?;
        let first = self.access.with(|endpoint| {
            endpoint.check()?;
            Ok(endpoint.recv_now(source, self.context(), tag, bytes))
        })?;
        match first {
            Ok(Some(status)) => self.status(Ok(status)),
            Ok(None) if self.is_from_itself(source) || source == engine::Source::Any => {
                self.wait_open(self.post(source, tag, bytes)?)
            }
            Ok(None) => self.keep_receiving(source, tag, bytes),
            Err(request) => self.wait_open(request),
        }
    }

    /// Waits until `ready` gives something. `None`: what it waits for is hopeless, as the first
    /// function says. That can only be known where the endpoint is this thread's own, which itself
    /// waits here.
    fn until_or_hopeless<R>(
        &self,
        hopeless: impl Fn(&Endpoint) -> bool,
        mut ready: impl FnMut(&mut Endpoint) -> Option<R>,
    ) -> Result<Option<R>> {
        // What most waits bring comes sooner than it is worth while to look whether it can.
        let mut polls = 0;
        self.access.until(|endpoint| match ready(endpoint) {
            Some(result) => Some(Some(result)),
            None if polls < POLLS_BEFORE_CHECK => {
                polls += 1;
                None
            }
            // What this rank has sent to itself comes first.
            None if A::SINGLE
                && hopeless(endpoint)
                && endpoint.progress() == 0
                && !endpoint.has_waiting() =>
            {
                Some(ready(endpoint))
            }
            None => None,
        })
    }

    /// Whether nobody is there to send a message of `source`, while this thread waits for it: it is
    /// to come from this rank itself, or from any and all others have left.
    fn has_no_sender(&self, endpoint: &Endpoint, source: engine::Source) -> bool {
        self.is_from_itself(source)
            || source == engine::Source::Any && endpoint.all_others_gone(&self.group)
    }

    /// Whether the operation is a receive that nobody can answer any more.
    fn has_no_answer(&self, endpoint: &Endpoint, request: OpenRequest) -> bool {
        endpoint
            .awaited_source(request)
            .is_some_and(|source| self.has_no_sender(endpoint, source))
    }

    /// Whether only this rank itself could send it.
    fn is_from_itself(&self, source: engine::Source) -> bool {
        let own = self.link(self.group.rank() as usize);
        own.is_some_and(|peer| source == engine::Source::Peer(peer))
    }

    fn no_sender(&self) -> Error {
        Error::NoSender {
            rank: self.group.rank() as usize,
        }
    }

    /// Goes on where nothing has come on the fast path yet.
    #[inline(never)]
    fn keep_receiving(
        &self,
        source: engine::Source,
        tag: engine::Tag,
        bytes: RawBytes,
    ) -> Result<Status> {
        let mut posted = None;
        let outcome = self.access.until(|endpoint| match posted {
            Some(request) => endpoint.test(request),
            // Ended by another thread: nothing is posted any more.
            None if endpoint.check().is_err() => None,
            None => match endpoint.recv_now(source, self.context(), tag, bytes) {
                Ok(received) => received.map(Ok),
                Err(request) => {
                    posted = Some(request);
                    endpoint.test(request)
                }
            },
        })?;
        self.status(outcome)
    }

    /// Sends `out` and receives into `into`, in whichever order the two come.
    pub(crate) fn sendrecv(
        &self,
        out: RawBytes,
        to: usize,
        send_tag: u32,
        into: RawBytes,
        source: Source,
        recv_tag: Tag,
    ) -> Result<Status> {
        let (from, tag) = self.pattern(source, recv_tag)?;
        if self.send_short(&out, to, send_tag) {
            return match self.recv_short(&into, source, recv_tag) {
                Some(status) => Ok(status),
                None => self.recv(into, source, recv_tag),
            };
        }
        let come = self.post(from, tag, into)?;
        if let Err(error) = self.send(out, to, send_tag, Mode::Standard) {
            // Its failure, if it has one too, comes second.
            let _ = self.take_back(come);
            return Err(error);
        }
        self.wait_open(come)
    }

    #[inline(always)]
    pub(crate) fn isend(
        &self,
        bytes: RawBytes,
        to: usize,
        tag: u32,
        mode: Mode,
    ) -> Result<RawRequest> {
        if mode != Mode::Synchronous && self.send_short(&bytes, to, tag) {
            return Ok(RawRequest::sent(bytes.len(), to, tag));
        }
        self.isend_any(bytes, to, tag, mode)
    }

    #[inline(never)]
    fn isend_any(&self, bytes: RawBytes, to: usize, tag: u32, mode: Mode) -> Result<RawRequest> {
        let (peer, envelope) = self.address(to, tag)?;
        self.access.with(|endpoint| {
            endpoint.check()?;
            Ok(match endpoint.send_now(peer, envelope, mode, bytes) {
                None => RawRequest::sent(bytes.len(), to, tag),
                Some(request) => RawRequest::of(request),
            })
        })
    }

    #[inline(always)]
    pub(crate) fn irecv(&self, bytes: RawBytes, source: Source, tag: Tag) -> Result<RawRequest> {
        let (source, tag) = self.pattern(source, tag)?;
        self.post(source, tag, bytes).map(RawRequest::of)
    }

    #[inline(always)]
    fn post(
        &self,
        source: engine::Source,
        tag: engine::Tag,
        bytes: RawBytes,
    ) -> Result<OpenRequest> {
        self.access.irecv(source, self.context(), tag, bytes)
    }

    /// Waits until the operation has ended. The handle is stale afterwards.
    #[inline(always)]
    pub(crate) fn wait(&self, request: RawRequest) -> Result<Status> {
        match request.open {
            Some(open) => self.wait_open(open),
            None => Ok(request.sent),
        }
    }

    /// Waits for all of `requests`, from the last one on; those that are stale have been waited for.
    ///
    /// # Errors
    /// The first one; the others are waited for all the same.
    pub(crate) fn wait_for_all(&self, requests: &mut Vec<OpenRequest>) -> Result<()> {
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

    /// Leaves those of `requests` that are not stale.
    pub(crate) fn retain_open(&self, requests: &mut Vec<OpenRequest>) {
        self.access
            .with(|endpoint| requests.retain(|&request| endpoint.is_known(request)));
    }

    #[inline(always)]
    fn wait_open(&self, request: OpenRequest) -> Result<Status> {
        if let Some(status) = self.access.received(request) {
            return self.status(Ok(status));
        }
        match self.access.wait_briefly(request) {
            Some(outcome) => self.status(outcome),
            None => self.wait_long(request),
        }
    }

    #[inline(never)]
    fn wait_long(&self, request: OpenRequest) -> Result<Status> {
        self.access.with(|endpoint| endpoint.check_process())?;
        let outcome = self.until_or_hopeless(
            |endpoint| self.has_no_answer(endpoint, request),
            |endpoint| endpoint.test(request),
        )?;
        match outcome {
            Some(outcome) => self.status(outcome),
            None => self.take_back(request)?.ok_or_else(|| self.no_sender()),
        }
    }

    /// Makes some progress, then polls whether the operation has ended; if so its handle is stale
    /// afterwards.
    pub(crate) fn test(&self, request: RawRequest) -> Option<Result<Status>> {
        let Some(request) = request.open else {
            return Some(Ok(request.sent));
        };
        let tested = self.access.with(|endpoint| {
            endpoint.check_process()?;
            let tested = endpoint.test(request).or_else(|| {
                endpoint.progress();
                endpoint.test(request)
            });
            Ok((tested, endpoint.collectives.are_open()))
        });
        let tested = tested.map(|(tested, collectives)| match tested {
            None if collectives => {
                collective::drive(&self.access);
                self.access.with(|endpoint| endpoint.test(request))
            }
            tested => tested,
        });
        match tested {
            Ok(outcome) => outcome.map(|outcome| self.status(outcome)),
            Err(forked) => Some(Err(forked)),
        }
    }

    /// As [`Communicator::take_back`], of any request.
    pub(crate) fn cancel(&self, request: RawRequest) -> Result<Option<Status>> {
        match request.open {
            Some(open) => self.take_back(open),
            None => Ok(Some(request.sent)),
        }
    }

    /// Takes the operation back and waits until its buffer is no longer in use. `None`: it did not
    /// take place.
    pub(crate) fn take_back(&self, request: OpenRequest) -> Result<Option<Status>> {
        let collectives = self.access.with(|endpoint| {
            endpoint.check_process()?;
            endpoint.take_back(request);
            Ok(endpoint.collectives.are_under_way())
        })?;
        if collectives {
            collective::take_back(&self.access, request);
        }
        let outcome = self.access.until(|endpoint| endpoint.test(request))?;
        match outcome {
            Ok(status) if status.cancelled => Ok(None),
            outcome => self.status(outcome).map(Some),
        }
    }

    /// A list for a scope's requests, kept from scope to scope.
    #[inline(always)]
    pub(crate) fn lend_list(&self) -> Vec<OpenRequest> {
        self.access.with(|endpoint| endpoint.lend_list())
    }

    #[inline(always)]
    pub(crate) fn return_list(&self, list: Vec<OpenRequest>) {
        self.access.with(|endpoint| endpoint.return_list(list));
    }

    /// Leaves the operation to the endpoint, which keeps `owner` alive until it has ended.
    pub(crate) fn detach(&self, request: RawRequest, owner: Box<dyn Any + Send>) {
        if let Some(open) = request.open {
            self.access.with(|endpoint| endpoint.detach(open, owner));
        }
    }

    /// Waits until one of `requests` has ended, and gives its place. The handle stays good.
    pub(crate) fn wait_first(
        &self,
        requests: impl Iterator<Item = RawRequest> + Clone,
    ) -> Result<usize> {
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

    /// Looks for something by `found`, which is told how to see whether a request has ended, and
    /// once more after a turn of progress.
    pub(crate) fn look<R>(
        &self,
        mut found: impl FnMut(&dyn Fn(RawRequest) -> bool) -> Option<R>,
    ) -> Result<Option<R>> {
        let now = self.access.with(|endpoint| {
            endpoint.check()?;
            let now = found(&|request| endpoint.has_ended(request.open));
            if now.is_none() {
                endpoint.progress();
            }
            Ok(now)
        })?;
        if now.is_some() {
            return Ok(now);
        }
        self.advance_collectives();
        let ended = |endpoint: &mut Endpoint| found(&|request| endpoint.has_ended(request.open));
        Ok(self.access.with(ended))
    }

    /// Advances the collectives that are under way on the endpoint.
    fn advance_collectives(&self) {
        if self.access.with(|endpoint| endpoint.collectives.are_open()) {
            collective::drive(&self.access);
        }
    }

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

    pub(crate) fn recv_claimed(&self, claimed: Claimed, bytes: RawBytes) -> Result<Status> {
        let request = self.access.with(|endpoint| {
            endpoint.check()?;
            Ok(endpoint.recv_claimed(claimed, bytes))
        })?;
        self.wait_open(request.map_err(|failure| self.failed(failure))?)
    }

    /// The link and envelope of a message to rank `to`.
    #[inline]
    fn address(&self, to: usize, tag: u32) -> Result<(Peer, Envelope)> {
        match self.link(to) {
            Some(peer) if tag <= MAX_TAG => Ok((peer, self.envelope(tag))),
            Some(_) => Err(self.tag_error(tag)),
            None => Err(self.rank_error(to)),
        }
    }

    /// What the engine is to match.
    #[inline(always)]
    fn pattern(&self, source: Source, tag: Tag) -> Result<(engine::Source, engine::Tag)> {
        let source = match source {
            Source::Any => engine::Source::Any,
            Source::Rank(rank) => match self.link(rank) {
                Some(peer) => engine::Source::Peer(peer),
                None => return Err(self.rank_error(rank)),
            },
        };
        match tag {
            Tag::Any => Ok((source, engine::Tag::Any)),
            Tag::Is(tag) if tag <= MAX_TAG => Ok((source, engine::Tag::Exact(tag))),
            Tag::Is(tag) => Err(self.tag_error(tag)),
        }
    }

    #[inline(always)]
    pub(super) fn link(&self, rank: usize) -> Option<Peer> {
        self.group.link(rank).map(Peer)
    }

    /// The error of naming `rank`, which the communicator does not have.
    #[cold]
    pub(crate) fn rank_error(&self, rank: usize) -> Error {
        self.members().no_rank(rank)
    }

    #[cold]
    fn tag_error(&self, tag: u32) -> Error {
        Error::Tag {
            rank: self.group.rank() as usize,
            tag,
        }
    }

    fn claimed(
        &self,
        outcome: Result<(Claimed, engine::Status), Failure>,
    ) -> Result<(Claimed, Status)> {
        match outcome {
            Ok((claimed, status)) => self.status(Ok(status)).map(|status| (claimed, status)),
            Err(failure) => Err(self.failed(failure)),
        }
    }

    #[inline]
    fn status(&self, outcome: Outcome) -> Result<Status> {
        match outcome {
            // Nobody took it back but the endpoint, when the world ended.
            Ok(status) if status.cancelled => Err(Error::Finalized),
            Ok(status) => Ok(Status {
                source: self.rank_of(status.source).unwrap_or_default(),
                tag: status.tag,
                bytes: status.len,
            }),
            Err(failure) => Err(self.failed(failure)),
        }
    }

    fn rank_of(&self, peer: Peer) -> Option<usize> {
        self.group.rank_of(peer.0).map(|rank| rank as usize)
    }

    /// The failure in terms of this communicator's ranks.
    #[cold]
    pub(super) fn failed(&self, failure: Failure) -> Error {
        self.members().failed(failure)
    }
}
