//! A look that takes a short message straight from its transport.
//!
//! A receive that nothing goes before needs no request: the frame at the head of its source's queue
//! is compared with one word, and its bytes go where they belong. A transport that can compare its
//! frames in place does so in [`Rx::poll_short`]; for all others [`poll_short`] here puts a sink
//! before the engine that lets through what is not wanted.
//!
//! [`Rx::poll_short`]: crate::Rx::poll_short

use crate::fault::Fault;
use crate::header::{Envelope, Header, Kind};
use crate::transport::{Bytes, Peer, Rx, Sink, Take, Token};

/// What a direct look takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The sender; `None`: whoever has sent.
    pub from: Option<Peer>,
    /// The envelope, [`Envelope::packed`], in the bits of `mask`.
    envelope: u64,
    mask: u64,
}

/// A message that a direct look has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// Its sender.
    pub from: Peer,
    /// Its tag.
    pub tag: u32,
    /// Its length in bytes.
    pub len: u32,
}

impl Wanted {
    /// Messages of `from` in `context` with `tag`; with all tags if that is `None`.
    #[inline]
    #[must_use]
    pub const fn new(from: Option<Peer>, context: u32, tag: Option<u32>) -> Self {
        let (tag, mask) = match tag {
            Some(tag) => (tag, u64::MAX),
            None => (0, (u32::MAX as u64) << 32),
        };
        Self {
            from,
            envelope: Envelope { context, tag }.packed(),
            mask,
        }
    }

    /// Whether a message with this packed envelope is meant.
    ///
    /// # Cost
    /// One compare where the tag is named.
    #[inline]
    #[must_use]
    pub const fn takes(&self, envelope: u64) -> bool {
        (envelope ^ self.envelope) & self.mask == 0
    }
}

/// [`Rx::poll_short`] by the transport's other polls.
pub fn poll_short<R, C, S>(
    rx: &mut R,
    tx: &mut R::Tx,
    wanted: &Wanted,
    body: &C,
    sink: &mut S,
) -> Option<Short>
where
    R: Rx + ?Sized,
    C: Bytes,
    S: Sink<R::Tx>,
{
    let mut look = Look {
        sink,
        wanted,
        body,
        open: true,
        taken: None,
    };
    match wanted.from {
        Some(from) => rx.poll_from(tx, from, &mut look),
        None => rx.poll(tx, 1, &mut look),
    };
    look.taken
}

/// The sink of one look.
struct Look<'a, S, C> {
    sink: &'a mut S,
    wanted: &'a Wanted,
    body: &'a C,
    /// Nothing has come yet that goes before the next frame.
    open: bool,
    taken: Option<Short>,
}

impl<T, S: Sink<T>, C: Bytes> Sink<T> for Look<'_, S, C> {
    fn frame(&mut self, tx: &mut T, from: Peer, head: &Header, body: &mut impl Take) {
        // A look at one peer may bring another's frames along: those of one that is gone.
        let wanted = self.open
            && self.wanted.from.is_none_or(|wanted| wanted == from)
            && head.kind == Kind::Eager
            && head.flags.is_empty()
            && self.wanted.takes(head.envelope.packed())
            && u64::from(head.len) <= self.body.len()
            && body.left() as u64 == u64::from(head.len);
        self.open = false;
        if wanted {
            self.body.fill(0, body);
            self.taken = Some(Short {
                from,
                tag: head.envelope.tag,
                len: head.len,
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
