//! The choices of ranks in cyclic placement, which decision trees name: each is proved.

use oxmpi_coll::catalog::{Call, Collective, SharedMemory};
use oxmpi_coll::check::Case;
use oxmpi_coll::choice::{Choice, ChoiceTable, Tuning};
use oxmpi_coll::machine::Machine;
use oxmpi_coll::placement::{Order, Placement};

/// Numbers of ranks, and how many a node has: nodes that are full, and some that are not.
const GROUPS: [(u32, u32); 6] = [(4, 2), (7, 4), (12, 3), (27, 9), (33, 8), (48, 16)];

/// All that are chosen for such calls of this many ranks, whatever the machine and the length.
fn choices(call: &Call, place: Placement) -> Vec<Choice> {
    let mut all = Vec::new();
    for (_, _, machine) in Machine::NAMED {
        let tuning = Tuning {
            machine,
            ..Tuning::default()
        };
        let table = ChoiceTable::new(call, &tuning.placed(place)).expect("something suits");
        let new = table.steps().iter().map(|step| step.choice);
        all.extend(new.filter(|one| !all.contains(one)).collect::<Vec<_>>());
    }
    all
}

#[test]
fn what_is_chosen_in_cyclic_placement_is_right() {
    for collective in Collective::ALL {
        if collective.is_neighborhood() {
            continue;
        }
        for (size, each) in GROUPS {
            let place = Placement::new(Order::Cyclic, size, each);
            for commutative in [true, !collective.reduces()] {
                for sharing in [SharedMemory::None, SharedMemory::OnNodes] {
                    let mut call = Call::barrier(0, size).with_shared_memory(sharing);
                    (call.collective, call.commutative) = (collective, commutative);
                    for Choice {
                        algorithm,
                        parameters,
                    } in choices(&call, place)
                    {
                        for (count, root) in [(0, 0), (3, size - 1), (150, size / 2)] {
                            let case = Case {
                                root: if collective.has_root() { root } else { 0 },
                                commutative,
                                parameters,
                                ..Case::new(collective, size, count)
                            };
                            let checked = case.check(algorithm);
                            checked
                                .unwrap_or_else(|fault| panic!("{algorithm}: {fault}\n{case:?}"));
                        }
                    }
                }
            }
        }
    }
}
