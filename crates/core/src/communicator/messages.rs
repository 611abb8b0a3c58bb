//! Sends and receives, blocking and nonblocking.

use oxmpi_os::RawBytes;
use oxmpi_wire::engine::{self, FastPoll, Mode};
use oxmpi_wire::{Bytes, EnvelopeFilter};

use super::super::async_progress;
use super::super::endpoint::FastOutcome;
use super::super::request::{Claimed, OpenRequest, RawRequest};
use super::super::threading::Threading;
use super::Communicator;
use crate::bytes;
use crate::envelope::{Source, Status, Tag};
use crate::error::{Error, MAX_TAG, Result};

/// How many times the endpoint's polls a receive waits on the fast path before the endpoint makes progress otherwise:
/// about as long as an answer from another core takes.
const FIRST_POLLS: u32 = 3;

/// The longest receive, in bytes, that is not offered to the helper thread: such messages are sent eagerly by default, so
/// their senders wait for nobody.
const MOST_EAGER: u64 = 4096;

impl<A: Threading> Communicator<A> {
    /// Sends a short message in standard mode, if there is room. False too where the arguments are wrong:
    /// the caller then calls [`Communicator::send`].
    #[inline(always)]
    pub fn send_short(&self, bytes: &RawBytes, to: usize, tag: u32) -> bool {
        match self.link(to) {
            Some(peer) if tag <= MAX_TAG => self.access.send_short(peer, self.envelope(tag), bytes),
            _ => false,
        }
    }

    /// Sends, and waits until the bytes may be used again.
    #[inline(never)]
    pub fn send(&self, bytes: RawBytes, to: usize, tag: u32, mode: Mode) -> Result<()> {
        let Some((peer, envelope)) = self.address(to, tag)? else {
            return Ok(());
        };
        let sent = self.access.with(|endpoint| {
            endpoint.check()?;
            Ok(endpoint.send_now(peer, envelope, mode, bytes))
        })?;
        match sent {
            None => {
                self.offer_unsent();
                Ok(())
            }
            Some(request) if self.access.is_single() && self.is_own(peer) => {
                self.wait_for_self(request, peer, envelope)
            }
            Some(request) => self.wait_open(request).map(drop),
        }
    }

    /// Sends a copy of the bytes, and returns at once (`MPI_Bsend`). The endpoint keeps the copy until it has been
    /// sent; a message that is taken at once is not copied. `buffer` is any number of the caller's, by which
    /// [`wait_for_buffered`](Self::wait_for_buffered) finds the message.
    ///
    /// # Errors
    /// A wrong rank or tag; a lost peer, where the call sees it.
    pub fn bsend(&self, bytes: RawBytes, to: usize, tag: u32, buffer: usize) -> Result<()> {
        self.send_copied(bytes, to, tag, Some(buffer))
    }

    /// As [`bsend`](Self::bsend), for a message that [`wait_for_buffered`](Self::wait_for_buffered) does not wait for.
    ///
    /// # Errors
    /// As [`bsend`](Self::bsend).
    pub fn send_copy(&self, bytes: RawBytes, to: usize, tag: u32) -> Result<()> {
        self.send_copied(bytes, to, tag, None)
    }

    fn send_copied(
        &self,
        bytes: RawBytes,
        to: usize,
        tag: u32,
        buffer: Option<usize>,
    ) -> Result<()> {
        // The buffer of a message for nobody is not read.
        if self.send_short(&bytes, to, tag) || self.address(to, tag)?.is_none() {
            return Ok(());
        }
        let mut copy = vec![0u8; bytes.len() as usize];
        bytes::target(&mut copy).copy_from(&bytes);
        let request = self.isend(bytes::source(&copy), to, tag, Mode::Standard)?;
        let Some(open) = request.open else {
            return Ok(());
        };
        // Nothing between the start and the detachment runs code of the user: a panic would free the copy.
        match self.access.with(|endpoint| endpoint.test(open)) {
            Some(outcome) => self.status(outcome).map(drop),
            None => {
                let ended = self.access.with(|endpoint| {
                    let ended = endpoint.detach(open, self.context(), Box::new(copy), buffer);
                    endpoint.progress();
                    ended
                });
                drop(ended);
                Ok(())
            }
        }
    }

    /// Receives into `bytes`, in up to three steps. A short message of a named rank that has arrived, and before which
    /// no other message or receive comes, is taken inline. Otherwise the fast path is polled, which takes a message of
    /// up to a frame from the head of its queue. Once that closes, as another message or receive comes first, the
    /// receive is posted as any other, and matching decides.
    ///
    /// # Errors
    /// A wrong rank or tag, a message longer than `bytes`, a lost peer, or no rank that could send a message.
    #[inline(always)]
    pub fn recv(&self, bytes: RawBytes, source: Source, tag: Tag) -> Result<Status> {
        match self.take_short(&bytes, source, tag) {
            Some(status) => Ok(status),
            None => self.recv_waiting(bytes, source, tag),
        }
    }

    /// Takes a short message of a named rank, if it has arrived and is the next to be received. `None` too where the
    /// arguments are wrong.
    #[inline(always)]
    fn take_short(&self, bytes: &RawBytes, source: Source, tag: Tag) -> Option<Status> {
        let Source::Rank(source) = source else {
            return None;
        };
        let (peer, context) = (self.link(source)?, self.context());
        let wanted = match tag {
            Tag::Is(tag) => EnvelopeFilter::exact(self.envelope(tag)),
            Tag::Any => EnvelopeFilter::any_tag(context),
        };
        let taken = self.access.take_short(peer, wanted, bytes)?;
        Some(Status {
            source,
            tag: taken.tag,
            bytes: taken.len.into(),
        })
    }

    /// The part of [`Communicator::recv`] that waits.
    #[inline(never)]
    fn recv_waiting(&self, bytes: RawBytes, source: Source, tag: Tag) -> Result<Status> {
        let Some((from, tag)) = self.pattern(source, tag) else {
            return self.without_pattern(source, tag);
        };
        // Before the wait: setting that up takes longer than an answer from a thread of the same core.
        let first = self.access.with(|endpoint| {
            endpoint.check()?;
            let polls = FIRST_POLLS * endpoint.polls;
            Ok(endpoint.poll_fast(polls, from, self.context(), tag, &bytes))
        })?;
        if let FastPoll::Received(come) = first {
            return self.received_from(source, come);
        }
        let outcome = self.until_or_hopeless(
            |endpoint| self.has_no_sender(endpoint, from),
            |endpoint| {
                let polls = endpoint.polls;
                let polled = endpoint.recv_or_post(polls, from, self.context(), tag, bytes);
                polled.transpose()
            },
        )?;
        match outcome.unwrap_or_else(|| Err(self.no_sender()))? {
            FastOutcome::Received(come) => self.received_from(source, come),
            FastOutcome::Posted(request) => self.wait_open(request),
        }
    }

    /// The status of a message that the fast path has received.
    #[inline]
    fn received_from(&self, source: Source, come: engine::Status) -> Result<Status> {
        match source {
            Source::Rank(source) => Ok(Status {
                source,
                tag: come.tag,
                bytes: come.len,
            }),
            Source::Any => self.status(Ok(come)),
        }
    }

    /// Sends `out` and receives into `into`; either may complete first.
    pub fn sendrecv(
        &self,
        out: RawBytes,
        to: usize,
        send_tag: u32,
        into: RawBytes,
        source: Source,
        recv_tag: Tag,
    ) -> Result<Status> {
        let Some((from, tag)) = self.pattern(source, recv_tag) else {
            let status = self.without_pattern(source, recv_tag)?;
            let sent = self.send(out, to, send_tag, Mode::Standard);
            return sent.map(|()| status);
        };
        if self.send_short(&out, to, send_tag) {
            return self.recv(into, source, recv_tag);
        }
        let come = self.post(from, tag, into)?;
        if let Err(error) = self.send(out, to, send_tag, Mode::Standard) {
            // A failure of the receive, if there is one too, comes second.
            let _ = self.take_back(come);
            return Err(error);
        }
        self.wait_open(come)
    }

    /// As [`Communicator::sendrecv`], with the message that comes in place of the one that goes
    /// (`MPI_Sendrecv_replace`).
    ///
    /// # Errors
    /// As there; no memory for a copy of the bytes.
    pub fn sendrecv_replace(
        &self,
        bytes: RawBytes,
        to: usize,
        send_tag: u32,
        source: Source,
        recv_tag: Tag,
    ) -> Result<Status> {
        let len = bytes.len() as usize;
        let mut copy = Vec::new();
        (copy.try_reserve_exact(len)).map_err(|_| Error::Memory {
            rank: self.group.rank() as usize,
            bytes: len,
        })?;
        copy.resize(len, 0u8);
        bytes::target(&mut copy).copy_from(&bytes);
        self.sendrecv(bytes::source(&copy), to, send_tag, bytes, source, recv_tag)
    }

    /// Sends a copy of `out`, as [`send_copy`](Self::send_copy), and starts a receive into `into` (`MPI_Isendrecv`).
    ///
    /// # Errors
    /// As of both; nothing is sent where the arguments of the receive are wrong.
    pub fn isendrecv(
        &self,
        out: RawBytes,
        to: usize,
        send_tag: u32,
        into: RawBytes,
        source: Source,
        recv_tag: Tag,
    ) -> Result<RawRequest> {
        let Some((from, tag)) = self.pattern(source, recv_tag) else {
            let status = self.without_pattern(source, recv_tag)?;
            let sent = self.send_copy(out, to, send_tag);
            return sent.map(|()| RawRequest::completed(status));
        };
        self.send_copy(out, to, send_tag)?;
        self.post(from, tag, into).map(RawRequest::of)
    }

    /// Starts a send to rank `to` (`MPI_Isend` and its modes).
    ///
    /// # Errors
    /// A wrong rank or tag; a lost peer, where the call sees it.
    #[inline(always)]
    pub fn isend(&self, bytes: RawBytes, to: usize, tag: u32, mode: Mode) -> Result<RawRequest> {
        if mode != Mode::Synchronous && self.send_short(&bytes, to, tag) {
            return Ok(RawRequest::sent(bytes.len(), to, tag));
        }
        self.isend_any(bytes, to, tag, mode)
    }

    #[inline(never)]
    pub(super) fn isend_any(
        &self,
        bytes: RawBytes,
        to: usize,
        tag: u32,
        mode: Mode,
    ) -> Result<RawRequest> {
        let Some((peer, envelope)) = self.address(to, tag)? else {
            return Ok(RawRequest::completed(Status::PROC_NULL));
        };
        let sent = self.access.with(|endpoint| {
            endpoint.check()?;
            Ok(endpoint.send_now(peer, envelope, mode, bytes))
        })?;
        Ok(match sent {
            None => {
                self.offer_unsent();
                RawRequest::sent(bytes.len(), to, tag)
            }
            Some(request) => {
                self.offer();
                RawRequest::of(request)
            }
        })
    }

    /// Offers the endpoint to the helper thread, if there is one, as the call leaves a message under way.
    #[inline]
    fn offer(&self) {
        if async_progress::is_on() {
            self.access.offer();
        }
    }

    /// As [`Communicator::offer`], where a message that counts as sent is still in this process.
    #[inline]
    fn offer_unsent(&self) {
        if async_progress::is_on() && self.access.with(|endpoint| endpoint.has_unsent()) {
            self.access.offer();
        }
    }

    /// Starts a receive (`MPI_Irecv`).
    ///
    /// # Errors
    /// A wrong rank or tag; a lost peer, where the call sees it.
    #[inline(always)]
    pub fn irecv(&self, bytes: RawBytes, source: Source, tag: Tag) -> Result<RawRequest> {
        match self.pattern(source, tag) {
            Some((source, tag)) => self.post(source, tag, bytes).map(RawRequest::of),
            None => self.without_pattern(source, tag).map(RawRequest::completed),
        }
    }

    #[inline(always)]
    pub(super) fn post(
        &self,
        source: engine::Source,
        tag: engine::Tag,
        bytes: RawBytes,
    ) -> Result<OpenRequest> {
        let len = bytes.len();
        let request = self.access.irecv(source, self.context(), tag, bytes)?;
        if len > MOST_EAGER {
            self.offer();
        }
        Ok(request)
    }

    /// Receives the message that a matched probe has claimed (`MPI_Mrecv`).
    ///
    /// # Errors
    /// A message longer than `bytes`, or a lost peer.
    pub fn recv_claimed(&self, claimed: Claimed, bytes: RawBytes) -> Result<Status> {
        self.wait(self.irecv_claimed(claimed, bytes)?)
    }

    /// As [`Communicator::recv_claimed`], without waiting (`MPI_Imrecv`).
    ///
    /// # Errors
    /// As there.
    pub fn irecv_claimed(&self, claimed: Claimed, bytes: RawBytes) -> Result<RawRequest> {
        let request = self.access.with(|endpoint| {
            endpoint.check()?;
            Ok(endpoint.recv_claimed(claimed, bytes))
        })?;
        self.offer();
        (request.map(RawRequest::of)).map_err(|failure| self.failed(failure))
    }
}
