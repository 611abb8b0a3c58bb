//! Benchmark of matching while many receives are posted or many messages wait: `cargo bench -p oxmpi-wire
//! --bench matching`. Ten thousand must cost at most twice one. `src/engine/matching_cost.rs` counts the
//! steps.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use oxmpi_testkit::fabric::{FabricConfig, FabricTx, fabric};
use oxmpi_testkit::memory::Buffer;
use oxmpi_wire::{Engine, EngineConfig, Envelope, Flags, Header, Kind, Peer, Sink, Source, Tag};

const WAITING: [u32; 3] = [1, 100, 10_000];
const CONTEXT: u32 = 2;

/// An engine, and messages that arrive without a transport's cost.
struct Rank {
    engine: Engine<FabricTx>,
    tx: FabricTx,
    room: Buffer,
}

impl Rank {
    fn new() -> Self {
        let (_, mut ends) = fabric(1, FabricConfig::default());
        let (mut tx, _) = ends.pop().expect("one end");
        Self {
            engine: Engine::new(&mut tx, 1, EngineConfig::default()),
            tx,
            room: Buffer::zeroed(8),
        }
    }

    fn arrive(&mut self, tag: u32) {
        let (kind, flags, context) = (Kind::Eager, Flags::empty(), CONTEXT);
        let head = Header::new(kind, flags, 8, Envelope { context, tag });
        let mut body: &[u8] = &[7; 8];
        self.engine.frame(&mut self.tx, Peer(0), &head, &mut body);
    }

    fn recv(&mut self, source: Source, tag: Tag) -> oxmpi_wire::Request {
        let room = self.room.clone();
        self.engine.recv(&mut self.tx, source, CONTEXT, tag, room)
    }
}

/// A message arrives for each of `waiting` posted receives in turn, which is then posted again.
fn posted(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("posted");
    for any_source in [false, true] {
        for waiting in WAITING {
            let source = |tag: u32| match any_source && tag % 2 == 1 {
                true => Source::Any,
                false => Source::Peer(Peer(0)),
            };
            let mut rank = Rank::new();
            let mut requests: Vec<_> = (0..waiting)
                .map(|tag| rank.recv(source(tag), Tag::Exact(tag)))
                .collect();
            let mut round = 0;
            let name = if any_source { "half from any" } else { "exact" };
            group.bench_function(BenchmarkId::new(name, waiting), |bencher| {
                bencher.iter(|| {
                    rank.arrive(round);
                    let got = rank.engine.test(requests[round as usize]);
                    assert!(got.is_some_and(|got| got.is_ok()));
                    requests[round as usize] = rank.recv(source(round), Tag::Exact(round));
                    round = (round + 1) % waiting;
                });
            });
        }
    }
    group.finish();
}

/// Each of `waiting` unexpected messages is received in turn, and arrives again.
fn unexpected(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("unexpected");
    for any_source in [false, true] {
        for waiting in WAITING {
            let source = match any_source {
                true => Source::Any,
                false => Source::Peer(Peer(0)),
            };
            let mut rank = Rank::new();
            (0..waiting).for_each(|tag| rank.arrive(tag));
            let mut round = 0;
            let name = if any_source { "from any" } else { "exact" };
            group.bench_function(BenchmarkId::new(name, waiting), |bencher| {
                bencher.iter(|| {
                    let got = rank.recv(source, Tag::Exact(round));
                    let got = rank.engine.test(got);
                    assert!(got.is_some_and(|got| got.is_ok()));
                    rank.arrive(round);
                    round = (round + 1) % waiting;
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, posted, unexpected);
criterion_main!(benches);
