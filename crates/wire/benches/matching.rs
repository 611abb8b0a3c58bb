//! What matching costs while many receives are posted or many messages wait:
//! `cargo bench -p oxmpi-wire --bench matching`. Ten thousand must cost at most twice one. The steps
//! behind the times are counted in `src/engine/steps.rs`.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use oxmpi_testkit::fabric::{FabricConfig, FabricTx, fabric};
use oxmpi_testkit::memory::SharedBytes;
use oxmpi_wire::{Engine, EngineConfig, Envelope, Flags, Header, Kind, Peer, Sink, Source, Tag};

const CROWDS: [u32; 3] = [1, 100, 10_000];
const CONTEXT: u32 = 2;

/// An engine, and messages that arrive without a transport's cost.
struct Rank {
    engine: Engine<FabricTx>,
    tx: FabricTx,
    room: SharedBytes,
}

impl Rank {
    fn new() -> Self {
        let (_, mut ends) = fabric(1, FabricConfig::default());
        let (mut tx, _) = ends.pop().expect("one end");
        Self {
            engine: Engine::new(&mut tx, 1, EngineConfig::default()),
            tx,
            room: SharedBytes::zeroed(8),
        }
    }

    fn arrive(&mut self, tag: u32) {
        let head = Header {
            kind: Kind::Eager,
            flags: Flags::empty(),
            len: 8,
            envelope: Envelope {
                context: CONTEXT,
                tag,
            },
        };
        let mut body: &[u8] = &[7; 8];
        self.engine.frame(&mut self.tx, Peer(0), &head, &mut body);
    }

    fn recv(&mut self, source: Source, tag: Tag) -> oxmpi_wire::Request {
        let room = self.room.clone();
        self.engine.recv(&mut self.tx, source, CONTEXT, tag, room)
    }
}

/// A message comes for each of `crowd` posted receives in turn, which is posted again.
fn posted(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("posted");
    for any_source in [false, true] {
        for crowd in CROWDS {
            let source = |tag: u32| match any_source && tag % 2 == 1 {
                true => Source::Any,
                false => Source::Peer(Peer(0)),
            };
            let mut rank = Rank::new();
            let mut requests: Vec<_> = (0..crowd)
                .map(|tag| rank.recv(source(tag), Tag::Exact(tag)))
                .collect();
            let mut turn = 0;
            let name = if any_source { "half from any" } else { "exact" };
            group.bench_function(BenchmarkId::new(name, crowd), |bencher| {
                bencher.iter(|| {
                    rank.arrive(turn);
                    let got = rank.engine.test(requests[turn as usize]);
                    assert!(got.is_some_and(|got| got.is_ok()));
                    requests[turn as usize] = rank.recv(source(turn), Tag::Exact(turn));
                    turn = (turn + 1) % crowd;
                });
            });
        }
    }
    group.finish();
}

/// Each of `crowd` messages that wait is received in turn, and comes again.
fn unexpected(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("unexpected");
    for any_source in [false, true] {
        for crowd in CROWDS {
            let source = match any_source {
                true => Source::Any,
                false => Source::Peer(Peer(0)),
            };
            let mut rank = Rank::new();
            (0..crowd).for_each(|tag| rank.arrive(tag));
            let mut turn = 0;
            let name = if any_source { "from any" } else { "exact" };
            group.bench_function(BenchmarkId::new(name, crowd), |bencher| {
                bencher.iter(|| {
                    let got = rank.recv(source, Tag::Exact(turn));
                    let got = rank.engine.test(got);
                    assert!(got.is_some_and(|got| got.is_ok()));
                    rank.arrive(turn);
                    turn = (turn + 1) % crowd;
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, posted, unexpected);
criterion_main!(benches);
