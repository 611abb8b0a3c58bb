//! The direct road: a blocking receive that takes a short message from its transport at once.
//!
//! When nothing of ours comes before a source's next frame, a receive from it needs no request and
//! no lookup: see [`Rx::poll_short`].

use super::Engine;
use super::pattern::{Source, Tag};
use super::request::Status;
use crate::fast_path::{EnvelopeFilter, ShortMessage};
use crate::header::Envelope;
use crate::transport::{Bytes, Peer, Rma, Rx, Tx};

impl<T: Tx + Rma> Engine<T> {
    /// Whether the direct road is open: no message of `source` waits, no posted receive could take
    /// its next one, and it is not lost.
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

    /// The part of [`Engine::recv_fast`] that is worth inlining: receives the message if it has
    /// come from `source` and nothing of ours goes before it, and does nothing otherwise. After
    /// `None`, [`Engine::recv_fast`] tells.
    ///
    /// # Cost
    /// As there.
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

    /// Looks once at what `source` has sent. If that is an eager message of `context` and `tag` that
    /// fits `body`, it is received and its status returned. Anything else takes the usual road. The
    /// look itself, and what it brings, may close the road: after `None`, ask [`Engine::is_fast_path_open`]
    /// whether to look again. Where it does not hold, nothing is received here.
    ///
    /// # Panics
    /// If `source` is not one of the engine's peers.
    ///
    /// # Cost
    /// Besides the transport's own work that of [`Engine::is_fast_path_open`]; no allocation, no request.
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
