//! Collectives of groups of ranks against the oracle, with every way of waiting.

use oxmpi_shm::node::collective::{MAX_GROUPS, NodeGroup, Operands};
use oxmpi_shm::wait::WaitPolicy;
use oxmpi_shm::{Node, NodeBarriers, SegmentLayout};

use super::oracle::{Call, Caller, ELEMENT, Random, combine, given, reduced, run};
use crate::common::{POLICIES, Rank, SLEEPER, source, target, threads};

/// Runs `work` as each rank of a node whose ranks are one group, with its number.
fn each_rank(
    ranks: u32,
    policy: WaitPolicy,
    work: impl Fn(usize, &mut NodeGroup, &mut Caller<'_>) + Sync,
) {
    threads(SegmentLayout::new(ranks), |me, mut rank| {
        let here = me as usize;
        let mut group = rank.barriers.group(0, 0..ranks, here).unwrap();
        work(here, &mut group, &mut Caller::new(&mut rank, policy, me));
    });
}

#[test]
fn calls_in_any_order_are_right() {
    let ranks = [2, 3, 5, 2, 4, 7].into_iter();
    for (ranks, policy) in ranks.zip(POLICIES.into_iter().cycle()) {
        each_rank(ranks, policy, |me, group, caller| {
            let mut random = Random(ranks.into());
            for _ in 0..60 {
                let call = random.call(ranks as usize);
                run(call, me, ranks as usize, group, caller);
            }
        });
    }
}

/// A pair of many ranks has few buffers, and so have few ranks of a large node.
#[test]
fn many_ranks_need_few_buffers() {
    for (on_node, ranks, processors) in [
        (12, 12, &[0, 1][..]),
        (17, 17, &[]),
        (17, 4, &[]),
        (24, 2, &[]),
    ] {
        threads(SegmentLayout::new(on_node), |me, mut rank| {
            let Some(here) = me.checked_sub(on_node - ranks) else {
                return;
            };
            let (members, size, here) = (on_node - ranks..on_node, ranks as usize, here as usize);
            let mut group = rank.barriers.group(3, members, here).unwrap();
            if let [first, second] = processors {
                // In order, for operations that do not commute.
                group.set_processors(&[[*first; 6], [*second; 6]].concat());
            }
            let mut caller = Caller::new(&mut rank, WaitPolicy::passive(10, true), me);
            let mut random = Random(ranks.into());
            for _ in 0..30 {
                let call = random.call(size);
                run(call, here, size, &mut group, &mut caller);
            }
        });
    }
}

/// Long vectors are reduced among the ranks of each processor first, whether these have consecutive numbers
/// or not; other calls come between.
#[test]
fn ranks_of_a_processor_reduce_first() {
    for processors in [
        &[0, 0, 1, 1][..],
        &[0, 1, 0, 1],
        &[2, 2, 2, 0, 0, 0],
        &[0, 1, 2, 0, 1, 2],
    ] {
        let ranks = processors.len();
        let mut order: Vec<_> = (0..ranks).collect();
        order.sort_by_key(|&rank| {
            (
                processors.iter().position(|&one| one == processors[rank]),
                rank,
            )
        });
        let policy = WaitPolicy::oversubscribed();
        each_rank(ranks as u32, policy, |me, group, caller| {
            group.set_processors(processors);
            let mut random = Random(ranks as u64);
            for _ in 0..20 {
                let call = random.call(ranks);
                let call = Call {
                    len: call.len + (64 << 10 << random.below(4)),
                    kind: 6,
                    ..call
                };
                let mut expected = given(call, order[0], 1);
                for &rank in &order[1..] {
                    combine(&mut expected, &given(call, rank, 1));
                }
                if call.len < 128 << 10 {
                    expected = reduced(call, ranks, 1);
                }
                let mut own = given(call, me, 1);
                let mut one = vec![0; call.len];
                let output = target(if call.in_place { &mut own } else { &mut one });
                let input = if call.in_place { output } else { source(&own) };
                let operands = Operands {
                    input: &input,
                    output: &output,
                    len: call.len as u64,
                    element: ELEMENT,
                    commutes: true,
                };
                group.allreduce(caller, operands).unwrap();
                let output = if call.in_place { &own } else { &one };
                assert!(*output == expected, "{call:?} on {processors:?}");
                let other = random.call(ranks);
                run(other, me, ranks, group, caller);
            }
        });
    }
}

/// Long blocks move by CMA; calls in place and all others as before.
#[test]
fn long_blocks_move_by_cma() {
    for (ranks, least) in [(2, 64 << 10), (3, 64 << 10), (4, 128 << 10)] {
        each_rank(ranks, WaitPolicy::oversubscribed(), |me, group, caller| {
            let ranks = ranks as usize;
            let mut random = Random(ranks as u64);
            run(Call::new(6, 0, 8), me, ranks, group, caller);
            // Sandboxes may forbid it, then to all.
            let _allowed = group.enable_cma();
            for _ in 0..40 {
                let call = random.call(ranks);
                let len = least | call.len;
                let kind = [0, 1, 2, 3, 4, 7, call.kind][call.kind % 7];
                let call = Call { kind, len, ..call };
                run(call, me, ranks, group, caller);
            }
            // Only many calls of a kind and length go by every protocol.
            for kind in [0, 1, 2, 3, 4, 7] {
                let call = Call::new(kind, 0, (128 << 10) + ELEMENT);
                for seed in 0..34 {
                    run(Call { seed, ..call }, me, ranks, group, caller);
                }
            }
        });
    }
}

/// Non-temporal outputs are right, wherever in a line they and their pieces begin and end.
#[test]
fn non_temporal_outputs_are_right() {
    for ranks in [2, 3, 5] {
        each_rank(ranks, WaitPolicy::oversubscribed(), |me, group, caller| {
            group.set_cache(0, 1);
            let mut random = Random(ranks.into());
            for number in 0..12 {
                let call = random.call(ranks as usize);
                let call = Call {
                    kind: [2, 3, 4][number % 3],
                    len: call.len + (512 << 10),
                    ..call
                };
                run(call, me, ranks as usize, group, caller);
            }
        });
    }
}

/// Without other calls between, ranks run ahead of each other as far as there is room.
#[test]
fn repeated_calls_keep_their_order() {
    each_rank(3, SLEEPER, |me, group, caller| {
        for kind in 0..8 {
            let call = Call::new(kind, 1, 8);
            for seed in 0..100 {
                run(Call { seed, ..call }, me, 3, group, caller);
            }
        }
    });
}

/// Groups without a common rank use one group index, and ranks are numbered within the group.
#[test]
fn groups_share_a_group_index() {
    threads(SegmentLayout::new(4), |me, mut rank| {
        let members = if me % 2 == 0 { [2, 0] } else { [1, 3] };
        let here = members.iter().position(|&link| link == me).unwrap();
        let mut group = rank.barriers.group(1, members.into_iter(), here).unwrap();
        let mut caller = Caller::new(&mut rank, SLEEPER, 3);
        let mut random = Random(9);
        for _ in 0..40 + me % 2 {
            run(random.call(2), here, 2, &mut group, &mut caller);
        }
    });
}

#[test]
fn two_ranks_leave_long_vectors_to_messages() {
    let is_worth = NodeGroup::is_worth_reducing;
    assert!(is_worth(2, 800) && !is_worth(2, 1 << 20) && is_worth(3, 1 << 20));
}

/// On a full node buffers are shortest.
#[test]
fn a_group_of_any_size_reduces_short_elements() {
    for ranks in [2, 3, 17, NodeBarriers::RANKS] {
        let nodes = Node::in_process(SegmentLayout::new(ranks)).unwrap();
        let rank = Rank::new(nodes.into_iter().next().unwrap());
        for size in [2, ranks] {
            let group = rank.barriers.group(0, 0..size, 0).unwrap();
            assert!(
                group.can_reduce(NodeGroup::MAX_ELEMENT),
                "{size} of {ranks} ranks"
            );
        }
    }
}

#[test]
fn a_rank_has_max_groups_groups() {
    threads(SegmentLayout::new(2), |me, rank| {
        for index in 0..MAX_GROUPS + 2 {
            let group = rank.barriers.group(index, 0..2, me as usize);
            assert_eq!(group.is_some(), index < MAX_GROUPS);
            if let Some(group) = group {
                assert!(group.can_reduce(8) && group.can_reduce(24));
                assert!(!group.can_reduce(0) && !group.can_reduce(1 << 20));
            }
        }
    });
}
