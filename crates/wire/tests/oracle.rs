//! Random operations compared with the oracle: no message is lost or overtaken, and all operations end.

use oxmpi_testkit::fabric::FabricConfig;
use oxmpi_testkit::oracle::ReceivePattern;
use oxmpi_testkit::rng::Rng;
use oxmpi_testkit::scenario::{Op, run};
use oxmpi_wire::{EngineConfig, Envelope, Mode, PathOverrides, Peer, Source, Tag};
use proptest::prelude::*;

/// A configuration with path R0 up to `get` bytes, and R1 beyond.
const fn engine_config(get: u64) -> EngineConfig {
    EngineConfig {
        overrides: PathOverrides {
            get: Some(get),
            chunk: Some(300),
            ..PathOverrides::eager(512)
        },
        unexpected_bytes: 4000,
        unexpected_bytes_total: 6000,
        unexpected_messages: 12,
    }
}

/// Limits of R0: R0 only, R1 only, and either by size.
const GETS: [u64; 3] = [u64::MAX, 0, 1500];

fn envelope() -> impl Strategy<Value = Envelope> {
    (0..2u32, 0..3u32).prop_map(|(context, tag)| Envelope { context, tag })
}

fn want() -> impl Strategy<Value = ReceivePattern> {
    let source = prop_oneof![
        Just(Source::Any),
        (0..3u32).prop_map(|peer| Source::Peer(Peer(peer)))
    ];
    let tag = prop_oneof![Just(Tag::Any), (0..3u32).prop_map(Tag::Exact)];
    (source, 0..2u32, tag).prop_map(|(source, context, tag)| ReceivePattern {
        source,
        context,
        tag,
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![
        Just(Mode::Standard),
        Just(Mode::Synchronous),
        Just(Mode::Ready)
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let len = || prop_oneof![8..60u16, 490..530u16, 600..3000u16];
    prop_oneof![
        6 => (0..3u32, 0..3u32, envelope(), mode(), len()).prop_map(
            |(from, to, envelope, mode, len)| Op::Send { from, to, envelope, mode, len }
        ),
        2 => (0..3u32, 0..3u32, envelope(), len())
            .prop_map(|(from, to, envelope, len)| Op::Eager { from, to, envelope, len }),
        6 => (0..3u32, want(), len()).prop_map(|(at, want, room)| Op::Recv { at, want, room }),
        3 => (0..3u32, 0..3u32, envelope())
            .prop_map(|(at, source, envelope)| Op::FastRecv { at, source, envelope }),
        1 => (0..3u32, want()).prop_map(|(at, want)| Op::Probe { at, want }),
        1 => (0..3u32, want()).prop_map(|(at, want)| Op::MatchedProbe { at, want }),
        2 => any::<u16>().prop_map(Op::CancelSend),
        1 => any::<u16>().prop_map(Op::CancelRecv),
        6 => (0..6u8).prop_map(Op::Step),
    ]
}

fn fabric_config() -> impl Strategy<Value = FabricConfig> {
    (any::<u64>(), 0..60u8, 0..60u8, 1..8usize).prop_map(|(seed, refuse, delay, capacity)| {
        FabricConfig {
            seed,
            refuse,
            delay,
            capacity,
            ..FabricConfig::default()
        }
    })
}

/// Random operations of the long run; `cargo xtask long` runs ten million.
fn operations() -> usize {
    let count = std::env::var("OXMPI_TEST_OPERATIONS").ok();
    count.map_or(100_000, |count| {
        count.parse().expect("a number of operations")
    })
}

proptest! {
    #[test]
    fn matching_is_the_standards(
        ranks in 2..4u32,
        fabric_config in fabric_config(),
        get in prop::sample::select(&GETS),
        ops in prop::collection::vec(op(), 0..120),
    ) {
        run(ranks, fabric_config, engine_config(get), ops);
    }

    #[test]
    fn death_ends_what_it_concerns(
        ranks in 2..4u32,
        fabric_config in fabric_config(),
        get in prop::sample::select(&GETS),
        before in prop::collection::vec(op(), 0..60),
        dead in 0..3u32,
        after in prop::collection::vec(op(), 0..60),
    ) {
        run(ranks, fabric_config, engine_config(get), before.into_iter().chain([Op::Kill(dead)]).chain(after));
    }
}

/// Half of the operations, on jobs of 1,000 operations each with random fabric configurations.
#[test]
fn many_jobs_match_the_oracle() {
    let mut rng = Rng::new(42);
    for seed in 0..operations() as u64 / 2000 {
        let fabric_config = FabricConfig {
            refuse: rng.below(60) as u8,
            delay: rng.below(60) as u8,
            capacity: 1 + rng.below(8) as usize,
            ..FabricConfig::adverse(seed)
        };
        let ops: Vec<_> = (0..1000).map(|_| Op::random(&mut rng)).collect();
        let get = GETS[seed as usize % GETS.len()];
        run(2 + seed as u32 % 2, fabric_config, engine_config(get), ops);
    }
}

/// The other half, on one job of two ranks and one of three: finds leaks and numbers that wrap around.
#[test]
fn a_long_run_matches_the_oracle() {
    for ranks in [2, 3] {
        let mut rng = Rng::new(u64::from(ranks));
        let ops = (0..operations() / 4).map(|_| Op::random(&mut rng));
        run(ranks, FabricConfig::adverse(7), engine_config(1500), ops);
    }
}
