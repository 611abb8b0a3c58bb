//! A receiving half that writes down what passes through it.

use oxmpi_wire::{Envelope, Fault, Flags, Header, Key, Kind, Peer, Rx, Sink, Sleeper, Take, Token};

/// What an engine was told.
#[derive(Clone, Debug)]
pub enum SinkEvent {
    /// A message, or its request-to-send.
    Message {
        /// Its sender.
        from: u32,
        /// Its envelope.
        envelope: Envelope,
        /// Its length.
        len: u64,
        /// What its sender calls it, if it waits for an answer.
        id: Option<u64>,
        /// Its bytes, or what reaches them.
        bytes: Payload,
    },
    /// A recall of a message.
    Cancel {
        /// The sender.
        from: u32,
        /// What it calls the message.
        id: u64,
    },
    /// The loss of a peer.
    Lost(u32),
}

/// A message's bytes.
#[derive(Clone, Debug)]
pub enum Payload {
    /// They came with it.
    Inline(Vec<u8>),
    /// They are still with the sender.
    Remote(Key),
}

/// A receiving half under observation.
#[derive(Debug)]
pub struct SpyRx<R> {
    rx: R,
    /// What was told and not yet looked at.
    pub events: Vec<SinkEvent>,
}

impl<R> SpyRx<R> {
    /// Observes `rx`.
    pub const fn new(rx: R) -> Self {
        Self {
            rx,
            events: Vec::new(),
        }
    }
}

impl<T, R: Rx<T>> Rx<T> for SpyRx<R> {
    fn poll<S: Sink<T>>(&mut self, tx: &mut T, budget: u32, sink: &mut S) -> u32 {
        let events = &mut self.events;
        self.rx.poll(tx, budget, &mut Spy { sink, events })
    }

    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, from: Peer, sink: &mut S) -> u32 {
        let events = &mut self.events;
        self.rx.poll_from(tx, from, &mut Spy { sink, events })
    }
}

impl<R: Sleeper> Sleeper for SpyRx<R> {
    fn arm(&mut self) -> bool {
        self.rx.arm()
    }
}

struct Spy<'a, S> {
    sink: &'a mut S,
    events: &'a mut Vec<SinkEvent>,
}

impl<T, S: Sink<T>> Sink<T> for Spy<'_, S> {
    fn frame(&mut self, tx: &mut T, from: Peer, head: &Header, body: &mut impl Take) {
        let mut bytes = vec![0; body.left()];
        body.take(&mut bytes);
        let word = |at: usize| {
            let word = bytes[at..at + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(word)
        };
        let (from_rank, envelope) = (from.0, head.envelope);
        match head.kind {
            Kind::Eager => {
                let sync = head.flags.contains(Flags::SYNC);
                let payload = bytes[if sync { 8 } else { 0 }..].to_vec();
                self.events.push(SinkEvent::Message {
                    from: from_rank,
                    envelope,
                    len: payload.len() as u64,
                    id: sync.then(|| word(0)),
                    bytes: Payload::Inline(payload),
                });
            }
            Kind::RequestToSend => {
                let key = bytes[16..].try_into().expect("the rest is the key");
                self.events.push(SinkEvent::Message {
                    from: from_rank,
                    envelope,
                    len: word(0),
                    id: Some(word(8)),
                    bytes: Payload::Remote(Key(key)),
                });
            }
            Kind::Cancel => self.events.push(SinkEvent::Cancel {
                from: from_rank,
                id: word(0),
            }),
            _ => {}
        }
        // Every other plain message is asked for first: a transport may do so, or not.
        let ask = head.is_plain() && self.events.len().is_multiple_of(2);
        if !ask || !(self.sink).expected(from, envelope, &mut bytes.as_slice()) {
            self.sink.frame(tx, from, head, &mut bytes.as_slice());
        }
    }

    fn done(&mut self, tx: &mut T, token: Token, result: Result<(), Fault>) {
        self.sink.done(tx, token, result);
    }

    fn room(&mut self, tx: &mut T, to: Peer) {
        self.sink.room(tx, to);
    }

    fn lost(&mut self, tx: &mut T, peer: Peer, why: Fault) {
        self.events.push(SinkEvent::Lost(peer.0));
        self.sink.lost(tx, peer, why);
    }
}
