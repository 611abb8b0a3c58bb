//! The fast path of a blocking receive: it takes a short message from the transport without a request.
//!
//! If no earlier message and no earlier receive has to be matched first, which the engine alone knows, the receive
//! compares the frame at the head of its source's queue with an [`EnvelopeFilter`] and moves the bytes into the user's
//! buffer. A transport that compares frames in place overrides [`Rx::take_head`]. What that leaves, a longer frame for
//! example, is for [`poll_short`]: it polls with a sink that takes the message, and passes everything else to the
//! caller's sink.
//!
//! [`Rx::take_head`]: crate::Rx::take_head

use super::{Bytes, Peer, Rx, Sink, Take, Token};
use crate::fault::Fault;
use crate::header::{Envelope, Header};

/// The envelopes that a receive on the fast path takes: one tag, or any tag of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvelopeFilter {
    /// The wanted envelope, as [`Envelope::packed`] writes it.
    envelope: u64,
    /// The bits of the envelope that are compared.
    mask: u64,
}

/// What was at the head of a queue: see [`Rx::take_head`](crate::Rx::take_head).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueHead {
    /// The wanted message, which was received.
    Taken(ShortMessage),
    /// Nothing: no message has arrived.
    Empty,
    /// Something else, or nothing while other work is due: only a poll goes on.
    Other,
}

/// A message that was received on the fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortMessage {
    /// Its sender.
    pub from: Peer,
    /// Its tag.
    pub tag: u32,
    /// Its length in bytes.
    pub len: u32,
    /// The transport has work left that only a full poll does: the caller should poll soon.
    pub poll: bool,
}

impl EnvelopeFilter {
    /// Takes messages with exactly this envelope.
    #[inline(always)]
    #[must_use]
    pub const fn exact(envelope: Envelope) -> Self {
        Self {
            envelope: envelope.packed(),
            mask: u64::MAX,
        }
    }

    /// Takes messages in `context` with any tag.
    #[inline(always)]
    #[must_use]
    pub const fn any_tag(context: u32) -> Self {
        Self {
            envelope: Envelope { context, tag: 0 }.packed(),
            mask: (u32::MAX as u64) << 32,
        }
    }

    /// Whether a message with this packed envelope is taken.
    ///
    /// # Cost
    /// One compare where the tag is exact.
    #[inline(always)]
    #[must_use]
    pub const fn matches(self, envelope: u64) -> bool {
        (envelope ^ self.envelope) & self.mask == 0
    }
}

/// Polls for one message on the fast path, of any length up to a frame: as [`Rx::poll_from`], or as [`Rx::poll`] with
/// a budget of one if `from` is `None`, but the first arrival goes into `buffer` and not to `sink` if it is a whole
/// message without flags, is `wanted` and fits. `None`: no message was taken.
pub fn poll_short<R, T, C, S>(
    rx: &mut R,
    tx: &mut T,
    from: Option<Peer>,
    wanted: EnvelopeFilter,
    buffer: &C,
    sink: &mut S,
) -> Option<ShortMessage>
where
    R: Rx<T> + ?Sized,
    C: Bytes,
    S: Sink<T>,
{
    let mut short_sink = ShortSink {
        sink,
        from,
        wanted,
        buffer,
        may_take: true,
        taken: None,
    };
    match from {
        Some(from) => rx.poll_from(tx, from, &mut short_sink),
        None => rx.poll(tx, 1, &mut short_sink),
    };
    short_sink.taken
}

/// The sink of one poll on the fast path: takes the first frame if it is wanted, and passes all else on.
struct ShortSink<'a, S, C> {
    sink: &'a mut S,
    from: Option<Peer>,
    wanted: EnvelopeFilter,
    /// The memory of the receive.
    buffer: &'a C,
    /// No frame and no loss of a peer has come in this poll yet, so the next frame may be taken.
    may_take: bool,
    taken: Option<ShortMessage>,
}

impl<T, S: Sink<T>, C: Bytes> Sink<T> for ShortSink<'_, S, C> {
    fn frame(&mut self, tx: &mut T, from: Peer, head: &Header, body: &mut impl Take) {
        // A poll of one peer may also hand over the last frames of a lost peer.
        let wanted = self.may_take
            && self.from.is_none_or(|wanted| wanted == from)
            && head.is_plain()
            && self.wanted.matches(head.envelope.packed())
            && u64::from(head.len) <= self.buffer.len()
            && body.left() as u64 == u64::from(head.len);
        self.may_take = false;
        if wanted {
            self.buffer.fill(0, body);
            self.taken = Some(ShortMessage {
                from,
                tag: head.envelope.tag,
                len: head.len,
                poll: false,
            });
        } else {
            self.sink.frame(tx, from, head, body);
        }
    }

    fn done(&mut self, tx: &mut T, token: Token, result: Result<(), Fault>) {
        self.sink.done(tx, token, result);
    }

    fn room(&mut self, tx: &mut T, to: Peer) {
        self.sink.room(tx, to);
    }

    fn lost(&mut self, tx: &mut T, peer: Peer, why: Fault) {
        self.may_take = false;
        self.sink.lost(tx, peer, why);
    }
}
