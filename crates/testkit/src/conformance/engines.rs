//! Conformance tests with two engines over the transport.

use oxmpi_wire::paths::RendezvousScheme;
use oxmpi_wire::{
    Engine, EngineConfig, Envelope, EnvelopeFilter, FastPoll, Mode, Outcome, PathOverrides, Peer,
    Request, Rx, Source, Status, Tag, Tx,
};

use super::{TestMemory, TestedTransport, TransportEnd, until};
use crate::memory::pattern;

const ENVELOPE: Envelope = Envelope { context: 2, tag: 4 };
/// Lengths for all paths of most transports.
const LENS: [usize; 10] = [0, 1, 8, 48, 49, 1000, 8192, 8193, 300_000, 3 << 20];

/// An end with its engine.
struct Rank<S: TestedTransport> {
    end: TransportEnd<S>,
    engine: Engine<S::Tx>,
}

impl<S: TestedTransport> Rank<S> {
    fn new(mut end: TransportEnd<S>, rendezvous: RendezvousScheme) -> Self {
        let peers = end.peer.0 + 1;
        let rules = EngineConfig {
            overrides: PathOverrides {
                rendezvous,
                ..PathOverrides::NONE
            },
            ..EngineConfig::default()
        };
        Self {
            engine: Engine::new(&mut end.tx, peers, rules),
            end,
        }
    }

    fn send(&mut self, mode: Mode, tag: u32, memory: &S::Memory) -> Request {
        let envelope = Envelope { tag, ..ENVELOPE };
        let (tx, to) = (&mut self.end.tx, self.end.peer);
        self.engine.send(tx, to, envelope, mode, memory.bytes())
    }

    fn recv(&mut self, source: Source, tag: Tag, memory: &S::Memory) -> Request {
        let (tx, bytes) = (&mut self.end.tx, memory.bytes());
        self.engine.recv(tx, source, ENVELOPE.context, tag, bytes)
    }

    fn step(&mut self) {
        self.end.tx.flush();
        self.end.rx.poll(&mut self.end.tx, 64, &mut self.engine);
        self.engine.resume(&mut self.end.tx);
    }
}

fn join<S: TestedTransport>() -> [Rank<S>; 2] {
    join_by(RendezvousScheme::Auto)
}

fn join_by<S: TestedTransport>(rendezvous: RendezvousScheme) -> [Rank<S>; 2] {
    S::join().map(|end| Rank::new(end, rendezvous))
}

/// Steps both until `request` of the first is complete.
fn wait<S: TestedTransport>(at: &mut Rank<S>, other: &mut Rank<S>, request: Request) -> Outcome {
    let mut outcome = None;
    until("a request completes", || {
        at.step();
        other.step();
        outcome = at.engine.test(request);
        outcome.is_some()
    });
    outcome.expect("the loop above ended")
}

fn status(source: Peer, tag: u32, len: usize) -> Outcome {
    Ok(Status {
        source,
        tag,
        len: len as u64,
        cancelled: false,
    })
}

/// Messages of all paths arrive, in both modes, expected and unexpected, by get and by put.
pub fn messages_of_every_size_arrive<S: TestedTransport>() {
    for rendezvous in [RendezvousScheme::Get, RendezvousScheme::Put] {
        messages_arrive(join_by::<S>(rendezvous));
    }
}

fn messages_arrive<S: TestedTransport>([mut a, mut b]: [Rank<S>; 2]) {
    for mode in [Mode::Standard, Mode::Synchronous] {
        for expected in [true, false] {
            for len in LENS {
                let source = S::Memory::new(pattern(len, 6));
                let target = S::Memory::new(vec![0; len]);
                let early = expected.then(|| b.recv(Source::Any, Tag::Any, &target));
                let sent = a.send(mode, 4, &source);
                for _ in 0..10 {
                    a.step();
                    b.step();
                }
                let got = early
                    .unwrap_or_else(|| b.recv(Source::Peer(b.end.peer), Tag::Exact(4), &target));
                assert_eq!(wait(&mut b, &mut a, got), status(b.end.peer, 4, len));
                assert_eq!(wait(&mut a, &mut b, sent), status(a.end.peer, 4, len));
                assert!(
                    target.to_vec() == pattern(len, 6),
                    "{len} B in {mode:?} mode"
                );
            }
        }
    }
}

/// More messages than any ring holds, on mixed paths, keep their order, though all are sent before the first
/// receive.
pub fn a_flood_of_messages_keeps_order<S: TestedTransport>() {
    let [mut a, mut b] = join::<S>();
    let len_of = |number: u64| [8, 40, 600, 9000, 20_000][number as usize % 5];
    let sources: Vec<_> = (0..600)
        .map(|number| S::Memory::new(pattern(len_of(number), number)))
        .collect();
    let sent: Vec<_> = sources
        .iter()
        .map(|source| a.send(Mode::Standard, 4, source))
        .collect();
    for number in 0..600 {
        let target = S::Memory::new(vec![0; len_of(number)]);
        let got = b.recv(Source::Any, Tag::Any, &target);
        let outcome = wait(&mut b, &mut a, got);
        assert_eq!(outcome, status(b.end.peer, 4, len_of(number)));
        assert!(
            target.to_vec() == pattern(len_of(number), number),
            "message {number}"
        );
    }
    for sent in sent {
        assert!(wait(&mut a, &mut b, sent).is_ok());
    }
}

/// A rendezvous without a receive can be cancelled, and its memory is released.
pub fn a_cancelled_send_is_answered<S: TestedTransport>() {
    let [mut a, mut b] = join::<S>();
    let source = S::Memory::new(pattern(1 << 20, 1));
    for _ in 0..20 {
        let sent = a.send(Mode::Standard, 4, &source);
        a.engine.cancel(&mut a.end.tx, sent);
        let outcome = wait(&mut a, &mut b, sent).expect("a cancelled send is not a failure");
        assert!(outcome.cancelled);
    }
    assert!(
        b.engine
            .probe(Source::Any, ENVELOPE.context, Tag::Any)
            .is_none()
    );
}

/// Short messages arrive on the fast path, in both directions in turn: at once, or by polls.
pub fn the_fast_path_receives<S: TestedTransport>() {
    let [mut a, mut b] = join::<S>();
    for round in 0..500 {
        let source = S::Memory::new(pattern(8, round));
        let target = S::Memory::new(vec![0; 8]);
        let (from, to) = if round % 2 == 0 {
            (&mut a, &mut b)
        } else {
            (&mut b, &mut a)
        };
        until("a short message is sent", || {
            from.step();
            let (tx, peer) = (&mut from.end.tx, from.end.peer);
            let bytes = source.bytes();
            let sent = from.engine.try_short(tx, peer, ENVELOPE, &bytes).is_ok();
            tx.flush();
            sent
        });
        let (source, tag) = (Source::Peer(to.end.peer), Tag::Exact(ENVELOPE.tag));
        let bytes = target.bytes();
        until("a short message is received", || {
            let (rx, tx, from) = (&mut to.end.rx, &mut to.end.tx, to.end.peer);
            let wanted = EnvelopeFilter::exact(ENVELOPE);
            if to.engine.take_fast(rx, tx, from, wanted, &bytes).is_some() {
                return true;
            }
            let polled = (to.engine).recv_fast(rx, tx, source, ENVELOPE.context, tag, &bytes);
            assert_ne!(polled, FastPoll::Closed, "nothing else is under way");
            polled != FastPoll::Nothing
        });
        assert_eq!(target.to_vec(), pattern(8, round));
    }
}

/// A message on the fast path overtakes none before it, and none is taken into a shorter buffer.
pub fn the_fast_path_takes_heads_only<S: TestedTransport>() {
    let (first, wanted) = (5, ENVELOPE.tag);
    for (tag, room) in [(wanted, 8), (first, 7)] {
        let [mut a, mut b] = join::<S>();
        let sent = [first, wanted].map(|tag| {
            let source = S::Memory::new(pattern(8, tag.into()));
            (a.send(Mode::Standard, tag, &source), source)
        });
        let target = S::Memory::new(vec![0; room]);
        let (bytes, context) = (target.bytes(), ENVELOPE.context);
        until("the first message closes the fast path", || {
            a.step();
            let (rx, tx, from) = (&mut b.end.rx, &mut b.end.tx, b.end.peer);
            let filter = EnvelopeFilter::exact(Envelope { context, tag });
            let taken = b.engine.take_fast(rx, tx, from, filter, &bytes);
            assert_eq!(taken, None, "tag {tag} into {room} B");
            let source = Source::Peer(from);
            let polled = (b.engine).recv_fast(rx, tx, source, context, Tag::Exact(tag), &bytes);
            assert!(!matches!(polled, FastPoll::Received(_)), "{polled:?}");
            polled == FastPoll::Closed
        });
        for tag in [first, wanted] {
            let target = S::Memory::new(vec![0; 8]);
            let got = b.recv(Source::Any, Tag::Any, &target);
            assert_eq!(wait(&mut b, &mut a, got), status(b.end.peer, tag, 8));
            assert_eq!(target.to_vec(), pattern(8, tag.into()));
        }
        for (sent, _source) in sent {
            assert!(wait(&mut a, &mut b, sent).is_ok());
        }
    }
}
