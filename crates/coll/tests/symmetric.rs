//! Plans that hold no rank are seen to be alike without a look at most ranks' steps. A rank that differs is
//! noticed all the same, and no plan is believed everywhere.

use oxmpi_coll::catalog::{Algorithm, AnyPlan, Parameters};
use oxmpi_coll::check::{Case, plain};
use oxmpi_coll::plan::{Acts, Plan, PlanInputs};

/// Beyond the numbers of ranks of which all are looked at.
const MANY: u32 = 150;

/// Neither of these is looked at on so many ranks. What each sends or adds goes around the end of
/// the vector.
const UNSEEN: [u32; 3] = [3, 70, 147];

/// All ranks' plans.
fn plans(algorithm: Algorithm, case: &Case) -> Vec<AnyPlan> {
    case.plans(algorithm).expect("the case suits").0
}

/// The algorithms whose plans hold no rank in the plainest case.
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
fn what_takes_a_step_for_each_rank_holds_no_rank() {
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

/// One rank that nobody looks at has the plan of another rank, of another call, or with other
/// parameters.
#[test]
fn one_rank_that_differs_is_noticed() {
    let mut changed = 0;
    for algorithm in symmetric(MANY) {
        let case = plain(algorithm, MANY);
        let right = plans(algorithm, &case);
        let checked = case.check_plans_alike(|rank| Ok(right[rank as usize]));
        assert!(
            checked.is_some_and(|checked| checked.is_ok()),
            "{algorithm}"
        );
        let window = Parameters {
            window: 1,
            segment: 1,
            ..case.parameters
        };
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
        for unseen in UNSEEN {
            let of = |other: &Case| {
                let call = other.call(unseen, &other.arrays());
                algorithm.plan(&call, &other.parameters).ok()
            };
            let others = others.iter().filter_map(of);
            let others = others.chain([right[unseen as usize - 1]]);
            for other in others.filter(|other| *other != right[unseen as usize]) {
                let spoilt = |rank: u32| {
                    let is_it = rank == unseen;
                    Ok(if is_it { other } else { right[rank as usize] })
                };
                let checked = case.check_plans_alike(spoilt);
                assert!(
                    checked.is_none_or(|checked| checked.is_err()),
                    "{algorithm}: rank {unseen} has {other:?}"
                );
                changed += 1;
            }
        }
    }
    assert!(changed > 12 * 3 * 2, "only {changed}");
}

/// A plan that says of itself that it holds no rank, and has no acts in its first step on one rank.
#[derive(Clone, Copy, Debug)]
struct Liar {
    plan: AnyPlan,
    is_spoilt: bool,
}

impl Plan for Liar {
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

/// Whether one rank's lie is noticed.
fn is_noticed(algorithm: Algorithm, size: u32, liar: u32) -> bool {
    let case = plain(algorithm, size);
    let arrays = case.arrays();
    let plan = |rank: u32| Liar {
        plan: (algorithm.plan(&case.call(rank, &arrays), &case.parameters))
            .expect("the case suits"),
        is_spoilt: rank == liar,
    };
    let checked = case.check_plans_alike(|rank| Ok(plan(rank)));
    checked.is_none_or(|checked| checked.is_err())
}

#[test]
fn no_plan_is_believed_on_few_ranks_and_at_the_ends_of_many() {
    for algorithm in symmetric(MANY) {
        for size in [3, 17, 40] {
            assert!((0..size).all(|liar| is_noticed(algorithm, size, liar)));
        }
        for liar in [0, 1, 2, 64, MANY - 64, MANY - 2, MANY - 1] {
            assert!(is_noticed(algorithm, MANY, liar), "{algorithm}: {liar}");
        }
        assert!(!UNSEEN.iter().any(|&liar| is_noticed(algorithm, MANY, liar)));
    }
}
