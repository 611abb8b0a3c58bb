//! The fast path of a blocking receive: takes a short message from the transport without request and look-up.
//!
//! It is open for a source while no unexpected message or posted receive has to be matched first: see
//! [`Rx::poll_short`].

use super::Engine;
use super::pattern::{Source, Tag};
use super::request::Status;
use crate::fast_path::{EnvelopeFilter, ShortMessage};
use crate::header::Envelope;
use crate::transport::{Bytes, Peer, Rma, Rx, Tx};

impl<T: Tx + Rma> Engine<T> {
    /// Whether the fast path is open for `source`: it has no unexpected message, no posted receive can match
    /// its next message, and it is not lost.
    ///
    /// # Panics
    /// If `source` is not one of the engine's peers.
    ///
    /// # Cost
    /// Two loads and one compare; three loads for any source.
    #[inline]
    #[must_use]
    pub fn is_fast_path_open(&self, source: Source) -> bool {
        match source {
            Source::Peer(source) => self.pending[source.0 as usize] | self.any_posted == 0,
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
        if self.pending.get(source.0 as usize)? | self.any_posted != 0 {
            return None;
        }
        rx.take_short(tx, source, wanted, body)
    }

    /// Polls `source` once. If the next arrival is an eager message in `context` with `tag` that fits `body`,
    /// it is received and its status returned. All else is handled as in any poll, and may close the fast
    /// path: after `None`, check [`Engine::is_fast_path_open`] before the next call. While the path is
    /// closed, this does nothing.
    ///
    /// # Panics
    /// If `source` is not one of the engine's peers.
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
    ) -> Option<Status>
    where
        X: Rx<T>,
        C: Bytes,
    {
        if !self.is_fast_path_open(source) {
            return None;
        }
        let wanted = match tag {
            Tag::Exact(tag) => EnvelopeFilter::exact(Envelope { context, tag }),
            Tag::Any => EnvelopeFilter::any_tag(context),
        };
        let from = match source {
            Source::Peer(peer) => Some(peer),
            Source::Any => None,
        };
        let short = rx.poll_short(tx, from, wanted, body, self)?;
        Some(Status {
            source: short.from,
            tag: short.tag,
            len: u64::from(short.len),
            cancelled: false,
        })
    }
}
