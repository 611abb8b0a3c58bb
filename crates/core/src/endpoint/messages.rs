//! Sending, receiving and probing on an endpoint.

use oxmpi_os::RawBytes;
use oxmpi_wire::engine::{self, Failure, FastPoll, Mode, Outcome, Source, Status, Tag};
use oxmpi_wire::{Envelope, EnvelopeFilter, Peer, ShortMessage, Tx};

use super::super::request::{Claimed, OpenRequest};
use super::Endpoint;
use crate::error::Result;

/// A blocking receive that waits no longer on the fast path.
pub(crate) enum FastOutcome {
    Received(Status),
    /// It waits for its message as any posted receive.
    Posted(OpenRequest),
}

impl Endpoint {
    /// Sends a short message if there is room and no earlier message waits. The endpoint must be usable.
    #[inline(always)]
    pub(crate) fn send_short(&mut self, to: Peer, envelope: Envelope, body: &RawBytes) -> bool {
        self.engine.put_short(&mut self.tx, to, envelope, body)
    }

    /// As [`Endpoint::send_short`], for a message of one word, without a call.
    #[inline(always)]
    pub(crate) fn send_word(&mut self, to: Peer, envelope: Envelope, word: u64) -> bool {
        self.engine.put_word(&mut self.tx, to, envelope, word)
    }

    /// Sends. `None`: the send has completed, and its bytes may be used again.
    pub(crate) fn send_now(
        &mut self,
        to: Peer,
        envelope: Envelope,
        mode: Mode,
        body: RawBytes,
    ) -> Option<OpenRequest> {
        if mode != Mode::Synchronous {
            let (engine, tx) = (&mut self.engine, &mut self.tx);
            if engine.try_eager(tx, to, envelope, &body).is_ok() {
                tx.flush();
                return None;
            }
            if self.engine.needs_resume() {
                self.progress();
                let (engine, tx) = (&mut self.engine, &mut self.tx);
                if engine.try_eager(tx, to, envelope, &body).is_ok() {
                    tx.flush();
                    return None;
                }
            }
        }
        self.send_later(to, envelope, mode, body)
    }

    #[inline(never)]
    pub(crate) fn send_later(
        &mut self,
        to: Peer,
        envelope: Envelope,
        mode: Mode,
        body: RawBytes,
    ) -> Option<OpenRequest> {
        let request = self.engine.send(&mut self.tx, to, envelope, mode, body);
        self.tx.flush();
        match self.engine.peek(request) {
            Some(Ok(_)) => {
                let _freed = self.engine.test(request);
                None
            }
            _ => Some(request),
        }
    }

    /// Takes a short message that has arrived and that no earlier one precedes. The endpoint must be usable.
    #[inline(always)]
    pub(crate) fn take_short(
        &mut self,
        source: Peer,
        wanted: EnvelopeFilter,
        body: &RawBytes,
    ) -> Option<ShortMessage> {
        let (rx, tx) = (&mut self.rx, &mut self.tx);
        self.engine.take_fast(rx, tx, source, wanted, body)
    }

    /// As [`Endpoint::take_short`], for a message of one word, without a call: the word and the tag.
    #[inline(always)]
    pub(crate) fn take_word(
        &mut self,
        source: Peer,
        is_wanted: impl FnOnce(Envelope) -> bool,
    ) -> Option<(u64, u32)> {
        self.engine.take_word(&mut self.rx, source, is_wanted)
    }

    /// Receives by the fast path, in at most `polls` polls, or posts the receive where that is closed. `None`: nothing
    /// has arrived, and the fast path is still open; ask again after a rest. A receive from any source is posted after
    /// the first polls: only the messages of this node come on its fast path.
    ///
    /// # Errors
    /// When the endpoint is not usable.
    #[inline]
    pub(crate) fn recv_or_post(
        &mut self,
        polls: u32,
        source: Source,
        context: u32,
        tag: Tag,
        body: RawBytes,
    ) -> Result<Option<FastOutcome>> {
        self.check()?;
        match self.poll_fast(polls, source, context, tag, &body) {
            FastPoll::Received(status) => Ok(Some(FastOutcome::Received(status))),
            FastPoll::Nothing if source != Source::Any => Ok(None),
            FastPoll::Nothing | FastPoll::Closed => {
                let request = self.irecv(source, context, tag, body);
                Ok(Some(FastOutcome::Posted(request)))
            }
        }
    }

    /// Receives by the fast path, in at most `polls` polls. The endpoint must be usable.
    #[inline]
    pub(crate) fn poll_fast(
        &mut self,
        polls: u32,
        source: Source,
        context: u32,
        tag: Tag,
        body: &RawBytes,
    ) -> FastPoll {
        for _ in 0..polls {
            let (rx, tx) = (&mut self.rx, &mut self.tx);
            match (self.engine).recv_fast(rx, tx, source, context, tag, body) {
                FastPoll::Nothing => std::hint::spin_loop(),
                end => return end,
            }
        }
        FastPoll::Nothing
    }

    #[inline(always)]
    pub(crate) fn irecv(
        &mut self,
        source: Source,
        context: u32,
        tag: Tag,
        body: RawBytes,
    ) -> OpenRequest {
        let request = self.engine.recv(&mut self.tx, source, context, tag, body);
        self.tx.await_from(source);
        request
    }

    pub(crate) fn recv_claimed(
        &mut self,
        claimed: Claimed,
        body: RawBytes,
    ) -> std::result::Result<OpenRequest, Failure> {
        let request = self.engine.matched_recv(&mut self.tx, claimed, body);
        self.tx.flush();
        request
    }

    pub(crate) fn probe(&self, source: Source, context: u32, tag: Tag) -> Option<Outcome> {
        self.engine.probe(source, context, tag)
    }

    pub(crate) fn claim(
        &mut self,
        source: Source,
        context: u32,
        tag: Tag,
    ) -> Option<std::result::Result<(engine::Message, Status), Failure>> {
        self.engine.matched_probe(source, context, tag)
    }
}
