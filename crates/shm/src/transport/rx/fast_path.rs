//! The fast path of receiving: a poll of the head of a ring for one expected short message, without a sink.

use oxmpi_wire::{AsTx, Bytes, EnvelopeFilter, Header, Peer, ShortMessage, Sink, fast_path};

use super::ShmRx;
use crate::ring::{MappedWords, RingSlot};
use crate::transport::SHORT;
use crate::transport::link::{LinkState, ReceiveLink};
use crate::transport::tx::ShmTx;

/// What a poll finds at the head of a ring.
pub(super) enum FastPoll {
    Taken(ShortMessage),
    Nothing,
    /// A message that only a full poll takes.
    Other,
}

impl<B: Bytes> ShmRx<B> {
    /// Takes the next message of `link`, if it is short and matches `wanted`.
    #[inline(always)]
    pub(super) fn take<C: Bytes>(
        link: &mut ReceiveLink,
        tx: &mut ShmTx<B>,
        wanted: EnvelopeFilter,
        body: &C,
    ) -> FastPoll {
        if link.state != LinkState::Open {
            return FastPoll::Other;
        }
        let Some((slot, compact)) = link.ring.next() else {
            return FastPoll::Nothing;
        };
        let envelope = link.ring.get(&slot, 0);
        let Some(len) = Header::plain(compact, SHORT as u32) else {
            return FastPoll::Other;
        };
        if u64::from(len) > body.len() || !wanted.matches(envelope) {
            return FastPoll::Other;
        }
        if len != 8 || !body.fill_word(link.ring.get(&slot, 1)) {
            body.fill(0, &mut link.short(&slot, len as usize));
        }
        FastPoll::Taken(Self::taken(link, tx, &slot, envelope, len))
    }

    /// Frees the slot of a message that the fast path has taken.
    #[inline(always)]
    pub(super) fn taken(
        link: &mut ReceiveLink,
        tx: &mut ShmTx<B>,
        slot: &RingSlot<MappedWords<'static>>,
        envelope: u64,
        len: u32,
    ) -> ShortMessage {
        let wrote_credits = Self::advance(link, tx, slot);
        ShortMessage {
            from: Peer(link.peer),
            tag: envelope as u32,
            len,
            // A receiver that always finds a message waiting takes the slow path once every quarter of a ring.
            poll: wrote_credits && tx.has_slow_work,
        }
    }

    /// Takes the next message of any link, round-robin.
    pub(super) fn take_any<C: Bytes>(
        &mut self,
        tx: &mut ShmTx<B>,
        wanted: EnvelopeFilter,
        body: &C,
    ) -> FastPoll {
        let open = self.open.len();
        for step in 0..open {
            let i = self.link_after(step);
            match Self::take(&mut self.links[self.open[i] as usize], tx, wanted, body) {
                FastPoll::Nothing => {}
                next => {
                    self.next_link = if i + 1 < open { i + 1 } else { 0 };
                    return next;
                }
            }
        }
        FastPoll::Nothing
    }

    /// [`take_short`](oxmpi_wire::Rx::take_short) for bodies of other lengths.
    #[inline(never)]
    pub(super) fn take_other<C: Bytes>(
        link: &mut ReceiveLink,
        tx: &mut ShmTx<B>,
        wanted: EnvelopeFilter,
        body: C,
    ) -> Option<ShortMessage> {
        match Self::take(link, tx, wanted, &body) {
            FastPoll::Taken(short) => Some(short),
            FastPoll::Nothing | FastPoll::Other => None,
        }
    }

    /// Polls in full: for messages that are not short, and for slow work.
    #[inline(never)]
    pub(super) fn poll_in_full<T: AsTx<ShmTx<B>>, C: Bytes, S: Sink<T>>(
        &mut self,
        tx: &mut T,
        from: Option<Peer>,
        wanted: EnvelopeFilter,
        body: C,
        sink: &mut S,
    ) -> Option<ShortMessage> {
        fast_path::poll_short(self, tx, from, wanted, &body, sink)
    }
}
