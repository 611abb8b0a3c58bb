//! Tests of decision trees: that what they name suits, and that a table has the choices of its tree.

use super::{COLLECTIVES, DecisionTree, NODES, Node, features, of_collective};
use crate::call::{Call, Collective, SharedMemory};
use crate::choice::{ChoiceTable, Choosable, Tuning};
use crate::machine::Machine;
use crate::placement::{Order, Placement};

/// Tunings of ranks in cyclic placement, with the numbers of ranks.
fn groups() -> impl Iterator<Item = (u32, Tuning)> {
    let placed = [
        (4, 2),
        (7, 4),
        (12, 3),
        (16, 8),
        (27, 9),
        (64, 16),
        (250, 20),
    ];
    Machine::NAMED.into_iter().flat_map(move |(_, _, machine)| {
        placed.map(|(size, each)| {
            let tuning = Tuning {
                machine,
                ..Tuning::default()
            };
            (
                size,
                tuning.placed(Placement::new(Order::Cyclic, size, each)),
            )
        })
    })
}

/// Calls of a collective that have tables of their own.
fn calls(collective: Collective, size: u32) -> impl Iterator<Item = Call> {
    let call = Call {
        collective,
        ..Call::barrier(0, size)
    };
    let plain = [call, call.exactly(), call.with_commutative(false)];
    let sharing = [SharedMemory::None, SharedMemory::OnNodes];
    plain
        .into_iter()
        .flat_map(move |call| sharing.map(|one| call.with_shared_memory(one)))
}

#[test]
fn every_tree_decides_and_what_it_chooses_suits() {
    for &collective in COLLECTIVES {
        for (size, tuning) in groups() {
            for call in calls(collective, size) {
                let Some(tree) = DecisionTree::of(&call, &tuning) else {
                    assert!(collective.reduces() && !call.commutative, "{call:?}");
                    continue;
                };
                let features = features(&call, &tuning);
                for bytes in (0..40).map(|at| 1_u64 << at) {
                    let (choice, next) = tree.choice(&call, &features, (bytes, &tuning));
                    assert_eq!(choice.algorithm.suits(&call), Ok(()));
                    assert_ne!(choice.parameters.radix, NODES);
                    assert!(
                        next.is_none_or(|next| next > bytes),
                        "{next:?} after {bytes}"
                    );
                }
            }
        }
    }
}

/// The steps of a table begin where the tree decides otherwise, and nowhere else.
#[test]
fn a_table_has_the_choices_of_its_tree() {
    for &collective in COLLECTIVES {
        for (size, tuning) in groups() {
            for call in calls(collective, size) {
                let Some(tree) = DecisionTree::of(&call, &tuning) else {
                    continue;
                };
                let table = ChoiceTable::new(&call, &tuning).expect("something suits");
                let features = features(&call, &tuning);
                let ends = table
                    .steps()
                    .iter()
                    .flat_map(|step| [step.from.saturating_sub(1), step.from]);
                for bytes in ends.chain((0..30).map(|at| (1 << at) + 1)) {
                    let (choice, _) = tree.choice(&call, &features, (bytes, &tuning));
                    assert_eq!(*table.choice(bytes), choice, "{collective} {size} {bytes}");
                }
                assert!(table.steps().is_sorted_by(|one, next| one.from < next.from));
            }
        }
    }
}

/// Trees are for several ranks on each of several nodes, with all algorithms to choose from.
#[test]
fn other_groups_have_no_tree() {
    let call = Call::gather(0, 12, 0, 1);
    let placed = |order, each| Tuning::default().placed(Placement::new(order, 12, each));
    assert!(DecisionTree::of(&call, &placed(Order::Cyclic, 4)).is_some());
    for (order, each) in [(Order::Block, 4), (Order::Cyclic, 1), (Order::Cyclic, 12)] {
        assert!(
            DecisionTree::of(&call, &placed(order, each)).is_none(),
            "{order:?} {each}"
        );
    }
    let without = Tuning {
        choosable: Choosable::WithoutNodes,
        ..placed(Order::Cyclic, 4)
    };
    assert!(DecisionTree::of(&call, &without).is_none());
}

/// Where a tree was not learned for so many, the costs decide, as far as they know better.
#[test]
fn a_tree_is_left_where_groups_are_too_large_for_it() {
    let has_tree = |collective, nodes: u32, each: u32| {
        let call = Call {
            collective,
            ..Call::barrier(0, nodes * each)
        };
        let place = Placement::new(Order::Cyclic, nodes * each, each);
        DecisionTree::of(&call, &Tuning::default().placed(place)).is_some()
    };
    for collective in [Collective::Bcast, Collective::Reduce] {
        assert!(has_tree(collective, 64, 15) && has_tree(collective, 15, 64));
        for (nodes, each) in [(65, 2), (2, 65), (1_000, 8), (63, 16)] {
            assert!(!has_tree(collective, nodes, each), "{collective}");
        }
    }
    assert!(has_tree(Collective::Gather, 1_000, 8));
}

/// A choice that no leaf names, or a node that no path reaches, is left from another time.
#[test]
fn every_choice_and_node_is_used() {
    for &collective in COLLECTIVES {
        let tree = of_collective(collective).expect("it is in the list");
        for at in 1..tree.choices.len() {
            let names =
                |node: &Node| matches!(node, Node::Use(choice) if usize::from(*choice) == at);
            assert!(
                tree.nodes.iter().any(names),
                "{collective}: {:?}",
                tree.choices[at]
            );
        }
        for (at, node) in tree.nodes.iter().enumerate() {
            if let Node::Below(_, value, other) = node {
                assert!(
                    *value > 0 && usize::from(*other) > at + 1,
                    "{collective}: node {at}"
                );
                assert!(
                    usize::from(*other) < tree.nodes.len(),
                    "{collective}: node {at}"
                );
            }
        }
    }
}
