//! Random lists of operations against the oracle: nothing lost, nothing overtaken, everything ends.

use oxmpi_testkit::fabric::Weather;
use oxmpi_testkit::oracle::Want;
use oxmpi_testkit::rng::Rng;
use oxmpi_testkit::scenario::{Op, run};
use oxmpi_wire::{Envelope, Mode, Peer, Rules, Source, Tag};
use proptest::prelude::*;

const RULES: Rules = Rules {
    eager: 512,
    kept_bytes: 4000,
    kept_bytes_of_all: 6000,
    kept_messages: 12,
};

fn envelope() -> impl Strategy<Value = Envelope> {
    (0..2u32, 0..3u32).prop_map(|(context, tag)| Envelope { context, tag })
}

fn want() -> impl Strategy<Value = Want> {
    let source = prop_oneof![
        Just(Source::Any),
        (0..3u32).prop_map(|peer| Source::Peer(Peer(peer)))
    ];
    let tag = prop_oneof![Just(Tag::Any), (0..3u32).prop_map(Tag::Exact)];
    (source, 0..2u32, tag).prop_map(|(source, context, tag)| Want {
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
        2 => (0..3u32, 0..3u32, envelope())
            .prop_map(|(from, to, envelope)| Op::Short { from, to, envelope }),
        6 => (0..3u32, want(), len()).prop_map(|(at, want, room)| Op::Recv { at, want, room }),
        3 => (0..3u32, 0..3u32, envelope())
            .prop_map(|(at, source, envelope)| Op::Direct { at, source, envelope }),
        1 => (0..3u32, want()).prop_map(|(at, want)| Op::Probe { at, want }),
        1 => (0..3u32, want()).prop_map(|(at, want)| Op::Claim { at, want }),
        2 => any::<u16>().prop_map(Op::CancelSend),
        1 => any::<u16>().prop_map(Op::CancelRecv),
        6 => (0..6u8).prop_map(Op::Step),
    ]
}

fn weather() -> impl Strategy<Value = Weather> {
    (any::<u64>(), 0..60u8, 0..60u8, 1..8usize).prop_map(|(seed, refuse, delay, capacity)| {
        Weather {
            seed,
            refuse,
            delay,
            capacity,
            ..Weather::default()
        }
    })
}

proptest! {
    #[test]
    fn matching_is_the_standards(weather in weather(), ops in prop::collection::vec(op(), 0..120)) {
        run(weather, RULES, ops);
    }

    #[test]
    fn death_ends_what_it_concerns(
        weather in weather(),
        before in prop::collection::vec(op(), 0..60),
        dead in 0..3u32,
        after in prop::collection::vec(op(), 0..60),
    ) {
        run(weather, RULES, before.into_iter().chain([Op::Kill(dead)]).chain(after));
    }
}

/// Many operations in a row on one job: what leaks or wraps around shows here.
#[test]
fn a_long_run_matches_the_oracle() {
    let mut rng = Rng::new(42);
    for seed in 0..20 {
        let ops: Vec<_> = (0..1000).map(|_| Op::random(&mut rng)).collect();
        run(Weather::storm(seed), RULES, ops);
    }
}
