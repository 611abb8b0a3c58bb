//! Plans that are the same on every rank but for a shift: the checker compares them without reading the
//! steps of most ranks, still detects a rank that differs, and does not trust a plan's own claim
//! everywhere.

use oxmpi_coll::catalog::{Algorithm, AnyPlan};
use oxmpi_coll::check::{Case, plain};
use oxmpi_coll::plan::{Acts, Plan, PlanInputs};

/// More ranks than those whose steps the checker reads all.
const MANY: u32 = 150;

/// Ranks whose steps the checker does not read on [`MANY`] ranks. What each sends or reduces wraps at the
/// end of the vector.
const UNREAD: [u32; 3] = [3, 70, 147];

/// The plans of all ranks.
fn plans(algorithm: Algorithm, case: &Case) -> Vec<AnyPlan> {
    case.plans(algorithm)
        .expect("the algorithm supports the case")
        .0
}

/// The algorithms whose plans are shift-invariant in the plainest case.
fn symmetric(size: u32) -> Vec<Algorithm> {
    let is = |algorithm: &Algorithm| {
        let case = plain(*algorithm, size);
        let suits = algorithm.suits(&case.call(0, &case.arrays())).is_ok();
        suits && {
            let plans = plans(*algorithm, &case);
            let mut others = (1..).zip(&plans[1..]);
            others.all(|(by, other)| plans[0].is_rotation(by, other))
        }
    };
    Algorithm::ALL.into_iter().filter(is).collect()
}

#[test]
fn algorithms_with_a_step_per_rank_have_shift_invariant_plans() {
    let names: Vec<_> = symmetric(MANY).iter().map(ToString::to_string).collect();
    assert_eq!(
        names,
        [
            "allgather ring",
            "allgather linear",
            "allgather rail-ring",
            "allgatherv ring",
            "allgatherv linear",
            "alltoall pairwise",
            "alltoall linear",
            "alltoallv pairwise",
            "alltoallv linear",
            "allreduce ring",
            "reduce_scatter circulant",
            "reduce_scatter pairwise",
            "reduce_scatter_block circulant",
            "reduce_scatter_block pairwise",
        ]
    );
}

/// One unread rank has another rank's plan, another call's, or one with other parameters.
#[test]
fn one_rank_that_differs_is_detected() {
    let mut changed = 0;
    for algorithm in symmetric(MANY) {
        let case = plain(algorithm, MANY);
        let right = plans(algorithm, &case);
        let checked = case.check_plans_by_symmetry(|rank| Ok(right[rank as usize]));
        assert!(
            checked.is_some_and(|checked| checked.is_ok()),
            "{algorithm}"
        );
        let window = case.parameters.with_window(1).with_segment(1);
        let others = [
            Case {
                count: case.count + u64::from(MANY),
                ..case
            },
            Case {
                commutative: false,
                ..case
            },
            Case {
                in_place: true,
                ..case
            },
            Case {
                parameters: window,
                ..case
            },
        ];
        for unread in UNREAD {
            let of = |other: &Case| {
                let call = other.call(unread, &other.arrays());
                algorithm.plan(&call, &other.parameters).ok()
            };
            let others = others.iter().filter_map(of);
            let others = others.chain([right[unread as usize - 1]]);
            for other in others.filter(|other| *other != right[unread as usize]) {
                let spoilt = |rank: u32| {
                    let is_spoilt = rank == unread;
                    Ok(if is_spoilt {
                        other
                    } else {
                        right[rank as usize]
                    })
                };
                let checked = case.check_plans_by_symmetry(spoilt);
                assert!(
                    checked.is_none_or(|checked| checked.is_err()),
                    "{algorithm}: rank {unread} has {other:?}"
                );
                changed += 1;
            }
        }
    }
    assert!(changed > 12 * 3 * 2, "only {changed}");
}

/// A plan that claims to be shift-invariant but has no acts in the first step of one rank.
#[derive(Clone, Copy, Debug)]
struct FalseClaim {
    plan: AnyPlan,
    is_spoilt: bool,
}

impl Plan for FalseClaim {
    fn steps(&self) -> u32 {
        self.plan.steps()
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        self.plan.scratch(inputs)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let needs = self.plan.step(i, inputs, acts);
        if self.is_spoilt && i == 0 {
            acts.clear();
        }
        needs
    }

    fn is_rotation(&self, _: u32, _: &Self) -> bool {
        true
    }
}

/// Whether the checker detects one rank's false claim.
fn is_detected(algorithm: Algorithm, size: u32, false_rank: u32) -> bool {
    let case = plain(algorithm, size);
    let arrays = case.arrays();
    let plan = |rank: u32| FalseClaim {
        plan: (algorithm.plan(&case.call(rank, &arrays), &case.parameters))
            .expect("the algorithm supports the case"),
        is_spoilt: rank == false_rank,
    };
    let checked = case.check_plans_by_symmetry(|rank| Ok(plan(rank)));
    checked.is_none_or(|checked| checked.is_err())
}

#[test]
fn claims_are_verified_on_few_ranks_and_at_the_ends_of_many() {
    for algorithm in symmetric(MANY) {
        for size in [3, 17, 40] {
            assert!((0..size).all(|false_rank| is_detected(algorithm, size, false_rank)));
        }
        for false_rank in [0, 1, 2, 64, MANY - 64, MANY - 2, MANY - 1] {
            assert!(
                is_detected(algorithm, MANY, false_rank),
                "{algorithm}: {false_rank}"
            );
        }
        assert!(
            !UNREAD
                .iter()
                .any(|&false_rank| is_detected(algorithm, MANY, false_rank))
        );
    }
}
