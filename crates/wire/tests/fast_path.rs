//! Tests that the fast path takes messages of its own source and context only, and passes all else on.

use oxmpi_testkit::conformance::EventLog;
use oxmpi_testkit::fabric::{FabricConfig, FabricRx, FabricTx};
use oxmpi_testkit::job::{Job, Rank};
use oxmpi_testkit::memory::{Buffer, pattern};
use oxmpi_wire::{
    EngineConfig, Envelope, EnvelopeFilter, Fault, Mode, Peer, Rx, Sink, Source, Tag, Token,
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
        engine.recv_fast(rx, tx, source, 3, Tag::Exact(9), &near)
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
        let taken = EventsRx.poll_short(&mut (), from, wanted, &Buffer::zeroed(8), &mut log);
        assert_eq!(taken, None);
        assert_eq!(log.done, [(Token(7), Ok(()))]);
        assert_eq!(log.room, [Peer(1)]);
        assert_eq!(log.lost, [(Peer(2), Fault::Silent)]);
    }
}
