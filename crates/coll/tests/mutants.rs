//! The checker notices when a plan is broken: every act of every rank is spoilt in turn, in each of
//! several ways.

use oxmpi_coll::catalog::{Algorithm, AnyPlan, Call, Collective, Parameters};
use oxmpi_coll::check::{Contract, check_plans};
use oxmpi_coll::plan::{Act, Acts, Known, Part, Plan, Side};

/// How a step is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spoil {
    /// Another peer.
    Peer,
    /// Another tag.
    Tag,
    /// One element less.
    Shorter,
    /// One element further on.
    Shifted,
    /// The act is left out.
    Dropped,
    /// The operand stands on the other side.
    Side,
    /// The step does not wait for any other.
    Hasty,
    /// The step changes places with the next one.
    Swapped,
}

const ALL: [Spoil; 8] = [
    Spoil::Peer,
    Spoil::Tag,
    Spoil::Shorter,
    Spoil::Shifted,
    Spoil::Dropped,
    Spoil::Side,
    Spoil::Hasty,
    Spoil::Swapped,
];

/// A plan with one act or step spoilt, if `at` is given.
#[derive(Clone, Copy, Debug)]
struct Mutant {
    plan: AnyPlan,
    size: u32,
    at: Option<(Spoil, u32, usize)>,
}

impl Mutant {
    fn spoil(&self, spoil: Spoil, act: Act) -> Option<Act> {
        let next = |peer| (peer + 1) % self.size;
        let shorter = |part: Part| Part {
            count: part.count.saturating_sub(1),
            ..part
        };
        let shifted = |part: Part| Part {
            first: part.first + 1,
            ..part
        };
        Some(match (spoil, act) {
            (Spoil::Dropped, _) => return None,
            (Spoil::Peer, Act::Send { to, tag, from }) => Act::Send {
                to: next(to),
                tag,
                from,
            },
            (Spoil::Peer, Act::Recv { from, tag, into }) => Act::Recv {
                from: next(from),
                tag,
                into,
            },
            (Spoil::Tag, Act::Send { to, tag, from }) => Act::Send {
                to,
                tag: tag ^ 1,
                from,
            },
            (Spoil::Tag, Act::Recv { from, tag, into }) => Act::Recv {
                from,
                tag: tag ^ 1,
                into,
            },
            (Spoil::Shorter, Act::Send { to, tag, from }) => Act::Send {
                to,
                tag,
                from: shorter(from),
            },
            (Spoil::Shorter, Act::Recv { from, tag, into }) => Act::Recv {
                from,
                tag,
                into: shorter(into),
            },
            (Spoil::Shorter, Act::Copy { from, into }) => Act::Copy {
                from: shorter(from),
                into: shorter(into),
            },
            (Spoil::Shorter, Act::Reduce { from, into, side }) => Act::Reduce {
                from: shorter(from),
                into: shorter(into),
                side,
            },
            (Spoil::Shifted, Act::Send { to, tag, from }) => Act::Send {
                to,
                tag,
                from: shifted(from),
            },
            (Spoil::Shifted, Act::Recv { from, tag, into }) => Act::Recv {
                from,
                tag,
                into: shifted(into),
            },
            (Spoil::Shifted, Act::Copy { from, into }) => Act::Copy {
                from,
                into: shifted(into),
            },
            (Spoil::Shifted, Act::Reduce { from, into, side }) => Act::Reduce {
                from,
                into: shifted(into),
                side,
            },
            (Spoil::Side, Act::Reduce { from, into, side }) => {
                let side = if side == Side::Left {
                    Side::Right
                } else {
                    Side::Left
                };
                Act::Reduce { from, into, side }
            }
            (_, act) => act,
        })
    }
}

impl Plan for Mutant {
    fn steps(&self) -> u32 {
        self.plan.steps()
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        self.plan.scratch(known)
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let asked = match self.at {
            Some((Spoil::Swapped, step, _))
                if step + 1 < self.steps() && (i == step || i == step + 1) =>
            {
                2 * step + 1 - i
            }
            _ => i,
        };
        let needs = self.plan.step(asked, known, acts)?.min(i);
        let Some((spoil, _, place)) = self.at.filter(|&(_, step, _)| step == i) else {
            return Some(needs);
        };
        let whole = core::mem::take(acts);
        for (at, &act) in whole.iter().enumerate() {
            let act = if at == place {
                self.spoil(spoil, act)
            } else {
                Some(act)
            };
            act.into_iter().for_each(|act| acts.push(act));
        }
        Some(if spoil == Spoil::Hasty { 0 } else { needs })
    }
}

/// The acts of a step, and what it needs.
fn step(plan: &Mutant, i: u32) -> (Option<u32>, Acts) {
    let mut acts = Acts::new();
    (plan.step(i, &Known::NOTHING, &mut acts), acts)
}

/// Whether the mutant does the same as the plan, step by step.
fn is_same(mutant: &Mutant, plan: &Mutant) -> bool {
    (0..plan.steps()).all(|i| step(mutant, i) == step(plan, i))
}

/// Why a mutant need not be noticed: it is as right as the plan.
fn is_equivalent(mutant: &Mutant, plan: &Mutant, call: &Call) -> bool {
    let Some((spoil, at, _)) = mutant.at else {
        return true;
    };
    match spoil {
        // Which side an operand stands on is free where the operation commutes.
        Spoil::Side => call.commutative,
        // A part without elements is nowhere.
        Spoil::Shifted => call.count == 0,
        // Where the number of ranks is not a power of two, a rank hears twice from some others.
        Spoil::Hasty | Spoil::Swapped if call.collective == Collective::Barrier => {
            !call.size.is_power_of_two()
        }
        // The step touches nothing that the steps it no longer waits for touch.
        Spoil::Hasty => {
            let since = (0..at)
                .filter_map(|earlier| step(plan, earlier).0)
                .max()
                .unwrap_or(0);
            (since..at).all(|earlier| are_independent(&step(plan, earlier).1, &step(plan, at).1))
        }
        Spoil::Swapped => are_independent(&step(plan, at).1, &step(plan, at + 1).1),
        Spoil::Peer | Spoil::Tag | Spoil::Shorter | Spoil::Dropped => false,
    }
}

/// Whether no act of one step writes what an act of the other reads or writes.
fn are_independent(one: &[Act], other: &[Act]) -> bool {
    let meet = |a: Option<Part>, b: Option<Part>| a.zip(b).is_some_and(|(a, b)| a.overlaps(b));
    let clash = |a: &Act, b: &Act| {
        meet(a.writes(), b.writes()) || meet(a.writes(), b.reads()) || meet(a.reads(), b.writes())
    };
    !one.iter().any(|a| other.iter().any(|b| clash(a, b)))
}

/// Spoils every act of every rank in one way, one at a time; returns how many spoilt plans the
/// checker noticed. A plan that still is right but takes more rounds counts as noticed.
fn noticed(algorithm: Algorithm, calls: &[Call], parameters: &Parameters, spoil: Spoil) -> u32 {
    let size = calls.len() as u32;
    let plan = |call| algorithm.plan(call, parameters).expect("the call is right");
    let whole: Vec<_> = calls
        .iter()
        .map(|call| Mutant {
            plan: plan(call),
            size,
            at: None,
        })
        .collect();
    let contract = Contract::of(calls, &[]);
    let report = check_plans(&whole, &contract).expect("the plan is right before it is spoilt");
    let mut noticed = 0;
    for (rank, plan) in whole.iter().enumerate() {
        let acts = (0..plan.steps())
            .flat_map(|at| (0..step(plan, at).1.len()).map(move |place| (at, place)));
        let mutants = acts.map(|(at, place)| Mutant {
            at: Some((spoil, at, place)),
            ..*plan
        });
        for mutant in mutants.filter(|mutant| !is_same(mutant, plan)) {
            let mut plans = whole.clone();
            plans[rank] = mutant;
            if check_plans(&plans, &contract) != Ok(report) {
                noticed += 1;
            } else {
                let excused = is_equivalent(&mutant, plan, &calls[rank]);
                assert!(
                    excused,
                    "not noticed: {algorithm}, {size} ranks, rank {rank}, {:?}",
                    mutant.at
                );
            }
        }
    }
    noticed
}

/// The calls of all ranks, with vectors that give every chunk and segment some elements.
fn cases(size: u32) -> Vec<(Algorithm, Vec<Call>)> {
    let calls = |call: &dyn Fn(u32) -> Call| (0..size).map(call).collect::<Vec<_>>();
    let ordered = |rank| Call::allreduce(rank, size, 7, 1).with_commutative(false);
    let any = |rank| Call::allreduce(rank, size, 19, 1);
    vec![
        (
            Algorithm::BarrierDissemination,
            calls(&|rank| Call::barrier(rank, size)),
        ),
        (
            Algorithm::BcastBinomial,
            calls(&|rank| Call::bcast(rank, size, 1, 7)),
        ),
        (
            Algorithm::ReduceBinomial,
            calls(&|rank| Call::reduce(rank, size, 1, 7, 1).with_commutative(false)),
        ),
        (Algorithm::AllreduceRecursiveDoubling, calls(&ordered)),
        (
            Algorithm::AllreduceRecursiveDoubling,
            calls(&|rank| ordered(rank).with_in_place(true)),
        ),
        (Algorithm::AllreduceRing, calls(&any)),
        (
            Algorithm::AllreduceRing,
            calls(&|rank| any(rank).with_in_place(true)),
        ),
    ]
}

#[test]
fn the_checker_notices_every_spoilt_plan() {
    let mut totals = ALL.map(|_| 0);
    for (size, segment) in [2, 3, 5, 6, 8]
        .into_iter()
        .flat_map(|size| [(size, 2), (size, u64::MAX)])
    {
        let parameters = Parameters {
            segment,
            ..Parameters::NONE
        };
        for (algorithm, calls) in cases(size) {
            for (total, spoil) in totals.iter_mut().zip(ALL) {
                *total += noticed(algorithm, &calls, &parameters, spoil);
            }
        }
    }
    for (total, spoil) in totals.into_iter().zip(ALL) {
        assert!(total > 40, "{spoil:?} was noticed {total} times");
    }
}
