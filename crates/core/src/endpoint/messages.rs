//! Sending, receiving and probing on an endpoint.

use oxmpi_os::RawBytes;
use oxmpi_wire::engine::{self, Failure, Mode, Outcome, Source, Status, Tag};
use oxmpi_wire::{Envelope, EnvelopeFilter, Peer, ShortMessage, Tx};

use super::super::request::{Claimed, OpenRequest};
use super::Endpoint;

impl Endpoint {
    /// Sends a short message if there is room and no earlier message waits. The endpoint must be usable.
    #[inline(always)]
    pub(crate) fn send_short(&mut self, to: Peer, envelope: Envelope, body: &RawBytes) -> bool {
        self.engine.put_short(&mut self.tx, to, envelope, body)
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

    /// Polls the fast path for a short message, at most `polls` times, as long as the fast path is open. `None`
    /// too where the endpoint is not usable: see [`Endpoint::check`].
    #[inline]
    pub(crate) fn recv_short(
        &mut self,
        polls: u32,
        source: Source,
        context: u32,
        tag: Tag,
        body: &RawBytes,
    ) -> Option<Status> {
        if self.usable.forked() {
            return None;
        }
        for _ in 0..polls {
            let (rx, tx) = (&mut self.rx, &mut self.tx);
            let status = (self.engine).recv_fast(rx, tx, source, context, tag, body);
            if status.is_some() || !self.engine.is_fast_path_open(source) {
                return status;
            }
            std::hint::spin_loop();
        }
        None
    }

    /// Whether [`Endpoint::recv_short`] may find something later.
    pub(crate) fn is_on_fast_path(&self, source: Source) -> bool {
        self.engine.is_fast_path_open(source)
    }

    /// Receives by the fast path for as long as it is open. `Ok(None)`: nothing has come; ask
    /// again after a rest. `Err`: the fast path is closed, and the receive is posted.
    pub(crate) fn recv_now(
        &mut self,
        source: Source,
        context: u32,
        tag: Tag,
        body: RawBytes,
    ) -> std::result::Result<Option<Status>, OpenRequest> {
        match self.recv_short(self.polls, source, context, tag, &body) {
            Some(status) => Ok(Some(status)),
            None if self.engine.is_fast_path_open(source) => Ok(None),
            None => Err(self.irecv(source, context, tag, body)),
        }
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
