//! The fast path of a blocking receive: takes a short message from the transport without request and look-up.
//!
//! A receive may take the message at the head of a queue only if matching would give it that message: no unexpected
//! message of the source, which came before, and no posted receive that the message may match, which was there before.
//! The engine counts both ([`Engine::is_fast_path_open`]), and asks before each look; the transport knows nothing of
//! them. It takes heads only, so messages of one source keep their order.

use super::Engine;
use super::pattern::{Source, Tag};
use super::request::Status;
use crate::fast_path::{self, EnvelopeFilter, QueueHead, ShortMessage};
use crate::header::Envelope;
use crate::transport::{Bytes, Peer, Rma, Rx, Tx};

/// The result of one poll on the fast path: see [`Engine::recv_fast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastPoll {
    /// The message was received.
    Received(Status),
    /// It has not arrived yet, and the fast path is still open: poll again.
    Nothing,
    /// The fast path is closed: post the receive by [`Engine::recv`].
    Closed,
}

impl<T: Tx + Rma> Engine<T> {
    /// Whether the fast path is open for `source`: it has no unexpected message, no posted receive can match
    /// its next message, and it is not lost. Closed for a source that is not one of the engine's peers.
    ///
    /// # Cost
    /// Two loads and one compare; three loads for any source.
    #[inline(always)]
    #[must_use]
    pub fn is_fast_path_open(&self, source: Source) -> bool {
        match source {
            Source::Peer(source) => (self.pending.get(source.0 as usize))
                .is_some_and(|pending| pending | self.posted.any_sources() == 0),
            Source::Any => {
                self.posted.is_empty() && self.unexpected.is_empty() && self.losses.is_empty()
            }
        }
    }

    /// The inlined part of [`Engine::recv_fast`]: receives the message if it has arrived from `source` and
    /// the fast path is open. `None`: it did nothing; call [`Engine::recv_fast`].
    ///
    /// # Cost
    /// As [`Engine::recv_fast`].
    #[inline(always)]
    pub fn take_fast<X, C>(
        &self,
        rx: &mut X,
        tx: &mut T,
        source: Peer,
        wanted: EnvelopeFilter,
        body: &C,
    ) -> Option<ShortMessage>
    where
        X: Rx<T>,
        C: Bytes,
    {
        if !self.is_fast_path_open(Source::Peer(source)) {
            return None;
        }
        rx.take_short(tx, source, wanted, body)
    }

    /// As [`Engine::take_fast`], for a message of one word, without a call: see [`Rx::take_word`].
    #[inline(always)]
    pub fn take_word<X: Rx<T>>(
        &self,
        rx: &mut X,
        source: Peer,
        is_wanted: impl FnOnce(Envelope) -> bool,
    ) -> Option<(u64, u32)> {
        match self.is_fast_path_open(Source::Peer(source)) {
            true => rx.take_word(source, is_wanted),
            false => None,
        }
    }

    /// Polls `source` once. If the next arrival is an eager message in `context` with `tag` that fits `body`,
    /// it is received. All else is handled as in any poll, and may close the fast path. While the path is
    /// closed, this does nothing.
    ///
    /// # Cost
    /// That of [`Engine::is_fast_path_open`] and the transport's own work; no allocation, no request.
    #[inline(always)]
    pub fn recv_fast<X, C>(
        &mut self,
        rx: &mut X,
        tx: &mut T,
        source: Source,
        context: u32,
        tag: Tag,
        body: &C,
    ) -> FastPoll
    where
        X: Rx<T>,
        C: Bytes,
    {
        if !self.is_fast_path_open(source) {
            return FastPoll::Closed;
        }
        let wanted = match tag {
            Tag::Exact(tag) => EnvelopeFilter::exact(Envelope { context, tag }),
            Tag::Any => EnvelopeFilter::any_tag(context),
        };
        let from = match source {
            Source::Peer(peer) => Some(peer),
            Source::Any => None,
        };
        let short = match rx.take_head(tx, from, wanted, body) {
            QueueHead::Taken(short) => short,
            QueueHead::Empty => return FastPoll::Nothing,
            // By value: a reference would force the body into memory where its message is taken, too.
            QueueHead::Other => match self.poll_short(rx, tx, from, wanted, body.clone()) {
                Some(short) => short,
                None if self.is_fast_path_open(source) => return FastPoll::Nothing,
                None => return FastPoll::Closed,
            },
        };
        FastPoll::Received(Status {
            source: short.from,
            tag: short.tag,
            len: u64::from(short.len),
            cancelled: false,
        })
    }

    /// Polls for what [`Rx::take_head`] leaves.
    #[inline(never)]
    fn poll_short<X, C>(
        &mut self,
        rx: &mut X,
        tx: &mut T,
        from: Option<Peer>,
        wanted: EnvelopeFilter,
        body: C,
    ) -> Option<ShortMessage>
    where
        X: Rx<T>,
        C: Bytes,
    {
        fast_path::poll_short(rx, tx, from, wanted, &body, self)
    }
}
