//! Random lists of operations against the oracle: nothing lost, nothing overtaken, everything ends.

use oxmpi_testkit::fabric::FabricConfig;
use oxmpi_testkit::oracle::ReceivePattern;
use oxmpi_testkit::rng::Rng;
use oxmpi_testkit::scenario::{Op, run};
use oxmpi_wire::{EngineConfig, Envelope, Mode, PathOverrides, Peer, Source, Tag};
use proptest::prelude::*;

/// Long messages are got up to `get` bytes, and put in chunks beyond.
const fn rules(get: u64) -> EngineConfig {
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

/// Only got, only put, or either by size.
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

fn weather() -> impl Strategy<Value = FabricConfig> {
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
        weather in weather(),
        get in prop::sample::select(&GETS),
        ops in prop::collection::vec(op(), 0..120),
    ) {
        run(ranks, weather, rules(get), ops);
    }

    #[test]
    fn death_ends_what_it_concerns(
        ranks in 2..4u32,
        weather in weather(),
        get in prop::sample::select(&GETS),
        before in prop::collection::vec(op(), 0..60),
        dead in 0..3u32,
        after in prop::collection::vec(op(), 0..60),
    ) {
        run(ranks, weather, rules(get), before.into_iter().chain([Op::Kill(dead)]).chain(after));
    }
}

/// Half of the operations on jobs of 1,000 each, in ever new weather.
#[test]
fn many_jobs_match_the_oracle() {
    let mut rng = Rng::new(42);
    for seed in 0..operations() as u64 / 2000 {
        let weather = FabricConfig {
            refuse: rng.below(60) as u8,
            delay: rng.below(60) as u8,
            capacity: 1 + rng.below(8) as usize,
            ..FabricConfig::adverse(seed)
        };
        let ops: Vec<_> = (0..1000).map(|_| Op::random(&mut rng)).collect();
        let get = GETS[seed as usize % GETS.len()];
        run(2 + seed as u32 % 2, weather, rules(get), ops);
    }
}

/// The other half in a row, on one job of two ranks and one of three: what leaks or wraps around
/// shows here.
#[test]
fn a_long_run_matches_the_oracle() {
    for ranks in [2, 3] {
        let mut rng = Rng::new(u64::from(ranks));
        let ops = (0..operations() / 4).map(|_| Op::random(&mut rng));
        run(ranks, FabricConfig::adverse(7), rules(1500), ops);
    }
}
