//! The direct road: a blocking receive that takes a short message from its ring at once.
//!
//! When nothing of ours comes before a source's next frame, a receive from it needs no request and
//! no lookup: the frame at the head of its ring is compared with one word, and its bytes go where
//! they belong.

use super::Engine;
use super::request::Status;
use crate::fault::Fault;
use crate::header::{Envelope, Header, Kind};
use crate::transport::{Bytes, Peer, Rma, Rx, Sink, Take, Token, Tx};

impl<T: Tx + Rma> Engine<T> {
    /// Whether the direct road is open: no message of `source` waits, no posted receive could take
    /// its next one, and it is not lost.
    ///
    /// # Panics
    /// If `source` is not one of the engine's peers.
    ///
    /// # Cost
    /// Two loads and one compare.
    #[inline]
    #[must_use]
    pub fn direct(&self, source: Peer) -> bool {
        self.peers[source.0 as usize].pending | self.any_posted == 0
    }

    /// Looks once at what `source` has sent. If it is a short message with exactly this envelope
    /// that fits `body`, the message is received and its status returned. Anything else takes the
    /// usual road; after `None`, ask [`Engine::direct`] again before the next try.
    ///
    /// The caller has seen [`Engine::direct`] hold; where it does not, nothing is received here.
    ///
    /// # Panics
    /// If `source` is not one of the engine's peers.
    ///
    /// # Cost
    /// Besides the transport's own work one compare of the envelope and one of the length; no
    /// allocation, no request.
    #[inline]
    pub fn recv_direct<X, C>(
        &mut self,
        rx: &mut X,
        tx: &mut T,
        source: Peer,
        envelope: Envelope,
        body: &C,
    ) -> Option<Status>
    where
        X: Rx<Tx = T>,
        C: Bytes,
    {
        let open = self.direct(source);
        let mut road = Direct {
            engine: self,
            source,
            wanted: envelope.packed(),
            body,
            open,
            received: None,
        };
        rx.poll_from(tx, source, &mut road);
        road.received.map(|len| Status {
            source,
            tag: envelope.tag,
            len: u64::from(len),
            cancelled: false,
        })
    }
}

/// Out of line: the engine's whole machine would push the direct road's few words out of registers.
#[cold]
#[inline(never)]
fn usual_road<T: Tx + Rma>(
    engine: &mut Engine<T>,
    tx: &mut T,
    from: Peer,
    head: &Header,
    body: &mut impl Take,
) {
    engine.frame(tx, from, head, body);
}

/// The sink of one look.
struct Direct<'a, T: Rma, C> {
    engine: &'a mut Engine<T>,
    source: Peer,
    wanted: u64,
    body: &'a C,
    /// Nothing has come or been posted yet that goes before the next frame.
    open: bool,
    received: Option<u32>,
}

impl<T: Tx + Rma, C: Bytes> Sink<T> for Direct<'_, T, C> {
    #[inline]
    fn frame(&mut self, tx: &mut T, from: Peer, head: &Header, body: &mut impl Take) {
        // A look at one peer may bring another's frames along: those of one that is gone.
        if self.open
            && from == self.source
            && head.kind == Kind::Eager
            && head.flags.is_empty()
            && head.envelope.packed() == self.wanted
            && u64::from(head.len) <= self.body.len()
            && body.left() as u64 == u64::from(head.len)
        {
            self.body.fill(0, body);
            self.received = Some(head.len);
            self.open = false;
        } else {
            self.open = false;
            usual_road(self.engine, tx, from, head, body);
        }
    }

    #[cold]
    fn done(&mut self, tx: &mut T, token: Token, result: Result<(), Fault>) {
        self.engine.done(tx, token, result);
    }

    #[cold]
    fn room(&mut self, tx: &mut T, to: Peer) {
        self.engine.room(tx, to);
    }

    #[cold]
    fn lost(&mut self, tx: &mut T, peer: Peer, why: Fault) {
        self.open = false;
        self.engine.lost(tx, peer, why);
    }
}
