//! Tests that the fast path takes messages of its own source only.

use oxmpi_testkit::fabric::{FabricConfig, FabricRx, FabricTx};
use oxmpi_testkit::job::{Job, Rank};
use oxmpi_testkit::memory::{Buffer, pattern};
use oxmpi_wire::{EngineConfig, Envelope, Mode, Peer, Rx, Sink, Source, Tag};

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
