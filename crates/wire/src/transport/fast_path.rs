//! A look that takes a short message straight from its transport.
//!
//! A receive that nothing goes before needs no request: the frame at the head of its source's queue
//! is compared with one word, and its bytes go where they belong. A transport that can compare its
//! frames in place does so in [`Rx::poll_short`]; for all others [`poll_short`] here puts a sink
//! before the engine that lets through what is not wanted.
//!
//! [`Rx::poll_short`]: crate::Rx::poll_short

use super::{Bytes, Peer, Rx, Sink, Take, Token};
use crate::fault::Fault;
use crate::header::{Envelope, Header};

/// What a direct look takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvelopeFilter {
    /// The envelope, [`Envelope::packed`], in the bits of `mask`.
    envelope: u64,
    mask: u64,
}

/// A message that a direct look has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortMessage {
    /// Its sender.
    pub from: Peer,
    /// Its tag.
    pub tag: u32,
    /// Its length in bytes.
    pub len: u32,
    /// The transport has something else to do, which polls do and direct looks do not: poll soon.
    pub poll: bool,
}

impl EnvelopeFilter {
    /// Messages with this envelope.
    #[inline(always)]
    #[must_use]
    pub const fn exact(envelope: Envelope) -> Self {
        Self {
            envelope: envelope.packed(),
            mask: u64::MAX,
        }
    }

    /// Messages in `context`, whatever their tag.
    #[inline(always)]
    #[must_use]
    pub const fn any_tag(context: u32) -> Self {
        Self {
            envelope: Envelope { context, tag: 0 }.packed(),
            mask: (u32::MAX as u64) << 32,
        }
    }

    /// Whether a message with this packed envelope is meant.
    ///
    /// # Cost
    /// One compare where the tag is named.
    #[inline(always)]
    #[must_use]
    pub const fn matches(self, envelope: u64) -> bool {
        (envelope ^ self.envelope) & self.mask == 0
    }
}

/// [`Rx::poll_short`] by the transport's other polls.
pub fn poll_short<R, T, C, S>(
    rx: &mut R,
    tx: &mut T,
    from: Option<Peer>,
    wanted: EnvelopeFilter,
    body: &C,
    sink: &mut S,
) -> Option<ShortMessage>
where
    R: Rx<T> + ?Sized,
    C: Bytes,
    S: Sink<T>,
{
    let mut look = Look {
        sink,
        from,
        wanted,
        body,
        open: true,
        taken: None,
    };
    match from {
        Some(from) => rx.poll_from(tx, from, &mut look),
        None => rx.poll(tx, 1, &mut look),
    };
    look.taken
}

/// The sink of one look.
struct Look<'a, S, C> {
    sink: &'a mut S,
    from: Option<Peer>,
    wanted: EnvelopeFilter,
    body: &'a C,
    /// Nothing has come yet that goes before the next frame.
    open: bool,
    taken: Option<ShortMessage>,
}

impl<T, S: Sink<T>, C: Bytes> Sink<T> for Look<'_, S, C> {
    fn frame(&mut self, tx: &mut T, from: Peer, head: &Header, body: &mut impl Take) {
        // A look at one peer may bring another's frames along: those of one that is gone.
        let wanted = self.open
            && self.from.is_none_or(|wanted| wanted == from)
            && head.is_plain()
            && self.wanted.matches(head.envelope.packed())
            && u64::from(head.len) <= self.body.len()
            && body.left() as u64 == u64::from(head.len);
        self.open = false;
        if wanted {
            self.body.fill(0, body);
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
        self.open = false;
        self.sink.lost(tx, peer, why);
    }
}
