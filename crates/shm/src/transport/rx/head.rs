//! The head of a ring: one look at the next message, in its slot, which every kind of receive shares.
//!
//! [`ShmRx::accept_head`] offers it to the posted receives in a poll, and to a blocking receive on the fast path.
//! Nothing behind the head is looked at, so what is not accepted keeps its place, and messages their order.

use oxmpi_wire::{Bytes, EnvelopeFilter, Header, Peer, QueueHead, ShortMessage};

use super::ShmRx;
use crate::ring::{MappedWords, RingSlot};
use crate::transport::SHORT;
use crate::transport::link::{LinkState, ReceiveLink};
use crate::transport::tx::ShmTx;

/// What is at the head of a ring.
pub(super) enum RingHead {
    /// A short message that was accepted.
    Taken(ShortMessage),
    /// Nothing: no message has arrived.
    Empty,
    /// Another message, which is still there.
    Other(WaitingFrame),
}

/// A message at the head of a ring.
pub(super) struct WaitingFrame {
    pub(super) slot: RingSlot<MappedWords<'static>>,
    /// Its header, as [`Header::compact`] packs it.
    pub(super) compact: u32,
    /// Its envelope, packed.
    pub(super) envelope: u64,
}

impl WaitingFrame {
    /// Its length in bytes if it is a message without flags whose body is in the slot.
    #[inline(always)]
    fn short(&self) -> Option<u32> {
        Header::plain(self.compact, SHORT as u32)
    }
}

impl<B: Bytes> ShmRx<B> {
    /// Takes the message at the head of `link` if it is short, has no flags and `accept` receives it: it gets the
    /// message and its length, and returns false if it did nothing.
    #[inline(always)]
    pub(super) fn accept_head(
        link: &mut ReceiveLink,
        tx: &mut ShmTx<B>,
        accept: impl FnOnce(&ReceiveLink, &WaitingFrame, u32) -> bool,
    ) -> RingHead {
        let Some((slot, compact)) = link.ring.next() else {
            return RingHead::Empty;
        };
        let envelope = link.ring.get(&slot, 0);
        let frame = WaitingFrame {
            slot,
            compact,
            envelope,
        };
        match frame.short() {
            Some(len) if accept(link, &frame, len) => {
                RingHead::Taken(Self::taken(link, tx, &frame.slot, envelope, len))
            }
            _ => RingHead::Other(frame),
        }
    }

    /// Frees the slot of a message that was read. Whether the sender's credits were written.
    #[inline(always)]
    pub(super) fn advance(
        link: &mut ReceiveLink,
        tx: &mut ShmTx<B>,
        slot: &RingSlot<MappedWords<'static>>,
    ) -> bool {
        let wrote_credits = link.ring.advance(slot);
        if slot.is_ping_pong() {
            tx.back(link.peer).ring.gain_ping_pong();
        }
        if wrote_credits {
            tx.credits_written(link.peer);
        }
        wrote_credits
    }

    /// Frees the slot of a short message that was received.
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

    /// Takes the message at the head of `link` into `body`, if it is short, `wanted` and fits.
    #[inline(always)]
    pub(super) fn take_wanted<C: Bytes>(
        link: &mut ReceiveLink,
        tx: &mut ShmTx<B>,
        wanted: EnvelopeFilter,
        body: &C,
    ) -> QueueHead {
        if link.state != LinkState::Open {
            return QueueHead::Other;
        }
        let head = Self::accept_head(link, tx, |link, frame, len| {
            let takes = u64::from(len) <= body.len() && wanted.matches(frame.envelope);
            if takes && (len != 8 || !body.fill_word(link.ring.get(&frame.slot, 1))) {
                body.fill(0, &mut link.short(&frame.slot, len as usize));
            }
            takes
        });
        match head {
            RingHead::Taken(short) => QueueHead::Taken(short),
            RingHead::Empty => QueueHead::Empty,
            RingHead::Other(_) => QueueHead::Other,
        }
    }

    /// As [`ShmRx::take_wanted`], of the first link at whose head there is a message, round-robin.
    pub(super) fn take_wanted_of_any<C: Bytes>(
        &mut self,
        tx: &mut ShmTx<B>,
        wanted: EnvelopeFilter,
        body: &C,
    ) -> QueueHead {
        let open = self.open.len();
        for step in 0..open {
            let i = self.link_after(step);
            match Self::take_wanted(&mut self.links[self.open[i] as usize], tx, wanted, body) {
                QueueHead::Empty => {}
                head => {
                    self.next_link = if i + 1 < open { i + 1 } else { 0 };
                    return head;
                }
            }
        }
        QueueHead::Empty
    }

    /// [`take_short`](oxmpi_wire::Rx::take_short) where no word is in the ring.
    #[inline(never)]
    pub(super) fn take_other<C: Bytes>(
        link: &mut ReceiveLink,
        tx: &mut ShmTx<B>,
        wanted: EnvelopeFilter,
        body: C,
    ) -> Option<ShortMessage> {
        match Self::take_wanted(link, tx, wanted, &body) {
            QueueHead::Taken(short) => Some(short),
            QueueHead::Empty | QueueHead::Other => None,
        }
    }
}
