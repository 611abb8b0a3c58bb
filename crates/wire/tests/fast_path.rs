//! Tests that the fast path takes messages of its own source and context only, and passes all else on.

use oxmpi_testkit::conformance::EventLog;
use oxmpi_testkit::fabric::{FabricConfig, FabricRx, FabricTx};
use oxmpi_testkit::job::{Job, Rank};
use oxmpi_testkit::memory::{Buffer, pattern};
use oxmpi_wire::{
    Bytes, EngineConfig, Envelope, EnvelopeFilter, FastPoll, Fault, Mode, Peer, QueueHead, Rx,
    ShortMessage, Sink, Source, Tag, Token, fast_path,
};

const ENVELOPE: Envelope = Envelope { context: 3, tag: 9 };

/// A receiving half whose poll of one peer hands over frames of all peers, as a transport may do with the
/// last frames of a lost peer.
struct AllPeersRx<'a>(&'a mut FabricRx);

impl Rx<FabricTx> for AllPeersRx<'_> {
    fn poll<S: Sink<FabricTx>>(&mut self, tx: &mut FabricTx, budget: u32, sink: &mut S) -> u32 {
        self.0.poll(tx, budget, sink)
    }

    fn poll_from<S: Sink<FabricTx>>(&mut self, tx: &mut FabricTx, _: Peer, sink: &mut S) -> u32 {
        self.0.poll(tx, 8, sink)
    }
}

#[test]
fn another_ranks_message_with_the_same_envelope_is_not_taken() {
    let mut job = Job::new(3, FabricConfig::default(), EngineConfig::default());
    let (near, other) = (Buffer::zeroed(8), Buffer::zeroed(8));
    job.send(2, 0, ENVELOPE, Mode::Standard, Buffer::pattern(8, 2));
    let recv_fast = |job: &mut Job| {
        let Rank { tx, rx, engine } = &mut job.ranks[0];
        let (rx, source) = (&mut AllPeersRx(rx), Source::Peer(Peer(1)));
        match engine.recv_fast(rx, tx, source, 3, Tag::Exact(9), &near) {
            FastPoll::Received(status) => Some(status),
            FastPoll::Nothing | FastPoll::Closed => None,
        }
    };
    for _ in 0..100 {
        assert_eq!(
            recv_fast(&mut job),
            None,
            "rank 2's message is not rank 1's"
        );
    }
    job.send(1, 0, ENVELOPE, Mode::Standard, Buffer::pattern(8, 1));
    let mut received = None;
    for _ in 0..100 {
        received = received.or_else(|| recv_fast(&mut job));
    }
    assert_eq!(received.map(|status| status.source), Some(Peer(1)));
    assert_eq!(near.to_vec(), pattern(8, 1));

    let kept = job.recv(0, Source::Peer(Peer(2)), 3, Tag::Exact(9), &other);
    assert_eq!(job.wait(0, kept).map(|status| status.len), Ok(8));
    assert_eq!(other.to_vec(), pattern(8, 2));
}

/// A receiving half at whose head there is always the wanted message.
struct WantedRx;

const TAKEN: ShortMessage = ShortMessage {
    from: Peer(1),
    tag: ENVELOPE.tag,
    len: 8,
    poll: false,
};

impl<T> Rx<T> for WantedRx {
    fn poll<S: Sink<T>>(&mut self, _: &mut T, _: u32, _: &mut S) -> u32 {
        unreachable!("its head is taken before it is polled")
    }

    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, _: Peer, sink: &mut S) -> u32 {
        self.poll(tx, 1, sink)
    }

    fn take_head<C: Bytes>(
        &mut self,
        _: &mut T,
        _: Option<Peer>,
        _: EnvelopeFilter,
        _: &C,
    ) -> QueueHead {
        QueueHead::Taken(TAKEN)
    }

    fn take_short<C: Bytes>(
        &mut self,
        _: &mut T,
        _: Peer,
        _: EnvelopeFilter,
        _: &C,
    ) -> Option<ShortMessage> {
        Some(TAKEN)
    }
}

/// Whether rank 0 takes the next message of rank 1, and the next of any rank, on the fast path.
fn takes(job: &mut Job) -> (bool, bool) {
    let Rank { tx, engine, .. } = &mut job.ranks[0];
    let (rx, room, filter) = (
        &mut WantedRx,
        Buffer::zeroed(8),
        EnvelopeFilter::exact(ENVELOPE),
    );
    let inline = engine.take_fast(rx, tx, Peer(1), filter, &room).is_some();
    let [named, any] = [Source::Peer(Peer(1)), Source::Any].map(|source| {
        let polled = engine.recv_fast(rx, tx, source, 3, Tag::Exact(9), &room);
        assert_eq!(polled != FastPoll::Closed, engine.is_fast_path_open(source));
        matches!(polled, FastPoll::Received(_))
    });
    assert_eq!(inline, named, "both look at a head by the same rule");
    (named, any)
}

#[test]
fn no_head_is_taken_before_an_earlier_message() {
    let mut job = Job::new(3, FabricConfig::default(), EngineConfig::default());
    assert_eq!(takes(&mut job), (true, true));
    for (from, expected) in [(1, (false, false)), (2, (true, false))] {
        let room = Buffer::zeroed(8);
        for claimed in [false, true] {
            job.send(from, 0, ENVELOPE, Mode::Standard, Buffer::pattern(8, 1));
            job.settle();
            assert_eq!(takes(&mut job), expected, "a message of rank {from} waits");
            let source = Source::Peer(Peer(from as u32));
            let request = if claimed {
                let engine = &mut job.ranks[0].engine;
                let (message, _) = engine.matched_probe(source, 3, Tag::Any).unwrap().unwrap();
                assert_eq!(takes(&mut job), (true, true), "no receive matches it now");
                let Rank { tx, engine, .. } = &mut job.ranks[0];
                engine.matched_recv(tx, message, room.clone()).unwrap()
            } else {
                job.recv(0, source, 3, Tag::Exact(9), &room)
            };
            assert!(job.wait(0, request).is_ok());
            assert_eq!(takes(&mut job), (true, true));
        }
    }
}

#[test]
fn no_head_is_taken_before_an_earlier_receive() {
    let mut job = Job::new(3, FabricConfig::default(), EngineConfig::default());
    let peer = |peer| Source::Peer(Peer(peer));
    let cases = [
        (peer(1), (false, false)),
        (peer(2), (true, false)),
        (Source::Any, (false, false)),
    ];
    for (source, expected) in cases {
        for tag in [Tag::Exact(9), Tag::Any] {
            let room = Buffer::zeroed(8);
            let [first, second] = [(); 2].map(|()| job.recv(0, source, 3, tag, &room));
            job.send(1, 0, ENVELOPE, Mode::Standard, Buffer::pattern(8, 1));
            job.send(2, 0, ENVELOPE, Mode::Standard, Buffer::pattern(8, 1));
            assert_eq!(takes(&mut job), expected, "{source:?} {tag:?}");
            assert!(job.wait(0, first).is_ok());
            job.cancel(0, second);
            assert!(job.wait(0, second).is_ok());
            job.settle();
            while let Some(Ok((message, _))) =
                (job.ranks[0].engine).matched_probe(Source::Any, 3, Tag::Any)
            {
                let Rank { tx, engine, .. } = &mut job.ranks[0];
                let request = engine.matched_recv(tx, message, room.clone()).unwrap();
                assert!(job.wait(0, request).is_ok());
            }
            assert_eq!(takes(&mut job), (true, true));
        }
    }
}

#[test]
fn no_head_of_a_lost_peer_is_taken() {
    for (dead, expected) in [(1, (false, false)), (2, (true, false))] {
        let mut job = Job::new(3, FabricConfig::default(), EngineConfig::default());
        job.fabric.kill(Peer(dead));
        job.settle();
        assert_eq!(takes(&mut job), expected, "rank {dead} is lost");
        job.ranks[0].engine.acknowledge(Peer(dead));
        assert_eq!(
            takes(&mut job),
            (expected.0, true),
            "rank {dead} is acknowledged"
        );
    }
}

#[test]
fn any_tag_takes_every_tag_of_its_context_only() {
    let filter = EnvelopeFilter::any_tag(3);
    for tag in [0, 9, u32::MAX] {
        for (context, taken) in [(3, true), (0, false), (4, false), (3 | 1 << 31, false)] {
            let envelope = Envelope { context, tag };
            assert_eq!(filter.matches(envelope.packed()), taken, "{envelope:?}");
        }
    }
}

/// A receiving half that finds everything but messages.
struct EventsRx;

impl Rx<()> for EventsRx {
    fn poll<S: Sink<()>>(&mut self, tx: &mut (), _: u32, sink: &mut S) -> u32 {
        sink.done(tx, Token(7), Ok(()));
        sink.room(tx, Peer(1));
        sink.lost(tx, Peer(2), Fault::Silent);
        3
    }

    fn poll_from<S: Sink<()>>(&mut self, tx: &mut (), _: Peer, sink: &mut S) -> u32 {
        self.poll(tx, 3, sink)
    }
}

#[test]
fn what_is_no_message_is_passed_on() {
    for from in [None, Some(Peer(1))] {
        let mut log = EventLog::default();
        let wanted = EnvelopeFilter::exact(ENVELOPE);
        let room = Buffer::zeroed(8);
        let taken = fast_path::poll_short(&mut EventsRx, &mut (), from, wanted, &room, &mut log);
        assert_eq!(taken, None);
        assert_eq!(log.done, [(Token(7), Ok(()))]);
        assert_eq!(log.room, [Peer(1)]);
        assert_eq!(log.lost, [(Peer(2), Fault::Silent)]);
    }
}
