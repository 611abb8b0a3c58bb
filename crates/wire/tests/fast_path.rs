//! The direct road takes its own source's messages only, whatever else a look brings along.

use oxmpi_testkit::fabric::{FabricConfig, FabricRx, FabricTx};
use oxmpi_testkit::job::Job;
use oxmpi_testkit::memory::{SharedBytes, pattern};
use oxmpi_wire::{EngineConfig, Envelope, Mode, Peer, Rx, Sink, Source, Tag};

const ENVELOPE: Envelope = Envelope { context: 3, tag: 9 };

/// A receiving half that hands over what everybody has sent when it is asked for one peer's, as a
/// transport does that takes in the last messages of a peer that is gone.
struct Everybody<'a>(&'a mut FabricRx);

impl Rx<FabricTx> for Everybody<'_> {
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
    let (near, other) = (SharedBytes::zeroed(8), SharedBytes::zeroed(8));
    job.send(2, 0, ENVELOPE, Mode::Standard, SharedBytes::pattern(8, 2));
    let direct = |job: &mut Job| {
        let rank = &mut job.ranks[0];
        let rx = &mut Everybody(&mut rank.rx);
        rank.engine.recv_fast(
            rx,
            &mut rank.tx,
            Source::Peer(Peer(1)),
            3,
            Tag::Exact(9),
            &near,
        )
    };
    for _ in 0..100 {
        assert_eq!(direct(&mut job), None, "rank 2's message is not rank 1's");
    }
    job.send(1, 0, ENVELOPE, Mode::Standard, SharedBytes::pattern(8, 1));
    let mut received = None;
    for _ in 0..100 {
        received = received.or_else(|| direct(&mut job));
    }
    assert_eq!(received.map(|status| status.source), Some(Peer(1)));
    assert_eq!(near.to_vec(), pattern(8, 1));

    let kept = job.recv(0, Source::Peer(Peer(2)), 3, Tag::Exact(9), &other);
    assert_eq!(job.wait(0, kept).map(|status| status.len), Ok(8));
    assert_eq!(other.to_vec(), pattern(8, 2));
}
