use std::vec;
use std::vec::Vec;

use oxmpi_os::RawBytes;
use proptest::prelude::*;

use super::super::group::NodeGroup;
use super::super::operands::Operands;
use super::super::polling::{Polling, each_rank};
use super::super::record;
use super::*;

const KIB: u64 = 1 << 10;

fn group(ranks: u32) -> GroupFacts {
    GroupFacts {
        cma: true,
        ..GroupFacts::of_node(ranks)
    }
}

fn named(kind: CallKind, group: GroupFacts, len: u64) -> &'static str {
    let choice = kind.choose(&group, &CallFacts::of(len));
    match choice.rival {
        None => choice.protocol.name(),
        Some(_) => "trials",
    }
}

#[test]
fn lengths_and_groups_have_these_protocols() {
    for (kind, ranks, expected) in [
        (
            CallKind::Bcast,
            2,
            ["slots", "ping_pong", "ping_pong", "trials", "trials"],
        ),
        (
            CallKind::Bcast,
            4,
            ["slots", "bounce", "bounce", "bounce", "bounce"],
        ),
        (
            CallKind::Scatter,
            4,
            ["slots", "ping_pong", "ping_pong", "trials", "trials"],
        ),
        (
            CallKind::Scatter,
            9,
            ["ping_pong", "ping_pong", "ping_pong", "trials", "trials"],
        ),
        (
            CallKind::Gather,
            4,
            ["slots", "ping_pong", "ping_pong", "trials", "trials"],
        ),
        (
            CallKind::Gather,
            64,
            ["slots", "bounce", "bounce", "trials", "trials"],
        ),
        (
            CallKind::Allgather,
            4,
            ["slots", "bounce", "bounce", "trials", "trials"],
        ),
        (
            CallKind::Alltoall,
            4,
            ["slots", "ping_pong", "ping_pong", "trials", "trials"],
        ),
        (
            CallKind::Reduce,
            2,
            ["slots", "ping_pong", "ping_pong", "ping_pong", "messages"],
        ),
        (
            CallKind::Reduce,
            4,
            ["slots", "ping_pong", "shares", "shares", "shares"],
        ),
        (
            CallKind::Allreduce,
            2,
            ["slots", "ping_pong", "ping_pong", "ping_pong", "messages"],
        ),
        (
            CallKind::Allreduce,
            4,
            ["slots", "bounce", "shares", "shares", "shares"],
        ),
        (
            CallKind::Allreduce,
            5,
            [
                "slots",
                "bounce",
                "shares_bounce",
                "shares_bounce",
                "shares_bounce",
            ],
        ),
        (
            CallKind::ReduceScatter,
            2,
            ["slots", "ping_pong", "ping_pong", "ping_pong", "messages"],
        ),
        (
            CallKind::ReduceScatter,
            4,
            ["slots", "ping_pong", "ping_pong", "trials", "trials"],
        ),
    ] {
        let lengths = [8, KIB, 8 * KIB, 64 * KIB, 256 * KIB];
        let found = lengths.map(|len| named(kind, group(ranks), len));
        assert_eq!(found, expected, "{} of {ranks} ranks", kind.name());
    }
}

#[test]
fn what_a_row_needs_is_asked_for() {
    let refused = GroupFacts::of_node(4);
    assert_eq!(named(CallKind::Scatter, refused, 64 * KIB), "ping_pong");
    let in_place = CallFacts {
        in_place: true,
        ..CallFacts::of(64 * KIB)
    };
    for kind in [CallKind::Alltoall, CallKind::ReduceScatter] {
        let choice = kind.choose(&group(4), &in_place);
        assert_eq!(
            (choice.protocol, choice.rival),
            (NodeProtocol::PingPong, None)
        );
    }
    let allreduce = |processors, commutes| {
        let group = GroupFacts {
            processors,
            ..group(4)
        };
        let call = CallFacts {
            commutes,
            ..CallFacts::of(128 * KIB)
        };
        CallKind::Allreduce.choose(&group, &call).protocol
    };
    for (processors, commutes, is_hierarchical) in [
        (SharedProcessors::Uneven, true, false),
        (SharedProcessors::Even, true, true),
        (SharedProcessors::Even, false, false),
        (SharedProcessors::EvenInOrder, false, true),
    ] {
        let protocol = allreduce(processors, commutes);
        assert_eq!(protocol == NodeProtocol::Hierarchical, is_hierarchical);
    }
}

#[test]
fn a_preferred_protocol_takes_what_it_may_serve() {
    let named = |kind, preference, len| {
        let group = GroupFacts {
            preference: Some(preference),
            processors: SharedProcessors::EvenInOrder,
            ..group(4)
        };
        named(kind, group, len)
    };
    for (kind, preference, expected) in [
        (CallKind::Scatter, ProtocolPreference::Buffers, "ping_pong"),
        (CallKind::Scatter, ProtocolPreference::Cma, "cma"),
        (CallKind::Scatter, ProtocolPreference::Shares, "trials"),
        (CallKind::Bcast, ProtocolPreference::Cma, "bounce"),
        (CallKind::Allreduce, ProtocolPreference::Buffers, "bounce"),
        (CallKind::Allreduce, ProtocolPreference::Shares, "shares"),
        (CallKind::Allreduce, ProtocolPreference::Cma, "hierarchical"),
    ] {
        assert_eq!(named(kind, preference, 256 * KIB), expected);
    }
    let allreduce = |len| named(CallKind::Allreduce, ProtocolPreference::Hierarchical, len);
    assert_eq!(allreduce(127 * KIB), "shares");
}

fn preferences() -> impl Strategy<Value = Option<ProtocolPreference>> {
    prop::option::of(prop::sample::select(&ProtocolPreference::ALL[..]))
}

/// Random facts and calls of groups on nodes of up to 64 ranks.
fn calls() -> impl Strategy<Value = (CallKind, GroupFacts, CallFacts)> {
    let processors = [
        SharedProcessors::Uneven,
        SharedProcessors::Even,
        SharedProcessors::EvenInOrder,
    ];
    let kind = prop::sample::select(&CallKind::ALL[..8]);
    let facts = (
        2u32..=64,
        0u32..64,
        any::<bool>(),
        prop::sample::select(processors.to_vec()),
        preferences(),
    );
    let facts = facts.prop_map(|(ranks, others, cma, processors, preference)| GroupFacts {
        ranks,
        on_node: (ranks + others).min(64),
        cma,
        processors,
        preference,
    });
    let call = (0u32..25, any::<u64>(), any::<bool>(), any::<bool>());
    let call = call.prop_map(|(bits, len, in_place, commutes)| CallFacts {
        len: len & ((1 << bits) - 1),
        in_place,
        commutes,
    });
    (kind, facts, call)
}

proptest! {
    #[test]
    fn every_call_is_served_and_short_ones_through_buffers((kind, group, call) in calls()) {
        let choice = kind.choose(&group, &call);
        let is_plain = |protocol| {
            matches!(protocol, NodeProtocol::Slots | NodeProtocol::Bounce | NodeProtocol::PingPong)
        };
        prop_assert!(call.len >= kind.long_from() || is_plain(choice.protocol));
        // What is tried is CMA, against buffers.
        let is_wanted = group.preference == Some(ProtocolPreference::Cma);
        let is_tried = choice.protocol == NodeProtocol::Cma && !is_wanted;
        prop_assert_eq!(choice.rival.is_some(), is_tried);
        prop_assert!(choice.rival.is_none_or(is_plain));
    }
}

/// Makes the call as rank `me` with vectors of zeros; `root` is its root.
fn make(
    (group, driver): (&mut NodeGroup, &mut Polling<'_>),
    kind: CallKind,
    root: usize,
    call: CallFacts,
) {
    let len = call.len as usize;
    let mut memory = [0, 1].map(|_| vec![0u8; len * group.size()]);
    let [output, input] = memory.each_mut().map(|bytes| {
        // SAFETY: initialised memory, which lives longer than the call and is reached by it alone.
        unsafe { RawBytes::new(bytes.as_mut_ptr(), bytes.len()) }
    });
    let input = if call.in_place { output } else { input };
    let operands = Operands {
        input: &input,
        output: &output,
        len: call.len,
        element: 8,
        commutes: call.commutes,
    };
    let block = (&input, call.len);
    let done = |_: &mut Polling<'_>| Ok(());
    match kind {
        CallKind::Bcast => group.bcast(driver, root, (&output, call.len)),
        CallKind::Scatter => group.scatter(driver, root, block, &output, done),
        CallKind::Gather => group.gather(driver, root, block, &output, done),
        CallKind::Allgather => {
            let from = group.me as u64 * call.len;
            group.allgather(driver, (&input, from, call.len), &output, done)
        }
        CallKind::Alltoall => {
            group.alltoall(driver, (&input, call.len, call.in_place), &output, done)
        }
        CallKind::Reduce => group.reduce(driver, root, operands),
        CallKind::Allreduce => group.allreduce(driver, operands),
        CallKind::ReduceScatter => group.reduce_scatter(driver, operands),
        CallKind::Barrier => group.barrier(driver),
    }
    .expect("all ranks make the call");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The protocol of each call of a group is the one that the catalog names, or one of the two to be tried, on all ranks.
    #[test]
    fn a_call_goes_by_the_protocol_that_the_catalog_names(
        ranks in prop::sample::select(&[2u32, 3, 4, 5, 6][..]),
        on_node in prop::sample::select(&[2u32, 7, 24][..]),
        per_processor in 1u32..4,
        is_cyclic in any::<bool>(),
        may_use_cma in any::<bool>(),
        preference in preferences(),
        made in prop::collection::vec(calls(), 1..30),
    ) {
        let processors: Vec<u32> = (0..ranks)
            .map(|rank| if is_cyclic { rank % per_processor } else { rank / per_processor })
            .collect();
        let of_ranks = each_rank((ranks, on_node.max(ranks)), |_, mut group, mut driver| {
            group.set_processors(&processors);
            group.prefer(preference);
            if may_use_cma {
                // Sandboxes may forbid it, then to all; other ranks' memory is mapped once they have come.
                make((&mut group, &mut driver), CallKind::Barrier, 0, CallFacts::of(0));
                let _allowed = group.enable_cma();
            }
            record::take();
            let protocols = made.iter().map(|&(kind, of_root, call)| {
                // Whole elements, of at most 1 MiB.
                let call = CallFacts { len: call.len % (1 << 20) / 8 * 8, ..call };
                make((&mut group, &mut driver), kind, of_root.ranks as usize % ranks as usize, call);
                (kind.choose(&group.facts(), &call), record::take(), (kind, call))
            });
            protocols.collect::<Vec<_>>()
        });
        for (rank, calls) in of_ranks.iter().enumerate() {
            for (at, (choice, ran, call)) in calls.iter().enumerate() {
                prop_assert_eq!(ran, &of_ranks[0][at].1, "{:?}", call);
                let named = match choice.protocol {
                    // A group that is asked nevertheless has ping-pong buffers.
                    NodeProtocol::Messages => NodeProtocol::PingPong,
                    named => named,
                };
                let rival = choice.rival.map(NodeProtocol::name);
                let is_named = |one: &&str| *one == named.name() || Some(*one) == rival;
                prop_assert!(ran.len() == 1 && is_named(&ran[0]), "{:?} by {:?}, rank {}", call, ran, rank);
            }
        }
    }
}

/// Calls that are tried go by buffers first, then by CMA.
#[test]
fn trials_run_both_protocols() {
    for (kind, ranks) in [
        (CallKind::Bcast, 2),
        (CallKind::Scatter, 3),
        (CallKind::Gather, 3),
        (CallKind::Allgather, 2),
        (CallKind::Alltoall, 3),
        (CallKind::ReduceScatter, 3),
    ] {
        let call = CallFacts::of(128 * KIB);
        let until_both = TRIALS.first_touch / call.len
            + 2 * u64::from(TrialRun::of(ranks as usize, call.len).calls());
        let all = each_rank((ranks, ranks), |_, mut group, mut driver| {
            make(
                (&mut group, &mut driver),
                CallKind::Barrier,
                0,
                CallFacts::of(0),
            );
            let may_use_cma = group.enable_cma();
            record::take();
            for _ in 0..until_both {
                make((&mut group, &mut driver), kind, 0, call);
            }
            (
                kind.choose(&group.facts(), &call),
                record::take(),
                may_use_cma,
            )
        });
        for (choice, ran, may_use_cma) in all {
            let both = [choice.rival, Some(choice.protocol)];
            let expected: Vec<_> = both.into_iter().flatten().map(NodeProtocol::name).collect();
            assert_eq!(ran, expected, "{}", kind.name());
            assert_eq!(expected.len() == 2, may_use_cma);
        }
    }
}
